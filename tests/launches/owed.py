"""Tensors that are made on the way: what a kernel leaves out of one nobody may read."""

import torch
import triton
import triton.language as tl


@triton.jit
def part_kernel(x_ptr, lens_ptr, mid_ptr, n, BLOCK: tl.constexpr):
    row, s = tl.program_id(0), tl.arange(0, BLOCK)
    inside = s < tl.load(lens_ptr + row)
    x = tl.load(x_ptr + row * n + s, mask=inside & (s < n), other=0.0)
    tl.store(mid_ptr + row * n + s, 2 * x, mask=inside & (s < n))


@triton.jit
def join_kernel(mid_ptr, lens_ptr, out_ptr, n, MORE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row, s = tl.program_id(0), tl.arange(0, BLOCK)
    inside = s < tl.load(lens_ptr + row) + MORE
    mid = tl.load(mid_ptr + (row + ROWS) * n + s, mask=inside & (s < n), other=0.0)
    tl.store(out_ptr + row, tl.sum(mid, 0))


def joined(x, lens):
    n = x.shape[1]
    return torch.where(torch.arange(n, device=x.device)[None, :] < lens[:, None], 2 * x, 0).sum(1)


def launch_masked(rows=5, n=12):
    """The reader has the writer's mask."""
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    part_kernel[(rows,)](x, lens, mid, n, BLOCK=16)
    join_kernel[(rows,)](mid, lens, out, n, MORE=0, ROWS=0, BLOCK=16)
    return out


def launch_narrower(rows=5, n=12):
    """The reader leaves out one more of each row."""
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    part_kernel[(rows,)](x, lens, mid, n, BLOCK=16)
    join_kernel[(rows,)](mid, lens, out, n, MORE=-1, ROWS=0, BLOCK=16)
    return out


def launch_one_more(rows=5, n=12):
    """The reader's mask is wider by one."""
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    part_kernel[(rows,)](x, lens, mid, n, BLOCK=16)
    join_kernel[(rows,)](mid, lens, out, n, MORE=1, ROWS=0, BLOCK=16)
    return out


def launch_next_row(rows=5, n=12):
    """The reader's mask is that of another row."""
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    part_kernel[(rows,)](x, lens, mid, n, BLOCK=16)
    join_kernel[(rows - 1,)](mid, lens, out[: rows - 1], n, MORE=0, ROWS=1, BLOCK=16)
    return out[: rows - 1]


def launch_other_lengths(rows=5, n=12):
    """Both have a mask of the same form, by other data."""
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    others = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    part_kernel[(rows,)](x, lens, mid, n, BLOCK=16)
    join_kernel[(rows,)](mid, others, out, n, MORE=0, ROWS=0, BLOCK=16)
    return out


@triton.jit
def longer_kernel(lens_ptr, rows, BLOCK: tl.constexpr):
    row = tl.arange(0, BLOCK)
    lens = tl.load(lens_ptr + row, mask=row < rows, other=0)
    tl.store(lens_ptr + row, lens + 1, mask=row < rows)


def launch_longer_meanwhile(rows=5, n=12):
    """The data of the mask changes between both kernels."""
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    part_kernel[(rows,)](x, lens, mid, n, BLOCK=16)
    longer_kernel[(1,)](lens, rows, BLOCK=8)
    join_kernel[(rows,)](mid, lens, out, n, MORE=0, ROWS=0, BLOCK=16)
    return out


def launch_longer_by_the_host(rows=5, n=12):
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    part_kernel[(rows,)](x, lens, mid, n, BLOCK=16)
    lens.add_(1)
    join_kernel[(rows,)](mid, lens, out, n, MORE=0, ROWS=0, BLOCK=16)
    return out


def launch_read_first(rows=5, n=12):
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    join_kernel[(rows,)](mid, lens, out, n, MORE=0, ROWS=0, BLOCK=16)
    part_kernel[(rows,)](x, lens, mid, n, BLOCK=16)
    return out


def launch_returned(rows=5, n=12):
    """All of what is returned is owed."""
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    part_kernel[(rows,)](x, lens, mid, n, BLOCK=16)
    join_kernel[(rows,)](mid, lens, out, n, MORE=0, ROWS=0, BLOCK=16)
    return out, mid


def launch_read_by_the_host(rows=5, n=12):
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    part_kernel[(rows,)](x, lens, mid, n, BLOCK=16)
    join_kernel[(rows,)](mid, lens, out, n, MORE=0, ROWS=0, BLOCK=16)
    return out, mid.sum(1)


@triton.jit
def add_kernel(x_ptr, mid_ptr, n, BLOCK: tl.constexpr):
    row, s = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + s, mask=s < n, other=0.0)
    tl.atomic_add(mid_ptr + row * n + s, x, mask=s < n)


def launch_added_to(rows=5, n=12):
    """What is added to is read."""
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    part_kernel[(rows,)](x, lens, mid, n, BLOCK=16)
    add_kernel[(rows,)](x, mid, n, BLOCK=16)
    join_kernel[(rows,)](mid, lens, out, n, MORE=0, ROWS=0, BLOCK=16)
    return out


@triton.jit
def dropped_kernel(mid_ptr, lens_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, s = tl.program_id(0), tl.arange(0, BLOCK)
    mid = tl.load(mid_ptr + row * n + s, mask=s < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(tl.where(s < tl.load(lens_ptr + row), mid, 0.0), 0))


def launch_read_and_dropped(rows=5, n=12):
    """What nobody wrote is read, and makes no difference."""
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    part_kernel[(rows,)](x, lens, mid, n, BLOCK=16)
    dropped_kernel[(rows,)](mid, lens, out, n, BLOCK=16)
    return out


@triton.jit
def split_kernel(x_ptr, lens_ptr, mid_ptr, n, SPLITS: tl.constexpr, BLOCK: tl.constexpr):
    row, split, lane = tl.program_id(0), tl.program_id(1), tl.arange(0, BLOCK)
    tiles = tl.cdiv(tl.load(lens_ptr + row), BLOCK)
    each = tl.cdiv(tiles, SPLITS)
    first = split * each
    last = tl.minimum(first + each, tiles)
    if last > first:
        total = 0.0
        for tile in range(first, last):
            at = tile * BLOCK + lane
            total += tl.sum(tl.load(x_ptr + row * n + at, mask=at < tl.load(lens_ptr + row), other=0.0), 0)
        tl.store(mid_ptr + row * SPLITS + split, total)


@triton.jit
def splits_kernel(mid_ptr, lens_ptr, out_ptr, MORE: tl.constexpr, SPLITS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    tiles = tl.cdiv(tl.load(lens_ptr + row), BLOCK)
    each = tl.cdiv(tiles, SPLITS)
    total = 0.0
    for split in range(SPLITS):
        if split * each < tiles + MORE:
            total += tl.load(mid_ptr + row * SPLITS + split)
    tl.store(out_ptr + row, total)


def launch_splits(rows=3, n=40):
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, 4, device="cuda"), torch.empty(rows, device="cuda")
    split_kernel[(rows, 4)](x, lens, mid, n, SPLITS=4, BLOCK=16)
    splits_kernel[(rows,)](mid, lens, out, MORE=0, SPLITS=4, BLOCK=16)
    return out


def launch_splits_one_more(rows=3, n=40):
    x = torch.randn(rows, n, device="cuda")
    lens = torch.randint(1, n, (rows,), dtype=torch.int32, device="cuda")
    mid, out = torch.empty(rows, 4, device="cuda"), torch.empty(rows, device="cuda")
    split_kernel[(rows, 4)](x, lens, mid, n, SPLITS=4, BLOCK=16)
    splits_kernel[(rows,)](mid, lens, out, MORE=1, SPLITS=4, BLOCK=16)
    return out


@triton.jit
def padded_kernel(x_ptr, mid_ptr, n, BLOCK: tl.constexpr):
    row, s = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + s, mask=s < n)
    tl.store(mid_ptr + row * BLOCK + s, 2 * x)


@triton.jit
def sum_kernel(mid_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, s = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + row, tl.sum(tl.load(mid_ptr + row * BLOCK + s, mask=s < n, other=0.0), 0))


def launch_padded(rows=5, n=12):
    """What stands in the padding of each row is undefined, and nobody reads it."""
    x = torch.randn(rows, n, device="cuda")
    mid, out = torch.empty(rows, 16, device="cuda"), torch.empty(rows, device="cuda")
    padded_kernel[(rows,)](x, mid, n, BLOCK=16)
    sum_kernel[(rows,)](mid, out, n, BLOCK=16)
    return out


def launch_padded_and_read(rows=5, n=12):
    x = torch.randn(rows, n, device="cuda")
    mid, out = torch.empty(rows, 16, device="cuda"), torch.empty(rows, device="cuda")
    padded_kernel[(rows,)](x, mid, n, BLOCK=16)
    sum_kernel[(rows,)](mid, out, n + 1, BLOCK=16)
    return out
