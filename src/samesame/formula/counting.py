"""Counting with the solver: whether the guarded occurrences of a body cancel at every point.

Comparisons of reals are no longer opaque here: each atom is some real number, of its sign where that is known, and a
form is a polynomial in them, so x > 0, −x > 0 and x = 0 exclude each other, max(x, y) is the larger one, and what is
above exp(y) is above 0. Logarithms of numbers are known to some places: what is above log 3 is above log 2. Whoever
compares logarithms compares what they are of: x > log 2 and exp(x) > 2 are the same."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log, prod
from typing import Any

import z3

from samesame.formula.guards import Guards
from samesame.formula.poly import Atom, IntegerAtom
from samesame.formula.signs import is_nonnegative, is_positive, piece_of
from samesame.formula.smt import Indices, refuted
from samesame.formula.terms import Apply, Form, Term, closed, laws, of_atom, subtract, value_of

ROOM = Fraction(1, 10**9)   # more than float64 is off in the logarithm of a number that can be written down


class Reals(Indices):
    """A translation that sees into comparisons of reals."""

    def boolean(self, a: Atom) -> Any:
        if isinstance(a, Apply) and a.head in ("positive", "zero"):
            value, powers = self.term(a.argument), as_powers(a.argument)
            if powers is not None:
                other = self.term(powers)
                self.tell((value > 0) == (other > 0), (value == 0) == (other == 0))
            return value > 0 if a.head == "positive" else value == 0
        return super().boolean(a)

    def translated(self, thing: Any) -> Any:
        """A term's value: small powers are products of their atoms' values, anything else is any real."""
        match thing:
            case Form(terms=terms):
                return sum((self.real(c) * self.term(term) for term, c in terms), start=self.real(0))
            case Term(plain=True, factors=factors) if all(e in (1, 2, 3, 4) for _, e in factors):
                return prod((self.any_real(a) for a, e in factors for _ in range(int(e))), start=self.real(1))
            case Term():
                return self.any_real(thing)
        return super().translated(thing)

    def any_real(self, thing: Term | Atom) -> Any:
        if isinstance(thing, IntegerAtom) and thing.integer:
            return z3.ToReal(self.term(thing))
        found = self.named(thing, "real")
        form = Form(((thing, Fraction(1)),)) if isinstance(thing, Term) else of_atom(thing)
        if is_positive(form):
            self.tell(found > 0)
        elif is_nonnegative(form):
            self.tell(found >= 0)
        about = _logarithm(thing)
        if about is not None:
            self.tell(found > self.real(about - ROOM), found < self.real(about + ROOM))
        if isinstance(thing, Apply) and thing.head == "max" and all(t.plain for t, _ in thing.argument.terms):
            pieces = [self.term(piece_of(t)) for t, _ in thing.argument.terms]
            self.tell(*(found >= piece for piece in pieces), z3.Or(*(found == piece for piece in pieces)))
        return found


def as_powers(form: Form) -> Form | None:
    """exp(a) − exp(b) for a − b, which has the same sign, where logarithms are among what is added or taken away."""
    logarithms = [a for a in form.atoms() if isinstance(a, Apply) and a.head == "log"]
    if not logarithms or not all(is_positive(a.argument) for a in logarithms):
        return None
    above = Form(tuple(part for part in form.terms if part[1] > 0))
    below = Form(tuple((t, -c) for t, c in form.terms if c < 0))
    return subtract(*(laws().apply("exp", side) for side in (above, below)))


def _logarithm(thing: Term | Atom) -> Fraction | None:
    """About what the logarithm of a number is; None of anything else."""
    of = value_of(thing.argument) if isinstance(thing, Apply) and thing.head == "log" else None
    return None if of is None or of <= 0 else Fraction(log(of.numerator)) - Fraction(log(of.denominator))


def never_counts(weighted: Sequence[tuple[Fraction, Guards]]) -> bool:
    """Whether Σ weight·[guards] = 0 at every point."""
    translation = Reals()
    total = none = translation.real(0)
    for weight, guards in weighted:
        total = total + z3.If(translation.all(guards), translation.real(weight), none)
    return refuted(translation, [total != 0])


def never_differs(form: Form) -> bool:
    """Whether Σ coefficient·[guards]·body = 0 at every point and for all values of the bodies, for a form without
    bound variables."""
    translation = Reals()
    total = none = translation.real(0)
    for term, c in form.terms:
        value = translation.real(c) * translation.term(closed((), (), term.factors))
        total = total + z3.If(translation.all(term.guards), value, none)
    return refuted(translation, [total != 0])
