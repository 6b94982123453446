"""Means over what a mask leaves: shares of a count add up to one where both sides divide by it, and 1 − m is a mask."""

from fractions import Fraction

import pytest

from samesame.formula.assumptions import NO_EMPTY_COUNT
from samesame.formula.equal import Budget, NotProved, Proved, prove_tensors_equal
from samesame.formula.expr import Sum, and_, eq, exp, log, lt, not_, power, where
from samesame.formula.tensor import leaf, tensor
from samesame.operators.provisos import provisos

ROWS, LENGTH = 6, 7
x, b = leaf("x", (ROWS, LENGTH)), leaf("b", (ROWS,))
mask, other = leaf("mask", (ROWS, LENGTH), "bool"), leaf("other", (ROWS, LENGTH), "bool")


def number(condition):
    return where(condition, 1, 0)


def mean(i, of, kept=mask, counted=mask):
    """Σ_j kept·of(j) over how many are counted."""
    count = Sum(LENGTH, lambda j: number(counted[i, j]))
    return Sum(LENGTH, lambda j: number(kept[i, j]) * of(j)) / count


def over_rows(of):
    return tensor((), lambda: Sum(ROWS, of))


def off_diagonal(condition):
    return lambda i: log(Sum(LENGTH, lambda k: exp(x[i, k]) * condition(i, k)))


def of_pairs(allowed):
    """A mean over pairs of rows and columns that differ and are masked."""
    def row(i):
        count = Sum(LENGTH, lambda k: number(mask[i, k]) * allowed(i, k))
        return Sum(LENGTH, lambda j: number(mask[i, j]) * allowed(i, j) * (x[i, j] - b[i])) / count

    return over_rows(row)


SAME = {
    "an offset under the mean": (
        over_rows(lambda i: mean(i, lambda j: x[i, j] - b[i])),
        over_rows(lambda i: mean(i, lambda j: x[i, j]) - b[i])),
    "a variance": (
        tensor((ROWS,), lambda i: mean(i, lambda j: power(x[i, j] - mean(i, lambda k: x[i, k]), 2))),
        tensor((ROWS,), lambda i: mean(i, lambda j: power(x[i, j], 2)) - power(mean(i, lambda j: x[i, j]), 2))),
    "less the diagonal, in a logarithm": (
        over_rows(off_diagonal(lambda i, k: 1 - number(eq(i, k)))),
        over_rows(off_diagonal(lambda i, k: number(not_(eq(i, k)))))),
    "less the diagonal, in both": (
        of_pairs(lambda i, k: 1 - number(eq(i, k))),
        over_rows(lambda i: Sum(LENGTH, lambda j: number(and_(mask[i, j], not_(eq(i, j)))) * x[i, j])
                  / Sum(LENGTH, lambda j: number(and_(mask[i, j], not_(eq(i, j))))) - b[i])),
    "half of what a mask leaves": (
        tensor((ROWS,), lambda i: log(Sum(LENGTH, lambda k: exp(x[i, k]) * (Fraction(1, 2) - number(mask[i, k]) / 2)))),
        tensor((ROWS,), lambda i: log(Sum(LENGTH, lambda k: where(mask[i, k], 0, exp(x[i, k]) / 2))))),
}
OTHERS = {
    "only one side divides": (over_rows(lambda i: mean(i, lambda j: b[i])), over_rows(lambda i: b[i])),
    "the other mask is counted": (
        over_rows(lambda i: mean(i, lambda j: x[i, j] - b[i], counted=other)),
        over_rows(lambda i: mean(i, lambda j: x[i, j], counted=other) - b[i])),
    "one side divides in some rows only": (
        over_rows(lambda i: where(lt(i, 2), mean(i, lambda j: x[i, j] - b[i]), -1 * b[i])),
        over_rows(lambda i: where(lt(i, 2), mean(i, lambda j: x[i, j]), 0) - mean(i, lambda j: b[i]))),
    "the diagonal alone": (
        over_rows(off_diagonal(lambda i, k: 1 - number(eq(i, k)))),
        over_rows(off_diagonal(lambda i, k: number(eq(i, k))))),
    "less twice the diagonal": (
        over_rows(off_diagonal(lambda i, k: 1 - 2 * number(eq(i, k)))),
        over_rows(off_diagonal(lambda i, k: number(not_(eq(i, k)))))),
}


@pytest.mark.parametrize("name", SAME)
def test_means_of_what_is_left_are_proved(name):
    found = prove_tensors_equal(*SAME[name], budget=Budget(seconds=4))
    assert isinstance(found, Proved), found


@pytest.mark.parametrize("name", ["an offset under the mean", "a variance"])
def test_that_anything_is_left_is_said_in_the_headline(name):
    """One may divide only where the mask is, and be 0 where it leaves nothing."""
    found = prove_tensors_equal(*SAME[name], budget=Budget(seconds=4))
    assert isinstance(found, Proved) and provisos(found.conditions) == [NO_EMPTY_COUNT]


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_another_mean_is_not_proved(name):
    assert isinstance(prove_tensors_equal(*OTHERS[name], budget=Budget(seconds=1)), NotProved)
