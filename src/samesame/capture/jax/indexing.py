"""Indexing: JAX's gather, scatter and slices at computed places, as far as torch has an operator for them.

Looked up are rows along one dimension (`table[ids]`, `x[:, i]`), or one element a row (`take_along_axis`). JAX adds the
size to negative indices before it looks up; torch does so itself, so that step is left out where it is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class Unknown(Exception):
    """A way to use a primitive that torch has no operator for."""


def dtype_of(variable: Any) -> torch.dtype:
    found: torch.dtype = getattr(torch, str(variable.aval.dtype))
    return found


def unwrapped(atom: Any, read: Any, size: int, made: dict[Any, Any], value: Callable[[Any], Any]) -> Any:
    """An index before the size was added where it is negative: `select(i < 0, i, i + size)`, perhaps in other
    shapes."""
    equation = None if hasattr(atom, "val") else made.get(atom)
    if equation is None:
        return read
    name = equation.primitive.name
    if name in ("broadcast_in_dim", "reshape", "convert_element_type"):
        inner = equation.invars[0]
        before = unwrapped(inner, None, size, made, value)
        if isinstance(before, torch.Tensor):
            return before.reshape(read.shape) if before.numel() == read.numel() else read
        return before if before is not None else read
    if name == "select_n":
        asked, plain, added = equation.invars
        asks = None if hasattr(asked, "val") else made.get(asked)
        adds = None if hasattr(added, "val") else made.get(added)
        if asks is not None and adds is not None and (asks.primitive.name, adds.primitive.name) == ("lt", "add") \
                and asks.invars[0] is plain and adds.invars[0] is plain \
                and getattr(asks.invars[1], "val", 1) == 0 and getattr(adds.invars[1], "val", None) == size:
            return value(plain)
    return read


def kept_inside(index: Any, size: int, mode: Any) -> Any:
    """Indices as `mode="clip"` takes them; in every other mode they are in range, as a lookup's indices are."""
    if "CLIP" not in str(mode):
        return index
    return index.clamp(0, size - 1) if isinstance(index, torch.Tensor) else min(max(int(index), 0), size - 1)


def gathered(equation: Any, read: list[Any], made: dict[Any, Any], value: Callable[[Any], Any]) -> Any:
    x, params = read[0], equation.params
    numbers, sizes = params["dimension_numbers"], params["slice_sizes"]
    index = read[1]
    batching = tuple(numbers.operand_batching_dims)
    if len(numbers.start_index_map) != 1 or numbers.collapsed_slice_dims != numbers.start_index_map:
        raise Unknown("it looks up along several dimensions, or more than one row at a time")
    dim = numbers.start_index_map[0]
    if batching:
        if sorted((*batching, dim)) != list(range(x.dim())) or numbers.offset_dims or \
                tuple(numbers.start_indices_batching_dims) != tuple(range(len(batching))) or dim != x.dim() - 1:
            raise Unknown("it looks up in a batch along a dimension that is not the last")
        return torch.gather(x, dim, kept_inside(index.squeeze(-1), int(x.shape[dim]), params["mode"]).long())
    if any(size != int(x.shape[d]) for d, size in enumerate(sizes) if d != dim):
        raise Unknown("it takes parts of rows")
    if "CLIP" not in str(params["mode"]):                  # torch adds the size itself
        index = unwrapped(equation.invars[1], index, int(x.shape[dim]), made, value)
    index = index.squeeze(-1) if isinstance(index, torch.Tensor) else index
    index = kept_inside(index, int(x.shape[dim]), params["mode"])
    rest = [d for d in range(x.dim()) if d != dim]
    if not isinstance(index, torch.Tensor) or index.dim() == 0:
        return x.select(dim, index) if not isinstance(index, torch.Tensor) else x.movedim(dim, 0)[index.long()]
    found = x.permute([dim, *rest])[index.long()]
    batch, offsets = iter(range(index.dim())), iter(range(index.dim(), found.dim()))
    order = [next(offsets) if d in numbers.offset_dims else next(batch) for d in range(found.dim())]
    return found.permute(order) if order != sorted(order) else found


def scattered(adds: bool) -> Callable[..., Any]:
    def applied(equation: Any, read: list[Any], made: dict[Any, Any], value: Callable[[Any], Any]) -> Any:
        x, index, updates = read
        numbers = equation.params["dimension_numbers"]
        if len(numbers.scatter_dims_to_operand_dims) != 1 or numbers.operand_batching_dims or \
                tuple(numbers.inserted_window_dims) != tuple(numbers.scatter_dims_to_operand_dims):
            raise Unknown("it writes along several dimensions")
        dim = numbers.scatter_dims_to_operand_dims[0]
        places = index.reshape(-1).long()
        if not isinstance(updates, torch.Tensor):
            updates = torch.full(equation.invars[2].aval.shape, updates, dtype=x.dtype)
        window = list(numbers.update_window_dims)
        batch = [d for d in range(updates.dim()) if d not in window]
        rows = updates.permute([*batch, *window]).reshape(-1, *(updates.shape[d] for d in window)).movedim(0, dim)
        if adds:
            return torch.index_add(x, dim, places, rows)
        if not equation.params["unique_indices"] and places.numel() > 1:
            raise Unknown("two updates may be of one place")
        return torch.index_copy(x, dim, places, rows)

    return applied


def places(start: Any, size: int, most: int) -> Any:
    """Where a slice begins that must fit; a place that was computed stays a tensor."""
    return start.clamp(0, most - size) if isinstance(start, torch.Tensor) else min(max(int(start), 0), most - size)


def sliced(equation: Any, read: list[Any], made: dict[Any, Any], value: Callable[[Any], Any]) -> Any:
    x, *starts = read
    for dim, (start, size) in enumerate(zip(starts, equation.params["slice_sizes"], strict=True)):
        most = int(x.shape[dim])
        if size == most:
            continue
        begin = places(start, size, most)
        if isinstance(begin, torch.Tensor):
            x = x.index_select(dim, begin + torch.arange(size))
        else:
            x = x.narrow(dim, begin, size)
    return x


def updated(equation: Any, read: list[Any], made: dict[Any, Any], value: Callable[[Any], Any]) -> Any:
    x, update, *starts = read
    cut = [d for d in range(x.dim()) if int(update.shape[d]) != int(x.shape[d])]
    if not cut:
        return update
    if len(cut) > 1:
        raise Unknown("it writes a part of several dimensions")
    (dim,) = cut
    size = int(update.shape[dim])
    begin = places(starts[dim], size, int(x.shape[dim]))
    if isinstance(begin, torch.Tensor):
        return torch.index_copy(x, dim, (begin + torch.arange(size)).long(), update)
    parts = [x.narrow(dim, 0, begin), update, x.narrow(dim, begin + size, int(x.shape[dim]) - begin - size)]
    return torch.cat([part for part in parts if part.shape[dim]], dim)


PRIMITIVES: dict[str, Callable[..., Any]] = {
    "gather": gathered,
    "scatter": scattered(False),
    "scatter-add": scattered(True),
    "scatter_add": scattered(True),
    "dynamic_slice": sliced,
    "dynamic_update_slice": updated,
}
