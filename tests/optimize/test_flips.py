"""Integers that hang on comparisons of rounded numbers: they may differ where rounding decides, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from samesame.capture import capture
from samesame.optimize import contract as rules
from samesame.optimize.contract import contract
from samesame.optimize.flips import RUNS, undecided
from samesame.optimize.job import Job
from samesame.optimize.oracle import Oracle
from samesame.report.optimized import Contract, figures

Tensor, Program = torch.Tensor, Callable[..., Any]
torch.manual_seed(0)
ROWS, QUERY, TABLE = torch.randn(40, 64), torch.randn(64), torch.randn(12, 64)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "DRAWS", 6)


def held(program: Program, found: Program, *inputs: Tensor) -> Contract:
    torch.manual_seed(0)
    return contract(Job(program, inputs, {}, {}), found)


def turned(rows: Tensor, query: Tensor) -> Tensor:
    """`scores`, in another order, and with products that are not rounded."""
    return (rows * query).flip(-1).cumsum(-1)[:, -1]


def scores(rows: Tensor, query: Tensor) -> Tensor:
    return (rows * query).bfloat16().float().sum(-1)


def codes(x: Tensor, scale: Tensor) -> Tensor:
    return (x / scale.abs().amax()).bfloat16().float().mul(31.0).round().clamp(-127, 127).to(torch.int8)


def codes_again(x: Tensor, scale: Tensor) -> Tensor:
    return (x * (31.0 / scale.abs().amax()) + 0.5).floor().clamp(-127, 127).to(torch.int8)


FINE: dict[str, tuple[Program, Program]] = {
    "ranks": (lambda r, q: scores(r, q).topk(5), lambda r, q: turned(r, q).topk(5)),
    "an order": (lambda r, q: scores(r, q).argsort(), lambda r, q: turned(r, q).argsort()),
    "a choice, and what is looked up there": (
        lambda r, q: (r.index_select(0, scores(r, q).argmax().view(1)), scores(r, q).argmax()),
        lambda r, q: (r.index_select(0, turned(r, q).argmax().view(1)), turned(r, q).argmax())),
    "a mask": (lambda r, q: scores(r, q) > scores(r, q).mean(), lambda r, q: turned(r, q) > turned(r, q).mean()),
    "codes": (codes, codes_again),
}


@pytest.mark.parametrize("name", FINE)
def test_where_rounding_decides_another_order_may_decide_otherwise(name: str) -> None:
    result = held(*FINE[name], ROWS, QUERY)
    assert not result.failed and 0 < result.ties < result.integers / 4
    assert any("where rounding decides" in line for line in figures(result))


def one_pass(r: Tensor) -> Tensor:
    return (r.square().mean(-1) - r.mean(-1).square()).clamp(min=0)


WRONG: dict[str, tuple[Program, Program]] = {
    "the next rank": (lambda r, q: scores(r, q).topk(5)[1], lambda r, q: turned(r, q).topk(5)[1].roll(1)),
    "the second best": (lambda r, q: scores(r, q).argmax(), lambda r, q: turned(r, q).topk(2)[1][1]),
    "a place that is none": (lambda r, q: scores(r, q).argsort(), lambda r, q: turned(r, q).argsort() + 1),
    "in less precision": (lambda r, q: (r @ q).argsort(), lambda r, q: scores(r, q).argsort()),
    "a variance in one pass": (lambda r, q: (r.var(-1, correction=0) + 1e-6).rsqrt().argsort(),
                               lambda r, q: (one_pass(r) + 1e-6).rsqrt().argsort()),
    "another threshold": (lambda r, q: scores(r, q) > 0.0, lambda r, q: turned(r, q) > 0.5),
    "another comparison": (lambda r, q: r > r.amax(-1, keepdim=True), lambda r, q: r >= r.amax(-1, keepdim=True)),
    "at what is given": (lambda r, q: r >= q.abs().amax(), lambda r, q: r > q.abs().amax()),
    "towards zero": (codes, lambda x, s: (x / s.abs().amax()).mul(31.0).clamp(-127, 127).to(torch.int8)),
    "one code more": (codes, lambda x, s: codes(x, s) + (x[:1, :1] > 0)),
    "integers of integers": (lambda r, q: torch.arange(40) * 2, lambda r, q: torch.arange(40) * 2 + (q[:1] > 0)),
    "what is looked up elsewhere": (lambda r, q: r.index_select(0, scores(r, q).argmax().view(1)),
                                    lambda r, q: r.index_select(0, turned(r, q).argmin().view(1))),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_differs_elsewhere_is_found(name: str) -> None:
    rows = ROWS.clone()
    rows[0, 0] = QUERY.abs().amax()
    assert held(*WRONG[name], rows, QUERY).failed


def test_where_no_rounding_is_nothing_hangs_on_it() -> None:
    """What is given, moved, or the largest of it is no rounded number."""
    graph = capture(lambda x: (x.T > 0, x.amax(-1).argsort(), x.long()), (ROWS,))
    (name,) = [node.name for node in graph.sources("input")]
    values = ROWS.round()                                  # most of them tie
    said = Oracle(graph, {})({name: values}, 0, False)
    assert all(torch.equal(low, high) and torch.equal(low, exact.long())
               for (low, high), exact in zip(said.flips, said.exact, strict=True))


def test_a_tie_of_two_hangs_on_rounding_and_a_gap_does_not() -> None:
    graph = capture(lambda x, y: (x * y).argmax(), (torch.randn(2), torch.randn(2)))
    x, y = (node.name for node in graph.sources("input"))
    for gap, hangs in ((0.0, True), (1e-8, True), (1e-3, False)):
        said = Oracle(graph, {})({x: torch.tensor([3.0, 3.0]), y: torch.tensor([0.7, 0.7 + gap])}, 0, False)
        assert (said.flips[0].tolist() == [0, 1]) == hangs


def test_what_hangs_on_what_decides_is_told_from_what_does_not() -> None:
    graph = capture(lambda r, q: ((r @ q).argmax() + 1, (r @ q).exp(), r.sum(-1).round() * 2, TABLE.argmax(-1)),
                    (ROWS, QUERY))
    names = {node.name for node in undecided(graph)}
    _, reals, steps, _ = (node.name for _, node in graph.roots)
    assert reals not in names and steps in names and RUNS > 8


def test_where_most_of_it_is_rounding_nothing_was_measured() -> None:
    """A difference of what is equal: its order says nothing, and so nothing can be said of it."""
    def nothing(r: Tensor, q: Tensor) -> Tensor:
        return ((r * 3.1).sum(-1) - (r.flip(-1) * 3.1).sum(-1)).argsort()

    def other(r: Tensor, q: Tensor) -> Tensor:
        return ((r * 3.1).double().sum(-1).float() - (r.cumsum(-1) * 3.1)[:, -1]).argsort()

    result = held(nothing, other, ROWS, QUERY)
    assert "decided by rounding" in result.failed and not result.cut
