"""Scans in two forms: step by step with what decays, and all at once with the decay between every two steps."""

import pytest
import torch

from samesame import check
from samesame.certificate.replay import replay
from samesame.evidence import Rung


def given(length):
    return torch.randn(2, length, 3), torch.rand(2, length, 3)


def step_by_step(x, dt):
    state, out = torch.zeros_like(x[:, 0]), []
    for t in range(x.shape[1]):
        state = torch.exp(-dt[:, t]) * state + x[:, t]
        out.append(state)
    return torch.stack(out, 1)


def all_at_once(x, dt, first=0, last=0):
    """The decay from step s to step t is that of the steps s < r ≤ t; with `first` or `last` moved, of others."""
    length, total = x.shape[1], dt.cumsum(1)
    before = total - dt if first else total
    apart = total[:, :, None] - before[:, None, :]
    causal = torch.ones(length, length, dtype=torch.bool).tril(last)
    decay = torch.exp((-apart).masked_fill(~causal[None, :, :, None], float("-inf")))
    return (decay * x[:, None]).sum(2)


@pytest.mark.parametrize("length", [3, 5, 7])
def test_steps_and_their_decays_are_the_same(length):
    verdict = check(step_by_step, all_at_once, given(length), certify=length == 5)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE
    if verdict.certificate is not None:
        checked, _ = replay(verdict.certificate, None)
        assert checked


@pytest.mark.parametrize("first, last", [(1, 0), (0, -1), (0, 1)])
def test_a_step_that_decays_at_once_or_is_left_out_is_a_difference(first, last):
    assert check(step_by_step, lambda x, dt: all_at_once(x, dt, first, last), given(5)).verdict == "different"
