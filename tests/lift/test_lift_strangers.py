"""Kernels in the manner of strangers are what their references say, and what is nearly one of them is not."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

pytest.importorskip("triton")

from lifted import Lifted
from samesame.formula.expr import NEG_INF, Size, index, le, not_, where
from samesame.formula.few import values
from samesame.formula.tensor import leaf, tensor
from samesame.kernels.execution.literals import as_written
from samesame.kernels.host.parts import whole_of_parts
from samesame.lift import lift, tried
from samesame.lift.compose import may_be_infinite
from samesame.operators.reduction import logsumexp

FILE = Path(__file__).parents[1] / "launches" / "strangers.py"
LAUNCHES = Lifted(FILE)


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize("name, reference", [
    ("put", "put"),                                       # which rows are written says the tensor, by its own index
    ("blocks", "chosen_blocks"),
    ("weighted", "weighted"),                             # rows of a block, whichever of its tiles it is
    ("kept", "kept"),                                     # the log-sum-exp of scores of which some are −∞
    ("added", "added"),                                   # ≥ 0 and ≠ −1 say the same of what else is in range
    ("less", "less"),                                     # two parts of one draw
    ("scaled", "scaled"),                                 # more digits than a float32 has
    ("unpacked", "unpacked"),                             # a table of shifts
    ("smoothed", "smoothed"),                             # an index that is held at both ends
    ("largest", "largest"),                               # of tiles of which each program has one
])
def test_it_is_verified_and_what_torch_computes(name: str, reference: str) -> None:
    found = lift(LAUNCHES.target(name), f"{FILE}:{reference}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail


@pytest.mark.parametrize("name, reference", [
    ("put", "put_twice"),
    ("blocks", "other_blocks"),
    ("kept_of_none", "kept_before"),                      # e^(x + ∞) in the first row
    ("added", "added_after_first"),
    ("less", "more"),
    ("scaled", "scaled_by_another"),
    ("unpacked", "unpacked_in_order"),
    ("smoothed", "smoothed_by_mirror"),
    ("largest_or_one", "largest"),
])
def test_it_is_not_what_it_is_not(name: str, reference: str) -> None:
    assert lift(LAUNCHES.target(name), f"{FILE}:{reference}").against != "same"


@pytest.mark.parametrize("name", ["blocks_ahead", "long_blocks", "weighted_of_fewer"])
def test_what_leaves_its_block_is_not_verified(name: str) -> None:
    assert LAUNCHES.kernel(name).verdict != "verified"


def test_the_number_of_a_block_is_what_is_needed() -> None:
    assert "0 ≤ chosen[…] < blocks" in LAUNCHES.kernel("blocks").headline


def test_a_float32_is_the_one_number_of_the_file_that_it_rounds(tmp_path: Path) -> None:
    file = tmp_path / "numbers.py"
    file.write_text("a, b = 0.254829592, -1.421413741\nc, d = 0.33333333333333331, 0.3333333333\n")
    near = [float(torch.tensor(x)) for x in (0.254829592, -1.421413741, 1 / 3, 0.1)]
    assert [as_written(x, str(file)) for x in near] == [0.254829592, -1.421413741, *near[2:]]
    assert as_written(near[0], str(tmp_path / "none.py")) == near[0]


def test_a_choice_of_few_numbers_is_one_of_them() -> None:
    i, n = index(Size("n", 2)), Size("n", 2)
    x = leaf("x", (n,), "int")[i]
    assert values(4 * where(le(0, x), 3, where(le(5, x), 1, 7))) == [4, 12, 28]
    assert values(where(le(0, x), 3, x)) is None


def test_scores_that_are_left_out_leave_no_infinity_where_one_is_not() -> None:
    n = Size("n", 2)
    x = leaf("x", (n, n))

    def row(seen):
        hidden = tensor((n, n), lambda i, j: where(seen(i, j), x[i, j], NEG_INF))
        return logsumexp(hidden, [-1])

    assert not may_be_infinite(row(lambda i, j: le(j, i)))
    assert may_be_infinite(row(lambda i, j: not_(le(i, j))))         # none in the first row
    assert may_be_infinite(row(lambda i, j: le(0, x[i, j])))         # data says which


def test_parts_that_begin_at_one_place_are_no_parts_of_more() -> None:
    a, b = torch.randn(2, 5)
    c = torch.randn(4, 6)[:, :3]
    d = c.T
    assert whole_of_parts(a, (a, b), lambda n: n).shape == (2, 5)
    assert whole_of_parts(c, (c, d), lambda n: n) is c
