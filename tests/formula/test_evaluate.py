"""The evaluator: numbers for formulas, in floating point all at once and in fractions one by one."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from exactly import evaluate_exact

from samesame.formula.evaluate import Undefined, evaluate
from samesame.formula.expr import (
    NEG_INF,
    PI,
    Expr,
    Lambda,
    Max,
    Min,
    Opaque,
    Size,
    Sum,
    Unsupported,
    absolute,
    and_,
    eq,
    exp,
    fold,
    index,
    le,
    lt,
    maximum,
    minimum,
    mod,
    not_,
    or_,
    sqrt,
    where,
)
from samesame.formula.tensor import Tensor, leaf, tensor

random = np.random.default_rng(0)
A, B = random.integers(-9, 9, (3, 4)), random.integers(-9, 9, (4, 5))
a, b = leaf("a", (3, 4)), leaf("b", (4, 5))
VALUES = {"a": A, "b": B, "k": np.array([3, 0, 2, 1]), "m": random.random((3, 4)) < 0.5}
k, m = leaf("k", (4,), "int"), leaf("m", (3, 4), "bool")

TENSORS: dict[str, tuple[Tensor, Any]] = {
    "product": (tensor((3, 5), lambda i, j: Sum(4, lambda x: a[i, x] * b[x, j])), A @ B),
    "sum of what has no index": (tensor((3,), lambda i: Sum((4, 5), lambda x, y: a[i, 0])), 20 * A[:, 0]),
    "concat": (tensor((3, 6), lambda i, j: where(lt(j, 4), a[i, j], a[i, j - 4])), np.hstack([A, A[:, :2]])),
    "running sum": (tensor((3, 4), lambda i, j: Sum(j + 1, lambda x: a[i, x])), A.cumsum(1)),
    "running maximum": (tensor((3, 4), lambda i, j: Max(j + 1, lambda x: a[i, x])), np.maximum.accumulate(A, 1)),
    "lookup": (tensor((3, 4), lambda i, j: a[i, k[j]]), A[:, VALUES["k"]]),
    "nested": (tensor((3,), lambda i: Sum(4, lambda x: a[i, x] * Min(5, lambda y: b[x, y]))), A @ B.min(1)),
    "masked": (tensor((3, 4), lambda i, j: where(m[i, j], a[i, j], 7)), np.where(VALUES["m"], A, 7)),
    "square root": (tensor((3, 4), lambda i, j: sqrt(a[i, j] ** 2)), np.abs(A)),
    "division of indices": (tensor((7, 3), lambda i, j: i // 3 * 10 + mod(i, 3) - j),
                            np.arange(7)[:, None] // 3 * 10 + np.arange(7)[:, None] % 3 - np.arange(3)),
    "truth": (tensor((3, 4), lambda i, j: or_(and_(m[i, j], lt(0, a[i, j])), not_(le(i, j))), "bool"),
              (VALUES["m"] & (A > 0)) | (np.arange(3)[:, None] > np.arange(4))),
    "all and any": (tensor((3,), lambda i: where(fold("all", 4, lambda x: lt(-99, a[i, x])), 1, 0)
                           + where(fold("any", 4, lambda x: eq(a[i, x], 99)), 10, 0)), np.ones(3)),
    "product fold": (tensor((3,), lambda i: fold("prod", 4, lambda x: a[i, x])), A.prod(1)),
    "extrema": (tensor((3, 4), lambda i, j: maximum(a[i, j], minimum(0, i - j), -2)),
                np.maximum(np.maximum(A, np.minimum(0, np.arange(3)[:, None] - np.arange(4))), -2)),
    "an empty sum": (tensor((3,), lambda i: Sum(0, lambda x: a[i, x])), np.zeros(3)),
    "no elements": (tensor((0, 3), lambda i, j: a[i, j]), np.zeros((0, 3))),
    "a scalar": (tensor((), lambda: a[1, 2]), A[1, 2]),
}


@pytest.mark.parametrize("name", TENSORS)
def test_both_evaluators_give_the_number(name: str) -> None:
    formula, expected = TENSORS[name]
    found = evaluate(formula, VALUES)
    assert found.shape == np.shape(expected) and np.allclose(found, expected)
    indices, element = formula.element()
    for place in np.ndindex(found.shape):
        exact = evaluate_exact(element, VALUES, indices=dict(zip(indices, place, strict=True)))
        assert exact == pytest.approx(expected[place] if place else expected)


UNDEFINED: dict[str, Expr] = {
    "a load outside its leaf": a[0, 4],
    "the inverse of zero": (a[0, 0] - a[0, 0]) ** -1,
    "the root of a negative number": sqrt(-absolute(a[0, 0]) - 1),
    "the maximum of nothing": Max(0, lambda x: a[0, x]),
    "a sum with an undefined term": Sum(5, lambda x: a[0, x]),
    "division by a negative size": Sum(3, lambda x: x // (x - 3)),
    "zero times minus infinity": 0 * a[0, 0] * NEG_INF,
}


@pytest.mark.parametrize("name", UNDEFINED)
def test_undefined_has_no_value_and_is_not_looked_at(name: str) -> None:
    undefined = UNDEFINED[name]
    assert np.isnan(evaluate(tensor((), lambda: undefined), VALUES))
    with pytest.raises(Undefined):
        evaluate_exact(undefined, VALUES)
    safe = where(lt(a[0, 0], 100), a[0, 0], undefined)
    assert evaluate(tensor((), lambda: safe), VALUES) == A[0, 0]
    assert evaluate_exact(safe, VALUES) == A[0, 0]


def test_a_part_that_decides_makes_up_for_an_undefined_one() -> None:
    outside = lt(a[0, 9], 1)
    for formula in (and_(lt(100, a[0, 0]), outside), and_(outside, lt(100, a[0, 0]))):
        assert not evaluate(tensor((), lambda f=formula: f, "bool"), VALUES)
        assert evaluate_exact(formula, VALUES) is False
    with pytest.raises(Undefined):
        evaluate(tensor((), lambda: or_(outside, lt(100, a[0, 0])), "bool"), VALUES)


def test_minus_infinity_vanishes_under_exp_and_max() -> None:
    hidden = where(lt(a[0, 0], 100), NEG_INF, 1)
    assert evaluate(tensor((), lambda: exp(hidden + 3)), VALUES) == 0
    assert evaluate_exact(exp(hidden + 3), VALUES) == 0
    assert evaluate_exact(maximum(hidden, 5), VALUES) == 5


def test_exact_takes_any_function_for_exp() -> None:
    e = exp(a[0, 0]) + PI * sqrt(2)
    found = evaluate_exact(e, VALUES, {"exp": lambda x: x**2, "π": lambda: 3, "power": lambda x, q: Fraction(7, 5)})
    assert found == Fraction(int(A[0, 0]) ** 2) + Fraction(21, 5)
    with pytest.raises(Unsupported, match="exp"):
        evaluate_exact(e, VALUES)


def test_symbolic_sizes_take_their_values() -> None:
    n = Size("n", 1)
    triangle = tensor((n,), lambda i: Sum(i + 1, lambda x: n))
    assert (evaluate(triangle, {}, sizes={"n": 4}) == [4, 8, 12, 16]).all()
    with pytest.raises(Unsupported, match="size n"):
        evaluate(triangle, {})


def test_an_opaque_operator_sees_whole_rows() -> None:
    def sorted_row(i: Expr, j: Expr) -> Expr:
        x = index(4)
        return Opaque("sort", (), (Lambda((x,), a[i, x]),), (j,), "real")

    seen = []

    def handler(name: str, attributes: Any, wholes: tuple[np.ndarray, ...], kind: str) -> np.ndarray:
        seen.append(wholes[0].shape)
        return np.sort(wholes[0])

    rows = tensor((3, 4), sorted_row)
    assert (evaluate(rows, VALUES, opaque=handler) == np.sort(A, 1)).all() and set(seen) == {(4,)}
    with pytest.raises(Unsupported, match="opaque"):
        evaluate(rows, VALUES)


def test_an_opaque_result_is_undefined_outside_of_its_positions() -> None:
    def next_of_row(i: Expr, j: Expr) -> Expr:
        x = index(4)
        return Opaque("sort", (), (Lambda((x,), a[i, x]),), (j + 1,), "real")

    found = evaluate(tensor((3, 4), next_of_row), VALUES, opaque=lambda *given: np.sort(given[2][0]))
    assert (found[:, :3] == np.sort(A, 1)[:, 1:]).all() and np.isnan(found[:, 3]).all()


def test_what_is_too_large_to_expand_is_refused() -> None:
    big = leaf("c", (1000, 1000))
    with pytest.raises(Unsupported, match="too large"):
        evaluate(tensor((1000, 1000), lambda i, j: Sum(1000, lambda x: big[i, x] * big[x, j])),
                 {"c": np.zeros((1000, 1000))})


def test_shared_parts_are_computed_once() -> None:
    e = a[0, 0]
    for _ in range(60):
        e = e * math.pi.as_integer_ratio()[0] ** 0 + e * 0
    assert evaluate(tensor((), lambda: e), VALUES) == A[0, 0]


def test_of_no_rows_at_all_each_has_the_maximum_of_nothing() -> None:
    nothing = leaf("none", (0, 0))
    assert evaluate(tensor((0,), lambda i: Max(0, lambda k: nothing[i, k])), {"none": np.zeros((0, 0))}).shape == (0,)
