"""Counts of integers that ranks add up: a confusion matrix over shards."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import nn

from samesame.evidence import Refused
from samesame.refine import refine
from samesame.report.refinement import plain_text


class Confusion(nn.Module):
    def __init__(self, spread: bool = False, classes: int = 3) -> None:
        super().__init__()
        self.spread, self.classes = spread, classes

    def forward(self, predicted: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
        found = torch.bincount(label * 3 + predicted, minlength=self.classes * self.classes)
        if self.spread:
            dist.all_reduce(found)
        return found.view(self.classes, self.classes).diagonal().sum() / found.sum()


INPUTS = torch.tensor([0, 2, 1, 1, 0, 2]), torch.tensor([0, 1, 1, 2, 0, 2])
CUT = {"predicted": "shard(0)", "label": "shard(0)"}


def test_counts_of_shards_add_up_and_what_is_counted_is_granted():
    found = refine(Confusion, lambda *_: Confusion(True), INPUTS, relations=CUT, timeout=60)
    assert found.verdict == "refines", plain_text(found)
    assert any("is above 8" in told for told in found.provided)


def test_counts_that_nobody_adds_up_do_not_refine():
    assert refine(Confusion, lambda *_: Confusion(), INPUTS, relations=CUT, timeout=60).verdict == "does not refine"


def test_integers_beyond_the_counts_are_refused():
    with pytest.raises(Refused, match="bincount"):
        refine(lambda: Confusion(classes=2), lambda *_: Confusion(True, classes=2), INPUTS, relations=CUT, timeout=60)


class Twice(nn.Module):
    """Counts what others told: known once these were heard."""

    def __init__(self, spread: bool = False) -> None:
        super().__init__()
        self.spread = spread

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.spread:
            dist.all_reduce(x)
        return torch.bincount(x if self.spread else x + x, minlength=9)


def test_what_is_counted_may_come_from_other_ranks():
    found = refine(Twice, lambda *_: Twice(True), (torch.tensor([1, 4, 2]),), timeout=60)
    assert found.verdict == "refines", plain_text(found)
