"""T5's encoder attention: no scale, a bias by relative position, padded keys masked, online softmax."""
import torch
import triton
import triton.language as tl


@triton.jit
def t5_attn_fwd_kernel(
    Q, K, V, BIAS, Out,
    stride_qb, stride_qh, stride_qt,
    stride_bias_h,
    H, T, D,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_bh = tl.program_id(1)
    b, h = off_bh // H, off_bh % H
    base = b * stride_qb + h * stride_qh

    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, BLOCK_D)
    mask_d = offs_d < D
    q = tl.load(
        Q + base + offs_m[:, None] * stride_qt + offs_d[None, :],
        mask=(offs_m[:, None] < T) & mask_d[None, :], other=0.0,
    )

    m_i = tl.full([BLOCK_M], float("-inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_D], dtype=tl.float32)

    for start_n in range(0, T, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        mask_n = offs_n < T
        k = tl.load(
            K + base + offs_n[None, :] * stride_qt + offs_d[:, None],
            mask=mask_n[None, :] & mask_d[:, None], other=0.0,
        )
        rel = offs_n[None, :] - offs_m[:, None] + T - 1
        bias = tl.load(
            BIAS + h * stride_bias_h + rel, mask=(offs_m[:, None] < T) & mask_n[None, :], other=0.0
        )
        s = tl.dot(q, k) + bias
        s = tl.where(mask_n[None, :], s, float("-inf"))

        m_new = tl.maximum(m_i, tl.max(s, axis=1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(s - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, axis=1)
        v = tl.load(
            V + base + offs_n[:, None] * stride_qt + offs_d[None, :],
            mask=mask_n[:, None] & mask_d[None, :], other=0.0,
        )
        acc = tl.dot(p, v, acc)
        m_i = m_new

    acc = acc / l_i[:, None]
    tl.store(
        Out + base + offs_m[:, None] * stride_qt + offs_d[None, :], acc,
        mask=(offs_m[:, None] < T) & mask_d[None, :],
    )


def launch(batch=2, heads=3, T=13, D=24):
    q = torch.randn(batch, heads, T, D, device="cuda")
    k = torch.randn(batch, heads, T, D, device="cuda")
    v = torch.randn(batch, heads, T, D, device="cuda")
    bias = torch.randn(heads, 2 * T - 1, device="cuda")     # bias[h, j - i + T - 1]
    out = torch.empty_like(q)
    grid = lambda meta: (triton.cdiv(T, meta["BLOCK_M"]), batch * heads)
    t5_attn_fwd_kernel[grid](
        q, k, v, bias, out,
        q.stride(0), q.stride(1), q.stride(2), bias.stride(0),
        heads, T, D,
        BLOCK_M=16, BLOCK_N=16, BLOCK_D=triton.next_power_of_2(D),
    )
    return out


def reference(q, k, v, bias):
    T = q.shape[2]
    i = torch.arange(T, device=q.device)
    s = q @ k.transpose(-1, -2) + bias[:, i[None, :] - i[:, None] + T - 1]
    return torch.softmax(s, dim=-1) @ v


TRUTH = "broken"
# WHY: acc is not rescaled by alpha when the running maximum grows; only l_i is. It shows when T > BLOCK_N = 16 (more than one
# tile of keys), not at the default T = 13.
