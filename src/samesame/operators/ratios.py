"""Rounded ratios: where a program divides integers as reals and cuts the quotient off, an integer again.

Interpolation computes where to read as a real, `(i + ½) · ½ − ½`, clamps that and casts it to an integer. Such a
number is an integer over a number, and rounded it is an integer division, which an index may be.
"""

from __future__ import annotations

import math

from samesame.formula.expr import Add, Expr, Extremum, Mul, Num, add, const, floordiv, lt, maximum, minimum, mul, where
from samesame.operators.shapes import lower_bound

MOST = 1 << 20                  # of a divisor: a decimal with many digits is no ratio that anybody meant


def whole(rounding: str, x: Expr) -> Expr | None:
    """x rounded ("floor", "ceil" or "trunc") as an integer expression, where x is a ratio of integers; else None."""
    d = divisor(x)
    if d is None or d > MOST or rounding not in ("floor", "ceil", "trunc"):
        return None
    p = numerator(x, d)
    down, up = floordiv(p, d), mul(-1, floordiv(mul(-1, p), d))
    low = lower_bound(p)
    if rounding == "trunc":
        return down if low is not None and low >= 0 else where(lt(p, 0), up, down)
    return down if rounding == "floor" else up


def divisor(x: Expr) -> int | None:
    """A positive number that makes an integer of x; None where none is seen."""
    match x:
        case Num(value):
            return value.denominator
        case Add(parts) | Extremum(_, parts) | Mul(parts):
            found = [d for part in parts if (d := divisor(part)) is not None]
            known = len(found) == len(parts)
            return (math.prod(found) if isinstance(x, Mul) else math.lcm(*found)) if known else None
    return 1 if x.kind == "int" else None


def numerator(x: Expr, d: int) -> Expr:
    """d·x as an integer expression, d a multiple of its divisor."""
    match x:
        case Num(value):
            return const(value * d)
        case Add(parts):
            return add(*(numerator(part, d) for part in parts))
        case Extremum(op, parts):
            return {"max": maximum, "min": minimum}[op](*(numerator(part, d) for part in parts))
        case Mul(parts):
            own = [divisor(part) or 1 for part in parts]
            factors = (numerator(part, each) for part, each in zip(parts, own, strict=True))
            return mul(d // math.prod(own), *factors)
    return mul(d, x)
