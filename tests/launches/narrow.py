"""Kernels whose integers of 8 and 16 bits wrap around before they show, each in another way; `launch_…` runs one."""

import torch
import triton
import triton.language as tl


@triton.jit
def gather_kernel(table_ptr, idx_ptr, out_ptr, n, WAY: tl.constexpr, D: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d = tl.arange(0, D)
    idx = tl.load(idx_ptr + r, mask=r < n, other=0)
    if WAY == "shifted":
        src = table_ptr + (idx << 5)[:, None] + d[None, :]
    elif WAY == "whole":
        src = table_ptr + ((idx * D)[:, None] + d[None, :])
    else:
        src = table_ptr + (idx * D)[:, None] + d[None, :]
    tl.store(out_ptr + r[:, None] * D + d[None, :], tl.load(src, mask=(r < n)[:, None]), mask=(r < n)[:, None])


def gathered(way, dtype, rows, n=20):
    table = torch.randn(rows, 32, device="cuda")
    idx = torch.randint(rows // 2, rows, (n,), device="cuda").to(dtype)
    out = torch.empty((n, 32), device="cuda")
    gather_kernel[(triton.cdiv(n, 16),)](table, idx, out, n, WAY=way, D=32, BLOCK=16)
    return out


def launch_pointer():
    """An int16 product, added to a pointer as it is."""
    return gathered("pointer", torch.int16, 2048)


def launch_small():
    """The same where it fits: of 1000 rows all offsets have 15 bits."""
    return gathered("pointer", torch.int16, 1000)


def launch_byte():
    return gathered("pointer", torch.int8, 100)


def launch_shifted():
    return gathered("shifted", torch.int16, 2048)


def launch_whole():
    return gathered("whole", torch.int16, 2048)


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    base = tl.program_id(0).to(tl.int16) * BLOCK
    i = tl.arange(0, BLOCK)
    mask = tl.program_id(0) * BLOCK + i < n
    tl.store(out_ptr + base + i, tl.load(x_ptr + base + i, mask=mask), mask=mask)


def launch_program(n=33000):
    """A program's number, cut to 16 bits."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    copy_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK=1024)
    return out


@triton.jit
def walk_kernel(x_ptr, out_ptr, n, CARRIED: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = i.to(tl.int16)
    p = x_ptr + i
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(tl.cdiv(n, BLOCK)):
        inside = k * BLOCK + i < n
        if CARRIED == "number":
            total += tl.load(x_ptr + at, mask=inside, other=0.0)
            at += BLOCK
        else:
            total += tl.load(p + (k + i * 0).to(tl.int16) * BLOCK, mask=inside, other=0.0)
    tl.store(out_ptr, tl.sum(total, 0))


def walked(carried, n=33000):
    x = torch.randn(n, device="cuda")
    out = torch.empty(1, device="cuda")
    walk_kernel[(1,)](x, out, n, CARRIED=carried, BLOCK=1024)
    return out


def launch_carried():
    """An offset that a loop carries."""
    return walked("number")


def launch_counter():
    """A loop's counter, cut to 16 bits."""
    return walked("counter")


@triton.jit
def each_kernel(x_ptr, out_ptr, n, WAY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    if WAY == "compared":
        value = tl.where(x * x > 0, 1.0, 0.0)
    elif WAY == "chosen":
        value = tl.where(x * x, 1.0, 0.0)
    elif WAY == "mixed":
        value = tl.where(x > 0, x * 100, x ^ 5).to(tl.int32)
    else:
        value = x * x
    tl.store(out_ptr + i, value, mask=i < n)


def each(way, dtype, n=20):
    x = torch.full((n,), 64, dtype=torch.int8, device="cuda")
    out = torch.empty(n, dtype=dtype, device="cuda")
    each_kernel[(triton.cdiv(n, 16),)](x, out, n, WAY=way, BLOCK=16)
    return out


def launch_compared():
    return each("compared", torch.float32)


def launch_chosen():
    """A number as the condition of tl.where."""
    return each("chosen", torch.float32)


def launch_truth():
    """A number stored as a truth value: of 4096 the last eight bits are 0."""
    return each("truth", torch.bool)


def launch_mixed():
    """A product, beside numbers that are bits."""
    return each("mixed", torch.int32)


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def row_kernel(x_ptr, out_ptr, WAY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if WAY == "largest":
        value = tl.reduce(x * x, 0, larger) & 15
    elif WAY == "place":
        value = tl.argmax(x * x, 0)
    elif WAY == "bits":
        value = tl.sum(x.to(tl.int32) * 1000003 ^ 1, 0).to(tl.int64)
    else:
        value = tl.dot((x[:, None] * x[None, :]), (x[:, None] * 0 + x[None, :])).to(tl.float32)
        value = tl.sum(tl.sum(value, 1), 0)
    tl.store(out_ptr, value)


def of_row(way, dtype, low=0):
    x = (torch.arange(32, device="cuda") * 15 + low).to(torch.int16 if way != "product" else torch.int8)
    out = torch.empty(1, dtype=dtype, device="cuda")
    row_kernel[(1,)](x, out, WAY=way, BLOCK=32)
    return out


def launch_largest():
    """The largest of products that wrapped around."""
    return of_row("largest", torch.int16)


def launch_place():
    """Where the largest of products stands."""
    return of_row("place", torch.int64)


def launch_bits():
    """A sum of numbers that are bits wraps around, too."""
    return of_row("bits", torch.int64)


def launch_product():
    """Operands of a matrix product, which has more bits."""
    return of_row("product", torch.float32)


@triton.jit
def count_kernel(count_ptr, out_ptr):
    count = tl.load(count_ptr)
    total = 0.0
    for _ in range(count * count):
        total += 1.0
    tl.store(out_ptr, total)


def launch_bound():
    """How often a loop runs."""
    count = torch.full((1,), 16, dtype=torch.int8, device="cuda")
    out = torch.empty(1, device="cuda")
    count_kernel[(1,)](count, out)
    return out


@triton.jit
def rows_kernel(x_ptr, out_ptr, n, m):
    total = 0.0
    for k in range(n * m):
        total += tl.load(x_ptr + k // m)
    tl.store(out_ptr, total)


def launch_rows(n=30, m=7):
    """A bound of 32 bits, which has to fit as well."""
    x = torch.randn(n, device="cuda")
    out = torch.empty(1, device="cuda")
    rows_kernel[(1,)](x, out, n, m)
    return out


@triton.jit
def hash_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 1000003, mask=i < n)


def launch_hash(n=20):
    """Wraps around as torch does."""
    x = torch.arange(n, dtype=torch.int32, device="cuda") + (1 << 20)
    out = torch.empty_like(x)
    hash_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out
