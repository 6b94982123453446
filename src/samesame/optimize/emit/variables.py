"""Variables of printed torch code: expressions whose dimensions have the names of axes.

What brings them together is here: transposing, broadcasting, taking a dimension apart into digits; and how numbers are
written down.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any

import torch

from samesame.formula.expr import const
from samesame.operators.numbers import constant as read
from samesame.operators.numbers import readings
from samesame.optimize.forms import Part, Place
from samesame.optimize.specification import Tensor

WHOLE = 2**53                                        # below this, whole numbers are floats
DIGITS = 10**18                                      # a divisor of it is the denominator of a short decimal
Extent = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Variable:
    """An expression of Python, the axes of its dimensions, its dtype ("" for a plain number)."""

    text: str
    axes: tuple[str, ...]
    dtype: str

    @property
    def unit(self) -> str:
        """The text where an operator follows or stands before it."""
        return unit(self.text)


def added(sizes: Iterable[str]) -> str:
    """The sum of sizes, some of which are numbers."""
    sizes = list(sizes)
    number = sum(int(size) for size in sizes if size.isdigit())
    names = [size for size in sizes if not size.isdigit()]
    return " + ".join([*names, *([str(number)] if number or not names else [])])


def unit(expression: str) -> str:
    """The expression, in parentheses where it is an operation."""
    body = ast.parse(expression, mode="eval").body
    whole = isinstance(body, UNITS) or body.col_offset > 0             # in parentheses already
    return expression if whole else f"({expression})"


UNITS = ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.Constant


# ------------------------------------------------------------------------------------------------------- dimensions


def aligned(variables: Iterable[Variable]) -> tuple[list[str], tuple[str, ...]]:
    """The variables as expressions that broadcast, and the axes of what comes of them."""
    variables = list(variables)
    axes = list(max(variables, key=lambda v: len(v.axes)).axes)
    for v in variables:
        axes = [*(a for a in v.axes if a not in axes), *axes]
    return [over(v, tuple(axes)) for v in variables], tuple(axes)


def over(v: Variable, axes: tuple[str, ...]) -> str:
    """The variable with dimensions that broadcast to these axes."""
    own = [axis for axis in axes if axis in v.axes]
    expression = permuted(v, own)
    missing = [axis not in v.axes for axis in axes]
    while missing and missing[0]:
        missing.pop(0)
    if not any(missing) or not v.axes:
        return expression
    index = ", ".join("None" if gone else ":" for gone in missing)
    return f"{unit(expression)}[{index}]"


def permuted(v: Variable, order: Sequence[str]) -> str:
    if list(v.axes) == list(order):
        return v.text
    numbers = [v.axes.index(axis) for axis in order]
    if numbers[-2:] == [len(numbers) - 1, len(numbers) - 2] and numbers[:-2] == list(range(len(numbers) - 2)):
        return f"{v.unit}.mT"
    return f"{v.unit}.permute({', '.join(map(str, numbers))})"


def digits(place: Place, size: int, extent: Extent) -> list[tuple[str | None, int, int, int]] | None:
    """The dimension as digits, slowest first: the axis of each (None: one element), where it starts, how long it
    is, and how many values the digit has. None where the place is not made of digits."""
    strides = sorted(((stride(part, extent), part.axis) for part in place.parts), reverse=True)
    if not strides or strides[-1][0] > 1:
        strides.append((1, ""))
    found, above, rest = list[tuple[str | None, int, int, int]](), size, place.start(extent)
    for each, axis in strides:
        start, rest = divmod(rest, each)
        length = extent(axis) if axis else 1
        if above % each or start + length > above // each:
            return None
        found.append((axis or None, start, length, above // each))
        above = each
    return found


def stride(part: Part, extent: Extent) -> int:
    total = part.factor
    for axis in part.over:
        total *= extent(axis)
    return total


def looked_up(v: Variable, axis: str, index: Variable, size: Callable[[str], str]) -> Variable:
    """The variable where an axis is at the index. What else both have goes together, in front."""
    both = [a for a in v.axes if a in index.axes and a != axis]
    rest = [a for a in v.axes if a not in both and a != axis]
    own = [a for a in index.axes if a not in both]
    order = [*both, axis, *rest] if both else list(v.axes)
    d, sizes = order.index(axis), "".join(f"{size(a)}, " for a in own)
    wide = index if index.dtype in ("int32", "int64") else Variable(f"{index.unit}.long()", index.axes, "int64")
    if both:
        chosen = f"{unit(permuted(wide, [*both, *own]))}.long()"
        if len(own) != 1:
            chosen += f".reshape({''.join(f'{size(a)}, ' for a in both)}-1)"
        chosen += f"[{', '.join(['...', *('None' for _ in rest)])}]" if rest else ""
        expanded = f"{chosen}.expand({', '.join([*map(size, both), '-1', *map(size, rest)])})"
        found = f"{unit(permuted(v, order))}.gather({d}, {expanded})"
    else:
        found = f"{v.unit}.index_select({d}, {wide.text if len(own) == 1 else f'{wide.unit}.flatten()'})"
    if len(own) != 1:
        found += f".unflatten({d}, ({sizes}))" if own else f".squeeze({d})"
    return Variable(found, (*order[:d], *own, *order[d + 1:]), v.dtype)


# ---------------------------------------------------------------------------------------------------- dtypes, numbers


def promoted(dtypes: Iterable[str]) -> str:
    """The dtype that torch makes of operands; plain numbers have none."""
    found = ""
    for dtype in dtypes:
        if dtype and found:
            found = str(torch.promote_types(getattr(torch, found), getattr(torch, dtype))).removeprefix("torch.")
        found = found or dtype
    return found


def decimals(value: Fraction) -> tuple[str, str]:
    """Numerator and denominator, as short as they can be written; floats, where the powers of two in the numerator
    belong to the denominator: who divides by √(2π) has 1/2.5066282746310002."""
    for whole, inverse in ((value, False), (1 / value if value else value, True)):
        if DIGITS % whole.denominator == 0:
            shown = str(whole) if whole.denominator == 1 and abs(whole) < DIGITS else literal(float(whole))
            return ("1", shown) if inverse else (shown, "1")
    twos = value.numerator & -value.numerator
    if abs(value.numerator) >= DIGITS and value.denominator < WHOLE:
        return str(value.numerator // twos), literal(value.denominator / twos)
    return str(value.numerator), str(value.denominator)


def quotient(value: Fraction, factors: Sequence[str], divisors: Sequence[str]) -> tuple[str, str]:
    """A number times some sizes and divided by others: what is divided, and by what; "" for nothing."""
    above, below = decimals(value)
    shown = " * ".join([*([above] if above != "1" or not factors else []), *factors])
    divisors = [*([below] if below != "1" else []), *divisors]
    return shown, f"({' * '.join(divisors)})" if len(divisors) > 1 else "".join(divisors)


def needs_two_steps(value: Fraction) -> bool:
    """Whether who reads the float that is nearest to a quotient takes it for another number; each part is read as it
    is, if floats have it."""
    if max(abs(value.numerator), value.denominator) >= WHOLE:
        return False
    with readings():
        return read(float(value)) != const(value)


def literal(value: Any) -> str:
    """A plain value, or nested lists of these, as Python reads it: infinite numbers have no literal."""
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, float) and not isfinite(value):
        return f'float("{value}")'
    return repr(value)


def constant(tensor: Tensor, more: str = "") -> str:
    """A small constant that no module holds; `more` are further arguments."""
    return f"torch.tensor({literal(tensor.value)}, dtype=torch.{tensor.dtype}{more})"
