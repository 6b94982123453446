"""A table that is read at a remainder and some rows on is needed to hold as many: S + 2 ≤ P."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import Size, add, index, mod, mul
from samesame.kernels.indices import integers
from samesame.kernels.indices.ranges import greatest
from samesame.lift import lift

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "position_table.py")
S = Size("S", 2)


def test_a_table_has_to_hold_what_is_read_of_it() -> None:
    found = lift(f"{KERNELS.file}:launch", f"{KERNELS.file}:reference")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert "S + 2 ≤ P" in found.kernels[0].preconditions


def test_what_the_launch_itself_breaks_is_no_need() -> None:
    assert KERNELS.states("short")["bounds"] == "violated"


def test_other_rows_differ() -> None:
    assert lift(f"{KERNELS.file}:launch", f"{KERNELS.file}:from_the_first").against == "different"


def test_a_remainder_is_below_its_divisor() -> None:
    v = index(mul(3, S))
    assert greatest(add(mod(v, S), 2)) is integers.plus_(S, 1)
    assert greatest(mul(-1, mod(v, S))) is integers.tidied(add(0))
    assert greatest(mod(v, add(index(S), 1))) is None
