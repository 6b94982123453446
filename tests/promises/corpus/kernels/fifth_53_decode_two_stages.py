"""Split-KV decoding over a dense cache in two launches: partial attention for each split, then the merge."""
import torch
import triton
import triton.language as tl

TRUTH = "violated"


@triton.jit
def _fwd_kernel_stage1(
    Q, K, V, Mid_O, Mid_Lse, seq_lens, sm_scale, kv_group_num,
    stride_qb, stride_qh, stride_kb, stride_kn, stride_kh, stride_mb, stride_mh, stride_ms,
    stride_lb, stride_lh,
    D: tl.constexpr, BLOCK_D: tl.constexpr, BLOCK_N: tl.constexpr, NUM_SPLITS: tl.constexpr,
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    split = tl.program_id(2)
    kvh = h // kv_group_num
    seq_len = tl.load(seq_lens + b)
    per_split = tl.cdiv(seq_len, NUM_SPLITS)
    start = per_split * split
    end = tl.minimum(start + per_split, seq_len)
    offs_d = tl.arange(0, BLOCK_D)
    mask_d = offs_d < D
    q = tl.load(Q + b * stride_qb + h * stride_qh + offs_d, mask=mask_d, other=0.0)
    e_max = -float("inf")
    e_sum = 0.0
    acc = tl.zeros([BLOCK_D], dtype=tl.float32)
    if end > start:
        for n in range(start, end, BLOCK_N):
            offs_n = n + tl.arange(0, BLOCK_N)
            at = b * stride_kb + offs_n[:, None] * stride_kn + kvh * stride_kh + offs_d[None, :]
            mask = (offs_n[:, None] < end) & mask_d[None, :]
            k = tl.load(K + at, mask=mask, other=0.0)
            qk = tl.sum(q[None, :] * k, 1) * sm_scale
            qk = tl.where(offs_n < end, qk, float("-inf"))
            n_e_max = tl.maximum(tl.max(qk, 0), e_max)
            re_scale = tl.exp(e_max - n_e_max)
            p = tl.exp(qk - n_e_max)
            v = tl.load(V + at, mask=mask, other=0.0)
            acc = acc * re_scale + tl.sum(p[:, None] * v, 0)
            e_sum = e_sum * re_scale + tl.sum(p, 0)
            e_max = n_e_max
        tl.store(Mid_O + b * stride_mb + h * stride_mh + split * stride_ms + offs_d, acc / e_sum, mask=mask_d)
        tl.store(Mid_Lse + b * stride_lb + h * stride_lh + split, e_max + tl.log(e_sum))


@triton.jit
def _fwd_kernel_stage2(
    Mid_O, Mid_Lse, O, stride_mb, stride_mh, stride_ms, stride_lb, stride_lh, stride_ob, stride_oh,
    D: tl.constexpr, BLOCK_D: tl.constexpr, NUM_SPLITS: tl.constexpr,
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    offs_d = tl.arange(0, BLOCK_D)
    mask_d = offs_d < D
    e_max = -float("inf")
    e_sum = 0.0
    acc = tl.zeros([BLOCK_D], dtype=tl.float32)
    for split in range(0, NUM_SPLITS):
        tv = tl.load(Mid_O + b * stride_mb + h * stride_mh + split * stride_ms + offs_d, mask=mask_d, other=0.0)
        lse = tl.load(Mid_Lse + b * stride_lb + h * stride_lh + split)
        n_e_max = tl.maximum(lse, e_max)
        old_scale = tl.exp(e_max - n_e_max)
        w = tl.exp(lse - n_e_max)
        acc = acc * old_scale + w * tv
        e_sum = e_sum * old_scale + w
        e_max = n_e_max
    tl.store(O + b * stride_ob + h * stride_oh + offs_d, acc / e_sum, mask=mask_d)


def launch():
    batch, heads, kv_heads, length, dim, splits = 3, 4, 2, 60, 40, 4
    q = torch.randn(batch, heads, dim)
    k = torch.randn(batch, length, kv_heads, dim)
    v = torch.randn(batch, length, kv_heads, dim)
    seq_lens = torch.tensor([60, 5, 33], dtype=torch.int32)
    mid_o = torch.empty(batch, heads, splits, dim)
    mid_lse = torch.empty(batch, heads, splits)
    o = torch.empty(batch, heads, dim)
    block_d = triton.next_power_of_2(dim)
    _fwd_kernel_stage1[(batch, heads, splits)](
        q, k, v, mid_o, mid_lse, seq_lens, 0.15, heads // kv_heads,
        q.stride(0), q.stride(1), k.stride(0), k.stride(1), k.stride(2), mid_o.stride(0), mid_o.stride(1), mid_o.stride(2),
        mid_lse.stride(0), mid_lse.stride(1),
        D=dim, BLOCK_D=block_d, BLOCK_N=16, NUM_SPLITS=splits,
    )
    _fwd_kernel_stage2[(batch, heads)](
        mid_o, mid_lse, o, mid_o.stride(0), mid_o.stride(1), mid_o.stride(2), mid_lse.stride(0), mid_lse.stride(1),
        o.stride(0), o.stride(1),
        D=dim, BLOCK_D=block_d, NUM_SPLITS=splits,
    )
    return o


def reference(q, k, v, seq_lens):
    group = q.shape[1] // k.shape[2]
    keys, values = k.repeat_interleave(group, 2), v.repeat_interleave(group, 2)
    scores = 0.15 * torch.einsum("bhd,bnhd->bhn", q, keys)
    live = torch.arange(k.shape[1])[None, :] < seq_lens[:, None]
    p = torch.softmax(scores.masked_fill(~live[:, None, :], float("-inf")), -1)
    return torch.einsum("bhn,bnhd->bhd", p, values)
