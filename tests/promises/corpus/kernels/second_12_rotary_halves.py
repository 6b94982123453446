"""Rotary embedding of queries and keys in place (rotate-half), all heads of a token in one program."""

import torch
import triton
import triton.language as tl


@triton.jit
def _rope_kernel(
    q_ptr, k_ptr, cos_ptr, sin_ptr, seq_len,
    n_qh: tl.constexpr, n_kh: tl.constexpr, hd: tl.constexpr,
    pad_n_qh: tl.constexpr, pad_n_kh: tl.constexpr, pad_half: tl.constexpr,
):
    pid = tl.program_id(0)
    pos = pid % seq_len
    half: tl.constexpr = hd // 2
    d = tl.arange(0, pad_half)
    d_mask = d < half
    cos = tl.load(cos_ptr + pos * half + d, mask=d_mask, other=0.0)[None, :]
    sin = tl.load(sin_ptr + pos * half + d, mask=d_mask, other=0.0)[None, :]

    hq = tl.arange(0, pad_n_qh)
    q_mask = (hq[:, None] < n_qh) & d_mask[None, :]
    q1_ptrs = q_ptr + pid * n_qh * hd + hq[:, None] * hd + d[None, :]
    q1 = tl.load(q1_ptrs, mask=q_mask, other=0.0)
    q2 = tl.load(q1_ptrs + half, mask=q_mask, other=0.0)
    tl.store(q1_ptrs, q1 * cos - q2 * sin, mask=q_mask)
    tl.store(q1_ptrs + half, q2 * cos + q1 * sin, mask=q_mask)

    hk = tl.arange(0, pad_n_kh)
    k_mask = (hk[:, None] < n_kh) & d_mask[None, :]
    k1_ptrs = k_ptr + pid * n_kh * hd + hk[:, None] * hd + d[None, :]
    k1 = tl.load(k1_ptrs, mask=k_mask, other=0.0)
    k2 = tl.load(k1_ptrs + half, mask=k_mask, other=0.0)
    tl.store(k1_ptrs, k1 * cos - k2 * sin, mask=k_mask)
    tl.store(k1_ptrs + half, k2 * cos + k1 * sin, mask=k_mask)


def apply_rope(q, k, cos, sin):
    batch, seq_len, n_qh, hd = q.shape
    n_kh = k.shape[2]
    _rope_kernel[(batch * seq_len,)](
        q, k, cos, sin, seq_len, n_qh, n_kh, hd,
        triton.next_power_of_2(n_qh), triton.next_power_of_2(n_kh), triton.next_power_of_2(hd // 2),
    )
    return q, k


def launch(B=2, T=7, H=6, KH=3, D=20):
    q = torch.randn(B, T, H, D, device="cuda")
    k = torch.randn(B, T, KH, D, device="cuda")
    cos = torch.randn(T, D // 2, device="cuda")
    sin = torch.randn(T, D // 2, device="cuda")
    return apply_rope(q, k, cos, sin)


def _rotate(x, cos, sin):
    x1, x2 = x.chunk(2, dim=-1)
    cos, sin = cos[None, :, None, :], sin[None, :, None, :]
    return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1)


def reference(q, k, cos, sin):
    return _rotate(q, cos, sin), _rotate(k, cos, sin)


TRUTH = "verified"
