"""How far a value goes that is clamped: whether a short dtype of integers holds it.

Quantised numbers are rounded, clamped to what a dtype holds, and cast to it; such a cast changes nothing, and has a
meaning for that reason. Anything else may wrap around, which no formula's integers do.
"""

from __future__ import annotations

from fractions import Fraction

from samesame.formula.expr import Expr, Extremum, Fn, Num, Where
from samesame.formula.tensor import Tensor


def holds(dtype: str, x: Tensor) -> bool:
    """Whether a short dtype of integers holds every element, rounded to zero, as it is clamped to that."""
    bits = int(dtype.lstrip("uint"))
    low, high = (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    ends = clamped(x.element()[1])
    return ends is not None and low <= ends[0] and ends[1] <= high


def clamped(e: Expr) -> tuple[Fraction, Fraction] | None:
    """The least and greatest number that a value may be, where it is clamped on both sides; else None."""
    low, high = end_of(e, "min"), end_of(e, "max")
    return None if low is None or high is None else (low, high)


def end_of(e: Expr, end: str) -> Fraction | None:
    """A number that a value is never below ("min") or above ("max"), as it is written; None where that is not seen."""
    pick = max if end == "max" else min
    match e:
        case Num(value):
            return value
        case Extremum(op, parts):
            found = [end_of(part, end) for part in parts]
            known = [n for n in found if n is not None]
            if op != end:  # the least of several is above none of them
                return (min if end == "max" else max)(known) if known else None
            return pick(known) if len(known) == len(found) else None
        case Where(_, then, otherwise):
            one, other = end_of(then, end), end_of(otherwise, end)
            return None if one is None or other is None else pick(one, other)
        case Fn("floor" | "ceil" | "round" | "trunc", x):
            inner = end_of(x, end)
            return None if inner is None or inner.denominator != 1 else inner
    return None
