"""Likewise: what a change at one operator means wherever the program does the same again.

A line in a loop over layers runs once a layer, and a mistake on it is a mistake in every layer. So a change is tried
at one operator, at all that the same line made, and at every other one of them (a norm that runs twice a layer). An
operand is then said relative to its operator: by the way up to it, or, for a weight, by its name in the other layer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from samesame.graph import Graph, Node, map_nodes

_DEPTH = 7


def repetitions(node: Node, graph: Graph) -> Iterator[tuple[int, str, tuple[Node, ...]]]:
    """The places to change together with the node, each set with a cost and words for it; the node itself is not among
    them. A line of a library runs for many modules: first those of the same name in other layers, then also their
    neighbours in the layer, then all."""
    line = [other for other in graph.nodes if other is node or _same_line(node, other)]
    module = [other for other in line if _layered(other.origin.module) == _layered(node.origin.module)]
    beside = [other for other in line if _beside(other.origin.module) == _beside(node.origin.module)]
    named = _layered(node.origin.module)
    if 1 < len(module) < len(line):
        yield 0, f"in all {len(module)} places of {named}", _without(module, node)
    if len(module) < len(beside) < len(line):
        yield 0, f"in all {len(beside)} places of {_beside(node.origin.module)}.*", _without(beside, node)
    if len(line) > 1:
        yield 0, f"in all {len(line)} places where the line runs", _without(line, node)
    if len(line) > 2:
        half = line[line.index(node) % 2 :: 2]
        yield 1, f"in every other place where the line runs, {len(half)} in all", _without(half, node)


def _layered(module: str) -> str:
    """A module path without the numbers of layers: `layers.#.mlp`."""
    return re.sub(r"(?<=\.)\d+(?=\.|$)", "#", module)


def _beside(module: str) -> str:
    return _layered(module).rpartition(".")[0]


def _without(nodes: list[Node], node: Node) -> tuple[Node, ...]:
    return tuple(other for other in nodes if other is not node)


def _same_line(a: Node, b: Node) -> bool:
    """Did one line of the program run both, with the same numbers and as many results?"""
    return (
        (a.operator, _results(a)) == (b.operator, _results(b))
        and a.origin.file != ""
        and (a.origin.file, a.origin.line) == (b.origin.file, b.origin.line)
        and map_nodes(_unnamed, a.args) == map_nodes(_unnamed, b.args)
        and map_nodes(_unnamed, tuple(a.kwargs.items())) == map_nodes(_unnamed, tuple(b.kwargs.items()))
    )


def _results(node: Node) -> int:
    return len(node.type) if isinstance(node.type, tuple) else 1


def _unnamed(node: Node) -> str:
    return "a tensor"


@dataclass(frozen=True, slots=True)
class Way:
    """The way from an operator up to a tensor: which input to take at each step, and, at the end, which other result
    of an operator with several.
    """

    steps: tuple[int, ...]
    result: int | None = None


def above(node: Node, graph: Graph) -> Iterator[tuple[Way, Node]]:
    """The tensors within a few steps above an operator, nearest first, each with a way to it."""
    seen = {node}
    layer: list[tuple[Node, tuple[int, ...]]] = [(node, ())]
    for _ in range(_DEPTH):
        following: list[tuple[Node, tuple[int, ...]]] = []
        for at, steps in layer:
            for k, part in enumerate(at.inputs):
                if part not in seen:
                    seen.add(part)
                    following.append((part, (*steps, k)))
                    yield Way((*steps, k)), part
                    for sibling in _siblings(part, graph):
                        if sibling not in seen:
                            seen.add(sibling)
                            yield Way((*steps, k), sibling.args[1]), sibling
        layer = following


def follow(way: Way, node: Node, graph: Graph) -> Node | None:
    """Where the way leads from this operator; None where it ends before."""
    for step in way.steps:
        if step >= len(node.inputs):
            return None
        node = node.inputs[step]
    if way.result is None:
        return node
    return next((sibling for sibling in _siblings(node, graph) if sibling.args[1] == way.result), None)


def _siblings(node: Node, graph: Graph) -> Iterator[Node]:
    """The other results of the operator that this is one result of."""
    if node.operator == "getitem":
        yield from (o for o in graph.nodes if o.operator == "getitem" and o.args[0] is node.args[0] and o is not node)


def namesake(weight: Node, of: Node, there: Node, graph: Graph) -> Node | None:
    """The weight that is to the weight `there` what `weight` is to `of`: the same name with the numbers of `there`.

    `layers.1.second` for `layers.0.second`, if `of` is `layers.0.first` and `there` is `layers.1.first`. `graph` is
    the one of `weight`.
    """
    if _numbers(weight) != _numbers(of):
        return weight if of is there else None
    pattern, numbers = _pattern(weight), _numbers(there)
    weights = graph.sources("parameter")
    return next((other for other in weights if (_pattern(other), _numbers(other)) == (pattern, numbers)), None)


def _title(weight: Node) -> str:
    return weight.origin.parameter or weight.name


def _pattern(weight: Node) -> str:
    return re.sub(r"\d+", "#", _title(weight))


def _numbers(weight: Node) -> list[str]:
    return re.findall(r"\d+", _title(weight))
