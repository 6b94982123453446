"""A maximum that leaves one place out is one of numbers: of two places one is left."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import NEG_INF, Compare, Fold, and_, const, index, not_, where
from samesame.formula.tensor import leaf
from samesame.kernels.formulas.defined import Definedness
from samesame.kernels.indices.solver import IndexProver
from samesame.lift import lift

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "second_best.py")


def test_the_second_best_is_a_number() -> None:
    found = lift(f"{KERNELS.file}:launch", f"{KERNELS.file}:reference")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail


def test_it_is_none_where_every_place_may_be_left_out() -> None:
    assert [(one, state) for one, state, _ in KERNELS.open("without_two")] == [("value", "undecided")]


def test_what_comes_behind_is_no_second_best() -> None:
    assert lift(f"{KERNELS.file}:launch_behind", f"{KERNELS.file}:reference").against == "different"


@pytest.mark.parametrize("n, left_out, finite", [(2, 1, True), (1, 1, False), (3, 2, True), (2, 2, False)])
def test_more_places_than_are_left_out(n: int, left_out: int, finite: bool) -> None:
    k = index(const(n))
    keep = and_(*(not_(Compare("=", leaf(f"place_{m}", (), "int")[()], k)) for m in range(left_out)))
    best = Fold("max", (k,), where(keep, leaf("x", (n,))[k], NEG_INF))
    assert Definedness(IndexProver()).is_finite(best, ()) == finite
