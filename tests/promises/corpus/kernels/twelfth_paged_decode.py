"""One query token per sequence attends over the pages its block table names; the last page is masked by the sequence's length."""
import torch
import triton
import triton.language as tl


@triton.jit
def paged_decode_kernel(
    q_ptr, k_ptr, v_ptr, table_ptr, length_ptr, out_ptr,
    scale, heads, kv_heads, max_pages, PAGE: tl.constexpr, D: tl.constexpr,
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    kv_h = h // (heads // kv_heads)
    rd = tl.arange(0, D)
    rp = tl.arange(0, PAGE)
    q = tl.load(q_ptr + (b * heads + h) * D + rd) * scale
    length = tl.load(length_ptr + b)
    m = float("-inf")
    l = 0.0
    acc = tl.zeros((D,), tl.float32)
    for page in range(0, tl.cdiv(length, PAGE)):
        block = tl.load(table_ptr + b * max_pages + page).to(tl.int64)
        rows = (block * PAGE + rp) * kv_heads + kv_h
        valid = page * PAGE + rp < length
        k = tl.load(k_ptr + rows[:, None] * D + rd[None, :], mask=valid[:, None], other=0.0)
        v = tl.load(v_ptr + rows[:, None] * D + rd[None, :], mask=valid[:, None], other=0.0)
        s = tl.sum(q[None, :] * k, 1)
        s = tl.where(valid, s, float("-inf"))
        m_new = tl.maximum(m, tl.max(s, 0))
        alpha = tl.exp(m - m_new)
        p = tl.exp(s - m_new)
        l = l * alpha + tl.sum(p, 0)
        acc = acc * alpha + tl.sum(p[:, None] * v, 0)
        m = m_new
    tl.store(out_ptr + (b * heads + h) * D + rd, acc / l)


def launch(batch=3, kv_heads=2, group=4, pages=5, blocks=21):
    page, dim = 16, 32
    heads = kv_heads * group
    q = torch.randn(batch, heads, dim, device="cuda")
    k_cache = torch.randn(blocks, page, kv_heads, dim, device="cuda")
    v_cache = torch.randn(blocks, page, kv_heads, dim, device="cuda")
    table = torch.randint(0, blocks, (batch, pages), device="cuda", dtype=torch.int32)
    lengths = torch.randint(1, page * pages + 1, (batch,), device="cuda", dtype=torch.int32)
    out = torch.empty_like(q)
    paged_decode_kernel[(batch, heads)](
        q, k_cache, v_cache, table, lengths, out, dim**-0.5, heads, kv_heads, pages, PAGE=page, D=dim,
    )
    return out


def reference(q, k_cache, v_cache, table, lengths, group):
    k = k_cache[table.long()].flatten(1, 2).repeat_interleave(group, dim=2)      # batch, positions, heads, dim
    v = v_cache[table.long()].flatten(1, 2).repeat_interleave(group, dim=2)
    scores = torch.einsum("bhd,bthd->bht", q, k) * q.shape[-1] ** -0.5
    positions = torch.arange(k.shape[1], device=q.device)
    scores = scores.masked_fill(positions[None, None, :] >= lengths[:, None, None], float("-inf"))
    return torch.einsum("bht,bthd->bhd", torch.softmax(scores, -1), v)


TRUTH = "verified"
