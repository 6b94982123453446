"""Arithmetic of known values: the operators that files use to work out shapes, done in Python's numbers.

A row is asked only where all inputs are known and few; it answers NotImplemented where that does not do, and then the
operator is what it is for tensors.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from samesame.capture.onnx.known import Known, each, joined
from samesame.capture.onnx.table import Application, axis_of

FEW = 64                                                   # elements of what decides shapes
INT_MAX = (1 << 31) - 1


def quotient(a: Any, b: Any) -> Any:
    """Integers are divided towards zero."""
    if isinstance(a, float) or isinstance(b, float):
        return a / b
    return a // b if (a >= 0) == (b > 0) else -(-a // b)


def power(a: Any, b: Any) -> Any:
    return a**b


def root(a: Any) -> Any:
    return math.sqrt(a)


UNARY: dict[str, Callable[[Any], Any]] = {
    "Identity": lambda a: a, "Neg": operator.neg, "Abs": abs, "Sqrt": root, "Reciprocal": lambda a: 1 / a,
    "Floor": math.floor, "Ceil": math.ceil, "Not": operator.not_,
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "Div": quotient, "Pow": power,
}
TRUTHS: dict[str, Callable[..., bool]] = {
    "Equal": operator.eq, "Greater": operator.gt, "Less": operator.lt, "GreaterOrEqual": operator.ge,
    "LessOrEqual": operator.le, "And": operator.and_, "Or": operator.or_,
}
FOLDS: dict[str, Callable[..., Any]] = {"ReduceSum": sum, "ReduceProd": math.prod, "ReduceMax": max, "ReduceMin": min}


def known(node: Application, values: tuple[Known | None, ...]) -> Any:
    """What the node gives for known values: one known value or several; NotImplemented where it is for tensors."""
    function = KNOWN.get(node.operator)
    if function is None or sum(len(value.numbers) for value in values if value is not None) > FEW:
        return NotImplemented
    return function(node, *values)


def _elementwise(node: Application, *values: Known) -> Any:
    name = node.operator
    if name in TRUTHS:
        return each(TRUTHS[name], *values, dtype=torch.bool)
    if name in ("Floor", "Ceil"):
        return each(lambda a: float(UNARY[name](a)), *values) if not values[0].sized else NotImplemented
    return each(UNARY[name], *values) if name in UNARY else each(BINARY[name], *values, dtype=values[0].dtype)


def _cast(node: Application, value: Known) -> Any:
    dtype = node.get("to")
    if dtype.is_floating_point:
        if dtype not in (torch.float32, torch.float64):
            return NotImplemented
        return Known([n * 1.0 for n in value.numbers], value.shape, dtype, sized=value.sized)
    if dtype == torch.bool:
        return each(lambda n: n != 0, value, dtype=dtype)
    if value.dtype.is_floating_point and value.sized:
        return NotImplemented                              # cut towards zero, which nobody follows
    return each(lambda n: n if value.sized else int(n), value, dtype=dtype)


def _modulo(node: Application, a: Known, b: Known) -> Any:
    return NotImplemented if node.get("fmod", 0) else each(operator.mod, a, b, dtype=a.dtype)


def _extremum(node: Application, first: Known, *others: Known) -> Any:
    pick = max if node.operator == "Max" else min
    return each(lambda *one: pick(one), first, *others) if others else first


def _where(node: Application, condition: Known, a: Known, b: Known) -> Known:
    return each(lambda c, x, y: x if c else y, condition, a, b, dtype=a.dtype)


def _fold(node: Application, value: Known, axes: Known | None = None) -> Any:
    given = node.get("axes") if axes is None else axes.numbers
    whole = given is None or len(given) == len(value.shape)
    if not whole or (not given and node.get("noop_with_empty_axes", 0)) or not value.numbers:
        return NotImplemented
    shape = (1,) * len(value.shape) if node.get("keepdims", 1) else ()
    return Known([FOLDS[node.operator](value.numbers)], shape, value.dtype, sized=value.sized)


def _gather(node: Application, value: Known, indices: Known) -> Any:
    if indices.sized:
        return NotImplemented
    return value.moved(np.take(value.positions, np.reshape(indices.numbers, indices.shape).astype(int),
                               node.get("axis", 0)))


def _slice(node: Application, value: Known, *bounds: Known | None) -> Any:
    if any(bound is not None and bound.sized for bound in bounds):
        return NotImplemented
    return value.moved(value.positions[cuts(node, len(value.shape), bounds)])


def cuts(node: Application, rank: int, bounds: tuple[Known | None, ...]) -> tuple[slice, ...]:
    """The slices that a Slice takes of each dimension, as Python has them."""
    given: list[Any] = [None if bound is None else list(bound.numbers) for bound in bounds]
    starts, ends, axes, steps = [*given, None, None, None, None][:4]
    starts, ends = starts if starts is not None else node.get("starts"), ends if ends is not None else node.get("ends")
    axes = axes or node.get("axes") or list(range(len(starts)))
    found = [slice(None)] * rank
    for place, axis in enumerate(axes):
        step = steps[place] if steps else 1
        start, end = starts[place], ends[place]
        if step < 0 and not _is_sized(end) and end < -INT_MAX:
            end = None                                     # to the first element, and with it
        found[axis_of(axis, rank)] = slice(start, end, step)
    return tuple(found)


def _is_sized(number: Any) -> bool:
    return type(number) is not int


def _concat(node: Application, *values: Known) -> Known:
    return joined(values, node.get("axis"))


def _unsqueeze(node: Application, value: Known, axes: Known | None = None) -> Known:
    given = node.get("axes") if axes is None else axes.numbers
    rank = len(value.shape) + len(given)
    return value.moved(np.expand_dims(value.positions, tuple(axis_of(int(axis), rank) for axis in given)))


def _squeeze(node: Application, value: Known, axes: Known | None = None) -> Known:
    given = node.get("axes") if axes is None else axes.numbers
    return value.moved(np.squeeze(value.positions, None if given is None else tuple(map(int, given))))


def _reshape(node: Application, value: Known, shape: Known) -> Any:
    if shape.sized:
        return NotImplemented
    given = [value.shape[k] if n == 0 and not node.get("allowzero", 0) else n for k, n in enumerate(shape.numbers)]
    return value.moved(value.positions.reshape(given))


def _expand(node: Application, value: Known, shape: Known) -> Any:
    if shape.sized or math.prod(shape.numbers) > FEW:
        return NotImplemented
    wanted = np.broadcast_shapes(value.shape, tuple(shape.numbers))
    return value.moved(np.broadcast_to(value.positions, wanted))


def _split(node: Application, value: Known, sizes: Known | None = None) -> Any:
    given = node.get("split") if sizes is None else sizes.numbers
    if given is None or (sizes is not None and sizes.sized):
        return NotImplemented
    parts = np.split(value.positions, np.cumsum(given)[:-1], node.get("axis", 0))
    return tuple(map(value.moved, parts))


def _of_shape(node: Application, shape: Known) -> Any:
    value, dtype = node.get("fill", (0.0, torch.float32))
    if shape.sized or math.prod(shape.numbers) > FEW or dtype != torch.int64:
        return NotImplemented
    return Known([value] * math.prod(shape.numbers), shape.numbers, dtype)


def _shape(node: Application, value: Known) -> Known:
    found = list(value.shape)[slice(node.get("start", 0), node.get("end"))]
    return Known(found, (len(found),), torch.int64)


KNOWN: dict[str, Callable[..., Any]] = {
    **dict.fromkeys((*UNARY, *BINARY, *TRUTHS), _elementwise),
    **dict.fromkeys(FOLDS, _fold),
    **dict.fromkeys(("Max", "Min"), _extremum),
    "Cast": _cast, "Mod": _modulo, "Where": _where, "Gather": _gather, "Slice": _slice, "Concat": _concat,
    "Unsqueeze": _unsqueeze, "Squeeze": _squeeze, "Reshape": _reshape, "Expand": _expand, "Split": _split,
    "ConstantOfShape": _of_shape, "Shape": _shape, "Size": lambda node, v: Known([len(v.numbers)], (), torch.int64),
}
