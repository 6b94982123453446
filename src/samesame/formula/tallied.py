"""Conditions on counts, worked out for every answer: how many episodes end before a step, and whether it is none.

    [x₀]·[x₀ + x₁ = 1] + [¬x₀]·[x₀ + x₁ = 0]  =  [¬x₁]

A loop carries on where a mask holds at each step; another program counts where it does not, and compares two counts.
Both are functions of the same few answers, each yes or no. Where a body stands with conditions whose sums are short,
its weight is worked out for all the answers that there may be: where it is 0 in each case, the body is not there. That
some answers exclude one another is not asked, so there may be fewer cases than are tried, and never more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from samesame.formula.effort import remember, step
from samesame.formula.guards import Guards, Literal, negated
from samesame.formula.poly import Var
from samesame.formula.terms import Apply, Factors, Form, Term
from samesame.formula.written_out import unrolled

ANSWERS = 14                # yes or no, that one body hangs on
WORK = 1 << 21              # numbers that are worked out for one body

Weighted = list[tuple[Guards, Fraction]]


def by_tallies(form: Form) -> Form | None:
    """A form without the bodies whose weight is 0 whatever the answers are; None where no condition is on a count, or
    all of them stay."""
    if not any(True for term, _ in form.terms for guard in term.guards if _tally(guard) is not None):
        return None
    left = _without_nothing(form)
    written = unrolled(left)
    left = left if written is None else _without_nothing(written)
    return None if left is form else left


def _without_nothing(form: Form) -> Form:
    """The form without those bodies."""
    bodies: dict[tuple[tuple[Var, ...], Factors], list[tuple[Term, Fraction]]] = {}
    for term, c in form.terms:
        bodies.setdefault((term.bound, term.factors), []).append((term, c))
    gone = [items for items in bodies.values() if _weighs_nothing([(t.guards, c) for t, c in items])]
    terms = {term for items in gone for term, _ in items}
    return Form(tuple(item for item in form.terms if item[0] not in terms))


def _weighs_nothing(weighted: Weighted) -> bool:
    """Whether Σ weight·[conditions] is 0 for all answers."""
    questions = list(dict.fromkeys(q for guards, _ in weighted for guard in guards for q in _questions(guard)))
    rows = 1 << len(questions)
    if len(questions) > ANSWERS or rows * len(weighted) > WORK:
        return False
    step()
    cases = np.arange(rows)
    answers = {question: (cases >> k) & 1 == 1 for k, question in enumerate(questions)}
    return not _total(weighted, answers, rows).any()


def _total(weighted: Iterable[tuple[Guards, Fraction]], answers: dict[Literal, Any], rows: int) -> Any:
    """A multiple of Σ weight·[conditions], a whole number in each case."""
    items = list(weighted)
    whole = lcm(*(c.denominator for _, c in items))
    total = np.zeros(rows, dtype=object)
    for guards, c in items:
        held = np.ones(rows, dtype=bool)
        for guard in guards:
            held &= _holds(guard, answers, rows)
        total[held] += int(c * whole)
    return total


def _holds(literal: Literal, answers: dict[Literal, Any], rows: int) -> Any:
    """In which cases a condition holds."""
    tally = _tally(literal)
    if tally is None:
        question = _question(literal)
        return answers[question] if question is literal else ~answers[question]
    assert isinstance(literal.subject, Apply)
    total = _total(tally, answers, rows)
    found = total == 0 if literal.subject.head == "zero" else total > 0
    return found.astype(bool) if literal.op == "holds" else ~found.astype(bool)


def _questions(literal: Literal) -> Iterator[Literal]:
    """What has to be answered for a condition to be known."""
    tally = _tally(literal)
    if tally is None:
        yield _question(literal)
    else:
        yield from (q for guards, _ in tally for guard in guards for q in _questions(guard))


def _question(literal: Literal) -> Literal:
    """One of a condition and its opposite, the same for both."""
    return min(literal, negated(literal), key=lambda each: each.key)


@remember
def _tally(literal: Literal) -> Weighted | None:
    """What is added up under which conditions, where a condition is on such a sum and nothing else; None of any other.
    Of points of which some are there, each counts once."""
    subject = literal.subject
    if not isinstance(subject, Apply) or subject.head not in ("exists", "zero", "positive"):
        return None
    terms = (unrolled(subject.argument) or subject.argument).terms
    if any(t.bound or (t.factors and subject.head != "exists") for t, _ in terms):
        return None
    return [(t.guards, Fraction(1) if subject.head == "exists" else c) for t, c in terms]
