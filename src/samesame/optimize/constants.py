"""Constants: what a program makes of nothing but numbers.

To resize an image torch works out which rows and columns each pixel reads: an `arange`, some arithmetic, a cast to
integers, which no form expresses, and look-ups at the results. None of it depends on what the program is given, so that
it is worked out once, in the program's own precision and by its own operators, and stands as a table from then on. Only
what forms cannot say begins a table: an `arange` that a mask compares is better a position. What is made of tables and
numbers is one, too.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import torch

from samesame.graph import Graph, Node
from samesame.operators.execute import closed, execute
from samesame.optimize.built import SMALL
from samesame.optimize.specification import MEMORY


def constants(graph: Graph) -> dict[str, torch.Tensor]:
    """The values, by node name, of nodes that depend on no input and on no tensor that a module holds: finite tensors
    of few elements, made of such ones."""
    free, made = closed(graph), set[Node]()
    for node in graph.nodes:
        known = node.name in free and not node.origin.parameter and node.operator not in MEMORY
        if known and is_small(node) and made.issuperset(node.inputs):
            made.add(node)
    nodes = tuple(node for node in graph.nodes if node in made)
    values = execute(replace(graph, nodes=nodes, roots=()), {}, precision="own")
    return {name: value for name, value in values.items()
            if isinstance(value, torch.Tensor) and not value.is_complex() and bool(torch.isfinite(value).all())}


def is_small(node: Node) -> bool:
    kinds = node.type if isinstance(node.type, tuple) else (node.type,)
    return all(kind is not None and prod(kind.shape) <= SMALL for kind in kinds)
