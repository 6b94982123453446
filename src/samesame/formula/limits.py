"""How far a value goes, as it is written: a share x / max |x| lies between −1 and 1, whatever x is.

Clamps have ends, a rounding of what has ends has the rounded ones, and a number divided by the largest magnitude in a
row in which it stands is a share. So 127·x / max |x| never meets its clamp to −128 and 127 (`without_idle_limits`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations
from math import ceil, floor, prod, trunc

from samesame.formula.expr import Add, Expr, Extremum, Fn, Fold, Mul, Num, Pow, Where, absolute, mul, substitute
from samesame.formula.infinite import OTHER

EXACT = Fraction(1)
WHOLE: dict[str, Callable[[Fraction], int]] = {"floor": floor, "ceil": ceil, "round": round, "trunc": trunc}


def without_idle_limits(op: str, arguments: Sequence[Expr]) -> list[Expr]:
    """What a maximum, or a minimum, is taken of, without the numbers that another of them is never below, or above."""
    numbers = [e.value for e in arguments if isinstance(e, Num)]
    others = [e for e in arguments if not isinstance(e, Num)]
    ends = [n for e in others if numbers and (n := end_of(e, OTHER[op])) is not None]
    sign = 1 if op == "max" else -1
    idle = {n for n in numbers if any(sign * n <= sign * end for end in ends)}
    return [e for e in arguments if not isinstance(e, Num) or e.value not in idle]


def end_of(e: Expr, end: str, room: Fraction = EXACT) -> Fraction | None:
    """A number that a value is never below ("min") or above ("max"), as it is written; None where that is not seen.
    Shares of a whole may be `room` times as large."""
    pick = max if end == "max" else min
    match e:
        case Num(value):
            return value
        case Extremum(op, parts):
            found = [end_of(part, end, room) for part in parts]
            known = [n for n in found if n is not None]
            if op != end:  # the least of several is above none of them
                return (min if end == "max" else max)(known) if known else None
            return pick(known) if len(known) == len(found) else None
        case Where(_, then, otherwise):
            one, other = end_of(then, end, room), end_of(otherwise, end, room)
            return None if one is None or other is None else pick(one, other)
        case Fn("floor" | "ceil" | "round" | "trunc" as name, x):
            inner = end_of(x, end, room)
            return None if inner is None else Fraction(WHOLE[name](inner))
        case Add(parts):
            ends = [n for part in parts if (n := end_of(part, end, room)) is not None]
            return sum(ends, Fraction(0)) if len(ends) == len(parts) else None
        case Mul(factors):
            most = times_a_share(factors)
            if most is not None:
                return most * room if end == "max" else -most * room
            number = next((f.value for f in factors if isinstance(f, Num)), None)
            inner = number and end_of(mul(e, 1 / number), end if number > 0 else OTHER[end], room)
            return number * inner if number and inner is not None else None
    return None


def times_a_share(factors: tuple[Expr, ...]) -> Fraction | None:
    """|c| of c·x/m, where m is no less than the magnitude of x."""
    for factor in factors:
        if not isinstance(factor, Pow) or factor.exponent != -1:
            continue
        below = factor.base.factors if isinstance(factor.base, Mul) else (factor.base,)
        numbers = [f.value for f in factors if isinstance(f, Num)], [f.value for f in below if isinstance(f, Num)]
        whole = [f for f in below if not isinstance(f, Num)]
        x = mul(*(f for f in factors if f is not factor and not isinstance(f, Num)))
        if len(whole) == 1 and is_no_less(whole[0], x):
            return abs(prod(numbers[0], start=Fraction(1)) / prod(numbers[1], start=Fraction(1)))
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
