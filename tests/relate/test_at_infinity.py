"""What a mask makes −∞ is no number in a proof that goes through it."""

import pytest
import torch
from torch.nn import functional as F

from samesame import check
from samesame.evidence import Rung
from samesame.graph import Graph, Node, TensorType
from samesame.relate.at_infinity import agree_at_infinity, infinite

MASK = torch.tensor([True, False, True, False, False, True])
INPUTS = (torch.randn(6, generator=torch.Generator().manual_seed(0)), MASK, torch.tensor(2.0))


def of_masked(function):
    """A program of x, hidden by a mask, and a number."""
    return lambda x, mask, p: function(x.masked_fill(mask, -torch.inf), p)


def shifted(h):
    return (h - h.max()).exp()


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
    (lambda h, p: torch.softmax(h * p, -1), lambda h, p: shifted(h * p) / shifted(h * p).sum()),
    (lambda h, p: h.exp() * (p + 1), lambda h, p: h.exp() * p + h.exp()),
    (lambda h, p: F.softplus(h) * p, lambda h, p: torch.log1p(h.exp()) * p),
])
def test_what_holds_of_it_too_is_proved(left, right):
    assert check(of_masked(left), of_masked(right), INPUTS).evidence is Rung.PROVED


def test_what_cannot_be_run_there_does_not_count():
    x = Node("x", "input", type=TensorType((2,), "float64"))
    left = Node("left", "aten.exp.default", (x,), type=x.type)
    right = Node("right", "aten.exp.default", (x,), type=x.type)
    graph, hidden = Graph("left", (x, left, right), (("0", left), ("1", right)), {}), torch.tensor([1.0, -torch.inf])
    assert agree_at_infinity(graph, "left", "right", {"x": hidden.double()}, 0)
    assert not agree_at_infinity(graph, "left", "right", {"y": hidden.double()}, 0)


def test_where_infinities_lie_tells_claims_apart():
    x = torch.tensor([1.0, -torch.inf, torch.inf, torch.nan])
    assert infinite({"x": x, "y": torch.ones(2), "n": torch.ones(2, dtype=torch.int64)}) == {"x": bytes([0, 255, 1, 2])}
    assert infinite({"x": x.flip(0)}) != infinite({"x": x})
