"""A glance at a change: run what reads the changed operator, on one draw, and see whether an output is still apart.

Of the hundreds of changes that are tried nearly all end here. The graph that a change makes is not needed for that:
operators further down read the new value under the old name. Where this is not plainly the same as running that graph,
a glance says nothing: where a change is made in several places, where it makes a constant (which is computed in a
precision of its own), and where names or reads are not those of a node that is replaced.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch

from samesame.diagnose.change import Change
from samesame.evidence import SamesameError
from samesame.graph import Graph, Node, with_roots
from samesame.operators.execute import Value, closed, rerun
from samesame.relate.propose import agree

NEAR = 1e-8                 # outputs that a change brings so near are the same


@dataclass(slots=True)
class Glance:
    """At the changes of one side: a `root` that is apart, its `values` on one draw, and what the root should be."""

    graph: Graph
    values: Mapping[str, Value]
    root: Node
    wanted: torch.Tensor
    _names: set[str] = field(init=False)
    _variable: set[Node] = field(init=False)               # what is no constant
    _needed: set[Node] = field(init=False)
    _below: dict[Node, tuple[set[Node], list[Node]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        constants = closed(self.graph)
        self._names = {node.name for node in self.graph.nodes}
        self._variable = {node for node in self.graph.nodes if node.name not in constants}
        self._needed = set(with_roots(self.graph, [("", self.root)]).nodes)

    def parts(self, change: Change, sources: Mapping[str, torch.Tensor]) -> bool:
        """Is the root surely apart from what it should be, once this change is made? On these `sources`."""
        if change.twins:
            return False
        made = change.make(change.node)
        if not self.is_plain(change.node, made):
            return False
        _, below = self.below(change.node)
        try:
            there = rerun(self.graph, sources, self.values, [node for node in made if node is not change.node])
            known = ChainMap({change.node.name: there[made[-1].name]}, self.values)      # type: ignore[arg-type]
            value = rerun(self.graph, sources, known, below)[self.root.name]
        except SamesameError:
            return True
        return not isinstance(value, torch.Tensor) or not agree(value, self.wanted, NEAR)

    def below(self, node: Node) -> tuple[set[Node], list[Node]]:
        """What is made of a node's result; and, in order, that of it which the root is made of."""
        if node not in self._below:
            reached = {node}
            for other in self.graph.nodes:
                if any(part in reached for part in other.inputs):
                    reached.add(other)
            reached.discard(node)
            self._below[node] = reached, [other for other in self.graph.nodes if other in reached & self._needed]
        return self._below[node]

    def is_plain(self, changed: Node, made: Sequence[Node]) -> bool:
        """Whether the last of what is made stands for the changed node as any other value would."""
        below, _ = self.below(changed)
        known, variable = set[Node](), set[Node]()
        for node in made:
            if node is not changed:
                if any(part in below or (part is changed and part not in known) for part in node.inputs):
                    return False                           # it reads what comes later, or what is there no more
                if node.name in self._names and node.name != changed.name:
                    return False
            read = {*node.inputs}
            if node.operator not in ("input", "parameter") and read.isdisjoint(variable | self._variable):
                return False
            known.add(node)
            variable.add(node)
        return bool(made)
