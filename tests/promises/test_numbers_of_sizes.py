"""A number that a program computes of sizes is what it is at every size, not what it was at the sizes that were run."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from samesame import check
from samesame.evidence import Refused

X = torch.randn(3, 5)
ALIKE_UP_TO_36 = {
    "a factor": (lambda x: x * (2 + x.shape[1] // 37), lambda x: x * 2),
    "an exponent": (lambda x: x ** (2 + x.shape[1] // 37), lambda x: x * x),
    "a fraction": (lambda x: x / (2 + x.shape[1] // 37), lambda x: x * 0.5),
    "a reciprocal": (lambda x: x * (1 / (2 + x.shape[1] // 37)), lambda x: x * 0.5),
    "less a quotient": (lambda x: x * (x.shape[1] - x.shape[1] // 37), lambda x: x * x.shape[1]),
    "a shift": (lambda x: torch.roll(x, x.shape[1] // 37, 1), lambda x: 1.0 * x),
    "a border": (lambda x: F.pad(x, (x.shape[1] // 37, 0)), lambda x: 1.0 * x),
    "bits": (lambda x: x + (x.shape[1] >> 5), lambda x: 1.0 * x),
}


@pytest.mark.parametrize("name", ALIKE_UP_TO_36)
def test_a_quotient_that_is_one_number_at_all_runs_is_no_number(name):
    left, right = ALIKE_UP_TO_36[name]
    verdict = check(left, right, (X,))
    assert verdict.covers((torch.randn(3, 7),)) and not verdict.covers((torch.randn(3, 37),))
    assert verdict.verdict == "different" and "x.shape[1] = " in verdict.sizes.apart


def test_quotients_that_the_graph_says_bound_nothing():
    verdict = check(lambda x: x[:, : x.shape[1] // 2] * 2, lambda x: x[:, : x.shape[1] // 2] + x[:, : x.shape[1] // 2],
                    (X,))
    assert verdict.verdict == "same" and verdict.covers((torch.randn(70, 137),))


SEEN = {
    "rows that are counted": (lambda x: x * (3 if sum(1 for _ in x) == 70 else 2), (70, 5)),
    "rows beside others": (lambda x: x * (3 if len(list(zip(x, range(99), strict=False))) == 70 else 2), (70, 5)),
    "results of unbind": (lambda x: x * (3 if len(x.unbind(1)) == 37 else 2), (3, 37)),
    "pieces": (lambda x: x * (3 if len(x.chunk(50, 1)) == 37 else 2), (3, 37)),
    "bytes of memory": (lambda x: x * (3 if x.untyped_storage().nbytes() == 1400 else 2), (70, 5)),
}


@pytest.mark.parametrize("name", SEEN)
def test_what_tells_python_a_size_is_followed_or_said_to_be_lost(name):
    left, shape = SEEN[name]
    try:
        verdict = check(left, lambda x: x * 2, (X,))
    except Refused as why:
        assert "takes the memory of a tensor" in str(why)
        return
    assert torch.equal(left(torch.ones(shape)), torch.full(shape, 3.0))
    assert verdict.verdict != "same" or not verdict.covers((torch.randn(shape),))


@pytest.mark.parametrize("dtype", [torch.int8, torch.int16])
def test_narrow_numbers_that_count_are_compared_with_wide_ones(dtype):
    """They may wrap around, so nothing is said of them, and nothing breaks."""
    verdict = check(lambda x: x + torch.arange(5, dtype=dtype), lambda x: x + torch.arange(5), (X,))
    assert verdict.verdict in ("same", "undecided")
