"""splitdec, as somebody wrote it who knew the documentation alone."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def _decode_stage1(
    q_ptr,
    k_cache_ptr,
    v_cache_ptr,
    block_table_ptr,
    seq_lens_ptr,
    mid_o_ptr,
    mid_lse_ptr,
    sm_scale,
    stride_qb,
    stride_qh,
    stride_kb,
    stride_ks,
    stride_kh,
    stride_tb,
    stride_mb,
    stride_mh,
    stride_ms,
    stride_lb,
    stride_lh,
    kv_group,
    PAGE: tl.constexpr,
    NUM_SPLITS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    split = tl.program_id(2)
    kv_h = h // kv_group

    seq_len = tl.load(seq_lens_ptr + b)
    n_pages = tl.cdiv(seq_len, PAGE)
    pages_per_split = tl.cdiv(n_pages, NUM_SPLITS)
    first = split * pages_per_split
    last = tl.minimum(first + pages_per_split, n_pages)

    offs_d = tl.arange(0, HEAD_DIM)
    offs_p = tl.arange(0, PAGE)
    q = tl.load(q_ptr + b * stride_qb + h * stride_qh + offs_d).to(tl.float32) * sm_scale

    if last > first:
        m = -float("inf")
        l = 0.0
        acc = tl.zeros([HEAD_DIM], dtype=tl.float32)
        for page in range(first, last):
            block = tl.load(block_table_ptr + b * stride_tb + page).to(tl.int64)
            pos = page * PAGE + offs_p
            offs = block * stride_kb + offs_p[:, None] * stride_ks + kv_h * stride_kh + offs_d[None, :]
            valid = pos < seq_len
            k = tl.load(k_cache_ptr + offs, mask=valid[:, None], other=0.0).to(tl.float32)
            v = tl.load(v_cache_ptr + offs, mask=valid[:, None], other=0.0).to(tl.float32)
            s = tl.sum(q[None, :] * k, 1)
            s = tl.where(valid, s, -float("inf"))
            m_new = tl.maximum(m, tl.max(s, 0))
            alpha = tl.exp(m - m_new)
            p = tl.exp(s - m_new)
            acc = acc * alpha + tl.sum(p[:, None] * v, 0)
            l = l * alpha + tl.sum(p, 0)
            m = m_new
        tl.store(mid_o_ptr + b * stride_mb + h * stride_mh + split * stride_ms + offs_d, acc / l)
        tl.store(mid_lse_ptr + b * stride_lb + h * stride_lh + split, m + tl.log(l))


@triton.jit
def _decode_stage2(
    mid_o_ptr,
    mid_lse_ptr,
    seq_lens_ptr,
    out_ptr,
    stride_mb,
    stride_mh,
    stride_ms,
    stride_lb,
    stride_lh,
    stride_ob,
    stride_oh,
    PAGE: tl.constexpr,
    NUM_SPLITS: tl.constexpr,
    HEAD_DIM: tl.constexpr,
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    offs_d = tl.arange(0, HEAD_DIM)
    seq_len = tl.load(seq_lens_ptr + b)
    n_pages = tl.cdiv(seq_len, PAGE)
    pages_per_split = tl.cdiv(n_pages, NUM_SPLITS)

    m = -float("inf")
    l = 0.0
    acc = tl.zeros([HEAD_DIM], dtype=tl.float32)
    for split in range(NUM_SPLITS):
        if split * pages_per_split < n_pages:
            o = tl.load(mid_o_ptr + b * stride_mb + h * stride_mh + split * stride_ms + offs_d)
            lse = tl.load(mid_lse_ptr + b * stride_lb + h * stride_lh + split)
            m_new = tl.maximum(m, lse)
            alpha = tl.exp(m - m_new)
            w = tl.exp(lse - m_new)
            acc = acc * alpha + w * o
            l = l * alpha + w
            m = m_new
    tl.store(out_ptr + b * stride_ob + h * stride_oh + offs_d, acc / l)


def flash_decode(q, k_cache, v_cache, block_table, seq_lens, num_splits=4):
    batch, heads, d = q.shape
    page, kv_heads = k_cache.shape[1], k_cache.shape[2]
    mid_o = torch.empty((batch, heads, num_splits, d), dtype=torch.float32, device=q.device)
    mid_lse = torch.empty((batch, heads, num_splits), dtype=torch.float32, device=q.device)
    out = torch.empty_like(q)
    _decode_stage1[(batch, heads, num_splits)](
        q, k_cache, v_cache, block_table, seq_lens, mid_o, mid_lse, 1.0 / math.sqrt(d),
        q.stride(0), q.stride(1), k_cache.stride(0), k_cache.stride(1), k_cache.stride(2), block_table.stride(0),
        mid_o.stride(0), mid_o.stride(1), mid_o.stride(2), mid_lse.stride(0), mid_lse.stride(1),
        heads // kv_heads, PAGE=page, NUM_SPLITS=num_splits, HEAD_DIM=d,
    )
    _decode_stage2[(batch, heads)](
        mid_o, mid_lse, seq_lens, out,
        mid_o.stride(0), mid_o.stride(1), mid_o.stride(2), mid_lse.stride(0), mid_lse.stride(1),
        out.stride(0), out.stride(1), PAGE=page, NUM_SPLITS=num_splits, HEAD_DIM=d,
    )
    return out


def launch(batch=3, kv_heads=2, group=2, blocks=20, pages=6):
    q = torch.randn(batch, kv_heads * group, 32, device="cuda")
    k_cache = torch.randn(blocks, 16, kv_heads, 32, device="cuda")
    v_cache = torch.randn(blocks, 16, kv_heads, 32, device="cuda")
    block_table = torch.randint(0, blocks, (batch, pages), dtype=torch.int32, device="cuda")
    seq_lens = torch.randint(1, pages * 16 + 1, (batch,), dtype=torch.int32, device="cuda")
    return flash_decode(q, k_cache, v_cache, block_table, seq_lens)


def reference(q, k_cache, v_cache, block_table, seq_lens):
    group = q.shape[1] // k_cache.shape[2]
    k = k_cache[block_table].flatten(1, 2).repeat_interleave(group, 2)
    v = v_cache[block_table].flatten(1, 2).repeat_interleave(group, 2)
    s = torch.einsum("bhd,bnhd->bhn", q, k) / math.sqrt(q.shape[-1])
    valid = torch.arange(k.shape[1], device=q.device)[None, :] < seq_lens[:, None]
    p = s.masked_fill(~valid[:, None, :], float("-inf")).softmax(-1)
    return torch.einsum("bhn,bnhd->bhd", p, v)


TRUTH = "verified"
