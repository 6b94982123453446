"""What is said of an expression's sign, and of whether it has a value, is so at every point."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from samesame.formula.definite import ANY, EVIDENT, Signs, Unknown
from samesame.formula.expr import (
    NEG_INF,
    ONE,
    PI,
    ZERO,
    Add,
    Compare,
    Extremum,
    Fn,
    Fold,
    Index,
    Lambda,
    Load,
    Max,
    Mul,
    Named,
    NegInf,
    Num,
    Opaque,
    Pow,
    Size,
    Sum,
    Where,
    absolute,
    add,
    const,
    exp,
    index,
    log,
    lt,
    maximum,
    minimum,
    mul,
    power,
    sigmoid,
    sqrt,
    tanh,
    where,
)
from samesame.formula.scalars import LOGARITHMS, OF_ITS_SIGN, SCALARS
from samesame.formula.spans import ABOVE, BELOW, FINITE, Places, between
from samesame.formula.tensor import leaf

HALF = Fraction(1, 2)
SIZES = Size("n", 0), Size("m", 1)
K, L = index(SIZES[0]), index(SIZES[1])
I = index(3)  # noqa: E741
LEAVES = leaf("x", ()), leaf("y", ())
ROW = leaf("r", (3,))
SMALL, LARGE = 1e-6, 1e6                        # beyond these, rounding is no longer nothing


def value(e, at):
    """The value of an expression at a point, infinite ones among them; None where it has none."""
    match e:
        case Num(number):
            return float(number)
        case NegInf():
            return -math.inf
        case Size() | Index():
            return float(at[e])
        case Load(tensor, indices):
            return float(at[tensor.name][tuple(int(value(i, at)) for i in indices)])
        case Where(Compare(op, a, b), then, otherwise):
            x, y = value(a, at), value(b, at)
            if x is None or y is None:
                return None
            return value(then if (x < y if op == "<" else x == y) else otherwise, at)
        case Fold(monoid, bound, body):
            points = [at]
            for v in bound:
                points = [{**p, v: n} for p in points for n in range(int(value(v.extent, at)))]
            return together(monoid, [value(body, p) for p in points])
        case Add(parts) | Mul(parts) | Extremum(_, parts):
            monoid = {Add: "sum", Mul: "prod"}.get(type(e)) or e.op
            return together(monoid, [value(part, at) for part in parts])
        case Pow(base, q):
            return near(lambda x: raised(x, q), value(base, at))
        case Fn(name, argument):
            return near(lambda x: applied(name, x), value(argument, at))
    return math.pi if e is PI else pytest.fail(f"{e}")


def together(monoid, parts):
    if None in parts:
        return None
    with np.errstate(invalid="ignore"):
        found = {"sum": np.sum, "prod": np.prod, "max": lambda p: max(p, default=-math.inf),
                 "min": lambda p: min(p, default=math.inf)}[monoid](parts)
    return near(float, found)


def raised(x, q):
    if (x == 0 and q < 0) or (x < 0 and q.denominator > 1):
        return None
    return float(np.float64(x) ** float(q))


def applied(name, x):
    with np.errstate(all="ignore"):
        found = float(SCALARS[name].values(np.array([float(x)]))[0])
    if not (SCALARS[name].domain and math.isfinite(x) and math.isinf(found)):
        return found
    return found if name in {*LOGARITHMS, "log1p"} and found < 0 else None      # log 0 is −∞, as floats have it; a pole


def near(function, x):
    """The result, where floats are not in the way of what is so over the reals."""
    if x is None or math.isnan(x) or (math.isfinite(x) and abs(x) > 12):
        return None if x is None or math.isnan(x) else reject()
    found = function(x)
    if found is None or math.isnan(found):
        return None
    if math.isfinite(x) and math.isfinite(found) and found and not SMALL < abs(found) < LARGE:
        reject()
    return found


# ------------------------------------------------------------------------------------------- at any point of anything

NUMBERS = [-2.0, -1.0, -0.5, 0.0, 0.25, 1.0, 2.0]


def points(seed):
    dice = np.random.default_rng(seed)
    for _ in range(6):
        yield {**{name: dice.choice(NUMBERS, shape) for name, shape in (("x", ()), ("y", ()), ("r", 3))},
               SIZES[0]: dice.integers(4), SIZES[1]: dice.integers(1, 4), I: dice.integers(3)}


ATOMS = [
    ZERO, ONE, const(-1), const(HALF), const(3), PI, NEG_INF, *SIZES, I, *(tensor[()] for tensor in LEAVES), ROW[I],
]
EXPONENTS = [*map(Fraction, (-2, -1, 2, 3)), HALF, -HALF, Fraction(1, 3), Fraction(2, 3)]
LARGER = [
    lambda one, of: add(of(), of()),
    lambda one, of: mul(of(), of()),
    lambda one, of: (lambda e: mul(e, e))(of()),
    lambda one, of: mul(-1, of()),
    lambda one, of: maximum(of(), of()),
    lambda one, of: minimum(of(), of()),
    lambda one, of: where(lt(one(LEAVES)[()], 0), of(), of()),
    lambda one, of: Fn(one([*SCALARS]), of()),
    lambda one, of: power(of(), one(EXPONENTS)),
    lambda one, of: exp(of()),
    lambda one, of: Fold(one(["sum", "prod", "max", "min"]), (one([K, L]),), of()),
]


@st.composite
def expressions(draw, depth):
    def one(several):
        return several[draw(st.integers(0, len(several) - 1))]

    smaller = depth and draw(st.integers(0, 3))
    return one(LARGER)(one, lambda: draw(expressions(depth - 1))) if smaller else one(ATOMS)


@settings(max_examples=400, deadline=None)
@given(expressions(3), st.integers(0, 1 << 20))
def test_a_value_is_of_the_signs_and_the_tags_that_are_said(e, seed):
    signs, tags = EVIDENT.signs(e), EVIDENT.tags(e)
    for found in (value(e, at) for at in points(seed)):
        assert found is None or (found > 0) - (found < 0) in signs
        assert tags is None or (found is not None and tag(found) in tags)
        assert found is None or math.isfinite(found) or not EVIDENT.is_finite(e)


@settings(max_examples=400, deadline=None)
@given(expressions(3), st.integers(0, 1 << 20))
@example(Add((Named("π"), Named("π"), Mul((Num(Fraction(-1)), Named("π"))))), 0)      # a term that stands there twice
def test_a_value_lies_in_the_spans_that_are_said(e, seed):
    spans = Places({}).of(e)
    for found in (value(e, at) for at in points(seed)):
        near = (found, math.nextafter(found, 0)) if found in (-1, 1) else (found,)      # as erf 6 is, rounded
        assert found is None or any(between(x, x) <= spans for x in near)


def tag(found):
    return 0 if math.isfinite(found) else 1 if found > 0 else -1


# --------------------------------------------------------------------------------------------- functions, one by one

X, Y = (tensor[()] for tensor in LEAVES)
OF_SIGN = {1: exp(X), -1: -exp(X), 0: ZERO, None: X}
REALS = [-9.5, -3.0, -1.0, -0.75, -0.25, 0.0, 0.25, 0.75, 1.0, 1.5, 4.0, 9.5]


@pytest.mark.parametrize("name", SCALARS)
@pytest.mark.parametrize("of", OF_SIGN)
def test_a_function_has_a_value_and_a_sign_where_that_is_said(name, of):
    e, argument = Fn(name, OF_SIGN[of]), OF_SIGN[of]
    inside = [x for x in REALS if of is None or (x > 0) - (x < 0) == of]
    found = [applied(name, x) for x in inside]
    has_value = [y is not None and math.isfinite(y) for y in found]
    assert not EVIDENT.in_domain(name, argument) or all(has_value)
    assert not EVIDENT.is_number(e) or all(has_value)
    signs = {(y > 0) - (y < 0) for y, has in zip(found, has_value, strict=True) if has}
    assert signs <= EVIDENT.signs(e)
    if name in OF_ITS_SIGN:
        assert signs <= EVIDENT.signs(argument) == EVIDENT.signs(e)


# ------------------------------------------------------------------------------------------------- what is to be seen

MASKED = where(lt(X, 0), X, NEG_INF)
UNKNOWN = Load(Unknown("undefined here", ()), ())
POSITIVE = {
    "an exponential": exp(X),
    "a square and one": X * X + 1,
    "a magnitude and a bit": absolute(X) + Fraction(1, 1000),
    "a root of what is positive": sqrt(1 + exp(X)),
    "one over a sum of exponentials": 1 / Fold("sum", (L,), exp(ROW[L])),
    "the largest of which one is positive": maximum(X, HALF),
    "the greatest of exponentials": Fold("max", (L,), exp(ROW[L])),
    "a product over nothing or more": Fold("prod", (K,), exp(ROW[K])),
    "a logarithm of more than one": log(1 + exp(X)),
    "what a probability is short of one": -log(sigmoid(X)),
    "a choice of positive things": where(lt(X, 0), exp(X), 2),
    "a size": SIZES[1] + I,
    "two turns": -1 * exp(X) * -3,
    "tanh of what is positive": tanh(exp(X)),
    "one more than an index": L + 1,
}
NOT_NEGATIVE = {
    "a square": X * X,
    "a square times a power": X * X * exp(Y),
    "a clamp": maximum(X, 0),
    "a sum that may be of nothing": Fold("sum", (K,), exp(ROW[K])),
    "rounded down": Fn("floor", exp(X)),
    "a root": sqrt(X * X),
    "an exponential of −∞": exp(MASKED),
    "a size that may be zero": SIZES[0],
    "an index": I,
    "of what is in the domain": Fn("log1p", X * X),
}
# what is no number above zero, and whether it is above zero where it has a value
NOT_POSITIVE = {
    "a number": (X, False),
    "a difference": (exp(X) - exp(Y), False),
    "a product of unknown signs": (X * Y, False),
    "a root that may have no value": (exp(sqrt(X)), True),
    "one over what may be zero": (power(X, -2), True),
    "what nobody knows": (exp(UNKNOWN), False),
    "what an operator makes": (exp(Opaque("op", (), (Lambda((I,), ROW[I]),), (), "real")), False),
    "an exponential of −∞": (exp(MASKED), False),
    "an exponential of a logarithm of 0": (exp(log(X)), False),
    "an exponential of the greatest of nothing": (exp(Fold("max", (K,), ROW[K])), False),
    "a sigmoid of −∞": (sigmoid(MASKED), False),
    "a sum of nothing": (Fold("sum", (K,), exp(ROW[K])), False),
    "the greatest of nothing": (Fold("max", (K,), exp(ROW[K])), False),
    "a probability of one": (-log(sigmoid(mul(-1, MASKED))), False),
    "one over ∞": (power(mul(-1, MASKED), -2), False),
    "rounded to zero": (Fn("floor", exp(X)), False),
    "outside of the domain": (Fn("acos", exp(X)) + 1, True),
    "∞": (mul(-1, NEG_INF), True),
}


@pytest.mark.parametrize("name", POSITIVE)
def test_a_number_above_zero_is_seen(name):
    e = POSITIVE[name]
    assert EVIDENT.is_positive(e) and EVIDENT.is_nonnegative(e) and EVIDENT.is_nonzero(e)
    assert not EVIDENT.is_positive(-e)


@pytest.mark.parametrize("name", NOT_NEGATIVE)
def test_a_number_that_is_never_below_zero_is_seen(name):
    e = NOT_NEGATIVE[name]
    assert EVIDENT.is_nonnegative(e) and not EVIDENT.is_positive(e) and not EVIDENT.is_nonzero(e)


@pytest.mark.parametrize("name", NOT_POSITIVE)
def test_where_there_is_a_value_is_not_everywhere(name):
    e, where_it_is = NOT_POSITIVE[name]
    assert not EVIDENT.is_positive(e) and EVIDENT.above_zero(e) == where_it_is


def test_a_product_with_an_infinity_is_one_where_the_other_has_a_sign():
    assert EVIDENT.tags(mul(exp(X), NEG_INF)) == {-1} and EVIDENT.tags(mul(-1, exp(X), NEG_INF)) == {1}
    assert EVIDENT.tags(mul(X, NEG_INF)) is None and EVIDENT.tags(mul(X * X, NEG_INF)) is None
    assert EVIDENT.tags(add(NEG_INF, mul(-1, MASKED))) is None and EVIDENT.tags(power(UNKNOWN, 2)) is None


def test_what_is_known_of_integers_is_taken():
    number, given = leaf("t", (), "int")[()], lt(0, leaf("t", (), "int")[()])
    assert EVIDENT.signs(number) == ANY
    assert Signs(holds=lambda condition: condition is given).is_positive(exp(X) * number)
    assert Signs(least=lambda e: 3 if e is number else None).is_positive(number)
    one = Fold("max", (index(number),), exp(ROW[0]))
    assert Signs(holds=lambda condition: condition is given).is_positive(one) and not EVIDENT.is_positive(one)


def test_a_number_less_a_bound_that_may_be_infinite_may_be_minus_infinity() -> None:
    x, y = leaf("x", ())[()], leaf("y", ())[()]
    assert BELOW in Places({"x": FINITE, "y": FINITE | {ABOVE}}).of(x - maximum(x, y))
    assert BELOW not in Places({"x": FINITE, "y": FINITE}).of(x - maximum(x, y))


SHARE = sigmoid(X)


@pytest.mark.parametrize("above", [
    1 - SHARE,
    2 - SHARE,
    exp(X) + SHARE * (exp(Y) - exp(X)),
    exp(X) + SHARE * HALF * (exp(Y) - exp(X)),
    (1 - SHARE) * exp(X) + SHARE * exp(Y),
])
def test_what_is_left_of_one_and_what_lies_between_are_above_zero(above):
    assert EVIDENT.above_zero(above)


@pytest.mark.parametrize("unknown", [
    HALF - SHARE,                                        # less than one is there
    1 - exp(X),                                          # taken away may be more
    1 - SHARE - sigmoid(Y),                        # so may be two
    exp(X) + exp(Y) * (exp(Y) - exp(X)),                 # beyond the one of the two
    exp(X) - SHARE * (exp(Y) - exp(X)),
    X + SHARE * (exp(Y) - X),
])
def test_what_is_beyond_may_be_below_zero(unknown):
    assert not EVIDENT.never_negative(unknown)


@pytest.mark.parametrize("bound", [
    Max(Size("n", 0), lambda k: const(-1)),
    log(Sum(Size("n", 0), lambda k: exp(const(-1)))),
])
def test_the_greatest_of_nothing_is_no_bound_of_a_constant(bound):
    """−1 less the greatest of no −1s, or less the logarithm of a sum of none, is ∞."""
    assert ABOVE in Places({}).of(add(-1, mul(-1, bound)))
    assert ABOVE not in Places({}).of(add(-1, mul(-1, Max(Size("n", 1), lambda k: const(-1)))))
