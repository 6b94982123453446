"""Buffers as variables: what both programs hold is a variable of the proof, be it called a parameter or a buffer.

A running mean enters a program as a weight does, and what is proved of it should hold for every running mean. So a
buffer of real numbers that both hold becomes a parameter in both graphs; the input relation then finds it as it finds
weights. What a program makes of literals stays a constant.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import torch

from samesame.graph import Graph, Node, rewritten
from samesame.relate.world import widened


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
    return value.is_floating_point() and value.numel() > 0 and bool(torch.isfinite(value).all())


def as_variables(graph: Graph, names: Collection[str]) -> Graph:
    """The graph with these constants as parameters."""
    if not names:
        return graph
    return rewritten(graph, lambda node, now: [replace(now, operator="parameter") if node.name in names else now])


def content(value: torch.Tensor) -> tuple[object, ...]:
    """Equal for tensors of equal shapes, kinds and elements."""
    plain = widened(value).resolve_conj()
    return tuple(plain.shape), plain.dtype, plain.numpy().tobytes()
