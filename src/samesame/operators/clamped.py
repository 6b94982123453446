"""How far a value goes: whether a short dtype of integers holds it.

Quantised numbers are rounded, and before that clamped to what a dtype holds or divided by the largest magnitude among
them; the cast to that dtype changes nothing then, and has a meaning for that reason. Anything else may wrap around,
which no formula's integers do.
"""

from __future__ import annotations

from fractions import Fraction
from math import trunc

from samesame.formula.expr import Expr
from samesame.formula.limits import end_of
from samesame.formula.tensor import Tensor

ROUNDED = 1 + Fraction(1, 1 << 10)  # a quotient of floats may be so much larger than that of the numbers


def holds(dtype: str, x: Tensor) -> bool:
    """Whether a short dtype of integers holds every element, rounded to zero, as it is clamped to that."""
    bits = int(dtype.lstrip("uint"))
    low, high = (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    ends = clamped(x.element()[1])
    return ends is not None and low <= trunc(ends[0]) and trunc(ends[1]) <= high


def clamped(e: Expr) -> tuple[Fraction, Fraction] | None:
    """The least and greatest number that a value may be, where it has an end on both sides; else None."""
    low, high = end_of(e, "min", ROUNDED), end_of(e, "max", ROUNDED)
    return None if low is None or high is None else (low, high)
