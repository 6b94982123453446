"""Weights that another run moves where they lie hold afterwards, to the bit, what they held before; and when two runs
agree."""

import random
from math import inf, nan

import pytest
import torch

from samesame.capture import capture
from samesame.capture.again import agree, put
from samesame.evidence import Refused


def test_weights_that_were_moved_are_moved_back_when_another_cannot_be() -> None:
    weight, before = torch.rand(5), torch.rand(5)
    weight.copy_(before)
    stuck = torch.zeros(1).expand(3)                       # torch writes into no memory that several elements share
    with pytest.raises(RuntimeError, match="written-to"), put({}, [], {weight: 2.0, stuck: 2.0, torch.rand(2): 2.0}):
        pass
    assert torch.equal(weight, before) and torch.equal(stuck, torch.zeros(3))


def test_weights_hold_what_they_held_when_a_run_fails() -> None:
    weight, other = torch.rand(5), torch.rand(3)
    kept = weight.clone(), other.clone()
    with pytest.raises(ZeroDivisionError), put({other: -other}, [], {weight: -1.0}) as begin:
        begin()
        assert torch.equal(weight, -kept[0]) and torch.equal(other, -kept[1])
        raise ZeroDivisionError
    assert torch.equal(weight, kept[0]) and torch.equal(other, kept[1])


def test_a_coin_that_falls_alike_eight_times_is_still_a_coin():
    """What draws numbers is run so often that a coin passes once in 4,096 times."""
    sides = iter([True] * 8 + [False] * 8)

    def coin(x):
        random.random()
        return x * 2 if next(sides) else x * 3

    with pytest.raises(Refused, match="draws random numbers"):
        capture(coin, (torch.randn(3),))


@pytest.mark.parametrize("first, second, same", [
    ([1.0, nan], [1.0, nan], True), ([1.0, nan], [nan, 1.0], False), ([inf, 1.0], [-inf, 1.0], False),
    ([inf, 1.0], [inf, 1.0 + 1e-12], True), ([0.0, 1.0], [-0.0, 1.0], True), ([1.0, 2.0], [1.0, 2.1], False),
    ([nan, nan], [nan, nan], True), ([], [], True), ([1j, 2.0], [1j, 2.0], True), ([1j, 2.0], [-1j, 2.0], False)])
def test_two_runs_agree_but_for_rounding(first, second, same):
    dtype = torch.complex128 if any(isinstance(x, complex) for x in first) else torch.float64
    assert agree(torch.tensor(first, dtype=dtype), torch.tensor(second, dtype=dtype)) is same
