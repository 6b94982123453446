"""Labels in one number, and whether there is any: what histograms and penalties count in two ways."""

from __future__ import annotations

import numpy as np
import pytest

from samesame.formula.effort import Budget, spending
from samesame.formula.equal import NotProved, Proved, prove_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import (
    Lambda,
    Opaque,
    Size,
    Sum,
    and_,
    const,
    eq,
    fold,
    index,
    lt,
    maximum,
    substitute,
    where,
)
from samesame.formula.guards import at_least_zero_literal, implied, infeasible, zero_literal
from samesame.formula.laws import LAWS
from samesame.formula.poly import Element, Var, number, variable
from samesame.formula.tensor import leaf, tensor

N, C = Size("N", 2), Size("C", 2)
x = leaf("x", (N,))
true, guess, wide = (leaf(name, (N,), "int", (0, high)) for name, high in (("true", 3), ("guess", 3), ("wide", 4)))
of_many = leaf("of_many", (N,), "int", (0, C - 1))
token, tokens = leaf("token", (), "int", (0, 6)), leaf("tokens", (5,), "int", (0, 6))
i, j = index(4), index(4)


def seen(of):
    return where(fold("any", 5, lambda t: eq(tokens[t], of)), 1, 0)


def one_by_one(of, steps=5, most=maximum):
    found = const(0)
    for t in range(steps):
        found = most(found, where(eq(tokens[t], of), 1, 0))
    return found


def places(e):
    v = index(4)
    rows = leaf("rows", (N, 4))
    return Opaque("aten.argmax", (), (Lambda((v,), rows[e, v]),), (), "int")


def share(e, label):
    """x[e] over all that has its label, or over 1 where that is less."""
    return x[e] / maximum(Sum(N, lambda k: where(eq(label(k), label(e)), x[k] * x[k], 0)), 1)


# (left, right, whether they are the same)
CLAIMS = {
    "a pair in one number": (
        Sum(N, lambda e: where(eq(4 * true[e] + guess[e], 4 * i + j), x[e], 0)),
        Sum(N, lambda e: where(and_(eq(true[e], i), eq(guess[e], j)), x[e], 0)), True),
    "on the diagonal": (
        Sum(N, lambda e: where(eq(4 * true[e] + guess[e], 5 * i), x[e], 0)),
        Sum(N, lambda e: where(and_(eq(true[e], i), eq(guess[e], i)), x[e], 0)), True),
    "of numbers": (
        Sum(N, lambda e: where(eq(4 * true[e] + guess[e], 11), x[e], 0)),
        Sum(N, lambda e: where(and_(eq(true[e], 2), eq(guess[e], 3)), x[e], 0)), True),
    "of a number of classes": (
        Sum(N, lambda e: where(eq(C * true[e] + of_many[e], C * 2 + 1), x[e], 0)),
        Sum(N, lambda e: where(and_(eq(true[e], 2), eq(of_many[e], 1)), x[e], 0)), True),
    "a digit that is too large": (
        Sum(N, lambda e: where(eq(4 * true[e] + wide[e], 4 * i + j), x[e], 0)),
        Sum(N, lambda e: where(and_(eq(true[e], i), eq(wide[e], j)), x[e], 0)), False),
    "a digit beside the range": (
        Sum(N, lambda e: where(eq(4 * true[e] + guess[e], 11), x[e], 0)),
        Sum(N, lambda e: where(and_(eq(true[e], 3), eq(guess[e], 3)), x[e], 0)), False),
    "any of a few": (seen(token[()]), one_by_one(token[()]), True),
    "none of a few": (1 - seen(token[()]), where(lt(0, one_by_one(token[()])), 0, 1), True),
    "any but the last": (seen(token[()]), one_by_one(token[()], 4), False),
    "how many, not whether any": (seen(token[()]), one_by_one(token[()], most=lambda a, b: a + b), False),
    "by the place of an extremum": (
        Sum(N, lambda e: share(e, places)),
        sum((Sum(N, lambda e, k=k: where(eq(places(e), k), x[e], 0))
             / maximum(Sum(N, lambda e, k=k: where(eq(places(e), k), x[e] * x[e], 0)), 1) for k in range(4)), const(0)),
        True),
    "by three places of four": (
        Sum(N, lambda e: share(e, places)),
        sum((Sum(N, lambda e, k=k: where(eq(places(e), k), x[e], 0))
             / maximum(Sum(N, lambda e, k=k: where(eq(places(e), k), x[e] * x[e], 0)), 1) for k in range(3)), const(0)),
        False),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_labels_are_counted_alike(name):
    left, right, same = CLAIMS[name]
    found = prove_equal(left, right, budget=Budget(seconds=5 if same else 1))
    assert isinstance(found, Proved if same else NotProved), found


@pytest.mark.parametrize("name", [name for name, (left, *_) in CLAIMS.items() if "place" not in name])
def test_what_is_proved_of_labels_holds_in_numbers(name):
    left, right, same = CLAIMS[name]
    alike = True
    for seed in range(60):
        rng = np.random.default_rng(seed)
        values = {"x": rng.standard_normal(9), "token": rng.integers(0, 7), "tokens": rng.integers(0, 7, 5),
                  "wide": rng.integers(0, 5, 9), "of_many": rng.integers(0, 3, 9),
                  **{name: rng.integers(0, 4, 9) for name in ("true", "guess")}}
        sides = [evaluate(tensor((4, 4), lambda r, c, e=e: at(e, r, c)), values, {"N": 9, "C": 3})
                 for e in (left, right)]
        alike = alike and np.allclose(*sides)
    assert alike == same


def at(expr, row, column):
    return substitute(expr, {i: row, j: column})


def test_conditions_on_other_integers_say_nothing():
    """What implies a condition, or contradicts it, is found among those that share an integer with it."""
    with spending(Budget(), LAWS):
        u, v, w = (Var("free", (k,), number(0), number(9)) for k in range(3))
        label = variable(Element(leaf("label", (10,), "int", (0, 9)).element()[1].leaf, (number(0), number(9)), ()))
        pinned = zero_literal(label - 3)
        between = at_least_zero_literal(variable(u) - variable(v) - 1)
        assert implied((pinned, between), at_least_zero_literal(variable(u) - 1))
        assert implied((pinned, between), at_least_zero_literal(label - 2))
        assert not implied((pinned, between), at_least_zero_literal(variable(w) - 1))
        assert infeasible((pinned, between, at_least_zero_literal(variable(v) - variable(u))))
        assert not infeasible((pinned, between, at_least_zero_literal(variable(w) - variable(u))))


rows_a, rows_b, field = leaf("a", (7, 3)), leaf("b", (4, 3)), leaf("field", (N,), "int", (0, 10))
k = index(3)


def joined(at):
    """One table of the rows of both."""
    return where(lt(at, 7), rows_a[at, k], rows_b[at - 7, k])


@pytest.mark.parametrize("left, right, conditions", [
    (rows_a[field[0], k], joined(field[0]), {"0 ≤ field[0] ≤ 6"}),
    (rows_b[field[0] - 7, k], joined(field[0]), {"0 ≤ field[0] − 7 ≤ 3"}),
])
def test_a_lookup_that_is_made_in_any_case_is_in_range(left, right, conditions):
    found = prove_equal(left, right)
    assert isinstance(found, Proved) and conditions <= set(map(str, found.conditions))


@pytest.mark.parametrize("left, right", [
    (rows_b[field[0], k], joined(field[0])),                                # another table
    (where(lt(field[0], 9), rows_a[field[0], k], 0), joined(field[0])),     # a look-up that is not made from 9 on
    (Sum(field[1], lambda e: rows_a[field[0], k]),                          # none is made where that is 0
     where(lt(field[0], 7), field[1] * rows_a[field[0], k], rows_b[field[0] - 7, k])),
])
def test_a_lookup_that_may_not_be_made_says_nothing(left, right):
    assert isinstance(prove_equal(left, right), NotProved)
