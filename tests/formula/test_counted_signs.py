"""The solver knows the signs of what comparisons are made of: what is above exp(y) is above 0."""

from __future__ import annotations

import pytest

from samesame.formula.equal import Proved, prove_equal
from samesame.formula.expr import Size, const, exp, fn, index, lt, maximum, minimum, sqrt, where
from samesame.formula.tensor import leaf

N = Size("N", 2)
x, y = leaf("x", (N,)), leaf("y", (N,))
i = index(N)
a, b = x[i], y[i]
absolute = fn("abs")
softplus, sigmoid = map(fn, ("softplus", "sigmoid"))
POSITIVE = {"exp": exp(b), "softplus": softplus(b), "sigmoid": sigmoid(b), "square": b * b, "abs": absolute(b)}
OF_NO_SIGN = {"y": b, "sin": fn("sin")(b), "cube": b**3, "log": fn("log")(exp(b) + 1) - 1}


def clipped(e):
    return (absolute(a) - absolute(a - e) + e) / 2, minimum(maximum(a, 0), e)


def above(e):
    return where(lt(0, a - e), where(lt(a, 0), 1, 0), 0), const(0)


def in_turn(e):
    return maximum(maximum(a, 0) - e, 0), maximum(a - e, 0)


@pytest.mark.parametrize("claim", [clipped, above, in_turn])
@pytest.mark.parametrize("e", POSITIVE.values(), ids=POSITIVE)
def test_of_a_number_that_is_not_negative(claim, e):
    assert isinstance(prove_equal(*claim(e)), Proved)


@pytest.mark.parametrize("claim", [clipped, above, in_turn])
@pytest.mark.parametrize("e", OF_NO_SIGN.values(), ids=OF_NO_SIGN)
def test_of_any_number_none_of_it_holds(claim, e):
    assert not isinstance(prove_equal(*claim(e)), Proved)


def test_a_root_is_of_its_sign_where_it_has_a_value():
    answer = prove_equal(*above(sqrt(b)))
    assert isinstance(answer, Proved) and any("≥ 0" in str(condition) for condition in answer.conditions)
