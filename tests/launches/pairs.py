"""Small kernels that reduce and scan several values at once: a largest element and its place, moments of parts."""

import torch
import triton
import triton.language as tl


@triton.jit
def later(a, i, b, j):
    """The larger one; of equal ones that of the greater position, and NaN before all."""
    ahead, same = a > b, a == b
    ahead |= (a != a) & (b == b)
    same |= (a != a) & (b != b)
    ahead |= same & (i > j)
    return tl.where(ahead, a, b), tl.where(ahead, i, j)


@triton.jit
def earlier(a, i, b, j):
    ahead = (a > b) | ((a == b) & (i < j))
    return tl.where(ahead, a, b), tl.where(ahead, i, j)


@triton.jit
def smaller(a, i, b, j):
    """By order: the right one of equal ones."""
    return tl.where(a < b, a, b), tl.where(a < b, i, j)


@triton.jit
def either(a, i, b, j):
    """The larger one with the position of the smaller one."""
    return tl.where(a > b, a, b), tl.where(a > b, j, i)


@triton.jit
def nearer(a, i, b, j):
    """Not the larger one, but the one nearer to 1."""
    ahead = tl.abs(a - 1.0) < tl.abs(b - 1.0)
    return tl.where(ahead, a, b), tl.where(ahead, i, j)


@triton.jit
def sums(a, b, c, d):
    return a + c, tl.maximum(b, d)


@triton.jit
def scanned_kernel(x_ptr, out_ptr, places_ptr, n, BLOCK: tl.constexpr, BY: tl.constexpr, REVERSE: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + row * n + columns, mask=mask, other=-float("inf"))
    if BY == "later":
        best, place = tl.associative_scan((x, columns), 0, later, reverse=REVERSE)
    elif BY == "earlier":
        best, place = tl.associative_scan((x, columns), 0, earlier, reverse=REVERSE)
    elif BY == "smaller":
        best, place = tl.associative_scan((x, columns), 0, smaller, reverse=REVERSE)
    elif BY == "either":
        best, place = tl.associative_scan((x, columns), 0, either, reverse=REVERSE)
    else:
        best, place = tl.associative_scan((x, columns), 0, nearer, reverse=REVERSE)
    tl.store(out_ptr + row * n + columns, best, mask=mask)
    tl.store(places_ptr + row * n + columns, place, mask=mask)


def scanned(m, n, by, reverse=False, make=torch.randn):
    x = make(m, n, device="cuda")
    out, places = torch.empty_like(x), torch.empty(m, n, dtype=torch.int32, device="cuda")
    scanned_kernel[(m,)](x, out, places, n, BLOCK=32, BY=by, REVERSE=reverse)
    return out, places


def few(m, n, device):
    """Many equal elements."""
    return torch.randint(0, 4, (m, n), device=device).to(torch.float32)


def launch_later(m=5, n=21):
    return scanned(m, n, "later", make=few)


def launch_earlier(m=5, n=21):
    return scanned(m, n, "earlier", make=few)


def launch_backwards(m=5, n=21):
    return scanned(m, n, "earlier", True, make=few)


def launch_smaller(m=5, n=21):
    return scanned(m, n, "smaller", make=few)


def launch_smaller_backwards(m=5, n=21):
    """By order, from the other end."""
    return scanned(m, n, "smaller", True, make=few)


def launch_either(m=5, n=21):
    return scanned(m, n, "either")


def launch_nearer(m=5, n=21):
    return scanned(m, n, "nearer")


@triton.jit
def summed_kernel(x_ptr, y_ptr, out_ptr, most_ptr, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    x = tl.load(x_ptr + columns, mask=mask, other=0.0)
    y = tl.load(y_ptr + columns, mask=mask, other=0.0)
    total, most = tl.associative_scan((x, y), 0, sums)
    tl.store(out_ptr + columns, total, mask=mask)
    tl.store(most_ptr + columns, most, mask=mask)


def launch_summed(n=21):
    """A running sum beside a running maximum."""
    x = torch.randn(n, device="cuda")
    y = torch.randn(n, device="cuda")
    out, most = torch.empty_like(x), torch.empty_like(x)
    summed_kernel[(1,)](x, y, out, most, n, BLOCK=32)
    return out, most


@triton.jit
def running_kernel(
    x_ptr, out_ptr, places_ptr, n, BLOCK: tl.constexpr, TIE: tl.constexpr, START: tl.constexpr, LAST: tl.constexpr,
    RELATIVE: tl.constexpr,
):
    row = tl.program_id(0)
    lanes = tl.arange(0, BLOCK)
    most = tl.full((), START, dtype=tl.float32)
    where = tl.full((), 0, dtype=tl.int32)
    for first in range(0, n, BLOCK):
        columns = first + lanes
        mask = columns < n
        x = tl.load(x_ptr + row * n + columns, mask=mask, other=-float("inf"))
        if TIE == "earlier":
            best, place = tl.associative_scan((x, lanes if RELATIVE else columns), 0, earlier)
            ahead = best > most
        else:
            best, place = tl.associative_scan((x, lanes if RELATIVE else columns), 0, later)
            ahead = best >= most if TIE == "later" else best > most
        best = tl.where(ahead, best, most)
        place = tl.where(ahead, place, where)
        most = tl.sum(tl.where(lanes == LAST, best, 0.0))
        where = tl.sum(tl.where(lanes == LAST, place, 0))
        tl.store(out_ptr + row * n + columns, best, mask=mask)
        tl.store(places_ptr + row * n + columns, place, mask=mask)


def running(m, n, tie, start=-float("inf"), last=7, relative=False):
    x = few(m, n, "cuda")
    out, places = torch.empty_like(x), torch.empty(m, n, dtype=torch.int32, device="cuda")
    running_kernel[(m,)](x, out, places, n, BLOCK=8, TIE=tie, START=start, LAST=last, RELATIVE=relative)
    return out, places


def launch_running_later(m=5, n=21):
    return running(m, n, "later")


def launch_running_earlier(m=5, n=21):
    return running(m, n, "earlier")


def launch_running_mixed(m=5, n=21):
    """Of equal ones the last in a block, and the first of several blocks."""
    return running(m, n, "mixed")


def launch_running_from_zero(m=5, n=21):
    """The maximum does not start below everything."""
    return running(m, n, "later", start=0.0)


def launch_running_lane_before(m=5, n=21):
    """What is carried on is that of the last lane but one."""
    return running(m, n, "later", last=6)


def launch_running_relative(m=5, n=21):
    """Places within a block, not within the row."""
    return running(m, n, "later", relative=True)
