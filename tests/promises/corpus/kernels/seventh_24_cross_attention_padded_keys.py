# decoder -> encoder attention of a translation model; the encoder's states are padded to a common length
import torch
import triton
import triton.language as tl


@triton.jit
def cross_attn_kernel(
    q_ptr, k_ptr, v_ptr, len_ptr, o_ptr,
    Tq, Tk, scale,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):
    bh = tl.program_id(1)
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    n_keys = tl.load(len_ptr + bh)
    q = tl.load(q_ptr + (bh * Tq + rows)[:, None] * D + d[None, :], mask=rows[:, None] < Tq, other=0.0)
    m = tl.full([BM], float("-inf"), tl.float32)
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for start in range(0, n_keys, BN):
        cols = start + tl.arange(0, BN)
        valid = cols < n_keys
        k = tl.load(k_ptr + (bh * Tk + cols)[:, None] * D + d[None, :], mask=valid[:, None], other=0.0)
        v = tl.load(v_ptr + (bh * Tk + cols)[:, None] * D + d[None, :], mask=valid[:, None], other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        s = tl.where(valid[None, :], s, 0.0)
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp(s - m_new[:, None])
        fix = tl.exp(m - m_new)
        l = l * fix + tl.sum(p, 1)
        acc = acc * fix[:, None] + tl.dot(p, v)
        m = m_new
    tl.store(o_ptr + (bh * Tq + rows)[:, None] * D + d[None, :], acc / l[:, None], mask=rows[:, None] < Tq)


def launch(BH=3, Tq=19, Tk=40):
    q = torch.randn(BH, Tq, 16, device="cuda")
    k = torch.randn(BH, Tk, 16, device="cuda")
    v = torch.randn(BH, Tk, 16, device="cuda")
    lengths = torch.randint(1, Tk + 1, (BH,), dtype=torch.int32, device="cuda")
    o = torch.empty_like(q)
    cross_attn_kernel[(triton.cdiv(Tq, 16), BH)](q, k, v, lengths, o, Tq, Tk, 0.25, D=16, BM=16, BN=16)
    return o


def reference(q, k, v, lengths):
    s = q @ k.mT * 0.25
    pad = torch.arange(k.shape[1], device=k.device) >= lengths[:, None]
    return s.masked_fill(pad[:, None], float("-inf")).softmax(dim=-1) @ v


# keys behind the end get the score 0 instead of -inf, and count in the denominator
TRUTH = "broken"
