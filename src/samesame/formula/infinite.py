"""+∞, which is written −1·(−∞): what a mask puts in where a minimum is taken, or a table before it is filled.

A form holds −∞ and no +∞. So a negative factor goes inside of choices and sums, where it makes −∞ of a +∞, and a
minimum is the negative of a maximum of what is so negated. A +∞ that is left has no normal form, and proves nothing.
"""

from __future__ import annotations

from fractions import Fraction

from samesame.formula.effort import remember
from samesame.formula.expr import NEG_INF, Add, Expr, Extremum, Fold, Mul, Num, Where, add, mul, where

PLUS_INFINITY = mul(-1, NEG_INF)
OTHER = {"min": "max", "max": "min"}


@remember
def holds_infinity(e: Expr) -> bool:
    """Whether −∞, or +∞, stands anywhere in it."""
    return e is NEG_INF or any(map(holds_infinity, e.children))


def inside(factor: Expr, e: Expr) -> Expr:
    """factor · e for a finite factor that is not 0: inside of choices and sums, and of extrema if it is a number."""
    match e:
        case Where(condition, then, otherwise):
            return where(condition, inside(factor, then), inside(factor, otherwise))
        case Add(parts):
            return add(*(inside(factor, part) for part in parts))
        case Extremum(op, parts) if isinstance(factor, Num):
            return Extremum(op if factor.value > 0 else OTHER[op], tuple(inside(factor, part) for part in parts))
        case Fold("min" | "max" as op, bound, body) if isinstance(factor, Num):
            return Fold(op if factor.value > 0 else OTHER[op], bound, inside(factor, body))
    return mul(factor, e)


def negated(e: Expr) -> Expr:
    """−e, where that makes −∞ of a +∞."""
    return inside(Num(Fraction(-1)), e)


def turned(e: Mul) -> Expr:
    """A product with one infinite factor, which is no −∞ itself, and a negative number, with all others inside of it;
    any other as it is."""
    infinite = [f for f in e.factors if holds_infinity(f)]
    if len(infinite) != 1 or not any(isinstance(f, Num) and f.value < 0 for f in e.factors):
        return e
    changed = inside(mul(*(f for f in e.factors if f is not infinite[0])), infinite[0])
    return e if isinstance(changed, Mul) else changed
