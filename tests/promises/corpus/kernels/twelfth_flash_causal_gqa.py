"""Causal flash attention in base 2 with grouped KV heads; keys after the query block are not visited, the rest is masked, and lse is returned."""
import torch
import triton
import triton.language as tl


@triton.jit
def flash_kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, lse_ptr, scale_log2, seq, heads, group,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):
    pid_m = tl.program_id(0)
    bh = tl.program_id(1)
    batch = bh // heads
    kv = batch * (heads // group) + (bh % heads) // group
    rm = pid_m * BM + tl.arange(0, BM)
    rd = tl.arange(0, D)
    q = tl.load(q_ptr + (bh * seq + rm)[:, None] * D + rd[None, :], mask=rm[:, None] < seq, other=0.0)
    m = tl.full((BM,), float("-inf"), tl.float32)
    l = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = tl.minimum((pid_m + 1) * BM, seq)
    for start in range(0, end, BN):
        rn = start + tl.arange(0, BN)
        k = tl.load(k_ptr + (kv * seq + rn)[:, None] * D + rd[None, :], mask=rn[:, None] < seq, other=0.0)
        v = tl.load(v_ptr + (kv * seq + rn)[:, None] * D + rd[None, :], mask=rn[:, None] < seq, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale_log2
        s = tl.where((rn[None, :] <= rm[:, None]) & (rn[None, :] < seq), s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 1))
        p = tl.exp2(s - m_new[:, None])
        alpha = tl.exp2(m - m_new)
        l = l * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(v.dtype), v, acc)
        m = m_new
    acc = acc / l[:, None]
    tl.store(o_ptr + (bh * seq + rm)[:, None] * D + rd[None, :], acc.to(tl.float16), mask=rm[:, None] < seq)
    tl.store(lse_ptr + bh * seq + rm, (m + tl.log2(l)) * 0.6931471805599453, mask=rm < seq)


def launch(batch=2, kv_heads=3, group=2, seq=70, dim=32):
    heads = kv_heads * group
    q = torch.randn(batch, heads, seq, dim, device="cuda", dtype=torch.float16)
    k = torch.randn(batch, kv_heads, seq, dim, device="cuda", dtype=torch.float16)
    v = torch.randn(batch, kv_heads, seq, dim, device="cuda", dtype=torch.float16)
    out = torch.empty_like(q)
    lse = torch.empty(batch, heads, seq, device="cuda", dtype=torch.float32)
    flash_kernel[(triton.cdiv(seq, 32), batch * heads)](
        q, k, v, out, lse, dim**-0.5 * 1.4426950408889634, seq, heads, group, D=dim, BM=32, BN=16,
    )
    return out, lse


def reference(q, k, v, group):
    k = k.repeat_interleave(group, dim=1)
    v = v.repeat_interleave(group, dim=1)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    seq = q.shape[2]
    future = torch.ones(seq, seq, dtype=torch.bool, device=q.device).triu(1)
    scores = scores.masked_fill(future, float("-inf"))
    return torch.softmax(scores, -1) @ v, torch.logsumexp(scores, -1)


TRUTH = "verified"
