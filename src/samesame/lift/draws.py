"""What a wrong kernel is tried on: sizes around its tiles' ends, and numbers at the ends of what tensors hold.

A kernel that drops the last tile is right wherever there is none, and one that divides as C does is right for numbers
above zero: random numbers at the example's sizes show neither. So each size in turn is one less, as long and one more
than the numbers that the launch has (its tiles), and small, as far as the conditions allow that are printed with the
verdict. Integers come from the ends of their dtype and from both sides of zero, or from the range that is needed of
them; floats include ties and zeros, where they may be so. All of it is drawn from seeds, the same each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import prod
from typing import Any

import numpy as np

from samesame.formula.definite import AboveZero
from samesame.formula.expr import Expr, Load, const, walk
from samesame.formula.sizes import value_at
from samesame.formula.tensor import Dim, Tensor
from samesame.kernels.concrete import holds
from samesame.kernels.launch import with_sizes
from samesame.kernels.stated import Sum

SMALL = (2, 3, 5)
MOST_ELEMENTS = 1 << 18  # of all sizes multiplied, that are tried
MOST_TILE = 1 << 11
SEEDS = 4
ENDS = ((1, 1), (0.5, 1), (2, 1), (1, 0), (1, -1))  # of tiles: how many, and how many elements more
PLACES = 1 << 16            # of a range from which distinct integers are drawn
FEW = np.array([-2, -1, -1, 0, 1, 2, 3, 7])


@dataclass(frozen=True)
class Held:
    """What integers of a tensor lie in: low ≤ element ≤ high, or one of `but`; `distinct`, or those of them which stand
    in a sign to a bound, `among`; or each no less than the one before."""

    low: Any
    high: Any
    but: tuple[int, ...] = ()
    distinct: bool = False
    among: tuple[str, Dim] | None = None
    ascending: bool = False

    def at(self, sizes: Mapping[str, Dim]) -> Held:
        """The same with others in place of some sizes."""
        low, high = (with_sizes(const(end), sizes) for end in (self.low, self.high))
        return replace(self, low=low, high=high)


def sizes_to_try(
    example: Mapping[str, int], conditions: Sequence[Expr], tiles: Sequence[int], capped: bool = False
) -> Iterator[dict[str, int]]:
    """The example's sizes, then others under which the conditions hold. `capped`: nothing is known of what a tile can
    hold, so a size that fits one in the example stays in it."""
    yield dict(example)
    room = {name: min((t for t in tiles if t >= n), default=MOST_TILE) for name, n in example.items()}
    most = room if capped else dict.fromkeys(example, MOST_TILE)
    seen = [dict(example)]
    for others in (dict.fromkeys(example, 3), dict(example), dict.fromkeys(example, 5)):
        for at_one in zip_longest(*(lengths(n, tiles) for n in example.values())):
            for name, n in zip(example, at_one, strict=True):
                sizes = {**others, name: n}
                fits = n is not None and all(2 <= k <= most[each] for each, k in sizes.items())
                if fits and sizes not in seen and prod(sizes.values()) <= MOST_ELEMENTS and holds(conditions, sizes):
                    seen.append(sizes)
                    yield sizes


def lengths(own: int, tiles: Sequence[int]) -> Iterator[int]:
    """Lengths that a size may have: small ones and such at the ends of tiles in turns, first those that leave a little
    for one more tile, and the shortest that a tile is chosen for as the next power of two; and its own, more or less
    one."""
    known = sorted({tile for tile in tiles if 1 < tile <= MOST_TILE})
    ends = [int(times * tile) + more for times, more in ENDS for tile in known]
    yield from (n for pair in zip_longest(SMALL, ends) for n in pair if n is not None)
    yield from (own - 1, own + 1)


def has_zeros(seed: int) -> bool:
    """Whether floats of this draw are a few numbers, of which some are equal and some zero."""
    return seed % 2 == 1


def drawn(
    tensors: Sequence[Tensor],
    sizes: Mapping[str, int],
    seed: int,
    data: Mapping[str, Held],
    dtypes: Mapping[str, str],
    sums: Sequence[Sum] = (),
) -> dict[str, Any]:
    """Numbers for every leaf of some formulas; `dtypes` by name, where a tensor of the launch is one."""
    random = np.random.default_rng(seed)
    loads = {e for t in tensors for e in walk(t.element()[1]) if isinstance(e, Load)}
    used = {e.leaf.name for load in loads for i in load.indices for e in walk(i) if isinstance(e, Load)}
    found: dict[str, Any] = {}
    for leaf in sorted({load.leaf for load in loads}, key=lambda x: x.name):
        shape = [value_at(n, sizes) for n in leaf.shape]
        if leaf.kind == "real":
            found[leaf.name] = reals(random, shape, seed, isinstance(leaf, AboveZero))
        elif leaf.kind == "bool":
            found[leaf.name] = random.random(shape) < 0.5
        else:
            within = data.get(leaf.name) or (Held(*leaf.bounds) if leaf.bounds is not None else None)
            within = within or (Held(0, 7) if leaf.name in used else None)
            found[leaf.name] = integers(random, shape, sizes, seed, within, dtypes.get(leaf.name, "int32"))
    for one in sums:
        if one.times.keys() <= found.keys():
            found |= one.kept(found, sizes)
    return found


def reals(random: Any, shape: Sequence[int], seed: int, above_zero: bool) -> np.ndarray:
    """Floats of both signs, or above zero."""
    if has_zeros(seed):
        few: np.ndarray = random.choice(FEW[FEW > 0] if above_zero else FEW, shape)
        return few / 2
    found: np.ndarray = random.gamma(2, 0.5, shape) if above_zero else random.standard_normal(shape)
    return found


def integers(
    random: Any, shape: Sequence[int], sizes: Mapping[str, int], seed: int, within: Held | None, dtype: str
) -> np.ndarray:
    """Integers in a range; else from both sides of zero, and from the ends of a short dtype."""
    if within is not None:
        low, high = (value_at(end, sizes) for end in (within.low, within.high))
        count = prod(shape)
        if within.distinct and count <= high - low + 1:
            near = min(high - low + 1, max(count, PLACES))         # a range may have no end
            places: np.ndarray = random.permutation(near)[:count].reshape(shape)
            return from_end_to_end(low + places, low, high) if within.ascending else low + places
        inside = random.integers(low, max(high, low) + 1, shape)
        others = random.choice(np.array(within.but or (low,)), shape)
        found: np.ndarray = np.where((random.random(shape) < 0.25) if within.but else False, others, inside)
        return from_end_to_end(found, low, high) if within.ascending else found
    ends = np.iinfo(dtype) if np.dtype(dtype).itemsize <= 2 else None
    low, high = (int(ends.min), int(ends.max)) if ends is not None else (0 if dtype.startswith("u") else -999, 999)
    extreme = random.choice(np.array([low, low + 1, (low + high) // 2, (low + high) // 2 + 1, high - 1, high]), shape)
    near = random.integers(max(low, -7), 8, shape)
    return np.where(random.random(shape) < (0.5 if has_zeros(seed) else 0.25), extreme, near)


def from_end_to_end(numbers: np.ndarray, low: int, high: int) -> np.ndarray:
    """Numbers in order, as of where rows begin, from the least to the greatest: what two programs make of rows before
    the first one, or behind the last, is nothing that a difference is looked for in."""
    found = np.sort(numbers, axis=None)
    found[:1], found[-1:] = low, high
    return found.reshape(numbers.shape)
