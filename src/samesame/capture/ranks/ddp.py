"""Distributed data parallel: the reducer that collects gradients, made to be seen.

DistributedDataParallel copies each gradient into its place in a long tensor, a bucket, divides by the number of ranks
and adds up whole buckets over ranks while the backward pass still runs, and copies the sums back. What it does itself
goes through torch's dispatcher, where a recorder sees it, with two exceptions. Buckets are made before it listens, so
each is introduced when it is first met: as one tensor, of which the places of gradients are slices. So are the marks
that it keeps of weights which are used, where it looks for others. And the reducer
waits for a result that a process group without others never gives; `averaged` is a hook that torch runs in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch
from weakref import WeakSet

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from samesame.capture.ranks.waiting import IN_HOOK, Future, arrived
from samesame.evidence import Refused

_OPEN: WeakSet[nn.Module] = WeakSet()           # those that call `averaged` already


def averaged(group: Any, bucket: Any) -> Any:
    """What the reducer does with a bucket: the mean over ranks. Returns a future of the result."""
    buffer = bucket.buffer().div_(group.size())
    dist.all_reduce(buffer, group=group)
    return arrived(buffer)


@contextmanager
def hooks_awaited() -> Iterator[None]:
    """Inside, communication hooks that a program registers hand to the reducer what is there already. The reducer waits
    at the end of the backward pass, so what a hook has begun is under way while those of later buckets run."""
    register = DistributedDataParallel.register_comm_hook

    def registered(self: DistributedDataParallel, state: Any, hook: Callable[..., Any]) -> None:
        lingering: list[Any] = []                          # of the rank, once a hook has left something under way

        @wraps(hook)
        def awaited(state: Any, bucket: Any) -> Any:
            token = IN_HOOK.set(True)
            try:
                coming = hook(state, bucket)
            finally:
                IN_HOOK.reset(token)
            if isinstance(coming, Future):
                waiting, coming = coming.waiting, arrived(coming.wait())
                waiting.under_way.linger(waiting.begun)
                lingering.append(waiting.under_way)
            for under_way in lingering if bucket.is_last() else ():
                under_way.lingering.clear()
            return coming

        register(self, state, awaited)
        _OPEN.add(self)

    with patch.object(DistributedDataParallel, "register_comm_hook", registered):
        yield


def open_reducers(modules: Iterable[nn.Module]) -> set[int]:
    """Make the reducers in these modules call collectives that can be seen; how many elements their buckets have.

    Raises Refused where a hook was registered before anybody listened.
    """
    sizes = set[int]()
    for part in _parallel(modules):
        if part._comm_hooks and part not in _OPEN:
            raise Refused(
                "DistributedDataParallel was given a communication hook before its rank was made, which cannot be "
                "recorded; register it in distributed(rank, world_size)"
            )
        if part not in _OPEN:
            part.register_comm_hook(part.process_group, lambda group, bucket: averaged(group, bucket))
            _OPEN.add(part)
        sizes |= {bucket.buffer().numel() for bucket in part.reducer._get_zeros_like_grad_buckets()}
    return sizes


def _parallel(modules: Iterable[nn.Module]) -> Iterator[DistributedDataParallel]:
    for module in modules:
        yield from (part for part in module.modules() if isinstance(part, DistributedDataParallel))


def marks_of(modules: Iterable[nn.Module]) -> set[int]:
    """How many weights the reducers have that look for unused ones: each keeps a mark for every weight."""
    return {len(part._module_parameters) for part in _parallel(modules) if part.find_unused_parameters}


def is_marks(tensor: torch.Tensor, counts: set[int]) -> bool:
    """Whether a tensor is the marks of a reducer, one after another in memory of their own."""
    alone = tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()
    return tensor.dtype == torch.int32 and alone and tensor.dim() == 1 and tensor.numel() in counts


def bucket_of(tensor: torch.Tensor, sizes: set[int]) -> torch.Tensor | None:
    """The bucket that a place of a gradient lies in, whole; None for a tensor of another kind."""
    storage = tensor.untyped_storage()
    size, odd = divmod(storage.nbytes(), tensor.element_size())
    if odd or size not in sizes or not tensor.is_contiguous():
        return None
    bucket = torch.empty(0, dtype=tensor.dtype)
    bucket.set_(storage, 0, (size,), (1,))
    return bucket


def place_in(bucket: torch.Tensor, tensor: torch.Tensor, start: int = 0) -> torch.Tensor:
    """The place in a bucket where a tensor lies, taken out of it by views that a recorder can follow. The bucket begins
    at the number `start` of its memory."""
    return bucket.narrow(0, tensor.storage_offset() - start, tensor.numel()).view(tensor.shape)
