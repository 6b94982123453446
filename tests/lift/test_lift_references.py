"""References that name parameters which are equal in the example, or fold another spelling of one function."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.effort import Budget
from samesame.formula.equal import Proved
from samesame.formula.expr import Expr, Fold, Leaf, Load, Size, const, index, mul, power
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.literals import as_written
from samesame.lift import lift, tried
from samesame.lift.doubles import is_long
from samesame.lift.draws import sizes_to_try
from samesame.lift.folded import bodies_equal

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "references.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 0.5)


@pytest.mark.parametrize("name, words", [("shared", "heads, width ≥ 2"), ("scaled", "factor, length ≥ 2")])
def test_parameters_that_are_equal_in_the_example_are_each_a_size_of_its_own(name: str, words: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{name}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert words in found.kernels[0].headline and " = heads" not in found.kernels[0].headline


def test_parameters_that_have_to_be_equal_are_one_size() -> None:
    found = lift(KERNELS.target("square"), f"{KERNELS.file}:square")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert "columns = rows" in found.kernels[0].headline


def test_what_the_host_decides_of_two_parameters_is_said() -> None:
    for name, words in (("scaled_if_equal", "n = k"), ("scaled_if_twice", "2*n")):
        found = lift(KERNELS.target(name), f"{KERNELS.file}:scaled_once")
        assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
        assert words in found.kernels[0].headline


def test_a_difference_at_sizes_of_their_own_is_noted() -> None:
    found = lift(KERNELS.target("times"), f"{KERNELS.file}:times_its_length")
    assert (found.verdict, found.against) == ("verified", "same") and "k = n" in found.kernels[0].headline
    assert any("tried as others: then the kernel and its reference differ, at " in note for note in found.notes)


def test_a_part_of_a_tensor_is_no_other_tensor() -> None:
    """Whatever others are called."""
    found = lift(KERNELS.target("named_as_a_part"), f"{KERNELS.file}:the_other")
    assert found.against == "different", found.against_detail
    assert lift(KERNELS.target("named_as_a_part"), f"{KERNELS.file}:the_first").against == "same"


@pytest.mark.parametrize("name", ["rows_of_two", "with_one_more", "without_the_last", "grouped", "odd_rows"])
def test_a_length_that_others_make_up_is_compared_at_every_one(name: str) -> None:
    """2·n of n rows, n·m + 1, 2·n − 1, and what a contract divides."""
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{name}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert not found.against_held


def test_one_element_past_a_tile_is_among_the_first_sizes_that_are_tried() -> None:
    """Of each size: a sum that is not rescaled is right up to there."""
    example = {"batch": 2, "heads": 3, "n": 13, "width": 24}
    first = list(islice(sizes_to_try(example, [], [16, 32]), 2 + 3 * len(example)))
    assert first[0] == example
    assert all(any(sizes[name] == 17 for sizes in first) for name in example)


def test_a_number_that_a_reference_takes_is_the_one_that_the_launch_has() -> None:
    assert lift(KERNELS.target("scaled"), f"{KERNELS.file}:scaled_and_one").against == "different"


def test_a_sum_of_another_spelling_is_the_same() -> None:
    found = lift(KERNELS.target("gradient"), f"{KERNELS.file}:gradient")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail


def test_a_reference_that_computes_gradients_is_one_of_all_sizes() -> None:
    found = lift(KERNELS.target("gradient"), f"{KERNELS.file}:gradient_by_autograd")
    assert (found.against, found.against_held) == ("same", []), found.against_detail


@pytest.mark.parametrize("reference", ["gradient_of_half", "gradient_from_one_on"])
def test_a_sum_of_something_else_is_not(reference: str) -> None:
    assert lift(KERNELS.target("gradient"), f"{KERNELS.file}:{reference}").against == "different"


N, M = Size("n", 2), Size("m", 2)


def folded(monoid: str, extent: Expr, times: int) -> Tensor:
    def element(i: Expr) -> Expr:
        v = index(extent)
        return Fold(monoid, (v,), mul(times, power(Load(Leaf("x", (M, M), "real"), (i, v)), 2)))

    return Tensor((M,), element, "real")


@pytest.mark.parametrize("right, proved", [
    (folded("sum", N, 2), True), (folded("sum", N, 3), False), (folded("sum", M, 2), False),
    (folded("max", N, 2), False),
    (Tensor((M,), lambda i: const(0), "real"), False),
])
def test_folds_of_one_kind_over_one_range(right: Tensor, proved: bool) -> None:
    assert isinstance(bodies_equal(folded("sum", N, 2), right, budget=Budget(seconds=2.0)), Proved) == proved


def test_a_constant_that_float32_holds_is_itself(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text("A, B, C, D = 1.99999999, 0.6065306597126334, 0.50000001, 0.1\n")
    assert [as_written(x, str(file)) for x in (2.0, -2.0, 0.5)] == [2.0, -2.0, 0.5]
    assert as_written(float(np.float32(0.6065306597126334)), str(file)) == 0.6065306597126334
    assert as_written(-float(np.float32(0.1)), str(file)) == -0.1


@pytest.mark.parametrize(("name", "words"), [
    ("negative", ""), ("holds", ""), ("nearest", ""), ("product", "numbers are as float64 rounds them"),
])
def test_numbers_and_truths_of_a_kernel_are_those_of_its_reference(name: str, words: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{name}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert [*found.against_conditions] == ([words] if words else [])


def test_a_product_of_other_numbers_is_another() -> None:
    assert lift(KERNELS.target("product"), f"{KERNELS.file}:other_product").against == "different"


@pytest.mark.parametrize(("number", "long"), [
    (Fraction(1, 3), False), (Fraction(1, 2**20), False), (Fraction(1, 2**60), True), (Fraction(10**30), False),
    (Fraction(0.1), True), (Fraction("0.1"), False), (Fraction("0.12345678901234567"), False),
    (Fraction("0.123456789012345678"), True), (Fraction("-0.123456789012345678"), True),
])
def test_long_numbers_are_those_that_end_after_more_digits_than_a_float_has(number: Fraction, long: bool) -> None:
    assert is_long(number) is long


@pytest.mark.parametrize("name", ["inverse", "logarithm"])
def test_an_infinity_that_a_kernel_leaves_is_none_that_cancels(name: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:untouched")
    assert (found.verdict, found.against) != ("verified", "same")
