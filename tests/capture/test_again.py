"""Weights that another run moves where they lie hold afterwards, to the bit, what they held before."""

import pytest
import torch

from samesame.capture.again import put


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
