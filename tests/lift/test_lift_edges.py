"""Edges of images and of tiles: what lies there, how many lanes reach it, and whether there is something at all."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import Size, const, index, where
from samesame.kernels.indices import integers
from samesame.lift import lift, tried
from samesame.lift.edges import as_extrema

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "edges.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 0.5)


@pytest.mark.parametrize("name", ["slope", "largest", "flagged", "turned", "counted"])
def test_a_kernel_is_the_same_as_its_reference(name: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{name}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail


@pytest.mark.parametrize("name, reference", [
    ("slope_from_one", "slope"),
    ("largest", "largest_of_all_but_one_row"),
    ("flagged", "flagged_or_nothing"),
    ("turned", "turned_back"),
])
def test_its_twin_is_not(name: str, reference: str) -> None:
    assert lift(KERNELS.target(name), f"{KERNELS.file}:{reference}").against != "same"


def test_lanes_that_store_one_value_to_places_in_data_keep_the_rest() -> None:
    found = lift(KERNELS.target("banned"), f"{KERNELS.file}:bans")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert lift(KERNELS.target("banned"), f"{KERNELS.file}:bans_all").against != "same"


def test_lanes_that_store_several_values_to_one_place_have_no_formula() -> None:
    states = KERNELS.states("banned_by_lane")
    assert states["coverage"] == "undecided" and KERNELS.kernel("banned_by_lane").verdict != "verified"


def test_a_count_of_elements_below_the_first_one_may_be_of_none() -> None:
    assert KERNELS.states("counted_without_first")["undefined"] != "proved"


def test_a_formula_knows_what_is_said_of_lengths() -> None:
    found = lift(KERNELS.target("logged"), f"{KERNELS.file}:logged", assume=["1 <= lengths <= N"])
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert lift(KERNELS.target("logged"), assume=["0 <= lengths <= N"]).verdict != "verified"


def test_rows_fill_as_many_pages_as_there_are_and_something_of_one() -> None:
    found = lift(KERNELS.target("paged"), f"{KERNELS.file}:paged")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert {"1 ≤ lengths[…]", "0 ≤ lengths[…] ≤ 16·PAGES"} <= set(found.kernels[0].preconditions)
    assert "PAGES ≤ 134217727" in found.kernels[0].headline  # 32 bits hold all places


def test_lanes_beside_a_row_are_no_numbers_where_the_row_has_nothing() -> None:
    found = lift(KERNELS.target("pooled"), f"{KERNELS.file}:pooled")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert "1 ≤ lengths[…]" in found.kernels[0].preconditions


def test_a_row_may_be_on_the_first_page_where_no_row_of_the_example_is() -> None:
    needed = KERNELS.kernel("paged_but_the_first").preconditions
    assert "1 ≤ lengths[…]" in needed and "0 ≤ table[…] < K" in needed
    assert "1 ≤ table[…]" not in needed


def test_a_row_may_have_nothing_where_the_example_has_such_a_row() -> None:
    assert KERNELS.states("paged_of_nothing")["undefined"] != "proved"


def test_a_row_may_fill_more_pages_than_there_are() -> None:
    assert KERNELS.states("paged_too_far")["bounds"] != "proved"


def test_the_greater_of_two_integers_is_their_maximum() -> None:
    j, n = index(Size("n", 2)), Size("n", 2)
    before, last = integers.minus(j, 1), integers.minus(n, 1)
    none = integers.at_least_zero
    greater = as_extrema(where(none(before), before, 0))
    assert greater is as_extrema(integers.flattened("max", (before, const(0))))
    assert as_extrema(where(integers.less(before, 0), 0, before)) is greater
    assert as_extrema(where(none(j), before, const(-1))) is as_extrema(integers.flattened("max", (before, const(-1))))
    assert as_extrema(where(integers.less(j, last), j, last)) is as_extrema(integers.flattened("min", (j, last)))
    for other in (where(none(before), 0, integers.plus_(j, 1)), where(none(integers.minus(j, 3)), before, 0)):
        assert as_extrema(other) is other
