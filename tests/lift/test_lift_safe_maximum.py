"""Online sums that take 0 for a maximum that is −∞ still: the closed form is that of the plain maximum."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.kernels.execution.operations import of_numbers
from samesame.lift import lift

FILE = Path(__file__).parent.parent / "launches" / "safe_maximum.py"


@pytest.mark.parametrize("name", ["equal", "greater"])
def test_zero_for_no_maximum_yet(name: str) -> None:
    found = lift(f"{FILE}:launch_{name}", f"{FILE}:reference")
    assert found.verdict == "verified" and found.against == "same" and not found.against_held


def test_another_maximum_is_no_such_guard() -> None:
    assert lift(f"{FILE}:launch_of_the_old_maximum", f"{FILE}:reference").against != "same"


@pytest.mark.parametrize("name, x, y, bits, made", [
    ("arith.shrui", 1234, 32, 64, 0), ("arith.shrui", -1, 28, 32, 15), ("arith.shrsi", -9, 1, 32, -5),
    ("arith.shli", 3, 30, 32, -(1 << 30)), ("arith.shli", 1, 31, 32, -(1 << 31)), ("arith.andi", -1, 15, 32, 15),
    ("arith.shli", 1, 32, 32, None), ("arith.shrui", 1, -1, 32, None), ("arith.ori", 8, 3, 8, 11),
])
def test_bits_of_two_numbers(name: str, x: int, y: int, bits: int, made: int | None) -> None:
    assert of_numbers(name, x, y, bits) == made


def test_other_integers_are_no_undefined_values() -> None:
    assert lift(f"{FILE}:launch_marked", f"{FILE}:reference_marked").verdict != "violated"


def test_an_infinity_that_is_stored_is_a_value() -> None:
    found = lift(f"{FILE}:launch_hidden", f"{FILE}:reference_hidden")
    assert found.verdict == "verified" and found.against == "same"


def test_an_infinity_that_is_read_again_is_none_that_the_next_kernel_knows() -> None:
    found = lift(f"{FILE}:launch_hidden_and_shown", f"{FILE}:reference_hidden")
    assert found.verdict != "verified" and found.against == "different"
