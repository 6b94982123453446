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
