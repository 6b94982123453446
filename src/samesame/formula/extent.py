"""Extents: between which sizes an integer expression lies, whatever its indices are.

`arange(T)` holds i for 0 ≤ i < T, so it lies between 0 and T − 1; a sum between the sums of its parts' ends.
"""

from __future__ import annotations

from samesame.formula.expr import (
    Add,
    Expr,
    Extremum,
    FloorDiv,
    Fold,
    Index,
    Mod,
    Mul,
    Num,
    Size,
    Truth,
    Where,
    add,
    const,
    floordiv,
    maximum,
    minimum,
    mul,
)
from samesame.formula.sizes import at_least, canonical
from samesame.formula.tensor import Dim

Ends = tuple[Dim, Dim]                                     # both included


def extent(e: Expr) -> Ends | None:
    """The least and the greatest value of an integer expression over all values of its indices, or values beyond
    these; None where that is not known."""
    match e:
        case Num(value) if value.denominator == 1:
            return int(value), int(value)
        case Size():
            return e, e
        case Index(_, size):
            return 0, canonical(add(size, -1))
        case Add(parts):
            return _sum([extent(part) for part in parts])
        case Mul(factors):
            numbers = [f for f in factors if isinstance(f, Num)]
            others = [f for f in factors if not isinstance(f, Num)]
            return _scaled(_product([extent(f) for f in others]), numbers)
        case FloorDiv(a, Num(value)) if value > 0 and (ends := extent(a)) is not None:
            return canonical(floordiv(ends[0], value)), canonical(floordiv(ends[1], value))
        case Mod(_, b) if e.kind == "int":
            ends = extent(b)
            return None if ends is None else (0, canonical(add(ends[1], -1)))
        case Extremum(op, parts):
            make = maximum if op == "max" else minimum
            known = [ends for ends in map(extent, parts) if ends is not None]
            if len(known) < len(parts):
                return None
            return canonical(make(*(low for low, _ in known))), canonical(make(*(high for _, high in known)))
        case Where(_, then, otherwise):
            return _hull(extent(then), extent(otherwise))
        case Truth():
            return 0, 1
        case Fold("sum", bound, body) if (ends := extent(body)) is not None:
            return _counted(_product([extent(i.extent) for i in bound]), ends)
    return None


def _sum(ends: list[Ends | None]) -> Ends | None:
    known = [e for e in ends if e is not None]
    if len(known) < len(ends):
        return None
    return canonical(add(*(low for low, _ in known))), canonical(add(*(high for _, high in known)))


def _product(ends: list[Ends | None]) -> Ends | None:
    """Of factors that are never negative."""
    known = [e for e in ends if e is not None and (at_least(e[0]) or 0) >= 0 and at_least(e[0]) is not None]
    if len(known) < len(ends):
        return None
    return canonical(mul(1, *(low for low, _ in known))), canonical(mul(1, *(high for _, high in known)))


def _scaled(ends: Ends | None, numbers: list[Num]) -> Ends | None:
    if ends is None or any(n.value.denominator != 1 for n in numbers):
        return None
    low, high = (canonical(mul(*numbers, const(end))) if numbers else end for end in ends)
    negative = sum(n.value < 0 for n in numbers) % 2
    return (high, low) if negative else (low, high)


def _counted(times: Ends | None, ends: Ends) -> Ends | None:
    """Of a sum of so many numbers, none of them negative."""
    low = at_least(ends[0])
    if times is None or low is None or low < 0:
        return None
    return 0, canonical(mul(const(times[1]), const(ends[1])))


def _hull(a: Ends | None, b: Ends | None) -> Ends | None:
    if a is None or b is None:
        return None
    return canonical(minimum(a[0], b[0])), canonical(maximum(a[1], b[1]))
