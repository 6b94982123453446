"""The two of each pair put into two halves: what porting rotary embeddings does to queries, keys and their weights."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame import check
from samesame.certificate.replay import replay
from samesame.evidence import Rung

HEADS, SIZE = 2, 8
GIVEN = (torch.randn(2, 5, HEADS * SIZE),)


def angles(length):
    return torch.arange(length).float()[:, None] * 10000 ** (-torch.arange(0, SIZE, 2) / SIZE)


class Pairs(nn.Module):
    """Attention that turns neighbours against one another."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(HEADS * SIZE, HEADS * SIZE, bias=False) for _ in range(3))

    def heads(self, y):
        return y.unflatten(-1, (HEADS, SIZE)).transpose(1, 2)

    def turn(self, y):
        one, other = y[..., ::2], y[..., 1::2]
        cos, sin = angles(y.shape[-2]).cos(), angles(y.shape[-2]).sin()
        return torch.stack((one * cos - other * sin, other * cos + one * sin), -1).flatten(-2)

    def forward(self, x):
        q, k, v = (self.heads(project(x)) for project in (self.q, self.k, self.v))
        scores = self.turn(q) @ self.turn(k).transpose(-1, -2) / SIZE**0.5
        return scores.softmax(-1) @ v


class Halves(Pairs):
    """The same that turns the halves of a head, with the rows of its weights in that order."""

    def __init__(self, pairs, moved=("q", "k"), sign=1):
        super().__init__()
        self.load_state_dict(pairs.state_dict())
        self.sign = sign
        for name in moved:
            rows = getattr(self, name).weight.data.unflatten(0, (HEADS, SIZE // 2, 2))
            getattr(self, name).weight.data = rows.transpose(1, 2).flatten(0, 2).clone()

    def turn(self, y):
        one, other = y.chunk(2, -1)
        cos, sin = (torch.cat([t, t], -1) for t in (angles(y.shape[-2]).cos(), angles(y.shape[-2]).sin()))
        return y * cos + self.sign * torch.cat((-other, one), -1) * sin


class Fused(Halves):
    """The same with one matrix, and halves that are put together last."""

    def __init__(self, pairs):
        super().__init__(pairs)
        self.qkv = nn.Linear(HEADS * SIZE, 3 * HEADS * SIZE, bias=False)
        self.qkv.weight.data = torch.cat([self.q.weight.data, self.k.weight.data, self.v.weight.data])
        del self.q, self.k, self.v

    def turn(self, y):
        one, other = y.chunk(2, -1)
        cos, sin = angles(y.shape[-2]).cos(), angles(y.shape[-2]).sin()
        return torch.cat([one * cos - other * sin, other * cos + one * sin], -1)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, HEADS, SIZE)).permute(2, 0, 3, 1, 4).unbind(0)
        return F.scaled_dot_product_attention(self.turn(q), self.turn(k), v)


@pytest.mark.parametrize("port", [Halves, Fused])
def test_pairs_and_halves_are_the_same_with_weights_in_that_order(port):
    pairs = Pairs()
    verdict = check(pairs, port(pairs), GIVEN, certify=True)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE
    checked, _ = replay(verdict.certificate, None)
    assert checked


@pytest.mark.parametrize("moved, sign", [((), 1), (("q",), 1), (("q", "k"), -1), (("q", "k", "v"), 1)])
def test_weights_in_another_order_or_turned_back_are_not(moved, sign):
    pairs = Pairs()
    assert check(pairs, Halves(pairs, moved, sign), GIVEN).verdict == "different"


def halves(x):
    return torch.cat([x[..., ::2], x[..., 1::2]], -1)


def crossed(x):
    return torch.cat([x[..., 1::2], x[..., ::2]], -1)


def weighed(q, k, v):
    return (q @ k.transpose(-1, -2)).softmax(-1) @ v


def test_what_is_cut_and_put_together_is_related_inside_a_kernel():
    given = tuple(torch.randn(2, 3, 5, SIZE) for _ in range(3))
    put = check(weighed, lambda q, k, v: F.scaled_dot_product_attention(halves(q), halves(k), v, scale=1.0), given)
    assert put.verdict == "same"
    assert check(weighed, lambda q, k, v: weighed(halves(q), crossed(k), v), given).verdict == "different"
