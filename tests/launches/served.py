"""Launches as serving engines write them, small, and what is nearly one of them."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def put_kernel(cache, new, places, D, SKIP: tl.constexpr, WHERE: tl.constexpr, BLOCK: tl.constexpr):
    t, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    place = tl.load(places + t)
    if SKIP:  # noqa: SIM102    known while it is compiled
        if place < 0:
            return
    if WHERE == 1:
        place = place // 2
    row = tl.load(new + t * D + lanes, mask=lanes < D)
    tl.store(cache + place * D + lanes, row, mask=lanes < D)


def put(cache, new, places, skip=False, where=0):
    put_kernel[(places.shape[0],)](cache, new, places, new.shape[1], skip, where, BLOCK=16)
    return cache


def launch_put_at_places(T=5, N=9, D=11):
    cache, new = torch.zeros(N, D, device="cuda"), torch.randn(T, D, device="cuda")
    places = torch.randperm(N, device="cuda")[:T]
    return put(cache, new, places)


def launch_put_at_halves(T=5, N=9, D=11):
    """Two places lie in one row."""
    cache, new = torch.randn(N, D, device="cuda"), torch.randn(T, D, device="cuda")
    places = torch.arange(T, device="cuda")
    return put(cache, new, places, where=1)


def launch_put_twice(T=5, N=9, D=11):
    cache, new = torch.randn(N, D, device="cuda"), torch.randn(T, D, device="cuda")
    places = torch.randperm(N, device="cuda")[:T]
    places[1:3] = 4
    return put(cache, new, places)


def launch_put_padded(T=5, N=9, D=11):
    cache, new = torch.randn(N, D, device="cuda"), torch.randn(T, D, device="cuda")
    places = torch.randperm(N, device="cuda")[:T]
    places[:2] = -1
    return put(cache, new, places, skip=True)


def place(cache, new, places):
    found = cache.clone()
    found[places] = new
    return found


def place_doubled(cache, new, places):
    found = cache.clone()
    found[places] = 2 * new
    return found


@triton.jit
def gate_kernel(a, b, out, stride, D: tl.constexpr, BLOCK: tl.constexpr):
    row, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(a + row * stride + lanes, mask=lanes < D)
    y = tl.load(b + row * stride + lanes, mask=lanes < D)
    tl.store(out + row * D + lanes, x * tl.sigmoid(y), mask=lanes < D)


def gate(a, b):
    out = torch.empty(a.shape, device="cuda")
    gate_kernel[(a.shape[0],)](a, b, out, a.stride(0), a.shape[1], BLOCK=16)
    return out


def launch_halves():
    rows, width = 7, 12
    both = torch.randn(rows, 2 * width, device="cuda")
    a, b = both.split([width, width], dim=-1)
    spare = torch.full((rows,), float("nan"), device="cuda")  # noqa: F841    no number, and no matter
    return gate(a, b)


def launch_overlapping_halves():
    rows, width = 7, 12
    both = torch.randn(rows, 2 * width, device="cuda")
    a, b, c = both[:, :width], both[:, 3 : width + 3], both[:, width:]  # noqa: F841    a reference takes it
    return gate(a, b)


def gated(a, b):
    return a * torch.sigmoid(b)


def gated_by_first(a, b):
    return b * torch.sigmoid(a)


def gated_by_last(a, c):
    return a * torch.sigmoid(c)


@triton.jit
def choose_kernel(x, chosen, out, D, LEFT_OUT: tl.constexpr, BLOCK: tl.constexpr):
    row, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    k = tl.load(chosen + row)
    if k == LEFT_OUT:
        return
    tl.store(out + row * D + lanes, tl.load(x + k * D + lanes, mask=lanes < D), mask=lanes < D)


def launch_choose(T=5, N=9, D=11):
    """Rows of x; none where −1 is chosen."""
    x, out = torch.randn(N, D, device="cuda"), torch.zeros(T, D, device="cuda")
    chosen = torch.randint(-1, N, (T,), device="cuda")
    chosen[1] = -1
    choose_kernel[(T,)](x, chosen, out, D, LEFT_OUT=-1, BLOCK=16)
    return out


def rows_chosen(x, chosen):
    return torch.where((chosen == -1)[:, None], 0.0, x[chosen.clamp(min=0)])


def rows_chosen_from_one(x, chosen):
    return torch.where((chosen == -1)[:, None], 0.0, x[chosen.clamp(min=1)])


@triton.jit
def increment_kernel(ids):
    tl.store(ids + tl.program_id(0), tl.load(ids + tl.program_id(0)) + 1)


@triton.jit
def take_kernel(x, ids, out, D, BLOCK: tl.constexpr):
    row, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    k = tl.load(ids + row)
    tl.store(out + row * D + lanes, tl.load(x + k * D + lanes, mask=lanes < D), mask=lanes < D)


def launch_take_next(T=5, N=9, D=11):
    """What the second kernel needs of the numbers is no need of the numbers that were given: −1 is a good one."""
    x, ids = torch.randn(N, D, device="cuda"), torch.arange(T, device="cuda")
    out = torch.empty(T, D, device="cuda")
    increment_kernel[(T,)](ids)
    take_kernel[(T,)](x, ids, out, D, BLOCK=16)
    return out


def taken_next(x, ids):
    return x.index_select(0, ids + 1)


def taken_next_but_first(x, ids):
    return x.index_select(0, ids.clamp(min=0) + 1)


@triton.jit
def heat_kernel(x, heat, D, ONE, BLOCK: tl.constexpr):
    row, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    t = tl.load(heat + row)
    if t == 0.0 or t == ONE:
        return
    tl.store(x + row * D + lanes, tl.load(x + row * D + lanes, mask=lanes < D) / t, mask=lanes < D)


def launch_heated(T=5, D=11):
    x, heat = torch.randn(T, D, device="cuda"), torch.rand(T, device="cuda")
    heat_kernel[(T,)](x, heat, D, 1.0, BLOCK=16)
    return x


def launch_heated_but_at_two(T=5, D=11):
    x, heat = torch.randn(T, D, device="cuda"), torch.rand(T, device="cuda")
    heat_kernel[(T,)](x, heat, D, 2.0, BLOCK=16)
    return x


def divided(x, heat):
    return x / torch.where(heat == 0, 1.0, heat)[:, None]


@triton.jit
def merge_kernel(a, b, out, GUARD: tl.constexpr):
    i = tl.program_id(0)
    x, y = tl.load(a + i), tl.load(b + i)
    x = float("-inf") if x == float("inf") else x
    if GUARD == 2:
        y = float("-inf") if y == y else y
        x = float("-inf") if x == x else x
    most = tl.maximum(x, y)
    tl.store(out + i, tl.log(tl.exp(x - most) + tl.exp(y - most)) + most)


def launch_merged(T=5):
    a, b, out = torch.randn(T, device="cuda"), torch.randn(T, device="cuda"), torch.empty(T, device="cuda")
    merge_kernel[(T,)](a, b, out, GUARD=1)
    return out


def launch_merged_infinities(T=5):
    """−∞ − (−∞) is no number."""
    a, b, out = torch.randn(T, device="cuda"), torch.randn(T, device="cuda"), torch.empty(T, device="cuda")
    merge_kernel[(T,)](a, b, out, GUARD=2)
    return out


def of_both(a, b):
    return torch.logaddexp(a, b)


@triton.jit
def norm_kernel(x, y, D, GROUPS, BLOCK: tl.constexpr):
    row, group, lanes = tl.program_id(0), tl.program_id(1), tl.arange(0, BLOCK)
    place = row * D * GROUPS + group * D + lanes
    v = tl.load(x + place, mask=lanes < D, other=0.0)
    tl.store(y + place, v / tl.sqrt(tl.sum(v * v, axis=0) / D + 1e-5), mask=lanes < D)


def launch_grouped(T=5, G=3, D=12):
    x, y = torch.randn(T, G * D, device="cuda"), torch.empty(T, G * D, device="cuda")
    norm_kernel[(T, G)](x, y, D, G, BLOCK=16)
    return y


@triton.jit
def turn_kernel(x, cos, out, D, BLOCK: tl.constexpr):
    row, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    place = row * D + lanes
    c = tl.load(cos + place, mask=lanes < D)
    tl.store(out + place, tl.load(x + place, mask=lanes < D) * c, mask=lanes < D)


def launch_turned(T=5, D=11):
    """A reference need not take the angles."""
    angles, x = torch.rand(T, D, device="cuda"), torch.randn(T, D, device="cuda")
    cos, out = angles.cos(), torch.empty(T, D, device="cuda")
    turn_kernel[(T,)](x, cos, out, D, BLOCK=16)
    return out


def turned(x, cos):
    return x * cos
