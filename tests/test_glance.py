"""A glance at a change says that outputs are still apart only where the run of the changed program says so, too."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from samesame import check, diagnose
from samesame.capture import capture
from samesame.diagnose.change import Change
from samesame.diagnose.glance import Glance
from samesame.graph import Node
from samesame.operators.execute import execute

X = torch.randn(3, 6, generator=torch.Generator().manual_seed(0))


def norm(x, weight, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def attention(x, scale=0.5, least=float("-inf")):
    mask = torch.ones(6, 6).tril() == 0
    return ((x.T @ x) * scale).masked_fill(mask, least).softmax(-1) @ x.T


def layered(x, first, second):
    for _ in range(3):
        x = second(first(x))
    return x, x.sum(-1)


PAIRS = {
    "a number": (lambda x: norm(x, x), lambda x: norm(x, x, 1e-3), (X,)),
    "a number under a mask": (attention, lambda x: attention(x, 0.3), (X,)),
    "a constant": (attention, lambda x: attention(x, least=-1.0), (X,)),
    "an activation in each round": (lambda x: layered(x, F.gelu, torch.tanh), lambda x: layered(x, F.silu, torch.tanh),
                                    (X,)),
    "an order": (lambda x: layered(x, torch.sin, torch.tanh), lambda x: layered(x, torch.tanh, torch.sin), (X,)),
    "one of two outputs": (lambda x: (x.exp(), x.softmax(-1) * 2), lambda x: (x.exp(), x.softmax(0) * 2), (X,)),
    "something else": (lambda x: F.layer_norm(x, (6,)).relu(), lambda x: F.softplus(x.cumsum(-1)), (X,)),
    "another operand": (lambda x, y: norm(x, y) + x, lambda x, y: norm(x, y) + y, (X, X.flip(0))),
}


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_seen_at_a_glance_is_so(name, monkeypatch):
    """Every change is looked at, and run whatever is seen."""
    left, right, inputs = PAIRS[name]
    glanced, run, seen = Glance.parts, diagnose._Search._rejoins, []

    def parts(glance, change, sources):
        seen.append([change, glanced(glance, change, sources)])
        return False

    def rejoins(search, side, other, change):
        found = run(search, side, other, change)
        seen[-1].append(found is not None)                 # and nothing is found, so that all changes are looked at

    monkeypatch.setattr(diagnose, "_SECONDS", 2.0)
    monkeypatch.setattr(Glance, "parts", parts)
    monkeypatch.setattr(diagnose._Search, "_rejoins", rejoins)
    assert check(left, right, inputs).verdict == "different"
    single = [apart for change, apart, _ in seen if not change.twins]
    assert not [change.description for change, apart, rejoined in seen if apart and rejoined]
    assert len(single) > 10 and sum(single) > len(single) / 2


def glance(program):
    """At changes of a program, as if nothing were right."""
    graph = capture(program, (X,))
    (_, root), *_ = graph.roots
    return graph, Glance(graph, execute(graph, graph.tensors), root, torch.full(root.shape, 77.0, dtype=torch.float64))


def made(node, name, operator, *args):
    return Node(name, operator, args, {}, node.type)


SAYS_NOTHING = {
    "a constant": lambda node, last: [made(node, "fresh", "aten.full.default", (3, 6), 2)],
    "what comes later": lambda node, last: [made(node, "fresh", "aten.neg.default", last)],
    "what is replaced": lambda node, last: [made(node, "fresh", "aten.neg.default", node)],
    "another's name": lambda node, last: [made(node, last.name, "aten.neg.default", *node.inputs)],
    "nothing": lambda node, last: [],
}


@pytest.mark.parametrize("make", SAYS_NOTHING.values(), ids=SAYS_NOTHING)
def test_of_what_is_not_plainly_another_value_in_its_place_nothing_is_said(make):
    graph, at = glance(lambda x: x.exp().sin())
    node, (_, last) = graph.nodes[1], graph.roots[0]
    assert not at.parts(Change(node, "", 1, lambda node: make(node, last)), graph.tensors)


def test_after_the_operator_in_its_place_and_where_it_fails_it_is_seen():
    graph, at = glance(lambda x: x.exp().sin())
    node = graph.nodes[1]
    for make in (
        lambda node: [node, made(node, "fresh", "aten.neg.default", node)],
        lambda node: [made(node, node.name, "aten.neg.default", *node.inputs)],
        lambda node: [made(node, "fresh", "aten.mm.default", *node.inputs, *node.inputs)],
    ):
        assert at.parts(Change(node, "", 1, make), graph.tensors)
        assert not at.parts(Change(node, "", 1, make, twins=(graph.nodes[2],)), graph.tensors)
    wanted = (-X.double().exp()).sin()
    at.wanted = wanted
    assert not at.parts(Change(node, "", 1, lambda node: [node, made(node, "fresh", "aten.neg.default", node)]),
                        graph.tensors)
