"""How outputs lie on ranks, read off values; a sum that nobody took is never taken for an answer."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from samesame.refine.due import Due
from samesame.refine.outputs import Found, output_relation

Ranks = Callable[[torch.Tensor], list[torch.Tensor]]


def declared(found: Found, text: str | None) -> bool:
    """Whether an output that lies so may, as this text declares it."""
    return Due("0", range(4), text).holds(found)


def placed(ranks: Ranks, first: int = 0, more: int = 0) -> Found:
    """How an output lies on ranks that return what `ranks` makes of it, from `first` on; `more` return nothing."""
    random = torch.Generator().manual_seed(0)
    wanted = [torch.randn(4, 6, generator=random, dtype=torch.float64) for _ in range(2)]
    held = dict(enumerate(zip(*map(ranks, wanted), strict=True), first))
    return output_relation(wanted, held, len(held) + more)


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
    assert found.words == "every 2th position of dimension 1 a rank" and declared(found, "strided(1, 3)")


@given(st.permutations(range(2)))
def test_each_part_of_a_fused_tensor_may_be_cut(order: list[int]) -> None:
    def fused(y: torch.Tensor) -> list[torch.Tensor]:
        first, second = y.repeat(2, 1).add(torch.arange(48).reshape(8, 6)).chunk(2)
        halves = [torch.cat([first.chunk(2)[k], second.chunk(2)[k]]) for k in range(2)]
        return [halves[k] for k in order]

    def whole(y: torch.Tensor) -> torch.Tensor:
        return y.repeat(2, 1).add(torch.arange(48).reshape(8, 6))

    wanted = [torch.randn(4, 6, dtype=torch.float64) for _ in range(2)]
    held = dict(enumerate(zip(*map(fused, wanted), strict=True)))
    found = output_relation(list(map(whole, wanted)), held, 2)
    assert (found.kind, found.dim, found.parts) == ("strided", 0, 2)
    assert [group[0] for group in found.groups] == [order.index(k) for k in range(2)]
    assert declared(found, "strided(0, 2)") is (order == [0, 1]) and not declared(found, "strided(0, 4)")
    assert declared(found, f"strided(0, 2) in the order of ranks {order.index(0)}, {order.index(1)}")


def test_a_sum_that_nobody_took_is_partial_and_does_not_hold() -> None:
    noise = torch.randn(4, 6, dtype=torch.float64)
    found = placed(lambda y: [y - noise, noise])
    assert found.kind == "partial" and found.factor == 1
    assert not declared(found, None) and declared(found, "partial")
    mean = placed(lambda y: [3 * y - noise, noise, torch.zeros_like(y) + 0])
    assert mean.kind == "partial" and mean.factor == Fraction(1, 3)
    assert declared(mean, "partial(avg)") and not declared(mean, "partial") and not declared(found, "partial(avg)")


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
    (None, False), ("sharded", True), ("shard(0)", True), ("sharded(0) over dp", True),
    ("shard(1)", False), ("replicated", False), ("partial(sum)", False),
])
def test_what_is_declared_is_held_to(expected: str | None, holds: bool) -> None:
    assert declared(Found("sharded", "", ((0,), (1,)), 0), expected) is holds


@pytest.mark.parametrize("groups, expected, holds", [
    (((1,), (0,)), "shard(0)", False),
    (((1,), (0,)), "shard(0) in the order of ranks 1, 0", True),
    (((0,), (1,)), "shard(0) in the order of ranks 1, 0", False),
    (((0, 2), (1, 3)), "shard(0)", True), (((0, 1), (2, 3)), "shard(0)", True),
    (((0, 3), (1, 2)), "shard(0)", False),                 # the second copy lies the other way round
])
def test_pieces_are_due_in_the_order_of_the_ranks(
    groups: tuple[tuple[int, ...], ...], expected: str, holds: bool
) -> None:
    assert declared(Found("sharded", "", groups, 0), expected) is holds


@pytest.mark.parametrize("groups, holds", [(((0,), (1,)), False), (((1,), (0,)), True)])
def test_a_gradient_is_due_where_its_weight_is(groups: tuple[tuple[int, ...], ...], holds: bool) -> None:
    due = Due("grad.weight", range(2), None, order=((1,), (0,)))
    assert due.holds(Found("sharded", "", groups, 0)) is holds


def test_an_output_that_some_ranks_return_is_told_of_those() -> None:
    last = placed(lambda y: [y], first=3, more=3)
    assert (last.kind, last.groups, last.words) == ("replicated", ((3,),), "whole on rank 3 only")
    cut = placed(lambda y: [y[:2], y[2:]], first=1, more=1)
    assert cut.kind == "sharded" and cut.words.endswith("on ranks 1, 2 only") and cut.groups == ((1,), (2,))
    assert placed(lambda y: [2 * y], more=1).words == "2 times the output, on rank 0 only"
    assert placed(lambda y: [y[:2]], more=1).kind == "none"                    # the rest of it is nowhere
    assert placed(lambda y: [], more=2).words == "no rank returns it"


@pytest.mark.parametrize("expected, holds", [("replicated on the last rank", True), ("partial on rank 3", False)])
def test_where_an_output_is_looked_for_is_no_part_of_how_it_lies(expected: str, holds: bool) -> None:
    assert declared(Found("replicated", "", ((3,),)), expected) is holds
