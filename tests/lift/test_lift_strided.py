"""Windows that step by two over padded rows are those of torch, at every width."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.lift import LiftVerdict, lift, tried

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "strided.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


def against(name: str, reference: str) -> LiftVerdict:
    return lift(KERNELS.target(name), f"{KERNELS.file}:{reference}")


@pytest.mark.parametrize("name, held", [("convolution", ["weight.shape[0] = 3"]), ("greatest", [])])
def test_they_are_torchs_at_every_width(name: str, held: list[str]) -> None:
    found = against(name, name)
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert found.against_held == held
    assert not found.against_conditions  # that there is something in each window is shown


@pytest.mark.parametrize("name, reference", [
    ("convolution_without_padding", "convolution"),
    ("greatest_and_zero", "greatest"),
    ("greatest_without_padding", "greatest"),
])
def test_with_another_padding_they_are_not(name: str, reference: str) -> None:
    assert against(name, reference).against == "different"


def test_the_maximum_of_a_window_with_nothing_in_it_is_no_number() -> None:
    assert KERNELS.states("greatest_of_nothing")["value"] == "undecided"
