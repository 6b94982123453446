"""A mask that one program keeps in a buffer is the mask that the other makes, or that its kernel knows of itself."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame import check
from samesame.certificate.replay import replay
from samesame.evidence import Rung
from samesame.relate.masks import triangle

ONES = torch.ones(5, 7)
TRIANGLES = {
    "causal": (ONES.tril(), "1 where j ≤ i, and"),
    "of truth values": (ONES.bool().tril(2)[None, None], "true where j ≤ i + 2,"),
    "added": (torch.full((4, 4), float("-inf")).triu(1), "−∞ where j ≥ i + 1,"),
    "far below": (ONES.tril(-2), "1 where j ≤ i − 2,"),
    "above and more": ((3 * ONES).triu(-1), "3 where j ≥ i − 1,"),
}


@pytest.mark.parametrize("name", TRIANGLES)
def test_triangles_are_told(name):
    value, said = TRIANGLES[name]
    found = triangle(value)
    assert said in str(found)
    plane = torch.full(found.shape, found.number.item())
    made = plane.triu(found.diagonal) if found.upper else plane.tril(found.diagonal)
    assert torch.equal(made.to(value.dtype), value.reshape(found.shape))


@pytest.mark.parametrize("value", [ONES, 0 * ONES, ONES.tril() + ONES.tril(-1), ONES.tril().flip(1), ONES[0]])
def test_what_is_no_triangle_is_told_too(value):
    assert triangle(value) is None


class Buffered(nn.Module):
    def __init__(self, diagonal=0):
        super().__init__()
        self.register_buffer("mask", torch.ones(9, 9).tril(diagonal)[None])

    def forward(self, q, k, v):
        size = q.shape[-2]
        scores = (q @ k.mT / 2).masked_fill(self.mask[:, :size, :size] == 0, float("-inf"))
        return scores.softmax(-1) @ v


def causal(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


GIVEN = tuple(torch.randn(2, 6, 4) for _ in range(3))


def test_a_mask_in_a_buffer_is_the_mask_that_a_kernel_knows():
    verdict = check(Buffered(), causal, GIVEN, certify=True)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE
    assert any("buffer mask of the left is taken as the mask that it holds: 1 where j ≤ i" in n for n in verdict.notes)
    checked, _ = replay(verdict.certificate, None)
    assert checked


@pytest.mark.parametrize("diagonal", [1, 2])
def test_a_mask_with_another_diagonal_is_a_difference(diagonal):
    assert check(Buffered(diagonal), causal, GIVEN).verdict == "different"
    assert check(Buffered(0), Buffered(diagonal), GIVEN).verdict == "different"
