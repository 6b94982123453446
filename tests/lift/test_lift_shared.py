"""What both cases of a choice add stands outside of it, in a sum over the cases."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import Expr, Leaf, Load, Size, Sum, add, compare, const, index, log, where
from samesame.kernels.formulas.rational import canonical
from samesame.kernels.formulas.shared import by_what_cases_share
from samesame.lift import lift

FILE = Path(__file__).parents[1] / "launches" / "shared.py"
KERNELS = Lifted(FILE)
N = Size("n", 2)
P = index(3)
X = Leaf("x", (N,))
BIAS = Load(Leaf("bias", ()), ())


def part(p: Expr) -> Expr:
    """A part of a sum over a row, its ranges made anew each time."""
    return Sum(16, lambda lane: Sum((N + 47 - 16 * p - lane) // 48, lambda t: Load(X, (48 * t + 16 * p + lane,))))


def test_a_range_that_ends_by_another_index_has_one_name() -> None:
    assert part(P) is not part(P) and canonical(part(P)) is canonical(part(P))
    assert canonical(part(P)) is not canonical(part(const(0)))


@pytest.mark.parametrize(
    "then, otherwise, shared, rest",
    [
        (part(P) + BIAS, part(P), part(P), (BIAS, 0)),
        (part(P), part(P) - BIAS, part(P), (0, -BIAS)),
        (part(P) + part(P), part(P), part(P), (part(P), 0)),
        (log(BIAS) + BIAS, log(BIAS), log(BIAS), (BIAS, 0)),
    ],
)
def test_what_both_cases_add_is_taken_out(then: Expr, otherwise: Expr, shared: Expr, rest: tuple[Expr, Expr]) -> None:
    c = compare("=", P, 0)
    found = by_what_cases_share(where(c, then, otherwise), (P,))
    assert found is not None
    assert [canonical(e) for e in found] == [canonical(e) for e in (shared, where(c, *map(const, rest)))]


def test_cases_that_share_nothing_and_choices_outside_the_sum_stay() -> None:
    c = compare("=", P, 0)
    assert by_what_cases_share(where(c, part(P), BIAS), (P,)) is None
    assert by_what_cases_share(where(c, add(part(P), BIAS), part(P)), (index(3),)) is None


@pytest.mark.parametrize(
    "name, reference",
    [("bias_once", "line"), ("bias_never", "line_alone"), ("bias_by_all_but_one", "three_times")],
)
def test_parts_of_which_some_add_more_are_the_sum_and_that(name: str, reference: str) -> None:
    found = lift(KERNELS.target(name), f"{FILE}:{reference}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail


def test_a_bias_that_no_part_adds_is_missed() -> None:
    assert lift(KERNELS.target("bias_never"), f"{FILE}:line").against == "different"
