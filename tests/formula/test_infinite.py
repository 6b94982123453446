"""+∞ is −1·(−∞): a negative factor goes inside of choices and extrema, and what is left of a +∞ proves nothing."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samesame.formula.effort import Budget, spending
from samesame.formula.equal import NotProved, Proved, prove_equal, prove_tensors_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import (
    NEG_INF,
    Expr,
    Extremum,
    Lambda,
    Max,
    Min,
    Mul,
    Opaque,
    Size,
    Sum,
    Where,
    add,
    compare,
    const,
    eq,
    exp,
    index,
    log,
    maximum,
    minimum,
    mul,
    not_,
    power,
    substitute,
    where,
)
from samesame.formula.infinite import PLUS_INFINITY, holds_infinity, negated, turned
from samesame.formula.laws import LAWS
from samesame.formula.monotone import place
from samesame.formula.normal import normal
from samesame.formula.tensor import leaf, tensor

N = Size("N", 2)
x, y = leaf("x", (N,)), leaf("y", (N,))
shown, other = leaf("shown", (N,), "bool"), leaf("other", (N,), "bool")
VALUES = {"x": np.array([1.5, -2, 0, 4]), "y": np.array([-1.0, 3, 3, -0.5]),
          "shown": np.array([True, False, True, False]), "other": np.array([True, True, False, False])}
i, j = index(N), index(N)


def values(e: Expr, at=i):
    return evaluate(tensor((N,), lambda k: substitute(e, {at: k})), VALUES, {"N": 4})


def expressions(infinite: Expr) -> st.SearchStrategy[Expr]:
    """Of numbers and one infinity, so that none is subtracted from the other."""
    leaves = st.sampled_from([x[i], y[i], const(3), infinite, where(shown[i], x[i], infinite)])
    return st.recursive(leaves, lambda parts: st.one_of(
        st.builds(lambda c, a, b: where(c[i], a, b), st.sampled_from([shown, other]), parts, parts),
        st.builds(add, parts, parts),
        st.builds(lambda op, a, b: Extremum(op, (a, b)), st.sampled_from(["max", "min"]), parts, parts),
        st.builds(lambda c, a: mul(c, a), st.sampled_from([2, 5]), parts)), max_leaves=6)


@given(st.one_of(expressions(PLUS_INFINITY), expressions(NEG_INF)), st.sampled_from([-1, -3]))
def test_a_negative_factor_inside_is_that_factor(e, factor):
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(values(negated(e)), -values(e))
        product = mul(factor, e)
        if isinstance(product, Mul):
            np.testing.assert_array_equal(values(turned(product)), factor * values(e))


def test_the_other_infinity_is_gone_where_it_can_be():
    e = minimum(where(shown[i], x[i], PLUS_INFINITY), 2 * where(other[i], PLUS_INFINITY, y[i]))
    assert holds_infinity(e) and not holds_infinity(x[i] + 1)
    assert negated(e).arguments[0] is where(shown[i], mul(-1, x[i]), NEG_INF)
    assert negated(PLUS_INFINITY) is NEG_INF


# a law, and a twin that is false
MASKED = {
    "a least element": (
        lambda k: Min(N, lambda e: where(shown[e], x[e], PLUS_INFINITY)),
        lambda k: -1 * Max(N, lambda e: where(shown[e], -1 * x[e], NEG_INF)),
        lambda k: Min(N, lambda e: x[e])),
    "the smaller of two": (
        lambda k: minimum(where(shown[k], x[k], PLUS_INFINITY), y[k]),
        lambda k: where(shown[k], minimum(x[k], y[k]), y[k]),
        lambda k: minimum(x[k], y[k])),
    "the smallest of three, one after the other": (
        lambda k: minimum(minimum(PLUS_INFINITY, where(shown[k], x[k], PLUS_INFINITY)), y[k]),
        lambda k: where(shown[k], minimum(y[k], x[k]), y[k]),
        lambda k: where(shown[k], x[k], y[k])),
    "weights of distances": (
        lambda k: Sum(N, lambda e: exp(-2 * where(shown[e], x[e], PLUS_INFINITY)) * y[e]),
        lambda k: Sum(N, lambda e: where(shown[e], exp(-2 * x[e]) * y[e], 0)),
        lambda k: Sum(N, lambda e: exp(-2 * x[e]) * y[e])),
}


@pytest.mark.parametrize("name", MASKED)
def test_what_is_masked_by_infinity_is_in_no_minimum(name):
    left, right, twin = (tensor((N,), side) for side in MASKED[name])
    a, b, c = (evaluate(side, VALUES, {"N": 4}) for side in (left, right, twin))
    np.testing.assert_allclose(a, b)
    assert not np.allclose(a, c)
    assert isinstance(prove_tensors_equal(left, right), Proved)
    assert isinstance(prove_tensors_equal(left, twin), NotProved)


@pytest.mark.parametrize(("left", "right"), [
    (PLUS_INFINITY - PLUS_INFINITY, const(0)),
    (where(shown[i], x[i], PLUS_INFINITY) - where(shown[i], x[i], PLUS_INFINITY), const(0)),
    (PLUS_INFINITY + x[i], PLUS_INFINITY + y[i]),
    (maximum(PLUS_INFINITY, x[i]), x[i]),
    (minimum(NEG_INF, x[i]), x[i]),
    (minimum(PLUS_INFINITY, PLUS_INFINITY), NEG_INF),
    (y[i] * where(shown[i], 0, PLUS_INFINITY), const(0)),
    (-1 * y[i] * where(shown[i], 0, PLUS_INFINITY), where(shown[i], 0, NEG_INF)),
    (exp(where(shown[i], x[i], PLUS_INFINITY)), exp(x[i])),
    (1 / where(shown[i], x[i], PLUS_INFINITY), where(shown[i], 1 / x[i], 0)),
])
def test_infinity_is_no_number(left, right):
    assert isinstance(prove_equal(left, right), NotProved)


@pytest.mark.parametrize("name, turned_to", [("aten.argmin", "aten.argmax"), ("aten.argmax", "aten.argmin")])
def test_a_place_among_what_is_masked_by_infinity(name, turned_to):
    row = where(shown[j], x[j], PLUS_INFINITY)
    found = place(name, Lambda((j,), row))
    assert found.name == turned_to and found.arguments[0].body is where(shown[j], mul(-1, x[j]), NEG_INF)
    both = where(shown[j], NEG_INF, PLUS_INFINITY)
    assert place(name, Lambda((j,), both)) == Opaque(name, (), (Lambda((j,), both),), (), "int")


def test_a_form_never_holds_it():
    with spending(Budget(), LAWS):
        least = normal(minimum(where(shown[i], x[i], PLUS_INFINITY), y[i]))
    assert "∞" not in least.key and math.isinf(float(values(PLUS_INFINITY)[0]))


def test_a_choice_between_what_is_equal_is_none() -> None:
    one, two = x[i], y[i]
    below, same = compare("=", one, NEG_INF), compare("=", one, two)
    assert where(below, NEG_INF, one) is one
    assert where(not_(below), one, NEG_INF) is one
    assert where(same, two, one) is one
    assert where(not_(same), two, one) is two
    assert isinstance(where(compare("<", one, two), two, one), Where)
    assert isinstance(where(same, two, NEG_INF), Where)


DEGREE = Sum(N, lambda k: where(shown[k], 1, 0))
POLES = {
    "a degree that is never 0": (power(DEGREE + 1, Fraction(-1, 2)), False),
    "an exponential": (exp(x[i]), False),
    "a count": (power(DEGREE, Fraction(-1)), True),
    "a root of a count": (power(DEGREE, Fraction(-1, 2)), True),
    "a number, less a pole": (-x[i] ** -1, True),
}


@pytest.mark.parametrize("name", POLES)
def test_what_has_no_pole_is_no_infinity(name):
    """PyG's `deg.pow(-0.5)`, in which what is infinite becomes 0: it changes nothing where nothing is."""
    e, may_be = POLES[name]
    found = prove_equal(where(eq(e, -NEG_INF), 0, e), e)
    whole = isinstance(found, Proved) and not found.conditions
    assert whole != may_be


@pytest.mark.parametrize("pole", [log(DEGREE), -DEGREE ** -1, log(x[i])])
def test_what_may_be_infinite_itself_is_not_compared_with_infinities(pole):
    assert isinstance(prove_equal(where(eq(pole, NEG_INF), 7, pole), pole), NotProved)
