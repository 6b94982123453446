"""Inequalities that follow from where indices and sizes lie, found without a solver.

Most questions ask whether 0 ≤ B·p + l, or whether l ≤ B − 1. A polynomial that is linear in an index is at least zero
over the index's range if it is so at both of its ends; b·⌊a/b⌋ lies between a − b + 1 and a; and every atom is some
least value and something that is at least zero. So quotients and indices are put away one after the other, until every
coefficient is at least zero. A few steps, each of them exact; where they do not end so, nothing is known. Lanes, of
which there is a number, go first, and what divides all that is left is divided by: of 16·(n − 1 − q) + 15 − l with a
lane l < 16 that leaves n − 1 − q, where multiplied by what q is divided by 16·q and l would lie too far apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import gcd

from samesame.formula.expr import Add, Compare, Expr, FloorDiv, Index, Load, Mod, Mul, Not, Num, Size, walk
from samesame.formula.polynomials import Polynomial, least, least_of, plus, polynomial, times, written
from samesame.kernels.indices import integers

STEPS = 16  # polynomials that are looked at for one question
NUMBER_ONE: Polynomial = {(): 1}
Held = Mapping[str, tuple[Expr, Expr]]  # between which numbers the elements of tensors lie, by their leaves' names
NOTHING_HELD: Held = {}


def holds_by_ranges(goal: Expr) -> bool:
    """Whether a comparison of integers holds by the ranges of what occurs in it; False also where this is not seen."""
    match goal:
        case Compare("≤", left, right) if left.kind == "int" == right.kind:
            return is_never_negative(integers.minus(right, left))
        case Not(Compare("≤", left, right)) if left.kind == "int" == right.kind:
            return is_never_negative(integers.minus(integers.minus(left, right), 1))
        case Compare("=", left, right) if left.kind == "int" == right.kind:
            return is_never_negative(integers.minus(left, right)) and is_never_negative(integers.minus(right, left))
        case Not(Compare("=", left, right)) if left.kind == "int" == right.kind:
            above, below = (integers.minus(integers.minus(*pair), 1) for pair in ((left, right), (right, left)))
            return is_never_negative(above) or is_never_negative(below)
    return False


@lru_cache(maxsize=1 << 16)
def is_never_negative(p: Expr) -> bool:
    """Whether an integer is at least zero by the ranges of what occurs in it; False also where this is not seen."""
    return _Search().succeeds(polynomial(p))


class _Search:
    """The steps of one question."""

    def __init__(self) -> None:
        self.left = STEPS

    def succeeds(self, p: Polynomial) -> bool:
        """Whether a polynomial is seen to be at least zero, wherever its atoms are in their ranges."""
        self.left -= 1
        if self.left < 0:
            return False
        p = in_lowest_terms(p)
        lowest = least_of(p)
        if lowest is not None:
            return lowest >= 0
        atoms = list(dict.fromkeys(a for m in p for a in m))
        outer = [a for a in atoms if not any(a in inside(b) for b in atoms if b is not a)]
        lane = next((a for a in outer if isinstance(a, Index) and isinstance(a.extent, Num) and has_end(p, a)), None)
        if lane is not None:
            return self.without_index(p, lane)
        quotients = [a for a in outer if isinstance(a, FloorDiv) and is_positive(a.divisor)]
        if quotients:
            return any(self.without_quotient(p, a) for a in quotients)
        return any(self.without_index(p, a) for a in outer if isinstance(a, Index))

    def without_quotient(self, p: Polynomial, q: FloorDiv) -> bool:
        """p = c·q + r with q = ⌊a/b⌋ is at least zero if b·p = c·b·q + b·r is above −b, as p is a whole number."""
        found = divided(p, q)
        if found is None:
            return False
        c, rest = found
        a, b = polynomial(q.numerator), polynomial(q.divisor)
        slack = plus(b, NUMBER_ONE, -1)
        ends = [a] if has_sign(c, -1) else [plus(a, slack, -1)] if has_sign(c, 1) else []
        if any(self.succeeds(plus(plus(times(c, end), times(b, rest)), slack)) for end in ends):
            return True
        if has_sign(c, 1):
            lowest = least(q)
            return lowest is not None and self.succeeds(plus(rest, c, lowest))
        without = greatest_negated(p, q)  # as the whole number that it is: ⌊j/b⌋ ≤ c − 1 of an index j < c·b
        return without is not None and self.succeeds(without)

    def without_index(self, p: Polynomial, v: Index) -> bool:
        """At both ends of the index's range, of which one is enough where the sign of its factor is known."""
        found = divided(p, v)
        if found is None:
            return False
        c, rest = found
        last = plus(polynomial(integers.tidied(v.extent)), NUMBER_ONE, -1)
        if has_sign(c, 1):
            return self.succeeds(rest)
        return self.succeeds(plus(times(c, last), rest)) and (has_sign(c, -1) or self.succeeds(rest))


def divided(p: Polynomial, atom: Expr) -> tuple[Polynomial, Polynomial] | None:
    """(c, r) with p = c·atom + r, the atom a factor in neither; None where p is not so."""
    factor: Polynomial = {}
    rest: Polynomial = {}
    for monomial, c in p.items():
        others = list(monomial)
        if atom in others:
            others.remove(atom)
            factor[tuple(others)] = c
        else:
            rest[monomial] = c
    return None if any(atom in monomial for monomial in factor) else (factor, rest)


def in_lowest_terms(p: Polynomial) -> Polynomial:
    """A polynomial that is at least zero where this one is: of d·q + c, with whole numbers d and q, q + ⌊c/d⌋."""
    factors = [c for monomial, c in p.items() if monomial]
    common = gcd(*factors)
    return {monomial: c // common for monomial, c in p.items() if c // common} if common > 1 else p


def has_end(p: Polynomial, v: Index) -> bool:
    """Whether a polynomial is known to be least at one end of an index's range."""
    found = divided(p, v)
    return found is not None and (has_sign(found[0], 1) or has_sign(found[0], -1))


def has_sign(p: Polynomial, sign: int) -> bool:
    """Whether p·sign is seen to be at least zero."""
    lowest = least_of({monomial: sign * c for monomial, c in p.items()})
    return lowest is not None and lowest >= 0


def is_positive(expr: Expr) -> bool:
    lowest = least(expr)
    return lowest is not None and lowest >= 1


@lru_cache(maxsize=1 << 14)
def inside(atom: Expr) -> frozenset[Expr]:
    """Everything that occurs in an atom, ranges of indices included, and the atom itself."""
    return frozenset(walk(atom))


def greatest_negated(p: Polynomial, q: FloorDiv) -> Polynomial | None:
    """A polynomial that is never more than p, with the greatest value of a quotient that p falls with in its place."""
    above = greatest_without({monomial: -c for monomial, c in p.items()}, q, NOTHING_HELD)
    return None if above is None else {monomial: -c for monomial, c in above.items()}


def greatest_without(p: Polynomial, q: FloorDiv, held: Held) -> Polynomial | None:
    """A polynomial that p never exceeds, with an end of a quotient in its place."""
    found = divided(p, q)
    if found is None or q.divisor.free or not is_positive(q.divisor):
        return None
    c, rest = found
    if has_sign(c, -1):
        lowest = least(q)
        return None if lowest is None else plus(rest, c, lowest)
    most = greatest(q.numerator, held) if has_sign(c, 1) else None
    return None if most is None else plus(rest, times(c, without_rest(polynomial(integers.quotient(most, q.divisor)))))


def without_rest(p: Polynomial) -> Polynomial:
    """The polynomial with −1 for ⌊r/b⌋, of a number r < 0 and b > 0, which is no more than that."""
    for monomial, c in p.items():
        atom = monomial[0] if len(monomial) == 1 else None
        if c <= 0 or not isinstance(atom, FloorDiv) or not isinstance(atom.numerator, Num):
            continue
        if atom.numerator.value < 0 and is_positive(atom.divisor):
            return without_rest(plus(plus(p, {monomial: c}, -1), {(): -c}))
    return p


def greatest(expr: Expr, held: Held = NOTHING_HELD) -> Expr | None:
    """A number over sizes alone that an integer is never above; None where it is not seen to grow or to fall with each
    of its indices, and with each element of which it is known what it lies in."""
    p = polynomial(expr)
    for _ in range(STEPS):
        v = next((a for m in p for a in m if ends_of(a, held) is not None), None)
        ends = None if v is None else ends_of(v, held)
        if v is None or ends is None:
            q = next((a for m in p for a in m if isinstance(a, FloorDiv) and varies(a)), None)
            without = greatest_without(p, q, held) if q is not None else None
            if without is None:
                break
            p = without
            continue
        found = divided(p, v)
        if found is None:
            return None
        c, rest = found
        if not has_sign(c, 1) and not has_sign(c, -1):
            return None
        p = plus(rest, times(c, ends[1] if has_sign(c, 1) else ends[0]))
    most = written(p)
    return most if all(isinstance(e, Size | Num | Add | Mul | FloorDiv) for e in walk(most)) else None


def ends_of(atom: Expr, held: Held) -> tuple[Polynomial, Polynomial] | None:
    """The least and the greatest value of an index, of a remainder, or of an element by what its tensor holds."""
    if isinstance(atom, Index):
        return {}, plus(polynomial(integers.tidied(atom.extent)), NUMBER_ONE, -1)
    if isinstance(atom, Mod) and is_positive(atom.divisor) and not atom.divisor.free:
        return {}, plus(polynomial(atom.divisor), NUMBER_ONE, -1)
    if isinstance(atom, Load) and atom.leaf.name in held:
        low, high = held[atom.leaf.name]
        return polynomial(integers.tidied(low)), polynomial(integers.tidied(high))
    return None


def varies(e: Expr) -> bool:
    """Whether an integer hangs on an index or on what a tensor holds."""
    return bool(e.free) or any(isinstance(part, Load) for part in walk(e))
