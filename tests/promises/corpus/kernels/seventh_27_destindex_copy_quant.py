import torch
import triton
import triton.language as tl


@triton.jit
def _destindex_copy_quantize_kv(
    K, Dest_loc, Out, Out_scale,
    stride_k_bs, stride_k_h,
    stride_o_bs, stride_o_h,
    stride_os_bs, stride_os_h,
    head_num, head_dim,
    BLOCK_HEAD: tl.constexpr, BLOCK_DMODEL: tl.constexpr,
):
    cur = tl.program_id(0)
    h = tl.arange(0, BLOCK_HEAD)[:, None]
    d = tl.arange(0, BLOCK_DMODEL)[None, :]
    m = (h < head_num) & (d < head_dim)
    dest = tl.load(Dest_loc + cur)
    src = tl.load(K + cur * stride_k_bs + h * stride_k_h + d, mask=m, other=0.0)
    data_scale = (tl.max(tl.abs(src), axis=1) / 127.0)[:, None]
    q = tl.floor(src / data_scale + 0.5)
    tl.store(Out + dest * stride_o_bs + h * stride_o_h + d, q.to(tl.int8), mask=m)
    # one scale for each head of the token
    tl.store(Out_scale + cur * stride_os_bs + h * stride_os_h, data_scale, mask=h < head_num)


def destindex_copy_quantize_kv(K, DestLoc, Out, Out_scale):
    head_num, head_dim = K.shape[1], K.shape[2]
    _destindex_copy_quantize_kv[(DestLoc.shape[0],)](
        K, DestLoc, Out, Out_scale,
        K.stride(0), K.stride(1), Out.stride(0), Out.stride(1), Out_scale.stride(0), Out_scale.stride(1),
        head_num, head_dim,
        BLOCK_HEAD=triton.next_power_of_2(head_num), BLOCK_DMODEL=triton.next_power_of_2(head_dim),
    )


def launch(tokens=6, heads=3, dim=20, slots=17):
    k = torch.randn(tokens, heads, dim, device="cuda")
    dest = torch.randperm(slots, device="cuda")[:tokens]
    pool = torch.zeros(slots, heads, dim, dtype=torch.int8, device="cuda")
    scale = torch.zeros(slots, heads, 1, device="cuda")
    destindex_copy_quantize_kv(k, dest, pool, scale)
    return pool, scale


def reference(k, dest, pool, scale):
    s = k.abs().amax(dim=-1, keepdim=True) / 127.0
    q = torch.floor(k / s + 0.5).to(torch.int8)
    return pool.index_copy(0, dest, q), scale.index_copy(0, dest, s)


# the scale goes to the token's row instead of the slot's
TRUTH = "broken"
