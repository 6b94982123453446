"""A reference is compared where the launch's conditions on sizes hold, and at the numbers that it names."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.evidence import Refused
from samesame.formula.expr import Size, const
from samesame.formula.sizes import value_at
from samesame.kernels.indices import integers
from samesame.lift import lift, tried
from samesame.lift.terms import Terms, slack

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "terms.py")
T, L, M = (Size(name, 2) for name in "TLM")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize("name", ["positions", "positions_behind"])
def test_a_table_of_more_rows_is_sliced_at_every_length(name: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{name}")
    assert (found.verdict, found.against, found.against_held) == ("verified", "same", []), found.against_detail


@pytest.mark.parametrize("name, reference", [
    ("positions_behind", "positions"), ("positions", "positions_behind"), ("positions", "last_positions"),
])
def test_other_rows_of_the_table_are_different_in_sizes_of_the_launch(name: str, reference: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{reference}")
    case = found.against_counterexample
    assert found.against == "different" and case is not None and case["sizes"] == {"T": 6, "D": 20, "L": 10}


def test_a_length_that_the_reference_names_is_held_and_said() -> None:
    found = lift(KERNELS.target("count"), f"{KERNELS.file}:count")
    assert (found.verdict, found.against) == ("verified", "same") and found.against_held == ["m = 24"]
    assert lift(KERNELS.target("count"), f"{KERNELS.file}:count_of_more").against != "same"


def test_what_is_written_in_other_terms_is_each_size_again() -> None:
    terms = Terms()
    limits = [integers.at_most(L, M), integers.at_most(integers.plus_(T, 3), L), integers.at_most(T, 8)]
    slack(terms, limits)
    values = terms.values({"T": 4, "L": 9, "M": 12})
    assert set(terms.sizes) == {"L", "M"} and terms.launched(values) == {"T": 4, "L": 9, "M": 12}
    least = values | dict.fromkeys(terms.made, 0)
    assert terms.launched(least) == {"T": 4, "L": 7, "M": 7}
    terms = Terms({"T": 4})
    slack(terms, limits)
    assert value_at(terms.whole["M"], dict.fromkeys(terms.made, 1)) == 9


def test_conditions_that_go_around_in_a_circle_end() -> None:
    terms = Terms()
    slack(terms, [integers.at_most(T, L), integers.at_most(L, integers.plus_(T, const(5)))])
    assert set(terms.sizes) == {"L"}


def test_an_index_that_is_divided_is_in_range_where_the_element_is() -> None:
    found = lift(KERNELS.target("copies"), f"{KERNELS.file}:copies")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert "0 ≤ slots[…] < K·T" in found.kernels[0].preconditions


def test_an_element_beyond_that_is_violated_and_one_below_it_is_open() -> None:
    assert KERNELS.kernel("copies_beyond").verdict == "violated", KERNELS.open("copies_beyond")
    assert KERNELS.states("copies_with_padding")["bounds"] == "undecided"  # −1 // 2 is 0 there


@pytest.mark.parametrize("reference, decided", [
    ("rescaled_positions", "T ≤ 7"), ("refused_positions", "D ≤ 512"), ("unlike_whole_positions", "L ≠ T"),
])
def test_what_a_reference_decides_on_sizes_is_a_condition(reference: str, decided: str) -> None:
    found = lift(KERNELS.target("positions"), f"{KERNELS.file}:{reference}")
    assert (found.against, found.against_held) == ("same", [])
    assert found.against_conditions == [decided] and f"same where {decided}" in found.against_headline


@pytest.mark.parametrize("name", ["defaults", "derived", "bytes"])
def test_a_reference_takes_the_tensors_that_it_names_wherever_the_launch_has_them_from(name: str) -> None:
    """Defaults of its parameters, made of others that the reference does not take, and floats of one byte."""
    found = lift(KERNELS.target(name), f"{KERNELS.file}:scaled")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert lift(KERNELS.target(name), f"{KERNELS.file}:scaled_twice").against == "different"


def test_a_reference_that_takes_what_the_launch_has_not_is_refused() -> None:
    with pytest.raises(Refused, match="have to be called as the launch's tensors"):
        lift(KERNELS.target("defaults"), f"{KERNELS.file}:positions")
