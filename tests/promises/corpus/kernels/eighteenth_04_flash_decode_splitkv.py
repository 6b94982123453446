"""Flash decoding (split KV), grouped-query attention of one new token over a KV cache with per-sequence lengths, split over the keys and combined by a second kernel."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def decode_split_kernel(
    q_ptr, k_ptr, v_ptr, lengths_ptr, part_ptr, lse_ptr,
    sm_scale, G, D,
    stride_qb, stride_qh, stride_kb, stride_ks, stride_kh,
    stride_pb, stride_ph, stride_ps, stride_lb, stride_lh,
    NUM_SPLITS: tl.constexpr, BLOCK_G: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr,
):
    b = tl.program_id(0)
    kv_head = tl.program_id(1)
    split = tl.program_id(2)
    length = tl.load(lengths_ptr + b)
    per_split = tl.cdiv(length, NUM_SPLITS)
    lo = split * per_split
    hi = tl.minimum(lo + per_split, length)

    offs_g = tl.arange(0, BLOCK_G)
    offs_d = tl.arange(0, BLOCK_D)
    heads = kv_head * G + offs_g
    q_mask = (offs_g[:, None] < G) & (offs_d[None, :] < D)
    q = tl.load(q_ptr + b * stride_qb + heads[:, None] * stride_qh + offs_d[None, :], mask=q_mask, other=0.0)

    m = tl.full((BLOCK_G,), -float("inf"), dtype=tl.float32)
    l = tl.zeros((BLOCK_G,), dtype=tl.float32)
    acc = tl.zeros((BLOCK_G, BLOCK_D), dtype=tl.float32)
    for start in range(lo, hi, BLOCK_N):
        offs_n = start + tl.arange(0, BLOCK_N)
        kv_off = b * stride_kb + offs_n[:, None] * stride_ks + kv_head * stride_kh + offs_d[None, :]
        kv_mask = (offs_n[:, None] < hi) & (offs_d[None, :] < D)
        k = tl.load(k_ptr + kv_off, mask=kv_mask, other=0.0)
        v = tl.load(v_ptr + kv_off, mask=kv_mask, other=0.0)
        qk = tl.dot(q, tl.trans(k)) * sm_scale
        qk = tl.where(offs_n[None, :] < hi, qk, -float("inf"))
        m_new = tl.maximum(m, tl.max(qk, axis=1))
        p = tl.exp(qk - m_new[:, None])
        alpha = tl.exp(m - m_new)
        l = l * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None] + tl.dot(p, v)
        m = m_new

    empty = hi <= lo
    out = tl.where(empty, 0.0, acc / tl.where(empty, 1.0, l)[:, None])
    lse = tl.where(empty, -float("inf"), m + tl.log(tl.where(empty, 1.0, l)))
    part = part_ptr + b * stride_pb + heads[:, None] * stride_ph + split * stride_ps + offs_d[None, :]
    tl.store(part, out, mask=q_mask)
    tl.store(lse_ptr + b * stride_lb + heads * stride_lh + split, lse, mask=offs_g < G)


@triton.jit
def combine_kernel(
    part_ptr, lse_ptr, out_ptr, D,
    stride_pb, stride_ph, stride_ps, stride_lb, stride_lh, stride_ob, stride_oh,
    NUM_SPLITS: tl.constexpr, BLOCK_D: tl.constexpr,
):
    b = tl.program_id(0)
    h = tl.program_id(1)
    splits = tl.arange(0, NUM_SPLITS)
    offs_d = tl.arange(0, BLOCK_D)
    lse = tl.load(lse_ptr + b * stride_lb + h * stride_lh + splits)
    w = tl.exp(lse - tl.max(lse, axis=0))
    part = tl.load(
        part_ptr + b * stride_pb + h * stride_ph + splits[:, None] * stride_ps + offs_d[None, :],
        mask=offs_d[None, :] < D, other=0.0,
    )
    out = tl.sum(part * w[:, None], axis=0) / tl.sum(w, axis=0)
    tl.store(out_ptr + b * stride_ob + h * stride_oh + offs_d, out, mask=offs_d < D)


def launch(B=3, S=40, H_KV=2, G=3, D=24):
    q = torch.randn(B, H_KV * G, D, device="cuda")
    k = torch.randn(B, S, H_KV, D, device="cuda")
    v = torch.randn(B, S, H_KV, D, device="cuda")
    lengths = torch.randint(1, S + 1, (B,), device="cuda", dtype=torch.int32)
    NUM_SPLITS = 4
    part = torch.empty(B, H_KV * G, NUM_SPLITS, D, device="cuda", dtype=torch.float32)
    lse = torch.empty(B, H_KV * G, NUM_SPLITS, device="cuda", dtype=torch.float32)
    out = torch.empty_like(q)
    BLOCK_D = max(16, triton.next_power_of_2(D))
    decode_split_kernel[(B, H_KV, NUM_SPLITS)](
        q, k, v, lengths, part, lse,
        1.0 / math.sqrt(D), G, D,
        q.stride(0), q.stride(1), k.stride(0), k.stride(1), k.stride(2),
        part.stride(0), part.stride(1), part.stride(2), lse.stride(0), lse.stride(1),
        NUM_SPLITS=NUM_SPLITS, BLOCK_G=max(16, triton.next_power_of_2(G)), BLOCK_N=16, BLOCK_D=BLOCK_D,
    )
    combine_kernel[(B, H_KV * G)](
        part, lse, out, D,
        part.stride(0), part.stride(1), part.stride(2), lse.stride(0), lse.stride(1), out.stride(0), out.stride(1),
        NUM_SPLITS=NUM_SPLITS, BLOCK_D=BLOCK_D,
    )
    return out


def reference(q, k, v, lengths, G):
    k = k.transpose(1, 2).repeat_interleave(G, dim=1)
    v = v.transpose(1, 2).repeat_interleave(G, dim=1)
    scores = torch.einsum("bhd,bhsd->bhs", q, k) / math.sqrt(q.shape[-1])
    visible = torch.arange(k.shape[2], device=q.device)[None, :] < lengths[:, None]
    scores = scores.masked_fill(~visible[:, None, :], -float("inf"))
    return torch.einsum("bhs,bhsd->bhd", torch.softmax(scores, dim=-1), v)

TRUTH = "verified"
