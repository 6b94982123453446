"""assert_refines fails with the report."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist

import samesame
from samesame import assert_refines


def program(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x @ y


def reducing(rank: int, ranks: int):
    def run(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        part = x @ y
        dist.all_reduce(part)
        return part

    return run


def example() -> dict[str, torch.Tensor]:
    return {"x": torch.randn(3, 6), "y": torch.randn(6, 2)}


CUT = {"x": "shard(1)", "y": "shard(0)"}


def test_the_function_is_exported_beside_its_package() -> None:
    assert callable(samesame.refine) and not isinstance(samesame.refine, type(samesame))


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_reduction_refines_also_where_the_last_piece_is_smaller(ranks: int) -> None:
    verdict = assert_refines(program, reducing, example, world_size=ranks, relations=CUT)
    assert verdict.outputs[0].kind == "replicated"


def test_a_sum_that_nobody_took_fails_with_the_report() -> None:
    with pytest.raises(AssertionError, match="a sum over ranks that nobody took"):
        assert_refines(program, lambda rank, ranks: program, example, relations=CUT)
