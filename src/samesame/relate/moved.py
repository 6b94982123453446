"""Moved elements: tensors that hold elements of one other tensor, told by the places that these have in it.

A program that takes rows by a constant index (the tokens of a window, heads in another order, the inverse of a sort)
moves elements, and so does one that rolls, cuts and permutes. At sizes that are numbers nothing about this needs a
search: the operators run once on the places 0, 1, 2, … instead of the elements, and where two tensors hold the same
places of one tensor, in one shape, they are equal whatever that tensor holds. What has all places in order is the
tensor itself. Only what takes by a constant on one side at least is looked at: other movement has formulas for all
sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import prod
from typing import Any

import torch

from samesame.graph import Graph, Node, TensorType, map_nodes
from samesame.operators.execute import resolve
from samesame.operators.table import packet

MOST = 1 << 17              # elements of a tensor that is looked at, and of one that is made of it
TAKES = frozenset(          # by integers or truth values, the second argument
    f"aten.{name}" for name in ("index", "index_select", "gather", "take_along_dim", "embedding")
)
MOVES = frozenset(
    f"aten.{name}"
    for name in [
        *("view", "_unsafe_view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "expand", "repeat"),
        *("permute", "transpose", "t", "numpy_T", "mT", "movedim", "slice", "select", "narrow", "flip", "roll"),
        *("split", "split_with_sizes", "chunk", "unbind", "cat", "stack", "unfold", "diagonal", "tile"),
        *("pixel_shuffle", "pixel_unshuffle"),
    ]
)
TOGETHER = frozenset(("aten.cat", "aten.stack"))
GETITEM = "getitem"
BITS = "aten.view.dtype"    # moves nothing: it reads bits as another kind of number


@dataclass(frozen=True, slots=True)
class Held:
    """Of which `source` a term holds elements, whether a constant was `taken` by on the way, and whether these are all
    elements in order."""

    source: int
    taken: bool
    in_order: bool = False


@dataclass(slots=True)
class Moved:
    """What terms hold of others, and digests of the places. The `places` themselves, several tensors where an operator
    gives several, are kept while terms are entered."""

    held: dict[int, Held] = field(default_factory=dict)
    digests: dict[int, str] = field(default_factory=dict)
    places: dict[int, Any] = field(default_factory=dict)

    def source(self, term: int) -> int:
        """The term whose elements it holds, itself if it is made otherwise."""
        return self.held[term].source if term in self.held else term

    def enter(self, node: Node, term: int, reads: Sequence[int], constants: Sequence[torch.Tensor | None]) -> None:
        """Look at a term that is a node's operator on these terms, some of which are constants."""
        name = packet(node.operator)
        moving = (name in MOVES and node.operator != BITS) or node.operator == GETITEM
        data = len(reads) if moving else 1
        if not (moving or name in TAKES) or term in self.held or term in reads or not _is_small(node):
            return
        if not _is_plain(node, takes=not moving):
            return
        if any(value is not None for value in constants[:data]) or any(value is None for value in constants[data:]):
            return
        parts = [self.held.get(part) or Held(part, taken=False) for part in reads[:data]]
        places = [self.places[read] if read in self.places else _all_of(part)
                  for read, part in zip(reads[:data], node.inputs, strict=False)]
        if any(one is None for one in places) or len({part.source for part in parts}) != 1:
            return
        given = iter([*places, *constants[data:]])
        args = map_nodes(lambda _: next(given), node.args)
        kwargs = {key: map_nodes(lambda _: next(given), value) for key, value in node.kwargs.items()}
        found = args[0][args[1]] if node.operator == GETITEM else resolve(node.operator)(*args, **kwargs)
        self.places[term], one = found, isinstance(found, torch.Tensor)
        taken = not moving or any(part.taken for part in parts)
        self.held[term] = Held(parts[0].source, taken, one and torch.equal(found.flatten(), _counted(found.numel())))
        if one:
            self.digests[term] = sha256(repr(tuple(found.shape)).encode() + found.numpy().tobytes()).hexdigest()

    def alike(self, find: Callable[[int], int], types: Mapping[int, Any]) -> Iterator[tuple[int, int]]:
        """Pairs of terms that hold the same elements; `find` tells the class of a term."""
        first: dict[tuple[object, ...], list[int]] = {}
        for term, digest in self.digests.items():
            first.setdefault((find(self.held[term].source), digest, types[term]), []).append(term)
        for terms in first.values():
            one, *others = sorted(terms, key=lambda term: not self.held[term].taken)
            if self.held[one].taken:
                yield from ((one, other) for other in others if find(one) != find(other))
                source = self.held[one].source
                if self.held[one].in_order and types[one] == types[source] and find(one) != find(source):
                    yield one, source


def takes_by_constants(graph: Graph, closed: Mapping[str, torch.Tensor]) -> bool:
    """Whether a program takes elements by constants of several numbers."""
    return any(
        packet(node.operator) in TAKES and len(node.inputs) > 1 and all(_is_index(part, graph, closed)
                                                                        for part in node.inputs[1:])
        for node in graph.nodes
    )


def _is_index(node: Node, graph: Graph, closed: Mapping[str, torch.Tensor]) -> bool:
    value = graph.tensors.get(node.name) if node.operator == "constant" else closed.get(node.name)
    return isinstance(value, torch.Tensor) and value.numel() > 1 and not value.is_floating_point()


def _is_plain(node: Node, *, takes: bool) -> bool:
    """Whether the first argument is what is moved, in several parts where these are put together, the others say how
    by numbers, and tensors only where elements are taken by them."""
    first, others = (node.args[0], [*node.args[1:], *node.kwargs.values()]) if node.args else (None, [])
    parts = list(first) if packet(node.operator) in TOGETHER and isinstance(first, tuple) else [first]
    if not all(isinstance(part, Node) for part in parts):
        return False
    return all(_is_number(other, of_nodes=takes) for other in others)


def _is_number(value: Any, *, of_nodes: bool = False) -> bool:
    """Whether an argument is made of numbers, and of tensors where these may be; not of sizes that are symbols."""
    if isinstance(value, tuple):
        return all(_is_number(part, of_nodes=of_nodes) for part in value)
    return value is None or isinstance(value, int) or (of_nodes and isinstance(value, Node))


def _is_small(node: Node) -> bool:
    types = node.type if isinstance(node.type, tuple) else (node.type,)
    return all(_size(part) <= MOST for part in types)


def _size(type_: TensorType) -> int:
    """The number of elements; more than enough where a size is no number."""
    return prod(type_.shape) if all(isinstance(size, int) for size in type_.shape) else MOST + 1


def _all_of(node: Node) -> torch.Tensor | None:
    """The places in a tensor of its own elements; None where they are too many, or several tensors."""
    if isinstance(node.type, tuple) or _size(node.type) > MOST:
        return None
    return _counted(_size(node.type)).reshape(node.type.shape)


def _counted(size: int) -> torch.Tensor:
    return torch.arange(size, dtype=torch.int32)
