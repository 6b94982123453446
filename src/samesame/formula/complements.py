"""One less a condition is its negation: 1 − [i = j] is [i ≠ j].

Masks are taken off in two ways, by `x * (1 - mask)` and by choosing. Multiplied out, the first would be x less what is
masked of it; in a logarithm or under a quotient that is another sum than the one over what is left."""

from __future__ import annotations

from fractions import Fraction

from samesame.formula.guards import conjunction, negation
from samesame.formula.rewrite import guarded
from samesame.formula.terms import Form, Term, add, constant, form_of


def complemented(form: Form) -> Form:
    """The form with a number less as many times a condition as that number of times what the condition leaves."""
    numbers = {c: term for term, c in form.terms if term.plain and not term.factors}
    for number, one in numbers.items():
        for term, c in form.terms:
            if c == -number and len(term.guards) == 1 and not term.bound and not term.factors:
                rest: list[tuple[Term, Fraction]] = [(t, d) for t, d in form.terms if t is not one and t is not term]
                left = conjunction([negation(term.guards[0])])
                return form_of(rest) if left is None else add(form_of(rest), guarded(left, constant(number)))
    return form
