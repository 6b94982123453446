"""Prefix-LM flash attention (UniLM, PaliGemma): the first `prefix` keys are seen by all queries, the others causally."""
import torch
import triton
import triton.language as tl


@triton.jit
def prefix_lm_fwd(
    Q, K, V, O, PREFIX,
    stride_h, stride_s,
    H, S, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    pid_m = tl.program_id(0)
    pid_bh = tl.program_id(1)
    prefix = tl.load(PREFIX + pid_bh // H)

    rm = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    rd = tl.arange(0, D)
    base = pid_bh * stride_h
    q = tl.load(Q + base + rm[:, None] * stride_s + rd[None, :], mask=rm[:, None] < S, other=0.0)
    q = q * scale

    m_i = tl.full([BLOCK_M], float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    for start in range(0, S, BLOCK_N):
        rn = start + tl.arange(0, BLOCK_N)
        k = tl.load(K + base + rn[:, None] * stride_s + rd[None, :], mask=rn[:, None] < S, other=0.0)
        v = tl.load(V + base + rn[:, None] * stride_s + rd[None, :], mask=rn[:, None] < S, other=0.0)
        s = tl.dot(q, tl.trans(k))
        allowed = (rn[None, :] <= rm[:, None]) | (rn[None, :] <= prefix)
        s = tl.where(allowed & (rn[None, :] < S), s, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(s, axis=1))
        p = tl.exp(s - m_new[:, None])
        correction = tl.exp(m_i - m_new)
        l_i = l_i * correction + tl.sum(p, axis=1)
        acc = acc * correction[:, None] + tl.dot(p, v)
        m_i = m_new

    tl.store(O + base + rm[:, None] * stride_s + rd[None, :], acc / l_i[:, None], mask=rm[:, None] < S)


def launch(batch=2, heads=3, seq=41):
    q = torch.randn(batch, heads, seq, 16, device="cuda")
    k = torch.randn(batch, heads, seq, 16, device="cuda")
    v = torch.randn(batch, heads, seq, 16, device="cuda")
    prefix = torch.randint(1, seq, (batch,), device="cuda", dtype=torch.int32)
    out = torch.empty_like(q)
    grid = (triton.cdiv(seq, 16), batch * heads)
    prefix_lm_fwd[grid](q, k, v, out, prefix, q.stride(1), q.stride(2), heads, seq, 0.25, D=16, BLOCK_M=16, BLOCK_N=32)
    return out


def reference(q, k, v, prefix):
    seq = q.shape[2]
    i = torch.arange(seq, device=q.device)
    allowed = (i[None, None, :] <= i[None, :, None]) | (i[None, None, :] < prefix[:, None, None])
    scores = (q @ k.transpose(-1, -2)) * 0.25
    scores = scores.masked_fill(~allowed[:, None], float("-inf"))
    return scores.softmax(-1) @ v


TRUTH = "broken"
# WHY: keys 0 … prefix are seen by all queries, one too many: `rn <= prefix` where `rn < prefix` is meant.
