"""Launches as strangers write them, and references for them: rows that go to slots, blocks that data chooses, parts of
one draw, what a forward pass has left, numbers with many digits."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def put_kernel(x, at, out, n, width, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.arange(0, BLOCK)
    place = tl.load(at + rows, mask=rows < n, other=0)
    inside = (rows < n)[:, None] & (columns < width)[None, :]
    value = tl.load(x + rows[:, None] * width + columns[None, :], mask=inside)
    tl.store(out + place[:, None] * width + columns[None, :], value, mask=inside)


def launch_put(n=10, slots=25, width=12):
    x, out = torch.randn(n, width, device="cuda"), torch.randn(slots, width, device="cuda")
    at = torch.randperm(slots, device="cuda")[:n]
    put_kernel[(triton.cdiv(n, 4),)](x, at, out, n, width, ROWS=4, BLOCK=16)
    return out


def put(x, at, out):
    new = out.clone()
    new[at] = x
    return new


def put_twice(x, at, out):
    new = out.clone()
    new[at] = 2 * x
    return new


@triton.jit
def blocks_kernel(x, chosen, out, AHEAD: tl.constexpr, LONG: tl.constexpr):
    i, r = tl.program_id(0), tl.arange(0, LONG)
    first = tl.load(chosen + i) * 4 + AHEAD
    tl.store(out + i * LONG + r, tl.load(x + first + r))


def blocks_of(chosen, x, ahead, long):
    out = torch.empty(len(chosen), long, device="cuda")
    blocks_kernel[(len(chosen),)](x, chosen, out, AHEAD=ahead, LONG=long)
    return out


def launch_blocks(n=9, blocks=6):
    x = torch.randn(4 * blocks, device="cuda")
    return blocks_of(torch.randint(0, blocks, (n,), device="cuda"), x, 0, 4)


def launch_blocks_ahead(n=9, blocks=6):
    x = torch.randn(4 * blocks, device="cuda")
    return blocks_of(torch.randint(0, blocks - 1, (n,), device="cuda"), x, 1, 4)


def launch_long_blocks(n=9, blocks=6):
    x = torch.randn(4 * blocks, device="cuda")
    return blocks_of(torch.randint(0, blocks - 1, (n,), device="cuda"), x, 0, 8)


def chosen_blocks(x, chosen):
    return x.unflatten(0, (-1, 4))[chosen]


def other_blocks(x, chosen):
    return x.unflatten(0, (-1, 4))[chosen].flip(1)


@triton.jit
def weighted_kernel(x, weight, out, n, LONG: tl.constexpr, WIDE: tl.constexpr):
    tiles = tl.cdiv(n, WIDE)
    rows = tl.program_id(0) // tiles * LONG + tl.arange(0, LONG)
    cols = tl.program_id(0) % tiles * WIDE + tl.arange(0, WIDE)
    places = rows[:, None] * n + cols[None, :]
    x = tl.load(x + places, mask=cols[None, :] < n, other=0.0)
    tl.store(out + places, x * tl.load(weight + rows)[:, None], mask=cols[None, :] < n)


def weighted_by(weight, x):
    rows, n = x.shape
    out = torch.empty_like(x)
    weighted_kernel[(rows // 16 * triton.cdiv(n, 32),)](x, weight, out, n, LONG=16, WIDE=32)
    return out


def launch_weighted(blocks=4, n=40):
    """Tiles of rows that come in whole blocks; a tile knows the weights of its rows."""
    x, weight = torch.randn(16 * blocks, n, device="cuda"), torch.randn(16 * blocks, device="cuda")
    return weighted_by(weight, x)


def launch_weighted_of_fewer(blocks=4, n=40):
    x, weight = torch.randn(16 * blocks, n, device="cuda"), torch.randn(16 * blocks - 1, device="cuda")
    return weighted_by(weight, x)


def weighted(x, weight):
    return x * weight[:, None]


@triton.jit
def kept_kernel(x, lse, out, n, BLOCK: tl.constexpr):
    i, j = tl.program_id(0), tl.arange(0, BLOCK)
    score = tl.load(x + i * n + j, mask=j < n, other=0.0)
    kept = tl.where(j <= i, tl.exp(score - tl.load(lse + i)), 0.0)
    tl.store(out + i * n + j, kept, mask=j < n)


def kept_of(x, lse):
    out = torch.empty_like(x)
    kept_kernel[(len(x),)](x, lse, out, len(x), BLOCK=32)
    return out


def launch_kept(n=20):
    x = torch.randn(n, n, device="cuda")
    seen = torch.ones(n, n, dtype=torch.bool, device="cuda").tril()
    lse = torch.logsumexp(x.masked_fill(~seen, float("-inf")), dim=-1)
    return kept_of(x, lse)


def launch_kept_of_none(n=20):
    x = torch.randn(n, n, device="cuda")
    seen = torch.ones(n, n, dtype=torch.bool, device="cuda").tril(-1)   # nothing is seen in the first row
    lse = torch.logsumexp(x.masked_fill(~seen, float("-inf")), dim=-1)
    return kept_of(x, lse)


def kept(x):
    i = torch.arange(len(x), device=x.device)
    return torch.softmax(x.masked_fill(i[:, None] < i, float("-inf")), dim=-1)


def kept_before(x):
    i = torch.arange(len(x), device=x.device)
    below = (i[:, None] > i).to(x.dtype)
    total = (x.exp() * below).sum(-1, keepdim=True)
    return torch.where(i[:, None] >= i, x.exp() / total, 0.0)


@triton.jit
def added_kernel(x, table, ids, out):
    i = tl.program_id(0)
    row = tl.load(ids + i)
    value = tl.load(x + i)
    if row != -1:
        value += tl.load(table + row)
    tl.store(out + i, value)


def launch_added(n=9, rows=5):
    x, table = torch.randn(n, device="cuda"), torch.randn(rows, device="cuda")
    ids = torch.randint(-1, rows, (n,), device="cuda")
    out = torch.empty_like(x)
    added_kernel[(n,)](x, table, ids, out)
    return out


def added(x, table, ids):
    return x + torch.where(ids >= 0, table[ids.clamp(min=0)], 0.0)


def added_after_first(x, table, ids):
    return x + torch.where(ids > 0, table[ids.clamp(min=0)], 0.0)


@triton.jit
def less_kernel(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(a + i, mask=i < n) - tl.load(b + i, mask=i < n), mask=i < n)


def launch_less(n=100):
    a, b = torch.randn(2, n, device="cuda")
    out = torch.empty_like(a)
    less_kernel[(triton.cdiv(n, 32),)](a, b, out, n, BLOCK=32)
    return out


def less(a, b):
    return a - b


def more(a, b):
    return b - a


@triton.jit
def scaled_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 1.6732632423543772 * tl.load(x + i, mask=i < n), mask=i < n)


def launch_scaled(n=100):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    scaled_kernel[(triton.cdiv(n, 32),)](x, out, n, BLOCK=32)
    return out


def scaled(x):
    return x * 1.6732632423543772


def scaled_by_another(x):
    return x * 1.6732642423543772


@triton.jit
def unpacked_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    word = tl.load(x + at // 4, mask=at < 4 * n, other=0)
    shift = ((at % 4) // 2 + (at % 2) * 2) * 4                         # 0 8 4 12
    tl.store(out + at, ((word >> shift) & 15).to(tl.float32), mask=at < 4 * n)


def launch_unpacked(n=20):
    x = torch.randint(0, 2**15, (n,), dtype=torch.int32, device="cuda")
    out = torch.empty(n, 4, device="cuda")
    unpacked_kernel[(triton.cdiv(4 * n, 32),)](x, out, n, BLOCK=32)
    return out


def unpacked(x):
    return ((x[:, None] >> torch.tensor([0, 8, 4, 12], device=x.device)) & 15).float()


def unpacked_in_order(x):
    return ((x[:, None] >> torch.tensor([0, 4, 8, 12], device=x.device)) & 15).float()


@triton.jit
def smoothed_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    before, after = tl.maximum(i - 1, 0), tl.minimum(i + 1, n - 1)
    left, right = tl.load(x + before, mask=i < n), tl.load(x + after, mask=i < n)
    tl.store(out + i, tl.sqrt((left - right) * (left - right) + left * left), mask=i < n)


def launch_smoothed(n=100):
    x = torch.randn(n, device="cuda")
    out = torch.empty_like(x)
    smoothed_kernel[(triton.cdiv(n, 32),)](x, out, n, BLOCK=32)
    return out


def smoothed(x):
    wide = torch.nn.functional.pad(x[None], (1, 1), mode="replicate")[0]
    return (wide[:-2] - wide[2:]).square().add(wide[:-2] ** 2).sqrt()


def smoothed_by_mirror(x):
    wide = torch.nn.functional.pad(x[None], (1, 1), mode="reflect")[0]
    return (wide[:-2] - wide[2:]).square().add(wide[:-2] ** 2).sqrt()


@triton.jit
def largest_kernel(x, out, rows, columns, FIRST: tl.constexpr, BLOCK: tl.constexpr):
    pid, across = tl.program_id(0), tl.cdiv(columns, BLOCK)
    i = pid // across * BLOCK + tl.arange(0, BLOCK)
    j = pid % across * BLOCK + tl.arange(0, BLOCK)
    inside = (i < rows)[:, None] & (j < columns)[None, :]
    value = tl.load(x + i[:, None] * columns + j[None, :], mask=inside, other=FIRST)
    tl.atomic_max(out, tl.max(tl.max(tl.abs(value), axis=1), axis=0))


def largest_of(x, first):
    rows, columns = x.shape
    out = torch.zeros(1, device="cuda")
    grid = (triton.cdiv(rows, 16) * triton.cdiv(columns, 16),)
    largest_kernel[grid](x, out, rows, columns, FIRST=first, BLOCK=16)
    return out


def launch_largest(rows=20, columns=40):
    return largest_of(torch.randn(rows, columns, device="cuda"), 0)


def launch_largest_or_one(rows=20, columns=40):
    return largest_of(torch.randn(rows, columns, device="cuda"), 1)


def largest(x):
    return x.abs().max().reshape(1)
