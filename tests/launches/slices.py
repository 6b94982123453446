"""Slices of a tensor that was made empty: what the launches write together is all of it, or a part stays nobody's."""

import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x, out, n, step, out_step, out_next, BY: tl.constexpr, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(out + row * out_step + at * out_next, BY * tl.load(x + row * step + at, mask=at < n), mask=at < n)


def copy(x, out, by=1.0):
    copy_kernel[(x.shape[0],)](x, out, x.shape[1], x.stride(0), out.stride(0), out.stride(1), BY=by, BLOCK=16)


def launch_beside_a_gap(rows=3, width=7):
    """A column between the halves is nobody's."""
    a, b, out = torch.randn(rows, width), torch.randn(rows, width), torch.empty(rows, 2 * width + 1)
    copy(a, out[:, :width])
    copy(b, out[:, width + 1 :], 2.0)
    return out


def launch_one_half(rows=3, width=7):
    a, out = torch.randn(rows, width), torch.empty(rows, 2 * width + 1)
    copy(a, out[:, :width])
    return out


def launch_sum_of_one_half(rows=3, width=7):
    a, out = torch.randn(rows, width), torch.empty(rows, 2 * width + 1)
    copy(a, out[:, :width])
    return out.sum(1)


def launch_read_of_the_other(rows=3, width=7):
    a, out, y = torch.randn(rows, width), torch.empty(rows, 2 * width + 1), torch.empty(rows, width)
    copy(a, out[:, :width])
    copy(out[:, width : 2 * width], y)
    return y


def launch_read_over_a_gap(rows=3, width=7):
    a, b, out = torch.randn(rows, width), torch.randn(rows, width), torch.empty(rows, 2 * width + 1)
    copy(a, out[:, :width])
    copy(b, out[:, width + 1 :], 2.0)
    y = torch.empty(rows, width)
    copy(out[:, 2 : width + 2], y)
    return y


def launch_read_too_early(rows=3, width=7):
    """The second half is read before it is written."""
    a, out, y = torch.randn(rows, width), torch.empty(rows, 2 * width), torch.empty(rows, width)
    copy(a, out[:, :width])
    copy(out[:, width:], y)
    copy(a, out[:, width:])
    return y


def launch_added_to_nothing(rows=3, width=7):
    """The host adds to the half that is nobody's."""
    a, out = torch.randn(rows, width), torch.empty(rows, 2 * width)
    copy(a, out[:, :width])
    out[:, width:] += 1.0
    return out


def launch_of_nothing(rows=3, width=7):
    """The host doubles what nobody has written."""
    base = torch.randn(rows, width)
    return run_of_nothing(base)


def run_of_nothing(base):
    twice = torch.empty_like(base) * 2
    out = torch.empty_like(base)
    copy(twice, out)
    return out


def launch_halves(rows=3, width=7):
    a, b, out = torch.randn(rows, width), torch.randn(rows, width), torch.empty(rows, 2 * width)
    copy(a, out[:, :width])
    copy(b, out[:, width:], 2.0)
    return out


def launch_thirds(rows=3, width=7, other=5):
    """In another order than that in which they lie there."""
    a, b, c = torch.randn(rows, width), torch.randn(rows, other), torch.randn(rows, width)
    out = torch.empty(rows, 2 * width + other)
    copy(a, out[:, :width])
    copy(c, out[:, width + other :], 2.0)
    copy(b, out[:, width : width + other], 3.0)
    return out


def launch_in_turn(rows=3, width=7):
    a, b, out = torch.randn(rows, width), torch.randn(rows, width), torch.empty(rows, width, 2)
    copy(a, out[..., 0])
    copy(b, out[..., 1], 2.0)
    return out


def launch_read_of_the_same(rows=3, width=7):
    """The rest of the memory is nobody's, and nobody asks."""
    a, out, y = torch.randn(rows, width), torch.empty(rows, 2 * width + 1), torch.empty(rows, width)
    copy(a, out[:, :width])
    copy(out[:, :width], y, 2.0)
    return y


def launch_filled_by_the_host(rows=3, width=7):
    a, out = torch.randn(rows, width), torch.empty(rows, width + 1)
    out[:, width:] = 0.0
    copy(a, out[:, :width])
    return out


def launch_into_values(rows=3, width=7):
    a, out = torch.randn(rows, width), torch.randn(rows, 2 * width + 1)
    copy(a, out[:, :width])
    return out


def launch_of_random_numbers(rows=3, width=7):
    a, out = torch.empty(rows, width).uniform_(), torch.empty(rows, width)
    copy(a, out)
    return out


def halves(a, b):
    return torch.cat([a, 2 * b], 1)


def thirds(a, b, c):
    return torch.cat([a, 3 * b, 2 * c], 1)


def in_turn(a, b):
    return torch.stack([a, 2 * b], -1)
