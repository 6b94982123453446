"""Kernels as people write them: powers of two in place of exp, capped scores, pages of a table."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def powers_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr, RESCALE: tl.constexpr):
    """log Σ exp, with 2^(x / log 2) for exp(x)."""
    row = tl.program_id(0)
    m = -float("inf")
    z = 0.0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=-float("inf"))
        now = tl.maximum(m, tl.max(x, 0))
        z = z * tl.exp2((m - now) * RESCALE) + tl.sum(tl.exp2((x - now) * LOG2E), 0)
        m = now
    tl.store(out_ptr + row, m + tl.log(z))


@triton.jit
def scaled_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr, FIRST: tl.constexpr):
    """log₂ Σ exp, where the maximum is one of what is in the exponents of two; a sum of nothing is `FIRST`."""
    row = tl.program_id(0)
    m = -float("inf")
    z = FIRST
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=-float("inf")) * LOG2E
        now = tl.maximum(m, tl.max(x, 0))
        z = z * tl.exp2(m - now) + tl.sum(tl.exp2(x - now), 0)
        m = now
    tl.store(out_ptr + row, m + tl.log2(z))


@triton.jit
def grows_kernel(x_ptr, out_ptr, N, BLOCK: tl.constexpr, FIRST: tl.constexpr):
    """Σ exp(x + max x), rescaled by exp(m′ − m): ∞ at the first step, if the maximum was −∞."""
    row = tl.program_id(0)
    m = FIRST
    z = 0.0
    for start in range(0, N, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=-float("inf"))
        now = tl.maximum(m, tl.max(x, 0))
        z = z * tl.exp(now - m) + tl.sum(tl.exp(x + now), 0)
        m = now
    tl.store(out_ptr + row, z)


@triton.jit
def divided_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """0/0, whatever x is."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, (x - x) / (x - x), mask=at < n)


@triton.jit
def capped_kernel(x_ptr, out_ptr, N, cap, BLOCK: tl.constexpr):
    """Softmax of scores that are held between −cap and cap."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=0.0)
    x = tl.where(cols < N, cap * libdevice.tanh(x / cap), -float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * N + cols, e / tl.sum(e, 0), mask=cols < N)


@triton.jit
def sharpened_kernel(x_ptr, s_ptr, out_ptr, N, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    """Softmax of scores times cosh(s), which is above 0 and leaves −∞ what it is; or times sinh(s), which may be 0."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    s = tl.load(s_ptr + row)
    factor = libdevice.cosh(s) if EVEN else libdevice.sinh(s)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=-float("inf")) * factor
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * N + cols, e / tl.sum(e, 0), mask=cols < N)


@triton.jit
def pages_kernel(x_ptr, table_ptr, len_ptr, out_ptr, PAGES, PAGE: tl.constexpr):
    """The greatest of the first `len` elements, of which each page of the table holds some."""
    row = tl.program_id(0)
    n = tl.load(len_ptr + row)
    best = -float("inf")
    for page in range(tl.cdiv(n, PAGE)):
        block = tl.load(table_ptr + row * PAGES + page)
        slots = tl.arange(0, PAGE)
        x = tl.load(x_ptr + block * PAGE + slots)
        best = tl.maximum(best, tl.max(tl.where(page * PAGE + slots < n, x, -float("inf")), 0))
    tl.store(out_ptr + row, best)


def launch_powers(M=7, N=100):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    powers_kernel[(M,)](x, out, N, BLOCK=32, RESCALE=LOG2E.value)
    return out


def launch_powers_of_two(M=7, N=100):
    """Rescales by 2^(m − m′), where exp(m − m′) is meant."""
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    powers_kernel[(M,)](x, out, N, BLOCK=32, RESCALE=1.0)
    return out


def powers(x):
    return torch.logsumexp(x, -1)


def launch_scaled(M=7, N=100):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    scaled_kernel[(M,)](x, out, N, BLOCK=32, FIRST=0.0)
    return out


def launch_scaled_from_one(M=7, N=100):
    """What is there first is forgotten at the first step, as the maximum was −∞."""
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    scaled_kernel[(M,)](x, out, N, BLOCK=32, FIRST=1.0)
    return out


def launch_scaled_from_infinity(M=7, N=100):
    """∞·0 at the first step."""
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    scaled_kernel[(M,)](x, out, N, BLOCK=32, FIRST=float("inf"))
    return out


def scaled(x):
    return torch.log2(torch.exp(x).sum(-1))


def scaled_from_one(x):
    return torch.log2(torch.exp(x).sum(-1) + 1)


def launch_grows(M=7, N=100):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    grows_kernel[(M,)](x, out, N, BLOCK=32, FIRST=-1.0)
    return out


def launch_grows_from_nothing(M=7, N=100):
    """0·∞ at the first step."""
    x = torch.randn(M, N, device="cuda")
    out = torch.empty(M, device="cuda")
    grows_kernel[(M,)](x, out, N, BLOCK=32, FIRST=-float("inf"))
    return out


def grows(x):
    return torch.exp(x + x.amax(-1, keepdim=True).clamp(min=-1.0)).sum(-1)


def grows_from_nothing(x):
    return torch.exp(x + x.amax(-1, keepdim=True)).sum(-1)


def launch_divided(n=100):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    divided_kernel[(triton.cdiv(n, 32),)](x, out, n, BLOCK=32)
    return out


def zero(x):
    return torch.zeros_like(x)


def launch_capped(M=7, N=50):
    x = torch.randn(M, N, device="cuda")
    out = torch.empty_like(x)
    capped_kernel[(M,)](x, out, N, 30.0, BLOCK=64)
    return out


def capped(x):
    return torch.softmax(30.0 * torch.tanh(x / 30.0), -1)


def capped_otherwise(x):
    return torch.softmax(30.0 * torch.tanh(x / 15.0), -1)


def launch_sharpened(M=7, N=50):
    x, s = torch.randn(M, N, device="cuda"), torch.randn(M, device="cuda")
    out = torch.empty_like(x)
    sharpened_kernel[(M,)](x, s, out, N, BLOCK=64, EVEN=True)
    return out


def launch_sharpened_by_sinh(M=7, N=50):
    x, s = torch.randn(M, N, device="cuda"), torch.randn(M, device="cuda")
    out = torch.empty_like(x)
    sharpened_kernel[(M,)](x, s, out, N, BLOCK=64, EVEN=False)
    return out


def sharpened(x, s):
    return torch.softmax(x * torch.cosh(s)[:, None], -1)


def sharpened_by_sinh(x, s):
    return torch.softmax(x * torch.sinh(s)[:, None], -1)


def launch_pages(B=3, PAGES=5, NB=11):
    x = torch.randn(NB, 4, device="cuda")
    table = torch.randint(0, NB, (B, PAGES), dtype=torch.int64, device="cuda")
    lengths = torch.randint(1, 20, (B,), dtype=torch.int32, device="cuda")
    out = torch.empty(B, device="cuda")
    pages_kernel[(B,)](x, table, lengths, out, PAGES, PAGE=4)
    return out
