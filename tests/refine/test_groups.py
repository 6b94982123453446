"""Process groups: all ranks have to make the same ones in one order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh

from samesame.refine import refine

Pairs = list[list[int]]


def summed_in(order: Callable[[int], Pairs], **options: Any) -> Callable[[int, int], Any]:
    """Ranks that make groups in an order of their own; 1 and 2 then add up what they have."""

    def distributed(rank: int, world_size: int) -> Any:
        groups = {tuple(pair): dist.new_group(pair, **options) for pair in order(rank)}

        def run(x: torch.Tensor) -> torch.Tensor:
            y = x.clone()
            if rank > 0:
                dist.all_reduce(y, group=groups[1, 2])
            return y if rank > 0 else 2 * y

        return run

    return distributed


def verdict(distributed: Callable[..., Any], world_size: int = 3) -> Any:
    return refine(lambda x: 2 * x, distributed, (torch.randn(4),), world_size=world_size)


def turned(rank: int) -> Pairs:
    return [[1, 2], [0, 1]] if rank == 2 else [[0, 1], [1, 2]]


def members_only(rank: int) -> Pairs:
    return [pair for pair in ([0, 1], [1, 2]) if rank in pair]


@pytest.mark.parametrize("order, told", [
    (turned, "rank 2 makes one of ranks [1, 2] as its process group 1, rank 0 makes one of ranks [0, 1]"),
    (members_only, "rank 1 makes one of ranks [1, 2] as its process group 2, rank 0 makes none"),
])
def test_groups_in_another_order_do_not_refine(order, told):
    found = verdict(summed_in(order))
    assert found.verdict == "does not refine" and found.stuck.startswith(told)


@pytest.mark.parametrize("order, options", [
    (lambda rank: [[0, 1], [1, 2]], {}),
    (lambda rank: [[1, 0], [1, 2]] if rank == 0 else [[0, 1], [1, 2]], {}),         # torch sorts ranks
    (turned, {"use_local_synchronization": True}),
    (members_only, {"use_local_synchronization": True}),
])
def test_groups_in_one_order_refine(order, options):
    assert verdict(summed_in(order, **options)).verdict == "refines"


def test_a_mesh_makes_the_same_groups_on_all_ranks():
    def distributed(rank: int, world_size: int) -> Any:
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        flat = mesh["dp", "tp"]._flatten("all")

        def run(x: torch.Tensor) -> torch.Tensor:
            y = x.clone()
            dist.all_reduce(y, group=mesh["tp"].get_group())
            dist.all_reduce(y, group=flat.get_group())
            return y / 4

        return run

    assert verdict(distributed, 4).verdict == "refines"
