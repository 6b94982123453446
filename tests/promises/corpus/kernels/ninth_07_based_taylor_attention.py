"""Based (Arora et al.): causal linear attention with the second-order Taylor map, computed in its quadratic form."""
import torch
import triton
import triton.language as tl


@triton.jit
def parallel_based_fwd_kernel(
    q, k, v, o,
    s_qk_h, s_qk_t,
    s_vo_h, s_vo_t,
    scale, T, K, V,
    BT: tl.constexpr, BS: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr,
):
    i_t, i_v, i_h = tl.program_id(0), tl.program_id(1), tl.program_id(2)

    o_q = i_t * BT + tl.arange(0, BT)
    o_kd = tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)

    b_q = tl.load(
        q + i_h * s_qk_h + o_q[:, None] * s_qk_t + o_kd[None, :],
        mask=(o_q[:, None] < T) & (o_kd[None, :] < K), other=0.0,
    ) * scale
    b_o = tl.zeros([BT, BV], dtype=tl.float32)
    b_z = tl.zeros([BT], dtype=tl.float32)

    for s in range(0, (i_t + 1) * BT, BS):
        o_k = s + tl.arange(0, BS)
        b_k = tl.load(
            k + i_h * s_qk_h + o_k[None, :] * s_qk_t + o_kd[:, None],
            mask=(o_k[None, :] < T) & (o_kd[:, None] < K), other=0.0,
        )
        b_v = tl.load(
            v + i_h * s_vo_h + o_k[:, None] * s_vo_t + o_v[None, :],
            mask=(o_k[:, None] < T) & (o_v[None, :] < V), other=0.0,
        )
        b_s = tl.dot(b_q, b_k)
        b_s = 1 + b_s + 0.5 * b_s * b_s
        b_s = tl.where(o_q[:, None] > o_k[None, :], b_s, 0.0)
        b_z += tl.sum(b_s, axis=1)
        b_o += tl.dot(b_s, b_v)

    b_o = b_o / (b_z[:, None] + 1e-6)
    tl.store(
        o + i_h * s_vo_h + o_q[:, None] * s_vo_t + o_v[None, :], b_o,
        mask=(o_q[:, None] < T) & (o_v[None, :] < V),
    )


def launch(heads=3, T=37, K=11, V=19):
    q = torch.randn(heads, T, K, device="cuda")
    k = torch.randn(heads, T, K, device="cuda")
    v = torch.randn(heads, T, V, device="cuda")
    o = torch.empty_like(v)
    BT, BS, BV = 32, 16, 16
    grid = (triton.cdiv(T, BT), triton.cdiv(V, BV), heads)
    parallel_based_fwd_kernel[grid](
        q, k, v, o,
        q.stride(0), q.stride(1), v.stride(0), v.stride(1),
        0.25, T, K, V,
        BT=BT, BS=BS, BK=16, BV=BV,
    )
    return o


def reference(q, k, v):
    s = (q * 0.25) @ k.transpose(-1, -2)
    s = (1 + s + 0.5 * s * s).tril()
    return s @ v / (s.sum(-1, keepdim=True) + 1e-6)


TRUTH = "broken"
# WHY: the causal mask is > where it must be >=: a token does not see itself (and token 0 sees nothing).
