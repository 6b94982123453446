"""Proof by cases: what holds in every case is proved, what fails in one is not, and the cases cover everything."""

import re

import numpy as np
import pytest

from samesame.formula import cases
from samesame.formula.cases import is_by_cases, prove_by_cases
from samesame.formula.equal import Budget, NotProved, Proved, prove_tensors_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Load, Max, Size, Sum, add, eq, exp, lt, mul, or_, sin, walk, where
from samesame.formula.tensor import leaf, tensor

EXPERTS, TOKENS, WIDTH = 4, 5, 6
BUDGET = Budget(seconds=5.0)

x, y = leaf("x", (TOKENS, WIDTH)), leaf("y", (TOKENS, WIDTH))
heat = leaf("heat", (TOKENS,))
scales = leaf("scales", (EXPERTS,))
expert = leaf("expert", (TOKENS,), "int", (0, EXPERTS - 1))
top = leaf("top", (TOKENS, 2), "int", (0, EXPERTS - 1))


def looked_up(of=lambda v: v):
    return tensor((TOKENS, WIDTH), lambda i, j: of(x[i, j]) * scales[expert[i]])


def one_by_one(of=lambda v: v, experts=range(EXPERTS)):
    """Σ over experts of what each does to its own tokens, as loops over experts are written."""
    return tensor(
        (TOKENS, WIDTH), lambda i, j: add(*(where(eq(expert[i], e), of(x[i, j]) * scales[e], 0) for e in experts))
    )


def two_at_once(first=0, second=1):
    return tensor((TOKENS, WIDTH), lambda i, j: exp(x[i, j]) * (scales[top[i, first]] + scales[top[i, second]]))


def two_one_by_one(experts=range(EXPERTS)):
    def row(i, j):
        chosen = [Sum(2, lambda k, e=e: where(eq(top[i, k], e), 1, 0)) for e in experts]
        return add(*(mul(exp(x[i, j]), n, scales[e]) for n, e in zip(chosen, experts, strict=True)))

    return tensor((TOKENS, WIDTH), row)


def rows_at_once(factor=2):
    return tensor((3, WIDTH), lambda i, j: x[i, j] * factor * (1 + i))


def rows_one_by_one(last=6):
    return tensor((3, WIDTH), lambda i, j: where(eq(i, 0), 2 * x[0, j], where(lt(i, 2), 4 * x[1, j], last * x[2, j])))


def divided_unless(*numbers):
    """Rows divided by their temperatures, but those with one of these."""
    return tensor(
        (TOKENS, WIDTH),
        lambda i, j: where(or_(*(eq(heat[i], n) for n in numbers)), x[i, j], x[i, j] / heat[i]),
    )


def divided_by_safe(*numbers):
    """Rows divided by their temperatures, with 1 in the place of these."""
    return tensor(
        (TOKENS, WIDTH), lambda i, j: x[i, j] / where(or_(*(eq(heat[i], n) for n in numbers)), 1, heat[i])
    )


def largest(of):
    return tensor((TOKENS, WIDTH), lambda i, j: of[i, j] - Max(WIDTH, lambda k: of[i, k]))


TRUE = {
    "experts looked up and one by one": (looked_up(exp), one_by_one(exp)),
    "two experts a token": (two_at_once(), two_one_by_one()),
    "rows written one by one": (rows_at_once(), rows_one_by_one()),
    "a temperature of 1 leaves rows as they are": (largest(divided_unless(0, 1)), largest(divided_by_safe(0))),
}
FALSE = {
    "an expert left out": (looked_up(exp), one_by_one(exp, range(EXPERTS - 1))),
    "the first expert left out": (looked_up(exp), one_by_one(exp, range(1, EXPERTS))),
    "one expert does something else": (
        looked_up(),
        tensor((TOKENS, WIDTH), lambda i, j: one_by_one()[i, j] + where(eq(expert[i], 3), y[i, j], 0)),
    ),
    "the first of two counted twice": (two_at_once(0, 0), two_one_by_one()),
    "an expert of two left out": (two_at_once(), two_one_by_one(range(EXPERTS - 1))),
    "another last row": (rows_at_once(), rows_one_by_one(7)),
    "a temperature of 2 does not": (largest(divided_unless(0, 2)), largest(divided_by_safe(0))),
    "a temperature of 0 is not divided by": (divided_unless(0, 1), divided_by_safe(0, 2)),
    "another factor": (rows_at_once(3), rows_one_by_one()),
}


@pytest.mark.parametrize("left, right", TRUE.values(), ids=TRUE)
def test_what_holds_in_every_case_is_proved(left, right):
    outcome = prove_by_cases(left, right, budget=BUDGET)
    assert isinstance(outcome, Proved)
    assert outcome.detail.startswith("for each of the")


@pytest.mark.parametrize("left, right", FALSE.values(), ids=FALSE)
def test_what_fails_in_one_case_is_not(left, right):
    outcome = prove_by_cases(left, right, budget=BUDGET)
    assert isinstance(outcome, NotProved)
    assert outcome.reason


@pytest.mark.parametrize("left, right", [*TRUE.values(), *FALSE.values()], ids=[*TRUE, *FALSE])
def test_the_claims_are_what_they_say(left, right):
    draw = np.random.default_rng(0)
    given = {
        "x": draw.normal(size=(TOKENS, WIDTH)),
        "y": draw.normal(size=(TOKENS, WIDTH)),
        "scales": draw.normal(size=EXPERTS),
        "heat": np.array([0.0, 1.0, 2.0, 0.5, -3.0]),
        "expert": np.array([3, 0, 1, 2, 3]),
        "top": np.array([[0, 3], [1, 2], [3, 1], [2, 0], [0, 1]]),
    }
    equal = np.allclose(evaluate(left, given), evaluate(right, given), rtol=1e-12)
    assert equal == any(left is a and right is b for a, b in TRUE.values())


def test_the_cases_of_an_integer_are_all_it_can_be():
    values = cases._values(next(e for e in walk(expert[0]) if isinstance(e, Load)))
    assert list(values) == list(range(EXPERTS))


def test_tensors_of_different_sizes_are_never_equal():
    """A dimension of 4 and one of T agree in each of the 4 places, and are not one tensor."""
    size = Size("T", 4)
    source = leaf("x", (size,))
    piece, whole = tensor((4,), lambda i: source[i]), tensor((size,), lambda i: source[i])
    for pair in (piece, whole), (whole, piece), (piece, tensor((4, 1), lambda i, _: source[i])):
        assert isinstance(prove_by_cases(*pair, budget=BUDGET), NotProved)


def test_an_integer_of_unknown_range_is_not_split():
    free = leaf("free", (TOKENS,), "int")
    left = tensor((TOKENS, WIDTH), lambda i, j: x[i, j] * scales[free[i]])
    right = tensor(
        (TOKENS, WIDTH), lambda i, j: add(*(where(eq(free[i], e), x[i, j] * scales[e], 0) for e in range(EXPERTS)))
    )
    assert isinstance(prove_by_cases(left, right, budget=BUDGET), NotProved)


def test_one_element_in_two_spellings_takes_one_value():
    """top[i, (2·j + 1) // 2] is top[i, j]: the claim needs both to be the same number."""
    left = tensor((TOKENS, 2), lambda i, j: scales[top[i, (2 * j + 1) // 2]])
    right = tensor((TOKENS, 2), lambda i, j: add(*(where(eq(top[i, j], e), scales[e], 0) for e in range(EXPERTS))))
    assert isinstance(prove_by_cases(left, right, budget=BUDGET), Proved)


def test_two_elements_do_not_take_one_value():
    left = tensor((TOKENS,), lambda i: where(eq(top[i, 0], top[i, 1]), x[i, 0], y[i, 0]))
    right = tensor((TOKENS,), lambda i: x[i, 0])
    assert isinstance(prove_by_cases(left, right, budget=BUDGET), NotProved)


def test_many_cases_are_tried_first_where_a_claim_is_put_together_from_them():
    assert not is_by_cases(x, y)
    stacked = tensor(
        (8, WIDTH), lambda i, j: add(*(where(eq(i, row), x[row % TOKENS, j] * row, 0) for row in range(8)))
    )
    assert is_by_cases(stacked, stacked)


def test_the_budget_is_for_all_cases_together():
    outcome = prove_by_cases(*TRUE["two experts a token"], budget=Budget(seconds=0.0))
    assert isinstance(outcome, NotProved) and "out of time" in outcome.reason


def test_what_is_left_over_is_shown_in_few_words():
    x = leaf("x", (40, 40))
    terms = range(40)
    long = tensor((40,), lambda i: exp(sum((sin(x[i, k]) for k in terms), start=x[i, 0])))
    found = prove_tensors_equal(long, tensor((40,), lambda i: x[i, 0]))
    assert isinstance(found, NotProved)
    assert "x[i,0]" in found.reason and len(found.reason) < 250 and not re.search("[0-9a-f]{32}", found.reason)


@pytest.mark.parametrize(("last", "holds"), [(1, Proved), (2, NotProved)])
def test_a_range_that_an_integer_ends_is_of_the_case(last, holds):
    """A sum over so many elements as a token has, beside as many cases written out."""
    many = leaf("many", (TOKENS,), "int", (0, 2))
    ragged = tensor((TOKENS,), lambda i: Sum(many[i], lambda k: exp(x[i, k])))
    one, two = (lambda i: exp(x[i, 0])), (lambda i: exp(x[i, 0]) + exp(x[i, last]))
    written = tensor((TOKENS,), lambda i: where(eq(many[i], 0), 0, where(eq(many[i], 1), one(i), two(i))))
    assert isinstance(prove_by_cases(ragged, written, budget=BUDGET), holds)


def test_integers_that_are_bounded_on_one_side_alone_are_too_many():
    """A range may be longer than `len` can say."""
    wide = leaf("wide", (TOKENS,), "int", (-(1 << 63), EXPERTS))
    sides = tensor((TOKENS,), lambda i: x[i, 0] * wide[i]), tensor((TOKENS,), lambda i: x[i, 0] * wide[i] + y[i, 0])
    assert isinstance(prove_by_cases(*sides, budget=BUDGET), NotProved)
