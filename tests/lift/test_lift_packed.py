"""Rows that data says the places of are read and written as torch does; what is nearly that is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import Leaf, Load, Num, Size, const, floordiv, index, mod
from samesame.kernels.formulas.shorter import by_digits
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.kernels.stated import Sum
from samesame.kernels.tiles.detile import is_digit, rejoined
from samesame.lift import lift, tried

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "packed.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize(
    "name, reference, need",
    [
        ("slots", "cached", "0 ≤ slots[…] < block·blocks"),
        ("slots", "cached_at_places", "distinct(slots)"),
        ("padded", "padded", "lengths[…] + starts[…] ≤ total"),
        ("gradient", "gradient", "0 ≤ ids[…] < words"),
        ("split", "split", "depth, rows ≥ 2"),
        ("spread", "spread", "9 ≤ width"),
        ("joined", "joined", "m, width ≥ 2"),
        ("written_over", "written_over", "m, n, width ≥ 2"),
        ("in_place", "in_place", "rows, width ≥ 2"),
    ],
)
def test_it_is_verified_and_what_torch_computes(name: str, reference: str, need: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{reference}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert need in found.kernels[0].preconditions


@pytest.mark.parametrize(
    "name, reference",
    [
        ("slots", "cached_in_turned_blocks"),
        ("slots", "cached_by_blocks_alone"),
        ("padded", "padded_backwards"),
        ("gradient", "gradient_of_padding_too"),
        ("split_with_gaps", "split"),
        ("spread", "unbiased_spread"),
        ("joined_but_for_a_row", "joined_around_nothing"),
        ("written_over", "joined"),
        ("in_place", "in_place_at_the_end"),
    ],
)
def test_it_is_not_what_it_is_not(name: str, reference: str) -> None:
    assert lift(KERNELS.target(name), f"{KERNELS.file}:{reference}").against == "different"


@pytest.mark.parametrize("name, obligation", [("slots_twice", "race"), ("padded_too_far", "bounds")])
def test_what_is_nearly_that_is_violated(name: str, obligation: str) -> None:
    assert KERNELS.states(name)[obligation] == "violated"


N = Size("n", 2)
STARTS, LENGTHS = (Leaf(f"{name}*", (Size("rows", 2),), "int") for name in ("starts", "lengths"))


def test_a_limit_on_sums_is_of_elements_at_one_place() -> None:
    r, q, prover = index(Size("rows", 2)), index(Size("rows", 2)), IndexProver()
    start, length, other = Load(STARTS, (r,)), Load(LENGTHS, (r,)), Load(LENGTHS, (q,))
    inside = integers.less(integers.plus_(start, 3), N)
    assert not prover.proves((integers.less(3, length),), inside)
    prover.assume_sum(Sum({"starts": 1, "lengths": 1}, N))
    assert prover.proves((integers.less(3, length),), inside)
    assert not prover.proves((integers.less(3, other),), inside)


def test_values_are_drawn_so_that_they_keep_it() -> None:
    limit = Sum({"starts": 1, "lengths": 1}, N)
    drawn = {"starts": np.array([0, 9, 4, 0]), "lengths": np.array([3, 9, 8, 7])}
    kept = limit.kept(drawn, {"n": 7})
    assert (limit.of(kept) <= 7).all() and all((kept[name] >= 0).all() for name in kept)
    assert kept["starts"][0] == 0 and kept["lengths"][0] == 3  # where nothing is to be done
    assert str(limit) == "starts[…] + lengths[…] ≤ n"


def test_lanes_of_a_flattened_tile_are_rows_and_columns_where_nothing_else_is_known_of_them() -> None:
    lane = index(const(64))
    row, column = floordiv(lane, 16), mod(lane, 16)
    x, y = (Leaf(name, (Size("n", 2), Size("m", 2))) for name in "xy")
    simplify = Simplifier(IndexProver())
    (high, low), body = by_digits(simplify, (lane,), integers.tidied(Load(x, (row, column))), ())
    assert (high.extent, low.extent) == (const(4), const(16)) and body is Load(x, (high, low))
    (high, low), body = by_digits(
        simplify, (lane,), integers.tidied(Load(x, (row, column)) * Load(y, (lane, column))), ()
    )
    line = integers.plus_(integers.times_(high, 16), low)
    assert body is integers.tidied(Load(x, (high, low)) * Load(y, (line, low)))
    short = index(const(40))                               # not all rows are whole
    assert by_digits(simplify, (short,), Load(x, (floordiv(short, 16), const(0))), ())[0] == (short,)


def test_programs_of_a_grid_are_rows_and_columns_of_tiles_where_the_line_has_no_others() -> None:
    many, across, more = Size("many", 2), Size("across", 2), Size("more", 2)
    x = Leaf("x", (many, across))
    simplify = Simplifier(IndexProver())
    for length, told in ((integers.times_(many, across), 2), (integers.plus_(many, across), 1), (more, 1)):
        program = index(length)
        at = integers.tidied(Load(x, (floordiv(program, across), mod(program, across))))
        bound, body = by_digits(simplify, (program,), at, ())
        assert len(bound) == told
        assert (body is Load(x, bound)) == (told == 2)


def test_a_number_is_its_digits_where_the_lower_one_is_below_their_size() -> None:
    t, block = Load(STARTS, (index(N),)), Size("block", 2)
    high, low = integers.quotient(t, block), integers.remainder(t, block)
    i, j, far = index(N), index(block), index(N)
    ((number, told),) = rejoined([(high, i), (low, j)], is_digit)
    assert number is t and told is integers.plus_(integers.times_(i, block), j)
    assert len(rejoined([(high, i), (low, far)], is_digit)) == 2  # which may be more than a block
    assert len(rejoined([(floordiv(t, Num(3)), i), (low, j)], is_digit)) == 2
