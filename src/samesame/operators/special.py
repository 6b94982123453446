"""Special functions: operators that are one line over others, each with the value it has where that line says nothing.

`x·log y` is 0 where x is, whatever y is; `sin(πx)/πx` is 1 at 0. Distances are here too, as powers of sums.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from samesame.formula.expr import (
    NEG_INF,
    PI,
    Expr,
    Unsupported,
    const,
    eq,
    exp,
    log,
    lt,
    mod,
    not_,
    numeric,
    sin,
    sqrt,
    where,
)
from samesame.formula.tensor import Tensor, tensor
from samesame.operators.movement import replaced, unsqueeze
from samesame.operators.numbers import exact
from samesame.operators.pointwise import clamp, over, times
from samesame.operators.reduction import running, vector_norm
from samesame.operators.shapes import agreeing, at, broadcast, dimension, folded, pointwise, untold
from samesame.operators.table import meaning

Special = Callable[..., Any]

FUNCTIONS: dict[str, Special] = {                          # of one real
    "aten.asinh": lambda x: log(x + sqrt(x**2 + 1)),
    "aten.acosh": lambda x: log(x + sqrt(x**2 - 1)),
    "aten.atanh": lambda x: (log(1 + x) - log(1 - x)) / 2,
    "aten.sinc": lambda x: where(eq(x, 0), 1, sin(PI * x) / (PI * x)),
    "aten.special_entr": lambda x: where(lt(x, 0), NEG_INF, where(eq(x, 0), 0, -x * log(x))),
}

PAIRS: dict[str, Special] = {                              # of two reals
    "aten.xlogy": lambda x, y: where(eq(x, 0), 0, x * log(y)),
    "aten.special_xlog1py": lambda x, y: where(eq(x, 0), 0, x * log(1 + y)),
    "aten.logaddexp2": lambda x, y: log(exp(x * log(2)) + exp(y * log(2))) / log(2),
}


def _of_one(function: Special, x: Tensor) -> Tensor:
    return pointwise(lambda e: function(numeric(e)), x, kind="real")


def _of_two(function: Special, x: Any, other: Any) -> Tensor:
    return pointwise(lambda a, b: function(numeric(a), numeric(b)), x, other, kind="real")


for _table, _form in ((FUNCTIONS, _of_one), (PAIRS, _of_two)):
    for _name, _function in _table.items():
        meaning(_name)(partial(_form, _function))


@meaning("aten.heaviside.default")
def heaviside(x: Tensor, values: Tensor) -> Tensor:
    return pointwise(lambda e, v: where(lt(e, 0), 0, where(eq(e, 0), v, 1)), x, values)


@meaning("aten.logit.default", "aten.special_logit.default")
def logit(x: Tensor, eps: float | None = None) -> Tensor:
    """log(x / (1 − x)), of x no nearer to 0 and 1 than eps."""
    inside = x if eps is None else clamp(x, eps, const(1 - exact(eps)))
    return pointwise(lambda e: log(numeric(e)) - log(1 - numeric(e)), inside, kind="real")


@meaning("aten.isin.Tensor_Tensor")
def isin(elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    def found(*i: Expr) -> Expr:
        return folded("any", test_elements.shape, lambda *k: eq(elements[i], test_elements[k]))

    return tensor(elements.shape, lambda *i: (not_(found(*i)) if invert else found(*i)), "bool")


@meaning("aten.linalg_cross.default")
def cross(x: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """x_{j+1}·y_{j+2} − x_{j+2}·y_{j+1}, counted around three."""
    shape = broadcast(x.shape, other.shape)
    d = dimension(dim, len(shape))
    agreeing((x.shape[d], other.shape[d]), (3, 3), "a cross product")

    def element(*i: Expr) -> Expr:
        one, two = (replaced(i, d, mod(i[d] + k, 3)) for k in (1, 2))
        return at(x, one) * at(other, two) - at(x, two) * at(other, one)

    return tensor(shape, element, "real" if "real" in (x.kind, other.kind) else "int")


@meaning("aten._cdist_forward.default")
def cdist(x: Tensor, other: Tensor, p: float, compute_mode: int | None) -> Tensor:
    """How far each row of one is from each row of the other."""
    rows, columns = unsqueeze(x, -2), unsqueeze(other, -3)
    return vector_norm(pointwise(lambda a, b: a - b, rows, columns), p, -1)


@meaning("aten._weight_norm_interface.default")
def weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> tuple[Tensor, Tensor]:
    """v with the lengths g, along all dimensions but one; and the lengths that v had."""
    kept = dimension(dim, v.rank)
    lengths = vector_norm(v, 2, [d for d in range(v.rank) if d != kept], True)
    return over(times(v, g), lengths), lengths


@meaning("aten.cummax.default")
def cummax(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """The largest so far; where it stood is not told, as equal elements are."""
    if x.kind != "real":
        raise Unsupported("a running maximum of integers")
    where_to = untold(x.shape, "where a running extremum stood", "int")
    return running("max", NEG_INF, x, dim), where_to


@meaning("aten.cummin.default")
def cummin(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    largest, where_to = cummax(times(x, -1), dim)
    return times(largest, -1), where_to
