"""A layout says how the elements of one tensor sit in others: reshape, permute, flip, slice, concat, and nothing else
(but a constant factor, where one is asked for: the gradient of one rank's mean is a multiple of its piece).

No arithmetic can hide in a layout, so "the right tensor is this layout of left tensors" is a relation people can
check by eye: `concat(q_proj.weight, k_proj.weight, v_proj.weight; 0)`. The tensors a layout speaks of are given by
name; what a name stands for (values, a formula, a node of a graph) is up to whoever reads the layout, through
`build`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import TypeVar

import torch

from samesame.formula.expr import Mul, Num, add, mul
from samesame.formula.sizes import canonical, size_text
from samesame.formula.tensor import Dim
from samesame.operators.execute import BYTES

Built = TypeVar("Built")


@dataclass(frozen=True, slots=True)
class Whole:
    """A tensor, by name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Reshape:
    part: Layout
    shape: tuple[Dim, ...]

    def __str__(self) -> str:
        return f"reshape({self.part}; {_sizes(self.shape)})"


@dataclass(frozen=True, slots=True)
class Permute:
    part: Layout
    dims: tuple[int, ...]

    def __str__(self) -> str:
        return f"permute({self.part}; {_sizes(self.dims)})"


@dataclass(frozen=True, slots=True)
class Slice:
    """Elements `start ≤ i < stop` of one dimension."""

    part: Layout
    dim: int
    start: int
    stop: int

    def __str__(self) -> str:
        return f"slice({self.part}; {self.dim}, {size_text(self.start)}:{size_text(self.stop)})"


@dataclass(frozen=True, slots=True)
class Flip:
    """Some dimensions from their other end."""

    part: Layout
    dims: tuple[int, ...]

    def __str__(self) -> str:
        return f"flip({self.part}; {_sizes(self.dims)})"


@dataclass(frozen=True, slots=True)
class Concat:
    parts: tuple[Layout, ...]
    dim: int

    def __str__(self) -> str:
        return f"concat({', '.join(map(str, self.parts))}; {self.dim})"


@dataclass(frozen=True, slots=True)
class Scaled:
    """A constant times the part: no layout proper, so it is always named where it occurs."""

    part: Layout
    factor: Fraction

    def __str__(self) -> str:
        return f"{self.factor}·{self.part}"


Layout = Whole | Reshape | Permute | Slice | Flip | Concat | Scaled


def _sizes(numbers: tuple[Dim, ...]) -> str:
    return "×".join(map(size_text, numbers)) if numbers else "()"


def build(layout: Layout, whole: Callable[[str], Built], apply: Callable[[str, tuple[object, ...]], Built]) -> Built:
    """Read a layout bottom-up: `whole(name)` for a tensor, `apply(operator, arguments)` for an aten operator over
    built parts."""
    match layout:
        case Whole(name):
            return whole(name)
        case Reshape(part, shape):
            return apply("aten.reshape.default", (build(part, whole, apply), shape))
        case Permute(part, dims):
            return apply("aten.permute.default", (build(part, whole, apply), dims))
        case Slice(part, dim, start, stop):
            return apply("aten.slice.Tensor", (build(part, whole, apply), dim, start, stop))
        case Flip(part, dims):
            return apply("aten.flip.default", (build(part, whole, apply), dims))
        case Concat(parts, dim):
            return apply("aten.cat.default", (tuple(build(part, whole, apply) for part in parts), dim))
        case Scaled(part, factor):
            built = build(part, whole, apply)
            built = built if factor.numerator == 1 else apply("aten.mul.Scalar", (built, factor.numerator))
            return built if factor.denominator == 1 else apply("aten.div.Scalar", (built, factor.denominator))


def wholes(layout: Layout) -> tuple[str, ...]:
    """The names of the tensors a layout speaks of, from left to right."""
    match layout:
        case Whole(name):
            return (name,)
        case Concat(parts, _):
            return tuple(name for part in parts for name in wholes(part))
        case _:
            return wholes(layout.part)


def cuts(layout: Layout) -> bool:
    """Is a piece of a tensor taken somewhere?"""
    match layout:
        case Whole():
            return False
        case Concat(parts, _):
            return any(map(cuts, parts))
    return isinstance(layout, Slice) or cuts(layout.part)


def without_factors(layout: Layout) -> Layout:
    """The layout that takes the same elements as they are."""
    match layout:
        case Whole():
            return layout
        case Concat(parts, dim):
            return Concat(tuple(map(without_factors, parts)), dim)
        case Scaled(part, _):
            return without_factors(part)
        case _:
            return replace(layout, part=without_factors(layout.part))


def renamed(layout: Layout, names: Sequence[str]) -> Layout:
    """The layout with these names in place of those it speaks of, from left to right."""
    left = iter(names)

    def put(part: Layout) -> Layout:
        match part:
            case Whole():
                return Whole(next(left))
            case Concat(parts, dim):
                return Concat(tuple(map(put, parts)), dim)
        return replace(part, part=put(part.part))

    return put(layout)


def values(layout: Layout, lookup: Callable[[str], torch.Tensor]) -> torch.Tensor:
    """The layout's tensor, given the values of the tensors it speaks of."""
    match layout:
        case Whole(name):
            return lookup(name)
        case Reshape(part, shape):
            return values(part, lookup).reshape(shape)  # type: ignore[arg-type]    # over numbers, here
        case Permute(part, dims):
            return values(part, lookup).permute(dims)
        case Slice(part, dim, start, stop):
            return values(part, lookup).narrow(dim, start, stop - start)
        case Flip(part, dims):
            return values(part, lookup).flip(dims)
        case Concat(parts, dim):
            return torch.cat([values(part, lookup) for part in parts], dim)
        case Scaled(part, factor):
            held = values(part, lookup)
            held = held.float() if held.dtype in BYTES else held           # torch does not multiply these
            return held * factor.numerator / factor.denominator


def share(layout: Layout, shape: tuple[Dim, ...]) -> Fraction:
    """How much of a tensor of this shape lies before the piece that the layout takes, as a share of the dimension it is
    cut from; 0 where nothing is cut, or sizes are symbols."""
    match layout:
        case Slice(part, dim, start, _):
            size = _shape(part, shape)[dim]
            return Fraction(start, size) if isinstance(size, int) and size else Fraction(0)
        case Reshape(part, _) | Permute(part, _) | Flip(part, _) | Scaled(part, _):
            return share(part, shape)
    return Fraction(0)


def _shape(layout: Layout, shape: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """The shape of a layout of one tensor of this shape."""
    match layout:
        case Reshape(_, new):
            return new
        case Permute(part, dims):
            inner = _shape(part, shape)
            return tuple(inner[d] for d in dims)
        case Slice(part, dim, start, stop):
            inner = _shape(part, shape)
            return (*inner[:dim], canonical(add(stop, mul(-1, start))), *inner[dim + 1 :])
        case Flip(part, _) | Scaled(part, _):
            return _shape(part, shape)
    return shape


def over_symbols(layout: Layout, mine: tuple[Dim, ...], yours: tuple[Dim, ...]) -> Layout | None:
    """The layout that `propose` found on values, for shapes over size symbols: of a tensor of shape `mine`, making one
    of shape `yours`. None where a shape on the way, such as of a piece, has numbers that may be sizes."""
    squeezed = tuple(size for size in yours if size != 1)
    match layout:
        case Reshape(Permute(Reshape(Whole() as whole, shape), dims), _):
            own = tuple(size for size in mine if size != 1)
            if len(shape) > max(len(own), len(squeezed)):
                digits = _in_digits(own, shape)
                return None if digits is None else Reshape(Permute(Reshape(whole, digits), dims), yours)
            if len(own) != len(shape) or len(own) < len(squeezed):
                own = tuple(squeezed[dims.index(d)] for d in range(len(dims)))
            return Reshape(Permute(Reshape(whole, own), dims), yours)
        case Permute(Reshape(Whole() as whole, _), dims) if len(dims) == len(yours):
            return Permute(Reshape(whole, tuple(yours[dims.index(d)] for d in range(len(dims)))), dims)
        case Reshape(part, _) if not _reshapes(part) or _plain(mine, yours):
            return Reshape(part, yours)
    return None if _reshapes(layout) and not _plain(mine, yours) else layout


def over_symbols_of(layout: Layout, shapes: Mapping[str, tuple[Dim, ...]], yours: tuple[Dim, ...]) -> Layout | None:
    """The same for tensors by name, of these shapes. Several of them side by side are whole there, or there are as many
    as the dimension has positions; where all sizes are numbers they are what they are."""
    if not isinstance(layout, Concat):
        return over_symbols(layout, shapes[wholes(layout)[0]], yours)
    if _plain(yours, *(shapes[name] for name in wholes(layout))):
        return layout
    parts, one = list[Layout](), (*yours[: layout.dim], 1, *yours[layout.dim + 1 :])
    for part in layout.parts:
        if not isinstance(part, Whole) and yours[layout.dim] != len(layout.parts):
            return None
        found = over_symbols_of(part, shapes, one)
        if found is None:
            return None
        parts.append(found)
    return Concat(tuple(parts), layout.dim)


def _in_digits(own: tuple[Dim, ...], digits: tuple[Dim, ...]) -> tuple[Dim, ...] | None:
    """The sizes of `own` in so many digits, of which each symbol is one, the first of those that its size is cut into;
    None where it would have to be cut itself."""
    if not own:
        return None if digits else ()
    for symbolic, number in _cuttings(own[0]):
        left = digits[len(symbolic) :] if len(symbolic) <= len(digits) else None
        taken = next((k for k in range(len(left) + 1) if prod(left[:k]) == number), None) if left is not None else None
        rest = _in_digits(own[1:], left[taken:]) if left is not None and taken is not None else None
        if left is not None and rest is not None:
            return (*symbolic, *left[:taken], *rest)
    return None


def _cuttings(size: Dim) -> Iterator[tuple[tuple[Dim, ...], int]]:
    """What of a size is a digit as it is, and the number that may be cut: of 4·B all of it, or B in front of 4."""
    if isinstance(size, int):
        yield (), size
        return
    yield (size,), 1
    match size:
        case Mul((Num(number), *others)) if number.denominator == 1:
            yield (mul(*others),), int(number)


def takes_all(layout: Layout) -> bool:
    """Is it one tensor, all of it, in some order?"""
    match layout:
        case Whole():
            return True
        case Reshape(part, _) | Permute(part, _) | Flip(part, _):
            return takes_all(part)
    return False


def _plain(*shapes: tuple[Dim, ...]) -> bool:
    return all(isinstance(size, int) for shape in shapes for size in shape)


def _reshapes(layout: Layout) -> bool:
    """Is there a reshape on the way?"""
    if isinstance(layout, Whole):
        return False
    parts = layout.parts if isinstance(layout, Concat) else (layout.part,)
    return isinstance(layout, Reshape) or any(map(_reshapes, parts))


def onto(layout: Layout, part: Layout) -> Layout:
    """The steps of a layout of one tensor, over `part` in its place."""
    match layout:
        case Whole():
            return part
        case Concat():
            raise ValueError(f"{layout} is of several tensors")
    return replace(layout, part=onto(layout.part, part))


def reshaped(part: Layout, old: tuple[int, ...], new: tuple[int, ...]) -> Layout:
    """`part` of shape `old` in shape `new`, without a step where the shapes are the same."""
    return part if old == new else Reshape(part, new)


def permuted(part: Layout, dims: tuple[int, ...]) -> Layout:
    """`part` with its dimensions in the order `dims`, without a step where that is their order already."""
    return part if dims == tuple(range(len(dims))) else Permute(part, dims)
