"""Packed tensors: several in a flat one, one after another, so that one collective does for all of them.

What is packed and then added up over ranks is the packed sums of the pieces, and a slice of it that begins and ends
with a piece is these pieces. Said so, a piece has nothing to do with the others that went the same way: the gradient of
one weight is no claim about those of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from samesame.graph import Node


def packed_alike(values: Sequence[Node]) -> list[tuple[Node, ...]]:
    """Of flat tensors that each hold the same row of pieces, the first pieces of all, the second, …; else nothing.
    Pieces that the pack holds in another dtype are added up in that one, and are none."""
    packed = [_unreshaped(value) for value in values]
    flat = all(len(value.shape) == 1 for value in (*values, *packed))
    if not flat or any(value.operator != "aten.cat.default" for value in packed):
        return []
    rows = [value.args[0] for value in packed]
    alike = len({tuple(piece.type for piece in row) for row in rows}) == 1
    alike &= all(_dtypes(row) == _dtypes([value]) for row, value in zip(rows, packed, strict=True))
    return list(zip(*rows, strict=True)) if alike else []


def pieces_in(
    packed: Node, dim: int = 0, start: int | None = 0, stop: int | None = None, step: int = 1
) -> list[Node]:
    """The pieces of which a slice of packed ones is made; none where it is not made of whole ones."""
    if step != 1 or start is None or stop is None or start < 0 or stop < 0:
        return []
    ends = list(accumulate((piece.shape[0] for piece in packed.args[0]), initial=0))
    found = [piece for piece, (at, end) in zip(packed.args[0], pairwise(ends), strict=True)
             if start <= at and end <= stop]
    return found if sum(piece.shape[0] for piece in found) == min(stop, ends[-1]) - start else []


def _dtypes(nodes: Sequence[Node]) -> set[str]:
    return {node.type.dtype for node in nodes if not isinstance(node.type, tuple)}


def _unreshaped(node: Node) -> Node:
    """What holds the same numbers in the same order."""
    while node.operator == "aten.reshape.default":
        node = node.inputs[0]
    return node
