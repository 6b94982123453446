"""A weight that the other program works out: a product of two matrices, kept in a row with others of its kind, or a
multiple by two numbers that stand there."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samesame import check
from samesame.evidence import Rung

LAYERS, GAIN, SLOPE = 2, 0.01, 0.2
DICE = torch.Generator().manual_seed(0)


class LowRank(nn.Module):
    """x + x₀ · U V x, layer by layer."""

    def __init__(self) -> None:
        super().__init__()
        shapes = {"u": (5, 2), "v": (2, 5)}
        for name, shape in shapes.items():
            self.register_parameter(name, nn.Parameter(torch.randn(LAYERS, *shape, generator=DICE)))

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for i in range(LAYERS):
            y = x * F.linear(F.linear(y, self.v[i]), self.u[i]) + y
        return y


class Full(nn.Module):
    def __init__(self, weight: Tensor, cut: str) -> None:
        super().__init__()
        self.weight, self.cut = nn.Parameter(weight.clone()), cut

    def forward(self, x: Tensor) -> Tensor:
        y = x
        parts = self.weight if self.cut == "unbound" else [self.weight[i - LAYERS] for i in range(LAYERS)]
        for w in parts:
            y = x * (y @ w.T) + y
        return y


@pytest.mark.parametrize("cut", ["unbound", "selected"])
def test_products_of_matrices_are_kept_in_one_tensor(cut):
    left, x = LowRank(), torch.randn(3, 5, generator=DICE)
    weight = (left.u @ left.v).detach()
    verdict = check(left, Full(weight, cut), (x,))
    assert verdict.verdict == "same" and verdict.evidence is Rung.ROUNDED
    assert check(left, Full(weight.flip(0), cut), (x,)).verdict == "different"


class Equalised(nn.Module):
    """A linear layer whose weights are scaled while it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.weight, self.bias = (nn.Parameter(torch.randn(*s, generator=DICE)) for s in ((4, 5), (4,)))
        self.scale = GAIN / math.sqrt(5)

    def forward(self, x: Tensor) -> Tensor:
        y = F.linear(x, self.weight * self.scale) + self.bias * GAIN
        return F.leaky_relu(y, SLOPE) * math.sqrt(2)


class Exported(nn.Module):
    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias)

    def forward(self, x: Tensor) -> Tensor:
        return F.leaky_relu(F.linear(x, self.weight, self.bias), SLOPE)


def test_two_numbers_that_a_program_writes_are_folded_into_a_weight():
    left, x = Equalised(), torch.randn(3, 5, generator=DICE)
    weight, bias = left.weight.detach() * (left.scale * math.sqrt(2)), left.bias.detach() * (GAIN * math.sqrt(2))
    verdict = check(left, Exported(weight, bias), (x,))
    assert verdict.verdict == "same" and verdict.evidence is Rung.ROUNDED
    assert check(left, Exported(weight, left.bias.detach() * GAIN), (x,)).verdict == "different"
    assert check(left, Exported(weight * (1 + 1e-6), bias), (x,)).verdict != "same"
