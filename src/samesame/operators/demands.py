"""Demands: what operators demand of the integers that they look up with.

A lookup of a row demands that the row exists; outside of that the program computes nothing. A count of integers demands
that none is beyond those that are counted: there the program computes something of another shape, and the verdict says
so.
"""

from __future__ import annotations

from collections.abc import Callable

from samesame.formula.expr import add, const, mul
from samesame.formula.sizes import canonical
from samesame.formula.tensor import Dim
from samesame.graph import Node
from samesame.operators.table import packet

Range = tuple[Dim, Dim]


def last(size: Dim) -> Dim:
    """The last position in a dimension."""
    return canonical(add(size, -1))


def either_end(size: Dim) -> Range:
    """Positions in a dimension, counted from its start or from its end."""
    return canonical(mul(-1, const(size))), last(size)


def along(node: Node) -> Range:
    """Positions in the dimension that an operator is given beside a tensor; a number is a vector of one."""
    shape = node.args[0].shape
    return 0, last(shape[node.args[1]]) if shape else 0


# Operator → the position of its index argument, and the range it must lie in (both ends included).
DEMANDS: dict[str, tuple[int, Callable[[Node], Range]]] = {
    "aten.bincount": (0, lambda node: (0, last(node.shape[0]))),
    "aten._embedding_bag": (1, lambda node: (0, last(node.args[0].shape[0]))),
    "aten._embedding_bag_forward_only": (1, lambda node: (0, last(node.args[0].shape[0]))),
    "aten.embedding": (1, lambda node: (0, last(node.args[0].shape[0]))),
    "aten.gather": (2, along),
    "aten.index_add": (2, along),
    "aten.index_copy": (2, along),
    "aten.index_fill": (2, lambda node: either_end(node.args[0].shape[node.args[1]])),
    "aten.index_select": (2, along),
    "aten.scatter": (2, along),
    "aten.scatter_add": (2, along),
    "aten.scatter_reduce": (2, along),
    "aten.one_hot": (0, lambda node: (0, last(node.shape[-1]))),
}


def demands(node: Node) -> list[tuple[Node, Range]]:
    """The integer arguments of a node, each with the range that it must lie in."""
    name = packet(node.operator)
    if name in DEMANDS:
        position, limits = DEMANDS[name]
        index = node.args[position]
        return [(index, limits(node))] if isinstance(index, Node) else []
    if name in ("aten.index", "aten.index_put"):
        limits_of = [either_end(size) for size in node.args[0].shape]
        return [(i, limits_of[d]) for d, i in enumerate(node.args[1]) if is_integer(i)]
    return []


def is_integer(index: object) -> bool:
    return isinstance(index, Node) and not isinstance(index.type, tuple) and index.type.dtype == "int64"
