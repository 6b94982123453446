"""Joined: proposals where one side makes in one tensor what the other makes in several.

A port runs all experts at once where the original loops over them; so do heads that are vectorised, variables with
networks of their own, towers side by side. Nothing on the looping side is then a whole of what the other makes, and a
claim about the end of both would reach back to their beginning. So the parts are looked for: along some dimension, the
right tensor is one left tensor after another. Its moments up to each place are kept as running sums, so that where a
part may end is a lookup. A tensor that is cut again at once is passed over: its pieces are related one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import torch

from samesame.graph import Graph, Node
from samesame.operators.table import packet
from samesame.relate.joint import BIJECTIVE, IDENTITIES
from samesame.relate.layout import Concat, Layout, Reshape, Slice, Whole, wholes
from samesame.relate.propose import (
    TOLERANCE,
    Proposer,
    Proposes,
    Values,
    agree,
    is_telling,
    moments_along,
    telling_draw,
)

PARTS = 64                  # of one tensor
_CHOICES = 8                # of tensors that are equal in value
_HITS = 4                   # places in one tensor where a part may begin
_PLACES = 4096              # along a dimension that is gone through
CUTS = frozenset(f"aten.{name}" for name in (
    "slice", "select", "split", "split_with_sizes", "chunk", "unbind", "narrow", "tensor_split"))


class JoinProposer:
    """Candidates as `inner` has them; where it has none, for a right tensor that is not `cut_again`, left tensors that
    make it side by side."""

    def __init__(self, inner: Callable[[Values, Mapping[str, int]], Proposes], right: Graph, left: Values,
                 sizes: Mapping[str, int]) -> None:
        self._inner = inner(left, sizes)
        self._whole = self._inner if isinstance(self._inner, Proposer) else Proposer(left, sizes)
        self._left, self._draw, self._passed = left, telling_draw(left), cut_again(right)

    def candidates(self, right: Values, name: str, shape: tuple[int, ...]) -> list[tuple[str, Layout]]:
        """The layouts of several left tensors that agree on every draw, each under the name of its first. Where some
        left tensors are equal in value (a norm, and the norm where it is not too small), each part is the first of
        them in one layout, and the second in the next."""
        found = self._inner.candidates(right, name, shape)
        value = right[self._draw][name]
        if found or name in self._passed or not value.dtype.is_floating_point or not is_telling(value):
            return found
        for dim in range(value.dim()):
            parts = self._along(right, name, dim) if 1 < value.shape[dim] <= _PLACES else ()
            if parts:
                several = range(min(_CHOICES, max(map(len, parts))))
                layouts = [Concat(tuple(part[min(k, len(part) - 1)][1] for part in parts), dim) for k in several]
                return [(wholes(layout)[0], layout) for layout in layouts]
        return []

    def _along(self, right: Values, name: str, dim: int) -> tuple[list[tuple[str, Layout]], ...]:
        """What the parts along a dimension may be, each the longest that there is; none where some part is missing."""
        value = right[self._draw][name]
        length, sums = value.shape[dim], moments_along(value, dim)
        parts, start = list[list[tuple[str, Layout]]](), 0
        while start < length:
            for stop in range(length if start else length - 1, start, -1):
                if not self._whole.has(value.numel() // length * (stop - start), float(sums[stop] - sums[start])):
                    continue
                runs = [{name: run[name].narrow(dim, start, stop - start)} for run in right]
                known = self._whole.candidates(runs, name, tuple(runs[0][name].shape))
                if known:
                    break
            else:
                stop, known = self._torn([run[name] for run in right], start) if value.dim() == 1 else (start, [])
            if len(parts) == PARTS or not known:
                return ()
            parts.append(known)
            start = stop
        return tuple(parts)

    def _torn(self, runs: Sequence[torch.Tensor], start: int) -> tuple[int, list[tuple[str, Layout]]]:
        """A row of many tensors that is cut in equal shares is cut within one: a share ends with the beginning of a
        tensor, begins with the end of one, or lies within it. Where that part stops, and what it is a part of."""
        row = runs[self._draw]
        found, stop = list[tuple[str, Layout]](), start
        for name, whole in self._rows:
            size = whole[self._draw].numel()
            for place, end in _ends(whole[self._draw], row, start):
                pieces = [(of_left[place:place + end - start], run[start:end])
                          for of_left, run in zip(whole, runs, strict=True)]
                if end > stop and all(agree(*pair) for pair in pieces):
                    flat = Whole(name) if self._left[0][name].dim() == 1 else Reshape(Whole(name), (size,))
                    found, stop = [(name, Slice(flat, 0, place, place + end - start))], end
        return stop, found

    @cached_property
    def _rows(self) -> list[tuple[str, list[torch.Tensor]]]:
        """The left tensors in rows, on every draw."""
        real = [name for name, value in self._left[0].items()
                if isinstance(value, torch.Tensor) and value.dtype.is_floating_point and value.numel() > 1]
        return [(name, [run[name].flatten() for run in self._left]) for name in real]


def _ends(whole: torch.Tensor, row: torch.Tensor, start: int) -> Iterator[tuple[int, int]]:
    """Where in a tensor a part of the row may begin that goes on to the row's end, or begins it and goes on to the
    tensor's, or to its own; and where it ends in the row."""
    near, left = TOLERANCE * float(row.abs().max()), len(row) - start
    if len(whole) > left and abs(float(whole[0] - row[start])) <= near:
        yield 0, len(row)
    if start == 0:
        places = ((whole[1:] - row[0]).abs() <= near).nonzero().flatten()[:_HITS] + 1
        yield from ((place, min(len(whole) - place, len(row))) for place in places.tolist())


def cut_again(graph: Graph) -> frozenset[str]:
    """The tensors of a graph that nothing reads but to cut them, or to move their elements and then to cut them."""
    readers: dict[Node, list[Node]] = {node: [] for node in graph.nodes}
    for node in graph.nodes:
        for read in node.inputs:
            readers[read].append(node)
    found = set[Node]()
    for node in reversed(graph.nodes):
        read_by = readers[node]
        if read_by and all(_cuts(reader) or (_moves(reader) and reader in found) for reader in read_by):
            found.add(node)
    return frozenset(node.name for node in found)


def _cuts(node: Node) -> bool:
    return packet(node.operator) in CUTS


def _moves(node: Node) -> bool:
    return packet(node.operator) in BIJECTIVE | IDENTITIES
