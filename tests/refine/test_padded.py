"""Flat weights are filled up with zeros, so that each rank has as much: the zeros are no weights."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

from samesame.evidence import Refinement, Refused
from samesame.refine import refine
from samesame.report.refinement import plain_text

RANKS = 4


class Whole(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.a, self.b = nn.Linear(2, 5), nn.Linear(5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.b(torch.tanh(self.a(x)))


class Sharded(nn.Module):
    """All weights in one flat one, of which a rank has a third; put together where they are used."""

    def __init__(self, rank: int, fault: str) -> None:
        super().__init__()
        whole = list(Whole().parameters())
        self.shapes, self.fault = [w.shape for w in whole], fault
        flat = torch.cat([w.detach().flatten() for w in whole])
        flat = F.pad(flat, (0, -len(flat) % RANKS + RANKS * (fault == "more")), value=float(fault == "ones"))
        self.flat = nn.Parameter(flat.chunk(RANKS)[rank].clone())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pieces = [torch.empty_like(self.flat) for _ in range(RANKS)]
        dist.all_gather(pieces, self.flat.detach())
        flat = torch.cat(pieces)
        if self.fault == "reads the padding":
            flat = flat.exp().log() + flat[-1:].exp() - 1 + (flat[-1:] + 1) * 0.01
        at = 0
        whole = []
        for shape in self.shapes:
            whole.append(flat[at : at + shape.numel()].view(shape))
            at += shape.numel()
        a, c, b, d = whole
        return F.linear(torch.tanh(F.linear(x, a, c)), b, d)


def judged(fault: str = "") -> Refinement:
    return refine(Whole, lambda rank, _: Sharded(rank, fault), (torch.randn(3, 2),), world_size=RANKS, timeout=30)


@pytest.mark.parametrize("fault", ["", "more"])
def test_weights_laid_one_after_another_and_filled_up_are_told(fault: str) -> None:
    found = judged(fault)
    assert found.verdict == "refines", plain_text(found)


def test_what_is_read_of_the_padding_counts() -> None:
    assert judged("reads the padding").verdict == "does not refine"


def test_what_is_no_weight_and_no_zero_is_no_padding() -> None:
    with pytest.raises(Refused, match="no piece of the sequential weights"):
        judged("ones")


def test_zeros_that_may_be_a_weight_are_not_called_padding() -> None:
    """A fresh bias of zeros at the end, which nobody uses as it should be: the verdict is about all biases."""

    class Biased(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.arange(1.0, 4.0))
            self.b = nn.Parameter(torch.zeros(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.w * x + self.b

    class Lost(nn.Module):
        def __init__(self, rank: int) -> None:
            super().__init__()
            self.flat = nn.Parameter(torch.tensor([1.0, 2.0, 3.0, 0.0, 0.0, 0.0]).chunk(2)[rank].clone())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            w = self.flat.detach().clone()
            dist.broadcast(w, 0)
            return w * x

    try:
        found = refine(Biased, lambda rank, _: Lost(rank), (torch.randn(3),), timeout=20)
    except Refused:
        return
    assert found.verdict != "refines"
