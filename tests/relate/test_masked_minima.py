"""Masks of +∞, where a minimum is taken: the mirror of masks of −∞, proved, replayed, and told from what is wrong."""

from __future__ import annotations

import pytest
import torch

from samesame import check
from samesame.certificate.replay import replay

INF = float("inf")


def least(x, m):
    return x.masked_fill(~m, INF).amin(-1)


def greatest_of_negatives(x, m):
    return -torch.where(m, -x, -INF).amax(-1)


def nearest(x, m):
    return torch.where(m, x, INF).topk(2, -1, largest=False).indices


def nearest_by_score(x, m):
    return (-x).masked_fill(~m, -INF).topk(2, -1).indices


def kernel_weights(x, m):
    w = torch.exp(-0.5 * x.masked_fill(~m, INF))
    return w / w.sum(-1, keepdim=True)


def softmin(x, m):
    return torch.softmax(torch.where(m, x / -2, -INF), -1)


@pytest.fixture
def inputs():
    torch.manual_seed(0)
    m = torch.rand(4, 7) > 0.4
    m[:, :2] = True
    return torch.randn(4, 7), m


@pytest.mark.parametrize("left, right", [(least, greatest_of_negatives), (nearest, nearest_by_score),
                                         (kernel_weights, softmin)])
def test_a_mask_of_infinity_is_one_of_minus_infinity_of_the_negatives(left, right, inputs):
    verdict = check(left, right, inputs, certify=True)
    assert verdict.verdict == "same"
    assert replay(verdict.certificate, None)[0]


def test_a_mask_of_the_wrong_infinity_is_none(inputs):
    def hidden_below(x, m):
        return x.masked_fill(~m, -INF).amin(-1)

    assert check(least, hidden_below, inputs).verdict == "different"
