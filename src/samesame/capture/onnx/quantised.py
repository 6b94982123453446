"""Quantised operators: numbers of eight bits, each a multiple of a scale beyond a zero point.

Integers are multiplied and summed as int32 by way of float64, in which such sums are exact; halves are rounded to even.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from samesame.capture.onnx.neural import conv
from samesame.capture.onnx.table import Application, Value, axis_of, row, tensor

Tensor = torch.Tensor
BOUNDS = {torch.uint8: (0, 255), torch.int8: (-128, 127)}


def along(node: Application, setting: Tensor, x: Tensor) -> Tensor:
    """A scale or zero point for the whole tensor, or one for each place of an axis."""
    if setting.numel() == 1:
        return setting.reshape(())
    axis = axis_of(node.get("axis", 1), x.dim())
    return setting.reshape([-1 if d == axis else 1 for d in range(x.dim())])


def quantised(x: Tensor, scale: Tensor, zero: Tensor) -> Tensor:
    return torch.clamp(torch.round(x / scale) + zero.to(x.dtype), *BOUNDS[zero.dtype]).to(zero.dtype)


def covered(node: Application, scale: Tensor, zero: Tensor | None) -> bool:
    """Blocks, and numbers of other than eight bits, are left to ONNX Runtime."""
    return not node.get("block_size", 0) and scale.dim() < 2 and (zero is None or zero.dtype in BOUNDS)


@row("QuantizeLinear")
def quantize(node: Application, x: Value, scale: Value, zero: Value | None = None) -> Any:
    found, step = tensor(x), tensor(scale)
    start = torch.zeros((), dtype=torch.uint8) if zero is None else tensor(zero)
    if not covered(node, step, start) or node.get("output_dtype", 0) or not found.is_floating_point():
        return NotImplemented
    return quantised(found, along(node, step, found), along(node, start, found))


@row("DequantizeLinear")
def dequantize(node: Application, x: Value, scale: Value, zero: Value | None = None) -> Any:
    found, step = tensor(x), tensor(scale)
    if not covered(node, step, None) or node.get("output_dtype", 0):
        return NotImplemented
    wide = found.to(step.dtype)
    if zero is not None:
        wide = wide - along(node, tensor(zero), found).to(step.dtype)
    return wide * along(node, step, found)


@row("DynamicQuantizeLinear")
def dynamic(node: Application, x: Value) -> tuple[Tensor, Tensor, Tensor]:
    """The range of the elements, and zero with it, in 255 steps."""
    found = tensor(x)
    low, high = torch.clamp(found.amin(), max=0), torch.clamp(found.amax(), min=0)
    scale = torch.where(high == low, 1.0, (high - low) / 255)
    zero = torch.round(torch.clamp(-low / scale, 0, 255)).to(torch.uint8)
    return quantised(found, scale, zero), scale, zero


def centred(node: Application, x: Value, zero: Value | None) -> Tensor:
    """Integers less their zero point."""
    found = tensor(x).double()
    return found if zero is None else found - along(node, tensor(zero), found).double()


def columns(node: Application) -> Application:
    """The node with zero points of its second operand by column."""
    return replace(node, attributes={**node.attributes, "axis": -1})


@row("MatMulInteger")
def integer_product(node: Application, a: Value, b: Value, of_a: Value | None = None, of_b: Value | None = None) -> Any:
    if of_a is not None and tensor(of_a).numel() > 1:
        return NotImplemented
    return (centred(node, a, of_a) @ centred(columns(node), b, of_b)).to(torch.int32)


@row("ConvInteger")
def integer_convolution(
    node: Application, x: Value, weight: Value, of_x: Value | None = None, of_weight: Value | None = None
) -> Any:
    channels = replace(node, attributes={**node.attributes, "axis": 0})
    found = conv(node, centred(node, x, of_x), centred(channels, weight, of_weight))
    return found if found is NotImplemented else found.to(torch.int32)


@row("QLinearMatMul")
def quantised_product(
    node: Application, a: Value, scale_a: Value, of_a: Value, b: Value, scale_b: Value, of_b: Value, scale: Value,
    zero: Value,
) -> Any:
    if tensor(of_a).numel() > 1 or tensor(scale_a).numel() > 1:
        return NotImplemented
    whole = centred(node, a, of_a) @ centred(columns(node), b, of_b)
    step = tensor(scale_a) * tensor(scale_b) / tensor(scale)
    return rounded(whole, step, zero)


@row("QLinearConv")
def quantised_convolution(
    node: Application, x: Value, scale_x: Value, of_x: Value, weight: Value, scale_weight: Value, of_weight: Value,
    scale: Value, zero: Value, bias: Value | None = None,
) -> Any:
    channels = replace(node, attributes={**node.attributes, "axis": 0})
    found = conv(node, centred(node, x, of_x), centred(channels, weight, of_weight),
                 None if bias is None else tensor(bias).double())
    if found is NotImplemented:
        return found
    step = tensor(scale_x) * tensor(scale_weight) / tensor(scale)
    return rounded(found, step.reshape(-1, *[1] * (found.dim() - 2)), zero)


def rounded(whole: Tensor, step: Tensor, zero: Value) -> Tensor:
    """Sums of products in the steps of the result."""
    return quantised(whole.to(step.dtype) * step, torch.ones((), dtype=step.dtype), tensor(zero).reshape(()))
