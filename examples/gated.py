"""A gated block: two matmuls over the same input, one of them behind a silu.

    samesame optimize examples/gated.py:module --inputs examples/gated.py:inputs --threads 1
"""

from __future__ import annotations

import torch
from torch import nn


class Gated(nn.Module):
    def __init__(self, width: int = 1024, out: int = 2048) -> None:
        super().__init__()
        self.gate, self.up = nn.Linear(width, out, bias=False), nn.Linear(width, out, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.silu(self.gate(x)) * self.up(x)


def module() -> Gated:
    return Gated().eval()


def inputs() -> tuple[torch.Tensor]:
    return (torch.randn(8, 1024),)
