"""Rows that data says the places of: slots of a cache in blocks, rows packed end to end, gradients of embeddings."""

import torch
import triton
import triton.language as tl


@triton.jit
def slot_kernel(new_ptr, cache_ptr, slot_ptr, token_step, block_step, place_step, size, BLOCK_SIZE, TILE: tl.constexpr):
    t = tl.program_id(0)
    slot = tl.load(slot_ptr + t)
    if slot < 0:
        return
    at = tl.program_id(1) * TILE + tl.arange(0, TILE)
    new = tl.load(new_ptr + t * token_step + at, mask=at < size)
    place = slot // BLOCK_SIZE * block_step + slot % BLOCK_SIZE * place_step
    tl.store(cache_ptr + place + at, new, mask=at < size)


def put(new, cache, slots):
    size = new.shape[1] * new.shape[2]
    slot_kernel[(new.shape[0], triton.cdiv(size, 32))](
        new, cache, slots, new.stride(0), cache.stride(0), cache.stride(1), size, cache.shape[1], TILE=32
    )
    return cache


def launch_slots(tokens=7, heads=3, width=20, blocks=5, block=4):
    new, cache = torch.randn(tokens, heads, width), torch.randn(blocks, block, heads, width)
    slots = torch.randperm(blocks * block)[:tokens]
    return put(new, cache, slots)


def launch_slots_twice(tokens=7, heads=3, width=20, blocks=5, block=4):
    """Two tokens go to one slot."""
    new, cache = torch.randn(tokens, heads, width), torch.randn(blocks, block, heads, width)
    slots = torch.arange(tokens) // 2
    return put(new, cache, slots)


def cached(new, cache, slots):
    return cache.flatten(0, 1).index_copy(0, slots, new).view_as(cache)


def cached_at_places(new, cache, slots):
    block, whole = cache.shape[1], cache.clone()
    whole[slots // block, slots % block] = new
    return whole


def cached_in_turned_blocks(new, cache, slots):
    blocks, whole = cache.shape[0], cache.clone()
    whole[slots % blocks, slots // blocks] = new
    return whole


def cached_by_blocks_alone(new, cache, slots):
    block, whole = cache.shape[1], cache.clone()
    whole[slots // block, slots // block % block] = new
    return whole


@triton.jit
def padded_kernel(x_ptr, start_ptr, length_ptr, out_ptr, longest, width, BEYOND: tl.constexpr, TILE: tl.constexpr):
    row, t, at = tl.program_id(0), tl.program_id(1), tl.arange(0, TILE)
    start, length = tl.load(start_ptr + row), tl.load(length_ptr + row)
    live = (t < length + BEYOND) & (at < width)
    x = tl.load(x_ptr + (start + t) * width + at, mask=live, other=0.0)
    tl.store(out_ptr + (row * longest + t) * width + at, x, mask=at < width)


def padded_rows(x, starts, lengths, longest, beyond=0):
    rows, width = lengths.shape[0], x.shape[1]
    out = torch.empty(rows, longest, width)
    padded_kernel[(rows, longest)](x, starts, lengths, out, longest, width, BEYOND=beyond, TILE=32)
    return out


def launch_padded(width=20):
    lengths = torch.tensor([3, 5, 2, 4, 6, 2, 3, 7, 2])
    starts = torch.cumsum(lengths, 0) - lengths
    longest, total = int(lengths.max()), int(lengths.sum())
    x = torch.randn(total, width)
    return padded_rows(x, starts, lengths, longest)


def launch_padded_too_far(width=20):
    """The last row has an element more than it is long."""
    lengths = torch.tensor([3, 5, 2, 4, 6, 2, 3, 7, 2])
    starts = torch.cumsum(lengths, 0) - lengths
    longest, total = int(lengths.max()), int(lengths.sum())
    x = torch.randn(total, width)
    return padded_rows(x, starts, lengths, longest, beyond=1)


def padded(x, starts, lengths, longest):
    t = torch.arange(longest)
    rows = (starts[:, None] + t).clamp(max=x.shape[0] - 1)
    return torch.where((t < lengths[:, None])[..., None], x[rows], 0.0)


def padded_backwards(x, starts, lengths, longest):
    t = torch.arange(longest)
    rows = (starts[:, None] + lengths[:, None] - 1 - t).clamp(0, x.shape[0] - 1)
    return torch.where((t < lengths[:, None])[..., None], x[rows], 0.0)


@triton.jit
def gradient_kernel(dy_ptr, id_ptr, out_ptr, tokens, width, padding, TILE: tl.constexpr):
    t = tl.program_id(0)
    row = tl.load(id_ptr + t, mask=t < tokens, other=0)
    if row != padding:
        for start in range(0, width, TILE):
            at = start + tl.arange(0, TILE)
            dy = tl.load(dy_ptr + t * width + at, mask=at < width, other=0.0)
            tl.atomic_add(out_ptr + row * width + at, dy, mask=at < width)


def launch_gradient(tokens=25, words=9, width=40):
    weight, ids, dy = torch.randn(words, width), torch.randint(0, words, (tokens,)), torch.randn(tokens, width)
    out = torch.zeros_like(weight)
    gradient_kernel[(tokens,)](dy, ids, out, tokens, width, 0, TILE=32)
    return out


def gradient(weight, ids, dy):
    table = weight.clone().requires_grad_()
    torch.nn.functional.embedding(ids, table, padding_idx=0).backward(dy)
    return table.grad


def gradient_of_padding_too(weight, ids, dy):
    return torch.zeros_like(weight).index_add(0, ids, dy)


@triton.jit
def split_kernel(x_ptr, w_ptr, out_ptr, depth, PARTS: tl.constexpr, STEP: tl.constexpr, TILE: tl.constexpr):
    part, row = tl.program_id(0), tl.program_id(1)
    lane = part * TILE + tl.arange(0, TILE)
    total = 0.0
    for start in range(0, depth, STEP):
        at = start + lane
        x = tl.load(x_ptr + row * depth + at, mask=at < depth, other=0.0)
        total += tl.sum(x * tl.load(w_ptr + at, mask=at < depth, other=0.0))
    tl.atomic_add(out_ptr + row, total)


def launch_split(rows=5, depth=100):
    x, w, out = torch.randn(rows, depth), torch.randn(depth), torch.zeros(rows)
    split_kernel[(2, rows)](x, w, out, depth, PARTS=2, STEP=32, TILE=16)
    return out


def launch_split_with_gaps(rows=5, depth=100):
    """The parts take 32 of each 48 elements."""
    x, w, out = torch.randn(rows, depth), torch.randn(depth), torch.zeros(rows)
    split_kernel[(2, rows)](x, w, out, depth, PARTS=2, STEP=48, TILE=16)
    return out


def split(x, w):
    return x @ w


@triton.jit
def times_kernel(x_ptr, out_ptr, x_step, out_step, width, BY: tl.constexpr, TILE: tl.constexpr):
    row, at = tl.program_id(0), tl.program_id(1) * TILE + tl.arange(0, TILE)
    x = tl.load(x_ptr + row * x_step + at, mask=at < width)
    tl.store(out_ptr + row * out_step + at, BY * x, mask=at < width)


def times(x, out, by):
    rows, width = x.shape
    times_kernel[(rows, triton.cdiv(width, 32))](x, out, x.stride(0), out.stride(0), width, BY=by, TILE=32)


def launch_joined(m=5, n=7, width=40):
    x, y = torch.randn(m, width), torch.randn(n, width)
    out = torch.empty(m + n, width)
    times(x, out[:m], 2.0)
    times(y, out[m:], 3.0)
    return out


def launch_joined_but_for_a_row(m=5, n=7, width=40):
    """A row between the parts is not written."""
    x, y = torch.randn(m, width), torch.randn(n, width)
    out = torch.empty(m + n + 1, width)
    times(x, out[:m], 2.0)
    times(y, out[m + 1 :], 3.0)
    return out


def launch_written_over(m=5, n=7, width=40):
    """The later part lies over the end of the earlier one."""
    x, y = torch.randn(m + n, width), torch.randn(n, width)
    out = torch.empty(m + n, width)
    times(x, out, 2.0)
    times(y, out[m:], 3.0)
    return out


@triton.jit
def doubled_kernel(x_ptr, x_step, width, TILE: tl.constexpr):
    at = tl.program_id(1) * TILE + tl.arange(0, TILE)
    here = x_ptr + tl.program_id(0) * x_step + at
    tl.store(here, 2 * tl.load(here, mask=at < width), mask=at < width)


def launch_in_place(rows=5, width=40):
    both = torch.randn(rows, 3, width)
    middle = both[:, 1]
    doubled_kernel[(rows, triton.cdiv(width, 32))](middle, middle.stride(0), width, TILE=32)
    return both


def joined(x, y):
    return torch.cat([2 * x, 3 * y])


def joined_around_nothing(x, y):
    return torch.cat([2 * x, torch.zeros_like(x[:1]), 3 * y])


def written_over(x, y):
    return torch.cat([2 * x[: x.shape[0] - y.shape[0]], 3 * y])


def in_place(both):
    return torch.stack([both[:, 0], 2 * both[:, 1], both[:, 2]], 1)


def in_place_at_the_end(both):
    return torch.stack([both[:, 0], both[:, 1], 2 * both[:, 2]], 1)


@triton.jit
def spread_kernel(x_ptr, out_ptr, rows, width, ROWS: tl.constexpr, TILE: tl.constexpr):
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, TILE)[None, :]
    live = (i < rows) & (j < width)
    x = tl.load(x_ptr + tl.program_id(0) * rows * width + i * width + j, mask=live, other=0.0)
    mean = tl.sum(x) / (rows * width)
    apart = tl.where(live, x - mean, 0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(apart * apart) / (rows * width))


def launch_spread(blocks=4, rows=5, width=12):
    x, out = torch.randn(blocks, rows, width), torch.empty(blocks)
    tiles = triton.next_power_of_2(rows), triton.next_power_of_2(width)
    spread_kernel[(blocks,)](x, out, rows, width, ROWS=tiles[0], TILE=tiles[1])
    return out


def spread(x):
    return x.var((1, 2), unbiased=False)


def unbiased_spread(x):
    return x.var((1, 2))
