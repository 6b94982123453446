"""Attempts at one proof, the cheap one first; each of the others only where the claim has what it is for.

A normal form that writes out every sum is long, and one that splits by every sign is longer. So that is done when the
plain one has failed, and where something in the formulas says that it may help.
"""

from __future__ import annotations

from collections.abc import Callable

from samesame.formula.expr import Add, Compare, Expr, Extremum, FloorDiv, Fn, Fold, Mod, Mul, Num, Pow, Where, walk
from samesame.formula.functions import BY_SIGN
from samesame.formula.rewrite import LONGER, SMALL


def _worth_another_attempt(expr: Expr) -> bool:
    """Whether there are small sums to write out, or functions of quotients to bring over common denominators."""
    dividing: set[Expr] = set()
    for e in walk(expr):
        within = any(child in dividing for child in e.children)
        if _is_small(e):
            return True
        if isinstance(e, Fn) and within:
            return True
        if within or _divides(e):
            dividing.add(e)
    return False


def _is_small(expr: Expr) -> bool:
    """Whether it sums over a few values, or over an index of which a digit takes a few: e·H + h for few experts e."""
    if not isinstance(expr, Fold):
        return False
    extents = {v: v.extent.value for v in expr.bound if isinstance(v.extent, Num)}
    if any(extent <= SMALL for extent in extents.values()):
        return True
    for e in walk(expr.body):
        match e:
            case FloorDiv(a, Num(d)) | Mod(a, Num(d)) if any(d <= SMALL or extents[v] <= SMALL * d
                                                            for v in extents.keys() & a.free):
                return True
    return False


def _divides(expr: Expr) -> bool:
    return (isinstance(expr, Pow) and expr.exponent < 0) or (isinstance(expr, Fn) and expr.name in ("sigmoid", "tanh"))


def _compares(expr: Expr) -> bool:
    """Whether signs may decide something: a maximum, a minimum, an absolute value, a sign; or whether there is any, in
    a maximum of numbers."""
    return any(isinstance(e, Extremum) or (isinstance(e, Fn) and e.name in BY_SIGN)
               or (isinstance(e, Fold) and e.monoid in ("max", "min") and _chooses_numbers(e.body)) for e in walk(expr))


def _compares_products(expr: Expr) -> bool:
    """Whether the sign of a product decides something: a maximum of a·x and a·y, or |a·x|."""
    return any(_is_product(part) for e in walk(expr)
               if isinstance(e, Extremum) or (isinstance(e, Fn) and e.name in BY_SIGN)
               for child in e.children for part in (child.terms if isinstance(child, Add) else (child,)))


def _is_product(expr: Expr) -> bool:
    return isinstance(expr, Mul) and sum(not isinstance(part, Num) for part in expr.factors) > 1


def _chooses_numbers(expr: Expr) -> bool:
    """Whether it is a number, or one of some by conditions."""
    match expr:
        case Num():
            return True
        case Where(_, then, otherwise):
            return _chooses_numbers(then) and _chooses_numbers(otherwise)
    return False


def _chooses_inside(expr: Expr) -> bool:
    """Whether a sum of a few more values has a function of what a condition on them chooses: Σ_s exp(Σ_r [s < r] x[r]).
    Bodies are counted at each point, and of such a body nothing is known until the point is a number."""
    bound = {v for e in walk(expr) if isinstance(e, Fold) for v in e.bound}
    few = {v for v in bound if isinstance(v.extent, Num) and SMALL < v.extent.value <= LONGER}
    functions = (e for e in walk(expr) if isinstance(e, Fn) and e.free & few)
    return any(isinstance(part, Compare) and part.free & few for e in functions for part in walk(e.argument))


def writes_out_quotients(expr: Expr) -> bool:
    """Whether a small sum may be written out, and something in it divides: a common denominator of such summands is
    long, where each may meet its like as it is."""
    return any(_is_small(e) and any(map(_divides, walk(e))) for e in walk(expr))


AT_ONCE: tuple[dict[str, bool], ...] = ({}, {"thorough": True})     # before quotients are brought together
ATTEMPTS: tuple[tuple[Callable[[Expr], bool], dict[str, bool]], ...] = (
    (lambda _: True, {}),
    (_worth_another_attempt, {"thorough": True}),
    (_compares, {"thorough": True, "by_signs": True}),
    (_compares_products, {"thorough": True, "by_signs": True, "by_factors": True}),
    (_chooses_inside, {"thorough": True, "longer": True}),
)
