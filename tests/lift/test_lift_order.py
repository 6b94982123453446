"""Programs are in no order: what hangs on which is first is violated, with what both orders leave."""

from __future__ import annotations

import pytest

pytest.importorskip("triton")

import torch
import triton
import triton.language as tl

from samesame.kernels.host.interpret import interpret
from samesame.lift import lift


@triton.jit
def shift_kernel(x, n, by, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    moved = tl.load(x + at + by, mask=at + by < n)
    tl.store(x + at, moved, mask=at + by < n)


def launch_shift(n=100, by=10):
    """As a cache moves its rows over those that it forgets."""
    x = torch.randn(n, device="cuda")
    shift_kernel[(triton.cdiv(n, 32),)](x, n, by, BLOCK=32)
    return x


def launch_shift_equal(n=100, by=10):
    """Whichever is first, each element is 1."""
    x = torch.ones(n, device="cuda")
    shift_kernel[(triton.cdiv(n, 32),)](x, n, by, BLOCK=32)
    return x


@triton.jit
def sum_and_touch_kernel(x, total, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0)
    beside = tl.load(x + at + 1, mask=at + 1 < n, other=0.0)
    tl.store(x + at, v, mask=at < n)
    tl.atomic_add(total, tl.sum(v + beside, axis=0))


def launch_sum_and_touch(n=100):
    """What is stored is what was there; the sum comes out rounded another way from the last program to the first."""
    x = torch.randn(n, device="cuda")
    total = torch.zeros(1, device="cuda")
    sum_and_touch_kernel[(triton.cdiv(n, 32),)](x, total, n, BLOCK=32)
    return x, total


@triton.jit
def grow_kernel(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


def launch_grow(n=100):
    x = torch.randn(n, device="cuda")
    grow_kernel[(triton.cdiv(n, 32),)](x, n, BLOCK=32)
    return x


def aliasing(launch):
    (kernel,) = lift(launch).kernels
    (found,) = (o for o in kernel.obligations if o.name == "aliasing")
    return kernel, found


def test_what_hangs_on_which_program_is_first_is_violated() -> None:
    kernel, found = aliasing(launch_shift)
    assert kernel.verdict == found.state == "violated"
    case = found.counterexample
    assert case["replayed"] == "yes" and case["tensor"] == "x" and ".py:" in found.place
    assert case["programs"]["first to last"] != case["programs"]["last to first"]


@pytest.mark.parametrize("launch", [launch_shift_equal, launch_sum_and_touch])
def test_what_comes_out_the_same_in_both_orders_is_open(launch) -> None:
    kernel, found = aliasing(launch)
    assert found.state == "undecided" and kernel.verdict == "undecided"


def test_programs_that_read_what_they_write_alone_are_in_any_order() -> None:
    assert aliasing(launch_grow)[1].state == "proved"


def test_the_last_program_runs_first_if_that_is_asked() -> None:
    forwards, backwards = (interpret(launch_shift, backwards=so) for so in (False, True))
    (one,), (other,) = forwards.outputs.values(), backwards.outputs.values()
    assert torch.equal(one[:90], forwards.inputs["x"][10:]) and not torch.equal(one, other)
