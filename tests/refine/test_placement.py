"""Placements: what people write is what torch cuts."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.distributed.tensor import Shard

from samesame.evidence import Refused
from samesame.refine.placement import Placement, coordinate, from_the_front, holders, parsed, piece
from samesame.relate.layout import values

MESH = {"dp": 2, "tp": 3}


@given(st.lists(st.integers(1, 7), min_size=1, max_size=3), st.data())
def test_a_shard_is_torchs_chunk(shape: list[int], data: st.DataObject) -> None:
    dim, ranks = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.integers(1, 5))
    whole = torch.arange(torch.Size(shape).numel()).reshape(shape)
    chunks = whole.chunk(ranks, dim)
    for rank in range(ranks):
        layout, size = piece("w", shape, [Placement("sharded", dim)], rank, {"ranks": ranks})
        held = values(layout, lambda _: whole)
        assert tuple(held.shape) == size
        assert torch.equal(held, chunks[rank]) if rank < len(chunks) else held.numel() == 0


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_a_strided_shard_cuts_each_part(parts: int, own: int, ranks: int) -> None:
    whole = torch.arange(2 * parts * own * ranks).reshape(2, -1)
    for rank in range(ranks):
        layout, _ = piece("w", whole.shape, [Placement("strided", 1, parts)], rank, {"ranks": ranks})
        wanted = torch.cat([part.chunk(ranks, 1)[rank] for part in whole.chunk(parts, 1)], 1)
        assert torch.equal(values(layout, lambda _: whole), wanted)


def test_axes_of_a_mesh_are_counted_from_the_last() -> None:
    assert [coordinate(rank, "dp", MESH) for rank in range(6)] == [(0, 2)] * 3 + [(1, 2)] * 3
    assert [coordinate(rank, "tp", MESH)[0] for rank in range(6)] == [0, 1, 2, 0, 1, 2]
    whole = torch.arange(24).reshape(4, 6)
    placements = parsed("shard(0) over dp, sharded(1) over tp", "x", MESH)
    layout, size = piece("x", (4, 6), placements, 5, MESH)
    assert size == (2, 2) and torch.equal(values(layout, lambda _: whole), whole[2:, 4:])


@pytest.mark.parametrize("text, what", [
    ("sharded", "unknown"),
    ("shard(x)", "unknown"),
    ("shard(0) over pp", "the mesh has dp, tp"),
    ("", "unknown"),
])
def test_a_placement_that_cannot_be_read_is_refused_by_name(text: str, what: str) -> None:
    with pytest.raises(Refused, match=f"of x .*{what}"):
        parsed(text, "x", MESH)


@pytest.mark.parametrize("placement, what", [
    (Placement("sharded", 2), "has 2 dimensions"),
    (Placement("strided", 0, 3), "does not divide"),
    (Placement("partial"), "says nothing of what a rank holds"),
])
def test_a_placement_that_a_tensor_cannot_have_is_refused(placement: Placement, what: str) -> None:
    with pytest.raises(Refused, match=what):
        piece("x", (4, 6), [placement], 0, MESH)


@pytest.mark.parametrize("text, bare, ranks", [
    ("replicated", "replicated", [0, 1, 2, 3]),
    ("shard(0) over tp on ranks 2-3", "shard(0) over tp", [2, 3]),
    ("replicated on rank 1", "replicated", [1]),
    ("partial(avg) on the last rank", "partial(avg)", [3]),
])
def test_an_output_may_be_looked_for_on_some_ranks(text: str, bare: str, ranks: list[int]) -> None:
    rest, found = holders(text, "y", 4)
    assert (rest, list(found)) == (bare, ranks)


@pytest.mark.parametrize("text", ["replicated on rank 4", "replicated on ranks 3-2", "replicated on ranks 2-9"])
def test_ranks_that_there_are_not_are_refused_by_name(text: str) -> None:
    with pytest.raises(Refused, match="of y names ranks that there are not: they are 0 to 3"):
        holders(text, "y", 4)


def test_dimensions_may_be_counted_from_the_end() -> None:
    assert from_the_front("shard(-1) over tp, strided(-3, 2)", "y", 3) == "shard(2) over tp, strided(0, 2)"
    assert from_the_front("replicated on rank 1", "y", 0) == "replicated on rank 1"
    with pytest.raises(Refused, match=r"y has 2 dimensions"):
        from_the_front("shard(-3)", "y", 2)


def test_what_is_no_text_is_refused_by_name() -> None:
    for read in (lambda: parsed(Shard(0), "y", MESH), lambda: holders(Shard(0), "y", 2)):
        with pytest.raises(Refused, match=r"placement Shard\(dim=0\) of y is no text; write replicated"):
            read()
