"""Small kernels, each for one thing: views, joined dimensions, infinities, signs, what is not written and not shown."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

import numpy as np

from samesame.kernels.front import passed_of
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import capture_launches
from samesame.lift import KernelVerdict, LiftVerdict, lift
from samesame.lift.numerics import error_of

FILE = Path(__file__).parent.parent / "launches" / "small.py"
FORMULAS = {  # of kernels that are verified
    "flat": ["out[i, j] = max{x[i, j], 0}"],
    "transposed": ["out[i, j] = x[j, i]"],
    "repeated": ["out[i, j] = x[j]"],
    "joined": ["out[i, j] = {a[j] if 0 = i else b[j]}"],
    "diagonal": ["out[i, j] = {x[i] if j = i else 0}"],
    "sign": None,
    "exchanged": ["out[i] = b[i] − a[i]"],
}


@cache
def said(name: str) -> LiftVerdict:
    return lift(f"{FILE}:launch_{name}")


def kernel(name: str) -> KernelVerdict:
    (one,) = said(name).kernels
    return one


def states(name: str) -> dict[str, str]:
    return {o.name: o.state for o in kernel(name).obligations}


@pytest.mark.parametrize("name", FORMULAS)
def test_it_is_verified_and_its_formula_is(name: str) -> None:
    assert kernel(name).verdict == "verified", [(o.name, o.state, o.detail) for o in kernel(name).obligations]
    texts = [formula.text for formula in kernel(name).formulas]
    assert FORMULAS[name] is None or texts == FORMULAS[name]


@pytest.mark.parametrize("name", [*FORMULAS, "quotient"])
def test_the_formula_is_what_the_interpreter_stores(name: str) -> None:
    target = f"{FILE}:launch_{name}"
    captured = capture_launches(target)
    run = interpret(target)
    passed = passed_of(captured.launches[0], captured)
    assert kernel(name).formulas
    for formula in kernel(name).formulas:
        assert error_of(formula, passed, run.executions[0], captured.sizes) < 1e-6


def test_a_missing_block_of_a_matrix_taken_as_one_row_is_found() -> None:
    verdict = kernel("flat_too_few")
    assert verdict.verdict == "violated"
    assert states("flat_too_few")["coverage"] == "violated"


def test_what_nobody_writes_is_only_right_in_memory_that_the_host_has_filled() -> None:
    assert states("diagonal")["coverage"] == "proved"
    assert states("diagonal_of_nothing")["coverage"] == "violated"


def test_atomic_sums_go_to_their_own_elements() -> None:
    (formula,) = kernel("sums").formulas
    assert states("sums")["value"] == "proved"
    captured, run = capture_launches(f"{FILE}:launch_sums"), interpret(f"{FILE}:launch_sums")
    assert error_of(formula, passed_of(captured.launches[0], captured), run.executions[0], captured.sizes) < 1e-6


def test_infinity_minus_infinity_is_never_a_number() -> None:
    """A row of length 0 gives NaN, although exp(z) / Σ_{k<32} exp(z) cancels: that none is so short is a need."""
    assert states("masked_softmax")["value"] == "proved"
    assert "1 ≤ lengths[…]" in kernel("masked_softmax").preconditions
    run = interpret(f"{FILE}:launch_masked_softmax")
    assert np.isfinite(next(iter(run.outputs.values())).numpy()).all()  # the example itself has no such row


def test_zero_times_infinity_is_never_zero() -> None:
    assert states("zero_times_infinity")["value"] != "proved"


def test_where_a_program_may_read_what_another_wrote_no_formula_is_shown() -> None:
    assert states("neighbour")["aliasing"] == "violated" and states("neighbour")["value"] == "undecided"
    assert kernel("neighbour").formulas == []


def test_a_kernel_that_writes_a_part_of_a_memory_is_not_compared_as_if_it_wrote_all(tmp_path) -> None:
    reference = tmp_path / "other.py"
    reference.write_text("import torch\ndef reference(x):\n    return torch.cat([torch.zeros_like(x), x])\n")
    found = lift(f"{FILE}:launch_half", f"{reference}:reference")
    assert found.against == "undecided" and "a part" in found.against_detail


def test_a_formula_says_which_elements_are_not_written() -> None:
    (formula,) = kernel("diagonal_of_nothing").formulas
    assert formula.text.startswith("out[i, j] = {x[i] if j = i else undefined out[")


def test_an_undefined_value_is_told_where_no_formula_is() -> None:
    assert kernel("placed").formulas[0].expr is None
    assert states("placed")["undefined"] == "violated"


def test_what_another_lane_of_the_program_stores_may_be_there_too_early() -> None:
    assert states("shifted")["aliasing"] == states("shifted")["value"] == "undecided"
    assert kernel("shifted").formulas == []
