"""Launches in which something is exact, or there, only up to a limit: integers that pass through floats, grids, narrow
dtypes, facts of a device, the layout of tensors. A function `launch_…` runs each."""

import torch
import triton
import triton.language as tl

# ------------------------------------------------------------------------------------------- integers that are floats


@triton.jit
def through_float_kernel(x_ptr, out_ptr, n, FLOAT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = i.to(FLOAT).to(tl.int32)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=i < n), mask=i < n)


def launch_through_float32(n=1000):
    """Exact up to 2^24."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    through_float_kernel[(triton.cdiv(n, 64),)](x, out, n, FLOAT=tl.float32, BLOCK=64)
    return out


def launch_through_float16(n=1000):
    """Exact up to 2^11, and shorter than that."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    through_float_kernel[(triton.cdiv(n, 64),)](x, out, n, FLOAT=tl.float16, BLOCK=64)
    return out


def launch_through_float16_too_long(n=3000):
    """Longer than float16 counts."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    through_float_kernel[(triton.cdiv(n, 64),)](x, out, n, FLOAT=tl.float16, BLOCK=64)
    return out


def launch_through_bfloat16(n=200):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    through_float_kernel[(triton.cdiv(n, 64),)](x, out, n, FLOAT=tl.bfloat16, BLOCK=64)
    return out


def launch_through_float64(n=1000):
    """Exact for all 32-bit numbers."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    through_float_kernel[(triton.cdiv(n, 64),)](x, out, n, FLOAT=tl.float64, BLOCK=64)
    return out


@triton.jit
def float_mask_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i.to(tl.float32) < n.to(tl.float32)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=inside), mask=inside)


def launch_float_mask(n=1000):
    """A mask that is compared in float32."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    float_mask_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


@triton.jit
def halved_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = (i.to(tl.float32) / 3.0).to(tl.int32)
    tl.store(out_ptr + i, tl.load(x_ptr + at, mask=i < n), mask=i < n)


def launch_a_third(n=1000):
    """A quotient of positions, rounded in float32."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    halved_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


@triton.jit
def scaled_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x * 2.0, mask=i < n)


def launch_to_float8(n=1000):
    x = torch.randn(n, device="cuda")
    out = torch.empty(n, dtype=torch.float8_e4m3fn, device="cuda")
    scaled_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


def launch_to_float16(n=1000):
    x = torch.randn(n, device="cuda")
    out = torch.empty(n, dtype=torch.float16, device="cuda")
    scaled_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


def launch_to_int8(n=1000):
    x = torch.randn(n, device="cuda")
    out = torch.empty(n, dtype=torch.int8, device="cuda")
    scaled_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


@triton.jit
def counted_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + i, mask=i < n, other=0.0)
    tl.store(out_ptr + row, tl.sum((x > 0).to(tl.float16)).to(tl.int32))


def launch_counted_in_float16(m=7, n=100):
    """A count that is added up in float16."""
    x = torch.randn(m, n, device="cuda")
    out = torch.empty(m, dtype=torch.int32, device="cuda")
    counted_kernel[(m,)](x, out, n, BLOCK=128)
    return out


# --------------------------------------------------------------------------------------------------------------- grids


@triton.jit
def by_rows_kernel(x_ptr, out_ptr, n, AXIS: tl.constexpr, BLOCK: tl.constexpr):
    row, i = tl.program_id(AXIS), tl.arange(0, BLOCK)
    tl.store(out_ptr + row * n + i, tl.load(x_ptr + row * n + i, mask=i < n), mask=i < n)


def rows_along(x, axis):
    out = torch.empty_like(x)
    grid = (x.shape[0],) if axis == 0 else (1, x.shape[0])
    by_rows_kernel[grid](x, out, x.shape[1], AXIS=axis, BLOCK=16)
    return out


def launch_rows_along_x(m=300, n=7):
    return rows_along(torch.randn(m, n, device="cuda"), 0)


def launch_rows_along_y(m=300, n=7):
    """A grid has at most 65,535 programs along y."""
    return rows_along(torch.randn(m, n, device="cuda"), 1)


def launch_too_many_rows_along_y(m=70000, n=3):
    return rows_along(torch.randn(m, n, device="cuda"), 1)


# -------------------------------------------------------------------------------------------------------------- device


@triton.jit
def persistent_kernel(x_ptr, out_ptr, n, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), PROGRAMS):
        i = block * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2.0, mask=i < n)


def launch_persistent(n=1000):
    """As many programs as the device has multiprocessors."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    programs = torch.cuda.get_device_properties(0).multi_processor_count
    persistent_kernel[(programs,)](x, out, n, PROGRAMS=programs, BLOCK=64)
    return out


def launch_by_capability(n=1000):
    """Another block on another device."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    block = 64 if torch.cuda.get_device_capability()[0] >= 9 else 32
    scaled_kernel[(triton.cdiv(n, block),)](x, out, n, BLOCK=block)
    return out


def launch_for_no_device(n=1000):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    scaled_kernel[(triton.cdiv(n, 64),)](x, out, n, BLOCK=64)
    return out


# -------------------------------------------------------------------------------------------------------------- layout


def doubled(x):
    """Takes no account of strides."""
    out = torch.empty(x.shape, device=x.device)
    scaled_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


def doubled_in_order(x):
    x = x.contiguous()
    out = torch.empty(x.shape, device=x.device)
    scaled_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out


def doubled_or_refused(x):
    if not x.is_contiguous():
        raise ValueError("x has to be contiguous")
    return doubled(x)


@triton.jit
def strided_kernel(x_ptr, out_ptr, n, stride, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i * stride, mask=i < n) * 2.0, mask=i < n)


def doubled_by_strides(x):
    n = x.shape[0]
    out = torch.empty(x.shape, device=x.device)
    strided_kernel[(triton.cdiv(n, 64),)](x, out, n, x.stride(0), BLOCK=64)
    return out


def launch_without_strides(m=30, n=7):
    return doubled(torch.randn(m, n, device="cuda"))


def launch_made_contiguous(m=30, n=7):
    return doubled_in_order(torch.randn(m, n, device="cuda"))


def launch_refuses_others(m=30, n=7):
    return doubled_or_refused(torch.randn(m, n, device="cuda"))


def launch_with_strides(n=300):
    return doubled_by_strides(torch.randn(n, device="cuda"))


def launch_every_second(n=300):
    """Each second element, by a kernel that takes no account of that."""
    return doubled(torch.randn(2 * n, device="cuda")[::2])


@triton.jit
def compared_kernel(x_ptr, out_ptr, n, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i.to(tl.float16) < LIMIT
    tl.store(out_ptr + i, tl.where(inside, 1.0, 0.0), mask=i < n)


def launch_compared_with_a_number(n=6000):
    """A position is compared in float16 with a number that is too large for it to tell its neighbours apart."""
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    compared_kernel[(triton.cdiv(n, 64),)](x, out, n, LIMIT=4096.0, BLOCK=64)
    return out


@triton.jit
def counting_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    steps = tl.zeros([1], tl.float16)
    for _ in range(n):
        steps += 1.0
    tl.store(out_ptr + row + tl.arange(0, 1), steps.to(tl.int32))


def launch_steps_in_float16(m=3, n=100):
    """Steps that are counted in float16."""
    x = torch.randn(m, device="cuda")
    out = torch.empty(m, dtype=torch.int32, device="cuda")
    counting_kernel[(m,)](x, out, n, BLOCK=64)
    return out
