"""A norm over the whole batch of which each rank has a part: SyncBatchNorm; a bias before it has no gradient."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed.nn.functional import all_reduce
from torch.nn.parallel import DistributedDataParallel

from samesame.evidence import Refinement, Rung
from samesame.refine import refine
from samesame.report.refinement import plain_text


class Normed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.before, self.norm = nn.Linear(2, 2), nn.BatchNorm1d(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.before(x))


def verdict(synchronised: bool, backward: bool) -> Refinement:
    def distributed(rank: int, ranks: int) -> Any:
        return nn.SyncBatchNorm.convert_sync_batchnorm(Normed().train()) if synchronised else Normed().train()

    weights = ("before.weight", "before.bias", "norm.weight", "norm.bias") if backward else ()
    return refine(lambda: Normed().train(), distributed, (torch.randn(4, 2),), world_size=2, backward=backward,
                  relations={"x": "shard(0)"}, expected={"0": "shard(0)", **{f"grad.{w}": "partial" for w in weights}})


def test_statistics_are_those_of_the_whole_batch() -> None:
    found = verdict(True, False)
    assert found.verdict == "refines", plain_text(found)
    assert any(told.endswith("gives True, True") for told in found.provided)   # both ranks have something
    held = {output.name: output.words for output in found.outputs}
    assert held["norm.running_var after the call"] == "replicated on every rank"


@pytest.mark.long
def test_a_gradient_that_is_zero_lies_as_it_is_due() -> None:
    found = verdict(True, True)
    assert found.verdict == "refines", plain_text(found)
    assert {o.name: o.words for o in found.outputs}["grad.before.bias"] == "zero, but for rounding"


@pytest.mark.long
def test_statistics_of_the_own_part_fail() -> None:
    assert verdict(False, False).verdict == "does not refine"


class ByHand(nn.BatchNorm1d):
    """Over the rows of all ranks, the running statistics by `lerp_`. x: rows, channels, length."""

    corrects = True

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        own = torch.cat([x.sum((0, 2)), x.square().sum((0, 2)), torch.full((1,), float(x.shape[0] * x.shape[2]))])
        total, squares, count = all_reduce(own).split([self.num_features, self.num_features, 1])
        mean = total / count
        variance = squares / count - mean.square()
        with torch.no_grad():
            self.num_batches_tracked.add_(1)
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * count / (count - 1) if self.corrects else variance, self.momentum)
        x = (x - mean[:, None]) * torch.rsqrt(variance + self.eps)[:, None]
        return x * self.weight[:, None] + self.bias[:, None]


class AsItIs(ByHand):
    """The variance is that of the batch, where it should be an estimate of all."""

    corrects = False


class Convolved(nn.Module):
    def __init__(self, norm: type[nn.BatchNorm1d] = nn.BatchNorm1d) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv1d(3, 4, 3, padding=1, bias=False), norm(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x)).relu().square().mean()


def data_parallel(norm: type[nn.BatchNorm1d]) -> Refinement:
    return refine(Convolved, lambda rank, ranks: DistributedDataParallel(Convolved(norm)), (torch.randn(4, 3, 6),),
                  world_size=2, backward=True, relations={"x": "shard(0)"}, expected={"0": "partial(avg)"})


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_running_statistics_that_were_sent_in_one_message_are_proved() -> None:
    found = data_parallel(ByHand)
    assert found.verdict == "refines" and found.evidence >= Rung.PROVED_HERE, plain_text(found)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_running_variance_that_is_not_corrected_fails() -> None:
    found = data_parallel(AsItIs)
    failing = {o.name for o in found.outputs if o.evidence.rung is Rung.REFUTED}
    assert found.verdict == "does not refine" and failing == {"norm.running_var after the call"}, plain_text(found)
