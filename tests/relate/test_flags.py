"""Inputs of zeros and ones are drawn as such, and what is proved of them only is said to be."""

import pytest
import torch
from torch.nn import functional as F

import opaque_operators  # noqa: F401    registers them
from samesame import check
from samesame.evidence import Rung
from samesame.relate.flags import is_flag
from samesame.report import headline

FLAG = torch.tensor([[1.0, 1, 1, 0, 1], [1, 1, 0, 1, 1], [1, 1, 1, 1, 0]])
SCORES = torch.linspace(-2, 2, 15).reshape(3, 5)


def chosen(scores, flag):
    return torch.where(flag > 0.5, scores, -scores)


def factored(scores, flag, off=0.0):
    return scores * (2 * flag - 1 + off)


def entropy(scores, flag):
    return F.binary_cross_entropy_with_logits(scores, flag, reduction="none")


def entropy_by_choice(scores, flag):
    return -torch.where(flag > 0.5, scores, -scores).sigmoid().log()


@pytest.mark.parametrize(("left", "right"), [(chosen, factored), (factored, chosen), (entropy, entropy_by_choice)])
def test_what_holds_of_zeros_and_ones_is_the_same_under_that_condition(left, right):
    verdict = check(left, right, (SCORES, FLAG))
    assert verdict.verdict == "same"
    assert "if every element of flag is 0 or 1" in headline(verdict)


def test_what_holds_of_all_numbers_needs_no_condition():
    verdict = check(factored, lambda scores, flag: 2 * flag * scores - scores, (SCORES, FLAG))
    assert verdict.verdict == "same" and not verdict.only


@pytest.mark.parametrize("flag", [FLAG, torch.linspace(0, 1, 15).reshape(3, 5), torch.ones(3, 5), 2 * FLAG])
def test_what_is_wrong_differs(flag):
    def off(scores, flag):
        return factored(scores, flag, off=0.25)

    assert check(chosen, off, (SCORES, flag)).verdict == "different"


@pytest.mark.parametrize("flag", [torch.linspace(0, 1, 15).reshape(3, 5), torch.ones(3, 5), 2 * FLAG])
def test_other_numbers_are_drawn_where_the_example_does_not_hold_both(flag):
    assert not is_flag(flag)
    assert check(chosen, factored, (SCORES, flag)).verdict == "different"


def test_what_was_tested_on_zeros_and_ones_says_so():
    def looked_at(scores, flag):
        return torch.ops.planted.swish(flag) + scores

    verdict = check(looked_at, lambda scores, flag: F.silu(flag) + scores, (SCORES, FLAG))
    assert (verdict.verdict, verdict.evidence) == ("same", Rung.TESTED)
    assert "if every element of flag is 0 or 1" in headline(verdict)
