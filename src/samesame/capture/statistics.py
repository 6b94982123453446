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


# What SyncBatchNorm computes with, of x: [N, C, …]; a mean and an 1/√(variance + eps) of [C] for each rank's part, from
# which it makes those of all parts, and two sums for the way back.


def over_channels(values: Tensor, x: Tensor) -> Tensor:
    return values.view(1, -1, *[1] * (x.dim() - 2))


def all_but_channels(x: Tensor) -> list[int]:
    return [dim for dim in range(x.dim()) if dim != 1]


def statistics_of_part(x: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    dims = all_but_channels(x)
    mean = x.mean(dims)
    return mean, torch.rsqrt((x - over_channels(mean, x)).square().mean(dims) + eps)


def statistics_of_all(
    x: Tensor, means: Tensor, scales: Tensor, running_mean: Tensor | None, running_var: Tensor | None, momentum: float,
    eps: float, counts: Tensor,
) -> tuple[Tensor, Tensor]:
    """Those of all parts together, of which each has so many elements a channel."""
    number, weights = counts.sum(), counts.unsqueeze(1)
    mean = (means * weights).sum(0) / number
    squares = ((scales.pow(-2) - eps + (means - mean).square()) * weights).sum(0)
    if running_mean is not None and running_var is not None:
        running_mean.mul_(1 - momentum).add_(mean, alpha=momentum)
        running_var.mul_(1 - momentum).add_(squares / (number - 1), alpha=momentum)
    return mean, torch.rsqrt(squares / number + eps)


def normalised(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, scale: Tensor, eps: float
) -> Tensor:
    y = (x - over_channels(mean, x)) * over_channels(scale, x)
    y = y if weight is None else y * over_channels(weight, x)
    return y if bias is None else y + over_channels(bias, x)


def sums_of_part(
    grad: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Tensor | None, *wanted: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    dims = all_but_channels(x)
    plain, weighed = grad.sum(dims), (grad * (x - over_channels(mean, x))).sum(dims)
    return plain, weighed, weighed * scale, plain.clone()


def grad_of_normalised(
    grad: Tensor, x: Tensor, mean: Tensor, scale: Tensor, weight: Tensor | None, plain: Tensor, weighed: Tensor,
    counts: Tensor,
) -> Tensor:
    number = counts.sum()
    straight = grad - over_channels(plain / number, x)
    bent = (x - over_channels(mean, x)) * over_channels(scale.square() * weighed / number, x)
    return (straight - bent) * over_channels(scale if weight is None else scale * weight, x)


KEEPING: dict[str, Callable[..., Any]] = {
    "aten._native_batch_norm_legit.default": batch_norm,
    "aten.batch_norm_stats.default": statistics_of_part,
    "aten.batch_norm_gather_stats_with_counts.default": statistics_of_all,
    "aten.batch_norm_elemt.default": normalised,
    "aten.batch_norm_backward_reduce.default": sums_of_part,
    "aten.batch_norm_backward_elemt.default": grad_of_normalised,
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
