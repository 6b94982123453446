# hierarchical cache: bring the tokens of one layer back from the host pool to the device pool
import torch
import triton
import triton.language as tl


@triton.jit
def transfer_kv_per_layer(
    src_k, dst_k, src_v, dst_v, src_indices, dst_indices,
    item_size,
    num_items,
    ITEMS: tl.constexpr, BLOCK: tl.constexpr,
):
    rows = tl.program_id(0) * ITEMS + tl.arange(0, ITEMS)
    row_ok = rows < num_items
    s = tl.load(src_indices + rows, mask=row_ok, other=0)
    d = tl.load(dst_indices + rows, mask=row_ok, other=0)
    for start in range(0, item_size, BLOCK):
        cols = tl.max_contiguous(start + tl.arange(0, BLOCK), BLOCK)
        m = row_ok[:, None] & (cols < item_size)[None, :]
        k = tl.load(src_k + s[:, None] * item_size + cols[None, :], mask=m)
        tl.store(dst_k + d[:, None] * item_size + cols[None, :], k, mask=m)
        v = tl.load(src_v + s[:, None] * item_size + cols[None, :], mask=m)
        tl.store(dst_v + d[:, None] * item_size + cols[None, :], v, mask=m)


def launch(n=10, host_slots=30, dev_slots=25, heads=2, head_dim=24):
    host_k = torch.randn(host_slots, heads, head_dim, device="cuda")
    host_v = torch.randn(host_slots, heads, head_dim, device="cuda")
    dev_k = torch.randn(dev_slots, heads, head_dim, device="cuda")
    dev_v = torch.randn(dev_slots, heads, head_dim, device="cuda")
    src = torch.randint(0, host_slots, (n,), device="cuda")
    dst = torch.randperm(dev_slots, device="cuda")[:n]
    ITEMS = 4
    transfer_kv_per_layer[(triton.cdiv(n, ITEMS),)](
        host_k, dev_k, host_v, dev_v, src, dst, heads * head_dim, n, ITEMS=ITEMS, BLOCK=32
    )
    return dev_k, dev_v


def reference(host_k, host_v, dev_k, dev_v, src, dst):
    k, v = dev_k.clone(), dev_v.clone()
    k[dst] = host_k[src]
    v[dst] = host_v[src]
    return k, v


TRUTH = "verified"
