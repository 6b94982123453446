"""Turns each sequence of a batch around along time, in place, for the backward half of a bidirectional scan."""
import torch
import triton
import triton.language as tl


@triton.jit
def reverse_time_kernel(x_ptr, stride_b, stride_t, T, D, BLOCK_T: tl.constexpr, BLOCK_D: tl.constexpr):
    pid_t = tl.program_id(0)
    pid_b = tl.program_id(1)
    t = pid_t * BLOCK_T + tl.arange(0, BLOCK_T)
    d = tl.arange(0, BLOCK_D)
    mask = (t < T)[:, None] & (d < D)[None, :]
    base = x_ptr + pid_b * stride_b
    tile = tl.load(base + t[:, None] * stride_t + d[None, :], mask=mask)
    tl.store(base + (T - 1 - t)[:, None] * stride_t + d[None, :], tile, mask=mask)


def launch(batch=3, steps=37, dim=12):
    x = torch.randn(batch, steps, dim, device="cuda")
    grid = (triton.cdiv(steps, 16), batch)
    reverse_time_kernel[grid](x, x.stride(0), x.stride(1), steps, dim, BLOCK_T=16, BLOCK_D=triton.next_power_of_2(dim))
    return x


def reference(x):
    return x.flip(1)


TRUTH = "broken"
# WHY: a race between programs: each stores its tile where another program has yet to load; right only for one tile.
