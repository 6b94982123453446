"""What a value is at most, where it is divided by the largest magnitude among its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from samesame.formula.expr import (
    Expr,
    Fn,
    Size,
    absolute,
    add,
    const,
    exp,
    fold,
    index,
    maximum,
    minimum,
    mul,
    power,
    sqrt,
)
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


def of_row(monoid: str, function: Callable[[Expr], Expr] = lambda e: e, row: Expr = ROW) -> Expr:
    return fold(monoid, N, lambda k: function(X[row, k]))


ELEMENT = X[ROW, COLUMN]
LEAST = of_row("min")
FROM_LEAST, SPREAD = ELEMENT - LEAST, of_row("max") - LEAST


@pytest.mark.parametrize("x, m", [
    (FROM_LEAST, SPREAD),
    (FROM_LEAST, maximum(SPREAD / 255, Fraction(1, 10**8)) * 255),
    (FROM_LEAST, maximum(SPREAD, of_row("sum", exp))),
    (exp(ELEMENT), of_row("sum", exp)),
    (exp(ELEMENT), of_row("max", exp) + 1),
    (absolute(ELEMENT), of_row("sum", absolute) + Fraction(1, 10**6)),
])
def test_a_share_of_what_is_not_negative_is_not_negative(x: Expr, m: Expr) -> None:
    assert clamped(Fn("round", 255 * x / m)) == (0, 255)
    assert clamped(Fn("round", -255 * x / m)) == (-255, 0)


@pytest.mark.parametrize("root", [
    sqrt(of_row("sum", lambda e: power(e, 2))), maximum(sqrt(of_row("sum", lambda e: mul(e, e))), Fraction(1, 10**12)),
])
def test_a_share_of_a_norm_is_at_most_one(root: Expr) -> None:
    assert clamped(Fn("round", 100 * ELEMENT / root)) == (-100, 100)
    assert clamped(Fn("round", ELEMENT * power(of_row("sum", lambda e: power(e, 2)), Fraction(-1, 2)))) == (-1, 1)


def test_a_scale_has_the_divisor_in_it() -> None:
    scale = maximum(largest() / 127, Fraction(1, 10**8))
    assert clamped(Fn("round", ELEMENT / scale)) == (-127, 127)
    assert clamped(Fn("round", ELEMENT / maximum(largest() / 127, largest() / 100))) == (-100, 100)


@pytest.mark.parametrize("x, m", [
    (FROM_LEAST, of_row("max")),
    (FROM_LEAST, of_row("max", row=OTHER_ROW) - LEAST),
    (ELEMENT - of_row("min", row=OTHER_ROW), of_row("max") - of_row("min", row=OTHER_ROW)),
    (of_row("max") - ELEMENT, LEAST - of_row("max")),
    (ELEMENT, of_row("sum")),
    (exp(ELEMENT), of_row("sum", lambda e: exp(e) - 1)),
    (exp(2 * ELEMENT), of_row("sum", exp)),
    (exp(X[OTHER_ROW, COLUMN]), of_row("sum", exp)),
    (ELEMENT, sqrt(of_row("sum", lambda e: power(e, 4)))),
    (ELEMENT, of_row("sum", lambda e: power(e, 2))),
    (ELEMENT, minimum(largest(), 1)),
])
def test_nothing_is_known_of_what_is_no_share(x: Expr, m: Expr) -> None:
    assert clamped(Fn("round", 255 * x / m)) is None


def test_what_is_rounded_up_may_be_one_more_as_quotients_of_floats_are_rounded() -> None:
    share = mul(127, X[ROW, COLUMN], power(largest(), -1))
    assert clamped(Fn("ceil", share)) == (-127, 128) and clamped(Fn("round", share)) == (-127, 127)
    assert clamped(Fn("floor", share)) == (-128, 127)
