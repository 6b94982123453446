"""Kernels and wrappers on which it is easy to be wrong: what holds at the example's sizes only, numbers that wrap
around, memory under two names, loops that do not count. A function `launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, SCALE: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + o, tl.load(x_ptr + o, mask=o < n) * SCALE, mask=o < n)


def launch_scale_by_size(n=37):
    """A constant of the kernel that is another one at each size."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(n, 64),)](x, out, n, SCALE=2 * n + 1, BLOCK=64)
    return out


def launch_scale_by_power(n=37):
    """The same with the power of 2 above the size."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(n, 64),)](x, out, n, SCALE=triton.next_power_of_2(n), BLOCK=64)
    return out


@triton.jit
def rows_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + row * stride + c, tl.load(x_ptr + row * n + c, mask=c < n), mask=c < n)


def launch_square(m=32, n=32):
    """Rows that begin m elements apart instead of n: right for squares."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty_like(x)
    rows_kernel[(m,)](x, out, n, m, BLOCK=64)
    return out


# -------------------------------------------------------------------------------------------------- numbers that wrap


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + o, mask=o < n), tl.load(y_ptr + o, mask=o < n)
    tl.store(out_ptr + o, x + y, mask=o < n)


def launch_sum_of_bytes(n=37):
    """The sum of two bytes, kept in a byte."""
    x = torch.randint(-128, 128, (n,), dtype=torch.int8, device="cuda")
    y = torch.randint(-128, 128, (n,), dtype=torch.int8, device="cuda")
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(n, 64),)](x, y, out, n, BLOCK=64)
    return out


@triton.jit
def position_kernel(out_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + o, o.to(tl.int8).to(tl.int32), mask=o < n)


def launch_position_in_a_byte(n=300):
    """A position that goes through a byte: that n fits 32 bits says nothing of 8."""
    out = torch.empty(n, dtype=torch.int32, device="cuda")
    position_kernel[(triton.cdiv(n, 64),)](out, n, BLOCK=64)
    return out


@triton.jit
def signs_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bits = tl.load(x_ptr + o, mask=o < n, other=0) ^ tl.load(y_ptr + o, mask=o < n, other=0)
    small = bits.to(tl.uint32) < 5
    tl.store(out_ptr + o, tl.where(bits < 0, tl.where(small, 1, 0), 2), mask=o < n)


def launch_signs_of_bits(n=37):
    """Bits that are a negative number are a large unsigned one: 1 is never stored."""
    x = torch.randint(-100, 100, (n,), dtype=torch.int32, device="cuda")
    y = torch.randint(-100, 100, (n,), dtype=torch.int32, device="cuda")
    out = torch.empty_like(x)
    signs_kernel[(triton.cdiv(n, 64),)](x, y, out, n, BLOCK=64)
    return out


@triton.jit
def clamp_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + o, tl.maximum(tl.load(x_ptr + o, mask=o < n), -65504.0), mask=o < n)


def launch_clamp(n=37):
    """The least float16 is no infinity among float32."""
    x = 1e5 * torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    clamp_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


# ---------------------------------------------------------------------------------------------- memory under two names


@triton.jit
def two_kernel(x_ptr, a_ptr, b_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n)
    tl.store(a_ptr + o, x, mask=o < n)
    tl.store(b_ptr + o, x + 1, mask=o < n)


def launch_overlapping(n=37):
    """Two outputs that share all but one element."""
    x = torch.randn(n, device="cuda")
    memory = torch.empty(n + 1, device="cuda")
    two_kernel[(triton.cdiv(n, 64),)](x, memory[:n], memory[1:], n, BLOCK=64)
    return memory


def launch_two_halves(n=37):
    """Two outputs that lie behind each other."""
    x = torch.randn(n, device="cuda")
    memory = torch.empty(2, n, device="cuda")
    two_kernel[(triton.cdiv(n, 64),)](x, memory[0], memory[1], n, BLOCK=64)
    return memory


@triton.jit
def blocks_kernel(x_ptr, out_ptr, n, STEP: tl.constexpr, BLOCK: tl.constexpr):
    o = tl.program_id(0) * STEP + tl.arange(0, BLOCK)
    tl.store(out_ptr + o, tl.load(x_ptr + o, mask=o < n) + 1, mask=o < n)


def launch_blocks_that_overlap(n=37):
    """Two programs write the same to an element."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    blocks_kernel[(triton.cdiv(n, 8),)](x, out, n, STEP=8, BLOCK=16)
    return out


def launch_blocks_that_overlap_in_place(n=37):
    """The second one finds what the first one has written."""
    x = torch.randn(n, device="cuda")
    blocks_kernel[(triton.cdiv(n, 8),)](x, x, n, STEP=8, BLOCK=16)
    return x


@triton.jit
def strided_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + row * stride + c, tl.load(x_ptr + row * n + c, mask=c < n), mask=c < n)


def launch_rows_that_overlap(m=7, n=20):
    """Each row begins with the last element of the one before."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(m * n, device="cuda").as_strided((m, n), (n - 1, 1))
    strided_kernel[(m,)](x, out, n, n - 1, BLOCK=32)
    return out


@triton.jit
def added_kernel(x_ptr, out_ptr, N, stride, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + c, mask=c < N, other=0.0)
    tl.atomic_add(out_ptr + row * stride, tl.sum(x, 0))


def launch_added_to_one(m=7, n=20):
    """A tensor all of whose elements are one."""
    x = torch.randn(m, n, device="cuda")
    out = torch.zeros(1, device="cuda").expand(m)
    added_kernel[(m,)](x, out, n, 0, BLOCK=32)
    return out


# ------------------------------------------------------------------------------------------------------------ loops


@triton.jit
def while_kernel(x_ptr, out_ptr, n):
    i, s = 0, 0.0
    while i * i < n:
        s += tl.load(x_ptr + i)
        i += 1
    tl.store(out_ptr, s)


def launch_while_square(n=37):
    """The bound falls by another number each time."""
    x = torch.randn(n, device="cuda")
    out = torch.empty(1, device="cuda")
    while_kernel[(1,)](x, out, n)
    return out


# ---------------------------------------------------------------------------------------------------- configurations


@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 16})], key=["N"])
@triton.jit
def tuned_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out_ptr + row, tl.sum(tl.load(x_ptr + row * N + c, mask=c < N, other=0.0), 0))


def launch_tuned(M=5, N=100):
    """A sum that is right in the first configuration only."""
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    tuned_kernel[(M,)](x, out, N)
    return out


@triton.autotune(configs=[triton.Config({"BLOCK": 16}), triton.Config({"BLOCK": 32})], key=["N"])
@triton.jit
def tuned_loop_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row, total = tl.program_id(0), 0.0
    for start in range(0, N, BLOCK):
        c = start + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x_ptr + row * N + c, mask=c < N, other=0.0), 0)
    tl.store(out_ptr + row, total)


def launch_tuned_loop(M=5, N=100):
    """The same sum in each configuration."""
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    tuned_loop_kernel[(M,)](x, out, N)
    return out


def sum_of_rows(x):
    return x.sum(1)


# ----------------------------------------------------------------------------------------------- where it is defined


@triton.jit
def root_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    root = tl.sqrt(tl.load(x_ptr + o, mask=o < n))
    tl.store(out_ptr + o, root * root, mask=o < n)


def launch_root(n=37):
    """What a root is taken of and multiplied again: no number where it was negative."""
    x = torch.rand(n, device="cuda")
    out = torch.empty_like(x)
    root_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


def launch_root_of_any(n=37):
    """The same of numbers of which some are negative."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    root_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


def the_same(x):
    return x.clone()


@triton.jit
def no_number_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + o, mask=o < n)
    y = tl.log(x)
    tl.store(out_ptr + o, tl.where(y != y, 7.0, tl.where(x == x, y, 8.0)), mask=o < n)


def launch_no_number(n=37):
    """Logarithms of negative numbers are looked for."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    no_number_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


# -------------------------------------------------------------------------------------------------------------- names


def launch_of_undefined(n=37):
    """A tensor with a name that reads as if nobody knew what it holds."""
    undefined_x = torch.randn(n, device="cuda")
    out = torch.empty_like(undefined_x)
    scale_kernel[(triton.cdiv(n, 64),)](undefined_x, out, n, SCALE=2, BLOCK=64)
    return out


def doubled(undefined_x):
    return undefined_x * 2
