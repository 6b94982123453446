"""Poles: guards that say no more than that a side has a value.

A program divides by a count and writes 0 where that is 0; another divides. Where the count is 0 the second has no
value, and there is nothing to compare: elsewhere the guard says nothing. So a guard is left out where a side as a whole
has a value only if it holds, as 1/x has for [x ≠ 0], and that it holds is a condition. A guard of anything else stays,
as [x = 0]·7 does: that is a number where the other side may have one, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

from samesame.formula.defined import demands_of
from samesame.formula.effort import Assumed, assume
from samesame.formula.guards import Guards, Literal
from samesame.formula.scalars import DOMAIN
from samesame.formula.terms import Apply, Form, Term, closed, form_of, next_open, opened

WITHOUT_ZERO = frozenset(("≠ 0", "> 0", f"{DOMAIN}lgamma", f"{DOMAIN}digamma"))     # what is so is not 0


def without_guards_at_poles(difference: Form, *sides: Form) -> Form | None:
    """The difference of the sides without guards that a side needs to have a value; None where there are none."""
    known = [demand for side in sides for term, _ in side.terms for demand in _demands(term)]
    items, changed = list[tuple[Term, Fraction]](), False
    for term, c in difference.terms:
        bound, guards, factors = opened(term, next_open(term.free))
        needed = {g: demand for g in guards if (demand := _needing(g, guards, known)) is not None}
        if needed:
            changed, guards = True, tuple(g for g in guards if g not in needed)
            for demand in needed.values():
                assume(demand.relation, demand.subject, {*guards, *demand.guards})
            term = closed(bound, guards, factors)
        items.append((term, c))
    return form_of(items) if changed else None


def _demands(term: Term) -> Iterator[Assumed]:
    """What a term needs to have a value, and under which guards, those that it stands under included."""
    _, guards, factors = opened(term, next_open(term.free))
    for a, e in factors:
        for demand in demands_of(a, e):
            yield Assumed(demand.relation, demand.subject, demand.guards.union(guards))


def _needing(guard: Literal, guards: Guards, known: Iterable[Assumed]) -> Assumed | None:
    """A demand that is made wherever the other guards hold, and is met only where this one holds."""
    others = {g for g in guards if g is not guard}
    return next((one for one in known if one.guards <= others and is_needed(guard, one)), None)


def is_needed(guard: Literal, demand: Assumed) -> bool:
    """Whether whatever meets the demand meets the guard."""
    asked = guard.subject
    if not isinstance(asked, Apply) or not isinstance(demand.subject, Form):
        return False
    times = ratio(asked.argument, demand.subject)
    match guard.op, asked.head:
        case "fails", "zero":
            return bool(times) and demand.relation in WITHOUT_ZERO
        case "holds", "positive":
            return times > 0 and demand.relation == "> 0"
        case "fails", "positive":
            return times < 0 and demand.relation in ("> 0", "≥ 0")
    return False


def ratio(form: Form, other: Form) -> Fraction:
    """The number that the first is of the second; 0 where it is none."""
    if [term for term, _ in form.terms] != [term for term, _ in other.terms]:
        return Fraction(0)
    found = {c / d for (_, c), (_, d) in zip(form.terms, other.terms, strict=True)}
    return found.pop() if len(found) == 1 else Fraction(0)
