"""What ranks ask: of each other, while they are recorded one by one, and of data."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist

from samesame.evidence import Refinement, Refused
from samesame.refine import refine
from samesame.report.refinement import plain_text


def gathered(x: torch.Tensor, rank: int, ranks: int) -> torch.Tensor:
    """Parts of different sizes, padded to the largest: the ranks tell each other how much each has."""
    sizes = [torch.zeros((), dtype=torch.long) for _ in range(ranks)]
    dist.all_gather(sizes, torch.tensor(x.shape[0]))
    longest = int(torch.stack(sizes).max())
    padded = torch.cat([x, x.new_zeros(longest - x.shape[0], x.shape[1])])
    parts = [torch.empty_like(padded) for _ in range(ranks)]
    dist.all_gather(parts, padded)
    return torch.cat([part[: size.item()] for part, size in zip(parts, sizes, strict=True)])


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def uneven(rank: int, ranks: int) -> Any:
    return lambda x: gathered(x[[slice(0, 1), slice(1, 6)][rank]] * 2, rank, ranks)


def test_ranks_tell_each_other_sizes() -> None:
    found = refine(double, uneven, (torch.randn(6, 3),), world_size=2)
    assert (found.verdict, found.provided) == ("refines", []), plain_text(found)


def test_a_part_that_is_lost_on_the_way_is_found() -> None:
    def lost(rank: int, ranks: int) -> Any:
        return lambda x: gathered(x[[slice(0, 1), slice(0, 5)][rank]] * 2, rank, ranks)

    assert refine(double, lost, (torch.randn(6, 3),), world_size=2).verdict == "does not refine"


def test_objects_are_told_in_turn() -> None:
    """Each rank hears of the one before it, and only then tells the next."""

    def distributed(rank: int, ranks: int) -> Any:
        def run(x: torch.Tensor) -> torch.Tensor:
            number = torch.tensor(1)
            if rank:
                dist.recv(number, rank - 1)
            told = torch.tensor(int(number) + 1)
            if rank + 1 < ranks:
                dist.send(told, rank + 1)
            last = told.clone()
            dist.broadcast(last, ranks - 1)
            return x * int(last) / 2

        return run

    found = refine(double, distributed, (torch.randn(3),), world_size=3)
    assert found.verdict == "refines", plain_text(found)


def test_who_waits_for_an_answer_that_never_comes_waits_for_ever() -> None:
    def distributed(rank: int, ranks: int) -> Any:
        def run(x: torch.Tensor) -> torch.Tensor:
            number = torch.tensor(2)
            if rank == 0:
                dist.recv(number, 1)
            return x * int(number)

        return run

    found = refine(double, distributed, (torch.randn(3),), world_size=2)
    assert found.verdict == "does not refine" and "rank 0 waits for recv" in str(found.stuck)


def asserting(test: Any) -> Refinement:
    def distributed(rank: int, ranks: int) -> Any:
        def run(x: torch.Tensor) -> torch.Tensor:
            part = x.chunk(2)[rank].sum()
            dist.all_reduce(part)
            assert test(part, x)
            return x * 2 + (part - x.sum())

        return run

    return refine(double, distributed, (torch.randn(4),), world_size=2)


def test_an_answer_that_is_the_same_on_all_data_is_a_condition() -> None:
    found = asserting(lambda part, x: part.isfinite())
    assert found.verdict == "refines", plain_text(found)
    assert len(found.provided) == 1 and found.provided[0].endswith("gives True"), found.provided
    assert found.provided[0].startswith("`assert test(part, x)`")


@pytest.mark.parametrize("test", [lambda part, x: x[0] > 0 or True, lambda part, x: 1 + int(x[0] > 0)])
def test_an_answer_that_data_decide_is_refused(test: Any) -> None:
    with pytest.raises(Refused, match="depends on data"):
        asserting(test)
