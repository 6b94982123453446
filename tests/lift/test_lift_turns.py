"""Tiles that persistent programs take in turns: who writes what is told, and what is left out or taken twice."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import FloorDiv, const, index, substitute
from samesame.formula.sizes import value_at
from samesame.kernels.indices import integers
from samesame.kernels.tiles.digits import turned
from samesame.lift import tried

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "turns.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize("name", ["inner", pytest.param("as_many_as_tiles", marks=pytest.mark.long)])
def test_it_is_verified_and_the_formula_knows_of_no_tiles(name: str) -> None:
    assert KERNELS.kernel(name).verdict == "verified", KERNELS.open(name)
    assert KERNELS.texts(name) == ["out[i, j] = 2·x[i, j]"]


@pytest.mark.long
def test_rows_in_another_turn_are_told_apart() -> None:
    states = KERNELS.states("turned")
    assert {states[name] for name in ("race", "bounds", "value", "aliasing")} == {"proved"}
    assert states["coverage"] != "violated" and "out[i, j] = " in KERNELS.texts("turned")[0]


@pytest.mark.long
@pytest.mark.parametrize("name", ["wide_groups", "too_few_programs"])
def test_tiles_that_nobody_takes_are_not_written(name: str) -> None:
    assert KERNELS.states(name)["coverage"] == "violated", KERNELS.states(name)


def test_a_digit_in_another_turn_is_each_number_once() -> None:
    w, ahead = index(5), 7
    change = turned(FloorDiv(integers.plus_(w, ahead), const(5)), [w])
    assert change is not None and turned(FloorDiv(integers.plus_(w, ahead), const(4)), [w]) is None
    (rest,) = change.new
    back = [value_at(substitute(change.values[w], {rest: const(k)}), {}) for k in range(5)]
    assert sorted(back) == list(range(5)) and [(ahead + n) % 5 for n in back] == list(range(5))


@pytest.mark.long
def test_tiles_that_two_programs_take_are_no_proof() -> None:
    assert KERNELS.kernel("too_many_programs").verdict != "verified", KERNELS.states("too_many_programs")
