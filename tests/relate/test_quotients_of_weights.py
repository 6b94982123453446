"""One program divides by scales of channels, the other keeps weights that were divided by them before."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from promises.rounding_pairs import Program
from samesame import check
from samesame.evidence import Rung
from samesame.relate.formulas import divides

DICE = torch.Generator().manual_seed(0)
NORM, SHIFT, SCALE = (torch.rand(4, generator=DICE) + 0.5 for _ in range(3))
MATRIX = torch.randn(3, 4, generator=DICE)


def kept(*values):
    return [nn.Parameter(value.clone()) for value in values]


def scaled_norm(m, x):
    return F.layer_norm(x, (4,), m.weight, m.bias) / m.scale


def folded_norm(m, x):
    return F.layer_norm(x, (4,), m.weight, m.bias)


def into_a_norm(weight, bias):
    names = "weight", "bias", "scale"
    left = Program(scaled_norm, **dict(zip(names, kept(NORM, SHIFT, SCALE), strict=True)))
    return left, Program(folded_norm, **dict(zip(names, kept(weight, bias), strict=False))), torch.randn(2, 4)


def into_a_matrix(matrix):
    left = Program(lambda m, x: F.linear(F.relu(x) / m.scale, m.matrix), **dict(
        zip(("matrix", "scale"), kept(MATRIX, SCALE), strict=True)))
    right = Program(lambda m, x: F.linear(F.relu(x), m.matrix), matrix=kept(matrix)[0])
    return left, right, torch.randn(2, 4)


SAME = {"a norm": into_a_norm(NORM / SCALE, SHIFT / SCALE), "a matrix": into_a_matrix(MATRIX / SCALE)}
NOT_SAME = {
    "the bias was forgotten": into_a_norm(NORM / SCALE, SHIFT),
    "multiplied instead": into_a_norm(NORM * SCALE, SHIFT * SCALE),
    "another order of channels": into_a_matrix(MATRIX / SCALE.flip(0)),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_a_weight_is_read_as_the_quotient_that_it_is_a_rounding_of(pair):
    left, right, x = pair
    verdict = check(left, right, (x,))
    assert verdict.verdict == "same" and verdict.evidence is Rung.ROUNDED


@pytest.mark.parametrize("pair", NOT_SAME.values(), ids=NOT_SAME)
def test_another_quotient_is_a_difference(pair):
    left, right, x = pair
    assert check(left, right, (x,)).verdict == "different"


def test_nothing_is_divided_by_a_scale_that_holds_a_zero():
    assert divides(SCALE) and not divides(torch.cat([SCALE, torch.zeros(1)]))
