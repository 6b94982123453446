"""A module for a GPU: a norm of rows, and a linear layer of these."""

import torch
from torch import nn


class NormLinear(nn.Module):
    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(width) + 0.5)
        self.linear = nn.Linear(width, out, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight)


class Logarithm(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log1p(x.abs()).sum(-1)


torch.manual_seed(0)
norm, inputs = nn.LayerNorm(40).eval(), (torch.randn(5, 40),)
norm_linear, single = NormLinear(40, 37).eval(), (torch.randn(1, 40),)
