"""Kernels that read what they have stored, or store where they have read; right ones, and what is nearly one."""

import torch
import triton
import triton.language as tl


@triton.jit
def added_and_scaled(x_ptr, h_ptr, w_ptr, n, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * n
    h_ptr += tl.program_id(0) * n
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        h = tl.load(h_ptr + cols, mask=cols < n, other=0.0) + tl.load(x_ptr + cols, mask=cols < n, other=0.0)
        tl.store(h_ptr + cols, h, mask=cols < n)
        total += h * h
    scale = tl.rsqrt(tl.sum(total, axis=0) / n + 1e-6)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        h = tl.load(h_ptr + cols, mask=cols < n, other=0.0)
        w = tl.load(w_ptr + cols, mask=cols < n, other=0.0)
        tl.store(x_ptr + cols, h * scale * w, mask=cols < n)


def launch_added_and_scaled(rows=5, n=300):
    """The first loop stores what the second one reads, lane by lane, as a residual that is added in place."""
    x, h, w = torch.randn(rows, n, device="cuda"), torch.randn(rows, n, device="cuda"), torch.randn(n, device="cuda")
    added_and_scaled[(rows,)](x, h, w, n, BLOCK=128)
    return x, h


def reference_added_and_scaled(x, h, w):
    h = h + x
    return h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6) * w, h


def reference_scaled_before(x, h, w):
    return h * torch.rsqrt((h + x).pow(2).mean(-1, keepdim=True) + 1e-6) * w, h + x


@triton.jit
def twice(x_ptr, out_ptr, n, SHIFT: tl.constexpr, STORED: tl.constexpr, READ: tl.constexpr, LEFT: tl.constexpr,
          WAITS: tl.constexpr):
    """out = what x holds after x + 1 is stored there, and the next lane's, or not all of it is stored."""
    x_ptr += tl.program_id(0) * n
    out_ptr += tl.program_id(0) * n
    for start in range(0, n, STORED):
        cols = start + tl.arange(0, STORED)
        x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
        tl.store(x_ptr + cols, x + 1, mask=cols < n - LEFT)
    if WAITS:
        tl.debug_barrier()
    for start in range(0, n, READ):
        cols = start + tl.arange(0, READ)
        y = tl.load(x_ptr + cols + SHIFT, mask=cols < n - SHIFT, other=0.0)
        tl.store(out_ptr + cols, y, mask=cols < n)


def stored_and_read(x, shift=0, read=128, left=0, waits=True, blocks=1):
    rows, n = x.shape
    out = torch.empty(rows, n, device="cuda")
    twice[(rows,)](x, out, n, SHIFT=shift, STORED=128, READ=read, LEFT=left, WAITS=waits, num_ctas=blocks)
    return x, out


def launch_twice(rows=5, n=300):
    x = torch.randn(rows, n, device="cuda")
    return stored_and_read(x)


def launch_twice_without_waiting(rows=5, n=300):
    """How many elements a thread has is chosen for a load by all loads beside it, and for a store by itself."""
    return stored_and_read(torch.randn(rows, n, device="cuda"), waits=False)


def launch_twice_by_two_blocks(rows=5, n=300):
    """Threads of one block wait for each other there, and for no other block."""
    return stored_and_read(torch.randn(rows, n, device="cuda"), blocks=2)


@triton.jit
def wiped(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + cols, 2 * tl.load(x_ptr + cols, mask=cols < n), mask=cols < n)
    tl.store(x_ptr + cols, tl.zeros([BLOCK], dtype=tl.float32), mask=cols < n)


@triton.jit
def filled(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    cols = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    last = tl.load(x_ptr + n)
    tl.store(out_ptr + cols, 2 * tl.load(x_ptr + cols, mask=cols < n), mask=cols < n)
    tl.store(x_ptr + cols, tl.zeros([BLOCK], dtype=tl.float32) + last, mask=cols < n)


def launch_filled(n=300):
    """What is stored in x is made of another element of x."""
    x, out = torch.randn(n + 1, device="cuda"), torch.empty(n, device="cuda")
    filled[(triton.cdiv(n, 128),)](x, out, n, BLOCK=128)
    return out


def launch_wiped(n=300):
    """Nothing that is stored in x is made of what was read there."""
    x, out = torch.randn(n, device="cuda"), torch.empty(n, device="cuda")
    wiped[(triton.cdiv(n, 128),)](x, out, n, BLOCK=128)
    return out


def launch_twice_shifted(rows=5, n=300):
    x = torch.randn(rows, n, device="cuda")
    return stored_and_read(x, shift=1)


def launch_twice_in_other_tiles(rows=5, n=300):
    x = torch.randn(rows, n, device="cuda")
    return stored_and_read(x, read=64)


def launch_twice_but_the_last(rows=5, n=300):
    """The last element is not stored."""
    x = torch.randn(rows, n, device="cuda")
    return stored_and_read(x, left=1)


def launch_twice_of_more(rows=5, n=300):
    """The last lane stores where the next program reads."""
    x = torch.randn(rows, n, device="cuda")
    return stored_and_read(x, left=-1)


def reference_twice(x):
    return x + 1, x + 1


@triton.jit
def one_place(x_ptr, tmp_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * n
    lanes = tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        x = tl.load(x_ptr + start + lanes, mask=start + lanes < n, other=0.0)
        tl.store(tmp_ptr + tl.program_id(0) * BLOCK + lanes, x)
    for start in range(0, n, BLOCK):
        y = tl.load(tmp_ptr + tl.program_id(0) * BLOCK + lanes)
        tl.store(out_ptr + tl.program_id(0) * n + start + lanes, y, mask=start + lanes < n)


def launch_one_place(rows=5, n=300):
    """Each turn stores to one place; what is read is what the last one stored, not each turn's."""
    x, out = torch.randn(rows, n, device="cuda"), torch.empty(rows, n, device="cuda")
    one_place[(rows,)](x, torch.zeros(rows, 128, device="cuda"), out, n, BLOCK=128)
    return out


def reference_one_place(x):
    return x


@triton.jit
def stored_over(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * n
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
        tl.store(x_ptr + cols, x + 1, mask=cols < n)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        tl.store(x_ptr + cols, 7.0, mask=(cols < n) & (cols > 3))
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + cols, mask=cols < n, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(total, 0))


def launch_stored_over(rows=5, n=300):
    """What was stored is stored over in places before it is read."""
    x, out = torch.randn(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    stored_over[(rows,)](x, out, n, BLOCK=128)
    return out


def reference_stored_over(x):
    return (x + 1).sum(-1)


@triton.jit
def stored_ahead(x_ptr, out_ptr, n, AHEAD: tl.constexpr, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * n
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
        tl.store(x_ptr + cols, x + 1, mask=cols < n)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        y = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
        tl.store(out_ptr + tl.program_id(0) * n + cols, y, mask=cols < n)
        tl.store(x_ptr + cols + AHEAD, 0.0, mask=cols < n - AHEAD)


def launch_stored_ahead(rows=5, n=300):
    """Each turn of the second loop stores where the next one reads."""
    x, out = torch.randn(rows, n, device="cuda"), torch.empty(rows, n, device="cuda")
    stored_ahead[(rows,)](x, out, n, AHEAD=128, BLOCK=128)
    return out


def reference_stored_ahead(x):
    return x + 1


@triton.jit
def many_times(x_ptr, out_ptr, n, times, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * n
    for _ in range(times):
        for start in range(0, n, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
            tl.store(x_ptr + cols, x + 1, mask=cols < n)
        for start in range(0, n, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            y = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
            tl.store(out_ptr + tl.program_id(0) * n + cols, y, mask=cols < n)


def launch_many_times(rows=5, n=300, times=3):
    """What is stored grows with each round."""
    x, out = torch.randn(rows, n, device="cuda"), torch.empty(rows, n, device="cuda")
    many_times[(rows,)](x, out, n, times, BLOCK=128)
    return out


def reference_many_times(x):
    return x + 1


@triton.jit
def through_a_view(x_ptr, same_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x_ptr += tl.program_id(0) * n
    same_ptr += tl.program_id(0) * n
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        tl.store(x_ptr + cols, 1.0, mask=cols < n)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        tl.store(same_ptr + cols, 2.0, mask=cols < n)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        y = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
        tl.store(out_ptr + tl.program_id(0) * n + cols, y, mask=cols < n)


def launch_through_a_view(rows=5, n=300):
    """The tensor is stored over by another name."""
    x, out = torch.randn(rows, n, device="cuda"), torch.empty(rows, n, device="cuda")
    through_a_view[(rows,)](x, x.view(-1), out, n, BLOCK=128)
    return out


def reference_through_a_view(x):
    return torch.ones_like(x)


@triton.jit
def by_two_pointers(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    p = x_ptr + tl.program_id(0) * n + lanes
    q = x_ptr + tl.program_id(0) * n + lanes
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        x = tl.load(p, mask=start + lanes < n, other=0.0)
        tl.store(p, x + 1, mask=start + lanes < n)
        total += tl.load(q, mask=start + lanes < n, other=0.0)
        p += BLOCK
        q += BLOCK
    tl.store(out_ptr + tl.program_id(0), tl.sum(total, 0))


def launch_by_two_pointers(rows=5, n=300):
    """That both point to one place is only seen once it is known where they are."""
    x, out = torch.randn(rows, n, device="cuda"), torch.empty(rows, device="cuda")
    by_two_pointers[(rows,)](x, out, n, BLOCK=128)
    return x, out


def reference_by_two_pointers(x):
    return x + 1, (x + 1).sum(-1)


def reference_before_it_is_stored(x):
    return x + 1, x.sum(-1)


@triton.jit
def normalised(x_ptr, h_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = x_ptr + tl.program_id(0) * n + lanes
    h = h_ptr + tl.program_id(0) * n + lanes
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        here = start + lanes < n
        both = tl.load(h, mask=here, other=0.0) + tl.load(x, mask=here, other=0.0)
        tl.store(h, both, mask=here)
        total += both
        h += BLOCK
        x += BLOCK
    mean = tl.sum(total, 0) / n
    h = h_ptr + tl.program_id(0) * n + lanes
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        off = tl.where(start + lanes < n, tl.load(h, mask=start + lanes < n, other=0.0) - mean, 0.0)
        squares += off * off
        h += BLOCK
    scale = tl.rsqrt(tl.sum(squares, 0) / n + 1e-5)
    h = h_ptr + tl.program_id(0) * n + lanes
    x = x_ptr + tl.program_id(0) * n + lanes
    for start in range(0, n, BLOCK):
        here = start + lanes < n
        tl.store(x, (tl.load(h, mask=here, other=0.0) - mean) * scale, mask=here)
        h += BLOCK
        x += BLOCK


def launch_normalised(rows=5, n=300):
    """Pointers that move on, through what was stored by one that has moved on in the same way."""
    x, h = torch.randn(rows, n, device="cuda"), torch.randn(rows, n, device="cuda")
    normalised[(rows,)](x, h, n, BLOCK=128)
    return x, h


def reference_normalised(x, h):
    return torch.nn.functional.layer_norm(x + h, (x.shape[1],)), x + h


@triton.jit
def with_the_next_row(x_ptr, h_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0) * n
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        h = tl.load(h_ptr + row + cols, mask=cols < n, other=0.0) + tl.load(x_ptr + row + n + cols, mask=cols < n)
        tl.store(h_ptr + row + cols, h, mask=cols < n)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        tl.store(x_ptr + row + cols, 2 * tl.load(h_ptr + row + cols, mask=cols < n), mask=cols < n)


def launch_with_the_next_row(rows=5, n=300):
    """The first loop reads a row that another program's second loop stores."""
    x, h = torch.randn(rows + 1, n, device="cuda"), torch.randn(rows, n, device="cuda")
    with_the_next_row[(rows,)](x, h, n, BLOCK=128)
    return h


# ----------------------------------------------------------------------------------------------- another lane's element


@triton.jit
def in_place_of_logits(x_ptr, y_ptr, loss_ptr, n, upto, HOW: tl.constexpr, AHEAD: tl.constexpr, BLOCK: tl.constexpr):
    """The chosen element is read by every thread, and then one of them stores there."""
    row = tl.program_id(0)
    y = tl.load(y_ptr + row)
    x_ptr += row * n
    total = 0.0
    if HOW == "before":
        for start in range(0, n, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            total += tl.sum(tl.load(x_ptr + cols, mask=cols < n, other=0.0), 0)
    if HOW != "after":
        chosen = tl.load(x_ptr + y + AHEAD)
    if HOW == "barrier":
        tl.debug_barrier()
    if (HOW == "sum") | (HOW == "tiles"):
        for start in range(0, upto, BLOCK):
            cols = start + tl.arange(0, BLOCK)
            total += tl.sum(tl.load(x_ptr + cols, mask=cols < n, other=0.0), 0)
    if HOW == "tiles":
        ones = tl.full((BLOCK, 16), 1.0, dtype=tl.float32)
        total += tl.sum(tl.sum(ones, 1), 0)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n, other=0.0)
        if HOW == "within":
            total += tl.sum(x, 0)
        tl.store(x_ptr + cols, 2 * x, mask=cols < n)
    if HOW == "after":
        chosen = tl.load(x_ptr + y + AHEAD)
    tl.store(loss_ptr + row, chosen + 0 * total)


def chosen_and_doubled(x, y, how, ahead=0, block=64, upto=None):
    rows, n = x.shape
    loss = torch.empty(rows, device="cuda")
    in_place_of_logits[(rows,)](x, y, loss, n, n if upto is None else upto, HOW=how, AHEAD=ahead, BLOCK=block)
    return loss, x


def launch_chosen(rows=5, n=150):
    x, y = torch.randn(rows, n, device="cuda"), torch.randint(0, n, (rows,), device="cuda")
    return chosen_and_doubled(x, y, "sum")


def launch_chosen_behind_a_barrier(rows=5, n=150):
    x, y = torch.randn(rows, n, device="cuda"), torch.randint(0, n, (rows,), device="cuda")
    return chosen_and_doubled(x, y, "barrier")


def launch_chosen_at_once(rows=5, n=150):
    """Nobody waits."""
    x, y = torch.randn(rows, n, device="cuda"), torch.randint(0, n, (rows,), device="cuda")
    return chosen_and_doubled(x, y, "none")


def launch_chosen_behind_the_sum(rows=5, n=150):
    x, y = torch.randn(rows, n, device="cuda"), torch.randint(0, n, (rows,), device="cuda")
    return chosen_and_doubled(x, y, "before")


def launch_chosen_within(rows=5, n=150):
    """The sums are taken where the elements are stored, and may be brought together later."""
    x, y = torch.randn(rows, n, device="cuda"), torch.randint(0, n, (rows,), device="cuda")
    return chosen_and_doubled(x, y, "within")


def launch_chosen_by_a_warp(rows=5, n=150):
    """A warp has all lanes of a tile, and so has each other one."""
    x, y = torch.randn(rows, n, device="cuda"), torch.randint(0, n, (rows,), device="cuda")
    return chosen_and_doubled(x, y, "sum", block=32)


def launch_chosen_beside_tiles(rows=5, n=150):
    """Tiles of two dimensions may say how rows lie."""
    x, y = torch.randn(rows, n, device="cuda"), torch.randint(0, n, (rows,), device="cuda")
    return chosen_and_doubled(x, y, "tiles")


def launch_chosen_if_there_are_many(rows=5, n=150):
    """The loop with the sum does not run where n is small."""
    x, y = torch.randn(rows, n, device="cuda"), torch.randint(0, n, (rows,), device="cuda")
    return chosen_and_doubled(x, y, "sum", upto=n // 100)


def launch_chosen_of_the_next(rows=5, n=150):
    """What another program stores."""
    x, y = torch.randn(rows, n, device="cuda"), torch.randint(0, n, (rows,), device="cuda")
    return chosen_and_doubled(x, y, "sum", ahead=1)


def launch_chosen_too_late(rows=5, n=150):
    x, y = torch.randn(rows, n, device="cuda"), torch.randint(0, n, (rows,), device="cuda")
    return chosen_and_doubled(x, y, "after")


def reference_chosen(x, y):
    return x.gather(1, y[:, None])[:, 0], 2 * x
