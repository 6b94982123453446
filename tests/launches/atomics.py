"""Kernels that update elements atomically, right and wrong; a function `launch_…` runs each."""

import torch
import triton
import triton.language as tl


@triton.jit
def extremes_kernel(x_ptr, most_ptr, least_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=-float("inf"))
    tl.atomic_max(most_ptr, tl.max(x, axis=0))
    tl.atomic_min(least_ptr + 0 * offsets, x, mask=offsets < n)


def launch_extremes(n=100):
    """One maximum for a program, and a minimum for each lane."""
    x = torch.randn(n, device="cuda")
    most, least = torch.full((1,), -float("inf"), device="cuda"), torch.full((1,), float("inf"), device="cuda")
    extremes_kernel[(triton.cdiv(n, 16),)](x, most, least, n, BLOCK=16)
    return most, least


def launch_extremes_from_zero(n=100):
    """Both begin with 0, and keep it where nothing passes it."""
    x = torch.randn(n, device="cuda")
    most, least = torch.zeros(1, device="cuda"), torch.zeros(1, device="cuda")
    extremes_kernel[(triton.cdiv(n, 16),)](x, most, least, n, BLOCK=16)
    return most, least


def launch_extremes_from_nothing(n=100):
    """Nobody has set what is compared with."""
    x = torch.randn(n, device="cuda")
    most, least = torch.empty(1, device="cuda"), torch.empty(1, device="cuda")
    extremes_kernel[(triton.cdiv(n, 16),)](x, most, least, n, BLOCK=16)
    return most, least


def launch_extremes_of_a_part(n=100):
    """The last block is left out."""
    x = torch.randn(n, device="cuda")
    most, least = torch.full((1,), -float("inf"), device="cuda"), torch.full((1,), float("inf"), device="cuda")
    extremes_kernel[(n // 16,)](x, most, least, n, BLOCK=16)
    return most, least


@triton.jit
def columns_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0)
    tl.atomic_max(out_ptr + columns, x, mask=columns < n)


def launch_columns(m=7, n=100):
    """A maximum over the grid's first axis."""
    x = torch.randn(m, n, device="cuda")
    out = torch.zeros(n, device="cuda")
    columns_kernel[(m, triton.cdiv(n, 16))](x, out, n, BLOCK=16)
    return out


def reference_columns(x):
    return torch.clamp(torch.amax(x, dim=0), min=0)


def reference_columns_of_minus_one(x):
    return torch.clamp(torch.amax(x, dim=0), min=-1)


def launch_whole_columns(m=7, n=100):
    """The same of integers."""
    x = torch.randint(-50, 50, (m, n), dtype=torch.int32, device="cuda")
    out = torch.zeros(n, dtype=torch.int32, device="cuda")
    columns_kernel[(m, triton.cdiv(n, 16))](x, out, n, BLOCK=16)
    return out


@triton.jit
def unmasked_columns_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns < n, other=0)
    tl.atomic_max(out_ptr + columns, x, mask=columns <= n)


def launch_unmasked_columns(m=7, n=100):
    """One lane too many."""
    x = torch.randn(m, n, device="cuda")
    out = torch.zeros(n, device="cuda")
    unmasked_columns_kernel[(m, triton.cdiv(n, 16))](x, out, n, BLOCK=16)
    return out


@triton.jit
def undefined_columns_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + columns, mask=columns + 1 < n)
    tl.atomic_max(out_ptr + columns, x, mask=columns < n)


def launch_undefined_columns(m=7, n=100):
    """The last column is not read."""
    x = torch.randn(m, n, device="cuda")
    out = torch.zeros(n, device="cuda")
    undefined_columns_kernel[(m, triton.cdiv(n, 16))](x, out, n, BLOCK=16)
    return out


@triton.jit
def apart_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_max(out_ptr, tl.max(x, axis=0))
    tl.atomic_add(out_ptr + 1, tl.sum(x, axis=0))


def launch_apart(n=100):
    """A maximum and a sum, each in an element of its own."""
    x = torch.randn(n, device="cuda")
    out = torch.zeros(2, device="cuda")
    apart_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def together_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_max(out_ptr, tl.max(x, axis=0))
    tl.atomic_add(out_ptr, tl.sum(x, axis=0))


def launch_together(n=100):
    """A maximum and a sum in one element, which depend on the order."""
    x = torch.randn(n, device="cuda")
    out = torch.zeros(1, device="cuda")
    together_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def returned_kernel(x_ptr, out_ptr, before_ptr, n):
    row = tl.program_id(0)
    tl.store(before_ptr + row, tl.atomic_max(out_ptr, tl.load(x_ptr + row)))


def launch_returned(n=100):
    """What an atomic maximum returns is used: which of the others came before is not known."""
    x = torch.randn(n, device="cuda")
    out, before = torch.zeros(1, device="cuda"), torch.empty_like(x)
    returned_kernel[(n,)](x, out, before, n)
    return out, before


@triton.jit
def by_hand_kernel(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.program_id(0))
    bits = out_ptr.to(tl.pointer_type(tl.int32), bitcast=True)
    tl.atomic_max(bits, x.to(tl.int32, bitcast=True), mask=x > -1.0)


def launch_by_hand(n=100):
    """A maximum of bits, also of negative floats, which are the other way round."""
    x = torch.randn(n, device="cuda")
    out = torch.full((1,), -9.0, device="cuda")
    by_hand_kernel[(n,)](x, out)
    return out


@triton.jit
def natural_kernel(x_ptr, out_ptr, SIGNED: tl.constexpr):
    x = tl.load(x_ptr + tl.program_id(0))
    if SIGNED:
        tl.atomic_max(out_ptr.to(tl.pointer_type(tl.int32), bitcast=True), x.to(tl.int32))
    else:
        tl.atomic_max(out_ptr, x)


def launch_natural(n=100):
    """A maximum of unsigned numbers."""
    x = torch.randint(0, 1 << 32, (n,)).to(torch.uint32).to("cuda")
    out = torch.zeros(1, dtype=torch.uint32, device="cuda")
    natural_kernel[(n,)](x, out, False)
    return out


def launch_natural_as_signed(n=100):
    """A maximum of signed numbers, where those from 2^31 on are below 0."""
    x = torch.randint(0, 1 << 32, (n,)).to(torch.uint32).to("cuda")
    out = torch.zeros(1, dtype=torch.uint32, device="cuda")
    natural_kernel[(n,)](x, out, True)
    return out


@triton.jit
def stored_bits_kernel(x_ptr, out_ptr):
    row = tl.program_id(0)
    bits = (out_ptr + row).to(tl.pointer_type(tl.int32), bitcast=True)
    tl.store(bits, tl.load(x_ptr + row).to(tl.int32, bitcast=True))


def launch_stored_bits(n=100):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    stored_bits_kernel[(n,)](x, out)
    return out


@triton.jit
def loaded_bits_kernel(x_ptr, out_ptr):
    row = tl.program_id(0)
    bits = (x_ptr + row).to(tl.pointer_type(tl.int32), bitcast=True)
    tl.store(out_ptr + row, tl.load(bits))


def launch_loaded_bits(n=100):
    x = torch.randn(n, device="cuda")
    out = torch.empty(n, dtype=torch.int32, device="cuda")
    loaded_bits_kernel[(n,)](x, out)
    return out


@triton.jit
def counts_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.atomic_add(out_ptr, tl.sum(tl.where((x > 0) & (offsets < n), 1, 0), axis=0))


def launch_counts(n=100):
    """A count, which is no more than there are elements."""
    x = torch.randn(n, device="cuda")
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    counts_kernel[(triton.cdiv(n, 16),)](x, out, n, BLOCK=16)
    return out


@triton.jit
def totals_kernel(x_ptr, out_ptr):
    tl.atomic_add(out_ptr, tl.load(x_ptr + tl.program_id(0)))


def launch_totals(n=100):
    """Each number fits in 32 bits, and their sum may not."""
    x = torch.randint(-50, 50, (n,), dtype=torch.int32, device="cuda")
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    totals_kernel[(n,)](x, out)
    return out


@triton.jit
def swapped_kernel(out_ptr):
    tl.atomic_cas(out_ptr, 0, 1)


@triton.jit
def exchanged_kernel(out_ptr):
    tl.atomic_xchg(out_ptr, 1)


@triton.jit
def joined_bits_kernel(out_ptr):
    tl.atomic_or(out_ptr, 5)


def launch_swapped(n=100):
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    swapped_kernel[(n,)](out)
    return out


def launch_exchanged(n=100):
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    exchanged_kernel[(n,)](out)
    return out


def launch_joined_bits(n=100):
    out = torch.zeros(1, dtype=torch.int32, device="cuda")
    joined_bits_kernel[(n,)](out)
    return out


@triton.jit
def rows_to_their_tokens_kernel(
    grad_ptr, ids_ptr, out_ptr, n, dim, padding, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr
):
    t = tl.program_id(0) * BLOCK_N + tl.arange(0, BLOCK_N)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    ids = tl.load(ids_ptr + t, mask=t < n, other=padding)
    mask = ((t < n) & (ids != padding))[:, None] & (d < dim)[None, :]
    grad = tl.load(grad_ptr + t[:, None] * dim + d[None, :], mask=mask, other=0.0)
    tl.atomic_add(out_ptr + ids[:, None] * dim + d[None, :], grad, mask=mask)


def launch_rows_to_their_tokens(n=30, vocab=11, dim=40):
    grad = torch.randn(n, dim, device="cuda")
    ids = torch.randint(0, vocab, (n,), device="cuda")
    out = torch.zeros(vocab, dim, device="cuda")
    grid = triton.cdiv(n, 16), triton.cdiv(dim, 32)
    rows_to_their_tokens_kernel[grid](grad, ids, out, n, dim, 3, BLOCK_N=16, BLOCK_D=32)
    return out


def reference_rows_to_their_tokens(grad, ids, vocab):
    kept = torch.where((ids != 3)[:, None], grad, 0.0)
    return torch.zeros(vocab, grad.shape[1]).index_add(0, ids, kept)


def reference_all_rows_to_their_tokens(grad, ids, vocab):
    return torch.zeros(vocab, grad.shape[1]).index_add(0, ids, grad)
