"""Claims that no proof can reach: two formulas that differ on random elements.

A claim is about any tensors at its frontier. Where that is too near, it holds for those that the programs have there
and for no others: a table of positions and the same less one, say, as two tensors of which nothing is known. And all
that a proof knows of an opaque operator is that equal arguments give equal results. So a claim that is true only
for what an operator really does (that `topk` without sorting has sorted, say) cannot be proved, and trying costs more
than everything else: every normal form, every case. Here both sides are worked out at a few places, on random leaves,
with a random map for each opaque operator, in float64. Where most places differ, the claim is given up. This proves
nothing and refutes nothing about the programs: it only says where not to look for a proof.

A random map is smooth, so that rounding in its arguments stays small in its result, and varies fast, so that different
arguments have different results. One that stands for a place in a row is a function of the order of that, as far as
a shift, a positive factor and turning round go. A claim may hold under a condition only, such as x ≥ 0; so most draws
are positive, and half of the places may differ. Positions are few, and agree by luck; so there are more draws where
some agree.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from samesame.formula.evaluate import OF_MATRICES, Array, Evaluation, Grid
from samesame.formula.expr import Expr, Fold, Index, Leaf, Load, Opaque, Unsupported, index, numeric, walk
from samesame.formula.monotone import turned_round
from samesame.formula.tensor import Tensor
from samesame.formula.terms import PLACES as PLACES_OF_EXTREMA

PLACES = 8                  # elements of the two tensors that are compared on each draw
POSITIVE = (False, True, True) * 4      # the draws, the last ones only where the first two leave a doubt
DECIDED = 24                # more places apart than alike, or alike than apart, and there is no doubt
SCALE = 0.3                 # of real elements, so that sums of products stay where functions are neither flat nor steep
TOLERANCE = 1e-6            # relative to 1 + the value
CELLS = 1 << 21             # of one array
FAST = (10, 30)             # how fast a random map varies with each number that it reads
GOLDEN = (3 - 5**0.5) / 2   # of a turn
LEVEL = 1e-9                # rows that vary less, beside 1 + their mean, are level
BELOW = 7.5                 # what a random map reads for −∞


def differ_by_chance(left: Tensor, right: Tensor) -> bool:
    """Whether two tensors of one shape, in numbers, differ on random leaves, where opaque operators are random maps.
    False where that cannot be worked out."""
    if left.shape != right.shape or 0 in left.shape:
        return False
    drawn = [Leaf(f"place {d}", (PLACES,), "int", (0, n - 1)) for d, n in enumerate(left.shape) if isinstance(n, int)]
    if len(drawn) < left.rank:
        return False
    place = index(PLACES)
    at = tuple(Load(source, (place,)) for source in drawn)
    apart = alike = 0
    try:
        sides = [numeric(side[at]) for side in (left, right)]
        leaves = {e.leaf.name: e.leaf for side in sides for e in walk(side) if isinstance(e, Load)}
        extrema = any(isinstance(e, Fold) and e.monoid in ("max", "min") for side in sides for e in walk(side))
        for draw, positive in enumerate(POSITIVE):
            rng = np.random.default_rng(draw)
            values = {name: _elements(leaves[name], positive, rng) for name in sorted(leaves)}
            a, b = (_worked_out(side, place, values, extrema) for side in sides)
            both = np.isfinite(a) & np.isfinite(b)
            a, b = a[both], b[both]
            far = abs(a - b) > TOLERANCE * (1 + np.maximum(abs(a), abs(b)))
            apart, alike = apart + int(far.sum()), alike + int((~far).sum())
            if (draw and 0 in (apart, alike)) or abs(apart - alike) >= DECIDED:
                break
    except Unsupported:
        return False
    return apart > alike


def _worked_out(expr: Expr, place: Index, values: Mapping[str, Array], extrema: bool) -> Array:
    """Its values at the places, nan where it has none."""
    grid = _AtRandom(values, extrema).run(expr, (place,))
    return np.where(False if grid.undefined is None else grid.undefined, np.nan, grid.array.astype(np.float64))


def _elements(source: Leaf, positive: bool, rng: np.random.Generator) -> Array:
    """Random elements of a leaf."""
    shape = tuple(map(_number, source.shape))
    if prod(shape) > CELLS:
        raise Unsupported(f"{source.name} is too large")
    if source.kind == "real":
        drawn = SCALE * rng.standard_normal(shape)
        return np.asarray(abs(drawn) if positive else drawn)
    if source.kind == "bool":
        return rng.random(shape) < 0.5
    low, high = map(_number, source.bounds or (0, 1))
    return rng.integers(low, max(low, high) + 1, shape)


def _number(size: Any) -> int:
    if not isinstance(size, int):
        raise Unsupported("a size is no number")
    return size


class _AtRandom(Evaluation):
    """An evaluation in which opaque operators are random maps. Beside `extrema`, where one stands is no random place,
    as what stands there is known."""

    def __init__(self, values: Mapping[str, Array], extrema: bool) -> None:
        super().__init__(values, {}, None, CELLS)
        self.extrema = extrema

    def apply(self, e: Opaque, grids: list[Grid]) -> Grid:
        """sin(Σ weight · argument + Σ weight · index), weights drawn for the operator and its attributes; what is known
        of matrices is worked out."""
        if e.name in OF_MATRICES:
            return super().apply(e, grids)
        arguments, indices = grids[: len(e.arguments)], grids[len(e.arguments) :]
        if self.extrema and e.name in PLACES_OF_EXTREMA and not indices:
            return self.first_place(PLACES_OF_EXTREMA[e.name], arguments[0], e.arguments[0].bound)
        name, turned = f"{e.name} {e.attributes!r}", turned_round(e.name, e.attributes)
        if turned is not None:
            other = "{} {!r}".format(*turned)
            arguments = [self.in_order(arguments[0], e.arguments[0].bound, -1 if other < name else 1)]
            name = min(name, other)
        rng = np.random.default_rng(zlib.crc32(name.encode()))
        angles = [self.projected(g, f.bound, rng) for f, g in zip(e.arguments, arguments, strict=True)]
        turn = GOLDEN if e.result_kind == "int" else 0          # the places of the first and second mostly differ
        speeds = (rng.uniform(*FAST) for _ in indices)
        angles += [Grid(g.axes, g.array * (round(speed) + turn if turn else speed), g.undefined)
                   for g, speed in zip(indices, speeds, strict=True)]
        most = prod(map(self.extent, e.arguments[0].bound)) if e.arguments else 1
        start = np.asarray(rng.uniform(1, 2))

        def picked(*parts: Array) -> Array:
            angle = sum(parts, start)
            if e.result_kind == "int":                      # a position in the first argument, if anything
                return np.asarray(angle % 1 * most).astype(np.int64)
            return np.asarray(np.sin(angle) > 0 if e.result_kind == "bool" else 3 * np.sin(angle))

        return self.pointwise(picked, angles)

    def first_place(self, sign: int, grid: Grid, bound: tuple[Index, ...]) -> Grid:
        """Where the largest of a row stands (sign 1), or the smallest; the first one of equal ones."""
        outer = tuple(axis for axis in grid.axes if axis not in bound)
        whole = self.spread(grid, outer + bound)
        flat = (sign * whole.array.astype(np.float64)).reshape(*whole.array.shape[: len(outer)], -1)
        if not flat.shape[-1]:
            raise Unsupported("where the largest of nothing stands")
        undefined = None if whole.undefined is None else np.asarray(whole.undefined.reshape(flat.shape).any(-1))
        return Grid.of(outer, flat.argmax(-1).astype(np.int64), [undefined])

    def in_order(self, grid: Grid, bound: tuple[Index, ...], sign: int) -> Grid:
        """A row as its order is told: the same for one that is shifted or stretched, turned round where sign is −1."""
        outer = tuple(axis for axis in grid.axes if axis not in bound)
        whole = self.spread(grid, outer + bound)
        over = tuple(range(len(outer), whole.array.ndim))
        held = np.where(np.isneginf(row := whole.array.astype(np.float64)), np.nan, row)
        with warnings.catch_warnings(action="ignore"):           # of a row that is −∞ throughout
            middle, wide = np.nanmean(held, over, keepdims=True), np.nanstd(held, over, keepdims=True)
        unit = np.where(wide > LEVEL * (1 + abs(middle)), wide, 1)
        return Grid(whole.axes, np.where(np.isneginf(row), row, sign * (held - middle) / unit), whole.undefined)

    def projected(self, grid: Grid, bound: tuple[Index, ...], rng: np.random.Generator) -> Grid:
        """Σ weight · element over a whole argument."""
        outer = tuple(axis for axis in grid.axes if axis not in bound)
        whole = self.spread(grid, outer + bound)
        weights = rng.uniform(*FAST, whole.array.shape[len(outer) :])
        over = tuple(range(len(outer), whole.array.ndim))
        read = np.where(np.isneginf(whole.array.astype(np.float64)), BELOW, whole.array)
        undefined = None if whole.undefined is None else np.asarray(whole.undefined.any(over))
        return Grid.of(outer, (read * weights).sum(over), [undefined])
