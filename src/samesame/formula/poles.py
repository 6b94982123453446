"""Poles: guards that say no more than that a side has a value.

A program divides by a count and writes 0 where that is 0; another divides. Where the count is 0 the second has no
value, and there is nothing to compare: elsewhere the guard says nothing. So a guard is left out where a side as a whole
has a value only if it holds, as 1/x has for [x ≠ 0], and that it holds is a condition. A guard of anything else stays,
as [x = 0]·7 does: that is a number where the other side may have one, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from typing import cast

from samesame.formula.alike import nameless
from samesame.formula.defined import demands_of
from samesame.formula.effort import Assumed, assume
from samesame.formula.expr import Expr, Extremum, Num, Pow, Where, walk
from samesame.formula.guards import Literal
from samesame.formula.normal import normal
from samesame.formula.scalars import DOMAIN
from samesame.formula.signs import is_positive
from samesame.formula.terms import Apply, Form, Term, closed, form_of, next_open, opened

WITHOUT_ZERO = frozenset(("≠ 0", "> 0", f"{DOMAIN}lgamma", f"{DOMAIN}digamma"))     # what is so is not 0


def without_guards_at_poles(difference: Form, *sides: Form) -> Form | None:
    """The difference of the sides without guards that a side needs to have a value, each of which becomes a condition;
    None where there are none."""
    known = [demand for side in sides for term, _ in side.terms for demand in _demands(term)]
    items, changed = list[tuple[Term, Fraction]](), False
    for term, c in difference.terms:
        bound, guards, factors = opened(term, next_open(term.free))
        left = list(guards)
        for guard in guards:                               # one by one: two may each be needed where the other holds
            others = [g for g in left if g is not guard]
            demand = _needing(guard, others, known)
            if demand is not None:
                assume(demand.relation, demand.subject, others)
                left = others
        if len(left) < len(guards):
            changed, term = True, closed(bound, tuple(left), factors)
        items.append((term, c))
    return form_of(items) if changed else None


def assume_counts(left: Expr, right: Expr) -> None:
    """Write down that a count which one side alone divides by, whatever is chosen, is not 0: where nothing is counted
    a normal form has 0 times what has no value, and that is 0 there as everything times 0 is."""
    mine, yours = ({normal(divisor) for divisor in _divisors(side)} for side in (left, right))
    for divisor in sorted(mine ^ yours, key=lambda form: form.key):
        counts = all(not term.factors for term, _ in divisor.terms)
        of_data = any(guard.poly is None for term, _ in divisor.terms for guard in term.guards)
        if counts and of_data and not is_positive(divisor):
            assume("≠ 0", divisor)


def _divisors(expr: Expr) -> set[Expr]:
    """What may count something and is divided by wherever the expression is asked for: outside of what a condition
    chooses. What folds run over has no name of its own, so that it is the same of two expressions."""
    if not any(map(_divides_by_a_choice, walk(expr))):
        return set()
    found, waiting, seen = set[Expr](), [nameless(expr)], set[Expr]()
    while waiting:
        e = waiting.pop()
        if e in seen:
            continue
        seen.add(e)
        if _divides_by_a_choice(e):
            found.add(cast(Pow, e).base)
        waiting += [e.condition] if isinstance(e, Where) else e.children
    return found


def _divides_by_a_choice(e: Expr) -> bool:
    """Whether it is divided by something with a choice in it, that is not clamped to a number above 0."""
    if not isinstance(e, Pow) or e.exponent >= 0 or not any(isinstance(part, Where) for part in walk(e.base)):
        return False
    clamped = isinstance(e.base, Extremum) and e.base.op == "max"
    return not clamped or not any(isinstance(part, Num) and part.value > 0 for part in e.base.children)


def _demands(term: Term) -> Iterator[Assumed]:
    """What a term needs to have a value, and under which guards, those that it stands under included."""
    _, guards, factors = opened(term, next_open(term.free))
    for a, e in factors:
        for demand in demands_of(a, e):
            yield Assumed(demand.relation, demand.subject, demand.guards.union(guards))


def _needing(guard: Literal, others: Collection[Literal], known: Iterable[Assumed]) -> Assumed | None:
    """A demand that is made wherever the other guards hold, and is met only where this one holds."""
    return next((one for one in known if one.guards.issubset(others) and _is_needed(guard, one)), None)


def _is_needed(guard: Literal, demand: Assumed) -> bool:
    """Whether whatever meets the demand meets the guard."""
    asked = guard.subject
    if not isinstance(asked, Apply) or not isinstance(demand.subject, Form):
        return False
    times = _ratio(asked.argument, demand.subject)
    match guard.op, asked.head:
        case "fails", "zero":
            return bool(times) and demand.relation in WITHOUT_ZERO
        case "holds", "positive":
            return times > 0 and demand.relation == "> 0"
        case "fails", "positive":
            return times < 0 and demand.relation in ("> 0", "≥ 0")
    return False


def _ratio(form: Form, other: Form) -> Fraction:
    """The number that the first is of the second; 0 where it is none."""
    if [term for term, _ in form.terms] != [term for term, _ in other.terms]:
        return Fraction(0)
    found = {c / d for (_, c), (_, d) in zip(form.terms, other.terms, strict=True)}
    return found.pop() if len(found) == 1 else Fraction(0)
