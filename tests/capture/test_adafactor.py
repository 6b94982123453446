"""Adafactor is recorded in tensors: the step that torch takes, without a number that leaves torch."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.optim import Adafactor, _adafactor

from samesame import check
from samesame.capture.lists import adafactor
from samesame.capture.ordinary import adafactor_of_tensors

OPTIONS = {
    "as it is": {},
    "in lists": {"foreach": True},
    "decay, and another limit of updates": {"weight_decay": 0.1, "d": 1.5, "lr": 0.5},
    "floors that matter": {"eps": (0.5, 0.7), "beta2_decay": -0.5},
    "upwards": {"maximize": True, "lr": torch.tensor(0.03, dtype=torch.float64)},
}


def steps(options) -> list[torch.Tensor]:
    draw = torch.Generator().manual_seed(1)
    shapes = ((3, 4), (5,), (2, 3, 2), (1, 1))
    parts = [nn.Parameter(torch.randn(shape, generator=draw, dtype=torch.float64)) for shape in shapes]
    optimizer = Adafactor(parts, **options)
    for k in range(3):
        for part in parts:
            part.grad = 10**k * torch.randn(part.shape, generator=draw, dtype=torch.float64)
        optimizer.step()
    return [*parts, *(value for part in parts for value in optimizer.state[part].values())]


@pytest.mark.parametrize("name", OPTIONS)
def test_a_step_in_tensors_is_the_one_that_torch_takes(name):
    theirs = steps(OPTIONS[name])
    with adafactor_of_tensors():
        assert _adafactor._single_tensor_adafactor is _adafactor._multi_tensor_adafactor is adafactor
        mine = steps(OPTIONS[name])
    assert _adafactor._single_tensor_adafactor is not adafactor and _adafactor._multi_tensor_adafactor is not adafactor
    for a, b in zip(mine, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-12, atol=0)


class Scaled(nn.Module):
    """A vector of scales, with one step of an optimizer."""

    def __init__(self, **options):
        super().__init__()
        torch.manual_seed(0)
        self.scale = nn.Parameter(torch.randn(4))
        self.optimizer = Adafactor([self.scale], weight_decay=0.125, **options)

    def forward(self, x):
        self.optimizer.zero_grad()
        loss = (x * self.scale).square().sum()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


@pytest.mark.parametrize("right, answer", [({"foreach": True}, "same"), ({"lr": 0.02}, "different")])
def test_a_step_is_recorded_though_its_size_hangs_on_data(right, answer):
    assert check(Scaled(), Scaled(**right), (torch.ones(1, 4),)).verdict == answer
