"""Roots: where products of square roots are left over, each is written as one root of the product.

√f·√g = √(f·g) wherever the left side is a number, and f^(k/2) = f^((k − 1)/2)·√f likewise. The normal form takes a root
apart only where it knows signs, for √(x/y) may be a number where √x is none. So √(x/y − x)·√y and √(1 − y)·√x, of a
schedule that one program keeps whole and the other takes apart, are two products of roots, and one root. It is a late
step, since what stands under the root is multiplied out."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import prod

from samesame.formula.defined import assume_defined
from samesame.formula.functions import power
from samesame.formula.poly import Atom
from samesame.formula.rewrite import Draft, multiply, under
from samesame.formula.terms import Apply, Factors, Form, Term, add, next_open, of_atom, opened, scale

HALF = Fraction(1, 2)
MOST_TERMS = 200  # under one root


def by_roots(form: Form) -> Form | None:
    """The form with one root for each product of roots; None where there is no such product."""
    if not any(_are_many(_roots(term.factors)) for term, _ in form.terms):
        return None
    assume_defined(form)
    return add(*(scale(_joined(term), c) for term, c in form.terms))


def _roots(factors: Factors) -> list[Atom]:
    return [a for a, e in factors if e.denominator == 2]


def _are_many(roots: list[Atom]) -> bool:
    """Is there something to join, and not too much of it?"""
    terms = prod(len(a.argument.terms) for a in roots if isinstance(a, Apply))
    return len(roots) > 1 and terms <= MOST_TERMS


def _joined(term: Term) -> Form:
    """The term with one root for all of its own."""
    bound, guards, factors = opened(term, next_open(term.free))
    roots = _roots(factors)
    if not _are_many(roots):
        return Form(((term, Fraction(1)),))
    others = ((a, e - HALF if a in roots else e) for a, e in factors)
    root = power(reduce(multiply, map(of_atom, roots)), HALF)
    return under(Draft(bound, guards, tuple((a, e) for a, e in others if e)), root)
