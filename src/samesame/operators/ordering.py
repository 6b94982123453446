"""Ordering: operators whose result hangs on which element is larger.

They have no formula here, but they treat each row along one dimension by itself, and compare its elements with each
other, nothing else. So they are opaque row by row: equal rows give equal results, whatever stands in front of them, and
a proof may pass through them wherever the rows are shown to be equal. And a strictly monotone function of all elements
is taken off the row first (formula/monotone.py): the largest of softmax(x) stand where the largest of x do, and are the
softmax of these.

Values that come in order are those of one sorted row, whoever picks them: the k-th largest of n is the same number as
the (n − k)-th of `sort`, as the last of `topk` and as what `kthvalue` gives, and ties change nothing. Where equal
elements stood is another matter: each operator says that in a way of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samesame.formula import monotone
from samesame.formula.expr import Expr, Lambda, Opaque, add, floordiv, index, mul, numeric
from samesame.formula.monotone import apart, is_finite, ordered
from samesame.formula.places import nth
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.operators.movement import ravel, replaced, reshape, select
from samesame.operators.reduction import greatest, least
from samesame.operators.shapes import count, difference, dimension, not_above, plain, untold
from samesame.operators.table import meaning

Options = Callable[[bool], tuple[Any, ...]]     # of an operator, on a row, and on one whose order is turned round

Order = Callable[[bool], bool | None]


def rowwise(name: str, options: Options, falls: Order, x: Tensor, dim: int, length: Dim) -> tuple[Tensor, Tensor]:
    """What the operator of this name and these options picks of each row of x along `dim`, `length` elements, and where
    they stood.

    A size among the options is what the option is, and no part of the formula. `falls` says of a row, or of one whose
    order is turned round, whether the values are its largest in falling order, or its smallest in rising order; or that
    they are in no known order.
    """
    d = dimension(dim, x.rank)
    shape = replaced(x.shape, d, length) if x.rank else ()

    def place(i: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return (i[d],) if x.rank else (numeric(0),)

    def position(*i: Expr) -> Expr:
        row = _row(x, i, d)
        found = ordered(row.body, frozenset(row.bound))
        simpler = Lambda(row.bound, found.core)
        return Opaque(name, ("indices", options(found.rising)), (simpler,), place(i), "int")

    def value(*i: Expr) -> Expr:
        row = _row(x, i, d)
        found = apart(row.body, frozenset(row.bound))
        if found.core is row.body or not is_finite(found.core):     # exp(v) is above 0, if v is no −∞
            return picked(row, True, i, x.kind)
        return found.back(picked(Lambda(row.bound, found.core), found.rising, i, found.core.kind))

    def picked(row: Lambda, rising: bool, i: tuple[Expr, ...], kind: str) -> Expr:
        descending = falls(rising)
        if descending is None:
            return Opaque(name, ("values", options(rising)), (row,), place(i), kind)
        (k,) = place(i)
        return nth(row, add(row.bound[0].extent, -1, mul(-1, k)) if descending else k, kind)

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

    def falls(rising: bool) -> bool | None:
        return largest == rising if sorted else None

    return rowwise("aten.topk", lambda rising: (k, largest == rising, sorted), falls, x, dim, k)


def _one_of_a_row(name: str, x: Tensor, dim: int, keepdim: bool, rank: Callable[[Dim], Dim]) -> tuple[Tensor, Tensor]:
    """One element of each row, by how many are smaller: `rank` of the row's length; and where it stood."""
    d = dimension(dim, x.rank)
    length = x.shape[d] if x.rank else 1
    not_above(1, length, "a choice of at least one element")
    wanted = rank(length)
    not_above(wanted, difference(length, 1), "which of a row is chosen")
    row = _sorted(x, dim, False, True)[0]
    values = select(row, d, wanted) if x.rank else row
    shape = replaced(x.shape, d, 1) if keepdim and x.rank else values.shape
    return reshape(values, shape), untold(shape, f"where {name} finds one of equal elements", "int")


@meaning("aten.kthvalue.default")
def kthvalue(x: Tensor, k: Dim, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return _one_of_a_row("kthvalue", x, dim, keepdim, lambda n: difference(k, 1))


@meaning("aten.median.dim")
def median(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The lower of the two in the middle, where there are two."""
    return _one_of_a_row("median", x, dim, keepdim, lambda n: plain(floordiv(difference(n, 1), 2)))


@meaning("aten.median.default")
def median_of_all(x: Tensor) -> Tensor:
    return median(ravel(x), 0)[0]


def _sorted(x: Tensor, dim: int, descending: bool, stable: bool) -> tuple[Tensor, Tensor]:
    length = x.shape[dimension(dim, x.rank)] if x.rank else 1
    return rowwise("aten.sort", lambda rising: (descending == rising, stable), lambda rising: descending == rising, x,
                   dim, length)


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
