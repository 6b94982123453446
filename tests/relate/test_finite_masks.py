"""A large number that a mask puts in, adds or multiplies by is −∞ to a softmax, as headlines say, and nowhere else."""

import math

import pytest
import torch

from samesame import check
from samesame.report import headline

SCORES = torch.linspace(-2, 2, 20).reshape(4, 5)
KEPT = torch.ones(4, 5, dtype=torch.bool).tril(2)
LOWEST = torch.finfo(torch.float32).min


def put_in(number):
    return lambda scores, kept: scores.masked_fill(kept == 0, number).softmax(-1)


def added(number):
    return lambda scores, kept: (scores + (1.0 - kept) * number).softmax(-1)


def subtracted(scores, kept):
    return (scores * kept - 1e10 * (1.0 - kept)).softmax(-1)


def less_one(scores, kept):
    return (scores + (kept - 1.0) * 1e9).softmax(-1)


@pytest.mark.parametrize(
    ("left", "right", "kept"),
    [
        (put_in(-1e9), put_in(-math.inf), KEPT),
        pytest.param(added(-1e4), put_in(-math.inf), KEPT.float(), marks=pytest.mark.long),
        (added(LOWEST), put_in(-math.inf), KEPT.long()),
        (less_one, subtracted, KEPT.float()),
    ],
)
def test_what_masks_put_in_is_minus_infinity_under_a_condition_that_the_headline_names(left, right, kept):
    verdict = check(left, right, (SCORES, kept))
    assert verdict.verdict == "same"
    assert "counts as −∞ and hides no whole row" in headline(verdict).plain


def test_the_same_number_on_both_sides_needs_no_condition():
    verdict = check(put_in(-1e9), lambda scores, kept: put_in(-1e9)(scores + 1 - 1, kept), (SCORES, KEPT))
    assert verdict.verdict == "same" and not verdict.only


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (added(-1e9), added(-10.0)),
        (added(-1e9), lambda scores, kept: (scores + kept * -1e9).softmax(-1)),
        (lambda s, kept: s.masked_fill(kept == 0, -1e9), lambda s, kept: s.masked_fill(kept == 0, -1e10)),
        (lambda s, kept: (s.masked_fill(kept == 0, -1e9) > -1e10) * s, lambda s, kept: (s > -5) * kept * s),
    ],
)
def test_it_is_nothing_else(left, right):
    assert check(left, right, (SCORES, KEPT.float())).verdict == "different"


def test_a_factor_that_may_be_ever_so_small_hides_nothing():
    def gated(times):
        return lambda scores, gate: (times * scores + (1 - gate.sigmoid()) * -1e9).softmax(-1)

    assert check(gated(1), gated(2), (SCORES, SCORES.flip(1)), timeout=6).verdict == "undecided"
