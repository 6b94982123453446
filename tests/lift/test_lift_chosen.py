"""A number that the host works out of sizes (D // 2, a block size) says what these are, as far as it leaves no rest."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.lift import lift, tried

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "chosen.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize("name, need", [("halves", "width = 24"), ("groups", "width = 32·groups")])
def test_it_is_verified_and_what_torch_computes(name: str, need: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{name}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    (kernel,) = found.kernels
    assert need in kernel.preconditions
    assert not any(n.startswith("the host code") for n in kernel.preconditions)  # which has nothing left to choose


@pytest.mark.parametrize(
    "name", ["halves_of_odd_rows", "halves_further_apart", "shorter_groups", "groups_and_a_rest"]
)
def test_with_a_rest_or_wrong_parts_it_is_violated(name: str) -> None:
    assert KERNELS.kernel(name).verdict == "violated", KERNELS.states(name)


def test_longer_groups_are_something_else() -> None:
    found = lift(KERNELS.target("longer_groups"), f"{KERNELS.file}:groups")
    assert found.against == "different", found.against_detail


def test_what_the_files_inputs_make_are_the_launchs_tensors() -> None:
    found = lift(KERNELS.target("groups_of_inputs"), f"{KERNELS.file}:groups")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert "groups, rows ≥ 2" in found.kernels[0].preconditions  # which are sizes, and no numbers
    wrong = lift(KERNELS.target("longer_groups_of_inputs"), f"{KERNELS.file}:groups")
    assert wrong.against == "different", wrong.against_detail
