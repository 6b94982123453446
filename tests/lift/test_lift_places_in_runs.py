"""Data that says a place within a run, as one of each four elements, is needed to be one: 0 ≤ e < 4."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import Expr, Size, add, const, floordiv, index, mul
from samesame.formula.tensor import leaf
from samesame.kernels.data import in_runs
from samesame.lift import lift

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "places_in_runs.py")
G, R = Size("G", 2), Size("R", 2)
J = index(mul(2, G))
E = leaf("e", (mul(2, G),), "int")[J]


@pytest.mark.parametrize("name, need", [("launch", "0 ≤ places[…] < 4"), ("launch_of_runs", "0 ≤ places[…] < run")])
def test_a_place_in_a_run_is_needed_to_be_one(name: str, need: str) -> None:
    found = lift(f"{KERNELS.file}:{name}", f"{KERNELS.file}:reference")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert need in found.kernels[0].preconditions


def test_another_place_differs() -> None:
    assert lift(f"{KERNELS.file}:launch", f"{KERNELS.file}:one_further").against == "different"


def test_a_place_behind_its_run_is_not_taken_for_one() -> None:
    assert KERNELS.states("beyond")["bounds"] != "proved"


@pytest.mark.parametrize("i, n, places", [
    (add(mul(4, floordiv(J, 2)), E), mul(4, G), const(4)),
    (add(mul(8, floordiv(J, 2)), E), mul(4, G), const(4)),
    (add(mul(R, J), E), mul(2, R, G), R),
    (add(mul(4, floordiv(J, 2)), E, 1), mul(4, G), None),
    (add(mul(4, floordiv(J, 2)), mul(2, E)), mul(4, G), None),
    (add(mul(4, E, J), E), mul(4, G), None),
])
def test_the_places_of_a_run(i: Expr, n: Expr, places: Expr | None) -> None:
    assert in_runs(i, n) == (None if places is None else (E, places))
