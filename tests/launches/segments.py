"""Segments of rows, as graph libraries keep them: where each one ends stands in a tensor. And near misses."""

import torch
import triton
import triton.language as tl


@triton.jit
def segments_kernel(x, ends, out, N, D, LATE: tl.constexpr, MORE: tl.constexpr, BLOCK: tl.constexpr):
    s = tl.program_id(0)
    d = tl.arange(0, BLOCK)
    first = tl.load(ends + s)
    last = tl.load(ends + s + 1)
    acc = tl.zeros((BLOCK,), tl.float32)
    for e in range(first + LATE, last + MORE):
        acc += tl.load(x + e * D + d, mask=(d < D) & (e >= 0) & (e < N), other=0.0)
    tl.store(out + s * D + d, acc, mask=d < D)


def run(x, ends, late=0, more=0):
    N, D = x.shape
    S = ends.shape[0] - 1
    out = torch.empty(S, D, device="cuda")
    segments_kernel[(S,)](x, ends, out, N, D, LATE=late, MORE=more, BLOCK=32)
    return out


def launch_segments(N=11, D=20):
    x = torch.randn(N, D, device="cuda")
    ends = torch.tensor([0, 3, 3, 7, 11], dtype=torch.int32, device="cuda")
    return run(x, ends)


def launch_segments_late(N=11, D=20):
    x = torch.randn(N, D, device="cuda")
    ends = torch.tensor([0, 3, 3, 7, 11], dtype=torch.int32, device="cuda")
    return run(x, ends, late=1)


def launch_segments_one_more(N=11, D=20):
    x = torch.randn(N, D, device="cuda")
    ends = torch.tensor([0, 3, 3, 7, 11], dtype=torch.int32, device="cuda")
    return run(x, ends, more=1)


def segments(x, ends):
    e = torch.arange(x.shape[0], device=x.device)
    member = (e >= ends[:-1, None]) & (e < ends[1:, None])
    return member.to(x.dtype) @ x


@triton.jit
def sums_kernel(x, ends, out, D, MORE: tl.constexpr, BLOCK: tl.constexpr):
    s = tl.program_id(0)
    d = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for e in range(tl.load(ends + s), tl.load(ends + s + 1) + MORE):
        acc += tl.load(x + e * D + d, mask=d < D, other=0.0)
    tl.store(out + s * D + d, acc, mask=d < D)


def run_sums(x, ends, more=0):
    S, D = ends.shape[0] - 1, x.shape[1]
    out = torch.empty(S, D, device="cuda")
    sums_kernel[(S,)](x, ends, out, D, MORE=more, BLOCK=32)
    return out


def launch_sums(N=11, D=20):
    x = torch.randn(N, D, device="cuda")
    ends = torch.tensor([0, 3, 3, 7, 11], dtype=torch.int32, device="cuda")
    return run_sums(x, ends)


def launch_sums_one_more(N=11, D=20):
    x = torch.randn(N, D, device="cuda")
    ends = torch.tensor([0, 3, 3, 7, 11], dtype=torch.int32, device="cuda")
    return run_sums(x, ends, more=1)


def launch_sums_beyond(N=9, D=20):
    x = torch.randn(N, D, device="cuda")
    ends = torch.tensor([0, 3, 3, 7, 11], dtype=torch.int32, device="cuda")
    return run_sums(x, ends)


@triton.jit
def pages_kernel(cache, table, used, out, longest, D, PAGE: tl.constexpr, BLOCK: tl.constexpr):
    b, t = tl.program_id(0), tl.program_id(1)
    d = tl.arange(0, BLOCK)
    inside = t < tl.load(used + b)
    page = tl.load(table + b * (longest // PAGE) + t // PAGE, mask=inside, other=0)
    row = page * PAGE + t % PAGE
    v = tl.load(cache + row * D + d, mask=inside & (d < D), other=0.0)
    tl.store(out + (b * longest + t) * D + d, v, mask=d < D)


def run_pages(cache, table, used):
    B, pages = table.shape
    _, page, D = cache.shape
    out = torch.empty(B, pages * page, D, device="cuda")
    pages_kernel[(B, pages * page)](cache, table, used, out, pages * page, D, PAGE=page, BLOCK=32)
    return out


def launch_pages(B=5, pages=10, D=24):
    cache = torch.randn(pages, 4, D, device="cuda")
    table = torch.randint(0, pages, (B, 3), device="cuda")
    used = torch.randint(1, 13, (B,), device="cuda")
    return run_pages(cache, table, used)


def launch_pages_of_another_cache(B=5, pages=10, D=24):
    cache = torch.randn(pages, 4, D, device="cuda")
    table = torch.randint(0, pages, (B, 3), device="cuda") + 4
    used = torch.full((B,), 12, device="cuda")
    return run_pages(cache, table, used)


def pages(cache, table, used):
    rows = cache[table].reshape(table.shape[0], -1, cache.shape[2])
    inside = torch.arange(rows.shape[1], device=rows.device) < used[:, None]
    return torch.where(inside[:, :, None], rows, 0.0)


@triton.jit
def positions_kernel(x, table, out, D, SHIFT: tl.constexpr, BLOCK: tl.constexpr):
    t = tl.program_id(0)
    d = tl.arange(0, BLOCK)
    v = tl.load(x + t * D + d, mask=d < D, other=0.0) * tl.load(table + (t + SHIFT) * D + d, mask=d < D, other=0.0)
    tl.store(out + t * D + d, v, mask=d < D)


def launch_positions(T=6, L=50, D=20):
    x, table = torch.randn(T, D, device="cuda"), torch.randn(L, D, device="cuda")
    out = torch.empty_like(x)
    positions_kernel[(T,)](x, table, out, D, SHIFT=0, BLOCK=32)
    return out


def launch_positions_before(T=6, L=50, D=20):
    x, table = torch.randn(T, D, device="cuda"), torch.randn(L, D, device="cuda")
    out = torch.empty_like(x)
    positions_kernel[(T,)](x, table, out, D, SHIFT=-1, BLOCK=32)
    return out


@triton.jit
def in_turn(a, b, c, d):
    return a * c, c * b + d


@triton.jit
def out_of_turn(a, b, c, d):
    return a * c, a * b + d


@triton.jit
def recurrence_kernel(a, b, h, T, C, IN_TURN: tl.constexpr, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.program_id(1)
    t = tl.arange(0, BLOCK)
    at = row * T * C + t * C + c
    pair = tl.load(a + at, mask=t < T, other=1.0), tl.load(b + at, mask=t < T, other=0.0)
    if IN_TURN:
        _, found = tl.associative_scan(pair, axis=0, combine_fn=in_turn)
    else:
        _, found = tl.associative_scan(pair, axis=0, combine_fn=out_of_turn)
    tl.store(h + at, found, mask=t < T)


def run_recurrence(a, b, right):
    B, T, C = a.shape
    h = torch.empty_like(b)
    recurrence_kernel[(B, C)](a, b, h, T, C, IN_TURN=right, BLOCK=8)
    return h


def launch_recurrence(B=2, T=6, C=5):
    a, b = torch.rand(B, T, C, device="cuda"), torch.randn(B, T, C, device="cuda")
    return run_recurrence(a, b, True)


def launch_recurrence_out_of_turn(B=2, T=6, C=5):
    a, b = torch.rand(B, T, C, device="cuda"), torch.randn(B, T, C, device="cuda")
    return run_recurrence(a, b, False)


def recurrence(a, b):
    h, steps = torch.zeros_like(b[:, 0]), []
    for t in range(b.shape[1]):
        h = a[:, t] * h + b[:, t]
        steps.append(h)
    return torch.stack(steps, dim=1)
