"""Two launches of which the first leaves −∞ where a split of a row has no element, and the second reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.lift import lift

FILE = Path(__file__).parent.parent / "launches" / "split_decoding.py"


@pytest.mark.parametrize("name", ["plain", "guarded", "known", "lse", "loop", "backwards"])
def test_splits_are_merged(name: str) -> None:
    found = lift(f"{FILE}:launch_{name}", f"{FILE}:reference")
    assert found.verdict == "verified" and found.against == "same" and not found.against_held
    assert all("1 ≤ lengths" in kernel.headline for kernel in found.kernels)    # a row of nothing leaves no number


@pytest.mark.parametrize("name", ["unscaled", "end", "changed"])
def test_other_merges_differ(name: str) -> None:
    assert lift(f"{FILE}:launch_{name}", f"{FILE}:reference").against == "different"


@pytest.mark.parametrize("name", ["nan", "unguarded", "nothing"])
def test_nothing_is_verified_where_nothing_leaves_no_number(name: str) -> None:
    assert lift(f"{FILE}:launch_{name}").verdict != "verified"
