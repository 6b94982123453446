"""What an atomic operation adds to is read: it was written before, or there is no sum."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.lift import LiftVerdict, lift

FILE = Path(__file__).parent.parent / "launches" / "added.py"


@cache
def lifted(name: str) -> LiftVerdict:
    return lift(f"{FILE}:launch_{name}")


def test_what_nobody_wrote_cannot_be_added_to():
    assert lifted("to_a_part").verdict == "violated"
    assert {o.name: o.state for o in lifted("to_a_part").kernels[1].obligations}["undefined"] == "violated"


def test_two_launches_write_all_that_a_third_one_adds_to():
    assert lifted("to_two_halves").verdict == "verified"
