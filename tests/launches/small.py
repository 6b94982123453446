"""Small kernels, each for one thing that `lift` must get right; a function `launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def relu_kernel(x_ptr, out_ptr, n_elements, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n_elements
    x = tl.load(x_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, tl.maximum(x, 0.0), mask=mask)


def launch_flat(m=37, n=29):
    """A matrix taken as one row."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    relu_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out


def launch_flat_too_few(m=37, n=29):
    """The same with the last block missing."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    relu_kernel[(x.numel() // 128,)](x, out, x.numel(), BLOCK=128)
    return out


@triton.jit
def copy_kernel(x_ptr, out_ptr, m, n, stride_xm, stride_xn, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride_xm + columns * stride_xn, mask=columns < n)
    tl.store(out_ptr + row * n + columns, x, mask=columns < n)


def launch_transposed(m=37, n=29):
    """A view with its dimensions in another order."""
    x = torch.randn(n, m, device="cuda")
    out = torch.empty(m, n, device="cuda")
    y = x.t()
    copy_kernel[(m, triton.cdiv(n, 16))](y, out, m, n, y.stride(0), y.stride(1), BLOCK=16)
    return out


def launch_repeated(m=37, n=29):
    """A view that repeats one row."""
    x = torch.randn(n, device="cuda")
    out = torch.empty(m, n, device="cuda")
    y = x.expand(m, n)
    copy_kernel[(m, triton.cdiv(n, 16))](y, out, m, n, y.stride(0), y.stride(1), BLOCK=16)
    return out


@triton.jit
def joined_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    which = tl.program_id(1)
    if which == 0:  # noqa: SIM108
        x_ptr = a_ptr
    else:
        x_ptr = b_ptr
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + which * n + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def launch_joined(n=37):
    """A pointer into one of two tensors."""
    a, b = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    out = torch.empty(2, n, device="cuda")
    joined_kernel[(triton.cdiv(n, 16), 2)](a, b, out, n, BLOCK=16)
    return out


@triton.jit
def diagonal_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets * n + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def launch_diagonal(n=37):
    """Zeros of the host's, of which the kernel writes a part."""
    x = torch.randn(n, device="cuda")
    out = torch.zeros(n, n, device="cuda")
    diagonal_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


def launch_diagonal_of_nothing(n=37):
    """The same in memory that nobody has written to."""
    x = torch.randn(n, device="cuda")
    out = torch.empty(n, n, device="cuda")
    diagonal_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def masked_softmax_kernel(x_ptr, lengths_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    length = tl.load(lengths_ptr + row)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < length, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * n + columns, e / tl.sum(e, axis=0), mask=columns < n)


def launch_masked_softmax(m=7, n=20):
    """A row of length 0 has the maximum −∞, and −∞ − (−∞) is no number."""
    x = torch.randn(m, n, device="cuda")
    lengths = torch.randint(1, n, (m,), dtype=torch.int32, device="cuda")
    out = torch.empty_like(x)
    masked_softmax_kernel[(m,)](x, lengths, out, n, BLOCK=32)
    return out


@triton.jit
def zero_times_infinity_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    far = tl.where(x > 1.0, -float("inf"), x)
    tl.store(out_ptr + offsets, far * 0.0, mask=offsets < n)


def launch_zero_times_infinity(n=37):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    zero_times_infinity_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def quotient_kernel(a_ptr, b_ptr, out_ptr, rest_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + offsets, mask=offsets < n, other=0)
    b = 2 * tl.load(b_ptr + offsets, mask=offsets < n, other=0) + 1
    tl.store(out_ptr + offsets, a // b, mask=offsets < n)
    tl.store(rest_ptr + offsets, a % b, mask=offsets < n)


def launch_quotient(n=64):
    """Integers of both signs: a quotient is rounded to zero, and a remainder has the dividend's sign."""
    a = torch.randint(-50, 50, (n,), dtype=torch.int32, device="cuda")
    b = torch.randint(-5, 5, (n,), dtype=torch.int32, device="cuda")
    out, rest = torch.empty_like(a), torch.empty_like(a)
    quotient_kernel[(triton.cdiv(n, 16),)](a, b, out, rest, n, BLOCK=16)
    return out, rest


@triton.jit
def sign_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    y = tl.load(y_ptr + offsets, mask=offsets < n, other=0.0)
    negative = (y.to(tl.int32, bitcast=True) & -2147483648) != 0
    tl.store(out_ptr + offsets, tl.where(negative, -tl.abs(x), tl.abs(x)), mask=offsets < n)


def launch_sign(n=37):
    """The sign of a float, by its first bit."""
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    sign_kernel[(triton.cdiv(n, 16),)](x, y, out, n, BLOCK=16)
    return out


@triton.jit
def sums_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(x))
    tl.atomic_add(out_ptr + 1, tl.sum(x * x))


def launch_sums(n=100):
    """Two atomic sums, each of an element of its own."""
    x = torch.randn(n, device="cuda")
    out = torch.zeros(2, dtype=torch.float32, device="cuda")
    sums_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def neighbour_kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets + 1, mask=offsets + 1 < n, other=0.0)
    tl.store(x_ptr + offsets, x, mask=offsets < n)


def launch_neighbour(n=100):
    """Reads what another program may have written before."""
    x = torch.randn(n, device="cuda")
    neighbour_kernel[(triton.cdiv(n, 16),)](x, n, BLOCK=16)
    return x


@triton.jit
def exchanged_kernel(a_ptr, b_ptr, out_ptr, n, BLOCK: tl.constexpr):
    kept = a_ptr
    a_ptr = b_ptr
    b_ptr = kept
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(a_ptr + offsets, mask=offsets < n)
    b = tl.load(b_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, a - b, mask=offsets < n)


def launch_exchanged(n=37):
    """Parameters that the kernel gives each other's names, which the compiled text then uses."""
    a, b = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    out = torch.empty_like(a)
    exchanged_kernel[(triton.cdiv(n, 16),)](a, b, out, n, BLOCK=16)
    return out


@triton.jit
def half_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def launch_half(n=40):
    """Only the second half of what is returned is written by the kernel."""
    x = torch.randn(n, device="cuda")
    out = torch.zeros(2 * n, device="cuda")
    half_kernel[(triton.cdiv(n, 16),)](x, out[n:], n, BLOCK=16)
    return out


@triton.jit
def placed_kernel(x_ptr, at_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(at_ptr + lanes, mask=lanes < n, other=0)
    x = tl.load(x_ptr + lanes, mask=lanes < n)
    tl.store(out_ptr + at, x)


def launch_placed(n=100):
    """Lanes behind the end store what they did not load; where is said by data."""
    x = torch.randn(n, device="cuda")
    at = torch.randperm(n, device="cuda")
    out = torch.empty_like(x)
    placed_kernel[(triton.cdiv(n, 32),)](x, at, out, n, BLOCK=32)
    return out


@triton.jit
def shifted_kernel(x_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + lanes, mask=lanes < n)
    tl.store(x_ptr + lanes + 1, x, mask=lanes < n - 1)


def launch_shifted(n=100):
    """One program moves a row in place: the threads of a program do not wait for each other."""
    x = torch.randn(n, device="cuda")
    shifted_kernel[(1,)](x, n, BLOCK=128)
    return x
