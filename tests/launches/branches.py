"""Kernels that return early, or call functions that do, right and wrong; a function `launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def rows_kernel(x_ptr, out_ptr, m, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    if row >= m:
        return
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=-float("inf"))
    tl.store(out_ptr + row * n + columns, tl.exp(x) / tl.sum(tl.exp(x), axis=0), mask=columns < n)


def launch_rows(m=37, n=29):
    """More programs than rows: the others return at the top."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    rows_kernel[(triton.cdiv(m, 8) * 8,)](x, out, m, n, BLOCK=32)
    return out


def launch_rows_too_few(m=37, n=29):
    """The last row returns, too."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    rows_kernel[(triton.cdiv(m, 8) * 8,)](x, out, m - 1, n, BLOCK=32)
    return out


def launch_rows_too_many(m=37, n=29):
    """One row more does not return."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    rows_kernel[(triton.cdiv(m, 8) * 8,)](x, out, m + 1, n, BLOCK=32)
    return out


@triton.jit
def opposite_kernel(x_ptr, out_ptr, m, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    if row < m:
        return
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n)
    tl.store(out_ptr + row * n + columns, x, mask=columns < n)


def launch_opposite(m=37, n=29):
    """The rows that are there return."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    opposite_kernel[(triton.cdiv(m, 8) * 8,)](x, out, m, n, BLOCK=32)
    return out


@triton.jit
def counted_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x, mask=offsets < n)
    if program != 0:
        return
    tl.store(out_ptr + n, n.to(tl.float32))


def launch_counted(n=100):
    """After a store all programs but one return, which stores one element more."""
    x = torch.randn(n, device="cuda")
    out = torch.empty(n + 1, device="cuda")
    counted_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def counted_by_all_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x, mask=offsets < n)
    if program > n:
        return
    tl.store(out_ptr + n, program.to(tl.float32))


def launch_counted_by_all(n=100):
    """No program returns, and all store the one element more."""
    x = torch.randn(n, device="cuda")
    out = torch.empty(n + 1, device="cuda")
    counted_by_all_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def nested_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = x
    if program % 2 == 0:
        if program % 4 == 2:
            tl.store(out_ptr + offsets, -x, mask=offsets < n)
            return
        else:
            y = x * 2
    else:
        y = x + 3
    if program == 1:
        tl.store(out_ptr + offsets, x * x, mask=offsets < n)
        return
    tl.store(out_ptr + offsets, y + 1, mask=offsets < n)


def launch_nested(n=200):
    """A block that is reached from two sides of an `if`, one of which may return before."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    nested_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def nested_forgotten_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    y = x
    if program % 2 == 0:
        if program % 4 == 2:
            return
        else:
            y = x * 2
    tl.store(out_ptr + offsets, y + 1, mask=offsets < n)


def launch_nested_forgotten(n=200):
    """The inner return leaves its block unwritten."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    nested_forgotten_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def both_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    program = tl.program_id(0)
    offsets = program * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    if program == 0:
        tl.store(out_ptr + offsets, -x, mask=offsets < n)
        return
    else:
        tl.store(out_ptr + offsets, x * 2, mask=offsets < n)
        return


def launch_both(n=200):
    """Both sides return."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    both_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def two_outputs_kernel(x_ptr, out_ptr, square_ptr, n, wanted, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, -x, mask=offsets < n)
    if wanted > 5:
        return
    tl.store(square_ptr + offsets, x * x, mask=offsets < n)


def launch_two_outputs(n=200, wanted=3):
    """The second output is written where not too many are wanted."""
    x = torch.randn(n, device="cuda")
    out, square = torch.empty_like(x), torch.empty_like(x)
    two_outputs_kernel[(triton.cdiv(n, 16),)](x, out, square, n, wanted, BLOCK=16)
    return out, square


@triton.jit
def chosen_rows_kernel(x_ptr, keep_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    if tl.load(keep_ptr + row) == 0:
        return
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n)
    tl.store(out_ptr + row * n + columns, x, mask=columns < n)


def launch_chosen_rows(m=7, n=29):
    """Rows are left out as data say, in memory that the host has filled."""
    x = torch.randn(m, n, device="cuda")
    keep = torch.randint(0, 2, (m,), dtype=torch.int32, device="cuda")
    out = torch.zeros(m, n, device="cuda")
    chosen_rows_kernel[(m,)](x, keep, out, n, BLOCK=32)
    return out


def launch_chosen_rows_of_nothing(m=7, n=29):
    """The same in memory that nobody has written to."""
    x = torch.randn(m, n, device="cuda")
    keep = torch.randint(0, 2, (m,), dtype=torch.int32, device="cuda")
    out = torch.empty(m, n, device="cuda")
    chosen_rows_kernel[(m,)](x, keep, out, n, BLOCK=32)
    return out


@triton.jit
def undefined_choice_kernel(x_ptr, keep_ptr, out_ptr, m, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    if tl.load(keep_ptr + row, mask=row + 1 < m) == 0:
        return
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n)
    tl.store(out_ptr + row * n + columns, x, mask=columns < n)


def launch_undefined_choice(m=7, n=29):
    """Whether the last row returns depends on what nobody knows."""
    x = torch.randn(m, n, device="cuda")
    keep = torch.randint(0, 2, (m,), dtype=torch.int32, device="cuda")
    out = torch.zeros(m, n, device="cuda")
    undefined_choice_kernel[(m,)](x, keep, out, m, n, BLOCK=32)
    return out


@triton.jit
def signed(x, even):
    if even:
        return x
    return -x


@triton.jit
def signs_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    columns = tl.arange(0, BLOCK)
    for i in range(0, n, BLOCK):
        x = tl.load(x_ptr + row * n + i + columns, mask=i + columns < n, other=0.0)
        total += signed(x, i % (2 * BLOCK) == 0)
    tl.store(out_ptr + row, tl.sum(signed(total, row % 2 == 0), axis=0))


def launch_signs(m=7, n=100):
    """A function with two returns, called in a loop and outside of it."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(m, device="cuda")
    signs_kernel[(m,)](x, out, n, BLOCK=16)
    return out


@triton.jit(noinline=True)
def noted(ptr, k):
    if k > 2:
        return k + 10
    tl.store(ptr, k.to(tl.float32))
    return k


@triton.jit
def notes_kernel(out_ptr, last_ptr):
    row = tl.program_id(0)
    tl.store(last_ptr + row, noted(out_ptr + row, row))


def launch_notes(m=7):
    """A function that is not inlined, and stores before one of its returns."""
    out = torch.zeros(m, device="cuda")
    last = torch.empty(m, dtype=torch.int32, device="cuda")
    notes_kernel[(m,)](out, last)
    return out, last


@triton.jit
def shuffled_in_loop_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.cat(tl.load(x_ptr + lanes), tl.load(y_ptr + lanes), can_reorder=True)
    for _ in range(n):
        x = x * 1.0
    tl.store(out_ptr + tl.arange(0, 2 * BLOCK), x)


def launch_shuffled_in_loop(n=3):
    """A loop carries a block whose order is left to the compiler."""
    x, y = torch.randn(16, device="cuda"), torch.randn(16, device="cuda")
    out = torch.empty(32, device="cuda")
    shuffled_in_loop_kernel[(1,)](x, y, out, n, BLOCK=16)
    return out


@triton.jit
def shuffled_rows_kernel(x_ptr, out_ptr):
    x = tl.reshape(tl.load(x_ptr + tl.arange(0, 32)), [4, 8], can_reorder=True)
    tl.store(out_ptr + tl.arange(0, 4), tl.sum(x, axis=1))


def launch_shuffled_rows():
    """Sums of rows of a block whose order is left to the compiler."""
    x = torch.randn(32, device="cuda")
    out = torch.empty(4, device="cuda")
    shuffled_rows_kernel[(1,)](x, out)
    return out
