"""FullyShardedDataParallel lays the weights of a module in a flat one, of which each rank has a run of numbers."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy, fully_shard
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.distributed.tensor import DTensor

from samesame.evidence import Refinement, Refused
from samesame.refine import refine
from samesame.report.refinement import plain_text


class Loss(nn.Module):
    def __init__(self, layers: int = 1) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(nn.Linear(3, 3) for _ in range(layers)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x).square().mean()


def trained(original: bool, *, layers: int = 1, fault: str = "") -> Refinement:
    """Cut at the fifth of nine weights; with several layers each of them is wrapped alone."""

    def distributed(rank: int, ranks: int) -> nn.Module:
        groups = [dist.new_group([one]) for one in range(ranks)]
        alone = {"process_group": groups[rank], "sharding_strategy": ShardingStrategy.NO_SHARD}
        sharded = FullyShardedDataParallel(
            Loss(layers), device_id=torch.device("cpu"), use_orig_params=original,
            auto_wrap_policy=ModuleWrapPolicy({nn.Linear}) if layers > 1 else None,
            **(alone if fault == "alone" else {}),
        )
        if fault == "not synchronised":
            sharded._sync_gradients = False
        return sharded

    return refine(lambda: Loss(layers), distributed, (torch.randn(4, 3),), backward=True,
                  relations={"x": "shard(0)"}, expected={"0": "partial(avg)"}, timeout=100)


def test_gradients_are_due_where_the_flat_weight_is_cut():
    found = trained(False)
    assert found.verdict == "refines", plain_text(found)
    words = {output.name: output.words for output in found.outputs}
    assert words["grad.layers.0.weight"] == "in pieces, each on its rank"
    assert words["grad.layers.0.bias"] == "whole on rank 1 only"


def test_gradients_that_nobody_adds_up_do_not_refine():
    found = trained(False, fault="alone")
    failing = {output.name for output in found.outputs if not output.holds}
    assert (found.verdict, failing) == ("does not refine", {"grad.layers.0.weight", "grad.layers.0.bias"})


def test_gradients_of_whole_weights_are_refused():
    with pytest.raises(Refused, match="outside of no_sync"):
        trained(False, fault="not synchronised")


@pytest.mark.long
@pytest.mark.parametrize("original, layers", [(True, 1), (True, 2), (False, 2)])
def test_wrapped_layer_by_layer_and_with_the_weights_as_they_are_called(original, layers):
    found = trained(original, layers=layers)
    assert found.verdict == "refines", plain_text(found)


class Step(nn.Module):
    """One step of training, of weights that are called `net.*` on every side."""

    def __init__(self, net: nn.Module, rate: float = 0.1) -> None:
        super().__init__()
        self.net = net
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=rate)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.optimizer.zero_grad()
        loss = self.net(x).square().mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


def stepped(original: bool, rates: tuple[float, float] = (0.1, 0.1)) -> Refinement:
    """The flat weight is [12] of which the second rank has the last of nine numbers and all three of the bias."""

    def distributed(rank: int, ranks: int) -> nn.Module:
        net = FullyShardedDataParallel(nn.Sequential(nn.Linear(3, 3)), device_id=torch.device("cpu"),
                                       use_orig_params=original)
        return Step(net, rates[rank])

    return refine(lambda: Step(nn.Sequential(nn.Linear(3, 3))), distributed, (torch.randn(4, 3),),
                  relations={"x": "shard(0)"}, expected={"0": "partial(avg)"}, timeout=100)


@pytest.mark.parametrize("original", [True, False])
def test_after_a_step_the_weights_that_lie_in_a_flat_one_have_their_own_names(original):
    found = stepped(original)
    assert found.verdict == "refines", plain_text(found)
    words = {output.name: output.words for output in found.outputs}
    assert words["net.0.weight after the call"] == "in pieces, each on its rank"
    assert words["net.0.bias after the call"] == "whole on rank 1 only"


def test_a_step_at_another_rate_on_one_rank_is_found_in_the_weights_that_lie_there():
    found = stepped(True, (0.1, 0.2))
    failing = {output.name for output in found.outputs if not output.holds}
    assert found.verdict == "does not refine", plain_text(found)
    assert failing == {"net.0.weight after the call", "net.0.bias after the call"}


class Twice(Step):
    """Two steps within one call: the second gathers what the first has left in the ranks' parts."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([super(Twice, self).forward(part) for part in x.unbind(0)])


def stepped_twice(wrapped: str, rates: tuple[float, float] = (0.1, 0.1)) -> Refinement:
    def distributed(rank: int, ranks: int) -> nn.Module:
        net = nn.Sequential(nn.Linear(3, 1))
        if wrapped == "fully_shard":
            fully_shard(net, mesh=init_device_mesh("cpu", (ranks,)))
        else:
            net = FullyShardedDataParallel(net, device_id=torch.device("cpu"), use_orig_params=wrapped == "original")
        return Twice(net, rates[rank])

    return refine(lambda: Twice(nn.Sequential(nn.Linear(3, 1))), distributed, (torch.randn(2, 4, 3),),
                  relations={"x": "shard(1)"}, expected={"0": "partial(avg)"}, timeout=100)


@pytest.mark.parametrize("wrapped", ["fully_shard", "flat", "original"])
def test_a_second_step_gathers_what_the_first_has_left(wrapped):
    """The bias is on the first rank alone, and under fully_shard so is the whole of the weight's one row."""
    found = stepped_twice(wrapped)
    assert found.verdict == "refines", plain_text(found)


def test_a_second_step_at_another_rate_on_one_rank_is_found():
    assert stepped_twice("fully_shard", (0.1, 0.2)).verdict == "refines"      # nothing lies on the second rank
    assert stepped_twice("original", (0.1, 0.2)).verdict == "does not refine"


class Decayed(Step):
    """What a rank has of the weights is written before anything is gathered."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            for weight in self.net.parameters():
                (weight.to_local() if isinstance(weight, DTensor) else weight).mul_(0.5)
        return self.net(x).square().mean()


@pytest.mark.parametrize("wrapped", ["fully_shard", "original"])
def test_weights_that_are_written_before_they_are_gathered(wrapped):
    def distributed(rank: int, ranks: int) -> nn.Module:
        net = nn.Sequential(nn.Linear(3, 3))
        if wrapped == "fully_shard":
            fully_shard(net, mesh=init_device_mesh("cpu", (ranks,)))
        else:
            net = FullyShardedDataParallel(net, device_id=torch.device("cpu"), use_orig_params=True)
        return Decayed(net)

    found = refine(lambda: Decayed(nn.Sequential(nn.Linear(3, 3))), distributed, (torch.randn(4, 3),),
                   relations={"x": "shard(0)"}, expected={"0": "partial(avg)"}, timeout=30)
    assert found.verdict == "refines", plain_text(found)
