"""Sums of a few quotients against the quotients added up one by one, and digits of digits that are summed over."""

import pytest

from samesame.formula.equal import IDENTICAL, Budget, Proved, prove_equal
from samesame.formula.expr import Size, Sum, eq, where
from samesame.formula.tensor import leaf

N = Size("N", 2)
X, Y = leaf("x", (4, N)), leaf("y", (4, N))
LABEL = leaf("t", (N,), "int", (0, 3))
IMAGE = leaf("z", (2, 5, 6))


def quotient(c, plus=1):
    return Sum(N, lambda j: Y[c, j]) / (plus + Sum(N, lambda j: X[c, j] ** 2))


def counted(c, plus=1):
    """A quotient of what has the label c, by how many have it."""
    own = Sum(N, lambda j: where(eq(LABEL[j], c), X[c, j], 0))
    return own / (plus + Sum(N, lambda j: where(eq(LABEL[j], c), 1, 0)))


def proved(left, right, seconds=5.0):
    return isinstance(prove_equal(left, right, budget=Budget(seconds=seconds)), Proved)


@pytest.mark.parametrize("of", [quotient, counted])
def test_a_sum_of_a_few_quotients_is_the_quotients_added_up(of):
    assert proved(Sum(3, lambda c: of(c + 1)), of(1) + of(2) + of(3))


WRONG = {
    "another one": lambda of: of(0) + of(2) + of(3),
    "another denominator": lambda of: of(1) + of(2, plus=2) + of(3),
    "one less": lambda of: of(1) + of(2),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("of", [quotient, counted])
def test_other_quotients_are_not(of, wrong):
    assert not proved(Sum(3, lambda c: of(c + 1)), wrong(of), seconds=0.3)


def test_each_digit_of_a_digit_is_summed_over():
    flat = Sum(60, lambda u: IMAGE[u // 30, (u // 6) % 5, u % 6])
    found = prove_equal(flat, Sum((2, 5, 6), lambda b, i, j: IMAGE[b, i, j]))
    assert isinstance(found, Proved) and found.detail == IDENTICAL
    assert not proved(Sum(54, lambda u: IMAGE[u // 30, (u // 6) % 5, u % 6]), flat, seconds=0.3)
