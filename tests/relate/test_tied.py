"""Frontiers: what is made of the rest of a frontier is looked through before the rest is."""

from __future__ import annotations

from collections.abc import Sequence

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
}


def tied(*frontier: str, lines: Sequence[str] = tuple(LINES)) -> set[str]:
    """Names of what is looked through, where both programs hold all tensors."""
    nodes: dict[str, Node] = {}
    for name in lines:
        operator, *arguments = LINES[name]
        nodes[name] = Node(name, operator, tuple(nodes[a] for a in arguments), {}, TensorType((3,), "float32"))
    graph = Graph("g", tuple(nodes.values()), (("out", nodes[lines[-1]]),), {})
    joint = JointGraph()
    joint.add_graph("left", graph, {}, {}, {})
    sources = {n.name: joint.term[n] for n in graph.sources("parameter")}
    joint.add_graph("right", graph, {}, {n.name: Whole(n.name) for n in graph.sources("parameter")}, sources)
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
