"""A place that is clamped to a table's ends is that place, where a term's conditions say that it lies within them."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from samesame import check
from samesame.certificate.replay import replay
from samesame.evidence import Rung
from samesame.formula.effort import Budget
from samesame.formula.equal import NotProved, Proved, prove_equal
from samesame.formula.expr import Fn, Size, and_, const, floordiv, index, le, lt, maximum, minimum, mod, where
from samesame.formula.tensor import leaf

N = Size("N", 1)
AT = index(N)
ROWS, WIDTH = 3, 4
row, plane = leaf("row", (WIDTH,)), leaf("plane", (ROWS, WIDTH))
flat = leaf("plane", (ROWS * WIDTH,))
y, z = leaf("y", (N,)), leaf("z", (N,))
F1, F2 = Fn("floor", WIDTH * y[AT]), Fn("floor", ROWS * z[AT])


def within(place, most, least=0):
    return minimum(maximum(place, const(least)), const(most))


def inside(place, size=WIDTH):
    return and_(le(0, place), lt(place, const(size)))


def masked(value, *conditions):
    return where(and_(*conditions), value, 0)


BARE = masked(row[F1], inside(F1))
NEXT = masked(row[F1 + 1], inside(F1 + 1))
FLAT = masked(flat[WIDTH * F2 + F1], inside(F1), inside(F2, ROWS))
PLACE = WIDTH * within(F2, ROWS - 1) + within(F1, WIDTH - 1)
SAME = {
    "in a row": (BARE, masked(row[within(F1, WIDTH - 1)], inside(F1))),
    "at its lower end": (BARE, masked(row[maximum(F1, const(0))], inside(F1))),
    "at an end beyond": (BARE, masked(row[within(F1, WIDTH, -2)], inside(F1))),
    "the next place": (NEXT, masked(row[within(F1 + 1, WIDTH - 1)], inside(F1 + 1))),
    "said otherwise": (masked(row[F1], lt(-1, F1), le(F1, WIDTH - 1)),
                       masked(row[within(F1, WIDTH - 1)], lt(-1, F1), le(F1, WIDTH - 1))),
    "part of the row": (masked(row[F1], inside(F1, 2)), masked(row[within(F1, WIDTH - 1)], inside(F1, 2))),
    "a place in a plane": (FLAT, masked(flat[PLACE], inside(F2, ROWS), inside(F1))),
    "its row and column": (masked(plane[F2, F1], inside(F1), inside(F2, ROWS)),
                           masked(plane[floordiv(PLACE, WIDTH), mod(PLACE, WIDTH)], inside(F1), inside(F2, ROWS))),
    "several": (y[AT] * BARE + z[AT] * NEXT, y[AT] * masked(row[within(F1, WIDTH - 1)], inside(F1))
                + z[AT] * masked(row[within(F1 + 1, WIDTH - 1)], inside(F1 + 1))),
}
NOT_SAME = {
    "clamped to an element less": (BARE, masked(row[within(F1, WIDTH - 2)], inside(F1))),
    "clamped to an element more": (BARE, masked(row[within(F1, WIDTH - 1, 1)], inside(F1))),
    "not asked below": (BARE, masked(row[within(F1, WIDTH - 1)], lt(F1, WIDTH))),
    "not asked above": (BARE, masked(row[within(F1, WIDTH - 1)], le(0, F1))),
    "asked beyond the end": (BARE, masked(row[within(F1, WIDTH - 1)], inside(F1, WIDTH + 1))),
    "asked of the next place": (BARE, masked(row[within(F1, WIDTH - 1)], inside(F1 + 1))),
    "asked of another": (BARE, masked(row[within(F1, WIDTH - 1)], inside(F2))),
    "rows of another length": (FLAT, masked(flat[ROWS * within(F2, ROWS - 1) + within(F1, WIDTH - 1)],
                                            inside(F2, ROWS), inside(F1))),
    "columns of another length": (masked(plane[F2, F1], inside(F1), inside(F2, ROWS)), masked(
        plane[floordiv(PLACE, ROWS), mod(PLACE, ROWS)], inside(F1), inside(F2, ROWS))),
    "a column that is no digit": (masked(plane[F2, F1], inside(F1 - 1, WIDTH), inside(F2, ROWS)), masked(
        plane[floordiv(WIDTH * F2 + F1, WIDTH), mod(F1, WIDTH)], inside(F1 - 1, WIDTH), inside(F2, ROWS))),
    "the other order": (FLAT, masked(flat[WIDTH * within(F1, WIDTH - 1) + within(F2, ROWS - 1)],
                                     inside(F2, ROWS), inside(F1))),
}


@pytest.mark.parametrize("name", SAME)
def test_a_clamp_that_conditions_leave_idle_says_nothing(name):
    assert isinstance(prove_equal(*SAME[name]), Proved)


@pytest.mark.parametrize("name", NOT_SAME)
def test_a_clamp_that_may_be_met_says_something(name):
    assert isinstance(prove_equal(*NOT_SAME[name], budget=Budget(seconds=2.0)), NotProved)


def sampled(image, x, y):
    """Four elements around each place of an image, by torch."""
    grid = torch.stack((2 * x - 1, 2 * y - 1), -1)[:, None]
    return F.grid_sample(image, grid, align_corners=False)[:, :, 0]


IMAGE = (torch.randn(2, 3, ROWS, WIDTH), torch.rand(2, 4), torch.rand(2, 4))


def by_corners(image, x, y, last=WIDTH - 1, least=0, more=1):
    """The same by hand: indices within the image, and zeros for what lies outside."""
    high, wide = image.shape[2:]
    x, y = x * wide - 0.5, y * high - 0.5
    left, top = x.floor(), y.floor()

    def corner(i, j):
        there = (j >= least) & (j < wide) & (i >= 0) & (i < high)
        place = i.clamp(0, high - 1).long() * wide + j.clamp(0, last).long()
        return image.flatten(2).gather(2, place[:, None].expand(-1, image.shape[1], -1)) * there[:, None]

    a, b = (x - left)[:, None], (y - top)[:, None]
    return (corner(top, left) * (1 - a) * (1 - b) + corner(top, left + more) * a * (1 - b)
            + corner(top + 1, left) * (1 - a) * b + corner(top + 1, left + more) * a * b)


def test_bilinear_samples_are_gathered_by_hand():
    verdict = check(sampled, by_corners, IMAGE, certify=True)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE
    checked, _ = replay(verdict.certificate, None)
    assert checked


@pytest.mark.parametrize("twin", [{"last": WIDTH - 2}, {"least": 1}, {"more": 0}])
def test_other_corners_are_told_apart(twin):
    assert check(sampled, lambda image, x, y: by_corners(image, x, y, **twin), IMAGE).verdict == "different"
