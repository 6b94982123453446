"""Small facts about expressions that several parts of `lift` use: sums multiplied out, neutral elements, binders."""

from __future__ import annotations

from collections.abc import Iterable

from samesame.formula.expr import (
    FALSE,
    NEG_INF,
    ONE,
    TRUE,
    ZERO,
    Add,
    Expr,
    Fold,
    Index,
    Lambda,
    Leaf,
    Load,
    Mul,
    Where,
    add,
    mul,
    walk,
    where,
)
from samesame.formula.infinite import PLUS_INFINITY

NEUTRAL: dict[str, Expr] = {
    "sum": ZERO,
    "prod": ONE,
    "max": NEG_INF,
    "min": PLUS_INFINITY,
    "any": FALSE,
    "all": TRUE,
}


def expanded(expr: Expr) -> list[Expr]:
    """The terms of a product of sums, multiplied out."""
    if isinstance(expr, Add):
        return [term for part in expr.terms for term in expanded(part)]
    if isinstance(expr, Mul):
        products: list[list[Expr]] = [[]]
        for factor in expr.factors:
            products = [[*p, term] for p in products for term in expanded(factor)]
        return [mul(*p) for p in products]
    return [expr]


def linear(expr: Expr, a: Expr) -> tuple[Expr, Expr] | None:
    """(g, f) with expr = g·a + f and both free of a; None if it is not so."""
    if expr is a:
        return ONE, ZERO
    if not mentions(expr, a):
        return ZERO, expr
    match expr:
        case Add(terms):
            found = [linear(term, a) for term in terms]
            if None in found:
                return None
            gs, fs = zip(*found, strict=True)
            return add(*gs), add(*fs)
        case Mul(factors):
            (held, *more) = [f for f in factors if mentions(f, a)]
            inner = None if more else linear(held, a)
            if inner is None:
                return None
            rest = mul(*(f for f in factors if f is not held))
            return mul(rest, inner[0]), ZERO if inner[1] is ZERO else mul(rest, inner[1])
        case Where(condition, then, otherwise) if not mentions(condition, a):
            sides = linear(then, a), linear(otherwise, a)
            if sides[0] is None or sides[1] is None:
                return None
            return where(condition, sides[0][0], sides[1][0]), where(condition, sides[0][1], sides[1][1])
    return None


def mentions(expr: Expr, part: Expr) -> bool:
    return any(e is part for e in walk(expr))


def loads_of(expr: Expr, leaves: Iterable[Leaf]) -> bool:
    wanted = set(leaves)
    return any(isinstance(e, Load) and e.leaf in wanted for e in walk(expr))


def under_binders(expr: Expr) -> frozenset[Index]:
    """Every index that some fold or whole tensor inside the expression binds."""
    return frozenset(v for e in walk(expr) if isinstance(e, Fold | Lambda) for v in e.bound)
