"""Causal prefill attention. MISTAKE: keys and values are loaded without a bound ("the causal mask covers it"): right numbers, but reads behind the tensors where T is no multiple of the tile."""
import torch
import triton
import triton.language as tl


@triton.jit
def _prefill_kernel(
    Q, K, V, O, sm_scale,
    stride_h, stride_t,
    T,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    start_m = tl.program_id(0)
    h = tl.program_id(1)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D)
    base = h * stride_h
    row_mask = offs_m[:, None] < T
    q = tl.load(Q + base + offs_m[:, None] * stride_t + offs_d[None, :], mask=row_mask, other=0.0)
    m_i = tl.full((BLOCK_M,), -float("inf"), dtype=tl.float32)
    l_i = tl.zeros((BLOCK_M,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_M, D), dtype=tl.float32)
    for start_n in range(0, (start_m + 1) * BLOCK_M, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        k = tl.load(K + base + offs_n[None, :] * stride_t + offs_d[:, None])
        qk = tl.dot(q, k) * sm_scale
        qk = tl.where(offs_m[:, None] >= offs_n[None, :], qk, -float("inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(qk - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(V + base + offs_n[:, None] * stride_t + offs_d[None, :])
        acc = acc * alpha[:, None] + tl.dot(p, v)
        m_i = m_new
    tl.store(O + base + offs_m[:, None] * stride_t + offs_d[None, :], acc / l_i[:, None], mask=row_mask)


def launch(H=3, T=48):
    q = torch.randn(H, T, 16, device="cuda")
    k = torch.randn(H, T, 16, device="cuda")
    v = torch.randn(H, T, 16, device="cuda")
    o = torch.empty_like(q)
    _prefill_kernel[(triton.cdiv(T, 16), H)](
        q, k, v, o, 0.25, q.stride(0), q.stride(1), T, D=16, BLOCK_M=16, BLOCK_N=16,
    )
    return o


def reference(q, k, v):
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

TRUTH = "broken"
