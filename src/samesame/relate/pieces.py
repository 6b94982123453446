"""Pieces: proposals where one side holds parts of the other's tensors, as the ranks of a distributed program do.

A rank's tensor may be a slice of a sequential one over some dimension, a strided slice of it (the heads of every
sequence in a merged dimension), or either times the number of ranks. The fingerprint is a row of moments: for each
dimension, the sum of squares at each of its positions. A slice over that dimension has a run of the row for its own,
however its other dimensions are arranged, and a factor shows as its square. So all rows of the left are kept in one
sorted list, and a right tensor's row is looked up by its first number. A piece that is cut along several dimensions, as
a grid of ranks holds it, has no such run; it is looked up by its largest element. As ever, values only propose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import gcd

import numpy as np
import torch

from samesame.relate.layout import Layout, Reshape, Scaled, Slice, Whole, onto, values
from samesame.relate.propose import Proposer, Values, agree, is_telling, rearrangements, telling_draw, tells

_HITS = 200                 # places in the left's rows that are looked at, for one row of a right tensor
_FOUND = 9                  # most of them one tensor, moved: its transpose for a gradient, for another product
_ELEMENTS = 1 << 22         # of all left tensors together, that are put in order to find one
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class _Row:
    """The moments of a left tensor over one dimension."""

    name: str
    dim: int
    moments: np.ndarray


@dataclass(frozen=True, slots=True)
class _Table:
    """Rows, and the moments of all of them in order, each with the row it is of and its place there."""

    rows: list[_Row]
    moments: np.ndarray
    owners: np.ndarray
    starts: np.ndarray


class PieceProposer:
    """Candidates among the left tensors for a right tensor: rearrangements first, then pieces, then multiples of
    either. `factors` are the multiples to think of, such as the number of ranks and its inverse. Where a tensor holds
    a piece more than once, as a repeated head does, the one nearest to where the holder of the right tensor would have
    its own is taken: `places(right name)` are shares of a whole at which that may start.
    """

    def __init__(
        self,
        left: Values,
        sizes: Mapping[str, int],
        factors: Sequence[Fraction] = (),
        places: Callable[[str], Sequence[float]] = lambda _: (0.0,),
    ) -> None:
        self.left, self.factors, self.places = left, (Fraction(1), *factors), places
        self._draw = telling_draw(left)
        self._whole = Proposer(left, sizes)
        self._order = {name: position for position, name in enumerate(sizes)}

    @cached_property
    def _table(self) -> _Table:
        """The rows of all left tensors: made when a right one is no rearrangement of a whole."""
        rows: list[_Row] = []
        for name in self._order:
            value = self.left[self._draw][name]
            if is_telling(value):
                rows += (_Row(name, dim, row) for dim, row in _rows(value) if dim is not None)
        lengths = [len(row.moments) for row in rows]
        moments = np.concatenate([row.moments for row in rows]) if lengths else np.zeros(0)
        owners = np.repeat(np.arange(len(lengths)), lengths)
        starts = np.concatenate([np.arange(length) for length in lengths]) if lengths else np.zeros(0, dtype=int)
        order = np.argsort(moments, kind="stable")
        return _Table(rows, moments[order], owners[order], starts[order])

    def candidates(self, right: Values, name: str, shape: tuple[int, ...]) -> list[tuple[str, Layout]]:
        """Left tensors of which the right one is a rearrangement, a piece or a multiple on every draw."""
        found = self._whole.candidates(right, name, shape)
        value = right[self._draw][name]
        if found or not isinstance(value, torch.Tensor) or value.dtype.is_complex:
            return found
        if not tells(right, name, self._draw):
            return found
        seen: dict[str, Layout] = {}
        for layout, other in chain(self._pieces(value, self.places(name)), self._boxes(value)):
            if other not in seen and self._fits(layout, right, name):
                seen[other] = layout
                if len(seen) == _FOUND:
                    break
        return sorted(seen.items(), key=lambda pair: self._order[pair[0]])

    @cached_property
    def _elements(self) -> tuple[list[str], np.ndarray, np.ndarray]:
        """The elements of all left tensors in order, and where each is: which tensor's, counted on through all of
        them. Made when a right tensor is no piece along one dimension."""
        names = [name for name in self._order if is_telling(self.left[self._draw][name])]
        if sum(self.left[self._draw][name].numel() for name in names) > _ELEMENTS:
            names = []
        flat = [_finite(self.left[self._draw][name]).flatten().numpy() for name in names]
        together = np.concatenate(flat) if flat else np.zeros(0)
        order = np.argsort(together, kind="stable")
        return names, together[order], order

    def _boxes(self, value: torch.Tensor) -> Iterator[tuple[Layout, str]]:
        """Pieces along several dimensions at once, as a grid of ranks holds them: told by where a left tensor of the
        same rank has the right one's largest element."""
        names, elements, order = self._elements
        if value.dim() < 2 or not names:
            return
        numbers = _finite(value)
        at = int(numbers.abs().argmax())
        largest = float(numbers.flatten()[at])
        slack = abs(largest) * _CLOSE + 1e-300
        low, high = np.searchsorted(elements, (largest - slack, largest + slack))
        ends = np.cumsum([self.left[self._draw][name].numel() for name in names])
        corner = np.unravel_index(at, tuple(value.shape))
        for place in order[low : min(high, low + _HITS)]:
            owner = int(np.searchsorted(ends, place, side="right"))
            whole = tuple(self.left[self._draw][names[owner]].shape)
            cut = [d for d, (size, own) in enumerate(zip(whole, value.shape, strict=False)) if size != own]
            if len(whole) != value.dim() or len(cut) < 2:
                continue
            inside = np.unravel_index(int(place - (ends[owner - 1] if owner else 0)), whole)
            layout: Layout = Whole(names[owner])
            starts = [int(p - q) for p, q in zip(inside, corner, strict=True)]
            if all(0 <= start <= size - own for start, size, own in zip(starts, whole, value.shape, strict=True)):
                for d in cut:
                    layout = Slice(layout, d, starts[d], starts[d] + value.shape[d])
                yield layout, names[owner]

    def _fits(self, layout: Layout, right: Values, name: str) -> bool:
        pairs = zip(self.left, right, strict=True)
        return all(agree(values(layout, mine.__getitem__), yours[name]) for mine, yours in pairs)

    def _pieces(self, value: torch.Tensor, places: Sequence[float]) -> Iterator[tuple[Layout, str]]:
        """Layouts whose row of moments fits, on one draw; the plain ones before multiples."""
        rows = list(_rows(value))
        for factor in self.factors:
            if factor != 1 and not value.dtype.is_floating_point:
                continue
            for _, row in rows:
                cuts = self._cuts(row / float(factor) ** 2, value.numel(), whole=factor != 1)
                for _, other, cut in sorted(cuts, key=lambda found: min(abs(found[0] - place) for place in places)):
                    made = cut if factor == 1 else Scaled(cut, factor)
                    piece = values(made, self.left[self._draw].__getitem__)
                    for layout in rearrangements(other, piece, value):
                        yield onto(layout, made), other

    def _cuts(self, row: np.ndarray, elements: int, *, whole: bool) -> Iterator[tuple[float, str, Layout]]:
        """Slices and strided slices of left tensors, with as many elements, whose moments are these; also the `whole`
        of them. Each with the share of the whole before it."""
        slack, table = abs(row[0]) * _CLOSE + 1e-300, self._table
        low, high = np.searchsorted(table.moments, (row[0] - slack, row[0] + slack))
        for place in range(low, min(high, low + _HITS)):
            mine, start, length = table.rows[table.owners[place]], int(table.starts[place]), len(row)
            size = len(mine.moments)
            shape = tuple(self.left[self._draw][mine.name].shape)
            if size * elements != length * self.left[self._draw][mine.name].numel():
                continue
            if size == length:
                if whole and start == 0 and np.allclose(mine.moments, row, rtol=_CLOSE):
                    yield 0.0, mine.name, Whole(mine.name)
                continue
            if start + length <= size and np.allclose(mine.moments[start : start + length], row, rtol=_CLOSE):
                yield start / size, mine.name, Slice(Whole(mine.name), mine.dim, start, start + length)
            for times in _divisors(gcd(size, length)):
                inner, kept = size // times, length // times
                if start + kept <= inner and np.allclose(
                    mine.moments.reshape(times, inner)[:, start : start + kept].reshape(-1), row, rtol=_CLOSE
                ):
                    split = (*shape[: mine.dim], times, inner, *shape[mine.dim + 1 :])
                    cut = Slice(Reshape(Whole(mine.name), split), mine.dim + 1, start, start + kept)
                    merged = (*shape[: mine.dim], length, *shape[mine.dim + 1 :])
                    yield start / inner, mine.name, Reshape(cut, merged)


def _rows(value: torch.Tensor) -> Iterator[tuple[int | None, np.ndarray]]:
    """The moments over each dimension of more than one position, and, for a piece of one, the sum of them all."""
    squares = _finite(value).square()
    yield None, squares.sum().reshape(1).numpy()
    for dim, size in enumerate(value.shape):
        if size > 1:
            others = [d for d in range(value.dim()) if d != dim]
            yield dim, (squares.sum(others) if others else squares).numpy()


def _finite(value: torch.Tensor) -> torch.Tensor:
    return torch.nan_to_num(value.double(), nan=0.5, posinf=3.0, neginf=-2.0)


def _divisors(number: int) -> list[int]:
    """Those above 1."""
    return [d for d in range(2, number + 1) if number % d == 0]
