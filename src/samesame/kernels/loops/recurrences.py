"""Carried values that are folds of what the iterations give: sums, products, extrema, ∧, ∨, and simpler ones.

p' = p + d                           p₀ + t·d                        pointers and counters
a' = a ⊕ f(t)                        a₀ ⊕ (⊕_{s<t} f(s))             a sum, a product, a maximum, ∧, ∨
a' = f(t)                            f(t − 1), and a₀ before         the value of the iteration before
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from samesame.formula.expr import (
    ONE,
    TRUE,
    ZERO,
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    Fold,
    Mul,
    Num,
    Or,
    Where,
    add,
    and_,
    index,
    mul,
    or_,
    rebuild,
    substitute,
    where,
)
from samesame.kernels.formulas.algebra import NEUTRAL, loads_of, mentions
from samesame.kernels.indices import integers
from samesame.kernels.loops.carried import Carried, Closed, Loop
from samesame.kernels.loops.steps import step_holds


def unchanged(loop: Loop, one: Carried) -> bool:
    """a' = a"""
    if loop.known(one) is not one.unknown:
        return False
    one.closed = Closed(one.first, loop.t, one.lanes)
    return True


def last_value(loop: Loop, one: Carried) -> bool:
    """a' = f(t): after t iterations f(t − 1), and the start before."""
    t = loop.t
    made = loop.known(one)
    if loads_of(made, loop.leaves):
        return False
    earlier = substitute(made, {t: integers.minus(t, 1)})
    one.closed = Closed(where(integers.less(0, t), integers.tidied(earlier), one.first), t, one.lanes)
    return True


def counter(loop: Loop, one: Carried) -> bool:
    """p' = p + d for an integer or a pointer."""
    t = loop.t
    if one.unknown.kind != "int":
        return False
    step = integers.minus(loop.known(one), one.unknown)
    if loads_of(step, loop.leaves):
        return False
    if t not in step.free:
        moved = integers.times_(t, step)
    else:
        s = index(t)
        moved = Fold("sum", (s,), integers.tidied(substitute(step, {t: s})))
    one.closed = Closed(integers.plus_(one.first, moved), t, one.lanes)
    return True


def folded(loop: Loop, one: Carried) -> bool:
    """a' = a ⊕ f(t)"""
    t = loop.t
    made = extrema(loop.known(one))
    found = split(made, one.unknown)
    if found is None or loads_of(found[1], loop.leaves):
        return False
    monoid, part = found
    if not step_holds(made, one.unknown, monoid, part):
        return False
    loop.proved()
    s = index(t)
    fold = Fold(monoid, (s,), substitute(part, {t: s}))
    one.closed, one.monoid = Closed(joined(monoid, one.first, fold, t), t, one.lanes), monoid
    return True


def joined(monoid: str, first: Expr, fold: Expr, t: Expr) -> Expr:
    """first ⊕ fold, where a maximum or minimum over no iteration is left out."""
    if monoid == "sum":
        return fold if first is ZERO else add(first, fold)
    if monoid == "prod":
        return fold if first is ONE else mul(first, fold)
    if monoid in ("any", "all"):
        return fold if first is NEUTRAL[monoid] else (or_ if monoid == "any" else and_)(first, fold)
    some = fold if first is NEUTRAL[monoid] else integers.flattened(monoid, (first, fold))
    return where(integers.less(0, t), some, first)


def split(made: Expr, unknown: Expr) -> tuple[str, Expr] | None:
    """(⊕, f) with made = unknown ⊕ f and f free of the unknown; None if made is not so."""
    found = _split(made, unknown)
    return None if found is None or found[0] == "" else found


def _split(made: Expr, a: Expr) -> tuple[str, Expr] | None:
    if made is a:
        return "", TRUE
    match made:
        case Add(parts):
            return _apart("sum", parts, a, lambda rest: add(*rest))
        case Mul(parts):
            return _apart("prod", parts, a, lambda rest: mul(*rest))
        case Extremum(op, parts):
            return _apart(op, parts, a, lambda rest: integers.flattened(op, tuple(rest)))
        case Or(parts):
            return _apart("any", parts, a, lambda rest: or_(*rest))
        case And(parts):
            return _apart("all", parts, a, lambda rest: and_(*rest))
        case Where(condition, then, otherwise) if not mentions(condition, a):
            sides = _split(then, a), _split(otherwise, a)
            if sides[0] is None or sides[1] is None:
                return None
            monoids = {monoid for monoid, _ in cast(Any, sides) if monoid}
            if len(monoids) > 1:
                return None
            monoid = monoids.pop() if monoids else ""
            branches = [NEUTRAL[monoid] if monoid and not m else f for m, f in cast(Any, sides)]
            return monoid, where(condition, *branches) if monoid else TRUE
    return None


def _apart(monoid: str, parts: Sequence[Expr], a: Expr, make: Callable[[list[Expr]], Expr]) -> tuple[str, Expr] | None:
    rest = [part for part in parts if part is not a]
    if len(rest) != len(parts) - 1 or any(mentions(part, a) for part in rest):
        return None
    return monoid, make(rest)


def has_one(extent: Expr) -> bool:
    """Whether there is an index below this, whatever the sizes."""
    return isinstance(extent, Num) and extent.value >= 1


def extrema(expr: Expr) -> Expr:
    """The expression with `b if a < b else a` as the maximum that it is, and minima likewise; what does not depend on
    the lanes whose maximum is taken stands beside it: max_l max{a, x[l]} is max{a, max_l x[l]}."""

    def go(e: Expr) -> Expr:
        match e:
            case Where(Compare("<" | "≤", a, b), x, y) if {x, y} == {a, b} and e.kind != "bool":
                return integers.flattened("max" if x is b else "min", (go(a), go(b)))
            case Fold("max" | "min" as op, bound, body) if all(has_one(v.extent) for v in bound):
                inside = go(body)
                parts = inside.arguments if isinstance(inside, Extremum) and inside.op == op else (inside,)
                lanes = [part for part in parts if part.free & frozenset(bound)]
                others = [part for part in parts if not part.free & frozenset(bound)]
                if lanes and others:
                    rest = Fold(op, bound, integers.flattened(op, tuple(lanes)) if len(lanes) > 1 else lanes[0])
                    return integers.flattened(op, (*others, rest))
        return rebuild(e, go)

    return go(expr)
