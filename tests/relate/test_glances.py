"""What the normal form finds soon is found at every frontier, for every candidate, before anything is taken apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from samesame import check
from samesame.formula.equal import NotProved
from samesame.graph import Graph, Node, TensorType
from samesame.relate import prove
from samesame.relate.blocks import Block, key_of
from samesame.relate.prove import Prover


def block(sign: float, operator: str = "aten.mul.Scalar") -> Block:
    """|x| = max(x, sign · x), or with another operator in place of the product."""
    kind = TensorType((5,), "float64")
    x = Node("x0", "input", type=kind)
    left = Node("t1", "aten.abs.default", (x,), type=kind)
    scaled = Node("t2", operator, (x, sign), type=kind)
    right = Node("t3", "aten.maximum.default", (x, scaled), type=kind)
    graph = Graph("block", (x, left, scaled, right), (("left", left), ("right", right)))
    return Block(graph, {"x0": 0}, {}, False, key_of(graph, {}))


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is tried, in order."""
    found: list[str] = []

    def noted(name: str) -> Callable[..., Any]:
        way = getattr(prove, name)

        def noting(*args: Any, **kwargs: Any) -> Any:
            found.append(name)
            return way(*args, **kwargs)

        return noting

    for name in ("prove_tensors_equal", "prove_by_cases"):
        monkeypatch.setattr(prove, name, noted(name))
    return found


def test_what_is_seen_at_a_glance_is_proved() -> None:
    prover = Prover()
    assert prover.glance(block(-1.0)) is not None and prover.decide(block(-1.0)) is not None
    assert prover.proofs == 1 and prover.by_rule == 1


def test_what_a_glance_does_not_find_is_still_decided_and_is_not_looked_at_twice(tried: list[str]) -> None:
    prover = Prover()
    assert prover.glance(block(-2.0)) is None and prover.glance(block(-2.0)) is None
    assert tried == ["prove_tensors_equal"] and not prover.rules
    assert prover.decide(block(-2.0)) is None
    assert tried == ["prove_tensors_equal", "prove_by_cases"]


def test_what_is_false_of_other_tensors_is_not_tried_after_a_glance(tried: list[str]) -> None:
    """A claim is about any tensors at its frontier, whatever the programs have there."""
    prover = Prover()
    false = block(0.5, "aten.add.Scalar")
    assert prover.glance(false) is None and prover.decide(false) is None
    assert tried == ["prove_tensors_equal"]
    assert prover.rules[false.key].reason == prove.TOO_NEAR


def test_a_glance_that_was_cut_short_settles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, given = prove.prove_tensors_equal, []

    def slow(left: Any, right: Any, budget: Any) -> Any:
        given.append(budget.seconds)
        return whole(left, right, budget=budget) if budget.seconds > prove.GLANCE else NotProved("more than so many")

    monkeypatch.setattr(prove, "prove_tensors_equal", slow)
    monkeypatch.setattr(prove.Attempt, "covers", lambda attempt, seconds: seconds <= prove.GLANCE)
    prover = Prover()
    assert prover.glance(block(-1.0)) is None
    assert prover.decide(block(-1.0)) is not None
    assert given[0] <= prove.GLANCE < given[1]


def test_nothing_is_taken_apart_that_is_seen_with_the_frontier_moved_back(tried: list[str]) -> None:
    """That weights are a softmax is not known where they are multiplied; where they are made, it is."""
    def left(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        weights = F.softmax(x, -1)
        return (weights * y).sum(-1) + weights[:, 0]

    def right(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        weights = F.softmax(x, -1)
        return ((weights * y).sum(-1) + weights[:, 0]) / weights.sum(-1)

    assert check(left, right, (torch.randn(3, 4), torch.randn(3, 4))).verdict == "same"
    assert "prove_by_cases" not in tried


def test_a_claim_that_hangs_on_an_opaque_operator_is_given_up_before_it_is_tried(tried: list[str]) -> None:
    """Two are the same in whatever order they come on a CPU; nothing says so."""
    left, right = (lambda x, flag=flag: x.exp().topk(2, sorted=flag).indices for flag in (True, False))
    assert check(left, right, (torch.randn(3, 5),)).verdict == "undecided"
    assert tried == []
