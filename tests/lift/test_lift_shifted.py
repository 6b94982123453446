"""States scaled by a maximum that every step shifts: the same as in PyTorch, and not as what is nearly so."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.lift import lift

FILE = Path(__file__).parent.parent / "launches" / "shifted.py"
KERNELS = Lifted(FILE)


@pytest.mark.parametrize("name", [pytest.param("wkv", marks=pytest.mark.long), "gated", "least_scale", "tempered"])
def test_it_is_verified_and_the_same(name: str) -> None:
    found = lift(KERNELS.target(name), f"{FILE}:{name}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail


@pytest.mark.parametrize("name, other", [
    ("wkv", "wkv_one_step_late"), ("gated", "gated_forgets_its_own"), ("least_scale", "least_scale_one_off"),
    ("unshifted", "gated"),
])  # fmt: skip
def test_it_is_not_the_same_as_something_else(name: str, other: str) -> None:
    assert lift(KERNELS.target(name), f"{FILE}:{other}").against == "different"


def test_what_is_scaled_by_another_power_in_each_step_is_no_sum() -> None:
    assert lift(KERNELS.target("stepped"), f"{FILE}:stepped").against == "different"


def test_of_a_shift_that_is_undefined_at_first_there_is_no_closed_form() -> None:
    found = lift(KERNELS.target("nothing_before"), f"{FILE}:nothing_before")
    assert KERNELS.kernel("nothing_before").verdict == "undecided" and found.against != "same"


@pytest.mark.parametrize("name, sizes", [
    ("wkv", {"T": 5, "C": 7}), ("gated", {"B": 3, "T": 7}), ("least_scale", {"T": 6}), ("stepped", {"T": 3}),
])  # fmt: skip
def test_the_formula_is_what_the_interpreter_stores(name: str, sizes: dict[str, int]) -> None:
    assert KERNELS.error(name) < 1e-5
    assert KERNELS.error(name, sizes) < 1e-5


def test_maxima_that_cancel_are_left_out_with_what_they_begin_at() -> None:
    (formula,) = KERNELS.kernel("wkv").formulas
    assert "max" not in formula.text and "1000000" not in formula.text
