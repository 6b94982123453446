"""Closed forms: a loop of one program against a tensor of the other, such as a running sum against `cumsum`.

If a tensor holds, row by row, what the rounds of a loop make, it is the closed form of that loop, and the induction
says so: its first row is what the first round makes, and from its row t − 1 round number t makes its row t. So the
tensor's rows are written as rounds that carry nothing, and what the loop carries into a round is the row before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from samesame.graph import Graph, Node, TensorType, map_nodes, rewritten
from samesame.relate.layout import Layout, Whole
from samesame.relate.propose import Values, agree
from samesame.relate.rounds import SELECTED, Rounds, Stack, rounds_of, selecting

COPIED = "other "                                          # how names of nodes from the other side begin


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """A loop on one `side`, and the tensor of the other that holds what all its rounds make, along a dimension. `names`
    are the sources of the side of the loop, by those of the other."""

    side: int
    tensor: str
    dim: int
    names: Mapping[str, str]


def closed_form(
    graphs: Sequence[Graph], values: Sequence[Values], layouts: Mapping[str, Layout], sizes: set[int]
) -> ClosedForm | None:
    """Such a loop over something that is given, and its closed form; None where there is none."""
    for side in (0, 1):
        loop = rounds_of(graphs[side], among=sizes)
        if loop is None or rounds_of(graphs[1 - side], among=sizes) is not None:
            continue
        made = [_made(loop, run) for run in values[side]]
        for node in graphs[1 - side].nodes:
            for dim in _along(node, len(loop.rounds)):
                rows = [run[node.name].movedim(dim, 0).squeeze() for run in values[1 - side]]
                if all(agree(row, every) for row, whole in zip(rows, made, strict=True) for every in whole):
                    names = _names(graphs, side, node, layouts)
                    return None if names is None else ClosedForm(side, node.name, dim, names)
    return None


def _made(loop: Rounds, run: Mapping[str, torch.Tensor]) -> list[torch.Tensor]:
    """What all rounds make that is read beyond a round, row by row."""
    return [torch.stack([run[nodes[place].name] for nodes in loop.rounds]).squeeze() for place in loop.read]


def _along(node: Node, count: int) -> Iterator[int]:
    if not node.is_source and isinstance(node.type, TensorType):
        yield from (dim for dim, n in enumerate(node.shape) if n == count)


def _names(graphs: Sequence[Graph], side: int, tensor: Node, layouts: Mapping[str, Layout]) -> dict[str, str] | None:
    """What the sources that a tensor is made of are called on the other side; None where one is no source there."""
    inputs = [[node.name for node in graph.sources("input")] for graph in graphs]
    found = dict(zip(inputs[1 - side], inputs[side], strict=True))
    same = {right: layout.name for right, layout in layouts.items() if isinstance(layout, Whole)}
    found |= same if side == 0 else {left: right for right, left in same.items()}
    needed = {node.name for node in behind(graphs[1 - side], tensor) if node.operator in ("input", "parameter")}
    held = {node.name for node in graphs[side].nodes}
    return {name: found[name] for name in needed} if all(found.get(name) in held for name in needed) else None


def behind(graph: Graph, tensor: Node) -> list[Node]:
    """A tensor and what it is made of, in order."""
    found = {tensor}
    for node in reversed(graph.nodes):
        if node in found:
            found.update(node.inputs)
    return [node for node in graph.nodes if node in found]


def by_rows(graph: Graph, name: str, dim: int) -> Rounds:
    """The graph with a tensor written as rounds that select its rows, and their stack in its place."""
    graph = selecting(graph)
    whole = graph[name]
    assert isinstance(whole.type, TensorType)
    row = TensorType((*whole.shape[:dim], *whole.shape[dim + 1 :]), whole.type.dtype)
    itself = replace(whole, name=f"{name} itself")
    rows = [Node(f"{name} at {k}", SELECTED, (itself, dim, k), {}, row, whole.origin) for k in range(whole.shape[dim])]
    stack = Node(name, "aten.stack.default", (tuple(rows), dim), {}, whole.type, whole.origin)
    written = rewritten(graph, lambda node, now: [itself, *rows, stack] if node is whole else [now])
    made = tuple((written[one.name],) for one in rows)
    return Rounds(written, made, {}, {written[name]: Stack(0, dim, False)}, frozenset())


def copied(graph: Graph, name: str, sources: Mapping[str, Node]) -> list[Node]:
    """A tensor and what it is made of, to stand in another graph that has the `sources` for inputs and weights."""
    now: dict[Node, Node] = {}
    made: list[Node] = []
    for node in behind(graph, graph[name]):
        if node.name in sources:
            now[node] = sources[node.name]
            continue
        kwargs = {key: map_nodes(now.__getitem__, value) for key, value in node.kwargs.items()}
        args = map_nodes(now.__getitem__, node.args)
        now[node] = replace(node, name=f"{COPIED}{node.name}", args=args, kwargs=kwargs)
        made.append(now[node])
    return made
