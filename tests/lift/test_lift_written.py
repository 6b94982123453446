"""A short length written as a number is that number, where sizes are parameters; it is said, and hides no size."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.kernels.host.launches import capture_launches
from samesame.lift import lift, tried

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "written.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize("name", ["window", "pairs", "packed"])
def test_the_written_length_is_a_need_and_other_sizes_are_free(name: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{name}")
    assert (found.verdict, found.against, found.against_held) == ("verified", "same", []), found.against_detail
    assert any(need.startswith("lengths written as ") for need in found.kernels[0].preconditions)


@pytest.mark.parametrize("name, reference", [
    ("window", "window_turned"), pytest.param("window_of_four", "window", marks=pytest.mark.long),
])
def test_another_function_is_different(name: str, reference: str) -> None:
    assert lift(KERNELS.target(name), f"{KERNELS.file}:{reference}").against == "different"


def test_what_is_wrong_at_the_length_is_violated() -> None:
    assert KERNELS.kernel("window_left_out").verdict == "violated", KERNELS.open("window_left_out")


def test_without_parameters_a_number_is_the_number_where_others_break() -> None:
    kernel = KERNELS.kernel("window_without_sizes")
    assert kernel.verdict == "verified", KERNELS.open("window_without_sizes")
    assert any(need.startswith("lengths written as ") for need in kernel.preconditions)


def test_a_number_that_is_also_a_size_is_the_number_only_where_it_is_written() -> None:
    captured = capture_launches(KERNELS.target("pairs"), literal=True)
    assert captured.literal == (2,) and dict(captured.sizes) == {"M": 2, "N": 3}
    assert captured.outputs[0][1].shape[1] == 2 and captured.outputs[0][1].shape[0] != 2
