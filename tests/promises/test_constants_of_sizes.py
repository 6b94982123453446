"""Constants that a program works out of sizes: what they are read as is true of those sizes, and of no others; and what
rounding leaves too little of is read as nothing."""

from __future__ import annotations

import math

import pytest
import torch

from samesame import check

X = {"x": torch.randn(3, 7, generator=torch.Generator().manual_seed(0))}
HALF = torch.tensor(0.5)


def waves(columns: int, times: int) -> torch.Tensor:
    return torch.cos(2 * math.pi * times * torch.arange(columns) / columns)


def scaled(number):
    return lambda x: x * number(x.shape[-1])


# By their names: two programs, and a number of columns at which they differ.
PARTING = {
    "a sum that cancels": (scaled(lambda n: waves(n, 9).sum()), scaled(lambda n: 0), 9),
    "a sum of powers": (scaled(lambda n: waves(n, 22).pow(2).sum() - n / 2), scaled(lambda n: 0), 22),
    "beside a one": (scaled(lambda n: 1 + waves(n, 9).sum()), scaled(lambda n: 1), 9),
    "a mean of squares": (scaled(lambda n: (waves(n, 9) ** 2).mean()), scaled(lambda n: 0.5), 9),
    "a root of two": (scaled(lambda n: math.sqrt(2) * (waves(n, 9) ** 2).mean()), scaled(lambda n: 0.5**0.5), 9),
    "a buffer": (scaled(lambda n: (waves(n, 9) ** 2).mean()), lambda x: x * HALF, 9),
    "waves apart by every size that is run": (scaled(lambda n: waves(n, 87)), scaled(lambda n: waves(n, 3)), 35),
}


@pytest.mark.parametrize("name", PARTING)
def test_what_is_read_of_constants_holds_at_their_sizes_only(name):
    left, right, columns = PARTING[name]
    there = torch.ones(3, columns)
    assert not torch.allclose(left(there), right(there), atol=1e-3)
    verdict = check(left, right, X)
    assert verdict.verdict == "same"
    assert ("x", 1) not in verdict.sizes.places and ("x", 0) in verdict.sizes.places


def test_what_cancels_is_read_as_zero_and_says_what_rounding_leaves():
    conditions = [str(told) for root in check(*PARTING["a sum that cancels"][:2], X).roots
                  for told in root.evidence.conditions]
    assert any("are read as 0 where they cancel: rounding leaves at most" in told for told in conditions)
    assert not any("of the largest" in told for told in conditions)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_constant_of_which_rounding_leaves_nothing_is_read_as_nothing_else(dtype):
    """In the dtype it is 0 where 1 is meant: that is what the program does, and no rounding of a stored number."""
    large = 1e8 if dtype == torch.float32 else 1e16
    example = {"x": X["x"].to(dtype)}

    def lost(x):
        return x * ((torch.full((7,), large, dtype=dtype) + 1) - large)

    assert not lost(**example).any()
    assert check(lost, lambda x: x * 1.0, example).verdict == "different"
