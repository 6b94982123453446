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
    mul,
    walk,
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


def mentions(expr: Expr, part: Expr) -> bool:
    return any(e is part for e in walk(expr))


def loads_of(expr: Expr, leaves: Iterable[Leaf]) -> bool:
    wanted = set(leaves)
    return any(isinstance(e, Load) and e.leaf in wanted for e in walk(expr))


def under_binders(expr: Expr) -> frozenset[Index]:
    """Every index that some fold or whole tensor inside the expression binds."""
    return frozenset(v for e in walk(expr) if isinstance(e, Fold | Lambda) for v in e.bound)
