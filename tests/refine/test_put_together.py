"""A rank's weight may be put together of parts of several: what is left in it, and its gradient, is theirs, part by
part."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from samesame.evidence import Refinement
from samesame.refine import refine
from samesame.report.refinement import plain_text

RANKS = 3


class Whole(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        (self.b(torch.tanh(self.a(x))) ** 2).mean().backward()
        with torch.no_grad():
            for weight in self.parameters():
                weight -= 0.1 * weight.grad
                weight.grad = None
        return x.sum()


class Flat(nn.Module):
    """Nine numbers, three a rank, stepped where they lie."""

    def __init__(self, rank: int, fault: str) -> None:
        super().__init__()
        numbers = torch.cat([weight.detach().flatten() for weight in Whole().parameters()])
        self.flat, self.rank, self.fault = nn.Parameter(numbers.chunk(RANKS)[rank].clone()), rank, fault

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pieces = [torch.empty_like(self.flat) for _ in range(RANKS)]
        dist.all_gather(pieces, self.flat.detach())
        whole = torch.cat(pieces).requires_grad_()
        hidden = torch.tanh(F.linear(x, whole[:4].view(2, 2), whole[4:6]))
        (F.linear(hidden, whole[6:8].view(1, 2), whole[8:]) ** 2).mean().backward()
        step = 0.1 * whole.grad.chunk(RANKS)[self.rank]
        if self.fault == "a part" and self.rank == 1:
            step = step * torch.tensor([1.0, 0.0, 0.0])
        if not (self.fault == "none" and self.rank == 1):
            with torch.no_grad():
                self.flat -= step
        return x.sum()


def judged(fault: str) -> Refinement:
    return refine(Whole, lambda rank, _: Flat(rank, fault), (torch.randn(3, 2),), world_size=RANKS,
                  timeout=8 if fault else 40)


def test_a_step_on_flat_shards_is_a_step_on_the_weights() -> None:
    found = judged("")
    assert found.verdict == "refines", plain_text(found)
    assert len(found.outputs) == 5 and not any("Not compared" in note for note in found.notes)


@pytest.mark.parametrize("fault", ["a part", "none"])
def test_a_step_that_misses_a_part_is_none(fault: str) -> None:
    assert judged(fault).verdict == "does not refine"
