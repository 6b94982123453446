"""Forgetting Transformer (FoX): causal attention whose scores decay by the forget gates between key and query.

Two kernels, as in the authors' code: cumulative log gates, then flash attention with c_i - c_j added.
"""
import torch
import triton
import triton.language as tl


@triton.jit
def log_fgate_cumsum_kernel(f_ptr, c_ptr, T, BLOCK_T: tl.constexpr):
    bh = tl.program_id(0)
    carry = 0.0
    for t0 in range(0, T, BLOCK_T):
        t = t0 + tl.arange(0, BLOCK_T)
        mask = t < T
        f = tl.load(f_ptr + bh * T + t, mask=mask, other=0.0)
        lf = tl.minimum(f, 0.0) - tl.log(1.0 + tl.exp(-tl.abs(f)))
        lf = tl.where(mask, lf, 0.0)
        tl.store(c_ptr + bh * T + t, tl.cumsum(lf, axis=0) + carry, mask=mask)
        carry += tl.sum(lf, axis=0)


@triton.jit
def forgetting_attn_fwd_kernel(
    Q, K, V, C, Out,
    stride_qh, stride_qt,
    sm_scale, T, D,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):
    start_m = tl.program_id(0)
    bh = tl.program_id(1)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, BLOCK_D)
    mask_m = offs_m < T
    mask_d = offs_d < D
    base = bh * stride_qh

    q = tl.load(Q + base + offs_m[:, None] * stride_qt + offs_d[None, :], mask=mask_m[:, None] & mask_d[None, :], other=0.0)
    c_q = tl.load(C + bh * T + offs_m, mask=mask_m, other=0.0)

    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)

    hi = tl.minimum((start_m + 1) * BLOCK_M, T)
    for start_n in range(0, hi, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        mask_n = offs_n < T
        k = tl.load(K + base + offs_n[None, :] * stride_qt + offs_d[:, None], mask=mask_n[None, :] & mask_d[:, None], other=0.0)
        c_k = tl.load(C + bh * T + offs_n, mask=mask_n, other=0.0)
        s = tl.dot(q, k) * sm_scale
        s += c_q[:, None] - c_k[None, :]
        s = tl.where((offs_m[:, None] >= offs_n[None, :]) & mask_n[None, :], s, float("-inf"))

        m_new = tl.maximum(m_i, tl.max(s, axis=1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(s - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, axis=1)
        v = tl.load(V + base + offs_n[:, None] * stride_qt + offs_d[None, :], mask=mask_n[:, None] & mask_d[None, :], other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p, v)
        m_i = m_new

    acc = acc / l_i[:, None]
    tl.store(Out + base + offs_m[:, None] * stride_qt + offs_d[None, :], acc, mask=mask_m[:, None] & mask_d[None, :])


def launch(heads=3, T=37, D=21):
    q = torch.randn(heads, T, D, device="cuda")
    k = torch.randn(heads, T, D, device="cuda")
    v = torch.randn(heads, T, D, device="cuda")
    fgate = torch.randn(heads, T, device="cuda") + 1.0
    c = torch.empty(heads, T, device="cuda", dtype=torch.float32)
    out = torch.empty_like(q)
    log_fgate_cumsum_kernel[(heads,)](fgate, c, T, BLOCK_T=16)
    grid = lambda meta: (triton.cdiv(T, meta["BLOCK_M"]), heads)
    forgetting_attn_fwd_kernel[grid](
        q, k, v, c, out, q.stride(0), q.stride(1), 0.25, T, D,
        BLOCK_M=32, BLOCK_N=16, BLOCK_D=triton.next_power_of_2(D),
    )
    return out


def reference(q, k, v, fgate):
    c = torch.nn.functional.logsigmoid(fgate).cumsum(-1)
    s = q @ k.transpose(-1, -2) * 0.25 + c[:, :, None] - c[:, None, :]
    T = q.shape[1]
    causal = torch.ones(T, T, dtype=torch.bool, device=q.device).tril()
    return torch.softmax(s.masked_fill(~causal, float("-inf")), dim=-1) @ v


TRUTH = "verified"
