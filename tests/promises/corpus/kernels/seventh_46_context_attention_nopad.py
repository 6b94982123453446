"""Prefill attention over packed requests without padding (LightLLM's layout), GQA, causal."""
import torch
import triton
import triton.language as tl


@triton.jit
def _fwd_kernel_nopad(
    Q, K, V, sm_scale, B_Start_Loc, B_Seqlen, Out,
    stride_qbs, stride_qh, stride_kbs, stride_kh, stride_obs, stride_oh,
    kv_group_num,
    BLOCK_M: tl.constexpr, BLOCK_DMODEL: tl.constexpr, BLOCK_N: tl.constexpr,
):
    cur_batch = tl.program_id(0)
    cur_head = tl.program_id(1)
    start_m = tl.program_id(2)
    cur_kv_head = cur_head // kv_group_num

    seq_len = tl.load(B_Seqlen + cur_batch)
    start_index = tl.load(B_Start_Loc + cur_batch)

    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, BLOCK_DMODEL)
    offs_m = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    q = tl.load(
        Q + (start_index + offs_m[:, None]) * stride_qbs + cur_head * stride_qh + offs_d[None, :],
        mask=offs_m[:, None] < seq_len, other=0.0,
    )
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, BLOCK_DMODEL], dtype=tl.float32)

    block_end = tl.minimum((start_m + 1) * BLOCK_M, seq_len)
    for start_n in range(0, block_end, BLOCK_N):
        cols = start_n + offs_n
        k = tl.load(
            K + (start_index + cols[None, :]) * stride_kbs + cur_kv_head * stride_kh + offs_d[:, None],
            mask=cols[None, :] < seq_len, other=0.0,
        )
        qk = tl.dot(q, k) * sm_scale
        qk = tl.where(offs_m[:, None] >= cols[None, :], qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.exp(qk - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        l_i = l_i * alpha + tl.sum(p, 1)
        v = tl.load(
            V + (start_index + cols[:, None]) * stride_kbs + cur_kv_head * stride_kh + offs_d[None, :],
            mask=cols[:, None] < seq_len, other=0.0,
        )
        acc += tl.dot(p.to(v.dtype), v)
        m_i = m_new
    acc = acc / l_i[:, None]
    tl.store(
        Out + (start_index + offs_m[:, None]) * stride_obs + cur_head * stride_oh + offs_d[None, :],
        acc, mask=offs_m[:, None] < seq_len,
    )


def launch(kv_heads=2, group=2):
    seqlen = torch.tensor([21, 40, 7], dtype=torch.int32, device="cuda")
    start_loc = torch.tensor([0, 21, 61], dtype=torch.int32, device="cuda")
    q = torch.randn(68, kv_heads * group, 32, device="cuda")
    k = torch.randn(68, kv_heads, 32, device="cuda")
    v = torch.randn(68, kv_heads, 32, device="cuda")
    o = torch.zeros_like(q)
    grid = (3, kv_heads * group, triton.cdiv(40, 16))
    _fwd_kernel_nopad[grid](
        q, k, v, 32**-0.5, start_loc, seqlen, o,
        q.stride(0), q.stride(1), k.stride(0), k.stride(1), o.stride(0), o.stride(1), group,
        BLOCK_M=16, BLOCK_DMODEL=32, BLOCK_N=16,
    )
    return o


def reference(q, k, v, start_loc):
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    pos = torch.arange(q.shape[0], device=q.device)
    seg = (pos[:, None] >= start_loc).sum(1)
    ok = (seg[:, None] == seg) & (pos[:, None] >= pos)
    s = torch.einsum("ihd,jhd->hij", q, k) * 32**-0.5
    p = torch.softmax(s.masked_fill(~ok, float("-inf")), dim=-1)
    return torch.einsum("hij,jhd->ihd", p, v)


# the accumulator is not rescaled when the running maximum grows
TRUTH = "broken"
