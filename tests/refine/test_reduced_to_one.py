"""What a reduction to one rank leaves on the others is undefined: to look at it is a fault, to write there is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor

from samesame.evidence import Refused
from samesame.refine import refine

Left = Callable[[Tensor, Tensor], Tensor]


def verdict(left: Left, *, waits: bool = True) -> Any:
    """Of ranks that add x up on rank 0; rank 1 makes the output of what it has then, and of x."""

    def distributed(rank: int, world_size: int) -> Any:
        def run(x: Tensor) -> Tensor:
            y = x.clone()
            work = dist.reduce(y, 0, async_op=not waits)
            if work is not None:
                work.wait()
            return y if rank == 0 else left(y, x)

        return run

    return refine(lambda x: 2 * x, distributed, (torch.randn(4, 3),))


def by_rows(y: Tensor, x: Tensor) -> Tensor:
    y[:2] = 2 * x[:2]
    y[2:] = 2 * x[2:]
    return y


def by_columns(y: Tensor, x: Tensor) -> Tensor:
    for column in range(3):
        y[:, column] = 2 * x[:, column]
    return y


def all_but_one_column(y: Tensor, x: Tensor) -> Tensor:
    y[:, 0], y[:, 2] = 2 * x[:, 0], 2 * x[:, 2]
    return y


def a_written_column(y: Tensor, x: Tensor) -> Tensor:
    y[:, 1] = x[:, 1]
    return torch.stack([x[:, 0], y[:, 1], x[:, 2]], 1) * 2


def reduced_again(y: Tensor, x: Tensor) -> Tensor:
    return y.mul_(2)


@pytest.mark.parametrize("left", [
    lambda y, x: 2 * y,
    lambda y, x: y,
    lambda y, x: 2 * y.view(-1).clone().view(4, 3),
    lambda y, x: 2 * torch.cat([x[:2], y[2:]]),
    lambda y, x: 2 * (x + 0 * y),
    reduced_again,
    all_but_one_column,
])
@pytest.mark.parametrize("waits", [True, False])
def test_looking_at_what_is_left_does_not_refine(left, waits):
    found = verdict(left, waits=waits)
    assert found.verdict == "does not refine"
    assert found.stuck.startswith("rank 1 looks at ") and "only rank 0 has the result" in found.stuck


@pytest.mark.parametrize("left", [
    lambda y, x: 2 * x,
    lambda y, x: y.copy_(2 * x),
    lambda y, x: y.zero_() + 2 * x,
    lambda y, x: torch.zeros_like(y) + 2 * x,
    by_rows,
    by_columns,
    a_written_column,
])
def test_writing_there_refines(left):
    assert verdict(left).verdict == "refines"


def test_writing_there_by_index_is_refused():
    def by_index(y: Tensor, x: Tensor) -> Tensor:
        y[torch.tensor([0, 2])] = x[:2]
        return 2 * x

    with pytest.raises(Refused, match="writes by index into what holds nothing certain"):
        verdict(by_index)


def test_an_input_that_is_changed_may_not_be_left_so():
    def distributed(rank: int, world_size: int) -> Any:
        def run(x: Tensor) -> Tensor:
            x.abs_()
            y = x + 1
            dist.reduce(x, 0, op=dist.ReduceOp.MAX)
            return y

        return run

    assert refine(lambda x: x.abs_() + 1, distributed, (torch.randn(4),)).verdict == "does not refine"


def test_the_rank_that_gets_the_sum_may_hand_it_on():
    def distributed(rank: int, world_size: int) -> Any:
        def run(x: Tensor) -> Tensor:
            y = x.clone()
            dist.reduce(y, 1)
            dist.broadcast(y, 1)
            return y

        return run

    assert refine(lambda x: 3 * x, distributed, (torch.randn(4),), world_size=3).verdict == "refines"
