"""A maximum that one of two numbers begins, whichever a label says, is finite from the start: c or not c."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.formula.expr import TRUE, Expr, and_, le, not_, or_
from samesame.formula.tensor import leaf
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices.solver import IndexProver
from samesame.lift import lift

FILE = Path(__file__).parents[1] / "launches" / "margins.py"
A, B, C = (leaf(name, ())[()] for name in "abc")
P, Q = le(A, B), le(B, C)


def test_a_score_that_a_label_chooses_begins_the_maximum() -> None:
    found = lift(f"{FILE}:launch", f"{FILE}:reference")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert not any(need.startswith("1 ≤ labels") for need in found.kernels[0].preconditions)


def test_a_margin_for_every_class_differs() -> None:
    assert lift(f"{FILE}:launch", f"{FILE}:everywhere").against == "different"


@pytest.mark.parametrize("condition, always", [
    (or_(P, not_(P)), True), (or_(Q, P, not_(Q)), True), (or_(P, not_(Q)), False), (or_(P, and_(Q, not_(P))), False)])
def test_a_condition_or_its_opposite_holds(condition: Expr, always: bool) -> None:
    assert (Simplifier(IndexProver())(condition) is TRUE) == always
