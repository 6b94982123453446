"""What a mask makes −∞ is no number in a proof that goes through it."""

import pytest
import torch
from torch.nn import functional as F

from samesame import check
from samesame.evidence import Refused, Rung
from samesame.graph import Graph, Node, TensorType
from samesame.operators.execute import execute
from samesame.relate import at_infinity
from samesame.relate.at_infinity import FILLS, infinite, masked, reached
from samesame.relate.blocks import Block

MASK = torch.tensor([True, False, True, False, False, True])
INPUTS = (torch.randn(6, generator=torch.Generator().manual_seed(0)), MASK, torch.tensor(2.0))


def of_masked(function):
    """A program of x, hidden by a mask, and a number."""
    return lambda x, mask, p: function(x.masked_fill(mask, -torch.inf), p)


def shifted(h):
    return (h - h.max()).exp()


def by_parts(h, p):
    weights = (h - h.amax(-1, keepdim=True)).exp()
    return weights / weights.sum(-1, keepdim=True)


@pytest.mark.parametrize(("left", "right"), [
    (lambda h, p: h.exp() ** p, lambda h, p: (p * h).exp()),                         # 1 and NaN at p = 0
    (lambda h, p: (h * p).exp(), lambda h, p: (h * (p - 1) + h).exp()),              # 0 and NaN at p = ½
    (lambda h, p: (h * (p + 1)).exp(), lambda h, p: (h * p).exp() * h.exp()),        # 0 and NaN at p = −½
])
def test_a_law_of_numbers_is_none_of_what_a_mask_puts_in(left, right):
    verdict = check(of_masked(left), of_masked(right), INPUTS)
    assert verdict.evidence is Rung.TESTED
    assert "takes for granted that masked_fill" in verdict.roots[0].evidence.detail
    assert check(lambda x, m, p: left(x, p), lambda x, m, p: right(x, p), INPUTS).evidence is Rung.PROVED


@pytest.mark.parametrize(("left", "right"), [
    (lambda h, p: h.exp() ** 2, lambda h, p: (2 * h).exp()),
    (lambda h, p: torch.softmax(h * p.exp(), -1), lambda h, p: shifted(h * p.exp()) / shifted(h * p.exp()).sum()),
    (lambda h, p: h.exp() * (p + 1), lambda h, p: h.exp() * p + h.exp()),
    (lambda h, p: F.softplus(h) * p, lambda h, p: torch.log1p(h.exp()) * p),
])
def test_what_holds_of_it_too_is_proved(left, right):
    assert check(of_masked(left), of_masked(right), INPUTS).evidence is Rung.PROVED


def test_what_such_a_proof_takes_for_granted_is_told_of_the_tensors_given():
    verdict = check(of_masked(lambda h, p: torch.softmax(h, -1)), of_masked(by_parts), INPUTS)
    told = [str(condition) for condition in verdict.roots[0].evidence.conditions]
    assert told == ["max_{i<B} {−∞ if mask[i] else x[i]} is over at least one element"]


def test_a_row_that_is_hidden_whole_breaks_it():
    """Both sides are NaN there before it is taken out again; of that the proof says nothing."""
    x = torch.randn(2, 6, generator=torch.Generator().manual_seed(1))
    inputs = x, torch.stack([MASK, torch.ones_like(MASK)]), INPUTS[2]
    verdict = check(of_masked(lambda h, p: torch.softmax(h, -1).nan_to_num(0)),
                    of_masked(lambda h, p: by_parts(h, p).nan_to_num(0)), inputs)
    assert verdict.evidence <= Rung.TESTED


def test_plus_infinity_is_looked_at_too():
    def of_reached(function):
        return lambda x, mask, p: function(x.masked_fill(mask, torch.inf), p)

    fine = check(of_reached(lambda h, p: (-h).exp() * (p + 1)),
                 of_reached(lambda h, p: (-h).exp() * p + (-h).exp()), INPUTS)
    assert fine.evidence is Rung.PROVED
    wrong = check(of_reached(lambda h, p: (-h * p).exp()), of_reached(lambda h, p: (-h).exp() ** p), INPUTS)
    assert wrong.evidence <= Rung.TESTED


@pytest.mark.parametrize(("left", "right"), [
    (lambda h, p: torch.nansum(h.exp() ** p), lambda h, p: torch.nansum((p * h).exp())),     # 6 and 3 at p = 0
    (lambda h, p: (h * (p + 1)).exp(), lambda h, p: (h * p).exp() * h.exp()),
])
def test_a_mask_that_hides_nothing_in_the_example_is_a_mask(left, right):
    x, mask, p = INPUTS
    assert check(of_masked(left), of_masked(right), (x, torch.zeros_like(mask), p)).evidence <= Rung.TESTED


def test_a_number_that_is_positive_in_the_example_need_not_be():
    """−∞ times it may be +∞, where the right side is NaN."""
    verdict = check(of_masked(lambda h, p: torch.softmax(h * p, -1)),
                    of_masked(lambda h, p: (h * p).exp() / (h * p).exp().sum()), INPUTS)
    assert verdict.evidence <= Rung.TESTED


def program(*nodes, held=None):
    return Graph("program", nodes, (("out", nodes[-1]),), held or {})


def test_other_masks_and_signs_say_which_infinities_there_may_be():
    x, p = (Node(name, "input", type=TensorType((6,), "float32")) for name in ("x", "p"))
    mask = Node("mask", "input", type=TensorType((6,), "bool"))
    hidden = Node("hidden", "aten.masked_fill.Scalar", (x, mask, -torch.inf), type=x.type)
    scaled = Node("scaled", "aten.mul.Tensor", (hidden, p), type=x.type)
    weight = Node("weight", "aten.exp.default", (hidden,), type=x.type)
    given = {"x": INPUTS[0], "p": torch.ones(6), "mask": torch.zeros(6, dtype=torch.bool)}
    below, above = FILLS
    found = reached(program(x, p, mask, hidden, scaled, weight), given)
    assert found == {"hidden": {below}, "scaled": {below, above}}
    assert reached(program(x, mask), given) == {}


def test_of_what_a_run_does_not_come_to_all_that_is_made_of_an_infinity_may_be_one(monkeypatch):
    x = Node("x", "input", type=TensorType((6,), "float32"))
    mask = Node("mask", "input", type=TensorType((6,), "bool"))
    hidden = Node("hidden", "aten.masked_fill.Scalar", (x, mask, -torch.inf), type=x.type)
    weight = Node("weight", "aten.exp.default", (hidden,), type=x.type)
    other = Node("other", "aten.exp.default", (x,), type=x.type)
    graph = program(x, mask, hidden, weight, other)
    run = at_infinity.execute

    def fails(given_graph, values, *, seen, **more):
        run(Graph("part", given_graph.nodes[:3], (), {}), values, seen=seen, **more)
        raise Refused("the rest cannot be run")

    monkeypatch.setattr(at_infinity, "execute", fails)
    below, above = FILLS
    found = reached(graph, {"x": INPUTS[0], "mask": MASK})
    assert found == {"hidden": {below}, "weight": {below, above}}


def test_infinities_are_told_apart_and_a_nan_is_none():
    x = torch.tensor([1.0, -torch.inf, torch.inf])
    below, above = FILLS
    values = {"x": x, "low": x[:2], "high": x[::2], "nan": x - x}
    finite = {"y": torch.ones(2), "n": torch.ones(2, dtype=torch.int64)}
    assert infinite(values | finite, {}) == {"x": (below, above), "low": (below,), "high": (above,), "nan": ()}


def test_a_claim_with_masks_computes_what_the_claim_does_with_infinities_in_it():
    x = Node("x", "input", type=TensorType((3,), "float64"))
    y = Node("y", "input", type=x.type)
    left = Node("left", "aten.mul.Tensor", (x, y), type=x.type)
    right = Node("right", "aten.add.Tensor", (left, x), type=x.type)
    graph = Graph("block", (x, y, left, right), (("left", left), ("right", right)), {})
    claim = Block(graph, {"x": 0, "y": 1}, {}, False, "key")
    hidden, masks = masked(claim, {"x": tuple(FILLS)})
    numbers, infinite_there = torch.arange(3.0).double(), torch.tensor([1.0, -torch.inf, torch.inf]).double()
    given = {name: infinite_there == FILLS[operator] for name, (_, operator) in masks.items()}
    assert {variable for variable, _ in masks.values()} == {"x"}
    wanted = execute(graph, {"x": torch.where(infinite_there.isinf(), infinite_there, numbers), "y": numbers + 1})
    found = execute(hidden.graph, {"x": numbers, "y": numbers + 1, **given})
    assert all(torch.equal(found[side], wanted[side]) for side in ("left", "right"))
    assert hidden.key != claim.key
