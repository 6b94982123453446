"""Numbers that a program works out beforehand: a product of them is what float64 makes of it.

A launch hands its kernel two numbers, and the kernel's formula has their product, every digit of it. A reference
multiplies the same two itself, and has what Python rounds that to. Casts between floats are the identity here, and so
is this one: a number with more digits than any float64 is written with is the one that is nearest. Only numbers whose
digits end are meant; a third has none that does.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction

from samesame.formula.assumptions import Said
from samesame.formula.binders import put
from samesame.formula.effort import Budget
from samesame.formula.equal import NotProved, Proved, prove_tensors_equal
from samesame.formula.expr import Expr, Num, const, walk
from samesame.formula.tensor import Tensor, tensor

DIGITS, LONGEST = 17, 400         # digits that tell any two float64 apart; places that are looked at
ROUNDED = Said("rounding", "numbers are as float64 rounds them")


def equal_in_doubles(left: Tensor, right: Tensor, *, budget: Budget) -> Proved | NotProved:
    """Whether two tensors are equal with their long numbers rounded; no proof where there are none."""
    if not any(isinstance(e, Num) and is_long(e.value) for whole in (left, right) for e in walk(whole.element()[1])):
        return NotProved("no number has more digits than float64")
    found = prove_tensors_equal(rounded(left), rounded(right), budget=budget)
    return replace(found, conditions=(*found.conditions, ROUNDED)) if isinstance(found, Proved) else found


def rounded(whole: Tensor) -> Tensor:
    return tensor(whole.shape, lambda *i: put(whole[i], _nearest), whole.kind)


def _nearest(e: Expr) -> Expr | None:
    return const(Fraction(repr(float(e.value)))) if isinstance(e, Num) and is_long(e.value) else None


def is_long(number: Fraction) -> bool:
    """Whether it is no integer that float64 could hold, and its digits end after more than float64 has."""
    if abs(number) > sys.float_info.max:
        return False
    places = 0
    while number.denominator > 1 and places < LONGEST and (number * 10**places).denominator > 1:
        places += 1
    digits = number * 10**places
    return number.denominator > 1 == digits.denominator and len(str(abs(digits.numerator))) > DIGITS
