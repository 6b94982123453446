"""How far a value goes, as it is written: a share x / max |x| lies between −1 and 1, whatever x is.

Clamps have ends, a rounding of what has ends has the rounded ones, and a number divided by the largest magnitude in a
row in which it stands is a share. So 127·x / max |x| never meets its clamp to −128 and 127 (`without_idle_limits`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations
from math import ceil, floor, prod, trunc

from samesame.formula.definite import EVIDENT
from samesame.formula.expr import (
    Add,
    Expr,
    Extremum,
    Fn,
    Fold,
    Index,
    Mul,
    Num,
    Pow,
    Where,
    absolute,
    add,
    mul,
    power,
    substitute,
)
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
            share = times_a_share(factors)
            if share is not None:
                return room * pick(share)
            number = next((f.value for f in factors if isinstance(f, Num)), None)
            inner = number and end_of(mul(e, 1 / number), end if number > 0 else OTHER[end], room)
            return number * inner if number and inner is not None else None
    return None


Ends = tuple[Fraction, Fraction]


def times_a_share(factors: tuple[Expr, ...]) -> Ends | None:
    """Between which numbers c·x/m lies, where m is no less than the magnitude of x, or than an x that is not negative;
    and c·x/√Σ x², which is no more than c."""
    for factor in factors:
        if not isinstance(factor, Pow) or factor.exponent >= 0:
            continue
        below = factor.base.factors if isinstance(factor.base, Mul) else (factor.base,)
        numbers = [f.value for f in factors if isinstance(f, Num)], [f.value for f in below if isinstance(f, Num)]
        whole = [f for f in below if not isinstance(f, Num)]
        x = mul(*(f for f in factors if f is not factor and not isinstance(f, Num)))
        if len(whole) != 1 or (factor.exponent != -1 and numbers[1]):
            continue
        m = power(whole[0], -factor.exponent)
        c = prod(numbers[0], start=Fraction(1)) / prod(numbers[1], start=Fraction(1))
        if (times := multiple(m, x, is_no_less)) is not None:
            return -c / times, c / times
        if is_nonnegative(x) and (times := multiple(m, x, is_above)) is not None:
            return Fraction(0), c / times
    return None


def multiple(m: Expr, x: Expr, is_more: Callable[[Expr, Expr], bool]) -> Fraction | None:
    """How many times x is known to be no more than m: a scale of (max |x| / 127), of no less than 1e-8, is x / 127."""
    match m:
        case Extremum("max", parts):
            return max(filter(None, (multiple(part, x, is_more) for part in parts)), default=None)
        case Mul(factors) if number := next((f.value for f in factors if isinstance(f, Num) and f.value > 0), None):
            inner = multiple(mul(m, 1 / number), x, is_more)
            return inner and number * inner
        case Add(parts) if number := next((f.value for f in parts if isinstance(f, Num) and f.value > 0), None):
            return multiple(add(m, -number), x, is_more)
    return Fraction(1) if is_more(m, x) else None


def is_above(m: Expr, x: Expr) -> bool:
    """Whether m ≥ x for an x that is not negative: m is the greatest, or the sum, of a row of such things in which x
    stands, or both are what such a row exceeds its least element by."""
    match m:
        case Fold("max", bound, body):
            return stands_in(bound, body, x)
        case Fold("sum", bound, body):
            return is_nonnegative(body) and stands_in(bound, body, x)
        case Add(parts) if isinstance(x, Add):
            mine, yours = Counter(parts) - Counter(x.terms), Counter(x.terms) - Counter(parts)
            return bool(mine) and bool(yours) and is_greatest(add(*mine.elements()), add(*yours.elements()))
    return False


def is_greatest(m: Expr, x: Expr) -> bool:
    return isinstance(m, Fold) and m.monoid == "max" and stands_in(m.bound, m.body, x)


def is_nonnegative(e: Expr) -> bool:
    """Whether it is not below zero, as it is written: x less the least of a row in which x stands is not, either."""
    if isinstance(e, Add):
        for part in e.terms:
            least = mul(-1, part)
            if isinstance(least, Fold) and least.monoid == "min":
                rest = Counter(e.terms) - Counter([part])
                if stands_in(least.bound, least.body, add(*rest.elements())):
                    return True
    return EVIDENT.is_nonnegative(e)


def stands_in(bound: tuple[Index, ...], body: Expr, x: Expr) -> bool:
    """Whether x is the body at some place of the bound indices."""
    here = [v for v in sorted(x.free, key=lambda v: v.serial) if any(v.extent is w.extent for w in bound)]
    for places in permutations(here, len(bound)):
        fits = all(v.extent is w.extent for v, w in zip(places, bound, strict=True))
        if fits and substitute(body, dict(zip(bound, places, strict=True))) is x:
            return True
    return False


def is_no_less(m: Expr, x: Expr) -> bool:
    """Whether m ≥ |x|, as m is the largest magnitude in a row in which x stands, or the root of its squares."""
    match m:
        case Fold("max", bound, body):
            return stands_in(bound, body, absolute(x))
        case Pow(Fold("sum", bound, body), Fraction(numerator=1, denominator=2)):
            return any(stands_in(bound, body, square) for square in (power(x, 2), mul(x, x), power(absolute(x), 2)))
    return False
