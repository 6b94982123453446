"""Digits that data pins: where 0 ≤ t − 2·h ≤ 1 holds of an integer t in data that is 2 or 3, h is 1.

An expert's number is split in two, the rank that has it and which of the rank's it is. Where a token's expert is known
to be one of a rank's, the first digit has one value, though the number itself is data: of each condition on the digit
what is left without the data, by another condition on it or by its range, is a bound that is a number.
"""

from __future__ import annotations

from collections.abc import Iterator

from samesame.formula.guards import Guards
from samesame.formula.poly import NOTHING, IntegerAtom, Poly, Var, number, variable
from samesame.formula.rewrite import Draft, replaced
from samesame.formula.terms import Form


def pin_digits(draft: Draft) -> Form | None:
    """A bound variable with one value is that."""
    for v in draft.bound:
        if not any(g.poly is not None and abs(g.poly.coefficient(v)) > 1 for g in draft.guards):
            continue
        ends = list(_ends(v, draft.guards))
        low = max((end for way, end in ends if way > 0), default=None)
        high = min((end for way, end in ends if way < 0), default=None)
        if low is not None and low == high:
            return replaced(draft, ((v, number(low)),))
    return None


def _ends(v: Var, guards: Guards) -> Iterator[tuple[int, int]]:
    """Numbers that the variable is at least (1, number), or at most (−1, number)."""
    for literal in guards:
        p = literal.poly
        slope = p.coefficient(v) if p is not None and literal.op == "≥0" else 0
        if p is None or not slope:
            continue
        rest = p - variable(v) * slope
        for most in _at_most(rest, guards) if v not in rest.free else ():      # 0 ≤ slope·v + most
            yield (1, -(most // slope)) if slope > 0 else (-1, most // -slope)


def _at_most(p: Poly, guards: Guards) -> Iterator[int]:
    """Numbers that an integer is at most: by one condition, or by the range of what it is made of."""
    if p.constant is not None:
        yield p.constant
    for literal in guards:
        if literal.op == "≥0" and literal.poly is not None and (bound := (p + literal.poly).constant) is not None:
            yield bound
    match [*p.atoms()]:
        case [IntegerAtom() as atom] if p.coefficient(atom) in (1, -1):
            sign = p.coefficient(atom)
            end = atom.range(NOTHING)[1 if sign == 1 else 0]
            if end is not None and (bound := (p + (end - variable(atom)) * sign).constant) is not None:
                yield bound
