"""Attention in windows: pixels are shifted and cut into windows before or after they are projected, and a bias for each
place relative to another stands in a table that one side looks up in a plane and the other in a row."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn

from samesame import check
from samesame.certificate.replay import replay
from samesame.evidence import Rung
from samesame.formula.expr import Size, mul
from samesame.relate.layout import Permute, Reshape, Whole, over_symbols

SIDE, WINDOW, WIDTH, HEADS = 6, 3, 4, 2
SPAN = 2 * WINDOW - 1


def relative(span):
    place = torch.arange(WINDOW)
    rows, columns = place.repeat_interleave(WINDOW), place.repeat(WINDOW)
    return span * (rows[:, None] - rows + WINDOW - 1) + columns[:, None] - columns + WINDOW - 1


class Row(nn.Module):
    """Scores of windows of a plane and a bias, whose place in a row of all biases is a buffer."""

    def __init__(self, span=SPAN, turned=False):
        super().__init__()
        self.table = nn.Parameter(torch.randn(SPAN * SPAN, HEADS))
        index = relative(span)
        self.register_buffer("index", index.T.contiguous() if turned else index, persistent=False)

    def forward(self, scores):
        bias = self.table[self.index.view(-1)].view(WINDOW**2, WINDOW**2, HEADS)
        return (scores + bias.permute(2, 0, 1)).softmax(-1)


class Plane(nn.Module):
    """The same, each bias by its row and column."""

    def __init__(self, theirs):
        super().__init__()
        self.bias = nn.Parameter(theirs.table.detach().T.reshape(HEADS, SPAN, SPAN).contiguous())

    def forward(self, scores):
        place = torch.arange(WINDOW)
        rows, columns = place.repeat_interleave(WINDOW), place.repeat(WINDOW)
        down, across = (line[:, None] - line + WINDOW - 1 for line in (rows, columns))
        return (scores + self.bias[:, down, across]).softmax(-1)


SCORES = (torch.randn(2, HEADS, WINDOW**2, WINDOW**2),)


def test_a_bias_by_relative_places_in_a_buffer_is_one_by_rows_and_columns():
    theirs = Row()
    verdict = check(theirs, Plane(theirs), SCORES, certify=True)
    assert verdict.verdict == "same" and verdict.evidence == Rung.PROVED
    assert any("index of the left is taken as the numbers that it holds: 12, 11, 10" in note for note in verdict.notes)
    checked, _ = replay(verdict.certificate, None)
    assert checked


@pytest.mark.parametrize("other", [partial(Row, turned=True), partial(Row, span=SPAN - 1)])
def test_another_place_is_told_apart(other):
    theirs = other()
    assert check(theirs, Plane(theirs), SCORES).verdict == "different"


class Projected(nn.Module):
    """A plane that is projected, then cut into windows and heads."""

    def __init__(self, heads_first=True):
        super().__init__()
        self.linear, self.heads_first = nn.Linear(WIDTH, WIDTH), heads_first

    def forward(self, x):
        many = SIDE // WINDOW
        x = self.linear(x).tanh()
        x = x.reshape(-1, many, WINDOW, many, WINDOW, HEADS, WIDTH // HEADS).permute(0, 1, 3, 5, 2, 4, 6)
        x = x.reshape(-1, many**2, HEADS, WINDOW**2, WIDTH // HEADS)
        return x.softmax(-2)


class CutFirst(nn.Module):
    """The same, cut first."""

    def __init__(self, theirs, across=False):
        super().__init__()
        self.linear, self.across = theirs.linear, across

    def forward(self, x):
        batch, many = x.shape[0], SIDE // WINDOW
        x = x.view(batch, many, WINDOW, many, WINDOW, WIDTH)
        x = x.permute(0, 3, 1, 2, 4, 5) if self.across else x.permute(0, 1, 3, 2, 4, 5)
        x = self.linear(x.reshape(-1, WINDOW**2, WIDTH)).tanh()
        x = x.view(-1, WINDOW**2, HEADS, WIDTH // HEADS).transpose(1, 2)
        return x.softmax(-2).reshape(batch, many**2, HEADS, WINDOW**2, WIDTH // HEADS)


PLANE = (torch.randn(2, SIDE, SIDE, WIDTH),)


def test_windows_are_cut_before_or_after_a_projection_for_every_batch():
    theirs = Projected()
    verdict = check(theirs, CutFirst(theirs), PLANE)
    assert verdict.verdict == "same" and verdict.evidence == Rung.PROVED
    assert any(size.startswith("B ") for size in verdict.sizes.varying)


def test_windows_in_another_order_are_told_apart():
    theirs = Projected()
    assert check(theirs, CutFirst(theirs, across=True), PLANE).verdict == "different"


B = Size("B", 2)
MANY = mul(4, B)
DIGITS = {
    "a batch of windows, cut": ((MANY, 9), (2, 2, 2, 3, 3), (B, 2, 2, 3, 3)),
    "a batch of windows, whole": ((MANY, 9), (8, 3, 3), (MANY, 3, 3)),
    "a number in front": ((9, MANY), (3, 3, 2, 4), (3, 3, B, 4)),
    "a symbol alone is not cut": ((B, 9), (2, 2, 3, 3), None),
    "nor by another number": ((MANY, 9), (2, 3, 3, 3), None),
}


@pytest.mark.parametrize("name", DIGITS)
def test_digits_of_a_shape_over_symbols(name):
    own, digits, found = DIGITS[name]
    order = tuple(reversed(range(len(digits))))
    layout = Reshape(Permute(Reshape(Whole("x"), digits), order), (72,))
    wide = over_symbols(layout, own, (mul(36, B),))
    assert wide == (None if found is None else Reshape(Permute(Reshape(Whole("x"), found), order), (mul(36, B),)))
