"""Operators that act element by element, and what makes or chooses elements: the first part of the table."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import torch
import torch.nn.functional as F

from samesame.capture.onnx.known import Known, meant
from samesame.capture.onnx.table import ROWS, Application, Value, number, numbers, operand, row, tensor

Tensor = torch.Tensor
INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)

UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "Abs": torch.abs, "Acos": torch.acos, "Acosh": torch.acosh, "Asin": torch.asin, "Asinh": torch.asinh,
    "Atan": torch.atan, "Atanh": torch.atanh, "BitwiseNot": torch.bitwise_not, "Ceil": torch.ceil, "Cos": torch.cos,
    "Cosh": torch.cosh, "Erf": torch.erf, "Exp": torch.exp, "Floor": torch.floor, "HardSwish": F.hardswish,
    "Identity": lambda x: x, "IsNaN": torch.isnan, "Log": torch.log, "Mish": F.mish, "Neg": torch.neg,
    "Not": torch.logical_not, "Reciprocal": torch.reciprocal, "Relu": F.relu, "Round": torch.round,
    "Sigmoid": torch.sigmoid, "Sign": torch.sign, "Sin": torch.sin, "Sinh": torch.sinh, "Softplus": F.softplus,
    "Softsign": F.softsign, "Sqrt": torch.sqrt, "Tan": torch.tan, "Tanh": torch.tanh,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add, "Sub": operator.sub, "Mul": operator.mul,
    "Equal": operator.eq, "Greater": operator.gt, "GreaterOrEqual": operator.ge, "Less": operator.lt,
    "LessOrEqual": operator.le,
    "And": torch.logical_and, "Or": torch.logical_or, "Xor": torch.logical_xor,
    "BitwiseAnd": torch.bitwise_and, "BitwiseOr": torch.bitwise_or, "BitwiseXor": torch.bitwise_xor,
}
OF_TENSORS = ("And", "Or", "Xor", "BitwiseAnd", "BitwiseOr", "BitwiseXor")


def _unary(function: Callable[[Tensor], Tensor]) -> Callable[[Application, Value], Tensor]:
    return lambda node, x: function(tensor(x))


def _binary(function: Callable[[Any, Any], Any], plain: bool) -> Callable[[Application, Value, Value], Any]:
    def apply(node: Application, a: Value, b: Value) -> Any:
        return function(tensor(a), tensor(b)) if plain else function(*operands(a, b))

    return apply


def operands(a: Value, b: Value) -> tuple[Any, Any]:
    """Both operands; a tensor and at most one number."""
    left, right = operand(a, b), operand(b, a)
    return (left, right) if isinstance(left, Tensor) or isinstance(right, Tensor) else (tensor(a), tensor(b))


ROWS.update({name: _unary(function) for name, function in UNARY.items()})
ROWS.update({name: _binary(function, name in OF_TENSORS) for name, function in BINARY.items()})


def real(node: Application, name: str, default: float) -> float:
    """An attribute of 32 bits as the number that is meant."""
    found: float = meant(node.get(name, default))
    return found


@row("Div")
def div(node: Application, a: Value, b: Value) -> Any:
    x, y = operands(a, b)
    whole = (x if isinstance(x, Tensor) else y).dtype in INTEGERS
    return torch.div(*_as_tensors(a, b), rounding_mode="trunc") if whole else x / y


@row("Mod")
def mod(node: Application, a: Value, b: Value) -> Any:
    x, y = operands(a, b)
    return torch.fmod(*_as_tensors(a, b)) if node.get("fmod", 0) else x % y


@row("Pow")
def power(node: Application, a: Value, b: Value) -> Any:
    x, y = operands(a, b)
    found = torch.pow(x, y)
    wanted = a.dtype
    return found if found.dtype == wanted else found.to(wanted)


def _as_tensors(*values: Value) -> tuple[Tensor, ...]:
    return tuple(map(tensor, values))


@row("BitShift")
def shift(node: Application, a: Value, b: Value) -> Tensor:
    x, y = _as_tensors(a, b)
    return x << y if node.get("direction") == "LEFT" else x >> y


@row("Max", "Min")
def extremum(node: Application, *values: Value) -> Any:
    pick = torch.maximum if node.operator == "Max" else torch.minimum
    return reduce(pick, map(tensor, values))


@row("Sum", "Mean")
def total(node: Application, *values: Value) -> Tensor:
    found = reduce(operator.add, map(tensor, values))
    return found / len(values) if node.operator == "Mean" else found


@row("Where")
def where(node: Application, condition: Value, a: Value, b: Value) -> Tensor:
    x, y = tensor(a), tensor(b)
    return torch.where(tensor(condition), x, y)


@row("Clip")
def clip(node: Application, x: Value, low: Value | None = None, high: Value | None = None) -> Tensor:
    found = tensor(x)
    bounds = [None if bound is None else operand(bound, found) for bound in (low, high)]
    if bounds == [None, None]:
        return found
    if any(isinstance(bound, Tensor) for bound in bounds):
        bounds = [None if bound is None else tensor(bound) for bound in (low, high)]
    return torch.clamp(found, *bounds)


@row("Gelu")
def gelu(node: Application, x: Value) -> Tensor:
    return F.gelu(tensor(x), approximate=node.get("approximate", "none"))


@row("Swish")
def swish(node: Application, x: Value) -> Tensor:
    found, alpha = tensor(x), real(node, "alpha", 1.0)
    return F.silu(found) if alpha == 1 else found * torch.sigmoid(found * alpha)


@row("LeakyRelu")
def leaky_relu(node: Application, x: Value) -> Tensor:
    return F.leaky_relu(tensor(x), real(node, "alpha", 0.01))


@row("Elu")
def elu(node: Application, x: Value) -> Tensor:
    return F.elu(tensor(x), real(node, "alpha", 1.0))


@row("Celu")
def celu(node: Application, x: Value) -> Tensor:
    return F.celu(tensor(x), real(node, "alpha", 1.0))


SELU_ALPHA, SELU_GAMMA = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


@row("Selu")
def selu(node: Application, x: Value) -> Tensor:
    found = tensor(x)
    alpha, gamma = float(node.get("alpha", SELU_ALPHA)), float(node.get("gamma", SELU_GAMMA))
    if abs(alpha - SELU_ALPHA) < 1e-6 and abs(gamma - SELU_GAMMA) < 1e-6:
        return F.selu(found)
    return gamma * F.elu(found, alpha)


@row("HardSigmoid")
def hard_sigmoid(node: Application, x: Value) -> Tensor:
    alpha, beta = real(node, "alpha", 0.2), real(node, "beta", 0.5)
    if abs(alpha - 1 / 6) < 1e-7 and beta == 0.5:
        return F.hardsigmoid(tensor(x))
    return torch.clamp(tensor(x) * alpha + beta, 0, 1)


@row("ThresholdedRelu")
def thresholded_relu(node: Application, x: Value) -> Tensor:
    return F.threshold(tensor(x), real(node, "alpha", 1.0), 0.0)


@row("Shrink")
def shrink(node: Application, x: Value) -> Tensor:
    found, bias, limit = tensor(x), real(node, "bias", 0.0), real(node, "lambd", 0.5)
    if bias == 0:
        return F.hardshrink(found, limit)
    return torch.where(found < -limit, found + bias, torch.where(found > limit, found - bias, 0.0))


@row("PRelu")
def prelu(node: Application, x: Value, slope: Value) -> Tensor:
    found, factor = tensor(x), tensor(slope)
    if factor.numel() == 1 and factor.dim() <= found.dim():
        return F.prelu(found, factor.reshape(1))
    along = [d for d, size in enumerate(factor.shape) if size != 1]
    if found.dim() > 1 and factor.numel() == found.shape[1] and [found.dim() - factor.dim() + d for d in along] == [1]:
        return F.prelu(found, factor.reshape(-1))
    return torch.where(found < 0, found * factor, found)


@row("IsInf")
def is_infinite(node: Application, x: Value) -> Tensor:
    found, up, down = tensor(x), node.get("detect_positive", 1), node.get("detect_negative", 1)
    if up and down:
        return torch.isinf(found)
    return torch.isposinf(found) if up else torch.isneginf(found) if down else torch.zeros_like(found, dtype=torch.bool)


@row("Cast")
def cast(node: Application, x: Value) -> Any:
    return tensor(x).to(node.get("to"))


@row("CastLike")
def cast_like(node: Application, x: Value, like: Value) -> Any:
    return tensor(x).to(like.dtype)


@row("Dropout")
def dropout(node: Application, x: Value, ratio: Value | None = None, training: Value | None = None) -> Any:
    if training is not None and number(training):
        return NotImplemented
    found = tensor(x)
    return (found, torch.ones_like(found, dtype=torch.bool))[: len(node.outputs)]


@row("ConstantOfShape")
def constant_of_shape(node: Application, shape: Value) -> Tensor:
    value, dtype = node.get("fill", (0.0, torch.float32))
    return torch.full(tuple(numbers(shape)), meant(value, dtype), dtype=dtype)


@row("Range")
def count_from(node: Application, start: Value, limit: Value, step: Value) -> Tensor:
    return torch.arange(number(start), number(limit), number(step), dtype=start.dtype)


@row("EyeLike")
def eye_like(node: Application, like: Value) -> Any:
    if node.get("k", 0):
        return NotImplemented
    rows, columns = tensor(like).shape
    return torch.eye(rows, columns, dtype=node.get("dtype", like.dtype))


@row("Trilu")
def triangle(node: Application, x: Value, k: Value | None = None) -> Tensor:
    diagonal = 0 if k is None else number(k)
    return (torch.triu if node.get("upper", 1) else torch.tril)(tensor(x), diagonal)


@row("OneHot")
def one_hot(node: Application, indices: Value, depth: Value, values: Value) -> Any:
    off, on = numbers(values)
    classes, places = int(number(depth)), tensor(indices).to(torch.int64)
    places = torch.where(places < 0, places + classes, places)
    hot = F.one_hot(places, classes).movedim(-1, node.get("axis", -1)).to(torch.bool)
    made = torch.where(hot, on, off)
    return made.to(values.dtype)


@row("Size")
def count(node: Application, x: Value) -> Known:
    return Known([tensor(x).numel()], (), torch.int64, sized=True)


@row("Shape")
def shape(node: Application, x: Value) -> Known:
    found = list(tensor(x).shape)[slice(node.get("start", 0), node.get("end"))]
    return Known(found, (len(found),), torch.int64, sized=True)
