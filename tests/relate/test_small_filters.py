"""Filters of a few numbers are those numbers: what one program convolves with, the other writes out."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from promises.rounding_pairs import Program
from samesame import check
from samesame.evidence import Rung

BANK = torch.tensor([[1.0, 2.0, 1.0], [1.0, 0.0, -1.0], [1.0, -2.0, 1.0]])[:, None]
MEAN = [0.485, 0.456, 0.406]
ROW = torch.randn(2, 1, 6, generator=torch.Generator().manual_seed(0))
IMAGE = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(1))


def bands(filters):
    return Program(lambda m, x: F.conv1d(x, m.bank), bank=filters)


def differences(x):
    a, b, c = x[:, 0, :-2], x[:, 0, 1:-1], x[:, 0, 2:]
    return torch.stack([a + 2 * b + c, a - c, a - 2 * b + c], 1)


def less(mean):
    return Program(lambda m, x: (x - m.mean[:, None]).tanh(), mean=torch.tensor(mean))


def less_each(x):
    return torch.stack([(x[:, c] - number).tanh() for c, number in enumerate(MEAN)], 1)


def test_a_bank_of_filters_is_sums_and_differences():
    assert check(bands(BANK.clone()), differences, (ROW,)).verdict == "same"


def test_a_bank_in_another_order_differs():
    assert check(bands(BANK.flip(0)), differences, (ROW,)).verdict == "different"


def test_stored_decimals_are_read_one_by_one():
    verdict = check(less_each, less(MEAN), (IMAGE,))
    assert verdict.verdict == "same" and verdict.evidence is Rung.ROUNDED
    (reading,) = verdict.readings
    assert reading.formula == "0.485, 0.456, 0.406" and 0 < reading.worst <= reading.allowed == 0.5


@pytest.mark.parametrize("mean", [[0.485, 0.456, 0.4061], [0.456, 0.485, 0.406], [0.485, 0.45601, 0.406]])
def test_other_decimals_differ(mean):
    assert check(less_each, less(mean), (IMAGE,)).verdict == "different"


def test_a_number_a_few_units_off_is_not_excused():
    assert check(less_each, less([0.485, 0.4560002, 0.406]), (IMAGE,)).verdict != "same"


@pytest.mark.parametrize("lone", [math.inf, 0.123456789])
def test_what_is_near_no_number_is_read_as_none(lone):
    assert check(less_each, less([0.485, lone, 0.406]), (IMAGE,)).verdict == "different"
