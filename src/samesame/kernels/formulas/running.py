"""Running extrema that are kept block by block: what stood before the block, beside what the block has so far.

    B if A ≤ B else A                                   max_{k<a+b} f(k)
    a + last B if A ≤ B else last A                     the last place of that maximum
    a + first B if A < B else first A                   the first one

Here A = max_{k<a} f(k), which is −∞ for a = 0, and B = max_{k<b} f(a + k) for b > 0. The same holds of minima.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from samesame.formula.expr import TRUE, ZERO, Compare, Expr, Fold, Lambda, Where, and_, index, not_, substitute
from samesame.kernels.execution.positions import Position, position_in
from samesame.kernels.formulas.algebra import NEUTRAL
from samesame.kernels.formulas.rational import canonical
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import Facts, with_fact

if TYPE_CHECKING:
    from samesame.kernels.formulas.simplify import Simplifier

TIES = {"<": "first", "≤": "last"}  # of equal ones, by how what came before is compared with what comes


def running(simplify: Simplifier, condition: Expr, then: Expr, otherwise: Expr, facts: Facts) -> Expr | None:
    """`then if condition else otherwise` as one extremum, or as its place; None where it is neither."""
    if not isinstance(condition, Compare) or condition.op not in TIES:
        return None
    for monoid, before, block in (
        ("max", condition.left, condition.right),
        ("min", condition.right, condition.left),
    ):
        prefix = before_the_block(simplify, before, monoid, facts)
        if prefix is None or not is_row(block, monoid) or not continues(simplify, prefix, cast(Fold, block), facts):
            continue
        start = prefix.bound[0].extent
        whole = index(integers.plus_(start, cast(Fold, block).bound[0].extent))
        row = Lambda((whole,), integers.tidied(substitute(prefix.body, {prefix.bound[0]: whole})))
        if same(then, block) and same(otherwise, before):
            return Fold(monoid, row.bound, row.body)
        place = Position(monoid, TIES[condition.op], row)
        here = is_place_of(integers.minus(then, start), place, cast(Fold, block))
        if here and stood(simplify, otherwise, place, prefix, facts):
            return place.to_expr()
    return None


def is_row(expr: Expr, monoid: str) -> bool:
    return isinstance(expr, Fold) and expr.monoid == monoid and len(expr.bound) == 1


def before_the_block(simplify: Simplifier, expr: Expr, monoid: str, facts: Facts) -> Fold | None:
    """The fold whose value this is, neutral where it has no elements."""
    if isinstance(expr, Where) and expr.otherwise is NEUTRAL[monoid] and is_row(expr.then, monoid):
        found, some = cast(Fold, expr.then), expr.condition
        there = integers.less(0, found.bound[0].extent)
        return found if all(simplify.prover.proves(*one) for one in exactly(facts, some, there)) else None
    if not is_row(expr, monoid):
        return None
    found = cast(Fold, expr)
    return found if simplify.prover.proves(facts, integers.less(0, found.bound[0].extent)) else None


def continues(simplify: Simplifier, prefix: Fold, block: Fold, facts: Facts) -> bool:
    """Whether the block's elements are those that come next."""
    (v,), (w,) = prefix.bound, block.bound
    some = and_(integers.at_least_zero(v.extent), integers.less(0, w.extent))
    if v.extent.free & {v, w} or not simplify.prover.proves(facts, some):
        return False
    following = integers.tidied(substitute(prefix.body, {v: integers.plus_(v.extent, w)}))
    return same(following, block.body)


def is_place_of(expr: Expr, place: Position, block: Fold) -> bool:
    found = position_in(expr)
    return found is not None and same(expr, replace(place, row=Lambda(block.bound, block.body)).to_expr())


def stood(simplify: Simplifier, expr: Expr, place: Position, prefix: Fold, facts: Facts) -> bool:
    """Whether this is where the extremum before the block stood. Where there is nothing before, the last of equal ones
    is in the block, and the first is there, too, or at 0 if all are infinite."""
    there = integers.less(0, prefix.bound[0].extent)
    some: Expr = TRUE
    if isinstance(expr, Where) and (place.tie == "last" or expr.otherwise is ZERO):
        some, expr = expr.condition, expr.then
    known = [(with_fact(facts, there), some)] if place.tie == "last" else exactly(facts, some, there)
    return is_place_of(expr, place, prefix) and all(simplify.prover.proves(*one) for one in known)


def exactly(facts: Facts, a: Expr, b: Expr) -> list[tuple[Facts, Expr]]:
    """What is to be proved for two conditions to be the same."""
    return [(with_fact(facts, a), b), (with_fact(facts, not_(a)), not_(b))]


def same(a: Expr, b: Expr) -> bool:
    """Whether both are one expression, but for the names of what is bound inside."""
    return a is b or canonical(a) is canonical(b)
