"""varlen, as somebody wrote it who knew the documentation alone."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def _varlen_fwd_kernel(
    Q,
    K,
    V,
    Out,
    cu_seqlens,
    sm_scale,
    stride_qt,
    stride_qh,
    stride_kt,
    stride_kh,
    stride_vt,
    stride_vh,
    stride_ot,
    stride_oh,
    kv_group,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    start_m = tl.program_id(0)
    head = tl.program_id(1)
    seq = tl.program_id(2)
    kv_head = head // kv_group

    seq_start = tl.load(cu_seqlens + seq)
    seq_len = tl.load(cu_seqlens + seq + 1) - seq_start
    if start_m * BLOCK_M >= seq_len:
        return

    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_D)

    q = tl.load(
        Q + (seq_start + offs_m[:, None]) * stride_qt + head * stride_qh + offs_d[None, :],
        mask=offs_m[:, None] < seq_len,
        other=0.0,
    )
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)

    end_n = tl.minimum((start_m + 1) * BLOCK_M, seq_len)
    for start_n in range(0, end_n, BLOCK_N):
        cols = start_n + offs_n
        k = tl.load(
            K + (seq_start + cols[None, :]) * stride_kt + kv_head * stride_kh + offs_d[:, None],
            mask=cols[None, :] < seq_len,
            other=0.0,
        )
        qk = tl.dot(q, k) * sm_scale
        qk = tl.where((offs_m[:, None] >= cols[None, :]) & (cols[None, :] < seq_len), qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.exp(qk - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(
            V + (seq_start + cols[:, None]) * stride_vt + kv_head * stride_vh + offs_d[None, :],
            mask=cols[:, None] < seq_len,
            other=0.0,
        )
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        m_i = m_new

    acc = acc / l_i[:, None]
    tl.store(
        Out + (seq_start + offs_m[:, None]) * stride_ot + head * stride_oh + offs_d[None, :],
        acc.to(Out.dtype.element_ty),
        mask=offs_m[:, None] < seq_len,
    )


def varlen_attention(q, k, v, cu_seqlens, max_seqlen):
    total, heads, d = q.shape
    out = torch.zeros_like(q)
    BLOCK = 16
    grid = (triton.cdiv(max_seqlen, BLOCK), heads, cu_seqlens.shape[0] - 1)
    _varlen_fwd_kernel[grid](
        q, k, v, out, cu_seqlens, 1.0 / math.sqrt(d),
        q.stride(0), q.stride(1), k.stride(0), k.stride(1), v.stride(0), v.stride(1), out.stride(0), out.stride(1),
        heads // k.shape[1],
        BLOCK_M=BLOCK, BLOCK_N=BLOCK, BLOCK_D=d,
    )
    return out


def launch(total=50, kv_heads=2, group=2):
    q = torch.randn(total, kv_heads * group, 16, device="cuda")
    k = torch.randn(total, kv_heads, 16, device="cuda")
    v = torch.randn(total, kv_heads, 16, device="cuda")
    cu_seqlens = torch.tensor([0, 7, 28, total], dtype=torch.int32, device="cuda")
    max_seqlen = int((cu_seqlens[1:] - cu_seqlens[:-1]).max())
    return varlen_attention(q, k, v, cu_seqlens, max_seqlen)


def reference(q, k, v, cu_seqlens):
    group = q.shape[1] // k.shape[1]
    t = torch.arange(q.shape[0], device=q.device)
    seq = (t[:, None] >= cu_seqlens[None, 1:]).sum(1)
    keep = (seq[:, None] == seq[None, :]) & (t[:, None] >= t[None, :])
    k = k.repeat_interleave(group, 1)
    v = v.repeat_interleave(group, 1)
    s = torch.einsum("ihd,jhd->hij", q, k) / math.sqrt(q.shape[2])
    p = s.masked_fill(~keep, float("-inf")).softmax(-1)
    return torch.einsum("hij,jhd->ihd", p, v)


TRUTH = "verified"
