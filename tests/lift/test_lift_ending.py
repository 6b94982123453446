"""Folds that end have a closed form; where the condition may hold again after it did not, there is none."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.formula.expr import ZERO, Size, const
from samesame.kernels.front import passed_of
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import capture_launches
from samesame.kernels.indices import integers
from samesame.kernels.loops.closed import at_most_one
from samesame.lift import KernelVerdict, lift
from samesame.lift.numerics import error_of

FILE = Path(__file__).parent.parent / "launches" / "ending.py"
LIFTED = ("member", "until", "not_until", "largest", "sometimes_in_one_block")


@cache
def kernel(name: str) -> KernelVerdict:
    (one,) = lift(f"{FILE}:launch_{name}").kernels
    return one


@pytest.mark.parametrize("name", LIFTED)
def test_a_fold_that_ends_is_verified_and_its_formula_is_what_the_interpreter_stores(name: str) -> None:
    assert kernel(name).verdict == "verified", (kernel(name).unsupported, kernel(name).obligations)
    captured, run = capture_launches(f"{FILE}:launch_{name}"), interpret(f"{FILE}:launch_{name}")
    (formula,) = kernel(name).formulas
    assert error_of(formula, passed_of(captured.launches[0], captured), run.executions[0], captured.sizes) < 1e-6


@pytest.mark.parametrize("name", ["since", "sometimes", "data", "doubling", "sometimes_in_one_block"])
def test_where_a_condition_may_hold_again_what_was_before_is_forgotten_by_a_factor_of_0(name: str) -> None:
    captured, run = capture_launches(f"{FILE}:launch_{name}"), interpret(f"{FILE}:launch_{name}")
    assert kernel(name).formulas, kernel(name).unsupported
    (formula,) = kernel(name).formulas
    assert error_of(formula, passed_of(captured.launches[0], captured), run.executions[0], captured.sizes) < 1e-6


def test_a_second_iteration_is_excluded_by_a_condition_on_the_size() -> None:
    n = Size("n", 1)
    trips = integers.quotient(integers.plus_(n, 7), const(8))
    for times in (trips, integers.flattened("max", (trips, ZERO))):
        assert at_most_one(times) is integers.at_most(n, 8)
    assert at_most_one(n) is integers.at_most(n, 1)


def test_what_lanes_forget_makes_a_difference() -> None:
    found = lift(f"{FILE}:launch_member", f"{FILE}:among")
    assert found.against != "same"
