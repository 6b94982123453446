"""Extend attention: new tokens look at a cached prefix through its indices, and causally at each other."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _extend_fwd_kernel(
    Q, K, V, O, K_Buffer, V_Buffer,
    qo_indptr, kv_indptr, kv_indices,
    sm_scale, kv_group_num,
    stride_qbs, stride_qh, stride_kbs, stride_kh, stride_vbs, stride_vh, stride_obs, stride_oh,
    stride_buf_kbs, stride_buf_kh, stride_buf_vbs, stride_buf_vh,
    Lq: tl.constexpr, BLOCK_DMODEL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    cur_seq = tl.program_id(0)
    cur_head = tl.program_id(1)
    cur_block_m = tl.program_id(2)
    cur_kv_head = cur_head // kv_group_num

    q_start = tl.load(qo_indptr + cur_seq)
    len_extend = tl.load(qo_indptr + cur_seq + 1) - q_start
    kv_start = tl.load(kv_indptr + cur_seq)
    len_prefix = tl.load(kv_indptr + cur_seq + 1) - kv_start

    offs_d = tl.arange(0, BLOCK_DMODEL)
    offs_m = tl.arange(0, BLOCK_M)
    mask_d = offs_d < Lq
    mask_m = (cur_block_m * BLOCK_M + offs_m) < len_extend
    offs_q = (q_start + cur_block_m * BLOCK_M + offs_m[:, None]) * stride_qbs + cur_head * stride_qh + offs_d[None, :]
    q = tl.load(Q + offs_q, mask=mask_m[:, None] & mask_d[None, :], other=0.0)

    offs_n = tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_M, BLOCK_DMODEL], dtype=tl.float32)
    deno = tl.zeros([BLOCK_M], dtype=tl.float32)
    e_max = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")

    for start_n in range(0, len_prefix, BLOCK_N):
        mask_n = (start_n + offs_n) < len_prefix
        kv_loc = tl.load(kv_indices + kv_start + start_n + offs_n, mask=mask_n, other=0)
        k = tl.load(K_Buffer + kv_loc[None, :] * stride_buf_kbs + cur_kv_head * stride_buf_kh + offs_d[:, None], mask=mask_n[None, :] & mask_d[:, None], other=0.0)
        qk = tl.dot(q, k) * sm_scale
        qk = tl.where(mask_m[:, None] & mask_n[None, :], qk, float("-inf"))
        row_max = tl.max(qk, 1)
        row_max = tl.where(row_max == float("-inf"), -1e20, row_max)
        n_e_max = tl.maximum(row_max, e_max)
        re_scale = tl.exp(e_max - n_e_max)
        p = tl.exp(qk - n_e_max[:, None])
        deno = deno * re_scale + tl.sum(p, 1)
        v = tl.load(V_Buffer + kv_loc[:, None] * stride_buf_vbs + cur_kv_head * stride_buf_vh + offs_d[None, :], mask=mask_n[:, None] & mask_d[None, :], other=0.0)
        acc = acc * re_scale[:, None] + tl.dot(p, v)
        e_max = n_e_max

    block_end = tl.minimum(len_extend, (cur_block_m + 1) * BLOCK_M)
    for start_n in range(0, block_end, BLOCK_N):
        mask_n = (start_n + offs_n) < block_end
        k = tl.load(K + (q_start + start_n + offs_n[None, :]) * stride_kbs + cur_kv_head * stride_kh + offs_d[:, None], mask=mask_n[None, :] & mask_d[:, None], other=0.0)
        qk = tl.dot(q, k) * sm_scale
        causal = (cur_block_m * BLOCK_M + offs_m[:, None]) >= (start_n + offs_n[None, :])
        qk = tl.where(causal & mask_m[:, None] & mask_n[None, :], qk, float("-inf"))
        row_max = tl.max(qk, 1)
        row_max = tl.where(row_max == float("-inf"), -1e20, row_max)
        n_e_max = tl.maximum(row_max, e_max)
        re_scale = tl.exp(e_max - n_e_max)
        p = tl.exp(qk - n_e_max[:, None])
        deno = deno * re_scale + tl.sum(p, 1)
        v = tl.load(V + (q_start + start_n + offs_n[:, None]) * stride_vbs + cur_kv_head * stride_vh + offs_d[None, :], mask=mask_n[:, None] & mask_d[None, :], other=0.0)
        acc = acc * re_scale[:, None] + tl.dot(p, v)
        e_max = n_e_max

    offs_o = (q_start + cur_block_m * BLOCK_M + offs_m[:, None]) * stride_obs + cur_head * stride_oh + offs_d[None, :]
    tl.store(O + offs_o, acc / deno[:, None], mask=mask_m[:, None] & mask_d[None, :])


def launch():
    heads, kv_heads, dim, pool = 4, 2, 40, 64
    extend = torch.tensor([5, 19, 3], dtype=torch.int32)
    prefix = torch.tensor([20, 0, 7], dtype=torch.int32)
    qo_indptr = torch.zeros(4, dtype=torch.int32)
    kv_indptr = torch.zeros(4, dtype=torch.int32)
    qo_indptr[1:] = torch.cumsum(extend, 0)
    kv_indptr[1:] = torch.cumsum(prefix, 0)
    total, cached = int(qo_indptr[-1]), int(kv_indptr[-1])
    kv_indices = torch.randint(0, pool, (cached,), dtype=torch.int64)
    q = torch.randn(total, heads, dim)
    k = torch.randn(total, kv_heads, dim)
    v = torch.randn(total, kv_heads, dim)
    k_buffer = torch.randn(pool, kv_heads, dim)
    v_buffer = torch.randn(pool, kv_heads, dim)
    o = torch.empty_like(q)
    max_len_extend = int(extend.max())
    BLOCK_M, BLOCK_N = 16, 16
    _extend_fwd_kernel[(3, heads, triton.cdiv(max_len_extend, BLOCK_M))](
        q, k, v, o, k_buffer, v_buffer,
        qo_indptr, kv_indptr, kv_indices,
        0.125, heads // kv_heads,
        q.stride(0), q.stride(1), k.stride(0), k.stride(1), v.stride(0), v.stride(1), o.stride(0), o.stride(1),
        k_buffer.stride(0), k_buffer.stride(1), v_buffer.stride(0), v_buffer.stride(1),
        Lq=dim, BLOCK_DMODEL=triton.next_power_of_2(dim), BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N,
    )
    return o


def reference(q, k, v, k_buffer, v_buffer, qo_indptr, kv_indptr, kv_indices):
    total, heads, _ = q.shape
    group = heads // k.shape[1]
    row, slot = torch.arange(total), torch.arange(kv_indices.shape[0])
    owner = (row[:, None] >= qo_indptr[None, 1:]).sum(1)
    slot_owner = (slot[:, None] >= kv_indptr[None, 1:]).sum(1)
    keys = torch.cat([k_buffer[kv_indices], k]).repeat_interleave(group, 1)
    values = torch.cat([v_buffer[kv_indices], v]).repeat_interleave(group, 1)
    see_prefix = owner[:, None] == slot_owner[None, :]
    see_new = (owner[:, None] == owner[None, :]) & (row[:, None] >= row[None, :])
    see = torch.cat([see_prefix, see_new], 1)
    scores = 0.125 * torch.einsum("qhd,khd->hqk", q, keys)
    p = torch.softmax(scores.masked_fill(~see[None], float("-inf")), -1)
    return torch.einsum("hqk,khd->qhd", p, values)
