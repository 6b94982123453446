"""Pieces are found by value however they lie, and only where they are."""

from __future__ import annotations

from fractions import Fraction

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.relate.layout import share, values
from samesame.relate.pieces import PieceProposer

SIZES = st.lists(st.sampled_from([2, 3, 4, 6]), min_size=1, max_size=3)


def sizes(left):
    return {name: value.numel() for name, value in left[0].items()}


def draws(shape: list[int], seed: int) -> list[dict[str, torch.Tensor]]:
    random = torch.Generator().manual_seed(seed)
    names = ("other", "x")
    return [{name: torch.randn(shape, generator=random, dtype=torch.float64) for name in names} for _ in range(3)]


@settings(max_examples=60)
@given(SIZES, st.integers(0, 99), st.sampled_from([Fraction(1), Fraction(3), Fraction(1, 3)]), st.data())
def test_a_slice_is_found_rearranged_and_scaled(
    shape: list[int], seed: int, factor: Fraction, data: st.DataObject
) -> None:
    dim = data.draw(st.integers(0, len(shape) - 1))
    start = data.draw(st.integers(0, shape[dim] - 2))
    stop = data.draw(st.integers(start + 1, shape[dim]))
    order = data.draw(st.permutations(range(len(shape))))
    left = draws(shape, seed)
    right = [{"r": run["x"].narrow(dim, start, stop - start).permute(order) * float(factor)} for run in left]
    if right[0]["r"].numel() < 2:
        return
    proposer = PieceProposer(left, sizes(left), [Fraction(3), Fraction(1, 3)])
    found = proposer.candidates(right, "r", tuple(right[0]["r"].shape))
    assert [name for name, _ in found] == ["x"]
    for mine, yours in zip(left, right, strict=True):
        assert torch.allclose(values(found[0][1], mine.__getitem__), yours["r"])


@given(st.integers(1, 3), st.integers(2, 3), st.integers(1, 2), st.integers(0, 99))
def test_heads_of_every_sequence_are_found_in_a_merged_dimension(batch: int, heads: int, own: int, seed: int) -> None:
    left = draws([batch * heads * own, 3], seed)
    for rank in range(heads):
        right = [{"r": run["x"].reshape(batch, heads, own, 3)[:, rank].reshape(-1, 3)} for run in left]
        (name, layout), *_ = PieceProposer(left, sizes(left)).candidates(right, "r", tuple(right[0]["r"].shape))
        assert name == "x" and torch.allclose(values(layout, left[2].__getitem__), right[2]["r"])


def test_what_agrees_on_one_draw_only_is_no_piece() -> None:
    left = draws([4, 3], 0)
    right = [{"r": run["x"][:2].clone()} for run in left]
    right[2]["r"][0, 0] += 1e-3
    assert not PieceProposer(left, sizes(left)).candidates(right, "r", (2, 3))


def test_of_a_piece_that_occurs_twice_the_one_at_the_ranks_place_is_taken() -> None:
    left = [{"x": torch.cat([run["x"], run["x"]])} for run in draws([2, 3], 1)]
    right = [{"r1.k": run["x"][:2]} for run in left]
    for place in (Fraction(0), Fraction(1, 2)):
        proposer = PieceProposer(left, sizes(left), places=lambda _, place=place: [place])
        (_, layout), *_ = proposer.candidates(right, "r1.k", (2, 3))
        assert share(layout, (4, 3)) == place


def test_a_tensor_of_equal_values_is_found_beside_another_that_is_moved_often() -> None:
    """A quotient by max(norm, ε) is the quotient by the norm on every draw, and is transposed for each product."""
    runs = [run["x"] for run in draws([4, 3], 0)]
    left = [{"quotient": x, **{f"moved {k}": x.t() if k % 2 else x.reshape(2, 6) for k in range(4)}, "last": x}
            for x in runs]
    found = PieceProposer(left, sizes(left)).candidates([{"r": x[:2]} for x in runs], "r", (2, 3))
    assert {"quotient", "last"} <= {name for name, _ in found}


@given(st.tuples(*[st.sampled_from([2, 3, 4])] * 3), st.integers(0, 99), st.data())
def test_a_piece_of_a_grid_is_found(shape: tuple[int, ...], seed: int, data: st.DataObject) -> None:
    left = draws(list(shape), seed)
    ranges = []
    for size in shape:
        start = data.draw(st.integers(0, size - 1))
        ranges.append(slice(start, data.draw(st.integers(start + 1, size))))
    right = [{"r": run["x"][tuple(ranges)].clone()} for run in left]
    if right[0]["r"].numel() < 2:
        return
    found = PieceProposer(left, sizes(left)).candidates(right, "r", tuple(right[0]["r"].shape))
    assert [name for name, _ in found] == ["x"]
    for mine, yours in zip(left, right, strict=True):
        assert torch.equal(values(found[0][1], mine.__getitem__), yours["r"])


def test_a_piece_of_a_grid_with_one_other_element_is_none() -> None:
    left = draws([4, 6], 0)
    right = [{"r": run["x"][:2, 2:4].clone()} for run in left]
    right[1]["r"][1, 1] += 1e-3
    assert not PieceProposer(left, sizes(left)).candidates(right, "r", (2, 2))
