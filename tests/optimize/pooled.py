"""A module that computes far more than it needs: a linear layer of every row, and then the average of the rows."""

import os
import signal

import torch
from torch import nn

from samesame.optimize.candidate import Candidate


class Pooled(nn.Module):
    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).mean(-2)


AVERAGED_FIRST = """
from torch import nn


class Fast(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.weight = weights["linear.weight"]

    def forward(self, x):
        return (x.mean(-2) @ self.weight.t(),)
"""
SUMMED = AVERAGED_FIRST.replace("x.mean(-2)", "x.sum(-2)")

torch.manual_seed(0)
module = Pooled().eval()
inputs = (torch.randn(600, 48),)


def averaged_first() -> Candidate:
    return Candidate("the mean goes first", AVERAGED_FIRST, ("linear.weight",), ("mean(x·Wᵀ) → mean(x)·Wᵀ",))


def summed() -> Candidate:
    """Faster, and wrong."""
    return Candidate("a sum for the mean", SUMMED, ("linear.weight",))


class Killed(nn.Module):
    """As the system does where no memory is left."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        os.kill(os.getpid(), signal.SIGKILL)
        return x


class Hungry(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.new_empty(1 << 50)
