"""Absorbed MLA decode: one query per request against a paged latent cache; the latent is key and value at once."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def _mla_decode_kernel(
    Q, KV, Req_to_page, Seq_lens, O, Lse,
    sm_scale,
    stride_qb, stride_qh,
    stride_page,
    stride_table,
    stride_ob, stride_oh,
    NUM_HEADS: tl.constexpr,
    LATENT: tl.constexpr,
    ROPE: tl.constexpr,
    PAGE: tl.constexpr,
):
    b = tl.program_id(0)
    heads = tl.arange(0, NUM_HEADS)
    d_c = tl.arange(0, LATENT)
    d_r = LATENT + tl.arange(0, ROPE)
    seq_len = tl.load(Seq_lens + b)

    q_c = tl.load(Q + b * stride_qb + heads[:, None] * stride_qh + d_c[None, :])
    q_r = tl.load(Q + b * stride_qb + heads[:, None] * stride_qh + d_r[None, :])

    e_max = tl.zeros([NUM_HEADS], dtype=tl.float32) - float("inf")
    e_sum = tl.zeros([NUM_HEADS], dtype=tl.float32)
    acc = tl.zeros([NUM_HEADS, LATENT], dtype=tl.float32)
    for p in range(0, tl.cdiv(seq_len, PAGE)):
        page = tl.load(Req_to_page + b * stride_table + p)
        slot = tl.arange(0, PAGE)
        live = p * PAGE + slot < seq_len
        base = KV + page * stride_page + slot * (LATENT + ROPE)
        c = tl.load(base[:, None] + d_c[None, :], mask=live[:, None], other=0.0)
        r = tl.load(base[:, None] + d_r[None, :], mask=live[:, None], other=0.0)
        qk = tl.dot(q_c, tl.trans(c)) + tl.dot(q_r, tl.trans(r))
        qk = tl.where(live[None, :], qk * sm_scale, float("-inf"))
        n_max = tl.maximum(tl.max(qk, 1), e_max)
        alpha = tl.exp(e_max - n_max)
        w = tl.exp(qk - n_max[:, None])
        acc = acc * alpha[:, None] + tl.dot(w, c)
        e_sum = e_sum * alpha + tl.sum(w, 1)
        e_max = n_max
    tl.store(O + b * stride_ob + heads[:, None] * stride_oh + d_c[None, :], acc / e_sum[:, None])
    tl.store(Lse + b * NUM_HEADS + heads, e_max + tl.log(e_sum))


def launch(batch=3, max_pages=3, num_pages=13):
    heads, latent, rope, page_size = 16, 32, 16, 16
    q = torch.randn(batch, heads, latent + rope, device="cuda")
    kv_cache = torch.randn(num_pages, page_size, latent + rope, device="cuda")
    table = torch.randint(0, num_pages, (batch, max_pages), dtype=torch.int32, device="cuda")
    seq_lens = torch.randint(1, max_pages * page_size + 1, (batch,), dtype=torch.int32, device="cuda")
    o = torch.empty(batch, heads, latent, device="cuda")
    lse = torch.empty(batch, heads, device="cuda")
    _mla_decode_kernel[(batch,)](
        q, kv_cache, table, seq_lens, o, lse, 1.0 / math.sqrt(48),
        q.stride(0), q.stride(1), kv_cache.stride(0), table.stride(0), o.stride(0), o.stride(1),
        NUM_HEADS=heads, LATENT=latent, ROPE=rope, PAGE=page_size,
    )
    return o, lse


def reference(q, kv_cache, table, seq_lens):
    batch = q.shape[0]
    kv = kv_cache[table].reshape(batch, -1, kv_cache.shape[-1])  # [B, pages * 16, 48]
    s = torch.einsum("bhd,bnd->bhn", q, kv) / math.sqrt(48)
    n = torch.arange(kv.shape[1], device=q.device)
    s = s.masked_fill((n >= seq_lens[:, None])[:, None], float("-inf"))
    return torch.softmax(s, dim=-1) @ kv[:, :, :32], torch.logsumexp(s, dim=-1)


TRUTH = "verified"
