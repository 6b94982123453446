"""Rows of sequences are written by one program each where the sequences' starts ascend, and not where one is less."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("triton")

from lifted import Lifted
from samesame.evidence import Refused
from samesame.formula.expr import Leaf, Load, const, index
from samesame.formula.tensor import leaf
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.kernels.stated import Ascending, Rising
from samesame.lift import lift, tried
from samesame.lift.draws import Held, drawn

LAUNCHES = Lifted(Path(__file__).parents[1] / "launches" / "ragged.py")


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 2.0)


def test_rows_of_sequences_are_written_by_one_program_each_if_their_starts_ascend() -> None:
    kernel = LAUNCHES.kernel("ragged")
    assert kernel.verdict == "verified" and "ascending(starts)" in kernel.headline, LAUNCHES.open("ragged")


@pytest.mark.parametrize("name", ["one_row_longer", "not_masked", "one_row_late", "sequences_that_overlap"])
def test_sequences_that_reach_into_the_next_are_not_verified(name: str) -> None:
    assert LAUNCHES.kernel(name).verdict != "verified"


def test_rows_longer_than_the_host_reads_from_the_starts_are_no_difference() -> None:
    file = LAUNCHES.file
    assert lift(LAUNCHES.target("ragged"), f"{file}:numbered").against != "different"
    assert lift(LAUNCHES.target("ragged"), f"{file}:numbered_from_one").against == "different"


def test_starts_that_do_not_ascend_break_the_contract() -> None:
    with pytest.raises(Refused, match=r"'ascending\(starts\)' does not hold in the example: starts\[2\] = 7"):
        lift(LAUNCHES.target("sequences_that_overlap"), assume=["ascending(starts)"])
    with pytest.raises(Refused, match=r"write ascending\(tensor\)"):
        lift(LAUNCHES.target("ragged"), assume=["ascending(starts[starts > 0])"])


@pytest.mark.parametrize("row, places", [([0, 0, 3, 3], []), ([0, 2, 1, 1], [2]), ([1], []), ([3, 2, 1], [1, 2])])
def test_what_is_less_than_the_one_before_breaks_it(row, places) -> None:
    assert list(Ascending("", None).broken(np.array(row), {})) == places


def test_of_elements_that_ascend_the_later_one_is_no_less() -> None:
    starts, i, j = Leaf("starts*", (9,), "int"), index(8), index(8)
    prover = IndexProver()
    prover.ascending["starts*"] = Rising(const(9))
    one, other, after = (Load(starts, (k,)) for k in (i, j, integers.plus_(i, 1)))
    earlier = integers.less(i, j)
    assert prover.proves((earlier,), integers.at_most(after, other))
    assert not prover.proves((earlier,), integers.less(after, other))
    assert not prover.proves((), integers.at_most(one, other))
    assert not prover.proves((earlier,), integers.at_most(Load(starts, (integers.plus_(j, 2),)), one))
    outside = Load(starts, (integers.plus_(i, 9),))
    assert not prover.proves((), integers.at_most(one, outside))      # nothing is known of what lies beyond the tensor


@pytest.mark.parametrize("seed, distinct", [*product(range(4), [False, True])])
def test_what_is_drawn_of_them_ascends_from_end_to_end(seed: int, distinct: bool) -> None:
    starts = leaf("starts", (6,), "int")
    row = drawn([starts], {}, seed, {"starts": Held(0, 20, (), distinct, ascending=True)}, {})["starts"]
    assert list(row) == sorted(row) and (row[0], row[-1]) == (0, 20)
    assert not distinct or len(set(row)) == 6
