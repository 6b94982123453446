"""Fully sharded data parallel, in plain operators.

`fully_shard` gathers a layer's weights before it runs and scatters the gradients after, from hooks, with three
operators of its own that pack many tensors into one. PACKING says what these do by views and copies, which the recorder
follows. Where a program turns that off, for all micro-batches but the last say, each rank keeps the gradient of the
whole weight for its own part of the batch: `unscattered` finds it.

FullyShardedDataParallel, which is older, lays the weights of a module one after another in a flat one, of which each
rank has a run: `parts_of` says which part of which weight lies where in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch._prims_common import make_contiguous_strides_for
from torch.distributed.fsdp import FSDPModule, FullyShardedDataParallel
from torch.distributed.fsdp._common_utils import clean_tensor_name
from torch.distributed.fsdp._flat_param import FlatParameter
from torch.nn.functional import pad


def gather_input(
    tensors: Sequence[Tensor], output: Tensor, sizes: Sequence[int], numel: int, rank: int
) -> tuple[Tensor, Tensor]:
    """This rank's tensors, one after another, and the memory that the gathering then fills, all of it."""
    return torch.cat([tensor.reshape(-1) for tensor in tensors]), output


def unpack(gathered: Tensor, sizes: Sequence[int], dim: int = 0, *, out: Sequence[Tensor]) -> None:
    """The gathered pieces, each in a tensor of its own."""
    for piece, place in zip(torch.split(gathered, list(sizes), dim), out, strict=True):
        place.copy_(piece.reshape(place.shape))


def pack(tensors: Sequence[Tensor], dim: int, chunks: int, *, out: Tensor) -> None:
    """Each tensor cut into equal chunks along `dim`, with zeros at the end where it does not come out even; the first
    chunks of all, then the second ones, …"""
    rows = []
    for tensor in tensors:
        tail = tensor.shape[dim + 1 :]
        missing = -tensor.shape[dim] % chunks
        even = pad(tensor, (0, 0) * len(tail) + (0, missing)) if missing else tensor
        rows.append(even.reshape(*tensor.shape[:dim], chunks, -1))
    one_by_one = torch.cat([row[k] for k in range(chunks) for row in rows]) if dim == 0 else torch.cat(rows, dim + 1)
    out.copy_(one_by_one.reshape(out.shape))


PACKING: dict[str, Callable[..., Any]] = {
    "fsdp.all_gather_copy_in.default": gather_input,
    "fsdp.split_with_sizes_copy.default": unpack,
    "fsdp.chunk_cat.default": pack,
}


def strided(x: Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None = None) -> Tensor | None:
    """`as_strided` as a slice and a reshape, where it is no more than that; None where it is more."""
    ordinary = tuple(make_contiguous_strides_for(tuple(size))) == tuple(stride)
    if not (ordinary and x.is_contiguous() and x.storage_offset() == 0):
        return None
    count = torch.Size(size).numel()
    flat = x.view(-1)
    return (flat if count == flat.numel() else flat.narrow(0, offset or 0, count)).view(size)


def unscattered(modules: Iterable[nn.Module]) -> dict[int, Tensor]:
    """Gradients of whole weights that were not scattered over ranks, by the id of the weight's shard."""
    found = {}
    sharded = (part for module in modules for part in module.modules() if isinstance(part, FSDPModule))
    for part in sharded:
        for group in part._get_fsdp_state()._fsdp_param_groups:
            for weight in group.fsdp_params:
                kept = weight.unsharded_accumulated_grad
                if kept is None and hasattr(weight, "_unsharded_param"):
                    kept = weight._unsharded_param.grad
                if kept is not None:
                    found[id(weight.sharded_param)] = kept
    return found


def parts_of(flat: FlatParameter, path: str) -> Iterator[tuple[str, int, int]]:
    """The weights of which a part lies in a flat one on this rank, by the names that they have without FSDP, and where
    in it. `path` is the flat one's own name."""
    above = clean_tensor_name(path).rpartition(".")[0]
    for name, told in zip(flat._fqns, flat._shard_param_infos, strict=True):
        start, count = told.offset_in_shard, told.numel_in_shard
        if start is not None and count is not None:        # some of it is on this rank
            yield clean_tensor_name(f"{above}.{name}" if above else name), start, start + count


def lying_in(tensor: Tensor, weights: Iterable[Tensor]) -> list[tuple[Tensor, int | None]] | None:
    """What lies one after another in the memory of a tensor: weights, with the element that they begin at, and numbers
    where there is none. None where these are not laid out so."""
    flat, found = tensor.detach().reshape(-1), list[tuple[Tensor, int | None]]()
    reached = first = int(tensor.storage_offset())
    for weight in sorted(weights, key=lambda weight: int(weight.storage_offset())):
        start, stop = int(weight.storage_offset()), int(weight.storage_offset()) + weight.numel()
        plain = tensor.is_contiguous() and weight.is_contiguous() and weight.dtype == tensor.dtype
        if not plain or start < reached or stop > first + flat.numel():
            return None
        found += [(flat[reached - first : start - first].clone(), None), (weight, start - first)]
        reached = stop
    found.append((flat[reached - first :].clone(), None))
    return [(part, at) for part, at in found if part.numel()]


def forget_views(modules: Iterable[nn.Module]) -> None:
    """Views of a flat weight that its modules hold since they were wrapped, of which autograd cannot be asked any more:
    the same without it. They are replaced before they are read."""
    for part in (part for module in modules for part in module.modules()):
        if isinstance(part, FullyShardedDataParallel) and part._handle is not None:
            for name, module, _ in part._handle.flat_param._param_infos:
                held = vars(module).get(name)
                if isinstance(held, Tensor):
                    vars(module)[name] = held.detach()
