"""A table made anew for every length, and rows of one that was made once: the same at every length that it has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from promises.corpus import state
from samesame import check
from samesame.capture import capture
from samesame.capture.sizes.family import Family, family
from samesame.evidence import Rung
from samesame.formula.region import Region
from samesame.relate.tabulated import tabulated

FREQUENCIES = torch.tensor([1.0, 0.5, 0.25])
ROWS = 16


class Anew(nn.Module):
    """Positions turned into angles at every call; `relative` ones hang on the length."""

    def __init__(self, relative: bool = False) -> None:
        super().__init__()
        self.relative = relative
        self.register_buffer("frequencies", FREQUENCIES.clone(), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        positions = torch.arange(x.shape[1], dtype=torch.float)
        if self.relative:
            positions = positions / x.shape[1] * 5
        angles = positions[:, None] * self.frequencies
        return x * torch.cat((angles.cos(), angles.cos()), -1)


class Kept(nn.Module):
    """Rows of a table: cosines, then sines that this module does not need."""

    def __init__(self, wrong: int | None = None, length: int | None = None) -> None:
        super().__init__()
        positions = torch.arange(ROWS, dtype=torch.float)
        if length is not None:
            positions = positions / length * 5
        angles = positions[:, None] * FREQUENCIES
        table = torch.cat((angles.cos(), angles.sin()), -1)
        if wrong is not None:
            table[wrong, 1] += 0.01
        self.register_buffer("table", table, persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        rows = self.table[torch.arange(x.shape[1])]
        return torch.cat((x[..., :3] * rows[:, :3], x[..., 3:] * rows[:, :3]), -1)


def halves(x: Tensor) -> tuple[Tensor, Tensor]:
    return x[..., :3], x[..., 3:]


def rotated(x: Tensor) -> Tensor:
    """Angles that are said twice, as Transformers' models say them."""
    angles = torch.outer(torch.arange(x.shape[1], dtype=torch.float), FREQUENCIES)
    angles = torch.cat((angles, angles), -1)
    first, second = halves(x)
    return x * angles.cos() + torch.cat((-second, first), -1) * angles.sin()


def turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = halves(x)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


def rotated_by_halves(x: Tensor) -> Tensor:
    angles = torch.outer(torch.arange(x.shape[1], dtype=torch.float), FREQUENCIES)
    return turned(x, angles.cos(), angles.sin())


class Sliced(nn.Module):
    """The first rows of two tables."""

    def __init__(self) -> None:
        super().__init__()
        angles = torch.outer(torch.arange(ROWS, dtype=torch.float), FREQUENCIES)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        return turned(x, self.cos[:length], self.sin[:length])


INPUTS = (torch.randn(2, 5, 6),)


def test_rows_of_a_table_are_what_is_computed_at_every_length() -> None:
    verdict = check(Anew(), Kept(), INPUTS)
    assert (verdict.verdict, verdict.evidence) == ("same", Rung.PROVED)
    assert verdict.covers({"x": (3, ROWS, 6)}) and not verdict.covers({"x": (3, ROWS + 1, 6)})


@pytest.mark.parametrize("wrong", [7, ROWS - 1], ids="row {}".format)
def test_a_row_beyond_the_example_may_be_wrong(wrong: int) -> None:
    verdict = check(Anew(), Kept(wrong), INPUTS)
    assert not verdict.covers({"x": (3, wrong + 1, 6)}), verdict.headline


def test_a_table_made_for_one_length_is_right_at_that() -> None:
    verdict = check(Anew(relative=True), Kept(length=ROWS), (torch.randn(2, ROWS, 6),))
    assert verdict.covers({"x": (2, ROWS, 6)}) and not verdict.covers({"x": (2, 5, 6)}), verdict.headline


def bounded(program: nn.Module, length: int, most: int | None) -> Family:
    """The family of a program and itself, as if `most` were its greatest length."""
    example = (torch.randn(2, length, 6),)

    def record(given: Any) -> Any:
        return capture(program, given, name="left"), capture(program, given, name="right")

    found = family(program, example, record, record(example))
    return replace(found, region=Region(bounds=found.region.bounds | {"T": (2, most)}))


def test_a_table_is_made_of_what_hangs_on_its_place_alone() -> None:
    found = tabulated(bounded(Anew(), 5, ROWS))
    assert found is not None
    assert [tuple(node.shape) for node in found.graphs[0].sources("constant")] == [(3,), (ROWS, 3), (ROWS, 3)]
    assert tabulated(bounded(Anew(), 5, None)) is None
    assert tabulated(bounded(Anew(relative=True), ROWS, ROWS)) is None


def test_a_table_that_says_all_twice_is_looked_through() -> None:
    """Both halves of a tensor, and it whole, stand at the frontier: they are opened where the tables cannot be."""
    assert check(rotated, rotated_by_halves, INPUTS).evidence is Rung.PROVED


def test_the_first_rows_of_a_table_are_as_many_as_it_has() -> None:
    verdict = check(rotated, Sliced(), INPUTS)
    assert verdict.covers({"x": (3, ROWS, 6)}) and not verdict.covers({"x": (3, ROWS + 1, 6)})


def test_a_cache_that_grows_is_one_that_fills_a_buffer():
    """Rows of the buffer are looked up by sizes, in nodes that the example's graph does not have."""
    case = next(case for case in state.CASES if case.name == "cache_by_cat_or_buffer")
    torch.manual_seed(0)
    assert check(case.left(), case.right(), case.inputs(), timeout=30).verdict != "different"
