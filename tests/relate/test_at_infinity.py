"""What a mask makes −∞ is no number in a proof that goes through it."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from samesame import check
from samesame.evidence import Rung
from samesame.formula.spans import ALL, BELOW, FINITE
from samesame.graph import Graph, Node, TensorType
from samesame.operators.execute import execute
from samesame.relate.at_infinity import FILLS, infinite, masked
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
    verdict = check(of_masked(left), of_masked(right), INPUTS, certify=True)
    assert verdict.evidence is Rung.TESTED and verdict.certificate is None       # no steps lead there
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
    verdict = check(of_masked(lambda h, p: h.amax(-1) + p - h.amax(-1)), of_masked(lambda h, p: p * 1), INPUTS)
    told = [str(condition) for condition in verdict.roots[0].evidence.conditions]
    assert told == ["max_{i<B} {x[i] if ¬mask[i] else −∞} is over at least one element"]


@pytest.mark.parametrize("other", [0, 1])
def test_a_row_that_is_hidden_whole_is_a_case_of_its_own(other):
    """Both sides are NaN there before it is taken out again."""
    x = torch.randn(2, 6, generator=torch.Generator().manual_seed(1))
    inputs = x, torch.stack([MASK, torch.ones_like(MASK)]), INPUTS[2]
    verdict = check(of_masked(lambda h, p: torch.softmax(h, -1).nan_to_num(0)),
                    of_masked(lambda h, p: by_parts(h, p).nan_to_num(other)), inputs)
    assert (verdict.evidence is Rung.PROVED) == (other == 0)


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


class Looking(nn.Module):
    """Adds a row of a table, of which the last rows are −∞."""

    def __init__(self, law):
        super().__init__()
        self.law = law
        self.register_buffer("table", torch.tensor([0.0, 0.5, 1.0, -torch.inf, -torch.inf]))

    def forward(self, x, places, p):
        return self.law(x + self.table[places], p)


def behind_gates(law):
    """Hides all where one number after the other is above zero and below it."""

    def program(x, gates, p):
        open_, shut = gates[::2].unbind(), gates[1::2].unbind()
        hides = torch.ones((), dtype=torch.bool)
        for above, below in zip(open_, shut, strict=True):
            hides = hides & (above > 0) & ~(below > 0)
        return law(x.masked_fill(hides, -torch.inf), p)

    return program


X, P = INPUTS[0] % 1 + 0.5, INPUTS[2]
UNSEEN = {                                       # where −∞ comes from, and an example in which there is none
    "rows of a table that are not looked up": (Looking, (X, torch.tensor([0, 1, 2, 0, 1, 2]), P)),
    "a condition that is met once in so often": (
        behind_gates, (X, torch.tensor([1.0, -1, 1, -1, 1, -1, 1, 1]), P)),
    "the logarithm of what is 0 for large numbers": (
        lambda law: lambda x, p: law(torch.relu(50 - x).log(), p), (X, P)),
    "the logarithm of a mask of reals": (lambda law: lambda x, m, p: law(x + m.log(), p), (X, torch.ones(6), P)),
    "the logarithm of integers": (
        lambda law: lambda x, n, p: law(x + n.clamp(0, 1).float().log(), p), (X, torch.arange(1, 7), P)),
    "a constant that is divided by 0": (
        lambda law: lambda x, m, p: law(x.masked_fill(m, -1 / torch.zeros(())), p), (X, torch.zeros_like(MASK), P)),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_an_infinity_that_no_draw_shows_is_one(name):
    """The sums are 6 and 0 at p = 0, where all is hidden."""
    make, inputs = UNSEEN[name]
    left, right = make(lambda h, p: torch.nansum(h.exp() ** p)), make(lambda h, p: torch.nansum((p * h).exp()))
    assert check(left, right, inputs).evidence <= Rung.TESTED
    alike = make(lambda h, p: h.exp() ** 2), make(lambda h, p: (2 * h).exp())
    assert check(*alike, inputs).evidence is Rung.PROVED


def test_what_is_hidden_beyond_the_example_is_proved_for_its_sizes_alone():
    def far(law):
        return lambda x, p: law(x.masked_fill(torch.arange(len(x)) > 100, -torch.inf), p)

    assert check(far(lambda h, p: h.exp() ** p), far(lambda h, p: (p * h).exp()), (X, P)).evidence is Rung.PROVED_HERE
    assert check(far(lambda h, p: h.exp() ** 2), far(lambda h, p: (2 * h).exp()), (X, P)).evidence is Rung.PROVED


def test_infinities_are_told_apart_and_a_nan_is_none():
    x = torch.tensor([1.0, -torch.inf, torch.inf])
    below, above = FILLS
    values = {"x": x, "low": x[:2], "high": x[::2], "nan": x - x, "z": x + 0j, "y": torch.ones(2), "t": x[:1]}
    kinds = {"z": "complex128", "n": "int64"}
    variables = tuple(Node(name, "input", type=TensorType((2,), kinds.get(name, "float64"))) for name in (*values, "n"))
    claim = Block(Graph("block", variables, (), {}), {}, {}, False, "key")
    spans = {node.name: FINITE for node in variables} | {"t": ALL, "y": FINITE | {BELOW}}
    assert infinite(claim, spans, values) == {
        "x": (below, above), "low": (below,), "high": (above,), "nan": (), "z": (), "y": (below,), "t": (below, above)}


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


def test_of_a_tensor_with_a_nan_beside_an_infinity_no_formula_speaks():
    x = Node("x", "input", type=TensorType((2,), "float64"))
    claim = Block(Graph("block", (x,), (), {}), {}, {}, False, "key")
    assert infinite(claim, {"x": ALL}, {"x": torch.tensor([1, -torch.inf])}) == {"x": tuple(FILLS)}
    assert infinite(claim, {"x": ALL}, {"x": torch.tensor([torch.nan, -torch.inf])}) == {"x": ()}


def test_between_minus_infinity_and_a_number_lie_no_numbers() -> None:
    """torch's lerp adds a multiple of the distance, which is ∞; a weighted sum is −∞ there."""
    given = torch.randn(3, 4), torch.randn(3, 4), torch.zeros(3, 4, dtype=torch.bool)

    def between(x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return torch.lerp(x.masked_fill(mask, -math.inf), y, 0.25).softmax(-1)

    def weighted(x: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return (0.75 * x.masked_fill(mask, -math.inf) + 0.25 * y).softmax(-1)

    assert check(between, weighted, given).evidence < Rung.PROVED_HERE


class Mixed(nn.Module):
    """Experts mixed by a gate, of a logarithm that may be −∞: no law tells a product with a weight that may be 0."""

    def __init__(self):
        super().__init__()
        self.gate, self.inner, self.outer = nn.Linear(5, 3, bias=False), nn.Linear(4, 6), nn.Linear(6, 1)
        self.experts = nn.Parameter(torch.randn(3, 5, 4))

    def forward(self, x):
        x = x.log()
        made = F.relu(torch.einsum("bd,edh->beh", x, self.experts))
        mixed = torch.einsum("be,beh->bh", F.softmax(self.gate(x), -1), made)
        return torch.sigmoid(self.outer(F.relu(self.inner(mixed))).squeeze(-1))


class MixedByHand(Mixed):
    def forward(self, x):
        x = x.log()
        made = F.relu(torch.einsum("ab,cbd->acd", x, self.experts))
        scores = F.linear(x, self.gate.weight)
        share = torch.exp(scores - scores.amax(-1)[:, None])
        mixed = torch.einsum("ab,bca->ac", share / share.sum(-1)[:, None], made.permute(1, 2, 0))
        hidden = F.relu(F.linear(mixed, self.inner.weight) + self.inner.bias)
        return torch.sigmoid(hidden @ self.outer.weight[0] + self.outer.bias[0])


def test_what_is_written_alike_is_the_same_of_infinities():
    left, right = Mixed(), MixedByHand()
    right.load_state_dict(left.state_dict())
    assert check(left, right, (torch.rand(7, 5),)).evidence is Rung.PROVED


def put_together(x, y, mask, w):
    return torch.cat([x.masked_fill(mask, -math.inf), y.masked_fill(mask, -math.inf)], 1) @ w


def one_by_one(x, y, mask, w):
    """`put_together`, part by part."""
    return y.masked_fill(mask, -math.inf) @ w[2:] + x.masked_fill(mask, -math.inf) @ w[:2]


def and_again(x, y, mask, w):
    """What is added, and taken off, is ∞ − ∞."""
    more = x.masked_fill(mask, -math.inf) @ w[:2]
    return one_by_one(x, y, mask, w) + (more - more)


def scaled(x, y, mask, w):
    """−∞ times 2 · 0 is no number, −∞ times 0 is none either, and the programs are not written alike."""
    parts = [2 * x.masked_fill(mask, -math.inf), y.masked_fill(mask, -math.inf)]
    return torch.cat(parts, 1) @ torch.cat([w[:2] / 2, w[2:]])


@pytest.mark.parametrize(("other", "evidence"), [
    (one_by_one, Rung.PROVED), (and_again, Rung.TESTED), (scaled, Rung.TESTED)])
def test_a_sum_of_infinities_may_be_the_sum_of_its_parts(other, evidence):
    shown = torch.zeros(4, 1, dtype=torch.bool)
    verdict = check(put_together, other, (torch.randn(4, 2), torch.randn(4, 3), shown, torch.randn(5, 6)))
    assert verdict.verdict == "same" and verdict.evidence is evidence
