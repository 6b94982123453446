"""What a row leaves out of a choice among its elements, and what a choice among them leaves of a row.

A mask leaves out what lies beyond the end of a row; a round of a search for the largest ones leaves out those that it
has found. Both stand as conditions in the body: {−∞ if k = p else x[k] if k < n else −∞}. `struck_out` reads places and
ends off a condition, `up_to_its_end` is the row that is left, for the place of its maximum, and `picked` the element
that a sum over a row picks at such a place, as kernels do that cannot index a tile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from samesame.formula.expr import (
    ZERO,
    And,
    Compare,
    Expr,
    Index,
    Lambda,
    Not,
    Num,
    Or,
    Where,
    and_,
    index,
    not_,
    substitute,
    where,
)
from samesame.kernels.execution.positions import position_in
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import Facts, IndexProver


def leaves(body: Expr, path: tuple[Expr, ...] = ()) -> Iterator[tuple[tuple[Expr, ...], Expr]]:
    """The values that are chosen among, each with the conditions under which it is."""
    if isinstance(body, Where):
        yield from leaves(body.then, (*path, body.condition))
        yield from leaves(body.otherwise, (*path, not_(body.condition)))
    else:
        yield path, body


@dataclass(frozen=True)
class Out:
    """Single places of a row, and ends from which on there is nothing."""

    points: tuple[Expr, ...] = ()
    ends: tuple[Expr, ...] = ()


def struck_out(fact: Expr, v: Index) -> Out | None:
    """Places of v to which a condition keeps; None where that may be any."""
    match fact:
        case And(parts) | Not(Or(parts)):
            several = (struck_out(part if isinstance(fact, And) else not_(part), v) for part in parts)
            return next(filter(None, several), None)
        case Or(parts) | Not(And(parts)):
            found = [struck_out(part if isinstance(fact, Or) else not_(part), v) for part in parts]
            outs = [out for out in found if out is not None]
            if len(outs) < len(found):
                return None
            return Out(tuple(p for out in outs for p in out.points), tuple(e for out in outs for e in out.ends))
        case Compare("=", a, b) if a.kind == b.kind == "int":
            told = integers.linear(integers.minus(b, a), v)
            return Out(points=(integers.times_(told[1], -told[0]),)) if told and abs(told[0]) == 1 else None
        case Compare("≤", a, b) if a.kind == b.kind == "int":
            told = integers.linear(integers.minus(b, a), v)
            return Out(ends=(integers.minus(0, told[1]),)) if told and told[0] == 1 else None
        case Not(Compare("≤", a, b)) if a.kind == b.kind == "int":
            return struck_out(integers.less(b, a), v)
    return None


def ends_before(path: Iterable[Expr], v: Index) -> Iterator[Expr]:
    """The numbers below which a value of a row stands."""
    for fact in path:
        for part in fact.arguments if isinstance(fact, And) else (fact,):
            one = part.argument if isinstance(part, Not) else part
            out = struck_out(not_(part), v) if isinstance(one, Compare) else None  # which says no more and no less
            yield from out.ends if out is not None else ()


def up_to_its_end(prover: IndexProver, v: Index, body: Expr, lowest: Expr, facts: Facts = ()) -> Lambda:
    """The row without what is at its lowest from some end on: the first of its largest elements stands where it stood,
    also where all are the lowest."""
    ends = [{*ends_before(path, v)} for path, value in leaves(body) if value is not lowest]
    for end in set.intersection(*ends) if ends else ():
        if prover.proves(facts, and_(integers.less(0, end), integers.at_most(end, v.extent))):
            w = index(end)
            return Lambda((w,), substitute(body, {v: w}))
    return Lambda((v,), body)


def picked(prover: IndexProver, v: Index, body: Expr, facts: Facts) -> Expr | None:
    """Of Σ_k {f(k) if k = p else 0} the element f(p), for a place p in a row that k runs over, or a number."""
    if not isinstance(body, Where) or body.otherwise is not ZERO:
        return None
    parts = body.condition.arguments if isinstance(body.condition, And) else (body.condition,)
    for part in parts:
        out = struck_out(part, v) if isinstance(part, Compare) and part.op == "=" else None
        for p in out.points if out is not None else ():
            inside = and_(integers.at_least_zero(p), integers.less(p, v.extent))
            if (isinstance(p, Num) or position_in(p) is not None) and prover.proves(facts, inside):
                told = where(and_(*(other for other in parts if other is not part)), body.then, ZERO)
                return substitute(told, {v: p})
    return None
