"""Advantages by a loop back in time, and at once: a sum over the steps between which no episode ends, by counts."""

import pytest
import torch

from samesame import check
from samesame.evidence import Rung

STEPS = 3
DONE = torch.tensor([False, True, False])
DELTA = torch.tensor([0.3, 0.7, -0.5])


def by_a_loop(delta, done):
    kept, advantages = 1.0 - done.to(delta.dtype), [delta[-1]]
    for t in reversed(range(STEPS - 1)):
        advantages.append(delta[t] + 0.75 * kept[t] * advantages[-1])
    return torch.stack(advantages[::-1])


def by_counts(decay=0.75, ended=0):
    def program(delta, done):
        before, steps = done.long().cumsum(0) - done.long(), torch.arange(STEPS)
        ahead = steps[None, :] - steps[:, None]
        linked = (ahead >= 0) & (before[None] - before[:, None] <= ended)
        weights = decay ** ahead.clamp(min=0) * linked
        return weights @ delta

    return program


def test_episodes_that_end_cut_a_sum_as_they_cut_a_loop():
    verdict = check(by_a_loop, by_counts(), (DELTA, DONE))
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE


@pytest.mark.parametrize("other", [by_counts(decay=0.7), by_counts(ended=1)])
def test_other_sums_are_told_apart(other):
    assert check(by_a_loop, other, (DELTA, DONE)).verdict == "different"
