"""Edges of images, the largest of tiles, places that several lanes reach, halves of rows, counts of at least one."""

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
