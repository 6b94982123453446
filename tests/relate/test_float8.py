"""Tensors of float8, of which torch does nothing but convert them: inputs, and weights with their scales."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from samesame import check

BYTES = (torch.float8_e4m3fn, torch.float8_e5m2)


class Scaled(nn.Module):
    """A linear layer whose rows are held in float8, each with its scale, which `late` comes behind the product."""

    def __init__(self, kind: torch.dtype, *, late: bool, forgets: bool = False) -> None:
        super().__init__()
        weight = torch.randn(6, 8, generator=torch.Generator().manual_seed(0))
        scale = weight.abs().amax(1, keepdim=True) / 100
        self.register_buffer("weight", (weight / scale).to(kind))
        self.register_buffer("scale", scale)
        self.late, self.forgets = late, forgets

    def forward(self, x):
        if self.forgets:
            return x @ self.weight.to(x.dtype).T
        if self.late:
            return (x @ self.weight.to(x.dtype).T) * self.scale.T
        return x @ (self.weight.to(x.dtype) * self.scale).T


@pytest.mark.parametrize("kind", BYTES)
def test_scales_of_float8_weights(kind):
    x = (torch.randn(4, 8),)
    assert check(Scaled(kind, late=True), Scaled(kind, late=False), x).verdict == "same"
    assert check(Scaled(kind, late=True), Scaled(kind, late=True, forgets=True), x).verdict == "different"


@pytest.mark.parametrize("kind", BYTES)
def test_float8_inputs(kind):
    given = (torch.randn(4, 8).to(kind), torch.randn(8, 8))
    found = check(lambda x, w: x.float() @ w, lambda x, w: (w.T @ x.float().T).T, given)
    assert found.verdict == "same"
    found = check(lambda x, w: x.float() @ w, lambda x, w: x.float() @ w.T, given)
    assert found.verdict == "different"


def test_a_float8_weight_that_is_a_multiple_of_another():
    class Twice(nn.Module):
        def __init__(self, own: bool) -> None:
            super().__init__()
            weight = torch.tensor([[1.0, 2, 3], [4, 5, 6]]).to(BYTES[0])
            self.register_buffer("one", weight)
            self.register_buffer("other", (2 * weight.float()).to(BYTES[0]) if own else weight)
            self.own = own

        def forward(self, x):
            other = self.other.float() if self.own else 2 * self.other.float()
            return x @ self.one.float(), x @ other

    assert check(Twice(True), Twice(False), (torch.randn(4, 2),)).verdict != "different"
