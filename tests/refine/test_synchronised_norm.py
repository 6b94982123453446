"""A norm over the whole batch of which each rank has a part: SyncBatchNorm; a bias before it has no gradient."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from samesame.evidence import Refinement
from samesame.refine import refine
from samesame.report.refinement import plain_text


class Normed(nn.Module):
    """Whoever asks for no gradients has no use for a bias in front."""

    def __init__(self, biased: bool) -> None:
        super().__init__()
        self.before, self.norm = nn.Linear(2, 2) if biased else nn.Tanh(), nn.BatchNorm1d(2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.before(x))


def verdict(synchronised: bool, backward: bool) -> Refinement:
    def distributed(rank: int, ranks: int) -> Any:
        module = Normed(backward).train()
        return nn.SyncBatchNorm.convert_sync_batchnorm(module) if synchronised else module

    weights = ("before.weight", "before.bias", "norm.weight", "norm.bias") if backward else ()
    return refine(lambda: Normed(backward).train(), distributed, (torch.randn(4, 2),), world_size=2, backward=backward,
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
