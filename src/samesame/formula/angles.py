"""Angles: where sines and cosines are left over, those of sums and multiples are written in those of the summands.

sin(a + b) = sin a·cos b + cos a·sin b, cos(a + b) = cos a·cos b − sin a·sin b, and sin²a = 1 − cos²a. With these a
polynomial in sines and cosines of independent angles has one form, so rotations that are put together, rotary
embeddings of differences of positions and quaternions need no law of their own. 3·a/2 and a/2 are multiples of one
angle, a/2; of asin x the whole is one, whose sine is known. It is a late step, since what it writes out is longer."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce

from samesame.formula.contents import common_number
from samesame.formula.functions import apply, named, power
from samesame.formula.poly import Atom
from samesame.formula.rewrite import Draft, multiply, under
from samesame.formula.terms import Apply, Form, Term, add, constant, next_open, of_atom, opened, scale, subtract
from samesame.formula.turns import inverse_of

SINE, COSINE = "fn:sin", "fn:cos"
MOST = 6  # summands of an angle, and times that one is taken
MOST_TERMS = 4_000  # written on the way

Units = dict[Term, Fraction]
Pair = tuple[Form, Form]  # a sine and a cosine


def by_angles(form: Form) -> Form | None:
    """The form with sines and cosines of single angles only; None where nothing changes or too much is written out."""
    angles = [dict(angle.terms) for angle in dict.fromkeys(_angles(form))]
    if not angles:
        return None
    units: Units = {}
    for term in dict.fromkeys(term for angle in angles for term in angle):
        taken = [angle[term] for angle in angles if term in angle]
        units[term] = common_number([*taken, Fraction(1)] if inverse_of(term) else taken)
    if any(sum(abs(c / units[term]) for term, c in angle.items()) > MOST for angle in angles):
        return None
    written = _written(form, units)
    return None if written is form else written


def _angles(form: Form) -> Iterator[Form]:
    """What sines and cosines are taken of, at any depth but inside other angles."""
    for term, _ in form.terms:
        for atom, _ in opened(term, next_open(term.free))[2]:
            if isinstance(atom, Apply):
                yield from (atom.argument,) if atom.head in (SINE, COSINE) else _angles(atom.argument)


def _written(form: Form, units: Units) -> Form | None:
    """The form with its sines and cosines written out, and no squares of sines; None where that gets too long."""
    written = _put(form, units)
    while written is not None and (less := _without_squares(written)) is not written:
        written = less
    return written


def _put(form: Form, units: Units) -> Form | None:
    total = constant(0)
    for term, c in form.terms:
        bound, guards, factors = opened(term, next_open(term.free))
        product: Form | None = constant(1)
        for atom, e in factors:
            factor = _factor(atom, units)
            product = None if factor is None or product is None else multiply(product, power(factor, e))
            if product is None or len(product.terms) > MOST_TERMS:
                return None
        assert product is not None
        total = add(total, scale(under(Draft(bound, guards, ()), product), c))
    return total


def _factor(atom: Atom, units: Units) -> Form | None:
    if not isinstance(atom, Apply):
        return of_atom(atom)
    if atom.head in (SINE, COSINE):
        return _of_sum(atom.argument, units)[0 if atom.head == SINE else 1]
    argument = _written(atom.argument, units)
    return None if argument is None else of_atom(atom) if argument is atom.argument else apply(atom.head, argument)


def _of_sum(angle: Form, units: Units) -> Pair:
    """The sine and cosine of an angle, in those of its summands."""
    parts = [part for term, c in angle.terms for part in _times(term, c, units[term])]
    return reduce(_together, parts, (constant(0), constant(1)))


def _times(term: Term, coefficient: Fraction, unit: Fraction) -> list[Pair]:
    """The pair of an angle's unit, once for each time it is taken."""
    single = scale(Form(((term, Fraction(1)),)), unit if coefficient > 0 else -unit)
    return [(named("sin")(single), named("cos")(single))] * int(abs(coefficient) / unit)


def _together(one: Pair, other: Pair) -> Pair:
    (s, c), (t, d) = one, other
    return add(multiply(s, d), multiply(c, t)), subtract(multiply(c, d), multiply(s, t))


def _without_squares(form: Form) -> Form:
    """The form with 1 − cos² for sin², once in each term; the form itself where there is none."""
    total, changed = constant(0), False
    for term, c in form.terms:
        bound, guards, factors = opened(term, next_open(term.free))
        squared = next((a for a, e in factors if isinstance(a, Apply) and a.head == SINE and _is_square(e)), None)
        if squared is None:
            total = add(total, Form(((term, c),)))
            continue
        changed = True
        rest = tuple((a, e - 2 if a is squared else e) for a, e in factors)
        cosine = named("cos")(squared.argument)
        less = subtract(constant(1), multiply(cosine, cosine))
        total = add(total, scale(under(Draft(bound, guards, tuple((a, e) for a, e in rest if e)), less), c))
    return total if changed else form


def _is_square(exponent: Fraction) -> bool:
    return exponent.denominator == 1 and exponent >= 2
