"""Factories: operators that make a tensor of numbers they are told, and masks of a given form.

What uninitialised memory holds is not a function of anything, so `empty` has no meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import ceil
from typing import Any

from samesame.formula.expr import Expr, Unsupported, add, const, eq, le, mul, where
from samesame.formula.sizes import size_text
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.graph import Dtype
from samesame.operators.movement import cat, reshape, rounded_up
from samesame.operators.movement import diagonal as diagonal_of
from samesame.operators.numbers import constant
from samesame.operators.pointwise import cast, cast_like
from samesame.operators.shapes import (
    as_tensor,
    at,
    difference,
    fits,
    greatest_of,
    joined,
    kind_of,
    kind_of_number,
    never_above,
    not_above,
    plain,
    static,
    total,
)
from samesame.operators.table import meaning

Value = float | int | bool | Expr
INT64 = 4                                                   # as torch's declarations number it


def filled(size: Sequence[Dim], value: Value, kind: str) -> Tensor:
    """A tensor that holds one number everywhere."""
    for n in size:
        not_above(0, n, "a size")
    element = cast(as_tensor(value), Dtype({"real": "float", "int": "int64"}.get(kind, kind)))[()]
    return tensor(tuple(map(plain, size)), lambda *i: element, kind)


@meaning("aten.full.default")
def full(size: Sequence[Dim], fill_value: Value, *, dtype: Dtype | None = None) -> Tensor:
    return filled(size, fill_value, kind_of(dtype, kind_of_number(fill_value)))


@meaning("aten.scalar_tensor.default")
def scalar_tensor(s: Value, *, dtype: Dtype | None = None) -> Tensor:
    return filled((), s, kind_of(dtype))


@meaning("aten.zeros.default")
def zeros(size: Sequence[Dim], *, dtype: Dtype | None = None) -> Tensor:
    return filled(size, 0, kind_of(dtype))


@meaning("aten.ones.default")
def ones(size: Sequence[Dim], *, dtype: Dtype | None = None) -> Tensor:
    return filled(size, 1, kind_of(dtype))


@meaning("aten.full_like.default")
def full_like(x: Tensor, fill_value: Value, *, dtype: Dtype | None = None) -> Tensor:
    return filled(x.shape, fill_value, kind_of(dtype, x.kind))


@meaning("aten.zeros_like.default")
def zeros_like(x: Tensor, *, dtype: Dtype | None = None) -> Tensor:
    return full_like(x, 0, dtype=dtype)


@meaning("aten.ones_like.default")
def ones_like(x: Tensor, *, dtype: Dtype | None = None) -> Tensor:
    return full_like(x, 1, dtype=dtype)


@meaning("aten.new_full.default")
def new_full(x: Tensor, size: Sequence[Dim], fill_value: Value, *, dtype: Dtype | None = None) -> Tensor:
    return filled(size, fill_value, kind_of(dtype, x.kind))


@meaning("aten.new_zeros.default")
def new_zeros(x: Tensor, size: Sequence[Dim], *, dtype: Dtype | None = None) -> Tensor:
    return new_full(x, size, 0, dtype=dtype)


@meaning("aten.new_ones.default")
def new_ones(x: Tensor, size: Sequence[Dim], *, dtype: Dtype | None = None) -> Tensor:
    return new_full(x, size, 1, dtype=dtype)


@meaning("aten.fill.Scalar", "aten.fill.Tensor")
def fill(x: Tensor, value: Value | Tensor) -> Tensor:
    """What is left of an in-place fill once writes are results."""
    element = cast_like(as_tensor(value), x)
    fits(element.shape, x.shape, "a tensor is filled")
    return tensor(x.shape, lambda *i: at(element, i), x.kind)


@meaning("aten.zero.default")
def zero(x: Tensor) -> Tensor:
    return zeros_like(x)


# ------------------------------------------------------------------------------------------------------------- counting


@meaning("aten.arange.start_step")
def arange_step(start: Value, end: Value, step: Value = 1, *, dtype: Dtype | None = None) -> Tensor:
    numbers = [_whole(x) for x in (start, end, step)]
    whole = all(kind_of_number(x) != "real" for x in (start, end, step))
    if not whole and kind_of(dtype) == "int":
        raise Unsupported("a range of integers whose bounds are none")
    first, stride = constant(start), constant(step)
    return cast(tensor((_steps(*numbers),), lambda i: add(first, mul(stride, i)), "int" if whole else "real"), dtype)


def _whole(x: Value) -> Value:
    """2 for 2.0, so that what is left is an int where it can be one."""
    return int(x) if isinstance(x, float) and x.is_integer() else x


def _steps(start: Any, end: Any, step: Any) -> Dim:
    """How many numbers there are from `start` to before `end`."""
    if not any(isinstance(x, Expr) for x in (start, end, step)):
        length: int = ceil((end - start) / step)
        return max(length, 0)
    if any(kind_of_number(x) == "real" for x in (start, end, step)):
        raise Unsupported("a range of symbolic length in steps that are not whole")
    down = never_above(step, -1)
    low, high, stride = (end, start, difference(0, step)) if down else (start, end, plain(step))
    for below, above in ((1, stride), (low, high)):
        not_above(below, above, "a range")
    return rounded_up(difference(high, low), stride)


@meaning("aten.arange.default")
def arange(end: Value, *, dtype: Dtype | None = None) -> Tensor:
    return arange_step(0, end, dtype=dtype)


@meaning("aten.arange.start")
def arange_start(start: Value, end: Value, *, dtype: Dtype | None = None) -> Tensor:
    return arange_step(start, end, dtype=dtype)


@meaning("aten.linspace.default")
def linspace(start: Value, end: Value, steps: Dim, *, dtype: Dtype | None = None) -> Tensor:
    first, last = constant(start), constant(end)
    not_above(0, steps, "a number of steps")
    stride = (last - first) / const(greatest_of(difference(steps, 1), 1))
    return cast(tensor((plain(steps),), lambda i: first + i * stride), dtype)


@meaning("aten.eye.default")
def eye(n: Dim, *, dtype: Dtype | None = None) -> Tensor:
    return eye_m(n, n, dtype=dtype)


@meaning("aten.eye.m")
def eye_m(n: Dim, m: Dim, *, dtype: Dtype | None = None) -> Tensor:
    for size in (n, m):
        not_above(0, size, "a size")
    return cast(tensor((plain(n), plain(m)), lambda i, j: eq(i, j), "bool"), dtype or Dtype("float"))


@meaning("prims.iota.default")
def iota(length: Dim, *, start: Dim, step: Dim, dtype: Dtype, requires_grad: bool = False) -> Tensor:
    not_above(0, length, "a size")
    return cast(tensor((plain(length),), lambda i: add(start, mul(step, i)), "int"), dtype)


# ---------------------------------------------------------------------------------------------------------------- masks


@meaning("aten.tril.default")
def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    """Nothing above the diagonal."""
    return tensor(x.shape, lambda *i: where(le(i[-1], i[-2] + diagonal), x[i], _nothing(x)), x.kind)


@meaning("aten.triu.default")
def triu(x: Tensor, diagonal: int = 0) -> Tensor:
    """Nothing below the diagonal."""
    return tensor(x.shape, lambda *i: where(le(i[-2] + diagonal, i[-1]), x[i], _nothing(x)), x.kind)


def _nothing(x: Tensor) -> Expr:
    return const(False) if x.kind == "bool" else const(0)


@meaning("aten.tril_indices.default")
def tril_indices(row: Dim, col: Dim, offset: int = 0, *, dtype: Dtype | int = INT64) -> Tensor:
    """Where a lower triangle has places, row by row: their rows, and their columns."""
    n, m = static(row), static(col)
    return _places([(0, min(max(r + offset + 1, 0), m)) for r in range(n)])


@meaning("aten.triu_indices.default")
def triu_indices(row: Dim, col: Dim, offset: int = 0, *, dtype: Dtype | int = INT64) -> Tensor:
    n, m = static(row), static(col)
    return _places([(min(max(r + offset, 0), m), m) for r in range(n)])


def _places(columns: Sequence[tuple[int, int]]) -> Tensor:
    """The row and the column of each place, where row r has the columns from `columns[r][0]` to before the other.

    Place k is in the last row that begins at k or before; how far its column is from k changes where a row begins.
    """
    begins = [0, *accumulate(stop - start for start, stop in columns)]
    away = [start - begin for (start, _), begin in zip(columns, begins, strict=False)]

    def element(which: Expr, k: Expr) -> Expr:
        row, column = [const(0)], [add(k, *away[:1])]
        for begin, (before, after) in zip(begins[1:], pairwise(away), strict=False):
            row.append(where(le(begin, k), 1, 0))
            column.append(where(le(begin, k), after - before, 0))
        return where(eq(which, 0), add(*row), add(*column))

    return tensor((2, begins[-1]), element, "int")


@meaning("aten.diag.default")
def diag(x: Tensor, diagonal: int = 0) -> Tensor:
    """A vector as a diagonal matrix; the diagonal of a matrix as a vector."""
    if x.rank == 2:
        return diagonal_of(x, diagonal)
    down, right = max(-static(diagonal), 0), max(diagonal, 0)
    n = total(x.shape[0], down + right)
    return tensor((n, n), lambda i, j: where(eq(i - down, j - right), x[i - down], _nothing(x)), x.kind)


@meaning("aten.diag_embed.default")
def diag_embed(x: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The last dimension along a diagonal of two new ones, with nothing beside it."""
    rows, columns = (d % (x.rank + 1) for d in (dim1, dim2))
    down, right = max(-static(offset), 0), max(offset, 0)
    n = total(x.shape[-1], down + right)
    rest = iter(x.shape[:-1])
    shape = tuple(n if d in (rows, columns) else next(rest) for d in range(x.rank + 1))

    def element(*i: Expr) -> Expr:
        outer = tuple(j for d, j in enumerate(i) if d not in (rows, columns))
        row, column = i[rows] - down, i[columns] - right
        return where(eq(row, column), x[(*outer, row)], _nothing(x))

    return tensor(shape, element, x.kind)


@meaning("aten.block_diag.default")
def block_diag(tensors: Sequence[Tensor]) -> Tensor:
    """Matrices along a diagonal, with nothing beside them; a vector is a row."""
    blocks = [reshape(x, ((1,) * (2 - x.rank)) + x.shape) for x in tensors]
    kind = joined(*(x.kind for x in blocks))
    rows, columns = ([0, *accumulate((x.shape[d] for x in blocks), total)] for d in (0, 1))
    like = tensor((), lambda: _nothing(blocks[0]), kind)
    starts = zip(blocks, columns, strict=False)
    wide = [constant_pad_nd(cast_like(x, like), (c, difference(columns[-1], total(c, x.shape[1])))) for x, c in starts]
    return cat(wide) if rows[-1] else wide[0]


@meaning("aten.constant_pad_nd.default")
def constant_pad_nd(x: Tensor, pad: Sequence[Dim], value: Value = 0) -> Tensor:
    """`pad` holds (before, after) for the last dimension, then for the one before it, …; negative numbers cut."""
    before: list[Dim] = [0] * x.rank
    after: list[Dim] = [0] * x.rank
    for k in range(len(pad) // 2):
        before[x.rank - 1 - k], after[x.rank - 1 - k] = map(plain, pad[2 * k : 2 * k + 2])
    sizes = tuple(_padded(n, b, a) for n, b, a in zip(x.shape, before, after, strict=True))
    border = cast_like(as_tensor(value), x)[()]

    def element(*i: Expr) -> Expr:
        found = x[tuple(add(j, mul(-1, b)) for j, b in zip(i, before, strict=True))]
        for j, b, a, n in zip(i, before, after, x.shape, strict=True):
            if not never_above(a, 0):
                found = where(le(add(n, b), j), border, found)
            if not never_above(b, 0):
                found = where(le(b, j), found, border)
        return found

    return tensor(sizes, element, x.kind)


def _padded(n: Dim, before: Dim, after: Dim) -> Dim:
    """The size with padding; what is cut off must be there."""
    for amount in (before, after):
        if not never_above(0, amount) and not never_above(amount, 0):
            raise Unsupported(f"padding by {size_text(amount)}, which may add or cut")
        if not never_above(0, amount):
            not_above(0, total(n, amount), "what padding leaves of a size")
    not_above(0, total(n, before, after), "what padding leaves of a size")
    return total(n, before, after)


@meaning("aten.pad.default")
def pad(x: Tensor, pad: Sequence[Dim], mode: str = "constant", value: Value | None = None) -> Tensor:
    if mode != "constant":
        raise Unsupported(f"padding with mode {mode}")
    return constant_pad_nd(x, pad, 0 if value is None else value)
