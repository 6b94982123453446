"""Kernels as people write them are what they are meant to be: sums rescaled by powers of two, capped scores, pages."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.formula.equal import Proved, prove_equal
from samesame.formula.expr import Fold, Leaf, Load, add, const, exp, index, log, mul, power, walk, where
from samesame.kernels.execution.operations import power_of_two
from samesame.kernels.formulas.algebra import NEUTRAL
from samesame.kernels.formulas.defined import Definedness
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.front import passed_of
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import capture_launches
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.lift import LiftVerdict, lift
from samesame.lift.numerics import error_of

FILE = Path(__file__).parent.parent / "launches" / "more.py"
SAME = {  # a launch, and the reference that it is the same as
    "powers": "powers",
    "scaled": "scaled",
    "scaled_from_one": "scaled",
    "capped": "capped",
    "sharpened": "sharpened",
    "grows": "grows",
}
OTHERS = {  # a launch, and a reference that it is not the same as
    "powers_of_two": "powers",
    "scaled_from_one": "scaled_from_one",
    "scaled_from_infinity": "scaled",
    "capped": "capped_otherwise",
    "sharpened": "sharpened_by_sinh",
    "sharpened_by_sinh": "sharpened_by_sinh",            # which is 0 for 0, and 0·∞ is nothing
    "grows_from_nothing": "grows_from_nothing",
    "divided": "zero",
}


@cache
def said(name: str, reference: str = "") -> LiftVerdict:
    return lift(f"{FILE}:launch_{name}", f"{FILE}:{reference}" if reference else None)


@pytest.mark.parametrize("name", SAME)
def test_it_is_what_torch_computes(name: str) -> None:
    found = said(name, SAME[name])
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail


@pytest.mark.parametrize("name", OTHERS)
def test_it_is_not_what_it_is_not(name: str) -> None:
    assert said(name, OTHERS[name]).against != "same"


@pytest.mark.parametrize("name", SAME)
def test_the_formula_is_what_the_interpreter_stores(name: str) -> None:
    captured, run = capture_launches(f"{FILE}:launch_{name}"), interpret(f"{FILE}:launch_{name}")
    (formula,) = said(name, SAME[name]).kernels[0].formulas
    passed = passed_of(captured.launches[0], captured)
    assert error_of(formula, passed, run.executions[0], captured.sizes) < 1e-5


def test_a_maximum_that_is_left_out_leaves_nothing_behind() -> None:
    (formula,) = said("scaled", "scaled").kernels[0].formulas
    assert formula.text == "out[i] = log(Σ_{j<N} exp(x[i, j])) / log(2)"


def test_what_is_no_number_is_not_proved() -> None:
    """0·∞ at the first step; and where 0 is divided by 0, the formula says so."""
    runs = [interpret(f"{FILE}:launch_{name}") for name in ("grows_from_nothing", "scaled_from_infinity", "divided")]
    assert all(next(iter(run.outputs.values())).isnan().all() for run in runs)
    assert said("grows_from_nothing", "grows_from_nothing").kernels[0].verdict != "verified"
    assert said("scaled_from_infinity", "scaled").kernels[0].verdict != "verified"
    (formula,) = said("divided", "zero").kernels[0].formulas
    assert formula.text == "out[i] = (x[i] − x[i]) / (x[i] − x[i])"


def test_nothing_is_divided_by_nothing() -> None:
    x = Load(Leaf("x", (), "real"), ())
    nothing = add(x, mul(-1, x))
    for e in (mul(0, power(const(0), -1)), mul(0, power(nothing, -1)), mul(nothing, power(nothing, -1))):
        assert Simplifier(IndexProver(1000, 5.0))(e) is not const(0)
    assert not Definedness(IndexProver(1000, 5.0)).is_number(mul(0, power(const(0), -1)), ())


def test_the_logarithm_of_two_and_its_inverse_leave_each_other_out() -> None:
    x = Load(Leaf("x", (), "real"), ())
    assert power_of_two(mul(x, power(log(2), -1))) is exp(x)
    assert power_of_two(x) is exp(mul(x, log(2)))


def test_no_variable_of_a_maximum_is_left_free() -> None:
    """Pages of 4, the last one not full: which pages have an element depends on which element is looked at."""
    n = Load(Leaf("n*", (1,), "int"), (const(0),))
    page, slot = index(integers.quotient(integers.plus_(n, 3), const(4))), index(4)
    block = Load(Leaf("table*", (1,), "int"), (page,))
    x = Load(Leaf("x*", (1,), "real"), (integers.plus_(integers.times_(4, block), slot),))
    inside = integers.less(integers.plus_(slot, integers.times_(4, page)), n)
    greatest = Fold("max", (page, slot), where(inside, x, NEUTRAL["max"]))
    found = Simplifier(IndexProver(1000, 5.0))(greatest, (integers.less(0, n),))
    assert found.free <= greatest.free
    assert any(isinstance(e, Fold) and e.monoid == "max" for e in walk(found))


def test_pages_have_a_formula() -> None:
    (kernel,) = said("pages").kernels
    assert [formula.tensor for formula in kernel.formulas] == ["out"] and kernel.verdict != "verified"


def test_a_number_of_a_million_digits_is_not_written_out() -> None:
    assert not isinstance(prove_equal(exp(mul(-(10**6), log(2))), const(0)), Proved)
