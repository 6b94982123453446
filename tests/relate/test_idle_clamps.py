"""A clamp that what was scaled by the largest of its row never meets, beside a program that does not clamp."""

import pytest
import torch

from samesame import check


def by_magnitude(x, low=-128, high=127):
    scale = (x.abs().amax(-1, keepdim=True) / 127).clamp(min=1e-8)
    return (x / scale).round().clamp(low, high)


def without(x):
    return torch.round(x / torch.clamp(x.abs().max(-1, keepdim=True).values / 127, min=1e-8))


def by_range(x, low=0, high=15):
    least, most = x.amin(-1, keepdim=True), x.amax(-1, keepdim=True)
    return ((x - least) / ((most - least) / 15)).round().clamp(low, high)


def of_range(x):
    least, most = torch.aminmax(x, dim=-1, keepdim=True)
    return torch.round(15 * (x - least) / (most - least))


def rows():
    return (torch.randn(4, 6, generator=torch.Generator().manual_seed(0)),)


@pytest.mark.parametrize("left, right", [(by_magnitude, without), (by_range, of_range)])
def test_an_idle_clamp_says_nothing(left, right):
    assert check(left, right, rows).verdict == "same"


@pytest.mark.parametrize("left, right", [
    (lambda x: by_magnitude(x, high=126), without), (lambda x: by_range(x, low=1), of_range),
    (lambda x: by_range(x, high=14), of_range),
])
def test_a_clamp_that_is_met_is_a_difference(left, right):
    assert check(left, right, rows).verdict == "different"
