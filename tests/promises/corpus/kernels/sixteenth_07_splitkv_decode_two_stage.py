"""Flash decoding in two launches: each split of the sequence leaves a partial output and its log-sum-exp, a second kernel merges them."""
import torch
import triton
import triton.language as tl


@triton.jit
def _stage1(
    q_ptr, k_ptr, v_ptr, mid_o_ptr, mid_lse_ptr,
    scale, seq_len,
    stride_qb, stride_qh,
    stride_kb, stride_kh, stride_kt,
    stride_mb, stride_mh, stride_ms,
    stride_lb, stride_lh,
    D: tl.constexpr, BLOCK_SEQ: tl.constexpr, BLOCK_N: tl.constexpr,
):
    b, h, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + b * stride_qb + h * stride_qh + d)
    begin = split * BLOCK_SEQ
    end = tl.minimum(begin + BLOCK_SEQ, seq_len)
    m = -float("inf")
    l = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    for start in range(begin, end, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        offs = b * stride_kb + h * stride_kh + n[:, None] * stride_kt + d[None, :]
        k = tl.load(k_ptr + offs, mask=n[:, None] < end, other=0.0)
        v = tl.load(v_ptr + offs, mask=n[:, None] < end, other=0.0)
        s = tl.sum(q[None, :] * k, 1) * scale
        s = tl.where(n < end, s, -float("inf"))
        m_new = tl.maximum(tl.max(s, 0), m)
        p = tl.exp(s - m_new)
        alpha = tl.exp(m - m_new)
        acc = acc * alpha + tl.sum(p[:, None] * v, 0)
        l = l * alpha + tl.sum(p, 0)
        m = m_new
    tl.store(mid_o_ptr + b * stride_mb + h * stride_mh + split * stride_ms + d, acc / l)
    tl.store(mid_lse_ptr + b * stride_lb + h * stride_lh + split, m + tl.log(l))


@triton.jit
def _stage2(
    mid_o_ptr, mid_lse_ptr, out_ptr, n_splits,
    stride_mb, stride_mh, stride_ms,
    stride_lb, stride_lh,
    stride_ob, stride_oh,
    D: tl.constexpr,
):
    b, h = tl.program_id(0), tl.program_id(1)
    d = tl.arange(0, D)
    m = -float("inf")
    total = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    for split in range(0, n_splits):
        o = tl.load(mid_o_ptr + b * stride_mb + h * stride_mh + split * stride_ms + d)
        lse = tl.load(mid_lse_ptr + b * stride_lb + h * stride_lh + split)
        m_new = tl.maximum(m, lse)
        old = tl.exp(m - m_new)
        w = tl.exp(lse - m_new)
        acc = acc * old + w * o
        total = total * old + w
        m = m_new
    tl.store(out_ptr + b * stride_ob + h * stride_oh + d, acc / total)


def launch(B=2, H=3, T=75):
    D, BLOCK_SEQ = 16, 32
    q = torch.randn(B, H, D, device="cuda")
    k = torch.randn(B, H, T, D, device="cuda")
    v = torch.randn(B, H, T, D, device="cuda")
    splits = triton.cdiv(T, BLOCK_SEQ)
    mid_o = torch.empty(B, H, splits, D, device="cuda", dtype=torch.float32)
    mid_lse = torch.empty(B, H, splits, device="cuda", dtype=torch.float32)
    out = torch.empty_like(q)
    _stage1[(B, H, splits)](
        q, k, v, mid_o, mid_lse, D**-0.5, T,
        q.stride(0), q.stride(1), k.stride(0), k.stride(1), k.stride(2),
        mid_o.stride(0), mid_o.stride(1), mid_o.stride(2), mid_lse.stride(0), mid_lse.stride(1),
        D=D, BLOCK_SEQ=BLOCK_SEQ, BLOCK_N=16,
    )
    _stage2[(B, H)](
        mid_o, mid_lse, out, splits,
        mid_o.stride(0), mid_o.stride(1), mid_o.stride(2), mid_lse.stride(0), mid_lse.stride(1),
        out.stride(0), out.stride(1), D=D,
    )
    return out


def reference(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q.unsqueeze(2), k, v).squeeze(2)

TRUTH = "verified"
