"""The loss of a language model under data parallelism: labels are shifted, padded with the number that is ignored, and
counted; each rank takes the mean over its own part of the batch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

from samesame.refine import refine
from samesame.report.refinement import plain_text


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(4, 5, bias=False)

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return loss(self.head(x), labels)


def loss(x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    shifted = F.pad(labels, (0, 1), value=-100)[..., 1:]
    return F.cross_entropy(x.flatten(0, 1), shifted.flatten(), ignore_index=-100)


def verdict(sequential: Any, distributed: Any, backward: bool = True) -> Any:
    given = torch.randn(4, 3, 4), torch.randint(0, 4, (4, 3))
    return refine(sequential, distributed, given, world_size=2, backward=backward,
                  relations={"x": "shard(0)", "labels": "shard(0)"}, expected={"0": "partial(avg)"})


def test_the_mean_over_labels_that_count_is_taken_apart() -> None:
    found = verdict(lambda: loss, lambda rank, ranks: loss, backward=False)
    assert found.verdict == "refines", plain_text(found)
    assert "no element of labels is -100" in found.provided


@pytest.mark.long
@pytest.mark.parametrize("averaged", [True, False])
def test_gradients_are_averaged(averaged: bool) -> None:
    found = verdict(Model, lambda rank, ranks: DistributedDataParallel(Model()) if averaged else Model())
    assert found.verdict == ("refines" if averaged else "does not refine"), plain_text(found)
