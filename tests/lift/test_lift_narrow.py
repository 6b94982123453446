"""Integers of 8 and 16 bits that wrap around are noticed whichever way they take to an effect, and shown where run."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import Fold, Opaque, const, index, where
from samesame.kernels.execution.values import fits_by_design, of_bits
from samesame.lift import lift

NARROW = Lifted(Path(__file__).parent.parent / "launches" / "narrow.py")
BITS = {
    "pointer": 16, "byte": 8, "shifted": 16, "whole": 16, "program": 16, "carried": 16, "counter": 16, "compared": 8,
    "chosen": 8, "truth": 8, "largest": 16, "place": 16, "product": 8, "bound": 8,
}  # fmt: skip
OPEN = {"mixed": 8, "bits": 32}  # of bits nothing is known, so no run can be held against the formula


@pytest.mark.parametrize("name", BITS)
def test_a_number_that_wraps_around_on_its_way_is_shown(name: str) -> None:
    (overflow,) = [o for o in NARROW.kernel(name).obligations if o.name == "overflow"]
    said, _, effect = overflow.detail.partition(", and ")
    assert (overflow.state, said) == ("violated", f"a number of {BITS[name]} bits wraps around") and effect
    assert overflow.counterexample["replayed"] == "yes" and "narrow.py:" in overflow.place


@pytest.mark.parametrize("name", OPEN)
def test_what_no_run_can_show_stays_open(name: str) -> None:
    (overflow,) = [o for o in NARROW.kernel(name).obligations if o.name == "overflow"]
    assert (overflow.state, overflow.detail) == ("undecided", f"a number of {OPEN[name]} bits may wrap around")


def test_numbers_that_are_stated_to_fit_are_proved_to() -> None:
    (kernel,) = lift(NARROW.target("small"), assume=["0 <= idx < 1000"]).kernels
    assert kernel.verdict == "verified"
    (overflow,) = [o for o in kernel.obligations if o.name == "overflow"]
    assert overflow.detail.startswith("no 16 or 32-bit number wraps around")


def test_the_bound_of_a_loop_has_to_fit() -> None:
    assert NARROW.kernel("rows").verdict == "verified"
    assert any("m·n ≤ 2147483647" in condition for condition in NARROW.kernel("rows").preconditions)


def test_a_sum_of_bits_is_not_taken_to_fit() -> None:
    x, k = of_bits("xori", 32, const(1), index(5)), index(5)
    assert fits_by_design(x, 32) and not fits_by_design(x, 16)
    assert fits_by_design(Fold("max", (k,), x), 32) and not fits_by_design(Fold("sum", (k,), x), 32)
    condition = Opaque("c", (), (), (), "bool")
    assert fits_by_design(where(condition, x, 7), 32) and not fits_by_design(where(condition, x, k * 1000), 32)


def test_what_wraps_around_as_its_reference_does_is_not_violated() -> None:
    states = [
        {o.name: o.state for o in lift(NARROW.target("hash"), reference).kernels[0].obligations}["overflow"]
        for reference in (lambda x: x * 1000003, None)
    ]
    assert states == ["undecided", "violated"]
