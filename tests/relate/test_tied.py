"""Frontiers: what is made of the rest of a frontier is looked through before the rest is."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from samesame.graph import Graph, Node, TensorType
from samesame.relate.blocks import tied_together
from samesame.relate.joint import JointGraph
from samesame.relate.layout import Whole

LINES = {                               # a name, its operator, and the names of its arguments
    "weight": ("parameter",),
    "size": ("aten.abs.default", "weight"),
    "cosine": ("aten.cos.default", "weight"),
    "scaled": ("aten.mul.Tensor", "cosine", "size"),
    "negative": ("aten.neg.default", "scaled"),
    "other": ("parameter",),
    "both": ("aten.add.Tensor", "scaled", "other"),
    "table": ("constant",),
    "shifted": ("aten.add.Tensor", "scaled", "table"),
}
TABLE = torch.tensor([1.0, 0.0, 2.0])


def tied(*frontier: str, lines: Sequence[str] = tuple(LINES)) -> set[str]:
    """Names of what is looked through, where both programs hold all tensors."""
    nodes: dict[str, Node] = {}
    for name in lines:
        operator, *arguments = LINES[name]
        nodes[name] = Node(name, operator, tuple(nodes[a] for a in arguments), {}, TensorType((3,), "float32"))
    graph = Graph("g", tuple(nodes.values()), (("out", nodes[lines[-1]]),), {"table": TABLE})
    closed = {"table": TABLE}
    joint = JointGraph()
    joint.add_graph("left", graph, closed, {}, {})
    sources = {n.name: joint.term[n] for n in graph.sources("parameter")}
    joint.add_graph("right", graph, closed, {n.name: Whole(n.name) for n in graph.sources("parameter")}, sources)
    for node in graph.nodes:
        joint.anchor(joint.term[node])
    classes = {joint.egraph.find(joint.term[node]): node.name for node in graph.nodes}
    found = tied_together(joint, [joint.egraph.find(joint.term[nodes[name]]) for name in frontier])
    return {classes[name] for name in found}


def test_what_others_make_is_looked_through_with_what_stands_between():
    assert tied("weight", "size", "scaled") == {"size", "scaled", "cosine"}
    assert tied("size", "cosine", "scaled") == {"scaled"}
    assert tied("weight", "negative") == {"negative", "scaled", "cosine", "size"}


def test_what_is_made_of_anything_else_stays():
    assert tied("size", "scaled") == set(), "the cosine is not there, nor what it is made of"
    assert tied("scaled", "both") == set(), "another weight is needed"
    assert tied("scaled", "other", "both") == {"both"}
    assert tied("weight") == tied("other", "weight") == set()


def test_a_constant_beside_them_is_nothing_that_is_missing():
    """Of one more than a rotation, say, it matters that it is one more."""
    assert tied("weight", "scaled", "shifted") == {"scaled", "shifted", "cosine", "size"}
    assert tied("other", "shifted") == set()
