"""Flash attention forward: causal (bottom right aligned), grouped heads, base-2 softmax, returns output and log-sum-exp; heuristic drops masks when even."""
import torch
import triton
import triton.language as tl


@triton.heuristics({
    "EVEN_M": lambda args: args["seqlen_q"] % args["BLOCK_M"] == 0,
    "EVEN_N": lambda args: args["seqlen_k"] % args["BLOCK_N"] == 0,
})
@triton.jit
def _fwd_kernel(
    Q, K, V, Out, Lse, sm_scale,
    stride_qb, stride_qh, stride_qm,
    stride_kb, stride_kh, stride_kn,
    stride_vb, stride_vh, stride_vn,
    stride_ob, stride_oh, stride_om,
    nheads, group, seqlen_q, seqlen_k,
    CAUSAL: tl.constexpr, HEAD_DIM: tl.constexpr,
    EVEN_M: tl.constexpr, EVEN_N: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_hb = tl.program_id(1)
    off_b = off_hb // nheads
    off_h = off_hb % nheads
    off_hk = off_h // group
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, HEAD_DIM)
    q_ptrs = Q + off_b * stride_qb + off_h * stride_qh + offs_m[:, None] * stride_qm + offs_d[None, :]
    k_ptrs = K + off_b * stride_kb + off_hk * stride_kh + offs_n[:, None] * stride_kn + offs_d[None, :]
    v_ptrs = V + off_b * stride_vb + off_hk * stride_vh + offs_n[:, None] * stride_vn + offs_d[None, :]
    if EVEN_M:
        q = tl.load(q_ptrs)
    else:
        q = tl.load(q_ptrs, mask=offs_m[:, None] < seqlen_q, other=0.0)

    qk_scale = sm_scale * 1.4426950408889634
    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    shift = seqlen_k - seqlen_q
    if CAUSAL:
        end_n = tl.minimum((start_m + 1) * BLOCK_M + shift, seqlen_k)
    else:
        end_n = seqlen_k
    for start_n in range(0, end_n, BLOCK_N):
        if EVEN_N:
            k = tl.load(k_ptrs + start_n * stride_kn)
        else:
            k = tl.load(k_ptrs + start_n * stride_kn, mask=(start_n + offs_n)[:, None] < seqlen_k, other=0.0)
        qk = tl.dot(q, tl.trans(k)) * qk_scale
        if not EVEN_N:
            qk = tl.where((start_n + offs_n)[None, :] < seqlen_k, qk, float("-inf"))
        if CAUSAL:
            qk = tl.where(offs_m[:, None] + shift >= (start_n + offs_n)[None, :], qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.exp2(qk - m_new[:, None])
        alpha = tl.exp2(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        if EVEN_N:
            v = tl.load(v_ptrs + start_n * stride_vn)
        else:
            v = tl.load(v_ptrs + start_n * stride_vn, mask=(start_n + offs_n)[:, None] < seqlen_k, other=0.0)
        acc += tl.dot(p.to(v.dtype), v)
        m_i = m_new

    acc = acc / l_i[:, None]
    lse = (m_i + tl.log2(l_i)) * 0.6931471805599453
    o_ptrs = Out + off_b * stride_ob + off_h * stride_oh + offs_m[:, None] * stride_om + offs_d[None, :]
    tl.store(Lse + off_hb * seqlen_q + offs_m, lse, mask=offs_m < seqlen_q)
    tl.store(o_ptrs, acc.to(Out.dtype.element_ty), mask=offs_m[:, None] < seqlen_q)


def launch(B=2, HK=2, Mq=21, Nk=37):
    group, D = 2, 16
    H = HK * group
    q = torch.randn(B, H, Mq, D, device="cuda")
    k = torch.randn(B, HK, Nk, D, device="cuda")
    v = torch.randn(B, HK, Nk, D, device="cuda")
    o = torch.empty_like(q)
    lse = torch.empty(B, H, Mq, device="cuda", dtype=torch.float32)
    assert Nk >= Mq
    grid = lambda meta: (triton.cdiv(Mq, meta["BLOCK_M"]), B * H)
    _fwd_kernel[grid](
        q, k, v, o, lse, 0.25,
        *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *o.stride()[:3],
        H, group, Mq, Nk,
        CAUSAL=True, HEAD_DIM=D, BLOCK_M=16, BLOCK_N=16, num_warps=4, num_stages=2,
    )
    return o, lse


def reference(q, k, v):
    k = k.repeat_interleave(2, dim=1)
    v = v.repeat_interleave(2, dim=1)
    s = 0.25 * (q @ k.transpose(-1, -2))
    M, N = s.shape[-2:]
    keep = torch.ones(M, N, dtype=torch.bool, device=q.device).tril(N - M)
    s = s.masked_fill(~keep, float("-inf"))
    return torch.softmax(s, dim=-1) @ v, torch.logsumexp(s, dim=-1)

TRUTH = "verified"
