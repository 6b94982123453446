"""Densities by torch.distributions and by hand: the same where their arguments are valid, as the headline says, for
torch.distributions raises elsewhere. A constant that is off, or a limit that tells, is a difference."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
from torch.distributions import Categorical, Distribution, Normal

from samesame import check
from samesame.capture.ordinary import unchecked_distributions
from samesame.evidence import Refused
from samesame.report.setting import only_with

DICE = torch.Generator().manual_seed(0)
NUMBERS = tuple(torch.randn(3, 4, generator=DICE) for _ in range(3))
LOG = math.log(2 * math.pi)
WHERE = ", where torch.distributions accepts its arguments"
LOWEST = torch.finfo(torch.float32).min


def normal(mean, log_std, x):
    density = Normal(mean, log_std.exp())
    return density.log_prob(x), density.entropy()


def normal_by_hand(mean, log_std, x, less=LOG):
    z = (x - mean) * torch.exp(-log_std)
    return -0.5 * (z**2 + 2 * log_std + less), 0.5 * math.log(2 * math.pi * math.e) + log_std


def categorical(logits):
    return Categorical(logits=logits).entropy()


def categorical_by_hand(logits):
    logs = logits.log_softmax(-1)
    return -(logs.exp() * logs).sum(-1)


PAIRS = [(normal, normal_by_hand, NUMBERS), (categorical, categorical_by_hand, NUMBERS[:1])]


@pytest.mark.parametrize("left, right, inputs", PAIRS, ids=["normal", "categorical"])
def test_densities_by_hand_are_the_same_where_arguments_are_valid(left, right, inputs, monkeypatch):
    monkeypatch.setattr(Distribution, "_validate_args", True)        # torch.compile switches it off for the process
    verdict = check(left, right, inputs)
    assert verdict.verdict == "same" and only_with(verdict) == WHERE
    with pytest.raises(ValueError, match="scale"):
        Normal(0.0, -1.0)                                   # outside, arguments are checked as ever


def test_arguments_are_checked_again_whichever_thread_leaves_first():
    checked = Distribution._validate_args
    one, other = unchecked_distributions(), unchecked_distributions()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert not Distribution._validate_args
    other.__exit__(None, None, None)
    assert Distribution._validate_args is checked


def test_a_program_without_distributions_is_not_said_to_hang_on_them():
    assert not only_with(check(normal_by_hand, normal_by_hand, NUMBERS))


def test_another_constant_is_a_difference():
    assert check(normal, lambda m, s, x: normal_by_hand(m, s, x, LOG + 1e-6), NUMBERS
                 ).verdict == "different"


def test_a_program_that_wants_its_arguments_checked_is_refused():
    with pytest.raises(Refused, match="as a condition"):
        check(lambda m, s, x: Normal(m, s.exp(), validate_args=True).log_prob(x), normal, NUMBERS)


def test_the_least_float_is_no_limit_to_what_is_finite():
    verdict = check(lambda x: (x * x).clamp(min=LOWEST), lambda x: x * x, NUMBERS[:1])
    assert verdict.verdict == "same"
    told = [str(c) for relation in verdict.relations for c in relation.evidence.conditions]
    assert f"nothing that is clamped lies below {LOWEST!r}" in told


def test_the_least_float_is_a_limit_to_what_is_masked():
    def masked(x):
        return x.masked_fill(x > 0, -math.inf)

    assert check(lambda x: masked(x).clamp(min=LOWEST), masked, NUMBERS[:1]).verdict != "same"
    for least in (LOWEST / 2**200, torch.finfo(torch.float16).min):
        assert check(partial(torch.clamp, min=least), lambda x: x * 1, NUMBERS[:1]).verdict != "same"
