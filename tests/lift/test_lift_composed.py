"""Two kernels with tiles between them are one sum, if the tiles are all of it, each element once."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("triton")

from samesame.formula.equal import Proved, prove_equal
from samesame.formula.expr import Expr, Fold, Leaf, Load, Size, add, const, floordiv, index, minimum, mul, walk
from samesame.kernels import concrete
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.host.launches import capture_launches
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.lift import KernelVerdict, lift, reference, tried
from samesame.lift.joined import by_conditions
from samesame.lift.program import assumed_of

FILE = Path(__file__).parent.parent / "launches" / "composed.py"
SAME = {"squares": "sum_of_squares", "groups": "sum_of_rows", "running": "running_sum", "padded": "convolved"}
OTHERS = {  # a launch, and the reference that it is not the same as
    "squares_overlapping": "sum_of_squares",
    "squares_with_gaps": "sum_of_squares",
    "squares_from_the_second": "sum_of_squares",
    "squares_without_the_last": "sum_of_squares",
    "squares_without_a_block": "sum_of_squares",
    "groups_without_a_row": "sum_of_rows",
    "groups_overlapping": "sum_of_rows",
    "running_with_its_own_block": "running_sum",
    "running_without_a_block": "running_sum",
    "padded_otherwise": "convolved",
}
N = Size("n", 2)
X = Leaf("x", (N,))


@pytest.mark.parametrize("name", SAME)
def test_it_is_what_torch_computes(name: str) -> None:
    found = lift(f"{FILE}:launch_{name}", f"{FILE}:{SAME[name]}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail


@pytest.mark.parametrize("name", OTHERS)
def test_it_is_not_what_it_is_not(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Nor is that proved where no numbers are tried."""
    target, other = f"{FILE}:launch_{name}", f"{FILE}:{OTHERS[name]}"
    assert lift(target, other).against == "different"
    monkeypatch.setattr(reference, "difference", lambda *_: None)
    monkeypatch.setattr(tried.Tried, "run", lambda *_: None)
    assert lift(target, other).against == "undecided"


def test_as_many_blocks_as_there_are_lanes_is_a_condition() -> None:
    found = lift(f"{FILE}:launch_squares_of_few_blocks", f"{FILE}:sum_of_squares")
    assert found.against == "same" and "n ≤ 64" in found.kernels[1].headline


def test_what_only_one_configuration_needs_is_not_assumed() -> None:
    n = Size("n", 2)
    few, more = integers.at_most(n, 16), integers.at_most(n, 64)
    tuned = [KernelVerdict("k", assumed=needs) for needs in ([few, more], [few, more], [more])]
    captured = SimpleNamespace(chosen=())
    assert assumed_of(captured, {0: tuned}) == (more,)
    assert assumed_of(captured, {0: tuned, 1: [tuned[0]]}) == (more, few)


def test_a_power_of_two_says_where_the_size_lies() -> None:
    captured = capture_launches(f"{FILE}:launch_squares")
    (chosen,) = captured.chosen
    holding = [n for n in range(2, 300) if concrete.holds([chosen], {"n": n})]
    assert holding == list(range(33, 65))  # 8 blocks of 8, where 4 are too few


def tiled(blocks: Expr, width: int, step: int, end: int) -> Fold:
    """Σ_{t<blocks} Σ_{l<min{width, n − end·t}} x[step·t + l]"""
    t = index(blocks)
    lane = index(minimum(const(width), add(N, mul(-end, t))))
    return Fold("sum", (t,), Fold("sum", (lane,), Load(X, (add(mul(step, t), lane),))))


def test_tiles_are_one_range_if_they_lie_behind_one_another() -> None:
    blocks, short = floordiv(add(N, const(7)), const(8)), floordiv(N, const(8))
    i = index(N)
    whole = Fold("sum", (i,), Load(X, (i,)))
    simplify = Simplifier(IndexProver())
    assert isinstance(prove_equal(simplify(tiled(blocks, 8, 8, 8)), whole), Proved)
    others = [tiled(blocks, 8, 7, 8), tiled(blocks, 8, 8, 7), tiled(blocks, 7, 8, 8), tiled(short, 8, 8, 8)]
    for other in (*others, tiled(add(blocks, const(-1)), 8, 8, 8)):
        assert not isinstance(prove_equal(by_conditions(simplify(other), IndexProver()), whole), Proved)
    assert sum(isinstance(e, Fold) for e in walk(simplify(others[0]))) == 2


def test_a_range_that_ends_at_the_least_of_two_ends_at_one_under_a_condition() -> None:
    m = Size("m", 2)
    i, j, k = index(minimum(N, m)), index(minimum(m, N)), index(N)
    shorter = by_conditions(Fold("sum", (i,), Load(X, (i,))), IndexProver())
    other = by_conditions(Fold("sum", (j,), Load(X, (j,))), IndexProver())
    assert isinstance(prove_equal(shorter, other), Proved)
    assert not isinstance(prove_equal(shorter, Fold("sum", (k,), Load(X, (k,)))), Proved)
