"""A process group of one: this process, as one rank of many, with nobody on the other side.

torch's fake process group answers every collective at once and moves no data, so that a single process can run the
program of any rank. Two things would betray that the others are missing. DTensor remembers offsets and plans per mesh
and takes the meshes of two ranks for one, so its memory is cleared between ranks. And a whole tensor that is dealt out
to the ranks while the program is built (`distribute_tensor`) has to arrive: every rank builds the same whole, so each
takes its own part.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch.distributed import device_mesh, distributed_c10d
from torch.distributed.tensor import (
    DTensor,
    _api,
    _dtensor_spec,
    _random,
    _redistribute,
    _sharding_prop,
    _utils,
    placement_types,
)
from torch.distributed.tensor import _collective_utils as collective_utils
from torch.testing._internal.distributed.fake_pg import FakeStore

from samesame.capture.ranks.ddp import hooks_awaited
from samesame.capture.ranks.devices import on_the_cpu
from samesame.capture.ranks.libraries import forgotten
from samesame.capture.ranks.waiting import futures_together
from samesame.evidence import Refused

MEMORISING = (
    _api, _dtensor_spec, _redistribute, _sharding_prop, _utils, collective_utils, device_mesh, placement_types
)


@contextmanager
def one_of(rank: int, world_size: int) -> Iterator[None]:
    """Inside, this process is rank `rank` of `world_size`. Raises Refused where it already belongs to a group."""
    if dist.is_initialized():
        raise Refused("this process belongs to a process group; call torch.distributed.destroy_process_group() first")
    forget()
    log = logging.getLogger("torch._subclasses.fake_tensor")               # says at length what an exception says too
    level = log.level
    environment = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": world_size, "LOCAL_WORLD_SIZE": world_size}
    with patch.object(sys, "excepthook", sys.excepthook):  # torch's own begins tracebacks with the rank, from then on
        dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=world_size)
    try:
        log.setLevel(logging.CRITICAL)
        named = patch.dict(os.environ, {name: str(value) for name, value in environment.items()})
        with (named, forgotten(), of_any_backend(), telling_objects(), hooks_awaited(), futures_together(),
              on_the_cpu()):
            yield
    finally:
        log.setLevel(level)
        if dist.is_initialized():
            dist.destroy_process_group()
        forget()


@contextmanager
def of_any_backend() -> Iterator[None]:
    """Inside, a group of any backend is one of a process that is alone."""
    make = distributed_c10d._new_process_group_helper

    def alone(size: int, rank: int, ranks: Any, backend: Any, *more: Any, **options: Any) -> Any:
        return make(size, rank, ranks, "fake", *more, **{**options, "backend_options": None})

    with patch.object(distributed_c10d, "_new_process_group_helper", alone):
        yield


@contextmanager
def telling_objects() -> Iterator[None]:
    """Inside, an object that ranks send each other is bytes in a tensor like others, which a recorder can follow: the
    same ones for equal objects, whichever of their parts are one."""

    def to_tensor(thing: Any, device: Any, group: Any) -> tuple[torch.Tensor, torch.Tensor]:
        written = BytesIO()
        pickler = distributed_c10d._pickler(written)
        pickler.fast = True                                # writes a part that occurs twice twice
        pickler.dump(thing)
        told = torch.tensor(list(written.getvalue()), dtype=torch.uint8)
        return told, torch.tensor([told.numel()])

    with patch.object(distributed_c10d, "_object_to_tensor", to_tensor):
        yield


@contextmanager
def dealing() -> Iterator[None]:
    """Inside, what one rank deals out to all arrives, taken from this rank's own copy of the whole."""

    def scatter(output: torch.Tensor, parts: list[torch.Tensor], mesh: Any, mesh_dim: int = 0, **_: Any) -> None:
        output.copy_(parts[mesh.get_local_rank(mesh_dim)])

    with patch.object(placement_types, "mesh_scatter", scatter):
        yield


def forget() -> None:
    """Clear what DTensor remembers of meshes: it takes those of different ranks for one."""
    for module in MEMORISING:
        for thing in list(vars(module).values()):
            if hasattr(thing, "cache_clear") and not isinstance(thing, type):
                thing.cache_clear()
    propagator = DTensor._op_dispatcher.sharding_propagator
    propagator.propagate_op_sharding.cache_clear()                              # type: ignore[no-untyped-call]
    torch._C._clear_DTensor_sharding_propagator_cache()
    _redistribute.clear_redistribute_planner_cache()
    _random._rng_tracker = None
