"""ZeRO by hand: gradients in one row, a share of which each rank reduces and steps with; then all gather the rest."""

from __future__ import annotations

import pytest
import torch
import torch.distributed as dist
from torch import nn

from samesame.evidence import Refinement
from samesame.refine import refine
from samesame.report.refinement import plain_text

RATE, RANKS = 0.1, 2


class Model(nn.Module):
    """Of 18 numbers: the second of three tensors is cut."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(3, 4, bias=False), nn.Linear(4, 1, bias=False)
        self.scale = nn.Parameter(torch.randn(2))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        wanted = (self.second(self.first(x).tanh()) - y).square()
        return (wanted * self.scale.square().sum()).mean()


class Plain(Model):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = super().forward(x, y)
        loss.backward()
        norm = torch.cat([p.grad.reshape(-1) for p in self.parameters()]).square().sum().sqrt()
        with torch.no_grad():
            for p in self.parameters():
                p -= RATE * p.grad / (norm + 1)
        return norm.detach()


class Flat(Model):
    def __init__(self, rank: int, fault: str) -> None:
        super().__init__()
        self.rank, self.fault = rank, fault

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        super().forward(x, y).backward()
        parameters = list(self.parameters())
        whole = torch.cat([p.grad.reshape(-1) for p in parameters])
        share = torch.empty(len(whole) // RANKS)
        dist.reduce_scatter_tensor(share, whole)
        share = share / (1 if self.fault == "summed" else RANKS)
        square = share.square().sum()
        if self.fault != "a norm of its own":
            dist.all_reduce(square)
        norm = square.sqrt()
        with torch.no_grad():
            begin = 0 if self.fault == "the first share" else self.rank * len(share)
            own = torch.cat([p.reshape(-1) for p in parameters])[begin:begin + len(share)]
            found = torch.empty(len(whole))
            dist.all_gather_into_tensor(found, own - RATE * share / (norm + 1))
            for p, new in zip(parameters, found.split([p.numel() for p in parameters]), strict=True):
                p.copy_(new.view_as(p))
        return norm.detach()


def stepped(fault: str = "") -> Refinement:
    return refine(Plain, lambda rank, _: Flat(rank, fault), (torch.randn(4, 3), torch.randn(4, 1)),
                  relations={"x": "shard(0)", "y": "shard(0)"}, timeout=100)


def test_a_share_of_all_gradients_is_cut_within_a_tensor():
    found = stepped()
    assert found.verdict == "refines", plain_text(found)


@pytest.mark.parametrize("fault", ["summed", "a norm of its own", "the first share"])
def test_steps_that_go_wrong_do_not_refine(fault):
    assert stepped(fault).verdict == "does not refine"
