"""What the launch function's body makes of its examples is known to a reference, and so are sizes as numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

pytest.importorskip("triton")

from lifted import Lifted
from samesame.evidence import Refused
from samesame.lift import lift, tried
from samesame.lift.differences import told_as_refused

FILE = Path(__file__).parents[1] / "launches" / "made.py"
LAUNCHES = Lifted(FILE)


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize("name, reference, answer", [
    ("centred", "by_what_it_is_made_of", "same"),
    ("centred", "by_itself", "same"),
    ("centred", "with_another_sign", "different"),
    ("unnamed", "by_what_it_is_made_of", "same"),
    ("unnamed", "with_another_sign", "different"),
    ("masked", "by_its_mask", "undecided"),               # an infinity, which the kernel's formula does not count with
    ("in_place", "of_what_it_was", "undecided"),          # equal, but what is written in place is not followed
    ("in_place", "of_what_it_became", "different"),
    ("counted", "by_the_count", "same"),                  # of what was written before anybody read it
    ("counted", "by_the_count_and_autograd", "same"),
    ("counted", "by_the_count_of_all_and_autograd", "different"),
    ("counted_before", "by_the_count", "different"),
    ("counted_twice", "by_both_counts", "same"),
    ("counted_twice", "by_the_count", "different"),
    ("with_another", "without_the_other", "different"),
    ("behind_a_barrier", "without_the_other", "same"),     # as Inductor writes kernels
    ("groups", "by_the_number", "same"),
    ("groups", "by_a_default", "same"),
    ("groups", "by_the_next_number", "different"),
])
def test_a_reference_takes_what_the_launch_makes_or_what_it_is_made_of(name: str, reference: str, answer: str) -> None:
    found = lift(LAUNCHES.target(name), against=f"{FILE}:{reference}")
    assert (found.kernels[0].verdict, found.against) == ("verified", answer), found.against_detail
    if name == "groups" and answer == "same":
        assert not found.against_held                     # for every number of groups


@pytest.mark.parametrize("name, reference", [
    ("quantised", "ten_times"),                           # a cast cuts
    ("drawn_over", "twice"),
    ("scaled_by_a_constant", "twice"),
    ("each_of_a_list", "twice"),                          # an operator that returns nothing
    ("changed_by_a_helper", "twice"),
    ("short_integers", "five_times"),                     # they wrap around
    ("bits", "ones"),                                     # the bits of 1.0 are no 1
])
def test_what_changes_an_example_on_the_way_is_not_passed_over(name: str, reference: str) -> None:
    assert lift(LAUNCHES.target(name), against=f"{FILE}:{reference}").against != "same"


def test_a_number_that_the_launch_has_not_is_refused_by_name() -> None:
    with pytest.raises(Refused, match=r"tensors \(x\), and as its sizes \(.*groups.*\): missing.*parts"):
        lift(LAUNCHES.target("groups"), against=f"{FILE}:by_a_number_of_its_own")


def test_integers_are_from_zero_on_where_the_example_has_none_below_and_that_is_said() -> None:
    found = lift(LAUNCHES.target("flagged"), against=f"{FILE}:where_above_zero")
    assert (found.against, "0 ≤ flags[…]" in found.kernels[0].headline) == ("same", True), found.against_detail


@pytest.mark.parametrize("name, reference", [("flagged_below", "where_above_zero"), ("flagged", "where_above_one")])
def test_what_differs_on_integers_of_the_example_is_different(name: str, reference: str) -> None:
    assert lift(LAUNCHES.target(name), against=f"{FILE}:{reference}").against == "different"


def test_what_a_reference_raises_on_the_tensors_of_a_run_is_a_sentence() -> None:
    said = r"the reference fails: .*IndexError: index 34 is out of bounds"
    with pytest.raises(Refused, match=said), told_as_refused():
        torch.ones(3)[torch.tensor([34])]


def test_what_a_helper_reads_before_it_is_written_to_is_refused() -> None:
    """The helper counts what was there, and the reference what is there in the end."""
    with pytest.raises(Refused, match="writes to an example that was read before"):
        lift(LAUNCHES.target("counted_by_a_helper"), against=f"{FILE}:by_the_count")
    assert lift(LAUNCHES.target("counted_by_a_helper_after"), against=f"{FILE}:by_the_count").against == "same"
