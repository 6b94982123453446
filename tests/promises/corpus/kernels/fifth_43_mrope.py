"""Multimodal rotary embedding in place on q and k: time, height and width sections of the half head."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def _triton_mrope_forward(
    q_ptr,
    k_ptr,
    cos,
    sin,
    num_tokens,
    n_qh: tl.constexpr,
    n_kh: tl.constexpr,
    hd: tl.constexpr,
    pad_n_qh: tl.constexpr,
    pad_n_kh: tl.constexpr,
    pad_half: tl.constexpr,
    section_t: tl.constexpr,
    section_h: tl.constexpr,
):
    pid = tl.program_id(0)
    q_ptr = q_ptr + pid * (n_qh * hd)
    k_ptr = k_ptr + pid * (n_kh * hd)
    half: tl.constexpr = hd // 2
    t_end = section_t
    h_end = t_end + section_h

    t_cos = cos + pid * half
    h_cos = t_cos + num_tokens * half
    w_cos = h_cos + num_tokens * half
    t_sin = sin + pid * half
    h_sin = t_sin + num_tokens * half
    w_sin = h_sin + num_tokens * half

    off = tl.arange(0, pad_half)
    t_mask = off < t_end
    h_mask = (t_end <= off) & (off < h_end)
    w_mask = (h_end <= off) & (off < half)
    cos_row = tl.load(t_cos + off, mask=t_mask, other=0) + tl.load(h_cos + off, mask=h_mask, other=0) + tl.load(w_cos + off, mask=w_mask, other=0)
    sin_row = tl.load(t_sin + off, mask=t_mask, other=0) + tl.load(h_sin + off, mask=h_mask, other=0) + tl.load(w_sin + off, mask=w_mask, other=0)

    q1_off = tl.arange(0, pad_n_qh)[:, None] * hd + off[None, :]
    q_mask = (tl.arange(0, pad_n_qh)[:, None] < n_qh) & (off[None, :] < half)
    q1 = tl.load(q_ptr + q1_off, mask=q_mask, other=0)
    q2 = tl.load(q_ptr + q1_off + half, mask=q_mask, other=0)
    tl.store(q_ptr + q1_off, q1 * cos_row - q2 * sin_row, mask=q_mask)
    tl.store(q_ptr + q1_off + half, q2 * cos_row + q1 * sin_row, mask=q_mask)

    k1_off = tl.arange(0, pad_n_kh)[:, None] * hd + off[None, :]
    k_mask = (tl.arange(0, pad_n_kh)[:, None] < n_kh) & (off[None, :] < half)
    k1 = tl.load(k_ptr + k1_off, mask=k_mask, other=0)
    k2 = tl.load(k_ptr + k1_off + half, mask=k_mask, other=0)
    tl.store(k_ptr + k1_off, k1 * cos_row - k2 * sin_row, mask=k_mask)
    tl.store(k_ptr + k1_off + half, k2 * cos_row + k1 * sin_row, mask=k_mask)


def launch():
    tokens, q_heads, k_heads, head_dim = 10, 6, 2, 40
    section = [4, 8, 8]
    q = torch.randn(tokens, q_heads * head_dim)
    k = torch.randn(tokens, k_heads * head_dim)
    angles = 3 * torch.rand(3, tokens, head_dim // 2)
    cos, sin = angles.cos(), angles.sin()
    _triton_mrope_forward[(tokens,)](
        q,
        k,
        cos,
        sin,
        tokens,
        q_heads,
        k_heads,
        head_dim,
        triton.next_power_of_2(q_heads),
        triton.next_power_of_2(k_heads),
        triton.next_power_of_2(head_dim // 2),
        section[0],
        section[1],
    )
    return q, k


def reference(q, k, cos, sin):
    def pick(table):
        t, h, w = table.split([4, 8, 8], -1)
        return torch.cat([t[0], h[1], w[2]], -1)[:, None, :]

    c, s = pick(cos), pick(sin)

    def turn(x):
        first, second = x.view(x.shape[0], -1, 40).chunk(2, -1)
        return torch.cat([first * c - second * s, second * c + first * s], -1).flatten(1)

    return turn(q), turn(k)
