"""Powers: of tensors to numbers, and of numbers and tensors to tensors.

A power to a number is that power. One to what varies is an exponential where its base is known to be positive, by how
it is made: a sigmoid to the distance of two steps is how much of the one is left at the other.
"""

from __future__ import annotations

from typing import Any

from samesame.formula.binders import replaced
from samesame.formula.expr import (
    ONE,
    Add,
    Expr,
    Extremum,
    Fn,
    Fold,
    Mul,
    Named,
    Num,
    Pow,
    Unsupported,
    Where,
    exp,
    index,
    le,
    log,
    mul,
    numeric,
    power,
    walk,
    where,
)
from samesame.formula.monotone import above_zero
from samesame.formula.scalars import POSITIVE
from samesame.formula.tensor import Tensor
from samesame.operators.numbers import exact
from samesame.operators.shapes import as_tensor, joined, lower_bound, pointwise
from samesame.operators.table import meaning


@meaning("aten.pow.Tensor_Scalar")
def pow_number(x: Tensor, exponent: float) -> Tensor:
    q = exact(exponent)
    kind = "real" if isinstance(exponent, float) else joined(x.kind, "int")
    return pointwise(lambda e: power(e, q) if q else ONE, x, kind=kind)


@meaning("aten.square")
def square(x: Tensor) -> Tensor:
    return pow_number(x, 2)


@meaning("aten.pow.Tensor_Tensor", "aten.pow.Scalar")
def pow_tensor(x: Any, exponent: Tensor) -> Tensor:
    """A number to a variable power is an exponential; a variable to a power that is a number is that power."""
    if as_tensor(x).kind == exponent.kind == "bool":
        raise Unsupported("a boolean to the power of a boolean")

    whole = as_tensor(x).kind != "real" != exponent.kind        # below 0, torch gives 0 and not a fraction

    def element(base: Expr, e: Expr) -> Expr:
        base, e = numeric(base), numeric(e)
        if isinstance(e, Num):
            return power(base, e.value) if e.value else ONE
        least = lower_bound(e) if whole else 0
        if least is None or least < 0:
            raise Unsupported("an integer to the power of an integer that may be negative")
        if _positive(base):
            return exp(e * log(base))
        if e.kind == "int":
            return whole_power(base, e)
        raise Unsupported("a power whose base may not be positive and whose exponent is no number")

    return pointwise(element, x, exponent)


def whole_power(base: Expr, e: Expr) -> Expr:
    """A power with a whole exponent: so many factors, and one over them where the exponent is below 0. Of an exponent
    that is chosen there is a power for each choice."""
    choice = next((part for part in walk(e) if isinstance(part, Where | Extremum)), None)
    if choice is not None:
        condition, *sides = chosen(choice)
        return where(condition, *(whole_power(base, replaced(e, {choice: side})) for side in sides))
    least = lower_bound(e)
    times = repeated(base, e)
    return times if least is not None and least >= 0 else where(le(0, e), times, power(repeated(base, mul(-1, e)), -1))


def chosen(choice: Where | Extremum) -> tuple[Expr, Expr, Expr]:
    """The condition of a choice, what it is there, and what it is elsewhere."""
    if isinstance(choice, Where):
        return choice.condition, choice.then, choice.otherwise
    first, *others = choice.arguments
    rest = Extremum(choice.op, tuple(others)) if len(others) > 1 else others[0]
    return (le(rest, first) if choice.op == "max" else le(first, rest)), first, rest


def repeated(base: Expr, times: Expr) -> Expr:
    """So many factors; of none, 1."""
    return Fold("prod", (index(times),), base)


def _positive(e: Expr) -> bool:
    """Whether it is seen to be above zero wherever it has a value."""
    match e:
        case Num(value):
            return value > 0
        case Named():
            return True
        case Pow(base, _):
            return _positive(base)
        case Mul(parts) | Extremum("min", parts):
            return all(map(_positive, parts))
        case Add(parts):
            return any(map(_positive, parts)) and all(map(_not_negative, parts))
        case Extremum(_, parts):
            return any(map(_positive, parts))
        case Where(_, then, otherwise):
            return _positive(then) and _positive(otherwise)
        case Fold(monoid, bound, body):
            some = monoid != "sum" or all((lower_bound(v.extent) or 0) > 0 for v in bound)
            return some and _positive(body)
        case Fn(name, _):
            return name in POSITIVE
    return (lower_bound(e) or 0) > 0 or above_zero(e)


def _not_negative(e: Expr) -> bool:
    match e:
        case Num(value):
            return value >= 0
        case Pow(_, exponent) if exponent.numerator % 2 == 0 or exponent.denominator % 2 == 0:
            return True
        case Mul(parts) | Add(parts) | Extremum("min", parts):
            return all(map(_not_negative, parts))
        case Extremum(_, parts):
            return any(map(_not_negative, parts))
        case Where(_, then, otherwise):
            return _not_negative(then) and _not_negative(otherwise)
        case Fold(_, _, body):
            return _not_negative(body)
        case Fn("abs"):
            return True
    low = lower_bound(e)
    return _positive(e) or (low is not None and low >= 0)
