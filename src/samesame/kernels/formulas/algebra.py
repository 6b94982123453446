"""Small facts about expressions that several parts of `lift` use: sums multiplied out, neutral elements, totality."""

from __future__ import annotations

from collections.abc import Iterable

from samesame.formula.definite import is_undefined
from samesame.formula.expr import (
    FALSE,
    NEG_INF,
    ONE,
    TRUE,
    ZERO,
    Add,
    Expr,
    Fn,
    Fold,
    Lambda,
    Leaf,
    Load,
    Mul,
    NegInf,
    Num,
    Opaque,
    Pow,
    mul,
    walk,
)
from samesame.formula.infinite import PLUS_INFINITY
from samesame.formula.scalars import EVERYWHERE

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


def is_total(expr: Expr) -> bool:
    """Whether the expression has a finite value whatever its leaves hold: 0 times it is 0."""
    for e in walk(expr):
        if isinstance(e, NegInf) or is_undefined(e):
            return False
        if isinstance(e, Pow) and (e.exponent < 0 or e.exponent.denominator > 1) and not _is_positive(e.base):
            return False
        if isinstance(e, Fn) and e.name not in EVERYWHERE:
            return False
        if isinstance(e, Opaque) and e.kind == "real":
            return False
        if isinstance(e, Fold) and e.monoid in ("max", "min"):
            return False
    return True


def _is_positive(expr: Expr) -> bool:
    return (isinstance(expr, Num) and expr.value > 0) or (isinstance(expr, Fn) and expr.name == "exp")


def under_binders(expr: Expr) -> frozenset[Expr]:
    """Every index that some fold or whole tensor inside the expression binds."""
    return frozenset(v for e in walk(expr) if isinstance(e, Fold | Lambda) for v in e.bound)
