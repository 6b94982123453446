"""The denominator is rescaled when the running maximum grows, the accumulator is not (missing rescale in online softmax)."""
import torch
import triton
import triton.language as tl


@triton.jit
def sliding_window_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, scale, seq, heads, window, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):
    pid_m = tl.program_id(0)
    head = tl.program_id(1)
    rm = pid_m * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    row_stride = heads * D
    q = tl.load(q_ptr + rm[:, None] * row_stride + head * D + rd[None, :], mask=rm[:, None] < seq, other=0.0)
    m = tl.full((BM,), -1.0e30, tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    begin = tl.maximum(pid_m * BM - window + 1, 0) // BN * BN
    end = tl.minimum((pid_m + 1) * BM, seq)
    for start in range(begin, end, BN):
        rn = start + tl.arange(0, BN)
        offs = rn[:, None] * row_stride + head * D + rd[None, :]
        k = tl.load(k_ptr + offs, mask=rn[:, None] < seq, other=0.0)
        v = tl.load(v_ptr + offs, mask=rn[:, None] < seq, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        back = rm[:, None] - rn[None, :]
        seen = (back >= 0) & (back < window) & (rn[None, :] < seq)
        s = tl.where(seen, s, -1.0e30)
        m_new = tl.maximum(m, tl.max(s, 1))
        alpha = tl.exp(m - m_new)
        p = tl.where(seen, tl.exp(s - m_new[:, None]), 0.0)
        l = l * alpha + tl.sum(p, 1)
        acc += tl.dot(p, v, input_precision="ieee")
        m = m_new
    out = acc / l[:, None]
    tl.store(o_ptr + rm[:, None] * row_stride + head * D + rd[None, :], out, mask=rm[:, None] < seq)


def launch(seq=75, heads=3, window=20):
    q = torch.randn(seq, heads, 16, device="cuda")
    k = torch.randn(seq, heads, 16, device="cuda")
    v = torch.randn(seq, heads, 16, device="cuda")
    out = torch.empty_like(q)
    sliding_window_kernel[(triton.cdiv(seq, 16), heads)](q, k, v, out, 0.25, seq, heads, window, D=16, BM=16, BN=16)
    return out


def reference(q, k, v, window):
    scores = torch.einsum("ihd,jhd->hij", q, k) * 0.25
    t = torch.arange(q.shape[0], device=q.device)
    back = t[:, None] - t[None, :]
    scores = scores.masked_fill((back < 0) | (back >= window), float("-inf"))
    return torch.einsum("hij,jhd->ihd", torch.softmax(scores, -1), v)


TRUTH = "broken"
