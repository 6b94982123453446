"""LLM serving: one decode step of attention over a paged KV cache, GQA, online softmax, a block table."""
import torch
import triton
import triton.language as tl


@triton.jit
def paged_decode_kernel(
    q_ptr, k_cache_ptr, v_cache_ptr, block_table_ptr, seq_lens_ptr, out_ptr,
    sm_scale,
    stride_qb, stride_qh,
    stride_kp, stride_kt, stride_kh,
    stride_vp, stride_vt, stride_vh,
    stride_bt,
    stride_ob, stride_oh,
    GROUP: tl.constexpr, HEAD_DIM: tl.constexpr, PAGE: tl.constexpr,
):
    b, h = tl.program_id(0), tl.program_id(1)
    kv_h = h // GROUP
    d = tl.arange(0, HEAD_DIM)
    t = tl.arange(0, PAGE)
    q = tl.load(q_ptr + b * stride_qb + h * stride_qh + d).to(tl.float32) * sm_scale
    seq_len = tl.load(seq_lens_ptr + b)
    m = -float("inf")
    l = 0.0
    acc = tl.zeros([HEAD_DIM], dtype=tl.float32)
    for p in range(0, tl.cdiv(seq_len, PAGE)):
        page = tl.load(block_table_ptr + b * stride_bt + p).to(tl.int64)
        valid = p * PAGE + t < seq_len
        k = tl.load(k_cache_ptr + page * stride_kp + t[:, None] * stride_kt + kv_h * stride_kh + d[None, :],
                    mask=valid[:, None], other=0.0).to(tl.float32)
        s = tl.sum(q[None, :] * k, axis=1)
        s = tl.where(valid, s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, axis=0))
        alpha = tl.exp(m - m_new)
        w = tl.exp(s - m_new)
        v = tl.load(v_cache_ptr + page * stride_vp + t[:, None] * stride_vt + kv_h * stride_vh + d[None, :],
                    mask=valid[:, None], other=0.0).to(tl.float32)
        acc = acc * alpha + tl.sum(w[:, None] * v, axis=0)
        l = l * alpha + tl.sum(w, axis=0)
        m = m_new
    tl.store(out_ptr + b * stride_ob + h * stride_oh + d, acc / l)


def launch(batch=3, kv_heads=2, pages=12, max_pages=4):
    group, head_dim, page = 4, 32, 16
    q = torch.randn(batch, kv_heads * group, head_dim, device="cuda")
    k_cache = torch.randn(pages, page, kv_heads, head_dim, device="cuda")
    v_cache = torch.randn(pages, page, kv_heads, head_dim, device="cuda")
    block_table = torch.randint(0, pages, (batch, max_pages), device="cuda", dtype=torch.int32)
    seq_lens = torch.randint(1, max_pages * page + 1, (batch,), device="cuda", dtype=torch.int32)
    out = torch.empty_like(q)
    paged_decode_kernel[(batch, kv_heads * group)](
        q, k_cache, v_cache, block_table, seq_lens, out, head_dim**-0.5,
        q.stride(0), q.stride(1),
        k_cache.stride(0), k_cache.stride(1), k_cache.stride(2),
        v_cache.stride(0), v_cache.stride(1), v_cache.stride(2),
        block_table.stride(0), out.stride(0), out.stride(1),
        GROUP=group, HEAD_DIM=head_dim, PAGE=page,
    )
    return out


def reference(q, k_cache, v_cache, block_table, seq_lens):
    k = k_cache[block_table.long()].flatten(1, 2).repeat_interleave(4, dim=2)
    v = v_cache[block_table.long()].flatten(1, 2).repeat_interleave(4, dim=2)
    scores = torch.einsum("bhd,bthd->bht", q, k) * 32**-0.5
    position = torch.arange(k.shape[1], device=q.device)
    scores = scores.masked_fill(position[None, None, :] >= seq_lens[:, None, None], -float("inf"))
    return torch.einsum("bht,bthd->bhd", scores.softmax(-1), v)

TRUTH = "verified"
