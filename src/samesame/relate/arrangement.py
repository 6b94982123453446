"""Arrangements: how one tensor's elements sit in others, read off from the places where the others hold them.

Engines pack weights in more ways than one can list: the rows of a fused matrix by head and then by q, k and v, experts
stacked in stacks, gates in another order, kernels flipped. What they share is that a packed tensor is cut into few
pieces, and that in each of these the place of an element in the other tensor is a sum of steps, one for each digit of
its own place. So places come first: each line of the tensor along one dimension (each element, at last) is looked up
among the lines of the others, by a number that is made of its bits. Then they are described: a block whose
places are such sums, all in one tensor, is a reshape, a slice and a permutation of it; another block is cut along a
dimension, or along one digit of it, where the steps change, or where such sums end. Where that takes many pieces, it is
no layout.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

import torch

from samesame.relate.kinds import widened
from samesame.relate.layout import Concat, Flip, Layout, Reshape, Slice, Whole, permuted, values, wholes

_MORE = 7                   # more pieces than tensors are tried: one, two, four, and so often twice as many
_BLOCKS = 1000              # that are looked at for one tensor
_TELLING, _LINES = 4, 3     # numbers that tell a line from all others; lines in a piece, where there are fewer in each
_ELEMENTS = 1 << 22         # of all others together, where they are looked up one by one
_REPEATED = 64              # copies of one tensor in another
_ALIKE = 1 << 12            # lines of which there are several, and the right one is told by its neighbours
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor whose lines along one dimension (None: whose elements) have the numbers from `start` on."""

    name: str
    shape: Shape
    along: int | None
    start: int

    @property
    def rest(self) -> Shape:
        """The sizes of the other dimensions."""
        return tuple(size for d, size in enumerate(self.shape) if d != self.along)


@dataclass(frozen=True, slots=True)
class _Places:
    """Lines of all tensors: their keys in order, the number of each, and the tensors by where their numbers start."""

    keys: torch.Tensor
    numbers: torch.Tensor
    held: tuple[Held, ...]
    starts: torch.Tensor


class Arrangements:
    """Tensors by name, their names by widest dtype, and what others are made of them."""

    def __init__(self, held: Mapping[str, torch.Tensor], kinds: Mapping[torch.dtype, Sequence[str]]) -> None:
        self.held, self.kinds = held, kinds
        self.known: dict[tuple[torch.dtype, int], _Places | None] = {}

    def of(self, value: torch.Tensor, *, repeated: bool = False) -> Iterator[Layout]:
        """Layouts with this value; `repeated`, also such as take an element several times."""
        if value.is_complex() or not value.numel():
            return
        lines = [dim for dim in reversed(range(value.dim())) if value.shape[dim] > 1 and value.dim() > 1]
        whole = not value.is_floating_point() or bool((value == value.round()).all())
        for along in lines if whole else [*lines, None]:         # single whole numbers occur everywhere
            size = 1 if along is None else value.shape[along]
            places = self.places(value.dtype, size)
            numbers = None if places is None else _looked_up(_keys(value, along), places)
            if places is None or numbers is None or not (repeated or len(torch.unique(numbers)) == numbers.numel()):
                continue
            found = _Description(places, () if along is None else (size,)).of(numbers)
            if found is None:
                continue
            few = size < _TELLING and len(torch.unique(numbers)) < _LINES * len(wholes(found))
            if few and not (along is None and self.puts_together(found, value, places)):
                continue                                             # single numbers occur by chance
            if along is not None:
                order = list(range(value.dim() - 1))
                order.insert(along, value.dim() - 1)
                found = permuted(found, tuple(order))
            if torch.equal(values(found, lambda name: widened(self.held[name])), value):
                yield found

    def puts_together(self, layout: Layout, value: torch.Tensor, places: _Places) -> bool:
        """Whether a tensor of several numbers is made of all the numbers of a few tensors, and of no others, where no
        other tensor has any of these: scalars put into one vector."""
        names, keys = wholes(layout), _keys(value, None).flatten()
        every = len(set(names)) == len(names) and sum(self.held[name].numel() for name in names) == len(keys)
        return every and 1 < len(keys) == len(torch.unique(keys)) == int(torch.isin(places.keys, keys).sum())

    def places(self, dtype: torch.dtype, size: int) -> _Places | None:
        """The lines of this many elements; elements where that is one. None where there are none, or too many."""
        if (dtype, size) not in self.known:
            self.known[dtype, size] = self.listed(dtype, size)
        return self.known[dtype, size]

    def listed(self, dtype: torch.dtype, size: int) -> _Places | None:
        tensors = [(name, self.held[name]) for name in self.kinds.get(dtype, ()) if self.held[name].numel()]
        if size == 1 and sum(tensor.numel() for _, tensor in tensors) > _ELEMENTS:
            return None
        held, keys, start = list[Held](), list[torch.Tensor](), 0
        for name, tensor in tensors:
            lines = [d for d, n in enumerate(tensor.shape) if n == size and tensor.dim() > 1]
            for along in [None] if size == 1 else lines:
                held.append(Held(name, tuple(tensor.shape), along, start))
                keys.append(_keys(widened(tensor), along).flatten())
                start += keys[-1].numel()
        if not held:
            return None
        together, numbers = torch.sort(torch.cat(keys), stable=True)
        return _Places(together, numbers, tuple(held), torch.tensor([one.start for one in held]))


def taken_from(name: str, shape: Shape, places: torch.Tensor) -> Layout | None:
    """The layout that takes from a tensor of this shape the elements at these places, counted row by row; None where
    they are no sums of steps."""
    one = Held(name, shape, None, 0)
    nothing = places.new_empty(0)
    return _Description(_Places(nothing, nothing, (one,), places.new_zeros(1)), ()).lattice(places, one)


def in_common(mine: Sequence[torch.Tensor], yours: Sequence[torch.Tensor]) -> float:
    """The share of the numbers of the side with fewer of them that the other has, too; of the first millions."""
    few, many = sorted((torch.cat([widened(tensor).flatten() for tensor in _first(side)]) for side in (mine, yours)),
                       key=len)
    return float(torch.isin(few, many).double().mean()) if len(few) else 0.0


def _first(tensors: Sequence[torch.Tensor]) -> Iterator[torch.Tensor]:
    """Tensors, as long as they are not too many elements."""
    left = _ELEMENTS
    for tensor in tensors:
        yield tensor.flatten()[: max(0, left)]
        left -= tensor.numel()


def _keys(value: torch.Tensor, along: int | None) -> torch.Tensor:
    """A number for each line of a tensor along a dimension, or for each element, made of the bits: equal for equal
    ones, and hardly ever for others. The bits are mixed first, as those of a wide tensor may all be high ones."""
    real = value.dtype == torch.float64
    bits = (value + 0.0).view(torch.int64) if real else value.to(torch.int64, copy=True)         # −0 is 0
    if along is None:
        return bits
    for shift in (32, 16):
        bits ^= (bits >> shift) & ((1 << (64 - shift)) - 1)
    size = value.shape[along]
    weights = torch.randint(-(2**62), 2**62, (size,), generator=torch.Generator().manual_seed(size))
    return bits.mul_(weights.reshape([size if d == along else 1 for d in range(value.dim())])).sum(along)


def _looked_up(keys: torch.Tensor, places: _Places) -> torch.Tensor | None:
    """The number of each line, of several that are equal the one that its neighbours tell, or the first; None where
    one is nowhere."""
    at = torch.searchsorted(places.keys, keys.contiguous()).clamp(max=len(places.keys) - 1)
    if not torch.equal(places.keys[at], keys):
        return None
    numbers = places.numbers[at]
    after = torch.searchsorted(places.keys, keys.contiguous(), right=True)
    alike = after - at > 1
    return _in_steps(numbers, keys, alike, places) if 0 < int(alike.sum()) <= _ALIKE else numbers


def _in_steps(numbers: torch.Tensor, keys: torch.Tensor, alike: torch.Tensor, places: _Places) -> torch.Tensor:
    """The numbers of lines, where those of which others are `alike` (a row of zeros) go on with the steps of the two
    before or after them, if they can."""
    of_number = torch.empty_like(places.keys)
    of_number[places.numbers] = places.keys
    found, wanted, open_ = numbers.flatten().tolist(), keys.flatten().tolist(), alike.flatten().tolist()
    unsure = [k for k, again in enumerate(open_) if again]
    for step, order in ((-1, unsure), (1, reversed(unsure))):
        for k in order:
            one, two = k + step, k + 2 * step
            if not open_[k] or not 0 <= min(one, two) <= max(one, two) < len(found) or open_[one] or open_[two]:
                continue
            guess = 2 * found[one] - found[two]
            if 0 <= guess < len(of_number) and int(of_number[guess]) == wanted[k]:
                found[k], open_[k] = guess, False
    return torch.tensor(found).reshape(numbers.shape)


class _Description:
    """Numbers of lines as a layout; each line has the shape `line`, which comes last."""

    def __init__(self, places: _Places, line: Shape) -> None:
        self.places, self.line, self.left = places, line, _BLOCKS

    def of(self, numbers: torch.Tensor) -> Layout | None:
        """The layout in the fewest pieces, or nearly so, of the shape of `numbers`, and a line."""
        least = len(torch.unique(self.tensors(numbers)))
        for more in (0, *(1 << k for k in range(_MORE))):
            found = self.block(numbers, least + more)
            if found is not None:
                return found
        return None

    def tensors(self, numbers: torch.Tensor) -> torch.Tensor:
        """Which tensor each line is of."""
        return torch.searchsorted(self.places.starts, numbers.contiguous(), right=True) - 1

    def block(self, numbers: torch.Tensor, most: int) -> Layout | None:
        """A layout in so many pieces at the most."""
        self.left -= 1
        which = self.tensors(numbers)
        if bool((which == which.flatten()[0]).all()):
            held = self.places.held[int(which.flatten()[0])]
            found = self.lattice(numbers - held.start, held)
            if found is not None:
                return found
        for dim, times, cuts in sorted(_cuts(numbers, which, most), key=lambda row: (len(row[2]), row[1])):
            found = self.cut(numbers, dim, times, cuts, most) if self.left > 0 else None
            if found is not None:
                return found
        return None

    def cut(self, numbers: torch.Tensor, dim: int, times: int, cuts: list[int], most: int) -> Layout | None:
        """The block in pieces along a dimension, or along what is inside of each of so many `times` along it."""
        shape = tuple(numbers.shape)
        split = (*shape[:dim], times, shape[dim] // times, *shape[dim + 1 :]) if times > 1 else shape
        inner = dim + (times > 1)
        blocks = [numbers.reshape(split).narrow(inner, start, stop - start)
                  for start, stop in pairwise((0, *cuts, split[inner]))]
        least = [len(torch.unique(self.tensors(block))) for block in blocks]
        spare, parts = most - sum(least), list[Layout]()
        for block, own in zip(blocks, least, strict=True):
            part = self.block(block, own + spare) if spare >= 0 else None
            if part is None:
                return None
            spare -= len(wholes(part)) - own
            parts.append(part)
        return _reshaped(Concat(tuple(parts), inner), (*split, *self.line), (*shape, *self.line))

    def lattice(self, numbers: torch.Tensor, held: Held) -> Layout | None:
        """The block as a reshape, slices and a permutation of one tensor, if its places are sums of steps."""
        first, shape = int(numbers.flatten()[0]), tuple(numbers.shape)
        digits, total = list[tuple[int, int]](), torch.full(shape, first)
        for d, size in enumerate(shape):
            steps = numbers[tuple(slice(None) if e == d else 0 for e in range(len(shape)))] - first
            total = total + steps.reshape([size if e == d else 1 for e in range(len(shape))])
            found = _digits(steps)
            if found is None:
                return None
            digits += found
        if not torch.equal(total, numbers):
            return None
        back = tuple(k for k, (_, step) in enumerate(digits) if step < 0)
        upward = [(size, abs(step)) for size, step in digits]
        return self.moved(held, first + sum((digits[k][0] - 1) * digits[k][1] for k in back), upward, back, shape)

    def moved(
        self, held: Held, first: int, digits: list[tuple[int, int]], back: Shape, shape: Shape
    ) -> Layout | None:
        """The tensor in as many dimensions as there are digits, cut where the first line is; then these are put in
        their order, and those that run `back` are flipped. Of one dimension that is no multiple of the largest step
        only the run is taken that the digits go through."""
        order = sorted((k for k, (_, step) in enumerate(digits) if step), key=lambda k: -digits[k][1])
        sizes, starts, before, at = list[int](), list[int](), prod(held.rest), first
        span = prod(digits[order[0]]) if order else before
        run = len(held.rest) == 1 and bool(order) and before % digits[order[0]][1] > 0 and first + span <= before
        before, at = (span, 0) if run else (before, at)
        for step in (*(digits[k][1] for k in order), 1):
            if before % step:
                return None
            sizes.append(before // step)
            starts.append(at // step)
            before, at = step, at % step
        counts = [*(digits[k][0] for k in order), 1]
        if any(start + count > size for start, count, size in zip(starts, counts, sizes, strict=True)):
            return None
        rank = len(held.shape)
        lines_last = tuple(d for d in range(rank) if d != held.along) + (() if held.along is None else (held.along,))
        part = permuted(Whole(held.name), lines_last)
        if sizes[-1] == 1:                               # the last step is one: nothing is left to cut
            sizes, counts = sizes[:-1], counts[:-1]
        part = Slice(part, 0, first, first + span) if run else part
        part = _reshaped(part, (*((span,) if run else held.rest), *self.line), (*sizes, *self.line))
        for d, (start, count, size) in enumerate(zip(starts, counts, sizes, strict=False)):
            part = part if count == size else Slice(part, d, start, start + count)
        if len(counts) > len(order):
            part = _reshaped(part, (*counts, *self.line), (*counts[: len(order)], *self.line))
        return self.turned(part, order, digits, back, shape)

    def turned(
        self, part: Layout, order: list[int], digits: list[tuple[int, int]], back: Shape, shape: Shape
    ) -> Layout | None:
        """A part whose dimensions are digits by the size of their steps, with each digit in its own place, and those
        without a step as copies."""
        own = sorted(order)
        dims = (*(order.index(k) for k in own), *range(len(order), len(order) + len(self.line)))
        part = permuted(part, dims)
        now = tuple(digits[k][0] if k in own else 1 for k in range(len(digits)))
        part = _reshaped(part, (*(digits[k][0] for k in own), *self.line), (*now, *self.line))
        part = Flip(part, back) if back else part
        for k, (size, step) in enumerate(digits):
            if not step:
                if size > _REPEATED:
                    return None
                part = Concat((part,) * size, k)
        return _reshaped(part, (*(size for size, _ in digits), *self.line), (*shape, *self.line))


def _reshaped(part: Layout, old: Shape, new: Shape) -> Layout:
    """The part of one shape in another, in one step."""
    if old == new:
        return part
    return Reshape(part.part if isinstance(part, Reshape) else part, new)


def _digits(steps: torch.Tensor) -> list[tuple[int, int]] | None:
    """Sizes and steps, the largest first, of which the places along a dimension are sums; None where they are not."""
    found: list[tuple[int, int]] = []
    while len(steps) > 1:
        step = int(steps[1])
        apart = torch.nonzero(steps != torch.arange(len(steps)) * step).flatten()
        size = int(apart[0]) if len(apart) else len(steps)
        if len(steps) % size:
            return None
        outer = steps[::size]
        if not torch.equal(outer[:, None] + torch.arange(size) * step, steps.reshape(-1, size)):
            return None
        found.append((size, step))
        steps = outer
    return found[::-1]


def _cuts(numbers: torch.Tensor, which: torch.Tensor, most: int) -> Iterator[tuple[int, int, list[int]]]:
    """Ways to cut a block: the dimension, how many times the same lies along it, and where what lies there changes
    its tensor (what is in order in it may have many steps), or its step or its tensor; so many pieces at the most."""
    for dim, size in enumerate(numbers.shape):
        for times in (t for t in range(1, size // 2 + 1) if size % t == 0):
            split = numbers.movedim(dim, 0).reshape(times, size // times, -1)
            tensors = which.movedim(dim, 0).reshape(split.shape)
            steps = (split[:, 1:] - split[:, :-1]).transpose(0, 1).flatten(1)
            same = (tensors[:, 1:] == tensors[:, :-1]).all(2).all(0)
            same &= (steps == steps[:, :1]).all(1) & (steps[:, 0] != 0)
            usual = steps[same, 0].mode().values if bool(same.any()) else 0
            cuts = (torch.nonzero(~(same & (steps[:, 0] == usual))).flatten() + 1).tolist()
            between = (torch.nonzero((tensors[:, 1:] != tensors[:, :-1]).any(2).any(0)).flatten() + 1).tolist()
            yield from ((dim, times, found) for found in ([cuts] if cuts == between else [between, cuts])
                        if 0 < len(found) < most)
        line, of = (part.movedim(dim, 0).reshape(size, -1)[:, 0] for part in (numbers, which))
        if most > 1:
            front, back = _in_digits(line, of), _in_digits(line.flip(0), of.flip(0))
            yield from ((dim, 1, [cut]) for cut in (size - back, front) if 0 < cut < size)


def _in_digits(line: torch.Tensor, which: torch.Tensor) -> int:
    """How many lines from the first on are in one tensor, at places that are sums of steps of several digits; 0 where
    that is one digit."""
    other = torch.nonzero(which != which[0]).flatten()
    line = line[: int(other[0])] if len(other) else line
    long, digits, more = 1, 0, 2
    while more > 1 and len(line) // long > 1:
        groups = line[: len(line) // long * long].reshape(-1, long)
        steps = torch.arange(len(groups)) * (groups[1, 0] - groups[0, 0])
        another = torch.nonzero((groups != groups[0] + steps[:, None]).any(1)).flatten()
        more = int(another[0]) if len(another) else len(groups)
        long, digits = long * more, digits + (more > 1)
    return long if digits > 1 else 0
