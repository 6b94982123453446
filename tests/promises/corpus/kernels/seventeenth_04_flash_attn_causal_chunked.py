"""LLM prefill: causal flash attention of a query chunk at the end of a longer KV. Mistake: the causal mask (and the loop's end) is aligned top-left; the offset kv_len - q_len is forgotten."""
import torch
import triton
import triton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": 16, "BLOCK_N": 16}, num_warps=4, num_stages=2),
        triton.Config({"BLOCK_M": 32, "BLOCK_N": 16}, num_warps=4, num_stages=3),
    ],
    key=["q_len", "kv_len"],
)
@triton.jit
def flash_fwd_kernel(
    Q, K, V, O,
    stride_qh, stride_qm, stride_kh, stride_kn, stride_vh, stride_vn, stride_oh, stride_om,
    q_len, kv_len, qk_scale,
    D: tl.constexpr, CAUSAL: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    start_m, head = tl.program_id(0), tl.program_id(1)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_d = tl.arange(0, D)
    q = tl.load(Q + head * stride_qh + offs_m[:, None] * stride_qm + offs_d[None, :],
                mask=offs_m[:, None] < q_len, other=0.0)
    m_i = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], dtype=tl.float32)
    hi = tl.minimum(kv_len, (start_m + 1) * BLOCK_M) if CAUSAL else kv_len
    for start_n in range(0, hi, BLOCK_N):
        offs_n = start_n + tl.arange(0, BLOCK_N)
        k = tl.load(K + head * stride_kh + offs_n[None, :] * stride_kn + offs_d[:, None],
                    mask=offs_n[None, :] < kv_len, other=0.0)
        s = tl.dot(q, k) * qk_scale
        keep = offs_n[None, :] < kv_len
        if CAUSAL:
            keep = keep & (offs_m[:, None] >= offs_n[None, :])
        s = tl.where(keep, s, -float("inf"))
        m_new = tl.maximum(m_i, tl.max(s, 1))
        alpha = tl.exp2(m_i - m_new)
        p = tl.exp2(s - m_new[:, None])
        v = tl.load(V + head * stride_vh + offs_n[:, None] * stride_vn + offs_d[None, :],
                    mask=offs_n[:, None] < kv_len, other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(v.dtype), v)
        l_i = l_i * alpha + tl.sum(p, 1)
        m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(O + head * stride_oh + offs_m[:, None] * stride_om + offs_d[None, :], acc,
             mask=offs_m[:, None] < q_len)


def launch(heads=2, q_len=21, kv_len=53):
    D = 16
    q = torch.randn(heads, q_len, D, device="cuda")
    k = torch.randn(heads, kv_len, D, device="cuda")
    v = torch.randn(heads, kv_len, D, device="cuda")
    o = torch.empty_like(q)
    grid = lambda META: (triton.cdiv(q_len, META["BLOCK_M"]), heads)
    flash_fwd_kernel[grid](
        q, k, v, o, q.stride(0), q.stride(1), k.stride(0), k.stride(1), v.stride(0), v.stride(1),
        o.stride(0), o.stride(1), q_len, kv_len, D**-0.5 * 1.4426950408889634, D=D, CAUSAL=True,
    )
    return o


def reference(q, k, v):
    t, s = q.shape[1], k.shape[1]
    scores = q @ k.transpose(-1, -2) * 16**-0.5
    keep = torch.arange(s, device=q.device)[None, :] <= torch.arange(t, device=q.device)[:, None] + (s - t)
    return scores.masked_fill(~keep, -float("inf")).softmax(-1) @ v

TRUTH = "broken"
