"""Fully sharded data parallel, in plain operators.

`fully_shard` gathers a layer's weights before it runs and scatters the gradients after, from hooks, with three
operators of its own that pack many tensors into one. PACKING says what these do by views and copies, which the recorder
follows. Where a program turns that off, for all micro-batches but the last say, each rank keeps the gradient of the
whole weight for its own part of the batch: `unscattered` finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch._prims_common import make_contiguous_strides_for
from torch.distributed.fsdp import FSDPModule
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
    out.copy_(torch.cat(rows, dim + 1).reshape(out.shape))


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
