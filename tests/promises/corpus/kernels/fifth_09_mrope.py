"""Multimodal rotary positions: a head's halves are turned by tables of time, height and width in sections, q and k in place."""
import torch
import triton
import triton.language as tl

TRUTH = "verified"


@triton.jit
def mrope_kernel(
    q_ptr, k_ptr, cos_ptr, sin_ptr, seq_len,
    n_qh: tl.constexpr, n_kh: tl.constexpr, hd: tl.constexpr,
    pad_n_qh: tl.constexpr, pad_n_kh: tl.constexpr, pad_hd: tl.constexpr,
    section_t: tl.constexpr, section_h: tl.constexpr,
):
    pid = tl.program_id(0).to(tl.int64)
    q_ptr += pid * (n_qh * hd)
    k_ptr += pid * (n_kh * hd)
    t_end = section_t
    h_end = t_end + section_h
    t_cos = cos_ptr + pid * hd
    h_cos = t_cos + seq_len * hd
    w_cos = h_cos + seq_len * hd
    t_sin = sin_ptr + pid * hd
    h_sin = t_sin + seq_len * hd
    w_sin = h_sin + seq_len * hd
    offs = tl.arange(0, pad_hd // 2)
    t_mask = offs < t_end
    h_mask = (t_end <= offs) & (offs < h_end)
    w_mask = (h_end <= offs) & (offs < hd // 2)
    cos = tl.load(t_cos + offs, mask=t_mask, other=0) + tl.load(h_cos + offs, mask=h_mask, other=0) + tl.load(w_cos + offs, mask=w_mask, other=0)
    sin = tl.load(t_sin + offs, mask=t_mask, other=0) + tl.load(h_sin + offs, mask=h_mask, other=0) + tl.load(w_sin + offs, mask=w_mask, other=0)
    q_off = tl.arange(0, pad_n_qh)[:, None] * hd + offs[None, :]
    k_off = tl.arange(0, pad_n_kh)[:, None] * hd + offs[None, :]
    q_mask = (tl.arange(0, pad_n_qh)[:, None] < n_qh) & (offs[None, :] < hd // 2)
    k_mask = (tl.arange(0, pad_n_kh)[:, None] < n_kh) & (offs[None, :] < hd // 2)
    q1 = tl.load(q_ptr + q_off, mask=q_mask, other=0)
    q2 = tl.load(q_ptr + q_off + hd // 2, mask=q_mask, other=0)
    k1 = tl.load(k_ptr + k_off, mask=k_mask, other=0)
    k2 = tl.load(k_ptr + k_off + hd // 2, mask=k_mask, other=0)
    tl.store(q_ptr + q_off, q1 * cos - q2 * sin, mask=q_mask)
    tl.store(q_ptr + q_off + hd // 2, q2 * cos + q1 * sin, mask=q_mask)
    tl.store(k_ptr + k_off, k1 * cos - k2 * sin, mask=k_mask)
    tl.store(k_ptr + k_off + hd // 2, k2 * cos + k1 * sin, mask=k_mask)


def launch():
    T, QH, KH, D = 23, 6, 2, 40
    q = torch.randn(T, QH, D)
    k = torch.randn(T, KH, D)
    angles = torch.randn(3, T, D // 2)
    cos = torch.cat([angles.cos(), angles.cos()], dim=-1)
    sin = torch.cat([angles.sin(), angles.sin()], dim=-1)
    mrope_kernel[(T,)](
        q, k, cos, sin, T, QH, KH, D,
        triton.next_power_of_2(QH), triton.next_power_of_2(KH), triton.next_power_of_2(D), 4, 8,
    )
    return q, k


def reference(q, k, cos, sin):
    half = q.shape[-1] // 2

    def table(z):
        z = z[..., :half]
        return torch.cat([z[0, :, :4], z[1, :, 4:12], z[2, :, 12:]], dim=-1)[:, None, :]

    c, s = table(cos), table(sin)

    def turn(x):
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * c - b * s, b * c + a * s], dim=-1)

    return turn(q), turn(k)
