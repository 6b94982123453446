"""Claims that hang on conditions alone: true in each way these may hold, or not proved; a table has all the ways."""

from fractions import Fraction

import numpy as np
import pytest

from samesame.formula import truth_tables
from samesame.formula.cases import prove_by_cases
from samesame.formula.equal import Budget, NotProved, Proved
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Fold, Max, Size, Sum, add, and_, const, eq, exp, index, le, lt, mul, not_, or_, where
from samesame.formula.tensor import leaf, tensor
from samesame.formula.truth_tables import prove_by_table

ROWS, LENGTH = 3, 5
BUDGET = Budget(seconds=5.0)

ids = leaf("ids", (ROWS, LENGTH), "int")
kept = leaf("kept", (ROWS, LENGTH), "bool")
x = leaf("x", (ROWS, LENGTH))
label = leaf("label", (ROWS, 4), "int", (0, 3))
square = leaf("square", (LENGTH, LENGTH), "bool")


def starts(i, s, end=0):
    """Whether a document starts at s: a token before ends one, or there is none."""
    return or_(lt(s, 1), eq(ids[i, s - 1], end))


def document(i, j, end=0):
    return Sum(LENGTH, lambda s: where(le(s, j), where(starts(i, s, end), 1, 0), 0))


def positions_by_scan(step=1):
    def element(i, j):
        begin = Max(LENGTH, lambda s: where(and_(le(s, j), starts(i, s)), step * s, 0))
        return j - begin

    return tensor((ROWS, LENGTH), element, "int")


def positions_by_pairs(end=0):
    def element(i, j):
        together = Sum(LENGTH, lambda s: where(and_(le(s, j), eq(document(i, s, end), document(i, j, end))), 1, 0))
        return together - 1

    return tensor((ROWS, LENGTH), element, "int")


def of_rows(element):
    return tensor((ROWS,), element, "int")


def how_many(condition, length=LENGTH):
    return of_rows(lambda i: Sum(length, lambda k: where(condition(i, k), 1, 0)))


def parity(i):
    return add(*(kept_number(i, k) for k in range(LENGTH))) % 2


def kept_number(i, k):
    return where(kept[i, k], 1, 0)


def either(a, b):
    return a + b - 2 * a * b


def parity_one_by_one(last=LENGTH):
    def element(i):
        found = const(0)
        for k in range(last):
            found = either(found, kept_number(i, k))
        return found

    return of_rows(element)


TRUE = {
    "positions in documents": (positions_by_scan(), positions_by_pairs()),
    "how many are true, less two": (of_rows(parity), parity_one_by_one()),
    "below, equal or above": (
        how_many(lambda i, k: or_(lt(x[i, k], 1), lt(1, x[i, k]))), how_many(lambda i, k: not_(eq(1, x[i, k])))),
    "no element is two numbers": (
        how_many(lambda i, k: and_(eq(ids[i, k], 0), eq(ids[i, k], 1))), of_rows(lambda i: 0)),
    "no integer lies between": (
        how_many(lambda i, k: and_(lt(0, ids[i, k]), lt(ids[i, k], 2))), how_many(lambda i, k: eq(ids[i, k], 1))),
    "no integer is a half": (how_many(lambda i, k: eq(ids[i, k], Fraction(1, 2))), of_rows(lambda i: 0)),
    "values that are few": (
        of_rows(lambda i: Sum(4, lambda k: label[i, k] * label[i, k])),
        of_rows(lambda i: add(*(mul(v * v, where(eq(label[i, k], v), 1, 0)) for k in range(4) for v in range(4))))),
    "integers in their range": (how_many(lambda i, k: lt(label[i, k], 4), 4), of_rows(lambda i: 4)),
}
FALSE = {
    "another step": (positions_by_scan(2), positions_by_pairs()),
    "documents that another token ends": (positions_by_scan(), positions_by_pairs(1)),
    "one left out": (of_rows(parity), parity_one_by_one(LENGTH - 1)),
    "a number that may be met": (
        how_many(lambda i, k: or_(lt(x[i, k], 1), lt(1, x[i, k]))), how_many(lambda i, k: not_(eq(2, x[i, k])))),
    "a real that lies between": (
        how_many(lambda i, k: and_(lt(0, x[i, k]), lt(x[i, k], 2))), how_many(lambda i, k: eq(x[i, k], 1))),
    "two elements are two numbers": (
        of_rows(lambda i: where(and_(eq(ids[i, 0], 0), eq(ids[i, 1], 1)), 1, 0)), of_rows(lambda i: 0)),
    "values that another element has": (
        of_rows(lambda i: label[i, 0] % 2), of_rows(lambda i: label[i, 1] % 2)),
    "an integer at the end of its range": (how_many(lambda i, k: lt(label[i, k], 3), 4), of_rows(lambda i: 4)),
    "the first row, for all": (how_many(lambda i, k: kept[i, k]), how_many(lambda i, k: kept[0, k])),
    "rows and columns": (
        tensor((LENGTH,), lambda i: Sum(LENGTH, lambda k: where(square[i, k], 1, 0)), "int"),
        tensor((LENGTH,), lambda i: Sum(LENGTH, lambda k: where(square[k, i], 1, 0)), "int")),
    "what 64 bits do not hold": (of_rows(lambda i: mul(2**63, 2, kept_number(i, 0))), of_rows(lambda i: 0)),
    "a rest of what 64 bits do not hold": (
        of_rows(lambda i: mul(2**62, 2**62, kept_number(i, 0)) % 2**64), of_rows(lambda i: kept_number(i, 0))),
}


def in_a_table(left, right, seconds=5.0):
    indices, element = left.element()
    return prove_by_table(indices, element, right[indices], seconds=seconds)


@pytest.mark.parametrize("left, right", TRUE.values(), ids=TRUE)
def test_what_holds_in_each_way_is_proved(left, right):
    outcome = in_a_table(left, right)
    assert isinstance(outcome, Proved) and outcome.detail.startswith("for each of the ")
    assert isinstance(prove_by_cases(left, right, budget=BUDGET), Proved)


@pytest.mark.parametrize("left, right", FALSE.values(), ids=FALSE)
def test_what_fails_in_one_is_not(left, right):
    assert isinstance(in_a_table(left, right), NotProved)
    assert isinstance(prove_by_cases(left, right, budget=BUDGET), NotProved)


SMALL = TRUE | {name: pair for name, pair in FALSE.items() if "bits" not in name}


@pytest.mark.parametrize("name", SMALL)
def test_the_claims_are_what_they_say(name):
    left, right = SMALL[name]
    differ = False
    for seed in range(40):
        draw = np.random.default_rng(seed)
        given = {
            "ids": draw.integers(-1, 3, (ROWS, LENGTH)), "kept": draw.random((ROWS, LENGTH)) < 0.5,
            "x": draw.integers(-1, 6, (ROWS, LENGTH)) / 2, "label": draw.integers(0, 4, (ROWS, 4)),
            "square": draw.random((LENGTH, LENGTH)) < 0.5,
        }
        differ |= not np.array_equal(evaluate(left, given), evaluate(right, given))
    assert differ == (name in FALSE)


@pytest.mark.parametrize("kind, bounds", [("real", None), ("int", None), ("int", (-2, 4)), ("int", (3, 3))])
def test_a_table_has_all_the_ways_an_element_may_be(kind, bounds):
    dice = np.random.default_rng(0)
    source = leaf("n", (), kind, bounds)
    element = source[()]
    low, high = bounds or (-9, 9)
    for _ in range(50):
        numbers = [Fraction(int(n), 2) for n in dice.integers(-8, 9, 3)]
        asks = [[lt(element, n), le(n, element), eq(element, n)][int(dice.integers(3))] for n in numbers]
        (asked,) = truth_tables._asked((), *(where(ask, 1, 0) for ask in asks))
        values = [Fraction(n, 1 if kind == "int" else 4) for n in range(-40, 41)]
        values = [n for n in values if kind == "real" or low <= n <= high]
        assert {tuple(q.answer(n) for q in asked.questions) for n in values} == set(asked.ways)


@pytest.mark.parametrize(("turned", "holds"), [(2, Proved), (1, NotProved)])
def test_rows_of_any_number_have_one_table(turned, holds):
    many = leaf("many", (Size("B", 2), LENGTH), "bool")
    odd = tensor((Size("B", 2),), lambda i: Sum(LENGTH, lambda k: where(many[i, k], 1, 0)) % 2, "int")

    def again(i):
        found = odd[i]
        for _ in range(turned):
            found = 1 - found
        return found

    assert isinstance(in_a_table(odd, tensor(odd.shape, again, "int")), holds)


LONG, WIDE = leaf("long", (Size("T", 2),), "bool"), leaf("wide", (2, 40), "bool")
REFUSED = {
    "too many ways": of_rows(lambda i: Sum(40, lambda k: where(WIDE[0, k], 1, 0))),
    "rows of any length": of_rows(lambda i: Sum(Size("T", 2), lambda k: where(LONG[k], 1, 0))),
    "values": of_rows(lambda i: Sum(LENGTH, lambda k: ids[i, k])),
    "functions": of_rows(lambda i: exp(kept_number(i, 0))),
    "parts of one": of_rows(lambda i: mul(Fraction(1, 3), kept_number(i, 0))),
    "quotients": of_rows(lambda i: 1 / (1 + kept_number(i, 0))),
    "no value": how_many(lambda i, k: kept[i, k + 1]),
    "elements beside one another": of_rows(lambda i: where(eq(ids[i, 0], ids[i, 1]), 1, 0)),
}


@pytest.mark.parametrize("side", REFUSED.values(), ids=REFUSED)
def test_what_is_in_no_table_is_left_to_others(side):
    assert isinstance(in_a_table(side, side), NotProved)


def test_what_would_take_too_long_is_not_begun():
    outcome = in_a_table(*TRUE["positions in documents"], seconds=0.0)
    assert isinstance(outcome, NotProved) and "too large" in outcome.reason


def test_the_largest_of_nothing_makes_no_number_a_float_that_is_rounded():
    k, i = leaf("k", (1,), "bool"), index(1)
    nothing = Fold("max", (index(0),), const(1))
    left = where(k[0], where(lt(i, 1), const(2**60), nothing), 0)
    right = where(k[0], const(2**60 + 1), 0)
    assert isinstance(prove_by_table((i,), left, right, seconds=2.0), NotProved)
