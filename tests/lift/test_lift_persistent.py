"""Loops of few programs, where what a program's number and the turn are decides where something lies."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.lift import LiftVerdict, lift

FILE = Path(__file__).parent.parent / "launches" / "persistent.py"


@cache
def lifted(name: str, against: str = "") -> LiftVerdict:
    return lift(f"{FILE}:launch_{name}", against=f"{FILE}:{against}" if against else None)


@pytest.mark.parametrize("name, reference", [("delta", "differences"), ("counted", "counts")])
def test_a_turn_that_reads_the_row_before_is_the_same_as_its_reference(name, reference):
    found = lifted(name, reference)
    assert found.verdict == "verified" and found.against == "same"


def test_another_row_before_is_different():
    assert lifted("delta", "two_back").against == "different"


@pytest.mark.parametrize(
    "name, obligation", [("delta_too_far", "bounds"), ("delta_too_few", "coverage"), ("two_that_meet", "race")]
)
def test_what_is_wrong_is_violated(name, obligation):
    (kernel,) = lifted(name).kernels
    assert {o.name: o.state for o in kernel.obligations}[obligation] == "violated"


def test_how_often_a_loop_runs_hangs_on_the_program():
    assert lifted("two").verdict == "verified"
