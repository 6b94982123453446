"""Ranks on a mesh of two axes: tensors cut over two dimensions, and gradients of inputs that only some ranks have."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import RowwiseParallel, parallelize_module

from samesame.evidence import Refinement
from samesame.refine import refine
from samesame.report.refinement import plain_text


def weight() -> torch.Tensor:
    return torch.arange(24.0).reshape(4, 6).cos()


def product(x: torch.Tensor) -> torch.Tensor:
    return x @ weight().t()


def tiles(swapped: bool) -> Any:
    """Ranks with a part of the rows each, by their place along one axis, and of the columns, by the other."""

    def distributed(rank: int, ranks: int, mesh: Any) -> Any:
        row, column = divmod(rank, 2)[::-1] if swapped else divmod(rank, 2)
        return lambda x: x.chunk(2)[row] @ weight().chunk(2)[column].t()

    return distributed


def verdict(swapped: bool, expected: dict[str, str]) -> Refinement:
    return refine(product, tiles(swapped), (torch.randn(4, 6),), world_size=4, mesh={"a": 2, "b": 2}, expected=expected)


def test_an_output_may_be_cut_over_two_dimensions() -> None:
    text = "shard(1) over a, shard(0) over b"
    assert verdict(True, {"0": text}).verdict == "refines"
    other = verdict(False, {"0": text})
    assert (other.verdict, other.outputs[0].declare) == ("does not refine", "shard(0) over a, shard(1) over b")


class Loss(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Linear(4, 4, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(x).square().mean()


def trained(synchronised: bool = True) -> Refinement:
    """fully_shard over a plan of tensor parallelism: the weight is cut over both dimensions."""

    def distributed(rank: int, ranks: int, mesh: Any) -> nn.Module:
        model = parallelize_module(Loss(), mesh["tp"], {"down": RowwiseParallel(input_layouts=Replicate())})
        sharded = fully_shard(model, mesh=mesh["dp"])
        sharded.set_requires_gradient_sync(synchronised)
        return sharded

    return refine(Loss, distributed, (torch.randn(4, 4),), world_size=4, mesh={"dp": 2, "tp": 2}, backward=True,
                  relations={"x": "shard(0) over dp"}, expected={"0": "partial(avg) over dp"})


def test_a_gradient_is_due_where_its_weight_is_cut_over_two_dimensions() -> None:
    found = trained()
    assert found.verdict == "refines", plain_text(found)
    words = {output.name: output.words for output in found.outputs}
    assert words["grad.down.weight"] == "in pieces, each on its rank"
    assert words["grad.x"] == "2 times the output, in pieces: of each rank's own loss"


@pytest.mark.long
def test_gradients_that_are_not_reduced_fail() -> None:
    found = trained(synchronised=False)
    failing = {output.name for output in found.outputs if not output.holds}
    assert (found.verdict, failing) == ("does not refine", {"grad.down.weight"}), plain_text(found)
