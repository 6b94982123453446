"""Programs that compute gradients themselves, whatever their callers do."""

import torch
from torch import nn

from samesame.optimize.candidate import Candidate


def pulled(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """An energy and its forces, by autograd."""
    x = x.detach().requires_grad_()
    energy = sum((x - x.roll(shift, 0)).square().sum() for shift in range(1, 9)) / 2
    (slope,) = torch.autograd.grad(energy, x)
    return energy, -slope


def bent(x: torch.Tensor) -> torch.Tensor:
    """Forces of which derivatives can be taken."""
    x = x.detach().requires_grad_()
    (slope,) = torch.autograd.grad(x.pow(4).sum(), x, create_graph=True)
    return -slope


class Learnt(nn.Module):
    """A loss, and its gradients for what was learnt."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor([0.5, 2.0, 1.0]))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        loss = (self.scale * x).square().mean()
        return loss, torch.autograd.grad(loss, self.scale)[0]


BY_HAND = """
from torch import nn


class Fast(nn.Module):
    def __init__(self, weights):
        super().__init__()

    def forward(self, x):
        total = x.new_zeros(()) * 0
        slope = 16 * x
        for shift in range(1, 9):
            total = total + (x * (x - x.roll(shift, 0))).sum()
            slope = slope - x.roll(shift, 0) - x.roll(-shift, 0)
        return total, -slope
"""

torch.manual_seed(0)
inputs = (torch.randn(300, 3),)


def by_hand() -> Candidate:
    return Candidate("the slope by hand", BY_HAND)


LEARNT_BY_HAND = """
from torch import nn


class Fast(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.scale = weights["scale"]

    def forward(self, x):
        return (self.scale * x).square().mean(), 2 * self.scale * x.square().sum(0) / x.numel()
"""


def learnt_by_hand() -> Candidate:
    return Candidate("the slope by hand", LEARNT_BY_HAND, ("scale",))


class Two(nn.Module):
    """The slope of one of two weights, of which what takes its place reads none."""

    def __init__(self) -> None:
        super().__init__()
        self.sub = Learnt()
        self.beside = nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        learnt = [weight for weight in (self.sub.scale, self.beside) if weight.requires_grad]
        return torch.autograd.grad(sum((weight * x).sum() for weight in learnt), learnt)[0]


COLUMNS = """
from torch import nn


class Fast(nn.Module):
    def __init__(self, weights):
        super().__init__()

    def forward(self, x):
        return (x.sum(0),)
"""


def in_part_freed(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A loss of which the derivative for w can be taken yet."""
    y = x.detach().requires_grad_()
    loss = y.pow(3).sum()
    (slope,) = torch.autograd.grad(loss, y)
    return loss + w.square().sum(), slope


def squared(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.autograd.grad((x * y * y).sum(), x)[0]


SQUARES = COLUMNS.replace("def forward(self, x):", "def forward(self, x, y):").replace("x.sum(0)", "y * y")
