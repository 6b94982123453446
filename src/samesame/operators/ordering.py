"""Ordering: operators whose result hangs on which element is larger.

They have no formula here, but they treat each row along one dimension by itself, and compare its elements with each
other, nothing else. So they are opaque row by row: equal rows give equal results, whatever stands in front of them, and
a proof may pass through them wherever the rows are shown to be equal. And a strictly monotone function of all elements
is taken off the row first (formula/monotone.py): the largest of softmax(x) stand where the largest of x do, and are the
softmax of these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samesame.formula import monotone
from samesame.formula.expr import Expr, Lambda, Opaque, index, numeric
from samesame.formula.monotone import apart, is_finite
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.operators.movement import replaced
from samesame.operators.reduction import greatest, least
from samesame.operators.shapes import count, dimension, not_above, plain
from samesame.operators.table import meaning

Options = Callable[[bool], tuple[Any, ...]]     # of an operator, on a row, and on one whose order is turned round


def rowwise(name: str, options: Options, x: Tensor, dim: int, length: Dim) -> tuple[Tensor, Tensor]:
    """What the operator of this name and these options picks of each row of x along `dim`, `length` elements, and where
    they stood.

    A size among the options is what the option is, and no part of the formula.
    """
    d = dimension(dim, x.rank)
    shape = replaced(x.shape, d, length) if x.rank else ()

    def place(i: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return (i[d],) if x.rank else (numeric(0),)

    def position(*i: Expr) -> Expr:
        row = _row(x, i, d)
        found = apart(row.body, frozenset(row.bound))
        simpler = Lambda(row.bound, found.core)
        return Opaque(name, ("indices", options(found.rising)), (simpler,), place(i), "int")

    def value(*i: Expr) -> Expr:
        row = _row(x, i, d)
        found = apart(row.body, frozenset(row.bound))
        if found.core is row.body or not is_finite(found.core):     # exp(v) is above 0, if v is no −∞
            return Opaque(name, ("values", options(True)), (row,), place(i), x.kind)
        simpler = Lambda(row.bound, found.core)
        return found.back(Opaque(name, ("values", options(found.rising)), (simpler,), place(i), found.core.kind))

    return tensor(shape, value, x.kind), tensor(shape, position, "int")


def _row(x: Tensor, i: tuple[Any, ...], d: int) -> Lambda:
    """The row of x through i along d, as one argument; the row of a number is that number."""
    k = index(x.shape[d] if x.rank else 1)
    return Lambda((k,), numeric(x[replaced(i, d, k)] if x.rank else x[()]))


def chosen(name: str, x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    """Which element of each row `name` picks: an integer for each row."""
    row = x.shape if dim is None or not x.rank else (x.shape[dimension(dim, x.rank)],)
    not_above(1, count(row), "a choice of at least one element")
    if dim is None:
        bound = tuple(index(n) for n in x.shape)
        whole = monotone.place(name, Lambda(bound, numeric(x[bound])))
        return tensor((1,) * x.rank if keepdim else (), lambda *i: whole, "int")
    d = dimension(dim, x.rank)

    def element(*i: Expr) -> Expr:
        full: tuple[Any, ...] = i if keepdim or not x.rank else (*i[:d], None, *i[d:])
        return monotone.place(name, _row(x, full, d))

    shape = (replaced(x.shape, d, 1) if keepdim else replaced(x.shape, d)) if x.rank else ()
    return tensor(shape, element, "int")


@meaning("aten.argmax.default")
def argmax(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return chosen("aten.argmax", x, dim, keepdim)


@meaning("aten.argmin.default")
def argmin(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return chosen("aten.argmin", x, dim, keepdim)


@meaning("aten.max.dim")
def max_dim(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return greatest(x, dim, keepdim), argmax(x, dim, keepdim)


@meaning("aten.min.dim")
def min_dim(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return least(x, dim, keepdim), argmin(x, dim, keepdim)


@meaning("aten.topk.default")
def topk(x: Tensor, k: Dim, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """The k largest of each row, and where they stood."""
    not_above(k, x.shape[dimension(dim, x.rank)] if x.rank else 1, "how many of a row are chosen")
    not_above(0, k, "how many of a row are chosen")
    k = plain(k)
    return rowwise("aten.topk", lambda rising: (k, largest == rising, sorted), x, dim, k)


def _sorted(x: Tensor, dim: int, descending: bool, stable: bool) -> tuple[Tensor, Tensor]:
    length = x.shape[dimension(dim, x.rank)] if x.rank else 1
    return rowwise("aten.sort", lambda rising: (descending == rising, stable), x, dim, length)


@meaning("aten.sort.default")
def sort(x: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    return _sorted(x, dim, descending, False)


@meaning("aten.sort.stable")
def sort_stable(
    x: Tensor, *, stable: bool | None, dim: int = -1, descending: bool = False
) -> tuple[Tensor, Tensor]:
    return _sorted(x, dim, descending, bool(stable))


@meaning("aten.argsort.default")
def argsort(x: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    return _sorted(x, dim, descending, False)[1]


@meaning("aten.argsort.stable")
def argsort_stable(x: Tensor, *, stable: bool, dim: int = -1, descending: bool = False) -> Tensor:
    return _sorted(x, dim, descending, stable)[1]
