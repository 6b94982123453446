"""Two bound variables that are the digits of one: a tile h and a lane l that occur only as h·E + l.

    Σ_{h<H} Σ_{l<E} f(h·E + l) = Σ_{j<H·E} f(j)

They may occur in a mask alone, which then counts the elements of all tiles.

An equation between such numbers is one for each digit: h·E + l = u·E + w, for 0 ≤ l, w < E, says that h = u and
l = w. A histogram over pairs of labels counts at `label·classes + predicted`, another program multiplies two one-hots.
And the digits of a number that data says are that number: a slot's block and its place there, as the slot.

A loop over tiles is a bijection onto the whole range, for every tile size. Masks for a ragged end, `h·E + l < n`, are
conditions on j like any other; the tiles may even be unlimited, where only the mask ends them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from itertools import combinations, permutations
from operator import add, mul

from samesame.formula.guards import Guards, Literal, at, at_least_zero_literal, bounds, conjunction, zero_literal
from samesame.formula.inside import inner_polys
from samesame.formula.poly import (
    Atom,
    Element,
    Poly,
    Ratio,
    SizeAtom,
    Var,
    at_least,
    at_least_zero,
    collect,
    exact_quotient,
    linear,
    number,
    variable,
)
from samesame.formula.rewrite import Draft, atom_at, rewritten, within
from samesame.formula.terms import Form, constant, next_open, of_atom


def merge_digits(draft: Draft) -> Form | None:
    """Two bound variables 0 ≤ h and 0 ≤ l < E that occur only as h·E + l become one, j ≥ 0, with h's end times E."""
    uses = [p for a, _ in draft.factors for _, _, p in inner_polys(a)]
    for pair in combinations(draft.bound, 2):
        own = [p for p in uses if not p.free.isdisjoint(pair)]
        if (own or any(g.free.issuperset(pair) for g in draft.guards)) and all(p.free.issuperset(pair) for p in own):
            for high, low in (pair, pair[::-1]):
                merged = _merged(draft, high, low, own)
                if merged is not None:
                    return merged
    return None


def equal_digits(draft: Draft) -> Draft | Form | None:
    """The draft with an equation between numbers of two digits as one for each digit; None where there is none."""
    for literal in draft.guards:
        p = literal.poly
        pairs = (_digits(p, size) for size in _sizes(p)) if p is not None and literal.op == "=0" else iter(())
        pair = next(filter(None, pairs), None)
        if pair is not None:
            guards = conjunction([*(g for g in draft.guards if g is not literal), *map(zero_literal, pair)])
            return constant(0) if guards is None else Draft(draft.bound, guards, draft.factors)
    return None


def equal_numbers(draft: Draft) -> Draft | Form | None:
    """The draft with two equations for the digits of a number that data says, ⌊t/d⌋ = p and t mod d = q, as the one
    t = d·p + q for a q below d: the block and the place of a slot as the slot. None where there are none."""
    digits = [(literal, *found) for literal in draft.guards for found in _digits_of_data(literal)]
    for (one, high, p), (other, low, q) in permutations(digits, 2):
        if (high.op, low.op) == ("//", "mod") and (high.numerator, high.divisor) == (low.numerator, low.divisor):
            number_ = zero_literal(high.numerator - high.divisor * p - q)
            below = at_least_zero_literal(q), at_least_zero_literal(high.divisor - 1 - q)
            guards = conjunction([*(g for g in draft.guards if g not in (one, other)), number_, *below])
            return constant(0) if guards is None else Draft(draft.bound, guards, draft.factors)
    return None


def _digits_of_data(literal: Literal) -> Iterator[tuple[Ratio, Poly]]:
    """What an equation says that a digit of an element is."""
    p = literal.poly
    if p is None or literal.op != "=0":
        return
    for a in p.atoms():
        sign = p.coefficient(a)
        if isinstance(a, Ratio) and sign in (1, -1) and any(isinstance(e, Element) for e in a.numerator.atoms()):
            yield a, collect((m, -sign * c) for m, c in p.terms if m != (a,))


def _sizes(p: Poly) -> list[Poly]:
    """What a digit of an equation may be multiplied by: the coefficients that are not 1, sizes among them."""
    found: dict[Poly, None] = {}
    for monomial, c in p.terms:
        size = reduce(mul, (variable(a) for a in monomial if isinstance(a, SizeAtom)), number(abs(c)))
        if monomial and size is not number(1) and len(monomial) > sum(isinstance(a, SizeAtom) for a in monomial):
            found[size] = None
    return sorted(found, key=lambda size: size.key)


def _digits(p: Poly, size: Poly) -> tuple[Poly, Poly] | None:
    """A and B of p = size·A + B, if B lies between −size and size, so that p is 0 only where both are."""
    upper = reduce(add, (_higher(monomial, c, size) for monomial, c in p.terms if monomial), number(0))
    if not upper.terms or not at_least(size, 1):
        return None
    for up in _carried(p, size):
        lower = p - (upper + up) * size
        if at_least_zero(size - 1 - lower) and at_least_zero(size - 1 + lower):
            return upper + up, lower
    return None


def _higher(monomial: tuple[Atom, ...], c: int, size: Poly) -> Poly:
    """What of a term is a multiple of the size, divided by it: of 5·v a v for 4."""
    if size.constant is not None:
        return collect([(monomial, abs(c) // size.constant * (1 if c > 0 else -1))])
    return exact_quotient(collect([(monomial, c)]), size) or number(0)


def _carried(p: Poly, size: Poly) -> tuple[int, ...]:
    """What of the number in an equation may belong to the higher digit: 10 = 2·4 + 2 = 3·4 − 2."""
    least = sum(c for monomial, c in p.terms if not monomial) // size.constant if size.constant else 0
    return (least, least + 1) if size.constant else (0,)


def _merged(draft: Draft, high: Var, low: Var, uses: list[Poly]) -> Form | None:
    limits = _limits(draft, high, low)
    if limits is None:
        return None
    size, count, joint = limits
    digit = variable(high) * size
    if not all(_only_whole(p, low, digit) for p in (*uses, *(g.poly for g in joint if g.poly is not None))):
        return None
    whole = Var("open", (next_open(draft.inside),), number(0), None if count is None else count * size - 1)
    values = ((low, variable(whole) - digit),)
    factors = list[tuple[Atom, Fraction]]()
    for atom, e in draft.factors:
        new = atom_at(atom, values) if low in atom.free else of_atom(atom)
        if len(new.terms) != 1 or new.terms[0][1] != 1 or not new.terms[0][0].plain or new.free & {high, low}:
            return None
        factors += [(a, d * e) for a, d in new.terms[0][0].factors]
    moved = [at(g, values) for g in joint]
    if any(isinstance(g, Literal) and g.free & {high, low} for g in moved):
        return None
    own = within(whole, count * size) if count is not None else within(whole, number(1))[:1]
    guards = conjunction([*(g for g in draft.guards if not g.free & {high, low}), *moved, *own])
    bound = (*(v for v in draft.bound if v not in (high, low)), whole)
    return constant(0) if guards is None else rewritten(Draft(bound, guards, tuple(factors)))


def _limits(draft: Draft, high: Var, low: Var) -> tuple[Poly, Poly | None, Guards] | None:
    """E, H where there is one, and the guards on both, if those on one alone say 0 ≤ l < E and 0 ≤ h (< H)."""
    joint = tuple(g for g in draft.guards if low in g.free and high in g.free)
    alone = tuple(g for g in draft.guards if g not in joint)
    lows, highs, others = bounds(low, alone)
    above, below, more = bounds(high, alone)
    if others or more or len(lows) != 1 or len(highs) != 1 or len(above) != 1 or len(below) > 1:
        return None
    if lows[0][0].constant != 0 or above[0][0].constant != 0 or any(g.poly is None for g in joint):
        return None
    size, count = highs[0][0] + 1, below[0][0] + 1 if below else None
    joint = tuple(undivided(g, size) for g in joint)
    variables = frozenset(draft.bound)
    if size.free & variables or (count is not None and low in count.free):
        return None
    if not at_least(size, 0 if count is not None else 1):    # without H, lanes that are none would leave j unlimited
        return None
    return (size, count, joint) if count is not None or joint else None


def undivided(literal: Literal, size: Poly) -> Literal:
    """What a condition on a quotient by the size says of what is divided: h ≤ ⌊a / E⌋ that E·h ≤ a, and ⌊a / E⌋ ≤ h
    that a < E·(h + 1). So a program that starts at its own number and goes on in steps of all programs ends."""
    p = literal.poly
    if p is None or literal.op != "≥0" or not at_least(size, 1):
        return literal
    for a in p.atoms():
        sign = p.coefficient(a)
        if isinstance(a, Ratio) and a.op == "//" and a.divisor is size and sign in (1, -1):
            rest = p - variable(a) * sign
            found = at_least_zero_literal(rest * size + (a.numerator if sign == 1 else size - 1 - a.numerator))
            return found if isinstance(found, Literal) else literal
    return literal


def _only_whole(p: Poly, low: Var, digit: Poly) -> bool:
    """Whether p mentions the digits only as a multiple of h·E + l."""
    slope, _ = linear(p, low)
    return slope is not None and bool(slope.terms) and all(p.coefficient(*m) == c for m, c in (slope * digit).terms)
