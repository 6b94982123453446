"""Launches as serving engines write them are read, and what is nearly one of them is not verified."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import Index, Load, Size, index, walk
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.lift import lift, tried

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "served.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize(
    "name, reference",
    [
        ("put_at_places", "place"),
        ("halves", "gated"),
        ("overlapping_halves", "gated"),
        ("choose", "rows_chosen"),
        ("take_next", "taken_next"),
        ("heated", "divided"),
        ("merged", "of_both"),
        ("turned", "turned"),
    ],
)
def test_it_is_verified_and_what_torch_computes(name: str, reference: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{reference}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert not found.against_held


@pytest.mark.parametrize(
    "name, reference",
    [
        ("put_at_places", "place_doubled"),
        ("halves", "gated_by_first"),
        ("overlapping_halves", "gated_by_last"),
        ("choose", "rows_chosen_from_one"),
        ("take_next", "taken_next_but_first"),
        ("heated_but_at_two", "divided"),
    ],
)
def test_it_is_not_what_it_is_not(name: str, reference: str) -> None:
    assert lift(KERNELS.target(name), f"{KERNELS.file}:{reference}").against != "same"


@pytest.mark.parametrize("name", ["put_at_halves", "put_twice", "merged_infinities"])
def test_what_is_nearly_that_is_not_verified(name: str) -> None:
    assert KERNELS.kernel(name).verdict != "verified", KERNELS.states(name)


def test_places_that_are_distinct_in_the_example_are_a_need() -> None:
    assert "distinct(places)" in KERNELS.kernel("put_at_places").headline
    assert "distinct(places[places >= 0])" in KERNELS.kernel("put_padded").headline


def test_a_group_of_a_row_is_read_by_its_own_indices() -> None:
    (formula,) = KERNELS.kernel("grouped").formulas
    assert formula.expr is not None
    assert {len(e.indices) for e in walk(formula.expr[1]) if isinstance(e, Load)} == {2}


def test_the_number_of_a_part_is_below_how_many_there_are() -> None:
    long, many = Size("long", 2), Size("many", 2)
    i, k = index(integers.times_(long, many)), index(long)
    start = integers.times_(long, integers.quotient(i, long))
    prover = IndexProver()
    assert prover.proves((), integers.less(integers.plus_(start, k), integers.times_(long, many)))
    for other in (index(integers.plus_(integers.times_(long, many), 1)), index(Size("n", 2))):
        assert isinstance(other, Index)
        start = integers.times_(long, integers.quotient(other, long))
        assert not prover.proves((), integers.less(integers.plus_(start, k), other.extent))
