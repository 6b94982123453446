"""Labels of a loss are classes or the number that it ignores, so that not to be the one is to be one of the others."""

import re

import pytest
import torch
import torch.nn.functional as F

from samesame import check
from samesame.certificate.replay import replay

SCORES, LABELS = torch.randn(6, 7), torch.tensor([3, -100, 0, 6, -100, 2])


def loss(x, t):
    return F.cross_entropy(x, t)


def by_hand(x, t, keep, known):
    picked = x.gather(1, t.masked_fill(~known, 0)[:, None])[:, 0]
    return ((x.logsumexp(-1) - picked * known) * keep).sum() / keep.sum()


@pytest.mark.parametrize("of", [
    lambda x, t: by_hand(x, t, t != -100, (t >= 0) & (t < 7)),
    lambda x, t: by_hand(x, t, t >= 0, t != -100),
    lambda x, t: by_hand(x, t, (t >= 0) & (t < 7), t > -1),
])
def test_not_to_be_ignored_is_to_be_a_class(of):
    verdict = check(loss, of, (SCORES, LABELS))
    assert verdict.verdict == "same"
    said = [str(one) for root in verdict.roots for one in root.evidence.conditions]
    assert any(re.fullmatch("t holds classes from 0 to .*, or −100, which a loss ignores", one) for one in said)


@pytest.mark.parametrize("of", [
    lambda x, t: by_hand(x, t, t != -1, (t >= 0) & (t < 7)),               # another number
    lambda x, t: by_hand(x, t, t != -100, (t >= 0) & (t < 6)),             # without the last class
    lambda x, t: by_hand(x, t, t > 0, t > 0),                              # without the first
    lambda x, t: by_hand(x, t, t >= -100, t >= 0),                         # the ignored ones are counted
])
def test_other_numbers_are_not_the_ones_that_are_ignored(of):
    assert check(loss, of, (SCORES, LABELS)).verdict != "same"


def test_labels_that_the_loss_has_in_part_may_be_anything_elsewhere():
    """The first is asked for by hand only, and may be 9."""
    def some(x, t):
        return F.cross_entropy(x[1:], t[1:]), (t != -100).sum()

    def others(x, t):
        return F.cross_entropy(x[1:], t[1:]), ((t >= 0) & (t < 7)).sum()

    assert check(some, others, (SCORES, LABELS)).verdict != "same"


def test_a_certificate_trusts_that_labels_are_what_the_loss_asks_for():
    def of(x, t):
        return by_hand(x, t, t != -100, (t >= 0) & (t < 7))

    verdict = check(loss, of, (SCORES, LABELS), certify=True)
    report = replay(verdict.certificate, None)
    assert report[0] and any("a loss has a value for" in one for one in report[1])
