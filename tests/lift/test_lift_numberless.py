"""A reference that is no number on the example is the same as nothing, though its formula has lost the place."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.lift import lift

FILE = Path(__file__).parent.parent / "launches" / "numberless.py"


@pytest.mark.parametrize("reference, same", [("chosen", True), ("chosen_late", True), ("of_what_is_left", False)])
def test_0_over_0_by_a_mask_is_no_number(reference: str, same: bool) -> None:
    found = lift(f"{FILE}:launch", f"{FILE}:{reference}")
    assert (found.against == "same") is same, found.against_detail


@pytest.mark.parametrize("launched", ["launch_by_mask", "launch_what_is_left"])
def test_a_run_that_speaks_against_the_formulas_is_believed(launched: str) -> None:
    """The host divides by what a mask leaves, and the formula of the quotient has lost that."""
    found = lift(f"{FILE}:{launched}", f"{FILE}:chosen")
    assert (found.against, found.exit_code) == ("undecided", 3)
    assert found.against_detail.endswith("is nan and the reference's 0")


def test_0_over_0_of_numbers_that_are_not_positive_is_seen() -> None:
    found = lift(f"{FILE}:launch_ones", f"{FILE}:of_positive")
    assert found.against == "different"
