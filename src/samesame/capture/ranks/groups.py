"""Process groups that a rank makes, in order.

torch numbers groups as they are made, and those who are to meet in one find each other by that number. So every rank
has to make the same groups in the same order, also those that it is not in; otherwise two groups go by one number, and
programs hang, fail or exchange tensors with a stranger. Groups that only their members make (`new_group` with
`use_local_synchronization=True`) go by the names of their members instead, and are left out here, as are those that
torch makes itself where a collective is given ranks.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import zip_longest
from typing import Any
from unittest.mock import patch

import torch.distributed as dist
from torch.distributed import distributed_c10d

from samesame.capture.ranks.world import Mismatch

Groups = list[tuple[int, ...]]


@contextmanager
def groups_noted(made: Groups) -> Iterator[None]:
    """Inside, a rank starts anew, and groups that all ranks have to make come into `made`, each as its ranks."""
    made.clear()
    make = distributed_c10d._new_group_with_tag
    arguments = inspect.signature(make)

    def noted(*args: Any, **options: Any) -> Any:
        group = make(*args, **options)
        given = arguments.bind(*args, **options)
        given.apply_defaults()
        told = given.arguments
        if not told["use_local_synchronization"] and not told["pg_tag"]:
            ranks = range(dist.get_world_size()) if told["ranks"] is None else told["ranks"]
            made.append(tuple(sorted(ranks) if told["sort_ranks"] else ranks))
        return group

    with patch.object(distributed_c10d, "_new_group_with_tag", noted):
        yield


@contextmanager
def same_groups(world_size: int) -> Iterator[list[Groups]]:
    """Inside, each rank notes its groups. Raises Mismatch in the end unless all have made the same in one order."""
    made: list[Groups] = [[] for _ in range(world_size)]
    yield made
    for rank, own in enumerate(made):
        for number, (mine, first) in enumerate(zip_longest(own, made[0]), 1):
            if mine != first:
                raise Mismatch(
                    f"rank {rank} makes {_spoken(mine)} as its process group {number}, rank 0 makes {_spoken(first)}; "
                    "all ranks have to make the same groups in one order (dist.new_group), also those they are not in",
                    (0, rank),
                )


def _spoken(group: tuple[int, ...] | None) -> str:
    return "none" if group is None else f"one of ranks {list(group)}"
