"""Derivatives: what autograd runs, in plain operators, each with the line that it is a derivative of.

Most derivatives that autograd computes are operators of their own (`gelu_backward`, `native_layer_norm_backward`) that
torch can also write in terms of others. The others have meanings, so a recorder opens them on the spot; not where the
derivative has a guard, which is known as one only while it is whole (`operators/ideal`). Where torch's own way has no
meaning either, OURS has one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch._ops import OpOverload
from torch.autograd.graph import _engine_run_backward

from samesame.graph import NOWHERE, Origin
from samesame.operators.ideal import is_guarded
from samesame.programs.origins import users_line

LEADS_BACK = _engine_run_backward.__code__
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


def log_sigmoid(grad: Tensor, x: Tensor, kept: Tensor) -> Tensor:
    """The gradient of log σ(x), which is σ(−x). What the forward pass has kept for it differs between devices."""
    return grad * torch.sigmoid(-x)


def zeros(shape: Sequence[int], **kind: Any) -> Tensor:
    """Zeros that torch gives no memory, for a derivative that is nowhere felt."""
    return torch.zeros(shape, **kind)


def zeros_of(batch: Tensor, like: Tensor, *, self_num_batch_dims: int = 0) -> Tensor:
    """Zeros of the second's shape for each entry of the first's batch."""
    return like.new_zeros((*batch.shape[:self_num_batch_dims], *like.shape))


OURS: dict[str, Callable[..., Any]] = {
    "aten.embedding_dense_backward.default": embedding,
    "aten.log_sigmoid_backward.default": log_sigmoid,
    "aten._efficientzerotensor.default": zeros,
    "aten._new_zeros_with_same_feature_meta.default": zeros_of,
}


@cache
def derivative(operation: OpOverload) -> Callable[..., Any] | None:
    """What computes a derivative in plain operators; None for an operator that is none, stays whole, or cannot be
    opened."""
    own = OURS.get(str(operation))
    if own is not None or operation.namespace != "aten" or not operation._opname.endswith(ENDINGS):
        return own
    if is_guarded(str(operation)):
        return None
    return decomposition_table.get(operation)


class Lines:
    """Where the program was for each operator that autograd counts, by its number."""

    def __init__(self) -> None:
        self.known: dict[int, Origin] = {}

    def note(self, here: Callable[[], Origin]) -> None:
        """Before an operator: where the program is, if it is not on its way back."""
        if torch._C._current_autograd_node() is None:
            self.known.setdefault(torch._C._autograd._get_sequence_nr() - 1, here())

    def here(self, forward: Callable[[], Origin]) -> Origin:
        """Where the program is; on its way back, where it was for the operator whose derivative this is."""
        own = users_line(LEADS_BACK)                       # a hook, or a derivative written by the user
        node = torch._C._current_autograd_node()
        if own.file or node is None:
            return own if own.file else forward()
        return self.known.get(node._sequence_nr(), NOWHERE)
