"""Kernels that read and write through tensor descriptors, right and wrong; a function `launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def scaled_kernel(x_ptr, out_ptr, m, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [ROWS, COLUMNS])
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [ROWS, COLUMNS])
    at = [tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS]
    out.store(at, 2 * x.load(at))


def launch_scaled(m=37, n=44):
    """Blocks that reach over both edges."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    scaled_kernel[(triton.cdiv(m, 8), triton.cdiv(n, 16))](x, out, m, n, ROWS=8, COLUMNS=16)
    return out


def launch_scaled_unaligned(m=37, n=45):
    """Rows that do not begin at multiples of 16 bytes."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    scaled_kernel[(triton.cdiv(m, 8), triton.cdiv(n, 16))](x, out, m, n, ROWS=8, COLUMNS=16)
    return out


def launch_scaled_too_few(m=37, n=44):
    """The last blocks of each row are left out."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    scaled_kernel[(triton.cdiv(m, 8), n // 16)](x, out, m, n, ROWS=8, COLUMNS=16)
    return out


def launch_scaled_beyond(m=37, n=44):
    """The descriptor has a row more than the tensor."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    scaled_kernel[(triton.cdiv(m, 8), triton.cdiv(n, 16))](x, out, m + 1, n, ROWS=8, COLUMNS=16)
    return out


@triton.jit
def planes_kernel(x_ptr, out_ptr, m, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    first = tl.program_id(2) * m * n
    x = tl.make_tensor_descriptor(x_ptr + first, [m, n], [n, 1], [ROWS, COLUMNS])
    out = tl.make_tensor_descriptor(out_ptr + first, [m, n], [n, 1], [ROWS, COLUMNS])
    at = [tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS]
    out.store(at, 2 * x.load(at))


def launch_planes(p=3, m=21, n=44):
    """A descriptor for each plane, which begins where the plane does."""
    x = torch.randn(p, m, n, device="cuda")
    out = torch.empty_like(x)
    planes_kernel[(triton.cdiv(m, 8), triton.cdiv(n, 16), p)](x, out, m, n, ROWS=8, COLUMNS=16)
    return out


@triton.jit
def sums_kernel(x_ptr, out_ptr, m, n, BLOCK: tl.constexpr, PADDING: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [1, BLOCK], padding_option=PADDING)
    row = tl.program_id(0)
    total = tl.zeros([1, BLOCK], tl.float32)
    for first in range(0, n, BLOCK):
        total += x.load([row, first])
    tl.store(out_ptr + row, tl.sum(total))


def launch_sums(m=7, n=44):
    """What lies behind a row counts as 0."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(m, device="cuda")
    sums_kernel[(m,)](x, out, m, n, BLOCK=16, PADDING="zero")
    return out


def reference_sums(x):
    return x.sum(dim=1)


def launch_sums_of_nothing(m=7, n=44):
    """What lies behind a row is no number."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(m, device="cuda")
    sums_kernel[(m,)](x, out, m, n, BLOCK=16, PADDING="nan")
    return out


@triton.jit
def added_kernel(x_ptr, out_ptr, m, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [1, COLUMNS])
    out = tl.make_tensor_descriptor(out_ptr, [n], [1], [COLUMNS])
    column = tl.program_id(1) * COLUMNS
    out.atomic_add([column], tl.reshape(x.load([tl.program_id(0), column]), [COLUMNS]))


def launch_added(m=7, n=44):
    """Rows added up by all programs."""
    x = torch.randn(m, n, device="cuda")
    out = torch.zeros(n, device="cuda")
    added_kernel[(m, triton.cdiv(n, 16))](x, out, m, n, ROWS=1, COLUMNS=16)
    return out


def reference_added(x):
    return x.sum(dim=0)


@triton.jit
def shifted_kernel(x_ptr, out_ptr, m, n, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [1, BLOCK])
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)[None, :]
    tl.store(out_ptr + row * n + columns, x.load([row, 1]), mask=columns < n)


def launch_shifted(m=7, n=44):
    """A block that begins at the second column."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    shifted_kernel[(m,)](x, out, m, n, BLOCK=64)
    return out
