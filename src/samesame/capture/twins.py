"""Twins: the pure operator that computes what a writing one writes, and what the writing one then returns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
from torch._ops import OpOverload

from samesame.operators.execute import written


@cache
def functional(operation: OpOverload) -> OpOverload | None:
    """The operator that computes what `operation` writes (`add` for `add_` and for `add.out`), if torch has it."""
    name = operation._opname
    in_place = name.endswith("_") and not name.endswith("__")
    packet = getattr(getattr(torch.ops, operation.namespace), name[:-1] if in_place else name, None)
    outs = () if in_place else written(operation)
    wanted = [(a.name, str(a.type)) for k, a in enumerate(operation._schema.arguments) if k not in outs]
    for overload in () if packet is None else packet.overloads():
        twin: OpOverload = getattr(packet, overload)
        if not written(twin) and [(a.name, str(a.type)) for a in twin._schema.arguments] == wanted:
            return twin
    return None


def positional(operation: OpOverload, given: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments by name in the way calls are usually written: by position as far as the schema allows."""
    args: list[Any] = []
    rest = dict(given)
    for argument in operation._schema.arguments:
        if argument.kwarg_only or argument.name not in rest:
            break
        args.append(rest.pop(argument.name))
    return tuple(args), rest


def returned(operation: OpOverload, given: Mapping[str, Any], fresh: list[Any]) -> Any:
    """What a writing operator returns: the arguments it wrote where its schema says so, and its other results."""
    left = iter(fresh)
    schema = operation._schema
    arguments = {alias_set(a): given.get(a.name) for a in schema.arguments if a.alias_info}
    out = [next(left) if r.alias_info is None else arguments[alias_set(r)] for r in schema.returns]
    return None if not out else out[0] if len(out) == 1 else tuple(out)


def alias_set(argument: Any) -> str:
    """The letter by which a schema says that a result is an argument."""
    return str(next(iter(argument.alias_info.before_set), ""))


def is_diagonal(x: torch.Tensor, size: Any, stride: Any, offset: int | None = None) -> bool:
    """Whether `as_strided` of these arguments is the diagonal of a matrix, as `fill_diagonal_` says it."""
    if x.dim() != 2 or not x.is_contiguous() or offset not in (None, x.storage_offset()):
        return False
    return tuple(size) == (min(x.shape),) and tuple(stride) == (x.shape[1] + 1,)
