"""Powers: of tensors to numbers, and of numbers and tensors to tensors.

A power to a number is that power. One to what varies is an exponential where its base is positive: a sigmoid to the
distance of two steps is how much of the one is left at the other. Elsewhere it is a function of which nothing is known.
"""

from __future__ import annotations

from typing import Any

from samesame.formula.binders import replaced
from samesame.formula.definite import Signs
from samesame.formula.expr import (
    ONE,
    Expr,
    Extremum,
    Fold,
    Lambda,
    Num,
    Opaque,
    Unsupported,
    Where,
    exp,
    index,
    le,
    log,
    lt,
    mul,
    numeric,
    power,
    walk,
    where,
)
from samesame.formula.tensor import Tensor
from samesame.operators.numbers import exact
from samesame.operators.shapes import as_tensor, joined, lower_bound, pointwise
from samesame.operators.table import meaning

SIGNS = Signs(least=lower_bound)


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
    """A number to a variable power is an exponential; a variable to a power that is a number is that power. Where the
    base is not above zero, of a power that may be a fraction nothing more is known."""
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
        if SIGNS.above_zero(base) and SIGNS.is_finite(base):
            return exp(e * log(base))
        if e.kind == "int":
            return whole_power(base, e)
        below = Opaque("aten.pow", (), (Lambda((), base), Lambda((), e)), (), "real")
        return where(lt(0, base), exp(e * log(base)), below)

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
