"""Operators of higher order, which are given functions: `cond`, `scan`, `flex_attention` and their like.

Each is opened into what it does where nobody looks, in torch's other operators. torch has such a definition for most;
the few that only choose and repeat are spelled out here, since torch's own ask that no mode be on. A `cond` on a
tensor's value asks for that value, and is refused as any branch on data is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._ops import HigherOrderOperator


def cond(chosen: Any, then: Callable[..., Any], otherwise: Callable[..., Any], operands: Sequence[Any] = ()) -> Any:
    return then(*operands) if chosen else otherwise(*operands)


def applied(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    return function(*operands)


def subgraph(function: Callable[..., Any], identifier: str, *operands: Any) -> Any:
    return function(*operands)


def scan(
    step: Callable[..., Sequence[Any]], first: Sequence[Any], rows: Sequence[torch.Tensor], others: Sequence[Any] = ()
) -> list[Any]:
    """What is carried on, step by step, and what each step gives, stacked."""
    carried, given = list(first), []
    for row in range(rows[0].shape[0]):
        found = list(step(*carried, *(tensor.select(0, row) for tensor in rows), *others))
        carried, each = found[: len(carried)], found[len(carried) :]
        given.append(each)
    return [*carried, *(torch.stack(column) for column in zip(*given, strict=True))]


SPELLED_OUT: dict[str, Callable[..., Any]] = {
    "cond": cond, "strict_mode": applied, "invoke_subgraph": subgraph, "scan": scan,
}


def definition(operation: Any) -> Callable[..., Any] | None:
    """What an operator of higher order does, in torch's other operators; None for any other operator, and where torch
    has no such definition."""
    if not isinstance(operation, HigherOrderOperator):
        return None
    spelled_out = SPELLED_OUT.get(str(operation))
    return spelled_out or operation.py_kernels.get(torch._C.DispatchKey.CompositeExplicitAutograd)
