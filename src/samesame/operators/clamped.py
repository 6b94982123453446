"""How far a value goes: whether a short dtype of integers holds it.

Quantised numbers are rounded, and before that clamped to what a dtype holds or divided by the largest magnitude among
them; the cast to that dtype changes nothing then, and has a meaning for that reason. Anything else may wrap around,
which no formula's integers do.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from math import ceil, floor, prod, trunc

from samesame.formula.expr import Add, Expr, Extremum, Fn, Fold, Mul, Num, Pow, Where, absolute, mul, substitute
from samesame.formula.tensor import Tensor

ROUNDED = 1 + Fraction(1, 1 << 10)  # a quotient of floats may be so much larger than that of the numbers
WHOLE: dict[str, Callable[[Fraction], int]] = {"floor": floor, "ceil": ceil, "round": round, "trunc": trunc}


def holds(dtype: str, x: Tensor) -> bool:
    """Whether a short dtype of integers holds every element, rounded to zero, as it is clamped to that."""
    bits = int(dtype.lstrip("uint"))
    low, high = (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    ends = clamped(x.element()[1])
    return ends is not None and low <= trunc(ends[0]) and trunc(ends[1]) <= high


def clamped(e: Expr) -> tuple[Fraction, Fraction] | None:
    """The least and greatest number that a value may be, where it has an end on both sides; else None."""
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
        case Fn("floor" | "ceil" | "round" | "trunc" as name, x):
            inner = end_of(x, end)
            return None if inner is None else Fraction(WHOLE[name](inner))
        case Add(parts):
            ends = [n for part in parts if (n := end_of(part, end)) is not None]
            return sum(ends, Fraction(0)) if len(ends) == len(parts) else None
        case Mul(factors):
            most = times_a_share(factors)
            return None if most is None else most if end == "max" else -most
    return None


def times_a_share(factors: tuple[Expr, ...]) -> Fraction | None:
    """|c| of c·x/m, where m is no less than the magnitude of x, with room for the rounding of the quotient."""
    for factor in factors:
        if not isinstance(factor, Pow) or factor.exponent != -1:
            continue
        below = factor.base.factors if isinstance(factor.base, Mul) else (factor.base,)
        numbers = [f.value for f in factors if isinstance(f, Num)], [f.value for f in below if isinstance(f, Num)]
        whole = [f for f in below if not isinstance(f, Num)]
        x = mul(*(f for f in factors if f is not factor and not isinstance(f, Num)))
        if len(whole) == 1 and is_no_less(whole[0], x):
            return abs(prod(numbers[0], start=Fraction(1)) / prod(numbers[1], start=Fraction(1))) * ROUNDED
    return None


def is_no_less(m: Expr, x: Expr) -> bool:
    """Whether m ≥ |x|, as m is the largest magnitude in a row in which x stands, or more than that."""
    match m:
        case Fold("max", bound, body):
            here = [v for v in sorted(x.free, key=lambda v: v.serial) if any(v.extent is w.extent for w in bound)]
            for places in permutations(here, len(bound)):
                fits = all(v.extent is w.extent for v, w in zip(places, bound, strict=True))
                if fits and substitute(body, dict(zip(bound, places, strict=True))) is absolute(x):
                    return True
            return False
        case Extremum("max", parts):
            return any(is_no_less(part, x) for part in parts)
        case Add(parts):
            rest = [part for part in parts if not isinstance(part, Num) or part.value < 0]
            return len(rest) == 1 and is_no_less(rest[0], x)
    return False
