"""Rows that go to slots of a paged cache, but for padding, which a reference puts into a row that is cut off again."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.evidence import Refused
from samesame.lift import lift, tried

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "paged_slots.py")
APART = "distinct(slots[slots >= 0])"


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize("name, reference", [("padded", "behind"), ("padded", "copied"), ("bytes", "behind")])
def test_padding_goes_to_a_row_that_is_cut_off(name: str, reference: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{reference}", assume=[APART])
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert not found.against_held


def test_that_slots_are_distinct_is_a_need() -> None:
    kernel = KERNELS.kernel("padded")
    assert kernel.verdict == "verified" and APART in kernel.preconditions
    assert "−1 ≤ slots[…] < 8·pages" in " ".join(kernel.preconditions)


@pytest.mark.parametrize("name", ["repeated", "beyond", "unmasked"])
def test_slots_that_are_no_such_places_are_not_verified(name: str) -> None:
    assert KERNELS.kernel(name).verdict != "verified", KERNELS.states(name)


def test_slots_that_repeat_break_the_contract() -> None:
    with pytest.raises(Refused, match="does not hold in the example"):
        lift(KERNELS.target("repeated"), assume=[APART])


@pytest.mark.parametrize("name, reference", [("ahead", "behind"), ("padded", "in_the_first"), ("unmasked", "behind")])
def test_another_row_is_not_that_one(name: str, reference: str) -> None:
    assert lift(KERNELS.target(name), f"{KERNELS.file}:{reference}", assume=[APART]).against != "same"
