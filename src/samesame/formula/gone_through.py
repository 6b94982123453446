"""Conditions on few integers, gone through: whether any point of a small box satisfies them.

Indices of an example have known ends, and most conditions are about two or three of them. All their points at once are
a few array operations, where a solver is set up for each question, and random points miss what holds at one corner.
The answer is the solver's: ranges are facts, and an integer is any number in its range."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from samesame.formula.poly import Atom, IntegerAtom, Poly, Ratio, Var

if TYPE_CHECKING:  # these build on it
    from samesame.formula.guards import Literal

MOST = 4096                 # points of a box
LARGE = 1 << 62             # what a number of 64 bits may hold, with room


def have_a_point(guards: Iterable[Literal], forgetting: frozenset[Var]) -> bool | None:
    """Whether some integers satisfy conditions on indices, with their ranges but for those of variables in
    `forgetting`; None where there are too many to try."""
    guards = tuple(guards)
    ends = _ends(guards, forgetting)
    if ends is None:
        return None
    sizes = [high - low + 1 for low, high in ends.values()]
    if min(sizes, default=1) <= 0:
        return False
    if prod(sizes) > MOST or any(_magnitude(g.poly, ends) > LARGE for g in guards if g.poly is not None):
        return None
    points: dict[Atom, Any] = {}
    for axis, (atom, (low, high)) in enumerate(ends.items()):
        shape = [-1 if k == axis else 1 for k in range(len(ends))]
        points[atom] = np.arange(low, high + 1, dtype=np.int64).reshape(shape)
    holds: Any = True
    for literal in guards:
        assert literal.poly is not None
        holds = holds & literal.said_of(literal.poly.value(lambda a: _of(a, points)))
        if not np.any(holds):
            return False
    return True


def _of(atom: Atom, points: dict[Atom, Any]) -> Any:
    if atom not in points and isinstance(atom, Ratio):
        numerator, divisor = atom.numerator.value(lambda a: _of(a, points)), atom.divisor.constant
        points[atom] = numerator // divisor if atom.op == "//" else numerator % divisor
    return points[atom]


def _ends(guards: tuple[Literal, ...], forgetting: frozenset[Var]) -> dict[Atom, tuple[int, int]] | None:
    """The ends between which each integer lies, those of quotients apart; None where one has none that is a number."""
    told: dict[Atom, list[tuple[int, int]]] = {}
    for literal in guards:
        for atom, c, sign in _alone(literal):
            told.setdefault(atom, []).append((c, sign))
    found: dict[Atom, tuple[int, int]] = {}
    waiting = [p for literal in guards if (p := literal.poly) is not None]
    while waiting:
        for atom in waiting.pop().atoms():
            if isinstance(atom, Ratio):
                if atom.divisor.constant is None or atom.divisor.constant <= 0:
                    return None
                waiting.append(atom.numerator)
            elif atom not in found:
                ends = _of_one(atom, told.get(atom, ()), forgetting)
                if ends is None:
                    return None
                found[atom] = ends
    return found


def _alone(literal: Literal) -> Iterable[tuple[Atom, int, int]]:
    """The integer a of a condition ±a + c ≥ 0, with c and the sign."""
    p = literal.poly
    if p is not None and literal.op == "≥0":
        rest = {atoms: c for atoms, c in p.terms if atoms}
        for atoms, sign in rest.items() if len(rest) == 1 else ():
            if len(atoms) == 1 and sign in (1, -1):
                yield atoms[0], sum(c for own, c in p.terms if not own), sign


def _of_one(atom: Atom, told: Iterable[tuple[int, int]], forgetting: frozenset[Var]) -> tuple[int, int] | None:
    """The ends of an integer by its range and by what conditions say of it alone."""
    if not isinstance(atom, IntegerAtom):
        return None
    lows, highs = ([c for c, own in told if own == sign] for sign in (1, -1))
    lows = [-c for c in lows]
    for end, known in zip(atom.range(forgetting), (lows, highs), strict=True):
        if end is not None and end.constant is None:
            return None                                    # an end that moves is a fact that numbers do not tell
        if end is not None and end.constant is not None:
            known.append(end.constant)
    return (max(lows), min(highs)) if lows and highs else None


def _magnitude(p: Poly, ends: dict[Atom, tuple[int, int]]) -> int:
    """What no value of it, or of a part of it, exceeds."""
    return sum(abs(c) * prod(_largest(a, ends) for a in atoms) for atoms, c in p.terms)


def _largest(atom: Atom, ends: dict[Atom, tuple[int, int]]) -> int:
    if not isinstance(atom, Ratio):
        return 1 + max(map(abs, ends[atom]))
    return 1 + _magnitude(atom.numerator, ends) + _magnitude(atom.divisor, ends)    # −1 mod d is d − 1
