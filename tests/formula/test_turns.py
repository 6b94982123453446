"""Whole turns leave sines and cosines, and sums that leave a place out are sums less that place: in numbers, in proofs,
and not where it only looks so."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from samesame.formula.equal import NotProved, Proved, prove_tensors_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import PI, Size, Sum, cos, eq, exp, fn, le, mod, not_, sin, sqrt, where
from samesame.formula.tensor import leaf, tensor

N = Size("N", 2)
x, real, row, z = leaf("x", (N,)), leaf("real", (N,)), leaf("row", (N,), "int", (0, N - 1)), leaf("z", (N, N))
unit = leaf("unit", (N,))
SIZES = (2, 3, 5, 8)


def wave(of, k, n, size):
    return of(2 * PI * k * n / size)


HOLD = {
    "whole turns": lambda i: (cos(PI * x[i] + 4 * PI * i), cos(PI * x[i])),
    "half turns": lambda i: (sin(5 * PI * i * row[i]) + sin(PI * x[i] - 2 * PI * row[i]), sin(PI * x[i])),
    "the other half of a spectrum": lambda i: (
        Sum(N, lambda n: x[n] * wave(cos, N - i, n, N)), Sum(N, lambda n: x[n] * wave(cos, i, n, N))),
    "the other half of a spectrum, odd": lambda i: (
        Sum(N, lambda n: x[n] * wave(sin, N - i, n, N)), -Sum(N, lambda n: x[n] * wave(sin, i, n, N))),
    "seven eighths are an eighth back": lambda i: (cos(Fraction(7, 4) * PI * i), cos(Fraction(1, 4) * PI * i)),
    "a table of one turn": lambda i: (
        Sum(N, lambda n: x[n] * wave(cos, mod(i * n, N), 1, N)) + sin(PI * mod(3 * i, 16) / 8),
        Sum(N, lambda n: x[n] * wave(cos, i, n, N)) + sin(3 * PI * i / 8)),
    "a remainder of a remainder": lambda i: (cos(PI * mod(mod(i, 12) * row[i], 6) / 3), cos(PI * i * row[i] / 3)),
    "roots": lambda i: (cos(PI / 4) ** 2 + cos(PI / 6) ** 2 + sin(PI / 6) + cos(PI) + x[i], x[i] + Fraction(3, 4)),
    "fifths": lambda i: (x[i] * sin(PI / 5) + cos(4 * PI / 5), x[i] * cos(3 * PI / 10) - cos(PI / 5)),
    "a margin on an angle": lambda i: (
        cos(fn("acos")(unit[i]) + Fraction(3, 10)),
        unit[i] * cos(Fraction(3, 10)) - sqrt(1 - unit[i] ** 2) * sin(Fraction(3, 10))),
    "an angle by its sine": lambda i: (
        sin(x[i] - fn("asin")(unit[i])), sin(x[i]) * sqrt(1 - unit[i] ** 2) - cos(x[i]) * unit[i]),
    "an angle by its tangent": lambda i: (sin(2 * fn("atan")(x[i])), 2 * x[i] / (1 + x[i] ** 2)),
    "what an angle lacks of a quarter turn": lambda i: (
        fn("atan")(2 * exp(x[i] - real[i])) + fn("atan")(exp(real[i]) / exp(x[i]) / 2), PI / 2),
    "an angle by its cosine": lambda i: (
        sin(fn("acos")(unit[i])) ** 2 + cos(fn("acos")(-unit[i])), 1 - unit[i] ** 2 - unit[i]),
    "a class that is left out": lambda i: (
        Sum(N, lambda c: where(eq(c, row[i]), 0, fn("tanh")(z[i, c]))),
        Sum(N, lambda c: fn("tanh")(z[i, c])) - fn("tanh")(z[i, row[i]])),
    "two that are left out": lambda i: (
        Sum(N, lambda c: where(eq(c, row[i]), 0, where(eq(c, 0), 0, x[c]))),
        Sum(N, lambda c: x[c]) - x[row[i]] - where(eq(row[i], 0), 0, x[0])),
}
DO_NOT = {
    "an angle the other way": lambda i: (sin(-fn("acos")(unit[i])), sqrt(1 - unit[i] ** 2)),
    "what an angle of either sign lacks": lambda i: (fn("atan")(x[i]) + fn("atan")(1 / x[i]), PI / 2),
    "a cosine's angle": lambda i: (fn("acos")(cos(x[i])), x[i]),
    "half an angle by its cosine": lambda i: (cos(fn("acos")(unit[i]) / 2), unit[i] / 2),
    "half turns of a real": lambda i: (cos(PI * real[i] + 2 * PI * x[i]), cos(PI * real[i])),
    "a half turn": lambda i: (cos(PI * x[i] + PI * i), cos(PI * x[i])),
    "turns that are no multiples of π": lambda i: (cos(x[i] + 2 * i), cos(x[i])),
    "a table of half a turn": lambda i: (cos(2 * PI * mod(i, 3) / 6), cos(2 * PI * i / 6)),
    "a table of one turn, and more": lambda i: (sin(PI * mod(i, 5) / 2), sin(PI * i / 2)),
    "a table by a real": lambda i: (cos(2 * PI * mod(i, 2) * x[i] / 2), cos(2 * PI * i * x[i] / 2)),
    "turns by a fraction": lambda i: (sin(2 * PI * i / N), sin(PI * 0 * i)),
    "an eighth forward": lambda i: (sin(Fraction(7, 4) * PI * i), sin(Fraction(1, 4) * PI * i)),
    "another root": lambda i: (cos(PI / 6) + x[i], Fraction(1, 2) + x[i]),
    "a class that is not left out": lambda i: (
        Sum(N, lambda c: where(eq(c, row[i]), 0, x[c])), Sum(N, lambda c: x[c]) - x[i]),
    "what is left out twice": lambda i: (
        Sum(N, lambda c: where(eq(c, row[i]), 0, where(eq(c, 0), 0, x[c]))), Sum(N, lambda c: x[c]) - x[row[i]] - x[0]),
}


def sides(claim):
    return [tensor((N,), lambda i, k=k: claim(i)[k]) for k in (0, 1)]


def numbers(tensors, n, seed=0):
    draw = np.random.default_rng(seed)
    values = {"unit": draw.uniform(-1, 1, n), "x": draw.normal(size=n), "real": draw.normal(size=n),
              "row": draw.integers(0, n, n), "z": draw.normal(size=(n, n))}
    return [evaluate(t, values, {"N": n}) for t in tensors]


@pytest.mark.parametrize("claim", HOLD.values(), ids=HOLD)
def test_what_holds_holds_in_numbers_and_is_proved(claim):
    for n in SIZES:
        np.testing.assert_allclose(*numbers(sides(claim), n), rtol=1e-9, atol=1e-12)
    assert isinstance(prove_tensors_equal(*sides(claim)), Proved)


@pytest.mark.parametrize("claim", DO_NOT.values(), ids=DO_NOT)
def test_what_looks_like_it_is_not_proved(claim):
    assert any(not np.allclose(*numbers(sides(claim), n)) for n in SIZES)
    assert isinstance(prove_tensors_equal(*sides(claim)), NotProved)


def test_an_angle_has_a_value_where_its_cosine_is_one_and_that_is_said():
    left = tensor((N,), lambda i: cos(fn("acos")(unit[i])))
    proved = prove_tensors_equal(left, tensor((N,), lambda i: unit[i]))
    assert isinstance(proved, Proved) and [*map(str, proved.conditions)] == ["−1 ≤ unit[i] ≤ 1"]


def test_what_has_no_value_at_the_place_left_out_stays_as_it_is():
    """Σ [c ≠ i]/(c − i) is a number, and Σ 1/(c − i) is none."""
    left = tensor((N,), lambda i: Sum(N, lambda c: where(eq(c, i), 0, x[c] / (c - i))))
    all_places = tensor((N,), lambda i: Sum(N, lambda c: x[c] / (c - i)))
    right = tensor((N,), lambda i: all_places[i] - Sum(N, lambda c: where(eq(c, i), x[c] / (c - i), 0)))
    assert isinstance(prove_tensors_equal(left, left), Proved)
    assert isinstance(prove_tensors_equal(left, right), NotProved)


def test_counts_as_places_are_equal_where_what_is_counted_is():
    shown = leaf("shown", (N,), "bool")

    def before(i, within=lambda k, i: le(k + 1, i)):
        return Sum(N, lambda k: where(within(k, i), where(shown[k], 1, 0), 0))

    left = tensor((N,), lambda i: where(shown[i], x[before(i)], 0))
    same = tensor((N,), lambda i: where(shown[i], x[before(i, lambda k, i: not_(le(i, k)))], 0))
    other = tensor((N,), lambda i: where(shown[i], x[before(i, le)], 0))
    assert isinstance(prove_tensors_equal(left, same), Proved)
    assert isinstance(prove_tensors_equal(left, other), NotProved)
