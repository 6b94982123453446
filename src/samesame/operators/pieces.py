"""What torch writes in pieces that say less than the whole: one operator again.

`torch.logdet` is NaN where the sign of a determinant is −1, and the logarithm of its magnitude elsewhere: as a graph, a
comparison and a choice, which a proof could only take apart. In one piece it is the logarithm of a determinant.
"""

from __future__ import annotations

import math
from dataclasses import replace

from samesame.graph import Graph, Node, rewritten


def in_one_piece(graph: Graph) -> Graph:
    """The same program with `torch.logdet` as an operator; the graph itself where it has none."""
    if not any(map(_matrix, graph.nodes)):
        return graph

    def make(node: Node, now: Node) -> list[Node]:
        matrix = _matrix(node)
        return [now if matrix is None else replace(now, operator="aten.logdet.default", args=(matrix,), kwargs={})]

    return rewritten(graph, make)


def _matrix(node: Node) -> Node | None:
    """The matrix of which a node is the logarithm of the determinant, if it is one."""
    if node.operator != "aten.where.self":
        return None
    asked, nan, magnitude = node.args
    named = [part.operator if isinstance(part, Node) else "" for part in node.args]
    if named != ["aten.eq.Scalar", "aten.scalar_tensor.default", "getitem"]:
        return None
    sign, number = asked.args
    if number != -1 or not _is_nan(nan) or not _is_part(sign, 0) or not _is_part(magnitude, 1):
        return None
    found = sign.args[0].args[0]
    return found if sign.args[0] is magnitude.args[0] and isinstance(found, Node) else None


def _is_nan(node: Node) -> bool:
    return isinstance(node.args[0], float) and math.isnan(node.args[0])


def _is_part(part: Node, number: int) -> bool:
    """Is it the sign (0) or the logarithm of the magnitude (1) of a determinant?"""
    source = part.args[0] if part.operator == "getitem" and part.args[1] == number else None
    return isinstance(source, Node) and source.operator == "aten._linalg_slogdet.default"
