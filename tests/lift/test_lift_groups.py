"""A program may have a run of elements of its own that goes over several dimensions, as a group of channels does."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import Size, const, index
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices import integers
from samesame.kernels.indices.ranges import holds_by_ranges
from samesame.kernels.indices.solver import IndexProver
from samesame.lift import lift, tried

FILE = Path(__file__).parents[1] / "launches" / "groups.py"
LAUNCHES = Lifted(FILE)
GROUPS, CHANNELS, HEIGHT, WIDTH = (Size(name, 2) for name in ("groups", "channels", "height", "width"))


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 2.0)


@pytest.mark.parametrize("name, reference", [("normed", "reference"), ("normed_by_rows", "rows")])
def test_a_run_over_several_dimensions_is_its_programs_own(name: str, reference: str) -> None:
    found = lift(LAUNCHES.target(name), f"{FILE}:{reference}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail


def test_a_spread_with_what_lies_beyond_the_run_is_another_one() -> None:
    found = lift(LAUNCHES.target("with_what_lies_beyond"), f"{FILE}:reference")
    assert (found.kernels[0].verdict, found.against) == ("verified", "different"), found.against_detail


@pytest.mark.parametrize("name", ["one_longer", "one_shorter", "one_late", "normed_by_rows_that_overlap"])
def test_runs_that_overlap_or_leave_gaps_are_not_verified(name: str) -> None:
    assert LAUNCHES.kernel(name).verdict != "verified"


def test_a_rest_below_a_step_does_not_count_in_a_quotient() -> None:
    area = integers.times_(HEIGHT, WIDTH)
    channel, place = index(integers.times_(GROUPS, CHANNELS)), index(area)
    inside = integers.plus_(integers.times_(channel, area), place)
    simplify = Simplifier(IndexProver())
    group = integers.quotient(channel, CHANNELS)
    assert simplify(integers.quotient(inside, integers.times_(CHANNELS, area))) is group
    beyond = integers.plus_(inside, 1)
    assert simplify(integers.quotient(beyond, integers.times_(CHANNELS, area))) is not group


def test_a_part_of_one_group_and_a_place_in_it_are_a_place_in_all() -> None:
    channel, place = index(integers.times_(GROUPS, CHANNELS)), index(integers.times_(CHANNELS, WIDTH))
    first = integers.times_(integers.quotient(channel, CHANNELS), CHANNELS)
    whole = integers.plus_(first, integers.quotient(place, WIDTH))
    assert holds_by_ranges(integers.less(whole, integers.times_(GROUPS, CHANNELS)))
    assert not holds_by_ranges(integers.less(integers.plus_(whole, 1), integers.times_(GROUPS, CHANNELS)))


@pytest.mark.parametrize("name, reference", [
    ("scaled_by_groups", "by_groups"), pytest.param("four_groups", "four_groups", marks=pytest.mark.long),
])
def test_groups_of_which_a_row_has_any_number_are_those_of_the_reference(name: str, reference: str) -> None:
    found = lift(LAUNCHES.target(name), f"{FILE}:{reference}")
    assert (found.verdict, found.against, found.against_held) == ("verified", "same", []), found.against_detail


def test_a_group_that_is_read_from_another_place_is_different() -> None:
    assert lift(LAUNCHES.target("scaled_by_groups_late"), f"{FILE}:by_groups").against == "different"


def test_of_a_row_of_whole_groups_a_group_has_a_row() -> None:
    row, column = index(Size("rows", 2)), index(WIDTH)
    line = integers.plus_(integers.times_(row, WIDTH), column)
    groups = integers.times_(integers.quotient(WIDTH, const(32)), row)
    inside = integers.quotient(column, const(32))
    simplify = Simplifier(IndexProver())
    assert simplify(integers.quotient(line, const(32))) is not integers.plus_(groups, inside)
    simplify.prover.assume(integers.equal(integers.remainder(WIDTH, const(32)), 0))
    simplify.forget()
    assert simplify(integers.quotient(line, const(32))) is integers.plus_(groups, inside)
    assert simplify(integers.times_(32, groups)) is integers.times_(row, WIDTH)
    assert simplify(integers.quotient(line, integers.quotient(WIDTH, const(32)))) is integers.plus_(
        integers.times_(32, row), integers.quotient(column, integers.quotient(WIDTH, const(32)))
    )
    assert simplify(integers.quotient(line, const(64))) is integers.quotient(line, const(64))
    assert simplify(integers.times_(16, groups)) is integers.times_(16, groups)
