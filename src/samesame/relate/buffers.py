"""Buffers: which of them are variables of a proof, and which constants.

A buffer is a constant of its program, and a constant that both programs hold is compared by its value. That is wrong
where its value is an accident: fresh running statistics are zeros and ones in every layer, and a port that reads
another layer's would be the same. So these buffers are weights (`buffers_as_weights`), and enter graphs as parameters,
whose values no proof looks at: running statistics as they are before any training, buffers of one number throughout
that both sides hold, and those whose partner on the other side is a parameter. Where the programs part nevertheless,
or weights have no partner, all buffers of real numbers that both hold are variables (`shared_buffers`): a running mean
enters a program as a weight does, and what is proved of it should hold for every running mean. What a program makes of
literals stays a constant; so do the ranks' buffers in `refine`, which tells those that hold one number apart by numbers
of their own (refine/telling.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

import torch

from samesame.graph import Graph, Node, rewritten
from samesame.operators.execute import bound, is_finite, resolve
from samesame.relate.kinds import is_uniform, widened
from samesame.relate.layout import wholes
from samesame.relate.parameters import digest, relate_parameters

Names = tuple[frozenset[str], frozenset[str]]              # of the left and of the right
_STATISTICS = ("running_mean", "running_var")


def buffers_as_weights(graphs: tuple[Graph, Graph]) -> Names:
    """The names of the constants of each side that count as weights."""
    left, right = graphs
    mine, yours = (stored(graph, other) for graph, other in ((left, right), (right, left)))
    read = [{name for name in _statistics(graph) if is_uniform(graph.tensors[name])} for graph in graphs]
    if not mine and not yours:
        return frozenset(), frozenset()
    weights = [{n.name: g.tensors[n.name] for n in g.nodes if n.operator == "parameter" or n.name in names}
               for g, names in ((left, mine), (right, yours))]
    kinds = tuple({n.name: n.operator for n in graph.nodes if n.is_source} for graph in graphs)
    relation = relate_parameters(*weights, kinds=kinds, shared=False)         # type: ignore[arg-type]
    often = [Counter(digest(tensor) for tensor in held.values()) for held in weights]
    for name, layout in relation.layouts.items():
        partners = wholes(layout)
        if {kinds[1][name], *(kinds[0][partner] for partner in partners)} == {"constant"}:
            key = digest(right.tensors[name])
            uniform = is_uniform(right.tensors[name])
            if not uniform or (right.tensors[name].numel() == 1 and max(often[0][key], often[1][key]) == 1):
                continue                                   # a table, or a number: its value is what it is
        read[0] |= mine & set(partners)
        read[1] |= {name} & yours
    return frozenset(read[0]), frozenset(read[1])


def stored(graph: Graph, other: Graph) -> set[str]:
    """Names of the constants that may be weights: named ones of real numbers, without the tables that both hold."""
    tables = {digest(other.tensors[node.name]) for node in other.sources("constant")}
    found = set()
    for node in graph.sources("constant"):
        value = graph.tensors[node.name]
        if node.origin.parameter and value.dtype.is_floating_point and value.numel():
            finite = is_finite(value)
            if finite and (is_uniform(value) or digest(value) not in tables):
                found.add(node.name)
    return found


def _statistics(graph: Graph) -> list[str]:
    """Names of the constants that a normalisation reads as running statistics."""
    found = []
    for node in graph.nodes:
        if node.operator.endswith("norm.default") and node.operator.startswith("aten."):
            given = bound(resolve(node.operator), node.args, node.kwargs)
            read = (given.get(name) for name in _STATISTICS)
            found += [part.name for part in read if isinstance(part, Node) and part.operator == "constant"]
    return found


def shared_buffers(graphs: tuple[Graph, Graph]) -> tuple[frozenset[str], frozenset[str]]:
    """Names of the real buffers of each side that the other holds too, as a buffer or a parameter."""
    buffers = [[node for node in graph.sources("constant") if is_buffer(node, graph)] for graph in graphs]
    left, right = (
        frozenset(node.name for node in buffers[k] if content(graph.tensors[node.name]) in held)
        for k, graph in enumerate(graphs)
        for held in [held_in(graphs[1 - k], {node.shape for node in buffers[k]})]
    )
    return left, right


def held_in(graph: Graph, shapes: Collection[tuple[int, ...]]) -> set[object]:
    """The contents of what a program keeps under a name in one of these shapes."""
    nodes = (node for kind in ("parameter", "constant") for node in graph.sources(kind))
    return {content(graph.tensors[node.name]) for node in nodes if node.origin.parameter and node.shape in shapes}


def is_buffer(node: Node, graph: Graph) -> bool:
    """A tensor of finite reals that the program keeps under a name."""
    value = graph.tensors[node.name]
    return bool(node.origin.parameter) and is_real(value)


def is_real(value: torch.Tensor) -> bool:
    """Does it hold real numbers, all of them finite?"""
    return value.is_floating_point() and value.numel() > 0 and is_finite(value)


def content(value: torch.Tensor) -> tuple[object, ...]:
    """Equal for tensors of equal shapes, kinds and elements."""
    plain = widened(value).resolve_conj()
    return tuple(plain.shape), plain.dtype, plain.numpy().tobytes()


def as_sources(graph: Graph, names: Collection[str], operator: str) -> Graph:
    """The graph with these sources as sources of this kind."""
    if not names:
        return graph
    return rewritten(graph, lambda old, now: (replace(now, operator=operator) if old.name in names else now,))


def as_one(graph: Graph, twins: Sequence[tuple[int, int]]) -> Graph:
    """The graph with one input for inputs that are one tensor, given by their positions, the earlier first."""
    inputs = graph.sources("input")
    first = {inputs[later]: inputs[earlier] for earlier, later in twins}

    def make(old: Node, now: Node) -> tuple[Node, ...]:
        return (replace(now, operator="aten.alias.default", args=(first[old],)) if old in first else now,)

    return rewritten(graph, make)
