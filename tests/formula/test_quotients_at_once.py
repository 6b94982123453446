"""Sums of quotients that are the same summand by summand: experts one by one and all at once, which have no common
denominator worth writing down."""

from __future__ import annotations

import pytest

from samesame.formula.equal import Budget, NotProved, Proved, prove_tensors_equal
from samesame.formula.expr import Sum, add, exp, power
from samesame.formula.tensor import leaf, tensor

TOKENS, EXPERTS, HIDDEN, WIDTH = 4, 2, 8, 12
x, weights = leaf("x", (TOKENS, WIDTH)), leaf("weights", (TOKENS, EXPERTS))
gate, up = leaf("gate", (EXPERTS, HIDDEN, WIDTH)), leaf("up", (EXPERTS, HIDDEN, WIDTH))
down, shared = leaf("down", (EXPERTS, WIDTH, HIDDEN)), leaf("shared", (WIDTH, WIDTH))


def hidden(n, e, h):
    inner = Sum(WIDTH, lambda d: x[n, d] * gate[e, h, d])
    return inner * power(add(1, exp(-inner)), -1) * Sum(WIDTH, lambda d: x[n, d] * up[e, h, d])


def always_there(n, d, width=WIDTH, start=0):
    return Sum(width, lambda k: x[n, start + k] * shared[start + k, d])


def one_by_one(n, d):
    routed = (weights[n, e] * Sum(HIDDEN, lambda h, e=e: hidden(n, e, h) * down[e, d, h]) for e in range(EXPERTS))
    return add(*routed, always_there(n, d))


def together(n, d, expert=lambda q: q // HIDDEN):
    """Experts and what is hidden in one index, as a batched product has them; the shared one in pieces."""
    routed = Sum(EXPERTS * HIDDEN, lambda q: weights[n, expert(q)] * hidden(n, q // HIDDEN, q % HIDDEN)
                 * down[q // HIDDEN, d, q % HIDDEN])
    return add(routed, *(always_there(n, d, 4, start) for start in range(0, WIDTH, 4)))


def claim(right, seconds):
    sides = (tensor((TOKENS, WIDTH), side) for side in (one_by_one, right))
    return prove_tensors_equal(*sides, budget=Budget(seconds=seconds))


def test_experts_one_by_one_are_experts_together():
    assert isinstance(claim(together, 3.0), Proved)


@pytest.mark.parametrize("right", [
    lambda n, d: together(n, d, expert=lambda q: 1 - q // HIDDEN),
    lambda n, d: together(n, d) + x[n, 0],
    lambda n, d: add(together(n, d), always_there(n, d, 4)),
])
def test_what_is_not_the_same_is_not_proved(right):
    assert isinstance(claim(right, 0.5), NotProved)
