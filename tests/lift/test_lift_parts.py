"""Parts with a mean, a count and squared distances are put together in any order, if their counts are counts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.formula.expr import Leaf, Load, Size, const
from samesame.formula.tensor import tensor
from samesame.kernels.front import passed_of
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import capture_launches
from samesame.kernels.indices import integers
from samesame.lift import KernelVerdict, LiftVerdict, lift
from samesame.lift.compose import counts
from samesame.lift.numerics import error_of

FILE = Path(__file__).parent.parent / "launches" / "parts.py"


@cache
def said(name: str, against: str = "") -> LiftVerdict:
    return lift(f"{FILE}:launch_{name}", f"{FILE}:{against}" if against else None)


def whole(name: str) -> KernelVerdict:
    return next(kernel for kernel in said(name).kernels if kernel.kernel == "whole_kernel")


def test_parts_are_put_together_and_their_counts_are_demanded() -> None:
    one = whole("moments")
    assert one.verdict == "verified", (one.unsupported, one.obligations)
    assert "count[…] ≥ 1" in one.demands and one.counts == ["count"]


def test_the_formula_is_what_the_interpreter_stores() -> None:
    captured, run = capture_launches(f"{FILE}:launch_moments"), interpret(f"{FILE}:launch_moments")
    (formula,) = whole("moments").formulas
    assert error_of(formula, passed_of(captured.launches[1], captured), run.executions[1], captured.sizes) < 1e-5


@pytest.mark.parametrize("name", ["by_halves", "inside", "above_two", "unmasked", "half"])
def test_what_is_put_together_wrongly_is_refused(name: str) -> None:
    (why,) = whole(f"moments_{name}").unsupported
    assert "a reduction of 3 values at once" in why


@pytest.mark.long
def test_the_demand_is_looked_at_where_the_counts_come_from_another_kernel() -> None:
    """The wrapper's own counts are counts; those of a part behind the end are not."""
    assert "is right only where" not in said("moments", "reference").against_detail
    assert said("moments_of_one_part_more", "reference").against != "same"


def test_counts_are_shown_to_be_at_least_one() -> None:
    n = Size("n", 1)
    parts = integers.quotient(integers.plus_(n, 15), const(16))

    def of(length, element, kind="int"):
        return tensor((length,), element, kind)

    def left(i):
        return integers.flattened("min", (integers.minus(n, integers.times_(i, 16)), const(16)))

    assert counts(of(parts, left)) and not counts(of(integers.plus_(parts, 1), left))
    assert not counts(of(n, lambda i: Load(Leaf("count", (n,)), (i,)), "real")) and not counts(None)
