"""Recommender: gradient of a sum-pooled embedding bag. Mistake: the table's gradient is added to by load, add, store instead of an atomic; ids that occur twice race."""
import torch
import triton
import triton.language as tl


@triton.jit
def embedding_bag_bwd_kernel(
    grad_ptr, ids_ptr, offsets_ptr, dtable_ptr,
    stride_g, stride_t, dim, BLOCK_D: tl.constexpr,
):
    bag = tl.program_id(0)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    mask = d < dim
    start = tl.load(offsets_ptr + bag)
    end = tl.load(offsets_ptr + bag + 1)
    g = tl.load(grad_ptr + bag * stride_g + d, mask=mask, other=0.0)
    for i in range(start, end):
        row = tl.load(ids_ptr + i)
        p = dtable_ptr + row * stride_t + d
        tl.store(p, tl.load(p, mask=mask, other=0.0) + g, mask=mask)


def launch(bags=6, rows=10, dim=24, per_bag=5):
    grad = torch.randn(bags, dim, device="cuda")
    ids = torch.randint(0, rows, (bags * per_bag,), device="cuda")
    offsets = torch.arange(bags + 1, device="cuda") * per_bag
    dtable = torch.zeros(rows, dim, device="cuda")
    embedding_bag_bwd_kernel[(bags, triton.cdiv(dim, 16))](
        grad, ids, offsets, dtable, grad.stride(0), dtable.stride(0), dim, BLOCK_D=16
    )
    return dtable


def reference(grad, ids, rows, per_bag):
    each = grad.repeat_interleave(per_bag, dim=0)
    return torch.zeros(rows, grad.shape[1], device=grad.device).index_add(0, ids, each)

TRUTH = "broken"
