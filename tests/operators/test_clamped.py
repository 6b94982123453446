"""What a value is at most, where it is divided by the largest magnitude among its neighbours."""

from __future__ import annotations

from fractions import Fraction

import pytest

from samesame.formula.expr import Expr, Fn, Size, absolute, add, const, fold, index, maximum, mul, power
from samesame.formula.tensor import leaf
from samesame.operators.clamped import clamped

M, N = Size("M", 2), Size("N", 2)
X = leaf("x", (M, N), "real")
ROW, COLUMN, OTHER_ROW, LONGER = index(M), index(N), index(M), index(Size("L", 2))
HALF = const(Fraction(1, 2))


def largest(row: Expr = ROW) -> Expr:
    return fold("max", N, lambda k: absolute(X[row, k]))


def quantised(x: Expr, scale: Expr) -> Expr:
    return Fn("floor", add(mul(127, x, power(scale, -1)), HALF))


@pytest.mark.parametrize("scale", [
    largest(),
    maximum(largest(), const(Fraction(1, 10**6))),
    add(largest(), const(Fraction(1, 10**6))),
])
def test_a_share_of_the_largest_magnitude_is_at_most_one(scale: Expr) -> None:
    assert clamped(quantised(X[ROW, COLUMN], scale)) == (-127, 127)
    assert clamped(quantised(mul(-1, X[ROW, COLUMN]), scale)) == (-127, 127)


@pytest.mark.parametrize("x, scale", [
    (X[OTHER_ROW, COLUMN], largest()),                                # of another row
    (X[ROW, LONGER], largest()),                                      # perhaps behind the row's end
    (X[ROW, COLUMN], fold("max", N, lambda k: X[ROW, k])),            # the largest number, which may be small
    (X[ROW, COLUMN], add(largest(), const(Fraction(-1, 10**6)))),     # less than the largest magnitude
    (mul(X[ROW, COLUMN], X[ROW, COLUMN]), largest()),                 # a square
    (add(X[ROW, COLUMN], 1), largest()),
])
def test_nothing_is_known_of_other_quotients(x: Expr, scale: Expr) -> None:
    assert clamped(quantised(x, scale)) is None


def test_what_is_rounded_up_may_be_one_more_as_quotients_of_floats_are_rounded() -> None:
    share = mul(127, X[ROW, COLUMN], power(largest(), -1))
    assert clamped(Fn("ceil", share)) == (-127, 128) and clamped(Fn("round", share)) == (-127, 127)
    assert clamped(Fn("floor", share)) == (-128, 127)
