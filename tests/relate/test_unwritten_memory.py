"""Tensors that are made empty and then written: what they held before matters to no proof, and is no number."""

from __future__ import annotations

import pytest
import torch

from samesame import check
from samesame.certificate.replay import replay
from samesame.evidence import Rung


def rotated_in_place(x, cos, sin):
    out = torch.empty_like(x)
    out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 1::2] * cos + x[..., ::2] * sin
    return out


def rotated(x, cos, sin):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)


def joined_in_place(x, cos, sin):
    out = torch.empty(x.shape[0], 2 * x.shape[1])
    out[:, : x.shape[1]] = x
    out[:, x.shape[1] :] = x * 2
    return out


def joined(x, cos, sin):
    return torch.cat([x, x * 2], 1)


PAIRS = [(rotated_in_place, rotated), (joined_in_place, joined)]


@pytest.mark.parametrize("pair", [*PAIRS, *(pair[::-1] for pair in PAIRS)], ids=lambda pair: pair[0].__name__)
def test_what_is_written_whole_is_proved(pair):
    """Whatever numbers, or none, the memory holds: on some runs it has NaN in it."""
    verdict = check(*pair, (torch.randn(3, 8), torch.randn(4), torch.randn(4)), certify=True)
    assert verdict.verdict == "same" and verdict.evidence is Rung.PROVED
    checked, _ = replay(verdict.certificate)
    assert checked


def reads_what_nobody_wrote(x):
    return torch.where(x > 100, x + 0 * torch.empty(x.shape), x)


@pytest.mark.parametrize("turned", [False, True])
def test_what_is_read_before_it_is_written_is_no_number(turned):
    """0·u is 0 of numbers only; on either side."""
    pair = (reads_what_nobody_wrote, lambda x: x * 1.0)
    assert check(*(pair[::-1] if turned else pair), (torch.randn(3, 8),)).evidence < Rung.PROVED_HERE
