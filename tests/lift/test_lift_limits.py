"""32-bit numbers that no tensor's size limits: the condition under which they fit is found, and named."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.formula.expr import Expr, Leaf, Load, Size, const, index
from samesame.kernels.host.interpret import interpret
from samesame.kernels.indices.integers import minus, plus_, quotient, times_
from samesame.kernels.indices.ranges import greatest
from samesame.lift import KernelVerdict, Settings, lift

FILE = Path(__file__).parent.parent / "launches" / "limits.py"
LARGE = 1 << 40  # elements: so many that 32 bits may be too few


@cache
def kernel(name: str, elements: int = 0) -> KernelVerdict:
    (one,) = lift(f"{FILE}:launch_{name}", settings=Settings(elements=elements)).kernels
    return one


def overflow(name: str, elements: int = 0) -> str:
    return next(o.state for o in kernel(name, elements).obligations if o.name == "overflow")


def needs(name: str) -> str:
    return ", ".join(kernel(name).preconditions)


def test_a_sum_of_sizes_must_fit() -> None:
    assert kernel("window").verdict == "verified"
    (limit,) = re.findall(r"(\w+) \+ (\w+) ≤ 2147483647", needs("window"))     # in the order in which they were met
    assert set(limit) == {"start", "width"}


def test_rows_that_are_masked_out_must_fit() -> None:
    assert kernel("rows").verdict == "verified"
    assert f"n ≤ {(2**31 - 1) // 7}" in needs("rows")


@pytest.mark.parametrize("name", ["window", "rows"])
def test_nothing_is_assumed_where_the_number_of_elements_is_given(name: str) -> None:
    assert overflow(name, LARGE) == "undecided"


@pytest.mark.parametrize("name", ["scaled", "scaled_at_once"])
def test_what_the_launch_itself_breaks_is_not_assumed(name: str) -> None:
    assert overflow(name) == "violated" and "33554432" not in needs(name)


def test_a_number_that_wraps_around_is_seen_to() -> None:
    """In the interpreter nothing is below 101·2^25: as 32 bits that is negative. So the formula `out = x` is wrong."""
    (run,) = [interpret(f"{FILE}:launch_scaled_at_once")]
    (out,) = run.outputs.values()
    assert not out.any()


def test_data_that_would_wrap_around_are_taken_to_be_small() -> None:
    assert overflow("data") == "proved" and any("2^" in need and "[…]" in need for need in kernel("data").preconditions)


def test_what_holds_by_itself_is_not_needed() -> None:
    assert kernel("one_each").verdict == "verified" and "⌊" not in needs("one_each"), needs("one_each")


M, N = Size("m", 1), Size("n", 2)
I, J = index(M), index(const(8))  # noqa: E741    indices, as formulas write them


@pytest.mark.parametrize(
    "number, most",
    [
        (plus_(times_(I, N), J), plus_(times_(minus(M, 1), N), 7)),
        (minus(times_(J, N), I), times_(7, N)),
        (plus_(M, N), plus_(M, N)),
        (times_(I, minus(J, 3)), None),
        (quotient(I, N), quotient(minus(M, 1), N)),
        (quotient(I, minus(J, 3)), None),
        (plus_(I, Load(Leaf("x", (M,), "int"), (I,))), None),
    ],
)
def test_the_greatest_value_is_over_sizes(number: Expr, most: Expr | None) -> None:
    assert greatest(number) is most
