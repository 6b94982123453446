"""The largest elements of a row, one after the other, are what `torch.topk` gives; what only looks like that is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("triton")

import torch

from lifted import Lifted
from samesame.formula.equal import Proved, prove_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import (
    NEG_INF,
    Compare,
    Expr,
    Fn,
    Fold,
    Lambda,
    Leaf,
    Load,
    Num,
    Opaque,
    Size,
    Where,
    add,
    const,
    floordiv,
    index,
    mul,
    not_,
    or_,
    substitute,
    where,
)
from samesame.formula.monotone import place
from samesame.formula.tensor import tensor
from samesame.kernels.formulas.chosen import picked, struck_out, up_to_its_end
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.lift import lift, tried
from samesame.lift.numerics import by_numpy
from samesame.lift.ranked import UNTIED, Ranked, in_turn, with_floor

KERNELS = Lifted(Path(__file__).parents[1] / "launches" / "ranked.py")
N, X = Size("n", 1), Leaf("x", (Size("n", 1),))


@pytest.fixture(autouse=True)
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)


@pytest.mark.parametrize(
    "name, reference",
    [("three", "top_three"), ("gates", "gated"), ("margins", "margin"), ("margins", "margin_of_sorted")],
)
def test_it_is_verified_and_what_torch_computes(name: str, reference: str) -> None:
    found = lift(KERNELS.target(name), f"{KERNELS.file}:{reference}")
    assert (found.verdict, found.against) == ("verified", "same"), found.against_detail
    assert found.against_conditions == ([UNTIED] if "margin" not in name else [])


@pytest.mark.parametrize(
    "name, reference",
    [
        ("three", "top_three_turned"),
        ("three_over_a_floor", "top_three"),
        ("gates", "gated_by_what_was_chosen"),
        ("margins", "margin_to_the_third"),
    ],
)
def test_it_is_not_what_it_is_not(name: str, reference: str) -> None:
    assert lift(KERNELS.target(name), f"{KERNELS.file}:{reference}").against == "different"


# --------------------------------------------------------------------------------------------------------- on numbers


def worked_out(e: Expr, x: list[float], **more: list[int]) -> float:
    values = {name: np.asarray(v) for name, v in {"x": x, **more}.items()}
    with np.errstate(all="ignore"):
        return float(evaluate(tensor((), lambda: e), values, {"n": len(x)}, by_numpy))


@pytest.mark.parametrize("x", [[3.0, -1.0, 2.5, 7.0], [1.0, 1.0, 1.0], [0.0, -0.0, -5.0, 0.0], [-2.0, -3.0, -2.0]])
def test_elements_in_turn_are_those_that_torch_sorts(x: list[float]) -> None:
    v = index(N)
    told = [(worked_out(value, x), worked_out(at, x)) for value, at in in_turn(Lambda((v,), Load(X, (v,))), len(x))]
    assert [value for value, _ in told] == torch.tensor(x).sort(descending=True)[0].tolist()
    assert [at for _, at in told] == torch.tensor(x).sort(descending=True, stable=True)[1].tolist()


def test_infinities_are_left_for_last() -> None:
    v = index(N)
    row = Lambda((v,), where(integers.equal(v, 1), NEG_INF, Load(X, (v,))))
    assert [worked_out(value, [4.0, 9.0, 5.0]) for value, _ in in_turn(row, 3)] == [5.0, 4.0, -np.inf]
    ranked = Ranked(IndexProver())
    topk = Opaque("aten.topk", ("indices", (2, True, True)), (row,), (const(1),), "int")
    assert ranked(topk) is topk and not ranked.conditions  # −∞ struck out is as low as −∞ that was there


@pytest.mark.parametrize("x", [[1.0, 2.0, 2.0], [-50.0, 40.0, 40.0], [0.0, 0.0, 0.0]])
@pytest.mark.parametrize("kept", [[0, 0, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]])
def test_what_rises_leaves_masked_places_where_they_are(x: list[float], kept: list[int]) -> None:
    v, w = index(N), index(N)
    total = Fold("sum", (w,), Fn("exp", Load(X, (w,))))
    shares = mul(Fn("exp", Load(X, (v,))), total**-1)
    masked = where(Compare("=", Load(Leaf("kept", (N,), "int"), (v,)), const(1)), shares, NEG_INF)
    found = place("aten.argmax", Lambda((v,), masked))
    assert not any(isinstance(e, Fn) for e in (found.arguments[0].body.then,))
    alike = Opaque("aten.argmax", (), (Lambda((v,), masked),), (), "int")
    assert worked_out(found, x, kept=kept) == worked_out(alike, x, kept=kept)


def test_a_logarithm_of_zero_is_as_low_as_what_is_masked() -> None:
    v = index(N)
    masked = where(integers.equal(v, 0), NEG_INF, Fn("log", Fn("abs", Load(X, (v,)))))
    assert place("aten.argmax", Lambda((v,), masked)).arguments[0].body is masked


@pytest.mark.parametrize("of, floor, is_one", [
    (lambda x: Fn("exp", x), 0, True),
    (lambda x: Fn("sigmoid", x), -1, True),
    (lambda x: mul(x, x), -1, True),
    (lambda x: x, -1, False),
    (lambda x: mul(x, x), 0, False),
    (lambda x: Fn("exp", x), 1, False),
])
def test_floors_are_below_all_else_or_stay(of: Callable[[Expr], Expr], floor: int, is_one: bool) -> None:
    v = index(N)
    body = where(integers.equal(v, 0), floor, of(Load(X, (v,))))
    assert (with_floor(body) is not body) == is_one


def out_of(n: Expr, *out: Expr, floor: Expr) -> Fold:
    """The largest of a row of n elements, of which some are struck out."""
    v = index(n)
    struck = or_(*(integers.equal(v, e) for e in out))
    return Fold("max", (v,), where(struck, floor, Fn("exp", Load(Leaf("x", (n,)), (v,)))))


def test_something_is_left_where_fewer_are_struck_out_than_there_are() -> None:
    ranked, p, q = Ranked(IndexProver()), index(N), index(N)
    for n, floor in ((Size("n", 3), NEG_INF), (Size("n", 2), Num(-1))):  # of two, none may be left
        found = ranked(out_of(n, p, q, floor=Num(-1)))
        assert isinstance(found, Fold) and isinstance(found.body, Where) and found.body.then is floor
        told = substitute(found, {p: const(2), q: const(0)})
        assert worked_out(told, [9.0, 1.0, 2.0]) == pytest.approx(np.exp(1.0))


@pytest.mark.parametrize("least, conditions", [(3, 0), (2, 2)])
def test_a_range_with_more_elements_than_are_left_out_is_not_empty(least: int, conditions: int) -> None:
    p, q, n = index(N), index(N), Size("n", least)
    powers = out_of(n, p, q, floor=NEG_INF)
    condition, _, power = powers.body.condition, powers.body.then, powers.body.otherwise
    found = prove_equal(powers, Fn("exp", Fold("max", powers.bound, where(condition, NEG_INF, power.argument))))
    assert isinstance(found, Proved) and len([c for c in found.conditions if "at least one" in str(c)]) == conditions


def test_rows_end_where_nothing_is_below_an_end() -> None:
    v, n, prover = index(const(16)), Size("n", 2), IndexProver()
    prover.assume(integers.at_most(n, 16))
    x = Load(Leaf("x", (n,)), (v,))
    before, apart = integers.less(v, n), not_(integers.equal(v, 3))
    assert up_to_its_end(prover, v, where(before, where(apart, x, NEG_INF), NEG_INF), NEG_INF).bound[0].extent is n
    for body in (where(apart, x, NEG_INF), where(before, x, Num(0)), where(or_(before, apart), x, NEG_INF)):
        assert up_to_its_end(prover, v, body, NEG_INF).bound == (v,)
    assert up_to_its_end(IndexProver(), v, where(before, x, NEG_INF), NEG_INF).bound == (v,)  # n may be 20


def test_conditions_that_keep_to_places() -> None:
    v, p = index(N), index(N)
    assert struck_out(integers.equal(p, add(v, 1)), v).points == (integers.minus(p, 1),)
    assert struck_out(not_(integers.less(v, p)), v).ends == (p,)
    assert struck_out(or_(integers.equal(v, p), not_(integers.less(v, N))), v).ends == (N,)
    for fact in (integers.less(v, p), not_(integers.equal(v, p)), integers.equal(floordiv(v, 2), p),
                 or_(integers.equal(v, p), integers.less(v, p)), integers.equal(mul(2, v), p)):
        assert struck_out(fact, v) is None


def test_a_sum_picks_what_stands_at_a_place_of_its_own_range() -> None:
    v, w, prover = index(N), index(N), IndexProver()
    at = Opaque("aten.argmax", (), (Lambda((w,), Load(X, (w,))),), (), "int")
    one = where(integers.equal(v, at), Load(X, (v,)), const(0))
    assert picked(prover, v, one, ()) is Load(X, (at,))
    short = index(const(4))                                # the place may lie beyond it
    assert picked(prover, short, where(integers.equal(short, at), Load(X, (short,)), const(0)), ()) is None
    assert picked(prover, v, where(integers.equal(v, at), Load(X, (v,)), const(1)), ()) is None
    for x in ([1.0, 5.0, 5.0], [-3.0]):
        whole = Fold("sum", (v,), one)
        assert worked_out(whole, x) == worked_out(Load(X, (at,)), x) == max(x)
        read = Ranked(prover)(Load(X, (at,)))
        assert isinstance(read, Fold) and worked_out(read, x) == max(x)
