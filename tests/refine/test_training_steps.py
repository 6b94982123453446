"""Whole steps of training: what the optimizer leaves in the weights, of which each rank steps a share."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from samesame.refine import refine
from samesame.report.refinement import plain_text


class Step(nn.Module):
    """A module that takes a step itself: it is recorded with gradients, and always from where it began."""

    def __init__(self, model: nn.Module, optimizer: Any) -> None:
        super().__init__()
        self.model, self.optimizer = model, optimizer

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> dict[str, torch.Tensor]:
        self.optimizer.zero_grad()
        (self.model(x) - y).square().mean().backward()
        self.optimizer.step()
        return {name.removeprefix("module."): weight.detach().clone() for name, weight in self.model.named_parameters()}


def verdict(averaged: bool) -> Any:
    def sequential() -> Step:
        model = nn.Linear(3, 2)
        return Step(model, torch.optim.Adam(model.parameters(), lr=0.1))

    def distributed(rank: int, ranks: int) -> Step:
        model = DistributedDataParallel(nn.Linear(3, 2)) if averaged else nn.Linear(3, 2)
        return Step(model, ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.1))

    given = torch.randn(4, 3), torch.randn(4, 2)
    return refine(sequential, distributed, given, world_size=2, relations={"x": "shard(0)", "y": "shard(0)"})


def test_ranks_that_step_a_share_of_the_weights_each_refine() -> None:
    found = verdict(averaged=True)
    assert found.verdict == "refines", plain_text(found)
    assert any(output.name == "model.weight after the call" for output in found.outputs)


@pytest.mark.long
def test_steps_by_gradients_of_the_own_part_fail() -> None:
    assert verdict(averaged=False).verdict == "does not refine"


def sharded_in_parts(clipped: float) -> Any:
    """fully_shard on a layer inside fully_shard: what it was doing when an attempt without gradients ended is kept in
    objects of torch's own, so the next attempt begins with a program made anew."""

    def step(model: nn.Module, most: float) -> nn.Module:
        return Clipped(model, torch.optim.SGD(model.parameters(), lr=0.5), most)

    def distributed(rank: int, ranks: int, mesh: Any) -> nn.Module:
        model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2, bias=False))
        fully_shard(model[0], mesh=mesh)
        return step(fully_shard(model, mesh=mesh), clipped)

    given = torch.randn(4, 2), torch.randn(4, 2)
    return refine(lambda: step(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2, bias=False)), 0.05), distributed, given,
                  world_size=2, mesh={"dp": 2}, relations={"x": "shard(0)", "y": "shard(0)"}, timeout=60)


class Clipped(Step):
    def __init__(self, model: nn.Module, optimizer: Any, most: float) -> None:
        super().__init__(model, optimizer)
        self.most = most

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
        self.optimizer.zero_grad()
        (self.model(x) - y).square().mean().backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.most)
        self.optimizer.step()
        return norm.full_tensor() if isinstance(norm, DTensor) else norm


def test_a_layer_sharded_inside_a_sharded_model_steps_as_the_whole_one() -> None:
    found = sharded_in_parts(0.05)
    assert found.verdict == "refines", plain_text(found)
    assert any(output.name == "model.0.weight after the call" for output in found.outputs)


@pytest.mark.long
def test_gradients_that_are_clipped_at_another_norm_fail() -> None:
    found = sharded_in_parts(0.04)
    assert found.verdict == "does not refine"
    assert {output.name for output in found.outputs if output.holds} == {"0"}


class TwoHeads(nn.Module):
    def __init__(self, other: bool = False) -> None:
        super().__init__()
        self.first, self.second, self.other = nn.Linear(3, 2), nn.Linear(3, 2), other

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(x) if self.other else self.first(x)


def with_unused(other_on: tuple[bool, bool]) -> Any:
    """Each rank runs one of two heads; the reducer finds the other one unused."""

    def step(model: nn.Module) -> Step:
        return Step(model, torch.optim.SGD(model.parameters(), lr=0.5))

    def distributed(rank: int, ranks: int) -> Step:
        return step(DistributedDataParallel(TwoHeads(other_on[rank]), find_unused_parameters=True))

    given, cut = (torch.randn(4, 3), torch.randn(4, 2)), {"x": "shard(0)", "y": "shard(0)"}
    return refine(lambda: step(TwoHeads()), distributed, given, relations=cut, timeout=60)


def test_weights_that_no_rank_uses_are_left_as_they_were() -> None:
    found = with_unused((False, False))
    assert found.verdict == "refines", plain_text(found)
    assert not any("second" in output.name and "after" in output.name for output in found.outputs)


@pytest.mark.long
def test_weights_that_one_rank_uses_are_stepped_on_every_rank() -> None:
    found = with_unused((False, True))
    failing = {output.name for output in found.outputs if not output.holds}
    assert found.verdict == "does not refine", plain_text(found)
    assert {"first.weight", "second.weight", "second.bias"} <= failing


class Losing(nn.Module):
    """A module that computes gradients itself, of the mean over its rows, and leaves them at its weights."""

    def __init__(self, ranks: int = 1, averaged: bool = True) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.ranks, self.averaged = ranks, averaged

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        loss = self.linear(x).square().mean()
        loss.backward()
        if self.averaged:
            for weight in self.parameters():
                dist.all_reduce(weight.grad)
                weight.grad /= self.ranks
        loss = loss.detach().clone()
        dist.all_reduce(loss)
        return loss / self.ranks


def left(averaged: bool) -> Any:
    return refine(Losing, lambda _, ranks: Losing(ranks, averaged), (torch.randn(4, 3),), world_size=2,
                  relations={"x": "shard(0)"})


def test_gradients_that_a_program_leaves_are_compared() -> None:
    found = left(averaged=True)
    assert found.verdict == "refines", plain_text(found)
    assert {output.name for output in found.outputs} >= {"grad.linear.weight after the call"}
    assert not [words for words in found.provided if "gradients" in words]


def test_gradients_of_their_own_that_ranks_leave_are_no_refinement() -> None:
    assert left(averaged=False).verdict == "does not refine"


class Averaging(Losing):
    """The same with a step by averages of copies: each rank's own gradients stay where they are."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        loss = self.linear(x).square().mean()
        loss.backward()
        with torch.no_grad():
            for weight in self.parameters():
                mean = weight.grad.clone()
                dist.all_reduce(mean)
                weight -= 0.1 * mean / self.ranks
        return x.sum(1)


def test_gradients_left_behind_a_step_are_a_condition() -> None:
    found = refine(Averaging, lambda _, ranks: Averaging(ranks), (torch.randn(4, 3),), world_size=2,
                   relations={"x": "shard(0)"}, expected={"0": "shard(0)"})
    assert found.verdict == "refines", plain_text(found)
    (words,) = [words for words in found.provided if "gradients" in words]
    assert "nobody reads the gradients left at linear.weight, linear.bias" in words and "of a sum over ranks" in words


class Aside(nn.Module):
    """A step whose wrapper stands in a list, so that weights keep their names."""

    def __init__(self, wrapped: bool) -> None:
        super().__init__()
        self.model = nn.Linear(3, 2)
        self.calls = [DistributedDataParallel(self.model) if wrapped else self.model]
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        self.calls[0](x).square().mean().backward()
        self.optimizer.step()
        return self.model.weight.detach().clone()


def test_a_wrapper_that_a_module_keeps_in_a_list_is_seen() -> None:
    found = refine(lambda: Aside(False), lambda rank, ranks: Aside(True), (torch.randn(4, 3),), world_size=2,
                   relations={"x": "shard(0)"})
    assert found.verdict == "refines", plain_text(found)
