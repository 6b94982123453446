"""How outputs lie on ranks, read off values; a sum that nobody took is never taken for an answer."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samesame.refine.outputs import Found, declared, interleaved, output_relation

Ranks = Callable[[torch.Tensor], list[torch.Tensor]]


def placed(ranks: Ranks, shape: tuple[int, ...] = (4, 6)) -> Found:
    random = torch.Generator().manual_seed(0)
    wanted = [torch.randn(shape, generator=random, dtype=torch.float64) for _ in range(2)]
    return output_relation(wanted, list(zip(*map(ranks, wanted), strict=True)))


def test_the_same_on_every_rank_is_replicated() -> None:
    assert placed(lambda y: [y, y.clone(), y]).kind == "replicated"


@given(st.integers(0, 1), st.integers(2, 4), st.permutations(range(4)))
def test_pieces_are_put_together_in_the_order_in_which_they_lie(dim: int, number: int, order: list[int]) -> None:
    order = [k for k in order if k < number]
    found = placed(lambda y: [y.tensor_split(number, dim)[k] for k in order])
    assert (found.kind, found.dim) == ("sharded", dim)
    assert [group[0] for group in found.groups] == [order.index(k) for k in range(number)]


def test_copies_of_pieces_are_grouped() -> None:
    found = placed(lambda y: [y[:2], y[2:], y[:2], y[2:]])
    assert found.kind == "sharded" and found.groups == ((0, 2), (1, 3))


def test_positions_in_turn_are_strided() -> None:
    found = placed(lambda y: [y[:, 0::2], y[:, 1::2]])
    assert (found.kind, found.dim) == ("strided", 1)
    parts = [torch.tensor([[0, 2]]), torch.tensor([[1, 3]])]
    assert interleaved(parts, 1).tolist() == [[0, 1, 2, 3]]


def test_a_sum_that_nobody_took_is_partial_and_does_not_hold() -> None:
    noise = torch.randn(4, 6, dtype=torch.float64)
    found = placed(lambda y: [y - noise, noise])
    assert found.kind == "partial" and found.factor == 1
    assert not declared(found, None) and declared(found, "partial")
    mean = placed(lambda y: [3 * y - noise, noise, torch.zeros_like(y) + 0])
    assert mean.kind == "partial" and mean.factor == Fraction(1, 3)


@pytest.mark.parametrize("factor", [2, 0.5, 1 / 3, -1])
def test_a_multiple_is_scaled_and_does_not_hold(factor: float) -> None:
    found = placed(lambda y: [y * factor, y * factor])
    assert found.kind == "scaled" and float(1 / found.factor) == pytest.approx(factor) and not declared(found, None)
    assert placed(lambda y: [y[:2] * factor, y[2:] * factor]).kind == "scaled"


def test_other_numbers_are_nothing_of_it() -> None:
    found = placed(lambda y: [y, y + 1e-3])
    assert found.kind == "none" and "rank 1 holds other numbers" in found.words
    assert placed(lambda y: [y[:1], y[1:3]]).kind == "none"


@pytest.mark.parametrize("expected, holds", [
    (None, True), ("sharded", True), ("shard(0)", True), ("sharded(0) over dp", True),
    ("shard(1)", False), ("replicated", False), ("partial(sum)", False),
])
def test_what_is_declared_is_held_to(expected: str | None, holds: bool) -> None:
    assert declared(Found("sharded", "", ((0,), (1,)), 0), expected) is holds
