"""What a hostile kernel must not be called: verified where it is not, the same as what it is not."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.kernels.front import passed_of
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import capture_launches
from samesame.lift import LiftVerdict, lift
from samesame.lift.numerics import error_of
from samesame.report.lifted import lines

FILE = Path(__file__).parent.parent / "launches" / "hostile.py"


@cache
def said(name: str) -> LiftVerdict:
    return lift(f"{FILE}:launch_{name}")


def states(name: str) -> dict[str, str]:
    (kernel,) = said(name).kernels
    return {o.name: o.state for o in kernel.obligations}


@pytest.mark.parametrize(
    "name, needed",
    [
        ("scale_by_size", "the host code: 2*n + 1 = 75"),
        ("scale_by_power", "the host code: next_power_of_2(n) = 64"),
        ("square", "n = m"),
    ],
)
def test_what_holds_at_the_examples_sizes_only_is_needed(name: str, needed: str) -> None:
    (kernel,) = said(name).kernels
    assert kernel.verdict == "verified" and needed in kernel.demands


@pytest.mark.parametrize(
    "name, obligation",
    [
        ("sum_of_bytes", "overflow"),
        ("position_in_a_byte", "overflow"),
        ("overlapping", "race"),
        ("rows_that_overlap", "race"),
        ("added_to_one", "race"),
    ],
)
def test_it_is_not_verified(name: str, obligation: str) -> None:
    assert states(name)[obligation] != "proved"


def test_programs_that_write_the_same_do_no_harm_unless_they_read_it_too() -> None:
    assert states("blocks_that_overlap")["race"] == "undecided"
    assert states("blocks_that_overlap_in_place")["race"] == "violated"


def test_two_parts_of_one_memory_that_lie_apart_are_two_tensors() -> None:
    (kernel,) = said("two_halves").kernels
    assert kernel.verdict == "verified"
    assert [f.text for f in kernel.formulas] == ["a_ptr[i] = x[i]", "b_ptr[i] = x[i] + 1"]


def test_the_least_number_of_a_shorter_dtype_is_a_number() -> None:
    (kernel,) = said("clamp").kernels
    assert [f.text for f in kernel.formulas] == ["out[i] = max{x[i], −65504}"]


def test_of_bits_a_signed_comparison_says_nothing_about_an_unsigned_one() -> None:
    (kernel,) = said("signs_of_bits").kernels
    assert all("if bits" in f.text and "else 2" in f.text and "{1 if" not in f.text for f in kernel.formulas)


def test_a_while_loop_whose_bound_is_no_line_has_no_known_number_of_iterations() -> None:
    (kernel,) = said("while_square").kernels
    assert not kernel.formulas and "does not count up to a bound" in kernel.unsupported[0]


def test_a_reference_is_compared_with_every_configuration() -> None:
    first, second = said("tuned").kernels
    assert first.verdict == second.verdict == "verified", "each is what its formula says"
    against = lift(f"{FILE}:launch_tuned", f"{FILE}:sum_of_rows")
    assert against.against == "different" and "BLOCK=16" in against.against_detail
    assert lift(f"{FILE}:launch_tuned_loop", f"{FILE}:sum_of_rows").against == "same"


def test_what_is_the_same_where_it_is_defined_says_where() -> None:
    found = lift(f"{FILE}:launch_root", f"{FILE}:the_same")
    assert found.against == "same" and found.against_conditions == ["x[i] ≥ 0"]
    assert f"against {FILE}:the_same: same where x[i] ≥ 0, if all that is needed holds" in list(lines(found))
    assert not any(kernel.name for kernel in found.kernels), "it is no copy"


def test_a_reference_is_not_the_same_where_the_launch_itself_breaks_what_that_takes() -> None:
    """It was "same where x[i] ≥ 0", of numbers of which half are negative."""
    found = lift(f"{FILE}:launch_root_of_any", f"{FILE}:the_same")
    assert found.against == "different" and not found.against_conditions
    assert math.isnan(found.against_counterexample["run"]["interpreter"])


def test_what_is_looked_for_in_logarithms_is_not_taken_to_be_absent() -> None:
    """An element of an input is a number; its logarithm may be none."""
    (kernel,) = said("no_number").kernels
    assert [f.text for f in kernel.formulas] == ["out[i] = {7 if 0 ≠ isnan(log(x[i])) else log(x[i])}"]
    target = f"{FILE}:launch_no_number"
    captured, run = capture_launches(target), interpret(target)
    passed = passed_of(captured.launches[0], captured)
    assert error_of(kernel.formulas[0], passed, run.executions[0], captured.sizes) < 1e-6


def test_a_tensor_is_known_whatever_it_is_called() -> None:
    found = lift(f"{FILE}:launch_of_undefined", f"{FILE}:doubled")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert found.kernels[0].formulas[0].text == "out[i] = 2·undefined_x[i]"
