"""Programs that have a run of rows each write every row once, whichever way that is written and however many there are;
their sums together are the sum of all rows."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import ZERO, Leaf, Load, Size, const, floordiv, fold, index, le, maximum, minimum
from samesame.formula.show import unicode
from samesame.kernels.formulas.present import rounds
from samesame.kernels.indices import integers
from samesame.kernels.indices.products import without_extrema
from samesame.kernels.indices.ranges import greatest
from samesame.kernels.indices.solver import IndexProver
from samesame.lift import lift, tried

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "runs_of_rows.py")
N, P, C = (Size(name, 2) for name in "NPC")
EACH = integers.ceiling(N, P)  # rows of a program
PID = index(P)
MOST = (1 << 31) - 1


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize("name", ["by_programs", "by_rows", "by_processors", "masked", "pointers", "blocks", "strides"])
def test_rows_are_shared_out(name: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:doubled")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert not [held for held in found.against_held if "programs" in held]  # also for all numbers of programs
    assert found.kernels[0].formulas[0].text == "out[i, j] = 2·x[i, j]"


def test_rows_are_written_from_the_last_one_on() -> None:
    found = lift(KERNELS.target("backwards"), f"{KERNELS.file}:flipped")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert KERNELS.kernel("backwards_past_the_end").verdict == "violated"


@pytest.mark.parametrize("name", ["by_programs", "masked", "strides"])
def test_a_sum_without_a_row_is_another(name: str) -> None:
    assert lift(KERNELS.target(name), f"{KERNELS.file}:doubled_without_a_row").against == "different"


@pytest.mark.parametrize(
    "name, obligation",
    [
        ("one_row_of_the_next", "race"),
        ("not_the_last_row", "coverage"),
        ("not_the_last_of_each", "coverage"),
        ("rounded_down", "coverage"),
        ("masked_with_gaps", "coverage"),
        ("masked_that_overlap", "race"),
    ],
)
def test_rows_that_two_programs_have_or_none(name: str, obligation: str) -> None:
    assert KERNELS.kernel(name).verdict in ("violated", "undecided")
    assert obligation in [told for told, _, _ in KERNELS.open(name)]


def test_a_program_may_have_no_row() -> None:
    """A number that counts nothing is not below zero; that a fold binds a variable says of no row that it is there."""
    assert KERNELS.kernel("counted").verdict == "undecided"
    assert "bounds" in [told for told, _, _ in KERNELS.open("counted")]
    assert lift(KERNELS.target("sevens"), f"{KERNELS.file}:sevens").against != "same"
    x = Leaf("x", (const(1 << 40),), "int", (0, 9))
    counted = fold("sum", integers.minus(N, P), lambda k: Load(x, (C * k + 1,)))
    prover = IndexProver()
    assert not prover.proves((le(0, counted),), integers.at_most(C * P, C * N), thorough=False)


def test_what_a_program_adds_up_is_said_in_few_words() -> None:
    assert KERNELS.texts("by_rows")[1] == "sums[i, j] = Σ_{k<min{rows_each, rows − rows_each·i}} x[rows_each·i + k, j]"
    ends = maximum(minimum(integers.plus_(N, P), C) + -N, ZERO)
    assert unicode(rounds(integers.tidied(ends))) in ("min{P, C − N}", "min{C − N, P}")
    assert rounds(integers.tidied(minimum(N, P) + C)) is integers.tidied(minimum(N, P) + C)  # no shorter


def test_the_first_row_of_a_program_is_no_further_than_all_rows_and_programs() -> None:
    first = integers.times_(PID, EACH)
    fits = integers.at_most(integers.plus_(N, P), MOST)
    prover = IndexProver()
    assert prover.proves((fits,), integers.at_most(first, MOST), thorough=False)
    assert prover.proves((), integers.at_least_zero(first), thorough=False)
    assert not prover.proves((fits,), integers.at_most(integers.plus_(first, EACH, EACH), N))
    assert not prover.proves((), integers.at_most(first, MOST))


def test_what_is_below_the_least_of_two_is_below_both() -> None:
    k = index(C)
    below = integers.minus(integers.minus(maximum(minimum(N, P), ZERO), k), 1)
    assert set(without_extrema(below)) >= {integers.minus(integers.minus(n, k), 1) for n in (N, P)}
    either = integers.minus(maximum(N, P), k)
    assert without_extrema(either) == ()  # it may be below one of them alone
    prover = IndexProver()
    assert not prover.proves((integers.at_least_zero(either),), integers.at_most(k, N))
    inside, goal = integers.at_least_zero(below), integers.less(integers.times_(k, C), integers.times_(N, C))
    assert prover.proves((inside,), goal, thorough=False)
    assert not prover.proves((inside,), integers.less(integers.times_(k, C), N))


def test_a_row_past_the_end_needs_no_limit() -> None:
    assert "cols·" not in KERNELS.kernel("by_rows").headline  # what is left out is no greater than a tensor


LENGTH = Load(Leaf("lengths*", (N,), "int"), (index(N),))


def test_the_greatest_value_of_what_tensors_hold() -> None:
    most, pages = integers.times_(P, 16), integers.ceiling(LENGTH, const(16))
    held = {"lengths*": (ZERO, most)}
    assert greatest(LENGTH) is None
    assert greatest(integers.plus_(LENGTH, 15), held) is integers.plus_(most, 15)
    assert greatest(integers.minus(15, LENGTH), held) is const(15)
    assert greatest(pages, held) is P
    assert greatest(floordiv(LENGTH, P), {}) is None


def test_a_number_that_may_be_besides_is_not_taken_to_be_in_the_range() -> None:
    prover = IndexProver()
    prover.assume_range("lengths*", ZERO, N, (1 << 20,))
    assert not prover.held
    prover.assume_range("lengths*", ZERO, N)
    assert prover.held == {"lengths*": (ZERO, N)}


def test_lengths_that_are_counted_up_to_pages_fit_where_that_is_needed() -> None:
    found = KERNELS.kernel("pages")
    assert found.verdict == "verified", KERNELS.open("pages")
    assert "pages ≤ 134217727" in found.headline  # 16·pages + 15 ≤ 2^31 − 1
