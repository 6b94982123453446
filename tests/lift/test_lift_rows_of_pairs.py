"""Rows of which the first part is made pair by pair, in place, and the rest is left: 2·a + c is a case for each c."""

from __future__ import annotations

import pytest

pytest.importorskip("triton")

import torch
import triton
import triton.language as tl

from samesame.lift import lift


@triton.jit
def turn_kernel(x, cache, positions, row, half, WHAT: tl.constexpr, BLOCK: tl.constexpr):
    t = tl.program_id(0)
    pair = tl.arange(0, BLOCK)
    mask = pair < half
    table = cache + tl.load(positions + t) * (2 * half) + pair
    c = tl.load(table, mask=mask, other=0.0)
    s = tl.load(table + half, mask=mask, other=0.0)
    at = x + t * row + 2 * pair
    even = tl.load(at, mask=mask, other=0.0)
    odd = tl.load(at + 1, mask=mask, other=0.0)
    tl.store(at, even * c - odd * s, mask=mask)
    if WHAT == "sign":
        tl.store(at + 1, odd * c - even * s, mask=mask)
    elif WHAT == "short":
        tl.store(at + 1, odd * c + even * s, mask=pair < half - 1)
    elif WHAT == "first":
        tl.store(at + 1, odd * c + even * s, mask=mask & (pair > 0))
    else:
        tl.store(at + 1, odd * c + even * s, mask=mask)


def launcher(what):
    def launch(tokens=7, half=10, rest=5, longest=64):
        x = torch.randn(tokens, 2 * half + rest, device="cuda")
        positions = torch.randint(0, longest, (tokens,), device="cuda")
        angles = torch.randn(longest, half, device="cuda")
        cache = torch.cat([angles.cos(), angles.sin()], dim=-1)
        block = triton.next_power_of_2(half)
        turn_kernel[(tokens,)](x, cache, positions, x.stride(0), half, WHAT=what, BLOCK=block)
        return x

    return launch


def reference(x, positions, angles):
    a = angles[positions]
    turned = 2 * a.shape[-1]
    even, odd = x[..., 0:turned:2], x[..., 1:turned:2]
    pairs = torch.stack([even * a.cos() - odd * a.sin(), odd * a.cos() + even * a.sin()], dim=-1).flatten(-2)
    return torch.cat([pairs, x[..., turned:]], dim=-1)


def test_pairs_are_turned_and_the_rest_is_left() -> None:
    found = lift(launcher("right"), reference)
    assert (found.verdict, found.against) == ("verified", "same")


@pytest.mark.parametrize("what", ["sign", "short", "first"])
def test_pairs_that_are_not_turned_so_are_other_ones(what: str) -> None:
    assert lift(launcher(what), reference).against == "different"
