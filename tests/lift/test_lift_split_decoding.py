"""Two launches of which the first leaves −∞ where a split of a row has no element, and the second reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.lift import lift

LONG = {"plain", "guarded", "known", "loop", "backwards", "end", "changed", "nan"}
FILE = Path(__file__).parent.parent / "launches" / "split_decoding.py"


def each(*names: str) -> list:
    """The launches; those of which another one says much the same are among the long tests."""
    return [pytest.param(name, marks=[pytest.mark.long] if name in LONG else []) for name in names]


@pytest.mark.parametrize("name", each("plain", "guarded", "known", "lse", "loop", "backwards"))
def test_splits_are_merged(name: str) -> None:
    found = lift(f"{FILE}:launch_{name}", f"{FILE}:reference")
    assert found.verdict == "verified" and found.against == "same" and not found.against_held
    assert all("1 ≤ lengths" in kernel.headline for kernel in found.kernels)    # a row of nothing leaves no number


@pytest.mark.parametrize("name", each("unscaled", "end", "changed"))
def test_other_merges_differ(name: str) -> None:
    assert lift(f"{FILE}:launch_{name}", f"{FILE}:reference").against == "different"


@pytest.mark.parametrize("name", each("nan", "unguarded", "nothing"))
def test_nothing_is_verified_where_nothing_leaves_no_number(name: str) -> None:
    assert lift(f"{FILE}:launch_{name}").verdict != "verified"
