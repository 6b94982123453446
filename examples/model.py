"""A block with two projections, and the same block with both in one: the files that the docs call `model.py`.

    samesame check model.py:Separate model.py:Fused --inputs model.py:inputs
    samesame fuzz model.py:module --inputs model.py:inputs
"""

from __future__ import annotations

import torch
from torch import nn


class Separate(nn.Module):
    """As it is trained. Made anew, it has the same random weights each time."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.q, self.k = nn.Linear(8, 6), nn.Linear(8, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.q(x) * self.k(x)


class Fused(nn.Module):
    """As it is served: one matmul, then a split."""

    def __init__(self) -> None:
        super().__init__()
        separate = Separate()
        self.qk = nn.Linear(8, 12)
        self.qk.weight.data = torch.cat([separate.q.weight, separate.k.weight])
        self.qk.bias.data = torch.cat([separate.q.bias, separate.k.bias])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k = self.qk(x).chunk(2, dim=-1)
        return q * k


module = Model = Separate
inputs = (torch.randn(3, 8),)
