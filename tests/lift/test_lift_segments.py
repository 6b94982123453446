"""Data says which rows are taken, or a row hangs on those before: formulas, needs, and what is nearly right."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.lift import lift, tried

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "segments.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


SAME = {"segments": "segments", "sums": "segments", "pages": "pages", "recurrence": "recurrence"}


LONG = [pytest.param(name, marks=pytest.mark.long) for name in SAME if name != "pages"]


@pytest.mark.parametrize("name", ["pages", *LONG])
def test_it_is_verified_and_what_torch_computes(name: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{SAME[name]}")
    assert (found.verdict, found.against) == ("verified", "same"), (found.against_detail, found.kernels[0].obligations)


def test_the_range_of_a_sum_is_read_by_the_tensors_own_indices() -> None:
    assert "ends*" not in KERNELS.texts("segments")[0]
    assert KERNELS.error("segments") < 1e-5


def test_a_scan_of_maps_in_turn_is_the_recurrence() -> None:
    assert KERNELS.error("recurrence", {"T": 8}) < 1e-5
    assert KERNELS.texts("recurrence") == ["h[i, j, k] = Σ_{l≤j} b[i, l, k]·∏_{m<j − l} a[i, m + l + 1, k]"]
    assert KERNELS.kernel("recurrence_out_of_turn").unsupported


def test_what_is_needed_of_data_is_said() -> None:
    assert "0 ≤ ends[…] ≤ N" in KERNELS.kernel("sums").headline
    assert "0 ≤ table[…] < pages" in KERNELS.kernel("pages").headline
    assert "T ≤ L" in KERNELS.kernel("positions").headline


@pytest.mark.long
@pytest.mark.parametrize("name", ["sums_one_more", "segments_late", "segments_one_more"])
def test_segments_that_begin_or_end_elsewhere_are_another_function(name: str) -> None:
    assert lift(KERNELS.target(name), f"{KERNELS.file}:segments").against == "different"


BEYOND = [pytest.param(name, marks=pytest.mark.long) for name in ("sums_beyond", "pages_of_another_cache")]


@pytest.mark.parametrize("name", ["sums_one_more", "positions_before", *BEYOND])
def test_rows_that_are_not_there_are_not_read_silently(name: str) -> None:
    assert KERNELS.kernel(name).verdict == "violated", KERNELS.states(name)
