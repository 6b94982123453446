"""What an operator of torch is given and what it writes into: the tensors that its schema says, lists of them too, and
the running statistics of a batch norm in training, of which the schema says nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils._pytree import tree_leaves

STATISTICS = ("running_mean", "running_var")


def tensors_written(operation: OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    """The tensors that a call writes into."""
    named = {argument.name: argument for argument in operation._schema.arguments}
    given = {**dict(zip(named, args, strict=False)), **kwargs}
    trains = bool(given.get("training", given.get("train", given.get("use_input_stats", False))))
    for name, value in given.items():
        alias = named[name].alias_info if name in named else None
        if (alias is not None and alias.is_write) or (trains and name in STATISTICS):
            yield from (leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor))


def is_told_by(results: Sequence[torch.Tensor], tensor: torch.Tensor) -> bool:
    """Whether what was written into a tensor is among the results, as of an operator in place."""
    return any(tensor.untyped_storage()._cdata == one.untyped_storage()._cdata for one in results)


def leaves_of(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for part in value:
            yield from leaves_of(part)
    elif isinstance(value, dict):
        yield from leaves_of(tuple(value.values()))
    else:
        yield value


def has_storage(tensor: torch.Tensor) -> bool:
    return tensor.layout is torch.strided
