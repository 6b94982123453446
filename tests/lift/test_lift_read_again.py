"""What a kernel reads where it also stores: its lane's own of before, or what was there, if nobody was there first."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.kernels.aliasing import SAME_THREADS
from samesame.kernels.execution.barriers import GRANTED
from samesame.lift import lift, tried

FILE = Path(__file__).parents[1] / "launches" / "read_again.py"
LAUNCHES = Lifted(FILE)


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize("name, reference", [
    ("added_and_scaled", "added_and_scaled"),
    ("twice", "twice"),
    ("by_two_pointers", "by_two_pointers"),               # that they are one is known when the loop has closed forms
    ("normalised", "normalised"),
    ("chosen", "chosen"),                                 # a sum over the row lies between the read and the stores
    ("chosen_behind_a_barrier", "chosen"),
])
def test_it_is_verified_and_what_torch_computes(name: str, reference: str) -> None:
    found = lift(LAUNCHES.target(name), f"{FILE}:reference_{reference}")
    assert (found.verdict, found.against) == ("verified", "same"), (LAUNCHES.open(name), found.against_detail)


@pytest.mark.parametrize("name", ["added_and_scaled", "twice", "by_two_pointers", "normalised", "chosen"])
def test_the_formula_is_what_the_interpreter_stores(name: str) -> None:
    assert LAUNCHES.error(name) < 1e-5


@pytest.mark.parametrize("name", [
    "twice_without_waiting", "twice_by_two_blocks",
    "twice_shifted", "twice_in_other_tiles", "twice_but_the_last", "twice_of_more", "one_place", "stored_over",
    "stored_ahead", "many_times", "through_a_view", "with_the_next_row",
    "chosen_at_once", "chosen_behind_the_sum", "chosen_within", "chosen_by_a_warp", "chosen_beside_tiles",
    "chosen_if_there_are_many", "chosen_of_the_next", "chosen_too_late",
])
def test_where_another_lane_turn_or_program_may_be_there_first_nothing_is_verified(name: str) -> None:
    assert LAUNCHES.kernel(name).verdict != "verified"


def test_that_a_lane_lies_in_one_thread_is_told_where_nothing_else_puts_a_read_and_a_store_in_order() -> None:
    for name in ("wiped", "filled"):
        assert SAME_THREADS in LAUNCHES.kernel(name).preconditions
    assert SAME_THREADS not in LAUNCHES.kernel("twice").preconditions
    assert GRANTED in LAUNCHES.kernel("added_and_scaled").preconditions


@pytest.mark.parametrize("name, reference", [
    ("added_and_scaled", "scaled_before"),                # what the first loop found, not what it left
    ("by_two_pointers", "before_it_is_stored"),
    ("one_place", "one_place"),
    ("stored_over", "stored_over"),
    ("stored_ahead", "stored_ahead"),
    ("many_times", "many_times"),
    ("through_a_view", "through_a_view"),
    ("twice_but_the_last", "twice"),
    ("chosen_too_late", "chosen"),
    ("chosen_of_the_next", "chosen"),
])
def test_it_is_not_what_it_is_not(name: str, reference: str) -> None:
    assert lift(LAUNCHES.target(name), f"{FILE}:reference_{reference}").against != "same"
