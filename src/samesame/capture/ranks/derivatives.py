"""Derivatives in plain operators: what autograd calls in one piece, opened.

Most derivatives that autograd computes are operators of their own (`gelu_backward`, `native_layer_norm_backward`) that
torch can also write in terms of others. The others have meanings, so a recorder opens them on the spot. Where torch's
own way has no meaning either, OURS has one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch._ops import OpOverload

ENDINGS = ("_backward", "_backward_data", "_backward_for_cpu")


def embedding(grad: Tensor, indices: Tensor, rows: int, padding: int, by_frequency: bool) -> Tensor:
    """The gradient of a table of `rows` rows, looked up at `indices`: the row `padding` gets none."""
    flat, parts = indices.reshape(-1), grad.reshape(-1, grad.shape[-1])
    if by_frequency:
        counts = torch.zeros(rows, dtype=grad.dtype).index_add(0, flat, torch.ones(flat.shape, dtype=grad.dtype))
        parts = parts / counts[flat].unsqueeze(-1)
    if padding >= 0:
        parts = torch.where((flat == padding).unsqueeze(-1), 0.0, parts)
    return grad.new_zeros(rows, grad.shape[-1]).index_add(0, flat, parts)


OURS: dict[str, Callable[..., Any]] = {
    "aten.embedding_dense_backward.default": embedding,
}


@cache
def derivative(operation: OpOverload) -> Callable[..., Any] | None:
    """What computes a derivative in plain operators; None for an operator that is none, or cannot be opened."""
    if operation.namespace != "aten" or not operation._opname.endswith(ENDINGS):
        return None
    return OURS.get(str(operation)) or decomposition_table.get(operation)
