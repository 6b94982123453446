"""A number whose digits say nothing is looked through to how it was computed, such as what a filter is divided by."""

from __future__ import annotations

import pytest
import torch

from samesame import check
from samesame.operators.numbers import says_nothing

PLANE = torch.randn(2, 3, 3, generator=torch.Generator().manual_seed(0))


def places():
    return torch.arange(3, dtype=torch.float64) - 1


def in_a_plane(x):
    kernel = torch.exp(-(places()[:, None] ** 2 + places() ** 2) / (2 * 1.5**2))
    return x.double() * (kernel / kernel.sum())


def one_by_one(x, width=1.5):
    kernel = torch.exp(-0.5 * (places() / width).square())
    kernel = kernel / kernel.sum()
    return x.double() * kernel * kernel[:, None]


def test_a_bell_in_a_plane_is_two_in_rows():
    assert check(in_a_plane, one_by_one, (PLANE,)).verdict == "same"


def test_a_wider_bell_differs():
    assert check(in_a_plane, lambda x: one_by_one(x, 1.5001), (PLANE,)).verdict == "different"


@pytest.mark.parametrize(("value", "expected"), [
    (13.739866095061464, True), (-13.739866095061464, True), (0.1, False), (1e-5, False), (3.0, False),
    (0.3535533905932738, False), (3.141592653589793, False), (-3.4028234663852886e38, False), (float("-inf"), False),
])
def test_which_numbers_say_nothing(value, expected):
    assert says_nothing(value) is expected


def steps(x, sigmas=(2.7, 0.61)):
    """A step of a sampler, by the ratio of two noises."""
    first, second = torch.tensor(sigmas, dtype=torch.float64)
    return second / first * x + (1 - second / first) * x.tanh()


def steps_by_logarithms(x, sigmas=(2.7, 0.61), factor=1.0):
    times = -torch.tensor(sigmas, dtype=torch.float64).log()
    gap = (times[1] - times[0]) * factor
    return (-gap).exp() * x - (-gap).expm1() * x.tanh()


def test_a_step_of_a_schedule_by_ratios_is_one_by_logarithms():
    assert check(steps, steps_by_logarithms, (PLANE.double(),)).verdict == "same"


def test_a_step_a_little_further_differs():
    assert check(steps, lambda x: steps_by_logarithms(x, factor=1.00001), (PLANE.double(),)).verdict == "different"
