"""Several collectives' futures, awaited in one call."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch.futures import wait_all

from samesame.evidence import Refused
from samesame.refine import refine


class Sums(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(0) * x.square().sum(0)


class Parts(torch.nn.Module):
    def __init__(self, waiting) -> None:
        super().__init__()
        self.waiting = waiting

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        sums = [x.sum(0), x.square().sum(0)]
        self.waiting([dist.all_reduce(part, async_op=True).get_future() for part in sums])
        return sums[0] * sums[1]


def every_one(futures):
    torch.futures.wait_all(futures)


def of_one(futures):
    torch.futures.wait_all(futures[:1])


def collected(futures):
    torch.futures.collect_all(futures).wait()


@pytest.mark.parametrize("waiting, verdict", [
    (every_one, "refines"), (collected, "refines"), (of_one, "does not refine")
])
def test_who_waits_for_all_waits_for_each(waiting, verdict: str) -> None:
    found = refine(Sums, lambda rank, size: Parts(waiting), (torch.randn(4, 3),), world_size=2,
                   relations={"x": "shard(0)"})
    assert found.verdict == verdict


def test_what_is_asked_of_all_at_once_is_refused() -> None:
    def asked(futures):
        torch.futures.collect_all(futures).then(lambda done: done)

    with pytest.raises(Refused, match=r"wait for its futures one by one"):
        refine(Sums, lambda rank, size: Parts(asked), (torch.randn(4, 3),), world_size=2, relations={"x": "shard(0)"})


def test_what_joins_the_list_later_is_not_awaited() -> None:
    def waiting(futures):
        together = torch.futures.collect_all(begun := futures[:1])
        begun.append(futures[1])
        together.wait()

    found = refine(Sums, lambda rank, size: Parts(waiting), (torch.randn(4, 3),), world_size=2,
                   relations={"x": "shard(0)"})
    assert found.verdict == "does not refine"


def test_by_whatever_name_it_is_known() -> None:
    found = refine(Sums, lambda rank, size: Parts(wait_all), (torch.randn(4, 3),), world_size=2,
                   relations={"x": "shard(0)"})
    assert found.verdict == "refines"
