"""Logarithms: where they are left over, each is written as the sum of those of the magnitudes of its factors.

log(Π a^e) = Σ e·log |a| wherever the left side is a number. The normal form takes a logarithm apart only where it knows
signs, for log(x/y) may be a number where log x is none, and log v² is one where log v is not. So log v² and 2·log v, of
a deviation, and log(x/y) and log x − log y, of two probabilities, are one sum. It is a late step, as what has a value
in one program only is a condition of the proof.
"""

from __future__ import annotations

from functools import reduce

from samesame.formula.contents import content
from samesame.formula.defined import assume_defined
from samesame.formula.functions import log, named, power
from samesame.formula.rewrite import Draft, multiply, under
from samesame.formula.terms import Apply, Form, Term, add, constant, next_open, of_atom, opened, scale


def by_magnitudes(form: Form) -> Form | None:
    """The form with logarithms of single magnitudes only; None where it has no others."""
    changed = add(*(scale(_taken_apart(term), c) for term, c in form.terms))
    if changed is form:
        return None
    assume_defined(form)
    return changed


def _taken_apart(term: Term) -> Form:
    bound, guards, factors = opened(term, next_open(term.free))
    whole = [(a, e) for a, e in factors if isinstance(a, Apply) and a.head == "log" and e > 0 and e.denominator == 1]
    others = tuple(factor for factor in factors if factor not in whole)
    sums = (power(_of_factors(a.argument), e) for a, e in whole if isinstance(a, Apply))
    return under(Draft(bound, guards, others), reduce(multiply, sums, constant(1)))


def _of_factors(argument: Form) -> Form:
    """log |c| + Σ e·log |a| of what the terms of the argument have in common, and of what is left."""
    size, common, rest = content(argument, lambda _: True)
    bases = ((a.argument if isinstance(a, Apply) and a.head == "sum" else of_atom(a), e) for a, e in common)
    parts = [scale(_of_magnitude(base), e) for base, e in bases]
    return add(log(constant(size)), *parts, _of_magnitude(rest))


def _of_magnitude(form: Form) -> Form:
    return log(named("abs")(form))
