"""A mask that one program keeps in a buffer is the mask that the other makes, or that its kernel knows of itself."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame import check
from samesame.certificate.replay import replay
from samesame.evidence import Rung
from samesame.operators.execute import resolve
from samesame.relate.joint import JointGraph, Slot
from samesame.relate.masks import Counting, counts, triangle

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


PLACE = torch.arange(3)
ROWS, COLUMNS = PLACE.repeat_interleave(3), PLACE.repeat(3)
COUNTS = {
    "positions": (torch.arange(40)[None], Counting(0, ((40, 1),))),
    "backwards": (torch.arange(9, 2, -1, dtype=torch.int32), Counting(9, ((7, -1),))),
    "in steps": (torch.tensor([[-4], [-1], [2]]), Counting(-4, ((3, 3),))),
    "a plane": (torch.arange(12).reshape(3, 4), Counting(0, ((12, 1),))),
    "each twice": (torch.tensor([5, 5, 6, 6, 7, 7]), Counting(5, ((3, 1), (2, 0)))),
    "again and again": (torch.arange(4).repeat(3), Counting(0, ((3, 0), (4, 1)))),
    "up and across": (ROWS[:, None] - ROWS, Counting(0, ((3, 1), (3, 0), (3, -1), (3, 0)))),
    "relative to one another": (
        5 * (ROWS[:, None] - ROWS + 2) + COLUMNS[:, None] - COLUMNS + 2,
        Counting(12, ((3, 5), (3, 1), (3, -5), (3, -1))),
    ),
    "two": (torch.tensor([0, 1]), None),
    "any two by two": (torch.tensor([[4, 1], [6, 3]]), None),
    "all alike": (torch.zeros(5, dtype=torch.int64), None),
    "one out of turn": (torch.tensor([0, 1, 2, 4]), None),
    "one out of turn in a plane": (torch.tensor([[0, 1, 2], [5, 6, 7], [10, 11, 13]]), None),
    "steps that differ": (torch.tensor([[0, 1, 2], [5, 7, 9], [10, 13, 16]]), None),
    "heads out of turn": (torch.tensor([[0, 1, 2], [5, 6, 7], [11, 12, 13], [15, 16, 17]]), None),
    "reals": (torch.arange(5.0), None),
    "truth values": (torch.tensor([False, True, True]), None),
    "wrapped around": (torch.tensor([0, 2**62, -(2**63)]), None),
}


@pytest.mark.parametrize("name", COUNTS)
def test_numbers_that_count_are_told(name):
    value, found = COUNTS[name]
    assert counts(value) == found


@pytest.mark.parametrize("name", [name for name, (_, found) in COUNTS.items() if found])
def test_numbers_that_count_are_what_is_entered_for_them(name):
    """The graph of terms holds operators that make them, and no constant."""
    value, _ = COUNTS[name]
    joint = JointGraph()
    joint.add_constant(value)
    made = dict[int, torch.Tensor]()
    for term, type_ in joint.types.items():
        args, kwargs = joint.given(term)
        of = [made[part] for part in joint.egraph.term(term).arguments]
        made[term] = resolve(joint.egraph.term(term).operator)(*(_filled(part, of) for part in args), **dict(kwargs))
        assert tuple(made[term].shape) == type_.shape
    assert torch.equal(made[term], value.long())


def _filled(argument, tensors):
    return tensors[argument.position] if isinstance(argument, Slot) else argument


class Embedded(nn.Module):
    """Words and positions, which a buffer counts."""

    def __init__(self, step=1):
        super().__init__()
        self.words, self.places = nn.Embedding(11, 6), nn.Embedding(80, 6)
        self.register_buffer("position_ids", step * torch.arange(40)[None], persistent=False)
        self.norm = nn.LayerNorm(6)

    def forward(self, ids):
        return self.norm(self.words(ids) + self.places(self.position_ids[:, : ids.shape[1]]))


class Cut(nn.Module):
    """The same with as many rows of the table as there are words, from the row `first` on."""

    def __init__(self, module, first=0, step=1):
        super().__init__()
        self.module, self.first, self.step = module, first, step

    def forward(self, ids):
        table = self.module.places.weight[self.first :: self.step][: ids.shape[1]]
        return self.module.norm(self.module.words(ids) + table)


IDS = (torch.randint(0, 11, (2, 7)),)


@pytest.mark.parametrize("step", [1, 2])
def test_positions_that_a_buffer_counts_are_rows_cut_out_of_a_table(step):
    module = Embedded(step).eval()
    verdict = check(module, Cut(module, step=step).eval(), IDS, certify=True)
    assert verdict.verdict == "same" and verdict.evidence == Rung.PROVED
    assert any("position_ids of the left is taken as the numbers" in note for note in verdict.notes)
    checked, _ = replay(verdict.certificate, None)
    assert checked


@pytest.mark.parametrize("first, step", [(1, 1), (0, 2)])
def test_other_rows_of_the_table_are_not(first, step):
    module = Embedded().eval()
    assert check(module, Cut(module, first, step).eval(), IDS).verdict == "different"
