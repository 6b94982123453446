"""Reading: the numbers of a layout that was found on values, as sizes over symbols.

A layout such as `slice(w; 0, 9:18)` was found at sizes that tell roles apart: where every symbol has a value of its
own, 9 can be read as the size that it is there. The sizes to choose from are those of the two tensors, their factors,
and multiples of a piece's length. A reading is a proposal like the layout itself: the proof that follows holds it to
the shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product as choices
from math import gcd

from samesame.formula.expr import Add, Expr, Mul, Num, add, const, mul
from samesame.formula.sizes import canonical, replaced
from samesame.formula.tensor import Dim
from samesame.relate.layout import Concat, Layout, Permute, Reshape, Scaled, Slice, Whole

FACTORS = 6                                                # symbols in a product whose sub-products are looked at


def over_symbols(layout: Layout, mine: Sequence[Dim], yours: Sequence[Dim], sizes: Mapping[str, int]) -> Layout | None:
    """The layout of a tensor of shape `mine` that makes one of shape `yours`, found at these values of the symbols,
    with their sizes over symbols; None where a number is none of the sizes."""
    table: dict[int, Dim] = {}
    for size in (*yours, *mine):
        for part in (size, *_factors(size)):
            value = replaced(part, dict(sizes))
            if isinstance(value, int):
                table.setdefault(value, part)
    return _Reader(table, tuple(yours)).read(layout, tuple(yours))


def at(layout: Layout, sizes: Mapping[str, Dim]) -> Layout:
    """The layout with these sizes in place of symbols, by name; symbols without one stay."""
    match layout:
        case Whole():
            return layout
        case Concat(parts, dim):
            return Concat(tuple(at(part, sizes) for part in parts), dim)
        case Reshape(part, shape):
            return Reshape(at(part, sizes), tuple(replaced(size, sizes) for size in shape))
        case Slice(part, dim, start, stop):
            return Slice(at(part, sizes), dim, replaced(start, sizes), replaced(stop, sizes))    # type: ignore[arg-type]
        case Permute(part, _) | Scaled(part, _):
            return replace(layout, part=at(part, sizes))
    raise AssertionError(layout)


class _Reader:
    def __init__(self, table: Mapping[int, Dim], yours: tuple[Dim, ...]) -> None:
        self.table, self.yours = table, yours

    def read(self, layout: Layout, shape: tuple[Dim, ...] | None) -> Layout | None:
        """The layout, which makes a tensor of this shape if it is known."""
        match layout:
            case Whole():
                return layout
            case Scaled(part, factor):
                inner = self.read(part, shape)
                return None if inner is None else Scaled(inner, factor)
            case Permute(part, dims):
                before = None if shape is None else tuple(shape[dims.index(d)] for d in range(len(dims)))
                inner = self.read(part, before)
                return None if inner is None else Permute(inner, dims)
            case Reshape(part, numbers):
                wanted = shape if shape is not None and len(shape) == len(numbers) else self.sizes(numbers)
                inner = self.read(part, None)
                return None if inner is None or wanted is None else Reshape(inner, wanted)
            case Slice(part, d, start, stop):
                length = self.size(stop - start) if shape is None else shape[d]
                inner = self.read(part, None)
                low = None if length is None else self.start(start, stop - start, length)
                if inner is None or length is None or low is None:
                    return None
                return Slice(inner, d, low, canonical(add(low, length)))                     # type: ignore[arg-type]
            case Concat():
                return None
        raise AssertionError(layout)

    def sizes(self, numbers: Sequence[Dim]) -> tuple[Dim, ...] | None:
        found = [self.size(n) for n in numbers]
        known = tuple(size for size in found if size is not None)
        return known if len(known) == len(found) else None

    def size(self, number: Dim) -> Dim | None:
        if not isinstance(number, int):
            return number
        return number if number in (0, 1) else self.table.get(number)

    def start(self, start: int, number: int, length: Dim) -> Dim | None:
        """Where a piece starts: after as many pieces of its own length, else at one of the sizes."""
        if number and start % number == 0:
            return canonical(mul(start // number, length))
        return self.size(start)


def _factors(size: Dim) -> Iterator[Dim]:
    """What a product of symbols is made of: its sub-products, the greatest first."""
    parts = _atoms(size)
    if len(parts) > FACTORS:
        return
    for taken in sorted(choices((False, True), repeat=len(parts)), key=sum, reverse=True):
        chosen = [part for part, yes in zip(parts, taken, strict=True) if yes]
        if chosen and len(chosen) < len(parts):
            yield canonical(mul(*chosen))


def _atoms(size: Dim) -> list[Dim]:
    """The factors of a size; a sum has the common divisor of its coefficients for one."""
    match size:
        case Mul(factors):
            return [int(f.value) if isinstance(f, Num) else f for f in factors]
        case Add(terms):
            shared = gcd(*(_coefficient(term) for term in terms))
            if shared > 1:
                return [shared, canonical(add(*(_divided(term, shared) for term in terms)))]
    return [size]


def _coefficient(term: Expr) -> int:
    match term:
        case Num(value):
            return int(value)
        case Mul((Num(value), *_)):
            return int(value)
    return 1


def _divided(term: Expr, by: int) -> Expr:
    match term:
        case Num(value):
            return const(int(value) // by)
        case Mul((Num(value), *rest)):
            return mul(int(value) // by, *rest)
    raise AssertionError(term)
