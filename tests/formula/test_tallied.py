"""Conditions on counts, worked out for every answer: on random conditions as in numbers, and not where it looks so."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.formula.effort import Budget, spending
from samesame.formula.equal import NotProved, Proved, prove_equal
from samesame.formula.expr import Size, Sum, and_, eq, exp, index, le, log, lt, not_, or_, where
from samesame.formula.laws import LAWS
from samesame.formula.normal import normal
from samesame.formula.tallied import by_tallies
from samesame.formula.tensor import leaf
from samesame.formula.terms import Apply, subtract

N, STEPS = Size("N", 1), 4
AT = index(N)
ended, x = leaf("ended", (STEPS, N), "bool"), leaf("x", (STEPS, N))


def count(first, last):
    """How many of these steps end an episode."""
    return Sum(STEPS, lambda s: where(and_(le(first, s), le(s, last), ended[s, AT]), 1, 0))


def is_so(s, value):
    return ended[s, AT] if value else not_(ended[s, AT])


SAME = {
    "one of two, and this one": (where(and_(ended[0, AT], eq(count(0, 1), 1)), x[0, AT], 0),
                                 where(and_(ended[0, AT], not_(ended[1, AT])), x[0, AT], 0)),
    "two of three": (where(eq(count(0, 2), 2), x[0, AT], 0),
                     sum((where(and_(*(is_so(s, s != k) for s in range(3))), x[0, AT], 0) for k in (1, 2)),
                         where(and_(*(is_so(s, s != 0) for s in range(3))), x[0, AT], 0))),
    "more here than there": (where(lt(count(0, 1), count(2, 3)), x[0, AT], 0),
                             where(not_(le(count(2, 3), count(0, 1))), x[0, AT], 0)),
}
NOT_SAME = {
    "one of two, or this one": (where(or_(ended[0, AT], eq(count(0, 1), 1)), x[0, AT], 0),
                                where(and_(ended[0, AT], not_(ended[1, AT])), x[0, AT], 0)),
    "one of two": (where(and_(ended[0, AT], eq(count(0, 1), 1)), x[0, AT], 0), where(ended[0, AT], x[0, AT], 0)),
    "no more here than there": (where(le(count(0, 1), count(2, 3)), x[0, AT], 0),
                                where(lt(count(0, 1), count(2, 3)), x[0, AT], 0)),
    "another element": (where(eq(count(0, 1), 1), x[0, AT], 0), where(eq(count(0, 1), 1), x[1, AT], 0)),
}


@pytest.mark.parametrize("left, right", SAME.values(), ids=SAME)
def test_counts_that_say_the_same_are_proved(left, right):
    assert isinstance(prove_equal(left, right), Proved)


@pytest.mark.parametrize("left, right", NOT_SAME.values(), ids=NOT_SAME)
def test_counts_that_say_something_else_are_not(left, right):
    assert isinstance(prove_equal(left, right), NotProved)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, STEPS - 1), st.integers(0, STEPS - 1), st.integers(-2, 2), st.integers(-2, 2),
       st.sampled_from("<≤="), st.sets(st.integers(0, 2**STEPS - 1)))
def test_a_comparison_is_the_cases_in_which_it_holds_and_no_others(first, other, weight, number, how, cases):
    """[how many end from the first on + weight·[another ends] how number], beside the sum of some cases."""
    total = count(first, STEPS - 1) + weight * where(ended[other, AT], 1, 0)
    left = where({"<": lt, "≤": le, "=": eq}[how](total, number), x[0, AT], 0)
    said = {"<": lambda v: v < number, "≤": lambda v: v <= number, "=": lambda v: v == number}[how]
    rows = [*product((False, True), repeat=STEPS)]
    true = {k for k, row in enumerate(rows) if said(sum(row[first:]) + weight * row[other])}
    for claimed in (true, cases):
        right = sum((where(and_(*(is_so(s, yes) for s, yes in enumerate(rows[k]))), x[0, AT], 0) for k in claimed),
                    0 * x[0, AT])
        with spending(Budget(), LAWS):
            rest = by_tallies(difference := subtract(normal(left), normal(right)))
            gone = not (difference if rest is None else rest).terms
            asked = any(isinstance(guard.subject, Apply) for term, _ in difference.terms for guard in term.guards)
        assert gone == (claimed == true) if asked else gone <= (claimed == true)


def before(s):
    """How many episodes end before a step."""
    return Sum(STEPS, lambda k: where(and_(le(k, s), ended[k, AT]), 1, 0)) - where(ended[s, AT], 1, 0)


def carried(t, weight=Fraction(1, 2)):
    """What a loop back in time has at step t, as long as no episode ends."""
    later = carried(t + 1, weight) if t + 1 < STEPS else 0
    return x[t, AT] + weight * where(ended[t, AT], 0, later)


def at_once(t, ends=0):
    def of_step(s):
        return x[s, AT] * exp((s - t) * log(Fraction(1, 2)))

    return Sum(STEPS, lambda s: where(and_(le(t, s), eq(before(s), before(t) + ends)), of_step(s), 0))


@pytest.mark.parametrize("t", range(STEPS))
def test_a_loop_that_is_cut_where_episodes_end_is_a_sum_up_to_the_first_end(t):
    assert isinstance(prove_equal(carried(t), at_once(t)), Proved)
    if t < STEPS - 1:
        for wrong in (at_once(t, ends=1), at_once(t + 1)):
            assert isinstance(prove_equal(carried(t), wrong), NotProved)
        assert isinstance(prove_equal(carried(t, Fraction(1, 3)), at_once(t)), NotProved)
