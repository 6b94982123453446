"""Roots that are seen to be real need no condition, and others do."""

from __future__ import annotations

from fractions import Fraction

import pytest

from samesame.formula.equal import Proved, prove_tensors_equal
from samesame.formula.expr import ONE, ZERO, Expr, Fold, add, eq, index, lt, mul, power, where
from samesame.formula.tensor import leaf, tensor

N = 5
X, Y = leaf("x", (N,), "real"), leaf("y", (N,), "real")


def total(of) -> Expr:
    k = index(N)
    return Fold("sum", (k,), of(k))


def squared(u: Expr) -> Expr:
    return mul(u, u)


SQUARES = total(lambda k: squared(add(X[k], mul(2, Y[k]))))
THE_SAME = total(lambda k: squared(add(X[k], Y[k], Y[k])))
LESS_ONE = add(THE_SAME, -1)
PRODUCTS = total(lambda k: mul(X[k], add(X[k], mul(4, Y[k]))))


def compared(radicand: Expr):
    return lambda i: where(lt(ZERO, power(radicand, Fraction(1, 2))), X[i], ONE)


@pytest.mark.parametrize("one, other, conditions", [
    (SQUARES, THE_SAME, 0),
    (LESS_ONE, add(SQUARES, -1), 1),
    (PRODUCTS, PRODUCTS, 1),
])
def test_whether_a_condition_is_needed(one: Expr, other: Expr, conditions: int) -> None:
    answer = prove_tensors_equal(tensor((N,), compared(one)), tensor((N,), compared(other)))
    assert isinstance(answer, Proved)
    assert len(answer.conditions) == conditions


@pytest.mark.parametrize("exponent, value, same", [
    (Fraction(1, 2), 0, True), (Fraction(1, 4), 0, True), (Fraction(1, 2), 2, False), (Fraction(-1, 2), 0, False),
])
def test_a_root_is_zero_where_its_radicand_is(exponent: Fraction, value: int, same: bool) -> None:
    left = tensor((N,), lambda i: where(eq(power(SQUARES, exponent), value), X[i], ONE))
    right = tensor((N,), lambda i: where(eq(THE_SAME, value), X[i], ONE))
    assert isinstance(prove_tensors_equal(left, right), Proved) is same
