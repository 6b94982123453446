"""Propose: tensors whose values agree on every draw, up to a layout. Nothing is believed because of values alone.

A tensor's fingerprint (how many elements, and a few moments of them) does not change when it is reshaped or
permuted, so candidates are found by sorting; only then is a layout searched: the same, reshaped, or permuted and
reshaped. Where no dimension of either shows how the other is cut, as when the two of each pair are put into two halves,
the elements themselves tell: both tensors are sorted, and where each element of one stands in the other is a sum of
steps. Values are float64, so equal tensors agree to about 1e-13 of their scale, and the tolerance leaves room for
long chains.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations, permutations
from math import prod
from typing import Protocol

import numpy as np
import torch

from samesame.operators.execute import COMPARED, pieces
from samesame.relate.arrangement import taken_from
from samesame.relate.layout import Layout, Whole, permuted, reshaped, values

TOLERANCE = 1e-9
_MAX_RANK = 5
_CANDIDATES = 6
_AT_ONCE = 1 << 15          # elements
_SORTED = 1 << 20           # elements of a tensor that may be sorted
_SLACK = 1e-8               # of a moment

Values = Sequence[Mapping[str, torch.Tensor]]


class Proposes(Protocol):
    """What finds candidates among the left tensors for a right tensor, each with its layout."""

    def candidates(self, right: Values, name: str, shape: tuple[int, ...]) -> list[tuple[str, Layout]]: ...


def agree(a: torch.Tensor, b: torch.Tensor, tolerance: float = TOLERANCE) -> bool:
    """Same shape, and every element equal to within `tolerance` of the tensors' largest finite magnitude;
    infinities in place.
    """
    if a.shape != b.shape or (a.dtype == torch.bool) != (b.dtype == torch.bool):
        return False
    if not (a.dtype.is_floating_point or b.dtype.is_floating_point or a.dtype.is_complex):
        return torch.equal(a, b) if a.dtype == b.dtype else torch.equal(a.long(), b.long())
    if a.dtype.is_complex != b.dtype.is_complex:
        return False
    return difference(a, b) <= tolerance


def difference(a: torch.Tensor, b: torch.Tensor) -> float:
    """Largest difference relative to the largest finite magnitude; infinite where infinities or NaNs are not in the
    same places. As many elements at a time are looked at as a core's cache holds: large tensors are often compared.
    """
    if a.dtype == b.dtype and a.dtype in COMPARED and torch.equal(a, b):
        return 0.0
    x, y = (tensor.reshape(-1) for tensor in reals(a, b))
    gap = scale = 0.0
    for start in range(0, x.numel(), _AT_ONCE):
        one, other = x[start : start + _AT_ONCE], y[start : start + _AT_ONCE]
        apart = (one - other).abs_()
        if not math.isfinite(float(apart.sum())):          # else all are numbers
            return _difference_of_numbers(x, y)
        gap, scale = max(gap, float(apart.max())), max(scale, float(one.abs().max()), float(other.abs().max()))
    return gap / scale if scale else 0.0


def _difference_of_numbers(x: torch.Tensor, y: torch.Tensor) -> float:
    """The same, where there may be others than numbers among them."""
    finite = torch.isfinite(x)
    if not bool(((x == y) | (x.isnan() & y.isnan()) | (finite & torch.isfinite(y))).all()):
        return float("inf")
    x, y = x[finite], y[finite]
    if x.numel() == 0:
        return 0.0
    scale = max(float(x.abs().max()), float(y.abs().max()))
    return float((x - y).abs().max()) / scale if scale else 0.0


def reals(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both tensors as float64, where either is complex with a last dimension for the real and imaginary parts."""
    if not (a.dtype.is_complex or b.dtype.is_complex):
        return a.double(), b.double()
    x, y = (torch.view_as_real(t.to(torch.complex128).resolve_conj()) for t in (a, b))
    return x, y


class Proposer:
    """Candidates among the left tensors for a right tensor. Values are given per draw, by node name; of the left
    tensors `sizes` says how many elements each has. Fingerprints are taken of those sizes only that are asked for."""

    def __init__(self, left: Values, sizes: Mapping[str, int]) -> None:
        self.left = left
        self._draw = telling_draw(left)
        self._names: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for position, (name, size) in enumerate(sizes.items()):
            self._names[size].append((position, name))
        self._by_size: dict[int, list[tuple[float, int, str]]] = {}

    def _rows(self, size: int) -> list[tuple[float, int, str]]:
        """The left tensors of so many elements in the order of their moments."""
        if size not in self._by_size:
            named = (one for one in self._names.get(size, ()) if tells(self.left, one[1], self._draw))
            self._by_size[size] = sorted((moment(self.left[self._draw][name]), position, name)
                                         for position, name in named)
        return self._by_size[size]

    def _near(self, size: int, wanted: float) -> list[tuple[float, int, str]]:
        """The left tensors of so many elements that have this moment."""
        rows, slack = self._rows(size), abs(wanted) * _SLACK + 1e-300
        low = bisect_left(rows, (wanted - slack, -1, ""))
        return rows[low : bisect_right(rows, (wanted + slack, math.inf, ""))]

    def has(self, size: int, wanted: float) -> bool:
        """Is there a left tensor of so many elements that has this moment?"""
        return bool(self._near(size, wanted))

    def candidates(self, right: Values, name: str, shape: tuple[int, ...]) -> list[tuple[str, Layout]]:
        """Left tensors that agree on every draw, with the layout that makes the right one; plainest layout first."""
        value = right[self._draw][name]
        if not tells(right, name, self._draw):
            return []
        found: list[tuple[int, int, str, Layout]] = []
        for _, position, other in self._near(value.numel(), moment(value)):
            for layout in self._layouts(other, right, name):
                found.append((_steps(layout), position, other, layout))
        found.sort(key=lambda row: row[:2])
        return [(other, layout) for _, _, other, layout in found[:_CANDIDATES]]

    def _layouts(self, other: str, right: Values, name: str) -> Iterator[Layout]:
        """The plainest layout that agrees on every draw; and where the right tensor is symmetric, as a Gram matrix is,
        those with two dimensions exchanged: values do not tell these apart, and proofs may."""
        one, two = self.left[self._draw][other], right[self._draw][name]
        for layout in chain(rearrangements(other, one, two), in_order(other, one, two)):
            if all(
                agree(values(layout, mine.__getitem__), yours[name])
                for mine, yours in zip(self.left, right, strict=True)
            ):
                yield layout
                yield from (permuted(layout, order) for order in symmetries([run[name] for run in right]))
                return


def symmetries(runs: Sequence[torch.Tensor]) -> Iterator[tuple[int, ...]]:
    """The exchanges of two dimensions that leave a tensor as it is in every run."""
    shape = runs[0].shape
    for a, b in combinations(range(len(shape)), 2):
        if shape[a] == shape[b] > 1 and all(agree(run, run.transpose(a, b)) for run in runs):
            order = list(range(len(shape)))
            order[a], order[b] = b, a
            yield tuple(order)


def telling_draw(runs: Values) -> int:
    """The number of the draw on which tensors are looked up: a jittered one tells more apart than the example."""
    return min(1, len(runs) - 1)


def tells(runs: Values, name: str, draw: int) -> bool:
    """Does the value identify the tensor? A single number does where it is another on another draw: it is no constant,
    and equal by no accident."""
    value = runs[draw][name]
    if value.numel() != 1 or not value.dtype.is_floating_point:
        return is_telling(value)
    return any(not torch.equal(run[name], value) for run in runs)


def is_telling(value: torch.Tensor) -> bool:
    """Does the value identify the tensor? One that is the same everywhere agrees with too much."""
    if value.numel() < 2 or value.dtype.is_complex:
        return False
    flat = value.flatten()
    return any(bool((piece != flat[0]).any()) for piece in pieces(flat))


def moment(value: torch.Tensor) -> float:
    """The same for every arrangement of the elements, to within rounding."""
    return math.fsum(float(_moments(x).sum()) for x in map(_numbers, pieces(value)))


def moments_along(value: torch.Tensor, dim: int) -> np.ndarray:
    """The moment of what lies before each place along a dimension, and of all."""
    numbers = _numbers(value).movedim(dim, 0).reshape(value.shape[dim], -1)
    return np.concatenate([np.zeros(1), np.cumsum(_moments(numbers).sum(1).numpy())])


def _moments(numbers: torch.Tensor) -> torch.Tensor:
    return numbers * numbers + 0.25 * numbers.abs()


def _numbers(value: torch.Tensor) -> torch.Tensor:
    return torch.nan_to_num(value.double(), nan=0.5, posinf=3.0, neginf=-2.0)


def _steps(layout: Layout) -> int:
    return 0 if isinstance(layout, Whole) else 1 + _steps(layout.part)  # type: ignore[union-attr]


def rearrangements(name: str, left: torch.Tensor, right: torch.Tensor) -> Iterator[Layout]:
    """Layouts reshape(permute(reshape(left))) that might make the right tensor, plainest first; sampled, so to be
    checked.
    """
    mine, yours = tuple(left.shape), tuple(right.shape)
    if _sampled_equal(left.reshape(-1), right.reshape(-1)):
        yield reshaped(Whole(name), mine, yours)
    fine, coarse = (left, right) if _rank(mine) >= _rank(yours) else (right, left)
    kept = [d for d, size in enumerate(fine.shape) if size != 1]
    if 2 <= len(kept) <= _MAX_RANK:
        squeezed = tuple(fine.shape[d] for d in kept)
        for order in permutations(range(len(kept))):
            if order == tuple(range(len(kept))):
                continue
            if _sampled_equal(fine.reshape(squeezed).permute(order), coarse.reshape(-1)):
                moved = tuple(squeezed[d] for d in order)
                if fine is left:
                    step = permuted(reshaped(Whole(name), mine, squeezed), order)
                    yield reshaped(step, moved, yours)
                else:
                    back = tuple(order.index(d) for d in range(len(order)))
                    step = permuted(reshaped(Whole(name), mine, moved), back)
                    yield reshaped(step, squeezed, yours)


def in_order(name: str, left: torch.Tensor, right: torch.Tensor) -> Iterator[Layout]:
    """The layout that makes the right tensor, told by the order of the elements by size; none where some are equal."""
    total = left.numel()
    if total != right.numel() or not 2 <= total <= _SORTED or not _all_real(left, right):
        return
    mine, yours = (torch.sort(x.double().flatten()) for x in (left, right))
    if bool((mine.values[1:] == mine.values[:-1]).any()):
        return
    places = torch.empty_like(mine.indices)
    places[yours.indices] = mine.indices
    layout = taken_from(name, tuple(left.shape), places.reshape(right.shape))
    if layout is not None:
        yield layout


def _all_real(*tensors: torch.Tensor) -> bool:
    return all(x.dtype.is_floating_point and bool(torch.isfinite(x).all()) for x in tensors)


def _rank(shape: tuple[int, ...]) -> int:
    return sum(size != 1 for size in shape)


def _sampled_equal(arranged: torch.Tensor, flat: torch.Tensor) -> bool:
    """Do a few elements of the two agree, counted row by row? Cheap, and wrong only by saying yes too often."""
    total = prod(arranged.shape)
    if total != flat.numel():
        return False
    step = max(1, total // 17)
    positions = torch.arange(0, total, step)
    coordinates = tuple(map(torch.from_numpy, np.unravel_index(positions.numpy(), tuple(arranged.shape))))
    a, b = arranged[coordinates].double(), flat[positions].double()
    a, b = (torch.nan_to_num(x, nan=0.5, posinf=3e300, neginf=-3e300) for x in (a, b))
    scale = max(float(a.abs().max()), float(b.abs().max()), 1e-300)
    return float((a - b).abs().max()) <= 1e-6 * scale
