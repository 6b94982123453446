"""Idle clamps: where a term's conditions hold, the place that it looks up is within the ends that it is clamped to.

An image that counts as zero beyond its border is read in two ways, of which one has indices in range in any case, for
hardware that reads before it asks:

    [0 ≤ f] [f < n] · x[f]   =   [0 ≤ f] [f < n] · x[min(max(f, 0), n − 1)]        f a rounded number, and whole

So each maximum in an index is left by what the conditions say is no greater than something else in it. Of whole numbers
f < n says f ≤ n − 1. A place that several whole numbers add up to, as n·g + f in a row of all elements, is their sum,
and where the conditions say that f is a digit, its row and column are g and f.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from typing import TypeGuard

from samesame.formula.contents import common_number
from samesame.formula.extrema import maximum
from samesame.formula.functions import is_whole
from samesame.formula.guards import NO_GUARDS, Guards
from samesame.formula.poly import Atom, Element, Poly, Ratio, divide, number, poly, variable
from samesame.formula.rewrite import Draft, multiply, of_integer, under, whole_of
from samesame.formula.signs import is_nonnegative, piece_of
from samesame.formula.terms import (
    MINUS_INFINITY,
    WHOLE,
    Apply,
    Form,
    OpaqueAtom,
    Term,
    add,
    as_poly,
    constant,
    form_of,
    next_open,
    of_atom,
    opened,
    scale,
    subtract,
)


def without_idle_clamps(form: Form) -> Form | None:
    """The form with each place that a term looks up as its conditions let it be; None where that changes nothing."""
    items = [(t, c * d) for term, c in form.terms for t, d in _looked_up(term).terms]
    found = form_of(items)
    return None if found is form else found


def _looked_up(term: Term) -> Form:
    bound, guards, factors = opened(term, next_open(term.free))
    known = [*_not_negative(guards)] if any(_at_rounded(atom) for atom, _ in factors) else []
    within = tuple((_within(atom, known), e) if _at_rounded(atom) else (atom, e) for atom, e in factors)
    if within == factors:
        return Form(((term, Fraction(1)),))
    return under(Draft(bound, guards, within), constant(1))


def _at_rounded(atom: Atom) -> TypeGuard[Element]:
    """Is it an element of a tensor, at a place that was rounded?"""
    return isinstance(atom, Element) and any(map(_is_rounded, atom.indices))


def _not_negative(guards: Guards) -> Iterator[Form]:
    """What the guards say is 0 or more."""
    for literal in guards:
        p, atom = literal.poly, literal.subject
        if p is not None and literal.op in ("≥0", "=0"):
            yield from (of_integer(p), of_integer(-p))[: 1 if literal.op == "≥0" else 2]
        elif isinstance(atom, Apply) and atom.head == "positive" and not atom.argument.has(MINUS_INFINITY):
            said = atom.argument
            yield scale(said, -1) if literal.op == "fails" else subtract(said, constant(1)) if is_whole(said) else said


def _within(atom: Element, known: list[Form]) -> Element:
    """An element of a tensor, at the places that it is looked up where all this is 0 or more."""
    return Element(atom.leaf, atom.bounds, tuple(_place(p, known) if _is_rounded(p) else p for p in atom.indices))


def _is_rounded(p: Poly) -> bool:
    return any(_is_whole(a) or (isinstance(a, Ratio) and _is_rounded(a.numerator)) for a in p.atoms())


def _is_whole(atom: Atom) -> bool:
    return isinstance(atom, OpaqueAtom) and atom.name == WHOLE


def _place(p: Poly, known: list[Form]) -> Poly:
    return poly(p.value(lambda atom: _part_of_place(atom, known)))


def _part_of_place(atom: Atom, known: list[Form]) -> Poly:
    """A number in an index where all this is 0 or more: without idle clamps, and digits as what they are digits of."""
    if isinstance(atom, OpaqueAtom) and _is_whole(atom):
        return _sum_of_wholes(_unclamped(atom.bodies[0].form, known))
    if not isinstance(atom, Ratio):
        return variable(atom)
    quotient, rest = divide(_place(atom.numerator, known), _place(atom.divisor, known))
    return poly((quotient if atom.op == "//" else rest).value(lambda one: _digit(one, known)))


def _digit(atom: Atom, known: list[Form]) -> Poly:
    """What a division leaves of a number below its divisor."""
    if isinstance(atom, Ratio):
        low, high = of_integer(atom.numerator), of_integer(atom.divisor - 1 - atom.numerator)
        if _is_known(low, known) and _is_known(high, known):
            return number(0) if atom.op == "//" else atom.numerator
    return variable(atom)


def _sum_of_wholes(form: Form) -> Poly:
    """A whole number as an index: each of its terms by itself."""
    total = number(0)
    for term, c in form.terms:
        alone = Form(((term, Fraction(1)),))
        p = as_poly(alone)
        total += (whole_of(alone) if p is None else p) * int(c)
    return total


def _unclamped(form: Form, known: list[Form]) -> Form:
    """The form with less in its maxima where all this is 0 or more."""
    total = constant(0)
    for term, c in form.terms:
        if term.plain and all(e.denominator == 1 and e > 0 for _, e in term.factors):
            parts = [_less_of(atom, known) for atom, e in term.factors for _ in range(int(e))]
            total = add(total, scale(reduce(multiply, parts, constant(1)), c))
        else:
            total = add(total, Form(((term, c),)))
    return total


def _less_of(atom: Atom, known: list[Form]) -> Form:
    """A maximum without the pieces that another one is never less than; any other atom as it is."""
    if not isinstance(atom, Apply) or atom.head != "max" or not all(t.plain for t, _ in atom.argument.terms):
        return of_atom(atom)
    pieces = [_unclamped(piece_of(t), known) for t, _ in atom.argument.terms]
    for piece in tuple(pieces):
        others = [other for other in pieces if other is not piece]
        if any(_is_known(subtract(other, piece), known) for other in others):
            pieces = others
    return maximum(((), NO_GUARDS, piece) for piece in pieces)


def _is_known(form: Form, known: list[Form]) -> bool:
    """Is a form 0 or more, by itself or as it is no less than something that is?"""
    form = scale(form, 1 / (common_number(c for _, c in form.terms) or Fraction(1)))
    return is_nonnegative(form) or any(is_nonnegative(subtract(form, less)) for less in known)
