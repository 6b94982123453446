"""Norms that keep statistics, in plain operators.

In training mode a layer normalises by the mean and the variance of its batch, and writes both into running statistics
beside it. torch does all this in one operator, which no formula stands for and whose schema tells of no write;
`KEEPING` says it in others, the writes into the statistics included, so that what a call leaves behind is seen like
what it returns. `SPELLED_OUT` does so for the operators above autograd, which keep the norm itself whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import torch
from torch import Tensor


def batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor] | None:
    """x normalised over all dimensions but 1, [N, C, …], and the mean and 1/√(variance + eps), [C], that it was
    normalised by; `running_mean` and `running_var`, [C], move towards those of this batch, the variance without bias.
    None where nothing is written."""
    if not training:
        return None
    dims = [dim for dim in range(x.dim()) if dim != 1]
    count = prod(x.shape[dim] for dim in dims)
    along = (1, -1, *[1] * (x.dim() - 2))
    mean = x.mean(dims)
    squares = (x - mean.view(along)).square().sum(dims)
    scale = torch.rsqrt(squares / count + eps)
    running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
    running_var.mul_(1 - momentum).add_(squares / max(count - 1, 1), alpha=momentum)
    y = (x - mean.view(along)) * scale.view(along)
    if weight is not None:
        y = y * weight.view(along)
    if bias is not None:
        y = y + bias.view(along)
    return y, mean, scale


KEEPING: dict[str, Callable[..., Any]] = {
    "aten._native_batch_norm_legit.default": batch_norm,
}


# ------------------------------------------------------------------------------------------------------- above autograd


aten = torch.ops.aten


def _batch_norm(given: Mapping[str, Any]) -> Tensor:
    x: Tensor = given["input"]
    wide = x.to(given["running_mean"].dtype)
    dims = [d for d in range(x.dim()) if d != 1]
    mean = wide.mean(dims)
    _move(given, mean, wide.var(dims, correction=1))
    own = mean, wide.var(dims, correction=0)               # of the batch itself, in the place of the running ones
    out: Tensor = aten.batch_norm.default(x, given["weight"], given["bias"], *own, False, *_settings(given))
    return out


def _instance_norm(given: Mapping[str, Any]) -> Tensor:
    """The statistics of a batch are the means of those of its instances."""
    x: Tensor = given["input"]
    wide = x.to(given["running_mean"].dtype)
    dims = list(range(2, x.dim()))
    _move(given, wide.mean(dims).mean(0), wide.var(dims, correction=1).mean(0))
    own = given["weight"], given["bias"], None, None, True, *_settings(given)
    out: Tensor = aten.instance_norm.default(x, *own)
    return out


def _settings(given: Mapping[str, Any]) -> tuple[Any, ...]:
    return given["momentum"], given["eps"], given["cudnn_enabled"]


def _move(given: Mapping[str, Any], mean: Tensor, variance: Tensor) -> None:
    """Move the running statistics, [C] each, towards those of this batch, by the formula of torch's BatchNorm1d:
    `momentum · batch + (1 − momentum) · running`."""
    momentum = given["momentum"]
    for running, now in ((given["running_mean"], mean), (given["running_var"], variance)):
        running.copy_(momentum * now + (1 - momentum) * running)


SPELLED_OUT: dict[str, Callable[[Mapping[str, Any]], Tensor]] = {
    "aten.batch_norm.default": _batch_norm,
    "aten.instance_norm.default": _instance_norm,
}
