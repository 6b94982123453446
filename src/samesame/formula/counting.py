"""Counting with the solver: whether the guarded occurrences of a body cancel at every point.

Comparisons of reals are no longer opaque here: each atom is some real number, a form is a polynomial in them, so x >
0, −x > 0 and x = 0 exclude each other and max(x, y) agrees with its two spellings at x = y."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import z3

from samesame.formula.guards import Guards
from samesame.formula.poly import Atom, IntegerAtom
from samesame.formula.smt import Translation, refuted
from samesame.formula.terms import Apply, Form, Term, closed


class RealTranslation(Translation):
    """A translation that sees into comparisons of reals."""

    def __init__(self) -> None:
        super().__init__()
        self._reals: dict[Term | Atom, Any] = {}

    def boolean(self, a: Atom) -> Any:
        if isinstance(a, Apply) and a.head in ("positive", "zero"):
            value = self.form(a.argument)
            return value > 0 if a.head == "positive" else value == 0
        return super().boolean(a)

    def real(self, number: Fraction | int) -> Any:
        return z3.RealVal(str(number), self.context)

    def form(self, form: Form) -> Any:
        total = self.real(0)
        for term, c in form.terms:
            total = total + self.real(c) * self.term(term)
        return total

    def term(self, term: Term) -> Any:
        """A term's value: small powers are products of their atoms' values, anything else is any real."""
        if not term.plain or any(e.denominator != 1 or not 0 < e <= 4 for _, e in term.factors):
            return self._any_real(term)
        value = self.real(1)
        for a, e in term.factors:
            for _ in range(int(e)):
                value = value * self._any_real(a)
        return value

    def _any_real(self, thing: Term | Atom) -> Any:
        if isinstance(thing, IntegerAtom) and thing.integer:
            return z3.ToReal(self.atom(thing))
        if thing not in self._reals:
            self._reals[thing] = z3.Real(f"t{len(self._reals)}", self.context)
        return self._reals[thing]


def never_counts(weighted: Sequence[tuple[Fraction, Guards]]) -> bool:
    """Whether Σ weight·[guards] = 0 at every point."""
    translation = RealTranslation()
    total = none = translation.real(0)
    for weight, guards in weighted:
        total = total + z3.If(translation.all(guards), translation.real(weight), none)
    return refuted(translation, [total != 0])


def never_differs(form: Form) -> bool:
    """Whether Σ coefficient·[guards]·body = 0 at every point and for all values of the bodies, for a form without
    bound variables."""
    translation = RealTranslation()
    total = none = translation.real(0)
    for term, c in form.terms:
        value = translation.real(c) * translation.term(closed((), (), term.factors))
        total = total + z3.If(translation.all(term.guards), value, none)
    return refuted(translation, [total != 0])
