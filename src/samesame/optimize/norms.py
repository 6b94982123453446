"""Norms: operators that take off a mean and divide by a deviation, as forms.

What these are of differs: the last dimensions (layer norm), a group of a sample's channels (group norm), one channel
(instance norm), or what was measured in training (batch norm). They are two passes, as precise as any: first the mean,
then that of the squares of differences from it. A row of a weight's norm is here, too, and that of a difference: how
far each row is from each other one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from samesame.formula.expr import Unsupported
from samesame.optimize import forms as f
from samesame.optimize.forms import Form, number
from samesame.optimize.operators import mean_of, norm, reshape
from samesame.optimize.pointwise import HALF, add, div, mul, real, sub
from samesame.optimize.reading import Reader, Value, channel, row


@row("aten.rms_norm")
def rms_norm(r: Reader, x: Value, shape: Sequence[int], weight: Value | None = None, eps: Any = None) -> Value:
    if eps is None and x.dtype not in ("float32", "float64"):
        raise Unsupported("an epsilon of the dtype")
    square = mean_of(r, f.power(x.form, 2), _last(x, len(shape)))
    epsilon = torch.finfo(getattr(torch, x.dtype)).eps if eps is None else eps
    normal = Value(f.times(x.form, _inverse_root(square, epsilon)), x.dims, x.dtype)
    return normal if weight is None else mul(r, normal, weight)


@row("aten.layer_norm")
def layer_norm(
    r: Reader, x: Value, shape: Sequence[int], weight: Value | None = None, bias: Value | None = None,
    eps: float = 1e-05, *_: Any,
) -> Value:
    return _affine(r, normal_over(r, x, len(shape), eps)[0], weight, bias)


def normal_over(r: Reader, x: Value, last: int, eps: float) -> tuple[Value, Value, Value]:
    """The last dimensions, so many, less their mean and over their deviation; the mean; one over the deviation."""
    axes = _last(x, last)
    mean = mean_of(r, x.form, axes)
    middle = f.minus(x.form, mean)
    scale = _inverse_root(mean_of(r, f.power(middle, 2), axes), eps)
    outer = x.dims[: x.rank - last]
    return Value(f.times(middle, scale), x.dims, x.dtype), Value(mean, outer, x.dtype), Value(scale, outer, x.dtype)


def _last(x: Value, count: int) -> list[str]:
    return [axis for dim in x.dims[x.rank - count :] for axis in dim]


def _inverse_root(square: Form, eps: float) -> Form:
    return f.power(f.plus(square, number(float(eps))), -HALF)


def _affine(r: Reader, x: Value, weight: Value | None, bias: Value | None) -> Value:
    x = x if weight is None else mul(r, x, weight)
    return x if bias is None else add(r, x, bias)


def _each_channel(r: Reader, x: Value, weight: Value | None, bias: Value | None) -> Value:
    return _affine(r, x, *(None if w is None else channel(w, x.rank) for w in (weight, bias)))


@row("aten.batch_norm")
def batch_norm(
    r: Reader, x: Value, weight: Value | None, bias: Value | None, mean: Value | None, variance: Value | None,
    training: bool, momentum: float, eps: float, *_: Any,
) -> Value:
    """By what was measured in training; each number is of a channel."""
    if training or mean is None or variance is None:
        raise Unsupported("statistics of a batch")
    scale = r.pointwise(lambda v: _inverse_root(v, eps), channel(variance, x.rank))
    return _each_channel(r, mul(r, sub(r, x, channel(mean, x.rank)), scale), weight, bias)


@row("aten.native_group_norm")
def native_group_norm(
    r: Reader, x: Value, weight: Value | None, bias: Value | None, n: int, channels: int, inner: int, groups: int,
    eps: float,
) -> tuple[Value, Value, Value]:
    """Each sample's channels in groups of neighbours; weight and bias are of a channel."""
    rows = reshape(r, x, (n, groups, channels // groups, *r.shape(x)[2:]))
    normal, mean, scale = normal_over(r, rows, rows.rank - 2, eps)
    return _each_channel(r, reshape(r, normal, r.shape(x)), weight, bias), mean, scale


@row("aten.group_norm")
def group_norm(
    r: Reader, x: Value, groups: int, weight: Value | None = None, bias: Value | None = None, eps: float = 1e-05,
    *_: Any,
) -> Value:
    n, channels, *inner = r.shape(x)
    return native_group_norm(r, x, weight, bias, n, channels, len(inner), groups, eps)[0]


@row("aten.instance_norm")
def instance_norm(
    r: Reader, x: Value, weight: Value | None, bias: Value | None, mean: Value | None, variance: Value | None,
    of_input: bool, momentum: float, eps: float, *_: Any,
) -> Value:
    """Each channel of a sample by itself."""
    if not of_input:
        return batch_norm(r, x, weight, bias, mean, variance, False, momentum, eps)
    if mean is not None or variance is not None:
        raise Unsupported("statistics that are updated")
    return group_norm(r, x, r.size(x.dims[1]), weight, bias, eps)


@row("aten._weight_norm_interface")
def weight_norm(r: Reader, v: Value, g: Value, dim: int = 0) -> tuple[Value, Value]:
    """v·(g / |v|), each row along a dimension by its own norm; and the norms."""
    lengths = norm(r, v, 2, [d for d in range(v.rank) if d != dim % v.rank], True)
    return mul(r, v, div(r, g, lengths)), lengths


@row("aten._euclidean_dist")
def distance(r: Reader, x: Value, y: Value) -> Value:
    """√Σ_k (x_ik − y_jk)², of each row and each other one; torch takes a product of matrices, and loses digits."""
    batch = [[k - value.rank for k in range(value.rank - 2)] for value in (x, y)]
    (a, b), axes = r.labelled([real(r, x), real(r, y)], [[*batch[0], "i", "k"], [*batch[1], "j", "k"]])
    squares = r.summed(axes["k"], f.power(f.minus(a, b), 2))
    outer = max(batch, key=len)
    return Value(f.power(squares, HALF), (*(axes[label] for label in (*outer, "i", "j")),), x.dtype)


@row("aten._cdist_forward")
def cdist(r: Reader, x: Value, y: Value, p: float, mode: Any = None) -> Value:
    if p != 2:
        raise Unsupported("a distance of another power")
    return distance(r, x, y)
