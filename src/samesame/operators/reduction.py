"""Reductions: operators that fold a tensor along some of its dimensions, and running folds.

`dim=None` and an empty list of dimensions mean all of them, as in torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil
from typing import Any

from samesame.formula.expr import Expr, Unsupported, absolute, add, const, eq, exp, le, log, mul, power, truth, where
from samesame.formula.sizes import size_text
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.graph import Dtype
from samesame.operators.movement import cat, narrow
from samesame.operators.numbers import exact
from samesame.operators.pointwise import cast
from samesame.operators.shapes import (
    count,
    difference,
    dimension,
    dimensions,
    folded,
    kind_of,
    least_of,
    never_above,
    pointwise,
    reduced,
)
from samesame.operators.table import meaning

Dims = int | Sequence[int] | None


def _summed(kind: str, dtype: Dtype | None) -> str:
    """The kind of a sum or product: booleans are counted."""
    return kind_of(dtype, "int" if kind == "bool" else kind)


def extent(x: Tensor, dims: Dims) -> Dim:
    """How many elements each result of a reduction stands for."""
    return count(x.shape[d] for d in dimensions(dims, x.rank))


@meaning("aten.sum.dim_IntList")
def sum_(x: Tensor, dim: Dims, keepdim: bool = False, *, dtype: Dtype | None = None) -> Tensor:
    return reduced("sum", cast(x, dtype), dim, keepdim, kind=_summed(x.kind, dtype))


@meaning("aten.sum.default")
def sum_all(x: Tensor, *, dtype: Dtype | None = None) -> Tensor:
    return sum_(x, None, dtype=dtype)


@meaning("aten.mean.dim")
def mean(x: Tensor, dim: Dims, keepdim: bool = False, *, dtype: Dtype | None = None) -> Tensor:
    n = const(extent(x, dim))
    return pointwise(lambda e: e / n, sum_(cast(x, dtype), dim, keepdim), kind="real")


@meaning("aten.mean.default")
def mean_all(x: Tensor, *, dtype: Dtype | None = None) -> Tensor:
    return mean(x, None, dtype=dtype)


@meaning("aten.prod.dim_int")
def prod(x: Tensor, dim: int, keepdim: bool = False, *, dtype: Dtype | None = None) -> Tensor:
    return reduced("prod", cast(x, dtype), dim, keepdim, kind=_summed(x.kind, dtype))


@meaning("aten.prod.default")
def prod_all(x: Tensor, *, dtype: Dtype | None = None) -> Tensor:
    return reduced("prod", cast(x, dtype), None, kind=_summed(x.kind, dtype))


def _extremum(monoid: str) -> Callable[[Tensor, Dims, bool], Tensor]:
    def reduce_(x: Tensor, dim: Dims = (), keepdim: bool = False) -> Tensor:
        if x.kind == "bool":
            return reduced("any" if monoid == "max" else "all", x, dim, keepdim, of=truth)
        return reduced(monoid, x, dim, keepdim)

    return reduce_


greatest, least = _extremum("max"), _extremum("min")
meaning("aten.amax")(greatest)
meaning("aten.amin")(least)


@meaning("aten.max.default")
def max_all(x: Tensor) -> Tensor:
    return greatest(x, None, False)


@meaning("aten.min.default")
def min_all(x: Tensor) -> Tensor:
    return least(x, None, False)


@meaning("aten.aminmax.default")
def aminmax(x: Tensor, *, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return least(x, dim, keepdim), greatest(x, dim, keepdim)


@meaning("aten.any.dim", "aten.any.dims")
def any_(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    return reduced("any", x, dim, keepdim, of=truth, kind="bool")


@meaning("aten.any.default")
def any_all(x: Tensor) -> Tensor:
    return any_(x)


@meaning("aten.all.dim", "aten.all.dims")
def all_(x: Tensor, dim: Dims = None, keepdim: bool = False) -> Tensor:
    return reduced("all", x, dim, keepdim, of=truth, kind="bool")


@meaning("aten.all.default")
def all_all(x: Tensor) -> Tensor:
    return all_(x)


@meaning("aten.count_nonzero.dim_IntList", "aten.count_nonzero.default")
def count_nonzero(x: Tensor, dim: Dims = None) -> Tensor:
    return reduced("sum", x, dim, of=lambda e: where(truth(e), 1, 0), kind="int")


# ------------------------------------------------------------------------------------------------------------- spread


def centred(x: Tensor, dims: Dims) -> Tensor:
    """x minus its mean over some dimensions."""
    return pointwise(lambda e, m: e - m, x, mean(x, dims, True))


@meaning("aten.var.correction")
def var(x: Tensor, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    elements, less = extent(x, dim), exact(1 if correction is None else correction)
    if not never_above(ceil(less), elements):
        raise Unsupported(f"a variance of {size_text(elements)} elements less {less}")
    n = add(elements, -less)
    return pointwise(lambda s: s / n, reduced("sum", centred(x, dim), dim, keepdim, of=lambda e: e**2))


@meaning("aten.var.dim")
def var_dim(x: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    return var(x, dim, correction=int(unbiased), keepdim=keepdim)


@meaning("aten.var.default")
def var_all(x: Tensor, unbiased: bool = True) -> Tensor:
    return var(x, correction=int(unbiased))


@meaning("aten.var_mean.correction")
def var_mean(
    x: Tensor, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    return var(x, dim, correction=correction, keepdim=keepdim), mean(x, dim, keepdim)


@meaning("aten.var_mean.dim")
def var_mean_dim(x: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return var_mean(x, dim, correction=int(unbiased), keepdim=keepdim)


@meaning("aten.var_mean.default")
def var_mean_all(x: Tensor, unbiased: bool = True) -> tuple[Tensor, Tensor]:
    return var_mean(x, correction=int(unbiased))


def _root(x: Tensor) -> Tensor:
    return pointwise(lambda e: power(e, Fraction(1, 2)), x)


@meaning("aten.std.correction")
def std(x: Tensor, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False) -> Tensor:
    return _root(var(x, dim, correction=correction, keepdim=keepdim))


@meaning("aten.std.dim")
def std_dim(x: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    return _root(var_dim(x, dim, unbiased, keepdim))


@meaning("aten.std.default")
def std_all(x: Tensor, unbiased: bool = True) -> Tensor:
    return _root(var_all(x, unbiased))


@meaning("aten.std_mean.correction")
def std_mean(
    x: Tensor, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    return std(x, dim, correction=correction, keepdim=keepdim), mean(x, dim, keepdim)


@meaning("aten.std_mean.dim")
def std_mean_dim(x: Tensor, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return std_mean(x, dim, correction=int(unbiased), keepdim=keepdim)


@meaning("aten.std_mean.default")
def std_mean_all(x: Tensor, unbiased: bool = True) -> tuple[Tensor, Tensor]:
    return std_mean(x, correction=int(unbiased))


@meaning("aten.linalg_vector_norm.default")
def vector_norm(
    x: Tensor, ord: float = 2, dim: Dims = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    """(Σ |x|^p)^(1/p), and its limits for p = 0, ∞, −∞."""
    if ord in (float("inf"), float("-inf")):
        return reduced("max" if ord > 0 else "min", x, dim, keepdim, of=absolute)
    p = exact(ord)
    if p == 0:
        return reduced("sum", x, dim, keepdim, of=lambda e: where(eq(e, 0), 0, 1), kind="real")
    total = reduced("sum", x, dim, keepdim, of=lambda e: power(e if p % 2 == 0 else absolute(e), p))
    return pointwise(lambda e: power(e, 1 / p), total, kind="real")


@meaning("aten.norm.ScalarOpt_dim")
def norm(x: Tensor, p: float | None, dim: Dims, keepdim: bool = False) -> Tensor:
    return vector_norm(x, 2 if p is None else p, dim, keepdim)


@meaning("aten.norm.Scalar")
def norm_all(x: Tensor, p: float = 2) -> Tensor:
    return vector_norm(x, p)


@meaning("aten.logsumexp.default")
def logsumexp(x: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    return pointwise(log, reduced("sum", x, dim, keepdim, of=exp), kind="real")


# ------------------------------------------------------------------------------------------------------ running folds


def running(monoid: str, identity: Expr | int, x: Tensor, dim: int, of: Callable[[Expr], Any] = lambda e: e) -> Tensor:
    """The fold of all elements up to and including each, along one dimension."""
    d = dimension(dim, x.rank)
    if not x.rank:
        return pointwise(of, x)

    def element(*i: Expr) -> Expr:
        return folded(monoid, [x.shape[d]], lambda k: where(le(k, i[d]), of(x[(*i[:d], k, *i[d + 1 :])]), identity))

    return tensor(x.shape, element, _summed(x.kind, None))


@meaning("aten.cumsum.default")
def cumsum(x: Tensor, dim: int, *, dtype: Dtype | None = None) -> Tensor:
    return running("sum", 0, cast(x, dtype), dim)


@meaning("aten.cumprod.default")
def cumprod(x: Tensor, dim: int, *, dtype: Dtype | None = None) -> Tensor:
    return running("prod", 1, cast(x, dtype), dim)


@meaning("aten.logcumsumexp.default")
def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    return pointwise(log, running("sum", 0, x, dim, of=exp), kind="real")


@meaning("aten.diff.default")
def diff(
    x: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """Each element minus the one before it, n times over."""
    if x.kind == "bool":
        raise Unsupported("differences of booleans")
    d = dimension(dim, x.rank)
    result = cat([part for part in (prepend, x, append) if part is not None], d)
    for _ in range(n):
        result = _step(result, d)
    return result


def _step(x: Tensor, d: int) -> Tensor:
    size = difference(x.shape[d], 1)
    if isinstance(size, int) and size < 0:
        return x
    later, earlier = (narrow(x, d, start, size) for start in (1, 0))
    return pointwise(lambda a, b: a - b, later, earlier)


@meaning("aten.trace.default")
def trace(x: Tensor) -> Tensor:
    length = least_of(*x.shape)
    return tensor((), lambda: folded("sum", [length], lambda k: mul(1, x[k, k])), _summed(x.kind, None))
