"""Launches that hold places to edges, leave the largest of tiles, ban tokens, turn packed halves, and their twins."""

from __future__ import annotations

import torch
import triton
import triton.language as tl


@triton.jit
def slope_kernel(x, out, H, W, LOW: tl.constexpr, BLOCK: tl.constexpr):
    p = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i, j = p // W, p % W
    left = tl.load(x + i * W + tl.maximum(j - 1, LOW), mask=p < H * W)
    right = tl.load(x + i * W + tl.minimum(j + 1, W - 1), mask=p < H * W)
    up = tl.load(x + tl.maximum(i - 1, 0) * W + j, mask=p < H * W)
    down = tl.load(x + tl.minimum(i + 1, H - 1) * W + j, mask=p < H * W)
    across, along = right - left, down - up
    tl.store(out + p, tl.sqrt(across * across + along * along), mask=p < H * W)


def sloped(x, low):
    H, W = x.shape
    out = torch.empty_like(x)
    slope_kernel[(triton.cdiv(H * W, 16),)](x, out, H, W, LOW=low, BLOCK=16)
    return out


def launch_slope(H=5, W=9):
    x = torch.rand(H, W, device="cuda")
    return sloped(x, 0)


def launch_slope_from_one(H=5, W=9):
    """The left edge is the second column."""
    x = torch.rand(H, W, device="cuda")
    return sloped(x, 1)


def slope(x):
    p = torch.nn.functional.pad(x[None], (1, 1, 1, 1), mode="replicate")[0]
    across, along = p[1:-1, 2:] - p[1:-1, :-2], p[2:, 1:-1] - p[:-2, 1:-1]
    return torch.sqrt(across**2 + along**2)


@triton.jit
def largest_kernel(x, out, M, N, BLOCK: tl.constexpr):
    across = tl.cdiv(N, BLOCK)
    rows = tl.program_id(0) // across * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(0) % across * BLOCK + tl.arange(0, BLOCK)
    mask = (rows < M)[:, None] & (columns < N)[None, :]
    tile = tl.load(x + rows[:, None] * N + columns[None, :], mask=mask, other=0.0)
    tl.atomic_max(out, tl.max(tl.max(tl.abs(tile), axis=1), axis=0))


def launch_largest(M=21, N=37):
    x = torch.randn(M, N, device="cuda")
    out = torch.zeros(1, device="cuda")
    largest_kernel[(triton.cdiv(M, 16) * triton.cdiv(N, 16),)](x, out, M, N, BLOCK=16)
    return out


def largest(x):
    return x.abs().max().reshape(1)


def largest_of_all_but_one_row(x):
    return x[1:].abs().max().reshape(1)


@triton.jit
def flagged_kernel(x, flags, out, N, BLOCK: tl.constexpr):
    r, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    flag = tl.load(flags + r * N + lanes, mask=lanes < N, other=0)
    row = tl.load(x + r * N + lanes, mask=lanes < N, other=0.0)
    tl.store(out + r, tl.max(tl.where(flag > 0, tl.abs(row), 0.0), axis=0))


def launch_flagged(R=5, N=13):
    x = torch.randn(R, N, device="cuda")
    flags = torch.randint(0, 2, (R, N), device="cuda", dtype=torch.int32)
    out = torch.empty(R, device="cuda")
    flagged_kernel[(R,)](x, flags, out, N, BLOCK=16)
    return out


def flagged(x, flags):
    return torch.where(flags > 0, x.abs(), 0.0).amax(-1)


def flagged_or_nothing(x, flags):
    """−∞ where no flag is set."""
    return torch.where(flags > 0, x.abs(), float("-inf")).amax(-1)


@triton.jit
def ban_kernel(scores, banned, counts, V, K, BLOCK: tl.constexpr, BY_LANE: tl.constexpr):
    r, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    live = (lanes < K) & (lanes < tl.load(counts + r))
    ids = tl.load(banned + r * K + lanes, mask=live, other=0)
    value = -1.0 - lanes if BY_LANE else tl.full((BLOCK,), -1.0, tl.float32)
    tl.store(scores + r * V + ids, value, mask=live)


def ban(scores, banned, counts, by_lane):
    (R, V), K = scores.shape, banned.shape[1]
    ban_kernel[(R,)](scores, banned, counts, V, K, BLOCK=triton.next_power_of_2(K), BY_LANE=by_lane)
    return scores


def launch_banned(R=4, V=19, K=5):
    scores = torch.randn(R, V, device="cuda")
    banned = torch.randint(0, V, (R, K), device="cuda", dtype=torch.int32)
    counts = torch.randint(0, K + 1, (R,), device="cuda", dtype=torch.int32)
    return ban(scores, banned, counts, False)


def launch_banned_by_lane(R=4, V=19, K=5):
    """Which of two equal ids is stored last decides."""
    scores = torch.randn(R, V, device="cuda")
    banned = torch.randint(0, V, (R, K), device="cuda", dtype=torch.int32)
    counts = torch.randint(0, K + 1, (R,), device="cuda", dtype=torch.int32)
    return ban(scores, banned, counts, True)


def bans(scores, banned, counts):
    k = torch.arange(banned.shape[1], device=scores.device)
    listed = banned[:, :, None] == torch.arange(scores.shape[1], device=scores.device)
    listed &= (k < counts[:, None])[:, :, None]
    return scores.masked_fill(listed.any(dim=1), -1.0)


def bans_all(scores, banned, counts):
    """Also those behind the end of the list."""
    listed = banned[:, :, None] == torch.arange(scores.shape[1], device=scores.device)
    return scores.masked_fill(listed.any(dim=1), -1.0)


@triton.jit
def turn_kernel(x, angles, rows, heads, HALF: tl.constexpr):
    t, h, lanes = tl.program_id(0), tl.program_id(1), tl.arange(0, HALF)
    at = x + t * rows + h * 2 * HALF + lanes
    a, b = tl.load(at), tl.load(at + HALF)
    cos, sin = tl.load(angles + t * 2 * HALF + lanes), tl.load(angles + t * 2 * HALF + HALF + lanes)
    tl.store(at, a * cos - b * sin)
    tl.store(at + HALF, b * cos + a * sin)


def launch_turned(tokens=3, heads=2, others=4):
    x = torch.randn(tokens, (heads + others) * 8, device="cuda")
    angles = torch.randn(tokens, 8, device="cuda")
    turn_kernel[(tokens, heads)](x, angles, x.stride(0), heads, HALF=4)
    return x


def turned(x, angles, heads, sign=1):
    cos, sin = angles[:, None].chunk(2, dim=-1)
    a, b = x[:, : heads * 8].unflatten(1, (heads, 8)).chunk(2, dim=-1)
    first = torch.cat([a * cos - b * sin, b * cos + sign * a * sin], dim=-1).flatten(1)
    return torch.cat([first, x[:, heads * 8 :]], dim=-1)


def turned_back(x, angles, heads):
    return turned(x, angles, heads, -1)


@triton.jit
def counted_kernel(x, out, N, BLOCK: tl.constexpr, MORE: tl.constexpr):
    r, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    row = tl.load(x + r * N + lanes, mask=lanes < N, other=0.0)
    first = tl.sum(tl.where(lanes == 0, row, 0.0), axis=0)
    near = (row < first + MORE) & (lanes < N)
    total = tl.sum(tl.where(near, row, 0.0), axis=0)
    tl.store(out + r, total / tl.sum(near.to(tl.int32), axis=0))


def count(x, more):
    R, N = x.shape
    out = torch.empty(R, device="cuda")
    counted_kernel[(R,)](x, out, N, BLOCK=16, MORE=more)
    return out


def launch_counted(R=4, N=11):
    x = torch.randn(R, N, device="cuda")
    return count(x, 1)


def launch_counted_without_first(R=4, N=11):
    """There may be none below the first."""
    x = torch.randn(R, N, device="cuda")
    return count(x, 0)


def counted(x):
    near = x < x[:, :1] + 1
    return (x * near).sum(-1) / near.sum(-1)


@triton.jit
def logged_kernel(x, lengths, out, N, BLOCK: tl.constexpr):
    r, lanes = tl.program_id(0), tl.arange(0, BLOCK)
    row = tl.load(x + r * N + lanes, mask=(lanes < N) & (lanes < tl.load(lengths + r)), other=-float("inf"))
    tl.store(out + r, tl.log(tl.sum(tl.exp(row), axis=0)))


def launch_logged(R=4, N=11):
    x, lengths = torch.randn(R, N, device="cuda"), torch.randint(1, N + 1, (R,), device="cuda", dtype=torch.int32)
    out = torch.empty(R, device="cuda")
    logged_kernel[(R,)](x, lengths, out, N, BLOCK=triton.next_power_of_2(N))
    return out


def logged(x, lengths):
    return torch.where(torch.arange(x.shape[1]) < lengths[:, None], x, float("-inf")).logsumexp(-1)


@triton.jit
def paged_kernel(x, table, lengths, out, PAGES, MORE: tl.constexpr, PAGE: tl.constexpr):
    r, slots = tl.program_id(0), tl.arange(0, PAGE)
    n = tl.load(lengths + r)
    total = 0.0
    for p in range(tl.cdiv(n, PAGE) + MORE):
        page = tl.load(table + r * PAGES + p)
        row = tl.load(x + page * PAGE + slots, mask=p * PAGE + slots < n, other=-float("inf"))
        total += tl.sum(tl.exp(row), axis=0)
    tl.store(out + r, tl.log(total))


def launch_paged(R=5, PAGES=3, K=7):
    x, table = torch.randn(K, 16, device="cuda"), torch.randint(0, K, (R, PAGES), device="cuda", dtype=torch.int32)
    lengths = torch.randint(1, PAGES * 16 + 1, (R,), device="cuda", dtype=torch.int32)
    out = torch.empty(R, device="cuda")
    paged_kernel[(R,)](x, table, lengths, out, PAGES, MORE=0, PAGE=16)
    return out


def launch_paged_but_the_first(R=5, PAGES=3, K=7):
    """No row of the example is on the first page."""
    x, table = torch.randn(K, 16, device="cuda"), torch.randint(1, K, (R, PAGES), device="cuda", dtype=torch.int32)
    lengths = torch.randint(1, PAGES * 16 + 1, (R,), device="cuda", dtype=torch.int32)
    out = torch.empty(R, device="cuda")
    paged_kernel[(R,)](x, table, lengths, out, PAGES, MORE=0, PAGE=16)
    return out


def launch_paged_of_nothing(R=5, PAGES=3, K=7):
    """A row of the example has nothing."""
    x, table = torch.randn(K, 16, device="cuda"), torch.randint(0, K, (R, PAGES), device="cuda", dtype=torch.int32)
    lengths = torch.arange(R, device="cuda", dtype=torch.int32)
    out = torch.empty(R, device="cuda")
    paged_kernel[(R,)](x, table, lengths, out, PAGES, MORE=0, PAGE=16)
    return out


def launch_paged_too_far(R=5, PAGES=3, K=7):
    """One page more than the row fills."""
    x, table = torch.randn(K, 16, device="cuda"), torch.randint(0, K, (R, PAGES), device="cuda", dtype=torch.int32)
    lengths = torch.randint(1, PAGES * 16 + 1, (R,), device="cuda", dtype=torch.int32)
    lengths[0] = PAGES * 16
    out = torch.empty(R, device="cuda")
    paged_kernel[(R,)](x, table, lengths, out, PAGES, MORE=1, PAGE=16)
    return out


def paged(x, table, lengths):
    rows = x[table].flatten(1)
    return torch.where(torch.arange(rows.shape[1]) < lengths[:, None], rows, float("-inf")).logsumexp(-1)


@triton.jit
def pooled_kernel(x, lengths, out, T, D, TILE: tl.constexpr, BLOCK: tl.constexpr):
    """The mean of a row's first tokens, scaled to length 1. Lanes beyond D are 0 over the row's length."""
    row, d = tl.program_id(0), tl.arange(0, BLOCK)
    n = tl.load(lengths + row)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, TILE):
        t = start + tl.arange(0, TILE)
        inside = (t < n)[:, None] & (d < D)[None, :]
        total += tl.sum(tl.load(x + (row * T + t[:, None]) * D + d[None, :], mask=inside, other=0.0), 0)
    mean = total / n
    tl.store(out + row * D + d, mean / tl.maximum(tl.sqrt(tl.sum(mean * mean, 0)), 1e-12), mask=d < D)


def launch_pooled(B=4, T=21, D=50):
    lengths = torch.randint(1, T + 1, (B,), device="cuda")
    x = torch.randn(B, T, D, device="cuda")
    out = torch.empty(B, D, device="cuda")
    pooled_kernel[(B,)](x, lengths, out, T, D, TILE=8, BLOCK=triton.next_power_of_2(D))
    return out


def pooled(x, lengths):
    inside = torch.arange(x.shape[1], device=x.device) < lengths[:, None]
    mean = (x * inside[:, :, None]).sum(1) / lengths[:, None]
    return torch.nn.functional.normalize(mean, dim=-1)
