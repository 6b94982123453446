"""One-token decode attention over a paged KV cache with block tables, context lengths and logit soft cap (Gemma 2)."""
import torch
import triton
import triton.language as tl


@triton.jit
def _tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def _paged_decode_kernel(
    q_ptr, k_cache_ptr, v_cache_ptr, table_ptr, lens_ptr, out_ptr,
    scale, softcap,
    stride_qb, stride_qh,
    stride_kp, stride_kt, stride_kh,
    stride_tb,
    GROUP: tl.constexpr, PAGE: tl.constexpr, D: tl.constexpr,
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    hk = h // GROUP
    d = tl.arange(0, D)
    t = tl.arange(0, PAGE)
    length = tl.load(lens_ptr + b)
    q = tl.load(q_ptr + b * stride_qb + h * stride_qh + d).to(tl.float32) * scale

    m = -float("inf")
    l = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    for page in range(0, tl.cdiv(length, PAGE)):
        block = tl.load(table_ptr + b * stride_tb + page).to(tl.int64)
        offs = block * stride_kp + t[:, None] * stride_kt + hk * stride_kh + d[None, :]
        valid = page * PAGE + t < length
        k = tl.load(k_cache_ptr + offs, mask=valid[:, None], other=0.0).to(tl.float32)
        s = tl.sum(q[None, :] * k, axis=1)
        s = softcap * _tanh(s / softcap)
        s = tl.where(valid, s, -float("inf"))
        m_new = tl.maximum(m, tl.max(s, axis=0))
        p = tl.exp(s - m_new)
        alpha = tl.exp(m - m_new)
        v = tl.load(v_cache_ptr + offs, mask=valid[:, None], other=0.0).to(tl.float32)
        acc = acc * alpha + tl.sum(p[:, None] * v, axis=0)
        l = l * alpha + tl.sum(p, axis=0)
        m = m_new
    tl.store(out_ptr + b * stride_qb + h * stride_qh + d, acc / l)


def launch(batch=3, kv_heads=2, pages=12, pages_per_seq=4):
    D, PAGE, GROUP = 16, 8, 2
    q = torch.randn(batch, kv_heads * GROUP, D, device="cuda")
    k_cache = torch.randn(pages, PAGE, kv_heads, D, device="cuda")
    v_cache = torch.randn(pages, PAGE, kv_heads, D, device="cuda")
    block_table = torch.randint(0, pages, (batch, pages_per_seq), device="cuda", dtype=torch.int32)
    context_lens = torch.randint(1, PAGE * pages_per_seq + 1, (batch,), device="cuda", dtype=torch.int32)
    out = torch.empty_like(q)
    _paged_decode_kernel[(batch, kv_heads * GROUP)](
        q, k_cache, v_cache, block_table, context_lens, out,
        0.25, 30.0,
        q.stride(0), q.stride(1),
        k_cache.stride(0), k_cache.stride(1), k_cache.stride(2),
        block_table.stride(0),
        GROUP=GROUP, PAGE=PAGE, D=D,
    )
    return out


def reference(q, k_cache, v_cache, block_table, context_lens):
    table = block_table.long()
    k = k_cache[table].flatten(1, 2).repeat_interleave(2, dim=2)   # b, t, h, d
    v = v_cache[table].flatten(1, 2).repeat_interleave(2, dim=2)
    s = torch.einsum("bhd,bthd->bht", q, k) * 0.25
    s = 30.0 * torch.tanh(s / 30.0)
    t = torch.arange(k.shape[1], device=q.device)
    s = s.masked_fill(t[None, None, :] >= context_lens[:, None, None], float("-inf"))
    return torch.einsum("bht,bthd->bhd", torch.softmax(s, -1), v)

TRUTH = "verified"
