"""Offsets that are divided by sizes: numbers in one radix are copied to numbers in another."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.formula.expr import TRUE, FloorDiv, Size, const, index, substitute
from samesame.kernels.front import passed_of
from samesame.kernels.host.interpret import interpret
from samesame.kernels.host.launches import capture_launches
from samesame.kernels.indices import integers
from samesame.kernels.tiles.digits import digits_of, joined, split
from samesame.lift import KernelVerdict, Settings, lift
from samesame.lift.numerics import error_of

FILE = Path(__file__).parent.parent / "launches" / "divisions.py"
FORMULAS = {  # how those of verified kernels end
    "columns": "if n ≤ j else a[i, j]}",
    "rows": "if m ≤ i else a[i, j]}",
    "middle": "if n ≤ j else a[i, j, l]}",
    "inner": "x[i, j + 1, k + 1]",
    "unshuffled": None,
    "windows": "{x[j, i − 2·j] if i ≤ 2·j + 3 else 0}",
}
BROKEN = {
    "one_over_the_other": {"race", "coverage"},
    "a_column_between": {"coverage", "bounds"},
    "short_rows": {"race", "coverage"},
    "programs_of_the_second": {"coverage"},
    "inner_of_long_rows": {"bounds"},
    "inner_of_short_rows": {"coverage"},
    "unshuffled_of_long_rows": {"bounds"},
    "windows_that_replace": {"race"},
    "windows_beyond_the_end": {"bounds"},
}
SLOWLY = Settings(seconds=60)


@cache
def kernel(name: str) -> KernelVerdict:
    (one,) = lift(f"{FILE}:launch_{name}", settings=SLOWLY).kernels
    return one


@pytest.mark.parametrize("name", FORMULAS)
def test_it_is_verified_and_its_formula_is(name: str) -> None:
    assert kernel(name).verdict == "verified", [(o.name, o.state, o.detail) for o in kernel(name).obligations]
    (formula,) = kernel(name).formulas
    assert FORMULAS[name] is None or formula.text.endswith(FORMULAS[name])


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.long] if name == "unshuffled" else []) for name in FORMULAS
])
def test_the_formula_is_what_the_interpreter_stores(name: str) -> None:
    captured, run = capture_launches(f"{FILE}:launch_{name}"), interpret(f"{FILE}:launch_{name}")
    (formula,) = kernel(name).formulas
    assert error_of(formula, passed_of(captured.launches[0], captured), run.executions[0], captured.sizes) < 1e-6


@pytest.mark.parametrize("name", BROKEN)
def test_broken_variant_is_violated(name: str) -> None:
    states = {o.name: o.state for o in kernel(name).obligations}
    assert kernel(name).verdict == "violated"
    assert BROKEN[name] <= {o for o, state in states.items() if state == "violated"}, states


def test_an_atomic_operation_out_of_bounds_is_seen_in_the_interpreter() -> None:
    (case,) = (o.counterexample for o in kernel("windows_beyond_the_end").obligations if o.name == "bounds")
    assert case["replayed"] == "yes"


def test_what_is_added_to_nothing_is_not_verified() -> None:
    states = {o.name: o.state for o in kernel("windows_into_nothing").obligations}
    assert states["undefined"] == "violated" and states["coverage"] == "undecided"


def test_program_and_lane_are_one_number_only_where_they_are_its_digits() -> None:
    pid, lane, c = index(Size("n", 1)), index(const(64)), Size("c", 1)
    number = integers.plus_(integers.times_(pid, 64), lane)
    assert [v for v, _ in digits_of(number, (pid, lane))] == [pid, lane]
    for other in (
        integers.plus_(integers.times_(pid, 63), lane),  # blocks overlap
        integers.plus_(integers.times_(pid, 65), lane),  # there are gaps
        integers.plus_(number, 1),
        integers.plus_(integers.times_(lane, 64), lane),
    ):
        assert digits_of(other, (pid, lane)) == ()
    assert joined((FloorDiv(number, c),), (pid, lane)) is not None
    assert joined((integers.plus_(FloorDiv(number, c), lane),), (pid, lane)) is None, "the lane counts by itself"


@pytest.mark.parametrize("total, width", [(24, 4), (23, 4), (3, 7)])
def test_each_number_has_one_pair_of_digits(total: int, width: int) -> None:
    number = index(const(total))
    change = split(number, const(width))
    pairs = product(*(range(int(v.extent.value)) for v in change.new))
    points = [{v: const(n) for v, n in zip(change.new, pair, strict=True)} for pair in pairs]
    there = [p for p in points if integers.tidied(substitute(change.condition, p)) is TRUE]
    assert [integers.tidied(substitute(change.values[number], p)) for p in there] == [const(k) for k in range(total)]
