"""Counting: where numbers lie among others, and how many lie where.

A number's place in a row that is in order is how many of the row are below it. Torch finds it by halving the row, and
says nothing of rows in no order; that a row is in order is a condition, unless the formula shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from samesame.formula.expr import ONE, ZERO, Expr, Num, Opaque, Unsupported, and_, const, eq, le, lt, or_, where
from samesame.formula.tensor import Tensor, tensor
from samesame.operators.numbers import exact, record
from samesame.operators.provisos import rising
from samesame.operators.shapes import agreeing, as_tensor, folded, plain
from samesame.operators.table import meaning

LONGEST = 64                                               # of a row of numbers that is looked at

Below = Callable[[Expr, Expr], Expr]


def _places(row: Tensor, x: Tensor, right: bool, name: str) -> Tensor:
    """How many of a row are below each number, or not above it; one row for all, or one for each row of numbers."""
    if "bool" in (row.kind, x.kind):
        raise Unsupported("a place among booleans")
    if row.rank > 1:
        agreeing(row.shape[:-1], x.shape[:-1], "a row to look in for each row of numbers")
    if not _in_order(row):
        record(rising(name))
    below: Below = le if right else lt

    def element(*i: Expr) -> Expr:
        front = i[:-1] if row.rank > 1 else ()
        return folded("sum", row.shape[-1:], lambda k: where(below(row[(*front, k)], x[i]), ONE, ZERO))

    return tensor(x.shape, element, "int")


def _in_order(row: Tensor) -> bool:
    """Whether the formula shows that a row rises: it is sorted, or a few numbers that do."""
    length = plain(row.shape[-1])
    last = row.element()[1]
    if isinstance(last, Opaque) and last.name == "aten.sort" and last.attributes == ("values", (False, True)):
        return True
    if row.rank != 1 or not isinstance(length, int) or length > LONGEST:
        return False
    numbers = [row[k] for k in range(length)]
    return all(isinstance(n, Num) for n in numbers) and all(
        a.value <= b.value for a, b in pairwise(numbers)    # type: ignore[attr-defined]
    )


@meaning("aten.searchsorted.Tensor", "aten.searchsorted.Scalar")
def searchsorted(
    sorted_sequence: Tensor, x: Tensor | float, *, out_int32: bool = False, right: bool = False,
    side: str | None = None, sorter: Tensor | None = None,
) -> Tensor:
    if sorter is not None:
        raise Unsupported("a row that is put in order by another")
    return _places(sorted_sequence, as_tensor(x), right or side == "right", "searchsorted")


@meaning("aten.bucketize.Tensor", "aten.bucketize.Scalar")
def bucketize(x: Tensor | float, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    return _places(boundaries, as_tensor(x), right, "bucketize")


@meaning("aten.histc.default")
def histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many numbers lie in each of equal parts of a range, the last of which has its end."""
    low, high = exact(min), exact(max)
    if low >= high or x.kind != "real":
        raise Unsupported("a histogram over the range of its numbers")
    width = Fraction(high - low, bins)

    def element(b: Expr) -> Expr:
        start, end, is_last = low + b * width, low + (b + 1) * width, eq(b, const(bins - 1))

        def counted(*k: Expr) -> Expr:
            e = x[k]
            return where(and_(le(start, e), or_(lt(e, end), and_(is_last, le(e, high)))), ONE, ZERO)

        return folded("sum", x.shape, counted)

    return tensor((bins,), element, "real")
