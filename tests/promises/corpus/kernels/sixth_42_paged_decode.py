import torch
import triton
import triton.language as tl


@triton.jit
def _paged_decode_kernel(
    Q, K_cache, V_cache, Block_tables, Seq_lens, Out,
    sm_scale,
    stride_q_b, stride_q_h,
    stride_c_blk, stride_c_tok, stride_c_h,
    stride_bt,
    group,
    PAGE: tl.constexpr, HEAD_DIM: tl.constexpr,
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    kv_h = h // group
    d = tl.arange(0, HEAD_DIM)
    t = tl.arange(0, PAGE)
    seq_len = tl.load(Seq_lens + b)
    q = tl.load(Q + b * stride_q_b + h * stride_q_h + d) * sm_scale

    m_i = -float("inf")
    l_i = 0.0
    acc = tl.zeros([HEAD_DIM], dtype=tl.float32)
    for start in range(0, seq_len, PAGE):
        page = tl.load(Block_tables + b * stride_bt + start // PAGE)
        base = page * stride_c_blk + kv_h * stride_c_h
        live = start + t <= seq_len
        k = tl.load(K_cache + base + t[:, None] * stride_c_tok + d[None, :], mask=live[:, None], other=0.0)
        qk = tl.sum(q[None, :] * k, 1)
        qk = tl.where(live, qk, -float("inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 0))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(qk - m_new)
        v = tl.load(V_cache + base + t[:, None] * stride_c_tok + d[None, :], mask=live[:, None], other=0.0)
        acc = acc * alpha + tl.sum(p[:, None] * v, 0)
        l_i = l_i * alpha + tl.sum(p, 0)
        m_i = m_new
    tl.store(Out + b * stride_q_b + h * stride_q_h + d, acc / l_i)


def paged_attention_decode(q, k_cache, v_cache, block_tables, seq_lens, out):
    B, H, D = q.shape
    page, kv_heads = k_cache.shape[1], k_cache.shape[2]
    _paged_decode_kernel[(B, H)](
        q, k_cache, v_cache, block_tables, seq_lens, out, D ** -0.5,
        q.stride(0), q.stride(1),
        k_cache.stride(0), k_cache.stride(1), k_cache.stride(2),
        block_tables.stride(0), H // kv_heads, PAGE=page, HEAD_DIM=D)


def launch(batch=3, pages=4):
    q = torch.randn(batch, 4, 16)
    k_cache = torch.randn(batch * pages, 16, 2, 16)
    v_cache = torch.randn(batch * pages, 16, 2, 16)
    block_tables = torch.randperm(batch * pages).to(torch.int32).view(batch, pages)
    seq_lens = torch.randint(1, pages * 16 + 1, (batch,), dtype=torch.int32)
    out = torch.empty_like(q)
    paged_attention_decode(q, k_cache, v_cache, block_tables, seq_lens, out)
    return out


def reference(q, k_cache, v_cache, block_tables, seq_lens):
    b, pages = block_tables.shape
    k = k_cache[block_tables.long()].reshape(b, pages * 16, 2, 16).repeat_interleave(2, dim=2)
    v = v_cache[block_tables.long()].reshape(b, pages * 16, 2, 16).repeat_interleave(2, dim=2)
    s = torch.einsum("bhd,bthd->bht", q, k) * 0.25
    dead = torch.arange(pages * 16)[None, None, :] >= seq_lens[:, None, None]
    p = s.masked_fill(dead, float("-inf")).softmax(-1)
    return torch.einsum("bht,bthd->bhd", p, v)


TRUTH = "broken"
