"""Axial 2D rotary embedding of a vision tower: the first half of a head turns by the patch's row, the second by its column.
Angles are worked out in the kernel from the inverse frequencies."""
import torch
import triton
import triton.language as tl


@triton.jit
def rope_2d_kernel(
    x_ptr, out_ptr, inv_freq_ptr,
    n_heads, grid_w, stride_token, stride_head,
    QUARTER: tl.constexpr, BLOCK_Q: tl.constexpr,
):
    token = tl.program_id(0)
    head = tl.program_id(1)
    h_pos = (token // grid_w).to(tl.float32)
    w_pos = (token % grid_w).to(tl.float32)

    f = tl.arange(0, BLOCK_Q)
    mask = f < QUARTER
    inv_freq = tl.load(inv_freq_ptr + f, mask=mask, other=0.0)
    base = token * stride_token + head * stride_head

    # rows
    cos_h = tl.cos(h_pos * inv_freq)
    sin_h = tl.sin(h_pos * inv_freq)
    a = tl.load(x_ptr + base + f, mask=mask)
    b = tl.load(x_ptr + base + QUARTER + f, mask=mask)
    tl.store(out_ptr + base + f, a * cos_h - b * sin_h, mask=mask)
    tl.store(out_ptr + base + QUARTER + f, b * cos_h + a * sin_h, mask=mask)

    # columns
    cos_w = tl.cos(w_pos * inv_freq)
    sin_w = tl.sin(w_pos * inv_freq)
    c = tl.load(x_ptr + base + 2 * QUARTER + f, mask=mask)
    d = tl.load(x_ptr + base + 3 * QUARTER + f, mask=mask)
    tl.store(out_ptr + base + 2 * QUARTER + f, c * cos_w - d * sin_w, mask=mask)
    tl.store(out_ptr + base + 3 * QUARTER + f, d * cos_w + c * sin_w, mask=mask)


def launch(grid_h=5, grid_w=7, heads=3, quarter=6):
    x = torch.randn(grid_h * grid_w, heads, 4 * quarter, device="cuda")
    inv_freq = 1.0 / (10000.0 ** (torch.arange(quarter, device="cuda", dtype=torch.float32) / quarter))
    out = torch.empty_like(x)
    rope_2d_kernel[(x.shape[0], heads)](
        x, out, inv_freq, heads, grid_w, x.stride(0), x.stride(1),
        QUARTER=quarter, BLOCK_Q=triton.next_power_of_2(quarter),
    )
    return out


def reference(x, inv_freq, grid_w):
    tokens = torch.arange(x.shape[0], device=x.device)
    h_angle = ((tokens // grid_w)[:, None] * inv_freq[None, :])[:, None, :]
    w_angle = ((tokens % grid_w)[:, None] * inv_freq[None, :])[:, None, :]
    a, b, c, d = x.chunk(4, dim=-1)
    return torch.cat([
        a * h_angle.cos() - b * h_angle.sin(),
        b * h_angle.cos() + a * h_angle.sin(),
        c * w_angle.cos() - d * w_angle.sin(),
        d * w_angle.cos() + c * w_angle.sin(),
    ], dim=-1)


TRUTH = "verified"
