"""Weights side by side, each times a number of its own: a scale folded into the queries' third of a fused matrix."""

import math

import pytest
import torch
from torch import nn

from samesame import check
from samesame.evidence import Rung
from samesame.relate.multiples import Run, runs

WIDE, HEADS = 12, 3
SCALE = 1 / math.sqrt(WIDE // HEADS + 1)
DICE = torch.Generator().manual_seed(0)
A, B = torch.randn(4, 5, generator=DICE), torch.randn(3, 5, generator=DICE)


class Separate(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(WIDE, WIDE) for _ in range(3))

    def heads(self, x):
        return x.unflatten(-1, (HEADS, -1)).transpose(1, 2)

    def forward(self, x):
        q, k, v = (self.heads(layer(x)) for layer in (self.q, self.k, self.v))
        return (q @ k.transpose(-1, -2) * SCALE).softmax(-1) @ v


class Fused(nn.Module):
    """Scores without a scale: it is in the weights of the queries."""

    def __init__(self, separate, scale=SCALE, of_bias=None, turned=False):
        super().__init__()
        parts = separate.q, separate.k, separate.v
        scales = scale, 1.0, 1.0
        weight = torch.cat([part.weight.detach() * s for part, s in zip(parts, scales, strict=True)])
        biases = of_bias or scale, 1.0, 1.0
        self.turned = turned
        self.weight = nn.Parameter(weight.T.contiguous() if turned else weight)
        self.bias = nn.Parameter(torch.cat([part.bias.detach() * s for part, s in zip(parts, biases, strict=True)]))

    def forward(self, x):
        made = x @ (self.weight if self.turned else self.weight.T) + self.bias
        q, k, v = (part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in made.chunk(3, -1))
        return torch.einsum("bhqd,bhkd->bhqk", q, k).softmax(-1) @ v


@pytest.mark.parametrize("turned", [False, True])
def test_a_scale_in_a_third_of_a_fused_matrix(turned):
    left = Separate()
    verdict = check(left, Fused(left, turned=turned), (torch.randn(2, 5, WIDE),))
    assert verdict.verdict == "same" and verdict.evidence is Rung.ROUNDED


@pytest.mark.parametrize("wrong", [dict(scale=SCALE * 1.01), dict(of_bias=1.0), dict(scale=1.0)])
def test_another_scale_or_none(wrong):
    left = Separate()
    assert check(left, Fused(left, **wrong), (torch.randn(2, 5, WIDE),)).verdict == "different"


def told(value, **held):
    return [Run(run.name, run.start, run.stop, round(run.factor, 5)) for run in runs(value, held)]


def test_rows_one_behind_the_other():
    made = torch.cat([A[1:3] * 2, B * -0.5, A[:1]])
    assert told(made, a=A, b=B) == [Run("a", 1, 3, 2.0), Run("b", 0, 3, -0.5), Run("a", 0, 1, 1.0)]
    assert runs(made.reshape(2, 3, 5), {"a": A, "b": B}) is not None
    assert runs(torch.cat([A, B]), {"a": A, "b": B}) is None                # as it is held is a layout
    assert runs(torch.cat([A * 2, torch.randn(1, 5, generator=DICE)]), {"a": A}) is None
    assert told(torch.cat([A[:2] * 2, A[2:] * 3]), a=A) == [Run("a", 0, 2, 2.0), Run("a", 2, 4, 3.0)]


def test_vectors_one_behind_the_other():
    a, b = A.flatten(), B.flatten()
    assert told(torch.cat([b * 3, a]), a=a, b=b) == [Run("b", 0, 15, 3.0), Run("a", 0, 20, 1.0)]
    assert runs(torch.cat([b[:7] * 3, a]), {"a": a, "b": b}) is None


def test_rows_of_nothing_and_of_zeros_are_none():
    assert runs(torch.zeros(3, 5), {"a": A}) is None
    assert runs(torch.cat([A * 2, torch.zeros(1, 5)]), {"a": A}) is None
    assert runs(torch.zeros(0, 5), {"a": A}) is None and runs(A * 2, {}) is None
