"""Operators that sum, take extrema, sort and contract: the third part of the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from samesame.capture.onnx.movement import given_axes
from samesame.capture.onnx.table import ROWS, Application, Value, axis_of, number, operand, row, tensor

Tensor = torch.Tensor
Fold = Callable[[Tensor, tuple[int, ...], bool], Tensor]


def _product(x: Tensor, dims: tuple[int, ...], keep: bool) -> Tensor:
    for dim in sorted(dims, reverse=True):
        x = x.prod(dim, keepdim=keep, dtype=x.dtype)
    return x


def _mean(x: Tensor, dims: tuple[int, ...], keep: bool) -> Any:
    return x.mean(dims, keepdim=keep) if x.is_floating_point() else NotImplemented


FOLDS: dict[str, Fold] = {
    "ReduceSum": lambda x, dims, keep: x.sum(dims, keepdim=keep, dtype=x.dtype),
    "ReduceMean": _mean,
    "ReduceMax": lambda x, dims, keep: x.amax(dims, keepdim=keep),
    "ReduceMin": lambda x, dims, keep: x.amin(dims, keepdim=keep),
    "ReduceProd": _product,
    "ReduceL1": lambda x, dims, keep: x.abs().sum(dims, keepdim=keep, dtype=x.dtype),
    "ReduceL2": lambda x, dims, keep: (x * x).sum(dims, keepdim=keep).sqrt() if x.is_floating_point()
                                      else NotImplemented,
    "ReduceLogSum": lambda x, dims, keep: x.sum(dims, keepdim=keep).log() if x.is_floating_point()
                                          else NotImplemented,
    "ReduceLogSumExp": lambda x, dims, keep: x.logsumexp(dims, keepdim=keep) if x.is_floating_point()
                                             else NotImplemented,
    "ReduceSumSquare": lambda x, dims, keep: (x * x).sum(dims, keepdim=keep, dtype=x.dtype),
}


def _fold(function: Fold) -> Callable[..., Any]:
    def apply(node: Application, x: Value, axes: Value | None = None) -> Any:
        found, given = tensor(x), given_axes(node, axes)
        if not given and node.get("noop_with_empty_axes", 0):
            return found if node.operator in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd") \
                else NotImplemented
        dims = tuple(axis_of(axis, found.dim()) for axis in given) if given else tuple(range(found.dim()))
        return function(found, dims, bool(node.get("keepdims", 1)))

    return apply


ROWS.update({name: _fold(function) for name, function in FOLDS.items()})


@row("ArgMax", "ArgMin")
def place_of_extremum(node: Application, x: Value) -> Any:
    if node.get("select_last_index", 0):
        return NotImplemented
    pick = torch.argmax if node.operator == "ArgMax" else torch.argmin
    return pick(tensor(x), node.get("axis", 0), keepdim=bool(node.get("keepdims", 1)))


@row("TopK")
def topk(node: Application, x: Value, k: Value) -> Any:
    found = torch.topk(tensor(x), number(k), node.get("axis", -1), bool(node.get("largest", 1)),
                       bool(node.get("sorted", 1)))
    return found[0], found[1]


@row("MatMul")
def matmul(node: Application, a: Value, b: Value) -> Any:
    x, y = tensor(a), tensor(b)
    return torch.matmul(x, y)


@row("Gemm")
def gemm(node: Application, a: Value, b: Value, c: Value | None = None) -> Any:
    x, y, alpha, beta = tensor(a), tensor(b), node.get("alpha", 1.0), node.get("beta", 1.0)
    x = x.t() if node.get("transA", 0) else x
    if node.get("transB", 0) and alpha == 1 and beta == 1 and (c is None or len(c.shape) == 1):
        return torch.nn.functional.linear(x, y, None if c is None else tensor(c))
    y = y.t() if node.get("transB", 0) else y
    made = x @ y if alpha == 1 else (x @ y) * alpha
    if c is None or beta == 0:
        return made
    return made + (operand(c, made) if beta == 1 else tensor(c) * beta)


@row("Einsum")
def einsum(node: Application, *values: Value) -> Tensor:
    return torch.einsum(node.get("equation"), *map(tensor, values))


@row("Softmax", "LogSoftmax", "Hardmax")
def softmax(node: Application, x: Value) -> Any:
    """Before version 13, all dimensions from the axis on count as one."""
    function = {"Softmax": torch.softmax, "LogSoftmax": torch.log_softmax}.get(node.operator, _hardmax)
    found = tensor(x)
    if node.version >= 13:
        return function(found, node.get("axis", -1))
    axis = axis_of(node.get("axis", 1), found.dim())
    if axis == found.dim() - 1:
        return function(found, axis)
    return function(found.flatten(axis), axis).reshape(found.shape)


def _hardmax(x: Tensor, axis: int) -> Tensor:
    hot = torch.nn.functional.one_hot(x.argmax(axis), x.shape[axis])
    return hot.movedim(-1, axis).to(x.dtype)


@row("LpNormalization")
def lp_normalization(node: Application, x: Value) -> Tensor:
    found, axis = tensor(x), node.get("axis", -1)
    norm = found.abs().sum(axis, keepdim=True) if node.get("p", 2) == 1 else (found * found).sum(axis, True).sqrt()
    return torch.where(norm == 0, 0.0, found / norm)


@row("MeanVarianceNormalization")
def mean_variance_normalization(node: Application, x: Value) -> Tensor:
    found, axes = tensor(x), tuple(node.get("axes", (0, 2, 3)))
    mean = found.mean(axes, keepdim=True)
    centred = found - mean
    return centred / ((centred * centred).mean(axes, keepdim=True).sqrt() + 1e-9)
