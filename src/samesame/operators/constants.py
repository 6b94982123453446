"""Factories: operators that make a tensor of numbers they are told, and masks of a given form.

What uninitialised memory holds is not a function of anything, so `empty` has no meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from samesame.formula.expr import Expr, Unsupported, add, const, eq, le, mul, where
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.graph import Dtype
from samesame.operators.movement import moved
from samesame.operators.numbers import constant
from samesame.operators.pointwise import cast, cast_like
from samesame.operators.shapes import as_tensor, at, kind_of, kind_of_number, plain
from samesame.operators.table import meaning

Value = float | int | bool


def filled(shape: Sequence[Dim], value: Value, kind: str) -> Tensor:
    """A tensor that holds one number everywhere."""
    element = cast(as_tensor(value), Dtype({"real": "float", "int": "int64"}.get(kind, kind)))[()]
    return tensor(tuple(map(plain, shape)), lambda *i: element, kind)


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
    return tensor(x.shape, lambda *i: at(element, i), x.kind)


@meaning("aten.zero.default")
def zero(x: Tensor) -> Tensor:
    return zeros_like(x)


# ------------------------------------------------------------------------------------------------------------- counting


@meaning("aten.arange.start_step")
def arange_step(start: Value, end: Value, step: Value = 1, *, dtype: Dtype | None = None) -> Tensor:
    whole = all(isinstance(x, int) for x in (start, end, step))
    if not isinstance(end, int | float) or not isinstance(start, int | float):
        raise Unsupported("a range between sizes that are not numbers")
    if not whole and kind_of(dtype) == "int":
        raise Unsupported("a range of integers whose bounds are none")
    first, stride = constant(start), constant(step)
    length = max(ceil((end - start) / step), 0)
    return cast(tensor((length,), lambda i: add(first, mul(stride, i)), "int" if whole else "real"), dtype)


@meaning("aten.arange.default")
def arange(end: Dim | float, *, dtype: Dtype | None = None) -> Tensor:
    if isinstance(end, Expr):
        return cast(tensor((end,), lambda i: i, "int"), dtype)
    return arange_step(0, end, dtype=dtype)


@meaning("aten.arange.start")
def arange_start(start: Value, end: Value, *, dtype: Dtype | None = None) -> Tensor:
    return arange_step(start, end, dtype=dtype)


@meaning("aten.linspace.default")
def linspace(start: Value, end: Value, steps: int, *, dtype: Dtype | None = None) -> Tensor:
    first, last = constant(start), constant(end)
    stride = (last - first) / max(steps - 1, 1)
    return cast(tensor((steps,), lambda i: first + i * stride), dtype)


@meaning("aten.eye.default")
def eye(n: Dim, *, dtype: Dtype | None = None) -> Tensor:
    return eye_m(n, n, dtype=dtype)


@meaning("aten.eye.m")
def eye_m(n: Dim, m: Dim, *, dtype: Dtype | None = None) -> Tensor:
    return cast(tensor((n, m), lambda i, j: eq(i, j), "bool"), dtype or Dtype("float"))


@meaning("prims.iota.default")
def iota(length: Dim, *, start: int, step: int, dtype: Dtype, requires_grad: bool = False) -> Tensor:
    return cast(tensor((length,), lambda i: add(start, mul(step, i)), "int"), dtype)


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


@meaning("aten.diag.default")
def diag(x: Tensor, diagonal: int = 0) -> Tensor:
    """A vector as a diagonal matrix; the diagonal of a matrix as a vector."""
    down, right = max(-diagonal, 0), max(diagonal, 0)
    if x.rank == 2:
        rows, columns = x.shape
        if not (isinstance(rows, int) and isinstance(columns, int)):
            raise Unsupported("the diagonal of a matrix of unknown size")
        return moved(x, [max(min(rows - down, columns - right), 0)], lambda i: (i + down, i + right))
    n = plain(add(x.shape[0], abs(diagonal)))
    return tensor((n, n), lambda i, j: where(eq(i - down, j - right), x[i - down], _nothing(x)), x.kind)


@meaning("aten.constant_pad_nd.default")
def constant_pad_nd(x: Tensor, pad: Sequence[int], value: Value = 0) -> Tensor:
    """`pad` holds (before, after) for the last dimension, then for the one before it, …; negative numbers cut."""
    before, after = [0] * x.rank, [0] * x.rank
    for k in range(len(pad) // 2):
        before[x.rank - 1 - k], after[x.rank - 1 - k] = pad[2 * k], pad[2 * k + 1]
    border = cast_like(as_tensor(value), x)[()]

    def element(*i: Expr) -> Expr:
        found = x[tuple(j - b for j, b in zip(i, before, strict=True))]
        for j, b, a, n in zip(i, before, after, x.shape, strict=True):
            if a > 0:
                found = where(le(add(n, b), j), border, found)
            if b > 0:
                found = where(le(b, j), found, border)
        return found

    sizes = (plain(add(n, b, a)) for n, b, a in zip(x.shape, before, after, strict=True))
    return tensor(tuple(sizes), element, x.kind)


@meaning("aten.pad.default")
def pad(x: Tensor, pad: Sequence[int], mode: str = "constant", value: Value | None = None) -> Tensor:
    if mode != "constant":
        raise Unsupported(f"padding with mode {mode}")
    return constant_pad_nd(x, pad, 0 if value is None else value)
