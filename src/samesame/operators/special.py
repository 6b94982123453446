"""Special functions: operators that are one line over others, each with the value it has where that line says nothing.

`x·log y` is 0 where x is, whatever y is; `sin(πx)/πx` is 1 at 0. Floats have two zeros, and a few of these operators
tell them apart; a real number zero has no sign, which is written down wherever that counts.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from samesame.formula.expr import (
    FALSE,
    NEG_INF,
    PI,
    Expr,
    Fn,
    Unsupported,
    absolute,
    add,
    const,
    eq,
    exp,
    fn,
    le,
    log,
    lt,
    mod,
    not_,
    numeric,
    sin,
    sqrt,
    where,
)
from samesame.formula.infinite import PLUS_INFINITY, holds_infinity
from samesame.formula.tensor import Tensor, tensor
from samesame.graph import Dtype
from samesame.operators.movement import replaced
from samesame.operators.numbers import constant, exact, record
from samesame.operators.pointwise import clamp, times
from samesame.operators.provisos import unsigned
from samesame.operators.reduction import Dims, running, sum_
from samesame.operators.shapes import agreeing, at, broadcast, dimension, folded, pointwise, untold
from samesame.operators.table import meaning

Special = Callable[..., Any]
atan, erfinv, lgamma, digamma = map(fn, ("atan", "erfinv", "lgamma", "digamma"))

def arctangent(y: Expr, x: Expr) -> Expr:
    """The angle of the point (x, y), from −π to π; 0 at the origin."""
    record(unsigned("atan2"))
    steep = where(lt(0, y), PI / 2, where(lt(y, 0), -PI / 2, 0))
    behind = atan(y / x) + where(lt(y, 0), -PI, PI)
    return where(lt(0, x), atan(y / x), where(lt(x, 0), behind, steep))


def copysign_of(x: Expr, y: Expr) -> Expr:
    record(unsigned("copysign"))
    return where(lt(y, 0), -absolute(x), absolute(x))


FUNCTIONS: dict[str, Special] = {                          # of one real
    "aten.asinh": lambda x: log(x + sqrt(x**2 + 1)),
    "aten.acosh": lambda x: log(x + sqrt(x**2 - 1)),
    "aten.atanh": lambda x: (log(1 + x) - log(1 - x)) / 2,
    "aten.sinc": lambda x: where(eq(x, 0), 1, sin(PI * x) / (PI * x)),
    "aten.special_entr": lambda x: where(lt(x, 0), NEG_INF, where(eq(x, 0), 0, -x * log(x))),
    "aten.special_ndtri": lambda p: sqrt(2) * erfinv(2 * p - 1),
    "aten.erfinv": erfinv,
    "aten.lgamma": lgamma,
    "aten.digamma": digamma,
    "aten.angle": lambda x: where(lt(x, 0), PI, 0),
}

PAIRS: dict[str, Special] = {                              # of two reals
    "aten.xlogy": lambda x, y: where(eq(x, 0), 0, x * log(y)),
    "aten.special_xlog1py": lambda x, y: where(eq(x, 0), 0, x * log(1 + y)),
    "aten.logaddexp2": lambda x, y: log(exp(x * log(2)) + exp(y * log(2))) / log(2),
    "aten.atan2.default": arctangent,
    "aten.copysign": copysign_of,
    "aten.ldexp.Tensor": lambda x, n: x * exp(n * log(2)),
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


@meaning("aten.signbit.default")
def signbit(x: Tensor) -> Tensor:
    record(unsigned("signbit"))
    return pointwise(lambda e: lt(e, 0), x, kind="bool")


@meaning("aten.round.decimals")
def round_to(x: Tensor, *, decimals: int) -> Tensor:
    """x rounded to so many decimals, halves to even."""
    if x.kind != "real":
        raise Unsupported("integers rounded to decimals")
    unit = Fraction(10) ** decimals
    return pointwise(lambda e: Fn("round", e * unit) / unit, x)


@meaning("aten.mvlgamma.default")
def mvlgamma(x: Tensor, p: int) -> Tensor:
    """log Γₚ(x) = p(p − 1)/4·log π + Σ_{j<p} log Γ(x − j/2)."""
    first = Fraction(p * (p - 1), 4) * log(PI)
    return pointwise(lambda e: add(first, *(lgamma(e - Fraction(j, 2)) for j in range(p))), x, kind="real")


@meaning("aten.nan_to_num.default")
def nan_to_num(x: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """x, or a number in place of none; that x is a number is a question as `isnan` asks it. A −∞ is the least float
    unless another number is told, and is read as −∞ again."""
    if x.kind != "real":
        return x
    instead, least = constant(nan or 0.0), constant(0.0 if neginf is None else neginf)

    def element(e: Expr) -> Expr:
        if posinf is not None and holds_infinity(e):
            raise Unsupported("a number in place of +∞")
        finite = e if neginf is None or not holds_infinity(e) else where(eq(e, NEG_INF), least, e)
        return where(eq(e, e), finite, instead)

    return pointwise(element, x)


@meaning("aten.isinf.default")
def isinf(x: Tensor) -> Tensor:
    return pointwise(lambda e: eq(absolute(e), PLUS_INFINITY) if e.kind == "real" else FALSE, x, kind="bool")


@meaning("aten.isneginf.default")
def isneginf(x: Tensor) -> Tensor:
    return pointwise(lambda e: eq(e, NEG_INF) if e.kind == "real" else FALSE, x, kind="bool")


@meaning("aten.isposinf.default")
def isposinf(x: Tensor) -> Tensor:
    return pointwise(lambda e: eq(e, PLUS_INFINITY) if e.kind == "real" else FALSE, x, kind="bool")


@meaning("aten.nansum.default")
def nansum(x: Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: Dtype | None = None) -> Tensor:
    """The sum of what is a number."""
    return sum_(pointwise(lambda e: where(eq(e, e), e, 0), x), dim, keepdim, dtype=dtype)


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


@meaning("aten.cummax.default")
def cummax(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """The largest so far; where it stood is not told, as equal elements are."""
    where_to = untold(x.shape, "where a running extremum stood", "int")
    if x.kind == "real":
        return running("max", NEG_INF, x, dim), where_to
    if x.kind == "bool" or not x.rank:
        raise Unsupported("a running maximum of booleans, or of a number")
    d = dimension(dim, x.rank)

    def element(*i: Expr) -> Expr:                         # no integer is below all others: x itself stands in
        return folded("max", [x.shape[d]], lambda k: where(le(k, i[d]), x[replaced(i, d, k)], x[i]))

    return tensor(x.shape, element, "int"), where_to


@meaning("aten.cummin.default")
def cummin(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    if x.kind == "bool":
        raise Unsupported("a running minimum of booleans")
    largest, where_to = cummax(times(x, -1), dim)
    return times(largest, -1), where_to
