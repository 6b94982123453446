"""Reshape: every shape to every other, and no division where dimensions are only regrouped."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from samesame.formula.evaluate import evaluate
from samesame.formula.expr import FloorDiv, Mod, Size, walk
from samesame.formula.tensor import Tensor, leaf
from samesame.operators import meaning_of
from samesame.operators.movement import groups


def reshape(x: Tensor, *shape: object) -> Tensor:
    meaning = meaning_of("aten.view.default")
    assert meaning is not None
    result: Tensor = meaning(x, shape)
    return result


def shapes(n: int, rank: int) -> Iterator[tuple[int, ...]]:
    """All shapes of this rank with n elements."""
    yield from (s for s in product(range(1, n + 1), repeat=rank) if np.prod(s, dtype=int) == n)


ALL = [s for rank in range(1, 4) for s in shapes(12, rank)]


@pytest.mark.parametrize("source", ALL, ids=str)
def test_every_shape_to_every_other(source: tuple[int, ...]) -> None:
    values = np.arange(12.0).reshape(source)
    for target in ALL:
        found = evaluate(reshape(leaf("x", source), *target), {"x": values})
        assert (found == values.reshape(target)).all(), target


@pytest.mark.parametrize("source, target", [((), (1, 1)), ((1,), ()), ((0, 3), (3, 0, 2)), ((1, 1), (1,))])
def test_one_element_and_none(source: tuple[int, ...], target: tuple[int, ...]) -> None:
    values = np.ones(source)
    assert evaluate(reshape(leaf("x", source), *target), {"x": values}).shape == target


B, T, H, D = (Size(name, 1) for name in "BTHD")


@pytest.mark.parametrize("source, target, divides", [
    ((B, T, H * D), (B, T, H, D), False),                  # splitting reads one place: h·D + d
    ((B, T, H, D), (B, T, H * D), True),                   # merging must split the index again
    ((B, T, D), (B * T, D), True),
    ((B, 1, T, 1), (B, T, 1), False),
    ((B, T, 12), (B, T, 3, 4), False),
    ((2, 3, 4), (2, 3, 4), False),
    ((T, B, H), (T, B, 1, H), False),
])
def test_division_stands_only_where_dimensions_merge(source: tuple, target: tuple, divides: bool) -> None:
    _, element = reshape(leaf("x", source), *target).element()
    assert any(isinstance(e, FloorDiv | Mod) for e in walk(element)) == divides


def test_minus_one_is_what_is_left() -> None:
    assert reshape(leaf("x", (B, T, H * D)), B, T, H, -1).shape == (B, T, H, D)
    assert reshape(leaf("x", (4, 6)), -1, 8).shape == (3, 8)


def test_what_cannot_be_told_to_hold_equally_many_is_one_run() -> None:
    rows, width = Size("R", 2), Size("W", 2)
    assert groups((rows, width), (rows, 3, width // 3)) == [([0], [0]), ([1], [1, 2])]
