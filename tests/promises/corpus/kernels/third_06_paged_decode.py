"""One decoded token for each sequence, K and V in pages (vLLM's PagedAttention, v1)."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def paged_decode(
    out_ptr, q_ptr, k_cache, v_cache, block_tables, context_lens, scale,
    max_blocks, num_kv_heads,
    stride_q_seq, stride_q_head,
    stride_kv_block, stride_kv_slot, stride_kv_head,
    GROUP: tl.constexpr, PAGE: tl.constexpr, D: tl.constexpr,
):
    seq = tl.program_id(0)
    head = tl.program_id(1)
    kv_head = head // GROUP
    ctx = tl.load(context_lens + seq)
    d = tl.arange(0, D)
    slot = tl.arange(0, PAGE)
    q = tl.load(q_ptr + seq * stride_q_seq + head * stride_q_head + d)

    m = float("-inf")
    denom = 0.0
    acc = tl.zeros([D], dtype=tl.float32)
    for blk in range(tl.cdiv(ctx, PAGE)):
        page = tl.load(block_tables + seq * max_blocks + blk).to(tl.int64)
        live = blk * PAGE + slot < ctx
        off = page * stride_kv_block + slot[:, None] * stride_kv_slot + kv_head * stride_kv_head + d[None, :]
        k = tl.load(k_cache + off, mask=live[:, None], other=0.0)
        s = tl.sum(q[None, :] * k, axis=1) * scale
        s = tl.where(live, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, axis=0))
        p = tl.exp(s - m_new)
        corr = tl.exp(m - m_new)
        v = tl.load(v_cache + off, mask=live[:, None], other=0.0)
        acc = acc * corr + tl.sum(p[:, None] * v, axis=0)
        denom = denom * corr + tl.sum(p, axis=0)
        m = m_new
    tl.store(out_ptr + seq * stride_q_seq + head * stride_q_head + d, acc / denom)


def launch(q, k_cache, v_cache, block_tables, context_lens):
    seqs, heads, d = q.shape
    page, kv_heads = k_cache.shape[1], k_cache.shape[2]
    out = torch.empty_like(q)
    paged_decode[(seqs, heads)](
        out, q, k_cache, v_cache, block_tables, context_lens, d ** -0.5,
        block_tables.shape[1], kv_heads, q.stride(0), q.stride(1),
        k_cache.stride(0), k_cache.stride(1), k_cache.stride(2),
        GROUP=heads // kv_heads, PAGE=page, D=d,
    )
    return out


def reference(q, k_cache, v_cache, block_tables, context_lens):
    seqs, heads, d = q.shape
    rep = heads // k_cache.shape[2]
    k = k_cache[block_tables.long()].flatten(1, 2).repeat_interleave(rep, dim=2)   # seqs, length, heads, d
    v = v_cache[block_tables.long()].flatten(1, 2).repeat_interleave(rep, dim=2)
    s = torch.einsum("shd,slhd->shl", q, k) * d ** -0.5
    dead = torch.arange(k.shape[1])[None, :] >= context_lens[:, None]
    p = s.masked_fill(dead[:, None, :], float("-inf")).softmax(-1)
    return torch.einsum("shl,slhd->shd", p, v)


def inputs(seqs=3, heads=4, kv_heads=2, d=16, page=8, max_blocks=4, pages=20):
    tables = torch.stack([torch.randperm(pages)[:max_blocks] for _ in range(seqs)]).int()
    lens = torch.randint(1, page * max_blocks + 1, (seqs,)).int()
    return (torch.randn(seqs, heads, d), torch.randn(pages, page, kv_heads, d), torch.randn(pages, page, kv_heads, d),
            tables, lens)
