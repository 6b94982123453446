"""One program keeps sums and products of what the other keeps, packed with the rest: two biases in one row of a matrix,
a scale times a zero point for every element of its group. Other sums and products are differences."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from promises.rounding_pairs import Program
from samesame import check
from samesame.evidence import Rung


def two_biases(packed):
    torch.manual_seed(0)
    parts = {"w": torch.randn(6, 4), "b1": torch.randn(6), "b2": torch.randn(6)}
    held = {name: nn.Parameter(part) for name, part in parts.items()}
    left = Program(lambda m, x: F.linear(x, m.w, m.b1) + m.b2, **held)
    matrix = nn.Parameter(torch.cat([packed(parts["b1"], parts["b2"])[:, None], parts["w"]], 1).T.contiguous())
    right = Program(lambda m, x: torch.cat([torch.ones_like(x[:, :1]), x], 1) @ m.matrix, matrix=matrix)
    return left, right, (torch.randn(3, 4),)


def by_group(product):
    torch.manual_seed(0)
    codes, scale, zero = torch.randn(6, 8), torch.rand(6, 2) + 0.1, torch.randint(1, 16, (6, 2)).float()

    def grouped(m, x):
        return F.linear(x, ((m.codes.view(6, 2, 4) - m.zero[..., None]) * m.scale[..., None]).view(6, 8))

    left = Program(grouped, codes=codes, scale=scale, zero=zero)
    whole = {"s": scale.repeat_interleave(4, 1), "sz": product(scale, zero).repeat_interleave(4, 1)}
    right = Program(lambda m, x: F.linear(x, m.codes * m.s - m.sz), codes=codes.clone(), **whole)
    return left, right, (torch.randn(3, 8),)


@pytest.mark.parametrize("pair", [two_biases(torch.add), by_group(torch.mul)], ids=["two biases", "by group"])
def test_sums_and_products_of_what_the_other_keeps_are_read_as_such(pair):
    verdict = check(*pair)
    assert verdict.verdict == "same" and verdict.evidence is Rung.ROUNDED
    assert any("b1 + b2" in str(reading) or "zero·scale" in str(reading) for reading in verdict.readings)


@pytest.mark.parametrize(
    "pair",
    [two_biases(lambda a, b: a + 2 * b), two_biases(lambda a, b: a), by_group(lambda s, z: s * (z + 1))],
    ids=["twice one", "one left out", "another zero point"],
)
def test_other_sums_and_products_are_differences(pair):
    assert check(*pair).verdict == "different"
