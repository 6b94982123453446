"""Taking monotone functions off a row leaves its order alone, and what is no such function stays on."""

import math
from fractions import Fraction

import numpy as np
import pytest

from samesame.formula.equal import NotProved, Proved, prove_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import (
    NEG_INF,
    Fn,
    Fold,
    Lambda,
    Max,
    Opaque,
    Size,
    Sum,
    absolute,
    cos,
    eq,
    exp,
    index,
    le,
    log,
    lt,
    maximum,
    minimum,
    not_,
    power,
    sigmoid,
    sin,
    sqrt,
    substitute,
    tanh,
    walk,
    where,
)
from samesame.formula.monotone import apart, ordered, under
from samesame.formula.tensor import leaf, tensor

ROWS, LENGTH = 6, 5
J = index(LENGTH)
I = index(ROWS)  # noqa: E741
x, w, mask = leaf("x", (ROWS, LENGTH)), leaf("w", (ROWS,)), leaf("mask", (ROWS, LENGTH), "bool")
HALF = Fraction(1, 2)


def total(f):
    return Sum(LENGTH, lambda k: f(x[I, k]))


V = x[I, J]
MASKED = where(mask[I, J], V, NEG_INF)
RISING = {
    "softmax": exp(V) / total(exp),
    "softmax with a shift": exp(V - Max(LENGTH, lambda k: x[I, k])) / Sum(LENGTH, lambda k: exp(x[I, k])),
    "log-softmax": V - log(total(exp)),
    "sigmoid": sigmoid(V),
    "sigmoid spelled out": 1 / (1 + exp(-V)),
    "a bias for the row": V * 3 + w[I] - 7,
    "a norm": V * power(total(lambda e: e * e) + total(lambda e: power(e, 2)) + HALF, -HALF),
    "a root of what is positive": sqrt(exp(V) + 1),
    "a logarithm of what is not negative": log(1 + exp(tanh(V))),
    "two turns": -3 * (1 - V),
    "a cube": V * V * V + power(V, 3),
    "a slope below zero": where(lt(0, V), V, V / 5),
    "two slopes, by which is larger": maximum(V + w[I], (V + w[I]) / 5),
    "a slope of a product": where(le(0, 3 * V), 3 * V, 3 * V / 5),
    "a slope, asked of a sum": where(not_(lt(w[I] + V, 1)), 2 * (w[I] + V), w[I] + V + 1),
    "a jump up at what is no number": where(lt(w[I], V), V + 1, V),
    "a jump up": where(le(V, 2), V - w[I], V - w[I] + 1),
    "an exponential below zero": 2 * where(lt(0, V), V, 3 * (exp(V) - 1)),
    "a positive factor that is chosen": V * where(lt(w[I], 0), 2, exp(w[I])),
    "a bias that is a root of a square": V + sqrt(w[I] * w[I]),
    "a positive factor that is no number": V * exp(w[I]) * (2 + absolute(w[I])),
    "two factors below zero": V * (-1 - exp(w[I])) * (-2 - absolute(w[I])),
}
FALLING = {
    "turned": -V,
    "one minus": 1 - sigmoid(V),
    "exp(−x)": exp(-2 * V) / total(exp),
    "an inverse": power(1 + exp(V), -1),
    "three factors below zero": V * (-1 - exp(w[I])) * (-2 - absolute(w[I])) * (-3 - w[I] * w[I]),
}
STAYS = {
    "a factor of unknown sign": V * w[I],
    "a factor that may be zero": V * power(w[I], 2),
    "a factor of the element": V * exp(x[I, J]),
    "a bias of the element": V + leaf("b", (LENGTH,))[J],
    "a scale of the element": V * exp(leaf("b", (LENGTH,))[J]),
    "a cube and more": V * V * V + V * V,
    "a slope of unknown sign below zero": where(lt(0, V), V, w[I] * V),
    "a magnitude": where(lt(0, V), V, -V),
    "a jump down": where(lt(0, V), V, V + 1),
    "a corner that turns round": where(lt(1, V), V, 2 * V),
    "an exponential that falls": where(lt(0, V), V, -1 * (exp(V) - 1)),
    "a threshold of the element": where(lt(leaf("b", (LENGTH,))[J], V), 2 * V, V),
    "what is chosen by something else": where(lt(0, w[I]), 2 * V, V),
    "a choice at one number": where(eq(V, 0), V, V),
    "a corner by a choice": where(lt(0, V), V, 0),
    "two that are not one": maximum(V, leaf("y", (ROWS, LENGTH))[I, J]),
    "one that rises and one that falls": maximum(V, -V),
    "an absolute value": absolute(V),
    "a wave": sin(V),
    "an even wave": cos(V),
    "a step": Fn("floor", V),
    "a corner": maximum(V, 0),
    "a logarithm of anything": log(V),
    "a root of anything": sqrt(V),
    "an inverse of anything": power(V, -1),
    "a sum that may be −∞": V + Max(LENGTH, lambda k: where(mask[I, k], x[I, k], NEG_INF)),
    "a sum that may be nothing": V * power(Sum(LENGTH, lambda k: where(mask[I, k], 1, 0)), -1),
    "a shift that may have no value": V + power(w[I], -1),
    "a logarithm for the row that may have no value": V + log(w[I]),
    "a sum over a size that may be zero": V * Sum(Size("n", 0), lambda k: exp(w[I])),
    "turned, with −∞": -1 * MASKED,
    "a sigmoid of −∞": sigmoid(MASKED),
}
VALUES = {
    "x": np.array([[1, 2, 2, -1, 0], [0, 0, 0, 0, 0], [3, -3, 3, -3, 3], [0.5, 0.25, 0.5, 2, 2], [-1, -2, -3, -4, -5],
                   [1, 5, 2, 4, 3]]),
    "w": np.array([-2.0, -1, 0, 1, 2, 3]),
}


@pytest.mark.parametrize("name", [*RISING, *FALLING])
def test_what_is_taken_off_changes_no_comparison(name):
    element = (RISING | FALLING)[name]
    found = apart(element, frozenset([J]))
    assert found.core is V and found.rising == (name in RISING)
    sides = [at_all_elements(e) for e in (element, found.back(found.core))]
    assert np.allclose(*sides, rtol=1e-12)
    turn = 1 if found.rising else -1
    for row, mine in zip(VALUES["x"], sides[0], strict=True):
        for j in range(LENGTH):
            for k in range(LENGTH):
                assert (mine[j] > mine[k] and not math.isclose(mine[j], mine[k])) == (turn * row[j] > turn * row[k])


def at_all_elements(element):
    return evaluate(tensor((ROWS, LENGTH), lambda i, j: substitute(element, {I: i, J: j})), VALUES)


def test_a_square_is_in_the_order_of_magnitudes():
    assert [apart(e, frozenset([J])).core for e in (power(V, 2), V * V, 3 * power(V, 4))] == [absolute(V)] * 3
    assert apart(power(V, 2), frozenset([J])).rising


LEVEL = {
    "a corner": STAYS["a corner"],
    "a corner by a choice": STAYS["a corner by a choice"],
    "a step": STAYS["a step"],
    "a value below a threshold": where(le(V, 1), 0, V),
    "two limits": minimum(maximum(V + w[I], -1), 2),
    "limits that are no numbers": maximum(minimum(V, 3), w[I]),
    "a long step": Fn("floor", V / 2),
    "a rounding": Fn("round", V) * 3 - w[I],
    "a sign": Fn("sign", V),
    "a square above zero": power(maximum(V, 0), 2),
    "a softplus": log(1 + exp(V)),
    "a fall, then level": maximum(-V, 0),
    "turned limits": -1 * minimum(maximum(V, -1), 1),
    "one minus a sigmoid, rounded": Fn("ceil", 5 * (1 - sigmoid(V))),
    "level above": where(lt(V, 1), V, 1),
    "level above, and higher": where(lt(V, 1), V, 4),
    "a fall by a choice": where(lt(0, V), -V, 2),
}
TWO_WAYS = {
    "level above, and lower": where(lt(V, 1), V, 0),
    "a magnitude": maximum(V, -V),
    "a value below a threshold that lies above it": where(le(V, 1), 2, V),
    "a value of the row": where(le(V, 1), w[I], V),
    "a wave": sin(V),
    "masked": maximum(MASKED, 0),
    "logarithms that fall": -log(maximum(V, 0)),
}


@pytest.mark.parametrize("name", [*RISING, *FALLING, *LEVEL])
@pytest.mark.parametrize("monoid", ["max", "min"])
def test_the_greatest_is_what_the_greatest_or_the_least_becomes(monoid, name):
    element = (RISING | FALLING | LEVEL)[name]
    taken = under(monoid, (J,), element)
    assert any(isinstance(e, Fold) and e.bound == (J,) and e.body is V for e in walk(taken))
    assert np.allclose(of_rows(Fold(monoid, (J,), element)), of_rows(taken), rtol=1e-12)


def of_rows(element):
    return evaluate(tensor((ROWS,), lambda i: substitute(element, {I: i})), VALUES)


@pytest.mark.parametrize("name", [*TWO_WAYS, *(name for name in STAYS if name not in LEVEL)])
def test_what_turns_round_stays_under_a_maximum(name):
    element = (TWO_WAYS | STAYS)[name]
    assert under("max", (J,), element) is Fold("max", (J,), element)


@pytest.mark.parametrize("name", STAYS)
def test_what_may_change_the_order_stays_on(name):
    found = apart(STAYS[name], frozenset([J]))
    assert found.core is STAYS[name] and found.rising


SHARE = minimum(maximum(x[I, J], Fraction(1, 100)), Fraction(99, 100))
PRODUCTS = {
    "two exponentials": (exp(V) * exp(2 * w[J]), V + 2 * w[J]),
    "a softmax over an exponential variable": (exp(V) / total(exp) / (-1 * log(SHARE)), V - log(-1 * log(SHARE))),
    "a softmax times a positive score": (-3 * exp(V) * (1 + w[J] * w[J]), V + log(1 + w[J] * w[J])),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_product_of_positive_things_is_in_the_order_of_its_logarithm(name):
    product, logarithm = PRODUCTS[name]
    found = ordered(product, frozenset([J]))
    whole, core, back = map(at_all_elements, (product, found.core, found.back(found.core)))
    assert np.allclose(back, whole, rtol=1e-12) and np.allclose(core, at_all_elements(logarithm), rtol=1e-12)
    turn = 1 if found.rising else -1
    assert (np.argsort(whole, kind="stable") == np.argsort(turn * core, kind="stable")).all()
    position = Opaque("aten.argmax" if found.rising else "aten.argmin", (), (Lambda((J,), logarithm),), (), "int")
    assert isinstance(prove_equal(Opaque("aten.argmax", (), (Lambda((J,), product),), (), "int"), position), Proved)


@pytest.mark.parametrize("product", [
    exp(V) * w[J],                                          # of unknown sign
    exp(V) * absolute(w[J]),                                # may be 0, and the logarithm of that is no number
    exp(V) * log(SHARE),                                    # below 0
    exp(V) * -1 * log(minimum(maximum(V, HALF), 2)),        # of both signs
    exp(MASKED) * exp(w[J]),                                # −∞ + w is no number
    (1 + V * V) * (1 + w[J] * w[J]),                        # no exponential: nothing is simpler
])
def test_other_products_stay_as_they_are(product):
    assert ordered(product, frozenset([J])).core is product


def test_masked_elements_stay_the_smallest():
    """exp(−∞) = 0 lies below every other exp; the row of logarithms is the masked row again."""
    found = apart(exp(MASKED) * 2 + 1, frozenset([J]))
    assert found.core is MASKED and found.rising


def test_what_is_the_same_in_one_dimension_is_not_in_another():
    """The sum of a row scales the row; it scales each element of a column by another number."""
    softmax = exp(V) / total(exp)
    assert apart(softmax, frozenset([J])).core is V
    assert apart(softmax, frozenset([I])).core is not V
    assert apart(softmax, frozenset([I, J])).core is not V


@pytest.mark.parametrize("name, other", [("aten.argmax", "aten.argmin"), ("aten.argmin", "aten.argmax")])
def test_the_normal_form_of_a_position_leaves_them_out(name, other):
    def position(of, element):
        return Opaque(of, (), (Lambda((J,), element),), (), "int")

    softmax = RISING["softmax"]
    assert isinstance(prove_equal(position(name, softmax), position(name, V)), Proved)
    assert isinstance(prove_equal(position(name, 1 - softmax), position(other, V)), Proved)
    for wrong in (position(other, V), position(name, -V), position(name, V * w[I]), position(name, power(V, 2))):
        assert isinstance(prove_equal(position(name, softmax), wrong), NotProved)
