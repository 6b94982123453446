"""Larger numbers than the example's part programs that no proof was found for, unless rounding does."""

from __future__ import annotations

import torch

from samesame import check


def saturated(x):
    return torch.sigmoid(torch.tanh(x).cumsum(-1)).prod(-1)


def clipped(x):
    return torch.sigmoid(torch.tanh(x.clamp(-0.6, 0.6)).cumsum(-1)).prod(-1)


def test_a_clip_beyond_the_example():
    torch.manual_seed(0)
    found = check(saturated, clipped, (0.05 * torch.randn(8, 3),))
    assert found.verdict == "different" and found.divergence is not None
    assert any("numbers 16 times as large" in note for note in found.notes)


def test_probabilities_stay_what_they_are():
    found = check(lambda p: p.sqrt().sum(), lambda p: p.clamp(max=1).sqrt().sum(), (torch.rand(3, 4) * 0.1,))
    assert found.verdict == "undecided"



def test_what_is_proved_is_not_tried():
    found = check(lambda x: 1 / (1 / x), lambda x: x * 1, (torch.rand(3, 4) + 2,))
    assert found.verdict == "same"
