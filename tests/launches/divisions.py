"""Small kernels that take numbers apart with radices that are sizes; a function `launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def beside_kernel(
    a_ptr,
    b_ptr,
    out_ptr,
    size_a,
    size_b,
    start_a,
    start_b,
    size_out,
    behind,
    total_a,
    total_b,
    BLOCK: tl.constexpr,
):
    """Two tensors behind one another along a dimension: each is copied as a line of numbers [before, size, behind]."""
    if tl.program_id(1) == 0:
        x_ptr, size, start, total = a_ptr, size_a, start_a, total_a
    else:
        x_ptr, size, start, total = b_ptr, size_b, start_b, total_b
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < total
    before = offsets // (size * behind)
    along = (offsets // behind) % size
    to = before * size_out * behind + (along + start) * behind + offsets % behind
    tl.store(out_ptr + to, tl.load(x_ptr + offsets, mask=mask), mask=mask)


def beside(a, b, dim, *, start_b=None, size_out=None, programs=None):
    """`a` and `b` joined along a dimension; what is given is what the kernel is told wrongly."""
    size_a, size_b = a.shape[dim], b.shape[dim]
    shape = list(a.shape)
    shape[dim] = size_a + size_b
    out = torch.empty(shape, device="cuda")
    behind = 1
    for n in a.shape[dim + 1 :]:
        behind *= n
    grid = programs or triton.cdiv(max(a.numel(), b.numel()), 64)
    beside_kernel[(grid, 2)](
        a,
        b,
        out,
        size_a,
        size_b,
        0,
        size_a if start_b is None else start_b,
        shape[dim] if size_out is None else size_out,
        behind,
        a.numel(),
        b.numel(),
        BLOCK=64,
    )
    return out


def launch_columns(m=7, n=29, k=11):
    return beside(torch.randn(m, n, device="cuda"), torch.randn(m, k, device="cuda"), 1)


def launch_rows(m=29, n=7, k=11):
    return beside(torch.randn(m, n, device="cuda"), torch.randn(k, n, device="cuda"), 0)


def launch_middle(m=5, n=29, k=11, p=7):
    return beside(torch.randn(m, n, p, device="cuda"), torch.randn(m, k, p, device="cuda"), 1)


def launch_one_over_the_other(m=7, n=29, k=11):
    """The second begins one column too early."""
    return beside(torch.randn(m, n, device="cuda"), torch.randn(m, k, device="cuda"), 1, start_b=n - 1)


def launch_a_column_between(m=7, n=29, k=11):
    """The second begins one column too late."""
    return beside(torch.randn(m, n, device="cuda"), torch.randn(m, k, device="cuda"), 1, start_b=n + 1)


def launch_short_rows(m=7, n=29, k=11):
    """The rows of the output are told to be as long as the first tensor's."""
    return beside(torch.randn(m, n, device="cuda"), torch.randn(m, k, device="cuda"), 1, size_out=n)


def launch_programs_of_the_second(m=7, n=29, k=11):
    """As many programs as the shorter tensor needs."""
    a, b = torch.randn(m, n, device="cuda"), torch.randn(m, k, device="cuda")
    return beside(a, b, 1, programs=triton.cdiv(b.numel(), 64))


@triton.jit
def windows_kernel(x_ptr, out_ptr, total, size, step, ADD: tl.constexpr, BLOCK: tl.constexpr):
    """Each window's elements go to where they lie."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < total
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    to = (offsets // size) * step + offsets % size
    if ADD:
        tl.atomic_add(out_ptr + to, x, mask=mask)
    else:
        tl.store(out_ptr + to, x, mask=mask)


def windows(n, out, add=True):
    x = torch.randn(n, 4, device="cuda")
    windows_kernel[(triton.cdiv(x.numel(), 32),)](x, out, x.numel(), 4, 2, ADD=add, BLOCK=32)
    return out


def launch_windows(n=37):
    """Windows of 4 that begin at every second element, added up."""
    return windows(n, torch.zeros(2 * n + 2, device="cuda"))


def launch_windows_that_replace(n=37):
    return windows(n, torch.zeros(2 * n + 2, device="cuda"), add=False)


def launch_windows_beyond_the_end(n=37):
    return windows(n, torch.zeros(2 * n + 1, device="cuda"))


def launch_windows_into_nothing(n=37):
    return windows(n, torch.empty(2 * n + 2, device="cuda"))


@triton.jit
def inner_kernel(x_ptr, out_ptr, count, height, width, rows, columns, BLOCK: tl.constexpr):
    """Images without their borders, whose elements are counted in one line."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    line = offsets // columns
    image, row, column = line // rows, line % rows, offsets % columns
    mask = image < count
    x = tl.load(x_ptr + (image * height + row + 1) * width + column + 1, mask=mask)
    tl.store(out_ptr + (image * rows + row) * columns + column, x, mask=mask)


def inner(count, height, width, rows, columns):
    if height < 4 or width < 4:
        raise ValueError("an image is all border")
    x = torch.randn(count, height, width, device="cuda")
    out = torch.empty(count, height - 2, width - 2, device="cuda")
    inner_kernel[(triton.cdiv(out.numel(), 32),)](x, out, count, height, width, rows, columns, BLOCK=32)
    return out


def launch_inner(count=3, height=11, width=17):
    return inner(count, height, width, height - 2, width - 2)


def launch_inner_of_long_rows(count=3, height=11, width=17):
    """The rows of the output are told to be one longer."""
    return inner(count, height, width, height - 2, width - 1)


def launch_inner_of_short_rows(count=3, height=11, width=17):
    return inner(count, height, width, height - 2, width - 3)


@triton.jit
def unshuffle_kernel(x_ptr, out_ptr, channels, rows, columns, total, BLOCK: tl.constexpr):
    """Each 2 by 2 square of an image as 4 channels."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < total
    column, row = offsets % columns, (offsets // columns) % rows
    part, batch = (offsets // (columns * rows)) % (4 * channels), offsets // (columns * rows * 4 * channels)
    y, x = 2 * row + part % 4 // 2, 2 * column + part % 2
    image = batch * channels + part // 4
    found = tl.load(x_ptr + (image * 2 * rows + y) * 2 * columns + x, mask=mask)
    tl.store(out_ptr + offsets, found, mask=mask)


def unshuffled(count, channels, rows, columns, longer=0):
    x = torch.randn(count, channels, 2 * rows, 2 * columns, device="cuda")
    out = torch.empty(count, 4 * channels, rows, columns, device="cuda")
    grid = (triton.cdiv(out.numel(), 32),)
    unshuffle_kernel[grid](x, out, channels, rows, columns + longer, out.numel(), BLOCK=32)
    return out


def launch_unshuffled(count=2, channels=3, rows=5, columns=7):
    return unshuffled(count, channels, rows, columns)


def launch_unshuffled_of_long_rows(count=2, channels=3, rows=5, columns=7):
    """The rows are told to be one longer."""
    return unshuffled(count, channels, rows, columns, 1)
