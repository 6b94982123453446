"""Programs that have a run of rows each, written in several ways, and what is nearly that."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def runs_kernel(
    x, out, sums, n_rows, n_cols, rows_each, LONGER: tl.constexpr, MISSED: tl.constexpr, BLOCK: tl.constexpr
):
    """`LONGER` rows more than its own a program takes, of all but the `MISSED` last ones."""
    pid, cols = tl.program_id(0), tl.arange(0, BLOCK)
    inside, total = cols < n_cols, tl.zeros((BLOCK,), tl.float32)
    first = pid * rows_each
    last = tl.minimum(first + rows_each + LONGER, n_rows - MISSED)
    for row in range(first, last):
        each = tl.load(x + row * n_cols + cols, mask=inside, other=0.0)
        tl.store(out + row * n_cols + cols, 2 * each, mask=inside)
        total += each
    tl.store(sums + pid * n_cols + cols, total, mask=inside)


def runs(x, programs, rows_each, longer=0, missed=0):
    out, sums = torch.empty_like(x), torch.empty(programs, x.shape[1], device="cuda")
    runs_kernel[(programs,)](x, out, sums, *x.shape, rows_each, longer, missed, BLOCK=128)
    return out, sums.sum(0)


def launch_by_programs(rows=13, cols=80, programs=4):
    return runs(torch.randn(rows, cols, device="cuda"), programs, triton.cdiv(rows, programs))


def launch_by_rows(rows=13, cols=80, rows_each=4):
    return runs(torch.randn(rows, cols, device="cuda"), triton.cdiv(rows, rows_each), rows_each)


def launch_by_processors(rows=300, cols=80):
    x = torch.randn(rows, cols, device="cuda")
    programs = torch.cuda.get_device_properties(x.device).multi_processor_count
    return runs(x, programs, triton.cdiv(rows, programs))


def launch_one_row_of_the_next(rows=13, cols=80, programs=4):
    return runs(torch.randn(rows, cols, device="cuda"), programs, triton.cdiv(rows, programs), longer=1)


def launch_not_the_last_row(rows=13, cols=80, programs=4):
    return runs(torch.randn(rows, cols, device="cuda"), programs, triton.cdiv(rows, programs), missed=1)


def launch_not_the_last_of_each(rows=13, cols=80, programs=4):
    return runs(torch.randn(rows, cols, device="cuda"), programs, triton.cdiv(rows, programs), longer=-1)


def launch_rounded_down(rows=13, cols=80, programs=4):
    return runs(torch.randn(rows, cols, device="cuda"), programs, rows // programs)


@triton.jit
def backwards_kernel(x, out, n_rows, n_cols, rows_each, LAST: tl.constexpr, BLOCK: tl.constexpr):
    """Rows are written from the last one on, which `LAST` says how far the end is behind."""
    pid, cols = tl.program_id(0), tl.arange(0, BLOCK)
    first = pid * rows_each
    for row in range(first, tl.minimum(first + rows_each, n_rows)):
        each = tl.load(x + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        tl.store(out + (n_rows - LAST - row) * n_cols + cols, each, mask=cols < n_cols)


def launch_backwards(rows=13, cols=80, programs=4):
    x = torch.randn(rows, cols, device="cuda")
    out = torch.empty_like(x)
    backwards_kernel[(programs,)](x, out, rows, cols, triton.cdiv(rows, programs), LAST=1, BLOCK=128)
    return out


def launch_backwards_past_the_end(rows=13, cols=80, programs=4):
    x = torch.randn(rows, cols, device="cuda")
    out = torch.empty_like(x)
    backwards_kernel[(programs,)](x, out, rows, cols, triton.cdiv(rows, programs), LAST=0, BLOCK=128)
    return out


def flipped(x):
    return x.flip(0)


@triton.jit
def masked_runs_kernel(x, out, sums, n_rows, n_cols, rows_each, MORE: tl.constexpr, BLOCK: tl.constexpr):
    """A mask in place of the run's own end; rows begin `MORE` behind each other beyond those of a program."""
    pid, cols = tl.program_id(0), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(rows_each):
        row = pid * (rows_each + MORE) + k
        inside = (cols < n_cols) & (row < n_rows)
        each = tl.load(x + row * n_cols + cols, mask=inside, other=0.0)
        tl.store(out + row * n_cols + cols, 2 * each, mask=inside)
        total += each
    tl.store(sums + pid * n_cols + cols, total, mask=cols < n_cols)


def masked_runs(x, programs, more=0):
    out, sums = torch.empty_like(x), torch.empty(programs, x.shape[1], device="cuda")
    masked_runs_kernel[(programs,)](x, out, sums, *x.shape, triton.cdiv(x.shape[0], programs), more, BLOCK=128)
    return out, sums.sum(0)


def launch_masked(rows=13, cols=80, programs=4):
    return masked_runs(torch.randn(rows, cols, device="cuda"), programs)


def launch_masked_with_gaps(rows=13, cols=80, programs=4):
    return masked_runs(torch.randn(rows, cols, device="cuda"), programs, more=1)


def launch_masked_that_overlap(rows=13, cols=80, programs=4):
    return masked_runs(torch.randn(rows, cols, device="cuda"), programs, more=-1)


@triton.jit
def pointers_kernel(x, out, sums, n_rows, n_cols, rows_each, BLOCK: tl.constexpr):
    """Pointers that go on from row to row."""
    pid, cols = tl.program_id(0), tl.arange(0, BLOCK)
    inside, total = cols < n_cols, tl.zeros((BLOCK,), tl.float32)
    first = pid.to(tl.int64) * rows_each
    x += first * n_cols
    out += first * n_cols
    for _ in range(first, min(first + rows_each, n_rows)):
        each = tl.load(x + cols, mask=inside, other=0.0)
        tl.store(out + cols, 2 * each, mask=inside)
        total += each
        x += n_cols
        out += n_cols
    tl.store(sums + pid * n_cols + cols, total, mask=inside)


def launch_pointers(rows=13, cols=80, programs=4):
    x = torch.randn(rows, cols, device="cuda")
    out, sums = torch.empty_like(x), torch.empty(programs, cols, device="cuda")
    pointers_kernel[(programs,)](x, out, sums, rows, cols, triton.cdiv(rows, programs), BLOCK=128)
    return out, sums.sum(0)


@triton.jit
def blocks_kernel(x, out, sums, n_rows, n_cols, rows_each, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """A few rows at a time of the run."""
    pid, cols, some = tl.program_id(0), tl.arange(0, BLOCK), tl.arange(0, ROWS)
    total = tl.zeros((BLOCK,), tl.float32)
    first = pid * rows_each
    last = tl.minimum(first + rows_each, n_rows)
    for start in range(first, last, ROWS):
        rows = start + some
        inside = (rows < last)[:, None] & (cols < n_cols)[None, :]
        at = rows[:, None] * n_cols + cols[None, :]
        each = tl.load(x + at, mask=inside, other=0.0)
        tl.store(out + at, 2 * each, mask=inside)
        total += tl.sum(each, 0)
    tl.store(sums + pid * n_cols + cols, total, mask=cols < n_cols)


def launch_blocks(rows=37, cols=80, programs=4):
    x = torch.randn(rows, cols, device="cuda")
    out, sums = torch.empty_like(x), torch.empty(programs, cols, device="cuda")
    blocks_kernel[(programs,)](x, out, sums, rows, cols, triton.cdiv(rows, programs), ROWS=4, BLOCK=128)
    return out, sums.sum(0)


@triton.jit
def strides_kernel(x, out, sums, n_rows, n_cols, BLOCK: tl.constexpr):
    """Each program goes on by as many rows as there are programs."""
    pid, cols = tl.program_id(0), tl.arange(0, BLOCK)
    inside, total = cols < n_cols, tl.zeros((BLOCK,), tl.float32)
    for row in range(pid, n_rows, tl.num_programs(0)):
        each = tl.load(x + row * n_cols + cols, mask=inside, other=0.0)
        tl.store(out + row * n_cols + cols, 2 * each, mask=inside)
        total += each
    tl.store(sums + pid * n_cols + cols, total, mask=inside)


def launch_strides(rows=13, cols=80, programs=4):
    x = torch.randn(rows, cols, device="cuda")
    out, sums = torch.empty_like(x), torch.empty(programs, cols, device="cuda")
    strides_kernel[(programs,)](x, out, sums, rows, cols, BLOCK=128)
    return out, sums.sum(0)


def doubled(x):
    return 2 * x, x.sum(0)


def doubled_without_a_row(x):
    return 2 * x, x[1:].sum(0)


@triton.jit
def pages_kernel(x, table, lengths, out, n_pages, PAGE: tl.constexpr):
    """The sum of the first elements that a row's pages hold; counted up to whole pages in 32 bits."""
    row, lanes = tl.program_id(0), tl.arange(0, PAGE)
    length = tl.load(lengths + row)
    total = 0.0
    for page in range(tl.cdiv(length, PAGE)):
        block = tl.load(table + row * n_pages + page).to(tl.int64)
        total += tl.sum(tl.load(x + block * PAGE + lanes, mask=page * PAGE + lanes < length, other=0.0), 0)
    tl.store(out + row, total)


def launch_pages(rows=3, pages=5, blocks=21):
    x = torch.randn(blocks, 16, device="cuda")
    table = torch.randint(0, blocks, (rows, pages), device="cuda", dtype=torch.int32)
    lengths = torch.randint(1, 16 * pages + 1, (rows,), device="cuda", dtype=torch.int32)
    out = torch.empty(rows, device="cuda")
    pages_kernel[(rows,)](x, table, lengths, out, pages, PAGE=16)
    return out


@triton.jit
def counted_kernel(x, out, n_rows, n_cols, rows_each):
    """Stores where what a program counts is not below zero: also where it counts nothing, beyond the last row."""
    first = tl.program_id(0) * rows_each
    total = tl.zeros((), tl.int64)
    for row in range(first, tl.minimum(first + rows_each, n_rows)):
        total += tl.load(x + row * n_cols)
    if total >= 0:
        tl.store(out + first, 7)


def launch_counted(rows=13, cols=80, programs=4):
    x = torch.randint(0, 9, (rows, cols), device="cuda")
    out = torch.zeros(rows + 1000, device="cuda", dtype=torch.int64)
    counted_kernel[(programs,)](x, out, rows, cols, triton.cdiv(rows, programs))
    return out


@triton.jit
def sevens_kernel(x, out, n_rows, n_cols, rows_each):
    """7 of each program that has rows, and of those that begin not far beyond them."""
    pid = tl.program_id(0)
    first = pid * rows_each
    total = tl.zeros((), tl.int64)
    for row in range(first, tl.minimum(first + rows_each, n_rows)):
        total += tl.load(x + row * n_cols)
    if total >= 0:
        tl.store(out + pid, tl.where(first < n_rows + 1000, 7, 9))


def launch_sevens(rows=13, cols=80, programs=4):
    x = torch.randint(0, 9, (rows, cols), device="cuda")
    out = torch.full((programs,), 7, device="cuda", dtype=torch.int64)
    sevens_kernel[(programs,)](x, out, rows, cols, triton.cdiv(rows, programs))
    return out


def sevens(x, programs):
    return torch.full((programs,), 7, dtype=torch.int64)
