"""Reductions and scans of several values at once: their formulas hold on numbers; what is chosen wrongly is refused."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

import numpy as np

from samesame.formula.evaluate import evaluate
from samesame.formula.expr import (
    NEG_INF,
    Fold,
    Lambda,
    Leaf,
    Load,
    Size,
    compare,
    const,
    index,
    substitute,
    walk,
    where,
)
from samesame.formula.tensor import tensor
from samesame.kernels.execution.positions import Position, position_in
from samesame.kernels.execution.reductions import alone
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.front import passed_of
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import capture_launches
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.lift import KernelVerdict, lift
from samesame.lift.numerics import by_numpy, error_of

FILE = Path(__file__).parent.parent / "launches" / "pairs.py"
PLACES = {
    "later": ("max", "last"),
    "earlier": ("max", "first"),
    "backwards": ("max", "first"),
    "smaller": ("min", "last"),
}
N = Size("n", 1)
J = index(N)
X = Leaf("x", (N,))


@cache
def kernel(name: str) -> KernelVerdict:
    (one,) = lift(f"{FILE}:launch_{name}").kernels
    return one


@pytest.mark.parametrize("name", PLACES)
def test_a_running_extremum_and_its_place_are_told(name: str) -> None:
    assert kernel(name).verdict == "verified", (kernel(name).unsupported, kernel(name).obligations)
    _, expr = kernel(name).formulas[1].expr
    (place,) = (p for p in map(position_in, walk(expr)) if p is not None)
    assert (place.monoid, place.tie) == PLACES[name]


def is_of_the_row(formula) -> bool:
    """Whether it is an extremum of x[i, k] over all k ≤ j, or its place."""
    (i, j), expr = formula.expr
    place = position_in(expr)
    row = place.row if place is not None else expr
    if not isinstance(row, Fold | Lambda):
        return False
    (k,) = row.bound
    is_element = isinstance(row.body, Load) and row.body.indices == (i, k)
    return is_element and k.extent is integers.plus_(j, 1)


@pytest.mark.parametrize("name, tie", [("running_later", "last"), ("running_earlier", "first")])
def test_a_running_maximum_that_is_kept_block_by_block_is_one_of_the_row(name: str, tie: str) -> None:
    assert kernel(name).verdict == "verified", (kernel(name).unsupported, kernel(name).obligations)
    assert all(map(is_of_the_row, kernel(name).formulas))
    assert position_in(kernel(name).formulas[1].expr[1]).tie == tie


@pytest.mark.parametrize("name", ["mixed", "from_zero", "lane_before", "relative"])
def test_a_running_maximum_that_is_kept_wrongly_has_no_closed_form(name: str) -> None:
    (why,) = kernel(f"running_{name}").unsupported
    assert "no closed form is known for what the loop carries in where" in why


@pytest.mark.parametrize("name", [*PLACES, "summed", "running_later", "running_earlier"])
def test_the_formulas_are_what_the_interpreter_stores(name: str) -> None:
    captured, run = capture_launches(f"{FILE}:launch_{name}"), interpret(f"{FILE}:launch_{name}")
    for formula in kernel(name).formulas:
        assert error_of(formula, passed_of(captured.launches[0], captured), run.executions[0], captured.sizes) < 1e-6


@pytest.mark.parametrize("name", ["smaller_backwards", "either", "nearer"])
def test_what_is_chosen_in_another_way_is_refused(name: str) -> None:
    (why,) = kernel(name).unsupported
    assert "a scan of 2 values at once" in why


def test_the_last_of_several_is_last() -> None:
    """At every place of a row of length 6, whose prefixes are of different lengths."""
    k = index(integers.plus_(J, 1))
    numbers = np.array([1.0, 3.0, 3.0, 2.0, 3.0, 0.0])
    for tie, right in (("first", [0, 1, 1, 1, 1, 1]), ("last", [0, 1, 2, 2, 4, 4])):
        place = Position("max", tie, Lambda((k,), Load(X, (k,)))).to_expr()
        whole = tensor((N,), lambda j, e=place: substitute(e, {J: j}), "int")
        assert evaluate(whole, {"x": numbers}, {"n": 6}, by_numpy).tolist() == right


def test_masked_lanes_at_the_end_do_not_count_where_there_is_a_number() -> None:
    """Of nothing but −∞ the last one is the last lane, and not the last that a mask leaves."""
    lane, simplify = index(32), Simplifier(IndexProver())
    some = Load(Leaf("some", (1,), "bool"), (lane,))
    inside = integers.less(lane, N)
    known = (integers.at_most(N, 32),)

    def length(tie: str, body) -> object:
        return simplify(Position("max", tie, Lambda((lane,), body)).to_expr(), known).arguments[0].bound[0].extent

    number, maybe = (where(inside, x, NEG_INF) for x in (Load(X, (lane,)), where(some, Load(X, (lane,)), NEG_INF)))
    assert length("first", number) is N and length("last", number) is N
    assert length("last", maybe) is lane.extent


def test_what_stood_before_and_what_comes_are_one_row() -> None:
    """Only if ties are kept in one way, the block comes next, and what stood before is chosen wherever there is any."""
    m, start = Size("m", 1), integers.times_(3, J)
    simplify = Simplifier(IndexProver())

    def best(first, length):
        k = index(length)
        return Fold("max", (k,), Load(X, (integers.plus_(first, k),)))

    def stands(tie, first, length):
        fold = best(first, length)
        return Position("max", tie, Lambda(fold.bound, fold.body)).to_expr()

    def kept(op="≤", tie="last", gap=0, some=1, nothing=0):
        before = where(integers.less(0, start), best(0, start), NEG_INF)
        ahead = compare(op, before, best(integers.plus_(start, gap), m))
        here = integers.plus_(start, stands(tie, integers.plus_(start, gap), m))
        return simplify(where(ahead, here, where(integers.at_most(some, start), stands(tie, 0, start), nothing)))

    whole = integers.plus_(start, m)
    for right in (kept(), kept(nothing=5), kept("<", "first")):
        assert position_in(right).row.bound[0].extent is whole
    for wrong in (kept("<"), kept(tie="first"), kept(gap=1), kept(some=4), kept("<", "first", nothing=5)):
        assert position_in(wrong) is None


def test_one_lane_alone_is_what_a_sum_is() -> None:
    lane = index(8)
    x = Load(X, (lane,))
    assert alone("sum", lane, where(integers.equal(lane, 7), x, 0)) is Load(X, (const(7),))
    assert alone("sum", lane, where(integers.equal(lane, 8), x, 0)) is None
    assert alone("sum", lane, where(integers.equal(lane, 7), x, 1)) is None
    assert alone("max", lane, where(integers.equal(lane, 7), x, 0)) is None
    assert alone("sum", lane, where(integers.equal(integers.times_(lane, 2), 4), x, 0)) is None
    assert alone("max", lane, where(integers.equal(3, lane), x, NEG_INF)) is Load(X, (const(3),))
