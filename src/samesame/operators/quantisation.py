"""Quantisation: numbers rounded to a grid of few levels, and back.

Level q stands for (q − zero point) · scale; a number goes to the nearest level, of two equally near ones to the even
one, and to the last level where it is beyond the ends. Over the reals x · (1/scale), which is what torch computes, is
x / scale; in floating point the two may be on different sides of a half. torch holds scales in float32: that is
rounding, too.
"""

from __future__ import annotations

from samesame.formula.expr import Expr, and_, le, maximum, minimum
from samesame.formula.tensor import Tensor, tensor
from samesame.operators.numbers import constant
from samesame.operators.pointwise import whole
from samesame.operators.shapes import agreeing, as_tensor, dimension
from samesame.operators.table import meaning

Number = float | Expr | Tensor                             # one for all elements


def _to_levels(x: Expr, scale: Expr, zero: Expr) -> Expr:
    """The level nearest to a number, of levels without end."""
    return whole("round", zero + x / scale)


def _quantised(x: Tensor, scale: Tensor, zero: Tensor, dim: int | None, low: int, high: int) -> tuple[Tensor, Tensor]:
    """x on the grid and back, and where it was within the ends; scale and zero are numbers, or one for each index of a
    dimension."""

    def at(parameter: Tensor, i: tuple[Expr, ...]) -> Expr:
        return parameter[()] if dim is None else parameter[i[dim]]

    def level(i: tuple[Expr, ...]) -> Expr:
        return _to_levels(x[i], at(scale, i), at(zero, i))

    def element(*i: Expr) -> Expr:
        return (minimum(maximum(level(i), low), high) - at(zero, i)) * at(scale, i)

    def inside(*i: Expr) -> Expr:
        return and_(le(low, level(i)), le(level(i), high))

    return tensor(x.shape, element), tensor(x.shape, inside, "bool")


def _number(value: Number) -> Tensor:
    """A tensor of one number, as a number."""
    if not isinstance(value, Tensor):
        value = as_tensor(constant(value))
    held = value
    return held if not held.rank else tensor((), lambda: held[(0,) * held.rank], held.kind)


@meaning("aten.fake_quantize_per_tensor_affine_cachemask.default")
def per_tensor(x: Tensor, scale: Number, zero_point: Number, quant_min: int, quant_max: int) -> tuple[Tensor, Tensor]:
    return _quantised(x, _number(scale), _number(zero_point), None, quant_min, quant_max)


@meaning("aten.fake_quantize_per_tensor_affine.default", "aten.fake_quantize_per_tensor_affine.tensor_qparams")
def per_tensor_only(x: Tensor, scale: Number, zero_point: Number, quant_min: int, quant_max: int) -> Tensor:
    return per_tensor(x, scale, zero_point, quant_min, quant_max)[0]


@meaning("aten.fake_quantize_per_channel_affine_cachemask.default")
def per_channel(
    x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> tuple[Tensor, Tensor]:
    d = dimension(axis, x.rank)
    for parameter in (scale, zero_point):
        agreeing(parameter.shape, (x.shape[d],), "a grid for each index of a dimension")
    return _quantised(x, scale, zero_point, d, quant_min, quant_max)


@meaning("aten.fake_quantize_per_channel_affine.default")
def per_channel_only(
    x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    return per_channel(x, scale, zero_point, axis, quant_min, quant_max)[0]
