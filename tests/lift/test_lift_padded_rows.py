"""That no row is empty is a need where a length stands in a mask alone, too, if the example has none that is."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.lift import lift, tried

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "padded_rows.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


def test_no_row_is_empty() -> None:
    found = lift(f"{KERNELS.file}:launch", f"{KERNELS.file}:reference")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert "1 ≤ lengths[…]" in found.kernels[0].preconditions


def test_an_example_with_an_empty_row_is_not_taken_for_one_without() -> None:
    assert KERNELS.states("empty")["undefined"] != "proved"
    assert not any("1 ≤ lengths" in need for need in KERNELS.kernel("empty").preconditions)
