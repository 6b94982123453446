"""Rotary embedding of packed queries and keys of unequal length, keys and values into a padded cache (after xformers' rope_padded)."""
import math

import torch
import triton
import triton.language as tl


@triton.jit
def rope_padded_kernel(
    xq, xk, xv, out_q, cache_k, cache_v,
    seqstartq, seqlenk,
    log2_theta,
    n_q, n_kv, dim, max_len,
    stride_qt, stride_kt,
    BLOCK_HALF: tl.constexpr,
):
    b = tl.program_id(0)
    i = tl.program_id(1)
    head = tl.program_id(2)

    q_start = tl.load(seqstartq + b)
    q_end = tl.load(seqstartq + b + 1)
    q_len = q_end - q_start
    if i >= q_len:
        return
    k_len = tl.load(seqlenk + b)
    pos = k_len - q_len + i
    row = q_start + i

    is_q = head < n_q
    is_v = head >= n_q + n_kv
    half = tl.arange(0, BLOCK_HALF)
    mask = half < dim // 2
    re, im = 2 * half, 2 * half + 1

    if is_v:
        kv_head = head - n_q - n_kv
        src = xv + row * stride_kt + kv_head * dim
        dst = cache_v + (b * max_len + pos) * stride_kt + kv_head * dim
        tl.store(dst + re, tl.load(src + re, mask=mask), mask=mask)
        tl.store(dst + im, tl.load(src + im, mask=mask), mask=mask)
    else:
        freq = tl.exp2(-log2_theta * (2.0 * half.to(tl.float32) / dim))
        angle = pos.to(tl.float32) * freq
        cos = tl.cos(angle)
        sin = tl.sin(angle)
        if is_q:
            src = xq + row * stride_qt + head * dim
            dst = out_q + row * stride_qt + head * dim
        else:
            src = xk + row * stride_kt + (head - n_q) * dim
            dst = cache_k + (b * max_len + pos) * stride_kt + (head - n_q) * dim
        x_re = tl.load(src + re, mask=mask)
        x_im = tl.load(src + im, mask=mask)
        tl.store(dst + re, x_re * cos - x_im * sin, mask=mask)
        tl.store(dst + im, x_im * cos + x_re * sin, mask=mask)


def launch(batch=3, extra=10, max_len=23, n_q=6, n_kv=2, half_dim=5):
    dim = 2 * half_dim
    tokens = batch + extra                      # each sequence has a token at least
    cuts = torch.randint(0, extra + 1, (batch - 1,), device="cuda").sort().values
    ends = torch.cat([cuts, torch.full((1,), extra, device="cuda")])
    seqstartq = torch.cat([torch.zeros(1, dtype=torch.int64, device="cuda"), ends + torch.arange(1, batch + 1, device="cuda")])
    q_lens = seqstartq[1:] - seqstartq[:-1]
    seqlenk = q_lens + torch.randint(0, max_len - extra, (batch,), device="cuda")
    max_q_len = int(q_lens.max())
    xq = torch.randn(tokens, n_q, dim, device="cuda")
    xk = torch.randn(tokens, n_kv, dim, device="cuda")
    xv = torch.randn(tokens, n_kv, dim, device="cuda")
    cache_k = torch.randn(batch, max_len, n_kv, dim, device="cuda")
    cache_v = torch.randn(batch, max_len, n_kv, dim, device="cuda")
    out_q = torch.empty_like(xq)
    rope_padded_kernel[(batch, max_q_len, n_q + 2 * n_kv)](
        xq, xk, xv, out_q, cache_k, cache_v,
        seqstartq, seqlenk,
        math.log2(10000.0),
        n_q, n_kv, dim, max_len,
        xq.stride(0), xk.stride(0),
        BLOCK_HALF=triton.next_power_of_2(half_dim),
    )
    return out_q, cache_k, cache_v


launch.assume = ["0 <= seqlenk <= max_len"]


def reference(xq, xk, xv, cache_k, cache_v, seqstartq, seqlenk):
    tokens, _, dim = xq.shape
    row = torch.arange(tokens, device=xq.device)
    b = (row[:, None] >= seqstartq[None, 1:]).sum(1)
    pos = seqlenk[b] - seqstartq[b + 1] + row
    freq = 10000.0 ** (-torch.arange(0, dim, 2, device=xq.device) / dim)
    angle = pos[:, None] * freq
    cos, sin = angle.cos()[:, None], angle.sin()[:, None]

    def rope(x):
        re, im = x[..., 0::2], x[..., 1::2]
        return torch.stack([re * cos - im * sin, im * cos + re * sin], dim=-1).flatten(-2)

    new_k, new_v = cache_k.clone(), cache_v.clone()
    new_k[b, pos] = rope(xk)
    new_v[b, pos] = xv
    return rope(xq), new_k, new_v


TRUTH = "verified"
