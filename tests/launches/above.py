"""Kernels that are right where a tensor of the launch is above zero, as temperatures are. A function `launch_…` runs
each; its reference has the rest of the name."""

import torch
import triton
import triton.language as tl


@triton.jit
def tempered_kernel(x_ptr, t_ptr, out_ptr, n, TIMES: tl.constexpr, BLOCK: tl.constexpr):
    """Lanes beyond the row hold −∞, which a temperature below zero would turn to +∞."""
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    t = tl.load(t_ptr + row)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=float("-inf"))
    x = x * t if TIMES else x / t
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * n + i, e / tl.sum(e, 0), mask=i < n)


def run(x, t, times=False):
    rows, n = x.shape
    out = torch.empty_like(x)
    tempered_kernel[(rows,)](x, t, out, n, TIMES=times, BLOCK=triton.next_power_of_2(n))
    return out


def launch_tempered(rows=5, n=50):
    x, temperature = torch.randn(rows, n, device="cuda"), torch.rand(rows, device="cuda") + 0.5
    return run(x, temperature)


def launch_multiplied(rows=5, n=50):
    """It multiplies where its reference divides."""
    x, temperature = torch.randn(rows, n, device="cuda"), torch.rand(rows, device="cuda") + 0.5
    return run(x, temperature, times=True)


def launch_of_either_sign(rows=5, n=50):
    x, temperature = torch.randn(rows, n, device="cuda"), torch.linspace(-2, 2, rows, device="cuda")
    return run(x, temperature)


@triton.jit
def cooled_kernel(t_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(t_ptr + i, tl.load(t_ptr + i, mask=i < n) - 1.0, mask=i < n)


def launch_cooled(rows=5, n=50):
    """What the second kernel reads is above −1, whatever is said of what the first one is given."""
    x, temperature = torch.randn(rows, n, device="cuda"), torch.rand(rows, device="cuda") + 2.0
    cooled_kernel[(triton.cdiv(rows, 64),)](temperature, rows, BLOCK=64)
    return run(x, temperature)


def launch_cooled_by_the_host(rows=5, n=50):
    """The reference, too, is given what the host has left."""
    x, temperature = torch.randn(rows, n, device="cuda"), torch.rand(rows, device="cuda") + 2.0
    temperature -= 1.0
    return run(x, temperature)


@triton.jit
def largest_kernel(x_ptr, t_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=float("-inf")) / tl.load(t_ptr + row)
    tl.store(out_ptr + row * n + i, tl.where(x >= tl.max(x, 0), 1.0, 0.0), mask=i < n)


def launch_largest(rows=5, n=50):
    x, temperature = torch.randn(rows, n, device="cuda"), torch.rand(rows, device="cuda") + 0.5
    out = torch.empty_like(x)
    largest_kernel[(rows,)](x, temperature, out, n, BLOCK=triton.next_power_of_2(n))
    return out


def largest(x, temperature):
    x = x / temperature[:, None]
    return torch.where(x >= x.amax(-1, keepdim=True), 1.0, 0.0)


def tempered(x, temperature):
    return torch.softmax(x / temperature[:, None], -1)


def cooled(x, temperature):
    return torch.softmax(x / (temperature[:, None] - 1.0), -1)
