"""Ranks on a mesh of two axes: tensors cut over two dimensions, and gradients of inputs that only some ranks have."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed._functional_collectives import all_reduce
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import RowwiseParallel, parallelize_module

from samesame.evidence import Refinement, Refused
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


def test_a_mesh_says_how_many_ranks_there_are() -> None:
    expected = {"0": "shard(0) over a, shard(1) over b"}
    found = refine(product, tiles(False), (torch.randn(4, 6),), mesh={"a": 2, "b": 2}, expected=expected)
    assert (found.verdict, found.world_size) == ("refines", 4)


@pytest.mark.parametrize("mesh", [(2, 2), {"a": "2"}, {"a": 0}, {}])
def test_what_is_no_mesh_is_refused(mesh: Any) -> None:
    with pytest.raises(Refused, match="write how long each of its axes is"):
        refine(product, tiles(False), (torch.randn(4, 6),), world_size=4, mesh=mesh)


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


class Both(nn.Module):
    """Rows cut over one axis and columns over another, the gradient of the weight summed over the first, or not."""

    def __init__(self, mesh: Any, whole: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(Scaled().weight.detach().chunk(2)[mesh.get_local_rank("b")].clone())
        if whole:
            self.weight.register_hook(lambda grad: all_reduce(grad, "sum", mesh.get_group("a")))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.arange(1.0, 5.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight


@pytest.mark.parametrize("rows", [4, 2])
@pytest.mark.parametrize("whole, said", [(True, "refines"), (False, "does not refine")])
def test_gradients_of_an_output_begin_where_it_is_expected(rows: int, whole: bool, said: str) -> None:
    place = "shard(0) over a, shard(1) over b"
    found = refine(Scaled, lambda rank, ranks, mesh: Both(mesh, whole), (torch.randn(rows, 4),), world_size=4,
                   mesh={"a": 2, "b": 2}, backward=True, relations={"x": place}, expected={"0": place})
    assert found.verdict == said, plain_text(found)


@pytest.mark.parametrize("order", ["", " in the order of ranks 2, 3, 0, 1"])
def test_gradients_of_an_output_begin_in_the_order_in_which_it_lies(order: str) -> None:
    def distributed(rank: int, ranks: int) -> Any:
        place = (rank + 2) % 4 if order else rank
        return lambda x: x.chunk(4)[place].square()

    found = refine(lambda x: x.square(), distributed, (torch.randn(8, 2),), world_size=4, backward=True,
                   expected={"0": f"shard(0){order}", "grad.x": "partial"})
    assert found.verdict == "refines", plain_text(found)


def test_gradients_of_an_output_that_is_cut_over_the_second_axis() -> None:
    """Its pieces have the shape of those over the first one."""
    def distributed(rank: int, ranks: int, mesh: Any) -> Any:
        return lambda x: x.chunk(2)[mesh.get_local_rank("b")].square()

    found = refine(lambda x: x.square(), distributed, (torch.randn(4, 2),), world_size=4, mesh={"a": 2, "b": 2},
                   backward=True, expected={"0": "shard(0) over b", "grad.x": "partial over b"})
    assert found.verdict == "refines", plain_text(found)


@pytest.mark.parametrize("axis, order", [("a", "2, 0"), ("b", "1, 0")])
def test_gradients_of_an_output_that_lies_in_an_order_along_an_axis(axis: str, order: str) -> None:
    def distributed(rank: int, ranks: int, mesh: Any) -> Any:
        return lambda x: x.chunk(2)[1 - mesh.get_local_rank(axis)].square()

    place = {"0": f"shard(0) over {axis} in the order of ranks {order}", "grad.x": f"partial over {axis}"}
    found = refine(lambda x: x.square(), distributed, (torch.randn(8, 2),), world_size=4, mesh={"a": 2, "b": 2},
                   backward=True, expected=place)
    assert found.verdict == "refines", plain_text(found)
