"""The value of a form at one random point: two forms that differ there are not equal, so nobody need prove it.

Every leaf, free index and size has a number that is made of its name, so that two forms are read at the same point.
Only what is worth trying hangs on this: where a form has no value here (an operator of which nothing is known, a domain
without ends), it may be equal to any other."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from samesame.formula.effort import remember
from samesame.formula.guards import Guards, Literal, bounds
from samesame.formula.poly import Atom, Element, IntegerAtom, Poly, Ratio, SizeAtom, Var
from samesame.formula.scalars import SCALARS
from samesame.formula.terms import MINUS_INFINITY, UNDEFINED, Apply, Form, Radical, Symbol, Term, factored

MOST = 4_000                # factors and conditions worked out for one form
NEAR = 1e-7                 # relative to 1 + the larger value
SIZES, ELEMENTS = 4, 12     # how many values an unbounded size, and an unbounded integer, may take

Point = dict[Var, int]


def may_be_equal(one: Form, other: Form) -> bool:
    """Whether nothing tells the forms apart at the random point."""
    a, b = at_random(one), at_random(other)
    return a is None or b is None or abs(a - b) <= NEAR * (1 + max(abs(a), abs(b)))


@remember
def at_random(form: Form) -> float | None:
    """The form's value there, or None."""
    try:
        with np.errstate(all="ignore"):
            value = _Reading().form(form, {})
    except (_NoValue, ArithmeticError, ValueError):
        return None
    return value if math.isfinite(value) else None


class _NoValue(Exception):
    """Nothing is known of it, or it is too long."""


def _power(base: float, exponent: Fraction) -> float:
    if exponent.denominator == 1:
        return float(base ** int(exponent))
    if base < 0:
        raise _NoValue                                     # a root that is no real number
    return float(base ** float(exponent))


def _drawn(text: str) -> int:
    return zlib.crc32(text.encode())


class _Reading:
    """One form read at the point; `left` is what may still be worked out."""

    def __init__(self) -> None:
        self.left = MOST

    def form(self, form: Form, at: Point) -> float:
        return sum(float(c) * self.term(t, at) for t, c in form.terms)

    def term(self, term: Term, at: Point) -> float:
        value = 1.0
        for part in factored(term) if term.bound else [term]:
            value *= sum(math.prod(_power(self.atom(a, here), e) for a, e in part.factors)
                         for here in self.points(part.bound, part.guards, at))
            if not value:                                  # what counts nowhere needs no value
                return 0.0
        return value

    def points(self, bound: tuple[Var, ...], guards: Guards, at: Point) -> Iterator[Point]:
        """The points of a domain: a variable whose ends are known is put in, then the next."""
        self.left -= 1 + len(guards)
        if self.left < 0:
            raise _NoValue
        if not bound:
            if all(self.holds(g, at) for g in guards):
                yield at
            return
        for v in bound:
            lows, highs, _ = bounds(v, guards)
            inside = frozenset(bound)
            low = [self.poly(p, at) for p, _ in lows if not p.free & inside]
            high = [self.poly(p, at) for p, _ in highs if not p.free & inside]
            if low and high:
                rest = tuple(w for w in bound if w is not v)
                for value in range(max(low), min(high) + 1):
                    yield from self.points(rest, guards, {**at, v: value})
                return
        raise _NoValue

    def holds(self, literal: Literal, at: Point) -> bool:
        if literal.poly is not None:
            return bool(literal.said_of(self.poly(literal.poly, at)))
        assert isinstance(literal.subject, Atom)
        return self.truth(literal.subject, at) == (literal.op == "holds")

    def truth(self, atom: Atom, at: Point) -> bool:
        if isinstance(atom, Element):
            return _drawn(self.place(atom, at)) % 2 == 0
        if isinstance(atom, Apply) and atom.head in ("positive", "zero"):
            value = self.form(atom.argument, at)
            return value > 0 if atom.head == "positive" else abs(value) < NEAR
        if isinstance(atom, Apply) and atom.head == "exists":
            return any(True for t, _ in atom.argument.terms for _ in self.points(t.bound, t.guards, at))
        raise _NoValue

    def atom(self, atom: Atom, at: Point) -> float:
        self.left -= 1
        match atom:
            case Symbol(name=name) if name not in (UNDEFINED, MINUS_INFINITY):
                return 1 + _drawn(name) / 2**32
            case Radical(base=base):
                return base
            case Element() if not atom.integer:
                if atom.kind == "bool":
                    return float(self.truth(atom, at))
                return 1.5 * _drawn(self.place(atom, at)) / 2**32 - 0.5
            case IntegerAtom() if atom.integer:
                return self.integer(atom, at)
            case Apply(head=head, argument=argument) if head in HEADS:
                return HEADS[head](self.form(argument, at))
            case Apply(head=head, argument=argument) if head.removeprefix("fn:") in SCALARS:
                return float(SCALARS[head.removeprefix("fn:")].values(self.form(argument, at)))  # type: ignore[arg-type]
            case Apply(head="max", argument=pieces):
                return max(self.term(Term((), (), t.factors), here) for t, _ in pieces.terms
                           for here in self.points(t.bound, t.guards, at))
        raise _NoValue

    def place(self, element: Element, at: Point) -> str:
        return f"{element.leaf.name}{[self.poly(p, at) for p in element.indices]}"

    def poly(self, p: Poly, at: Point) -> int:
        return int(p.value(lambda a: self.integer(a, at)))

    def integer(self, atom: Atom, at: Point) -> int:
        match atom:
            case Var() if atom in at:
                return at[atom]
            case SizeAtom():
                return atom.minimum + _drawn(atom.name) % SIZES
            case Ratio():
                over = divmod(self.poly(atom.numerator, at), self.poly(atom.divisor, at))
                return over[0] if atom.op == "//" else over[1]
            case Var() | Element():
                low, high = atom.range(frozenset())
                least = self.poly(low, at) if low is not None else 0
                most = self.poly(high, at) if high is not None else least + ELEMENTS
                if most < least:
                    raise _NoValue
                name = self.place(atom, at) if isinstance(atom, Element) else atom.key
                return least + _drawn(name) % (most - least + 1)
        raise _NoValue


HEADS: dict[str, Callable[[float], float]] = {
    "exp": math.exp,
    "log": math.log,
    "sum": float,
    "piece": float,
}
