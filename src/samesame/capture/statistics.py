"""Batch normalisation that keeps statistics, in plain operators.

In training mode a layer normalises by the mean and the variance of its batch, and writes both into running statistics
beside it. torch does all this in one operator, which no formula stands for; `KEEPING` says it in others, the writes
into the statistics included, so that what a call leaves behind is seen like what it returns.
"""

from __future__ import annotations

from collections.abc import Callable
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
