"""Numbers in forms: a rational times powers of how many elements there are along axes, or −∞.

`1/|k|` is the number 1 with the power −1 of the axis k. A mean divides by such a number, which no loop computes.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

Infinity = "-∞"                                      # as masks write it
Number = Fraction | str                             # a rational, or that
Powers = tuple[tuple[str, int], ...]                # of axes' extents: (("k", -1),) is 1/|k|


def product_of(numbers: Iterable[tuple[Any, ...]]) -> tuple[Fraction, Powers]:
    """The product of numbers, as attributes of one."""
    value, powers = Fraction(1), dict[str, int]()
    for factor, exponents in numbers:
        value *= factor
        for axis, exponent in exponents:
            powers[axis] = powers.get(axis, 0) + exponent
    return value, tuple(sorted((axis, exponent) for axis, exponent in powers.items() if exponent))


def number_text(value: Number, powers: Powers) -> str:
    over = [f"|{axis}|" + (f"^{k}" if k != 1 else "") for axis, k in powers if k > 0]
    under = [f"|{axis}|" + (f"^{-k}" if k != -1 else "") for axis, k in powers if k < 0]
    if isinstance(value, str):
        return value
    short = str(value) if value.denominator <= 1000 else f"{float(value):.6g}"
    above = "·".join([*([short] if value != 1 or not over else []), *over])
    return f"{above}/{'/'.join(under)}" if under else above
