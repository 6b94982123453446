"""Launch functions without parameters, which write their sizes at their top, and kernels on packed integers."""

import torch
import triton
import triton.language as tl


@triton.jit
def halve_kernel(x_ptr, out_ptr, x_row, out_row, n_cols, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_row + cols, mask=cols < n_cols)
    tl.store(out_ptr + row * out_row + cols, 0.5 * x, mask=cols < n_cols)


def halved(x):
    out = torch.empty_like(x)
    rows, cols = x.shape
    halve_kernel[(rows,)](x, out, x.stride(0), out.stride(0), cols, BLOCK=triton.next_power_of_2(cols))
    return out


def launch_halves():
    rows, cols, scale = 7, 100, 1.0
    x = scale * torch.randn(rows, cols)
    out = torch.empty_like(x)
    halve_kernel[(rows,)](x, out, x.stride(0), out.stride(0), cols, BLOCK=triton.next_power_of_2(cols))
    return out


def reference_halves(x):
    return x / 2


@triton.jit
def sevenths_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < 7 * BLOCK), mask=i < 7 * BLOCK)


def launch_only_as_written():
    """Seven blocks of sixteen, whatever the length: right at 112 alone."""
    n = 112
    x = torch.randn(n)
    out = torch.empty(n)
    sevenths_kernel[(7,)](x, out, n, BLOCK=16)
    return out


def reference_only_as_written(x):
    return x.clone()


def launch_returns_nothing():
    rows, cols = 3, 5
    halved(torch.randn(rows, cols))


@triton.jit
def unpack_kernel(words_ptr, zeros_ptr, out_ptr, n, BLOCK: tl.constexpr, SHIFT: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    word = tl.load(words_ptr + i // 8, mask=i < n, other=0)
    code = (word >> ((i % 8) * SHIFT)) & 0xF
    zero = tl.load(zeros_ptr + i // 8, mask=i < n, other=0)
    tl.store(out_ptr + i, (code - zero).to(tl.float32), mask=i < n)


def unpacked(words, zeros, shift):
    out = torch.empty(8 * words.shape[0])
    unpack_kernel[(triton.cdiv(out.shape[0], 64),)](words, zeros, out, out.shape[0], BLOCK=64, SHIFT=shift)
    return out


def launch_unpacks(words=24):
    codes = torch.randint(-(2**31), 2**31 - 1, (words,)).int()
    zeros = torch.randint(0, 16, (words,)).int()
    return unpacked(codes, zeros, 4)


def launch_unpacks_wrongly(words=24):
    codes = torch.randint(-(2**31), 2**31 - 1, (words,)).int()
    zeros = torch.randint(0, 16, (words,)).int()
    return unpacked(codes, zeros, 3)


def launch_unpacks_what_may_wrap(words=24):
    codes = torch.randint(-(2**31), 2**31 - 1, (words,)).int()
    zeros = torch.full((words,), -(2**31)).int() + torch.randint(0, 2, (words,)).int()
    return unpacked(codes, zeros, 4)


def reference_unpacks(codes, zeros):
    shifts = torch.arange(0, 32, 4, dtype=torch.int32)
    return (((codes[:, None] >> shifts) & 15) - zeros[:, None]).float().flatten()


@triton.jit
def rows_kernel(x_ptr, twice_ptr, part_ptr, n_rows, n_cols, each, LAST: tl.constexpr, BLOCK: tl.constexpr):
    first = tl.program_id(0) * each
    cols = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(first, min(first + each, n_rows - LAST)):
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        total += x
        tl.store(twice_ptr + row * n_cols + cols, 2 * x, mask=cols < n_cols)
    tl.store(part_ptr + tl.program_id(0) * n_cols + cols, total, mask=cols < n_cols)


def rows_in_parts(x, each, last):
    rows, cols = x.shape
    twice = torch.empty_like(x)
    parts = triton.cdiv(rows, each)
    part = torch.empty(parts, cols)
    rows_kernel[(parts,)](x, twice, part, rows, cols, each, LAST=last, BLOCK=64)
    return twice, part.sum(0)


def launch_rows_in_parts(rows=30, cols=50, each=8):
    x = torch.randn(rows, cols)
    return rows_in_parts(x, each, 0)


def launch_without_the_last_row(rows=30, cols=50, each=8):
    x = torch.randn(rows, cols)
    return rows_in_parts(x, each, 1)


def reference_rows_in_parts(x):
    return 2 * x, x.sum(0)


@triton.jit
def ell_kernel(val_ptr, col_ptr, x_ptr, y_ptr, rows, width, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for k in range(width):
        col = tl.load(col_ptr + k * rows + row, mask=row < rows, other=-1)
        val = tl.load(val_ptr + k * rows + row, mask=row < rows, other=0.0)
        total += val * tl.load(x_ptr + col, mask=col >= 0, other=0.0)
    tl.store(y_ptr + row, total, mask=row < rows)


def multiplied(val, col, x):
    width, rows = val.shape
    y = torch.empty(rows)
    ell_kernel[(triton.cdiv(rows, 64),)](val, col, x, y, rows, width, BLOCK=64)
    return y


def launch_marks(rows=70, width=5, cols=40):
    """A sparse matrix whose short rows are marked with −1."""
    val = torch.randn(width, rows)
    col = torch.randint(-1, cols, (width, rows)).int()
    x = torch.randn(cols)
    return multiplied(val, col, x)


def launch_beyond(rows=70, width=5, cols=40):
    val = torch.randn(width, rows)
    col = torch.randint(-1, cols, (width, rows)).int() + 1
    x = torch.randn(cols)
    return multiplied(val, col, x)


@triton.jit
def tile_sums_kernel(x, y, T, TILES, BLOCK: tl.constexpr):
    row, tile = tl.program_id(0), tl.program_id(1)
    value = tl.load(x + row * T + tile * BLOCK + tl.arange(0, BLOCK))
    tl.store(y + row * TILES + tile, tl.sum(value, 0))


def launch_without_a_mask(H=3, T=48):
    """The last tile of a row reads beyond it, but where T is a multiple of 16."""
    x, tiles = torch.randn(H, T), triton.cdiv(T, 16)
    y = torch.empty(H, tiles)
    tile_sums_kernel[(H, tiles)](x, y, T, tiles, BLOCK=16)
    return y
