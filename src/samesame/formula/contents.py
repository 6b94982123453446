"""What the terms of a form have in common.

Powers, logarithms, maxima and comparisons take out what all terms share: √(4·a²·x + 4·a²·y) = 2·|a|·√(x + y)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import gcd

from samesame.formula.poly import Atom
from samesame.formula.rewrite import Draft, rewritten
from samesame.formula.terms import Factors, Form, Term, form_of, next_open, opened, scale


def content(form: Form, allowed: Callable[[Atom], bool]) -> tuple[Fraction, Factors, Form]:
    """number · factors · rest: what all the terms have in common, as far as allowed, taken out. The number is
    positive."""
    exponents: dict[Atom, list[Fraction]] = {}
    for term, _ in form.terms:
        bound = frozenset(term.bound)
        for a, e in term.factors:
            if not a.free & bound:
                exponents.setdefault(a, []).append(e)
    everywhere = len(form.terms)
    common: list[tuple[Atom, Fraction]] = []
    for a in sorted(exponents, key=lambda atom: atom.key):
        least = min([*exponents[a], *([Fraction(0)] if len(exponents[a]) < everywhere else [])])
        if least and allowed(a):
            common.append((a, least))
    size = common_number(c for _, c in form.terms)
    return size, tuple(common), scale(_divided(form, dict(common)) if common else form, 1 / size)


def _divided(form: Form, common: dict[Atom, Fraction]) -> Form:
    """A form without the factors that its terms have in common."""
    items: list[tuple[Term, Fraction]] = []
    for term, c in form.terms:
        bound, guards, factors = opened(term, next_open(term.free))
        own = dict(factors)
        left = {a: e - common.get(a, 0) for a, e in own.items()} | {a: -e for a, e in common.items() if a not in own}
        whole = Draft(bound, guards, tuple((a, e) for a, e in left.items() if e))
        items += ((t, c * d) for t, d in rewritten(whole).terms)
    return form_of(items)


def common_number(values: Iterable[Fraction]) -> Fraction:
    """The largest number of which all these are multiples."""
    total = Fraction(0)
    for value in values:
        total = Fraction(
            gcd(total.numerator * value.denominator, value.numerator * total.denominator),
            total.denominator * value.denominator,
        )
    return total
