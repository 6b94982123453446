"""What a kernel's names hold: blocks of numbers, and blocks of pointers.

A block is a function from lane indices to a formula, as every tensor is in this project. A pointer is the argument it
came from and how many elements behind it; all lanes of a block of pointers point into the same argument.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import Any

from samesame.evidence import Refused
from samesame.formula.definite import Unknown, is_undefined
from samesame.formula.expr import NEG_INF as MINUS_INFINITY
from samesame.formula.expr import (
    ZERO,
    Add,
    Expr,
    Extremum,
    FloorDiv,
    Fold,
    Lambda,
    Leaf,
    Load,
    Mod,
    Mul,
    NegInf,
    Not,
    Num,
    Opaque,
    Pow,
    Where,
    const,
    not_,
    substitute,
    walk,
    where,
)
from samesame.formula.infinite import PLUS_INFINITY
from samesame.formula.tensor import Tensor, tensor
from samesame.kernels.execution.ttir import Place
from samesame.kernels.indices import integers
from samesame.kernels.launch import PLACE, Memory
from samesame.operators.numbers import LOWEST, constant

ADDRESS = 64  # bits of an address; integers as long as that are taken to fit


@dataclass(frozen=True)
class Demand:
    """What must hold where memory is accessed; `otherwise` says what is wrong if it does not."""

    condition: Expr
    otherwise: str


@dataclass(frozen=True, eq=False)
class Step:
    """A number of fewer bits than an address, as it was added to a pointer: it must not have wrapped around."""

    number: Tensor
    bits: int


@dataclass(frozen=True, eq=False)
class Pointers:
    """A block of pointers: `offsets` in elements behind the argument's first one.

    `parts` are the numbers that were added to make them. `bits`: the elements are taken as integers with the same
    bits. `demands`: what must hold where they are used.
    """

    memory: Memory
    offsets: Tensor
    parts: tuple[Step, ...] = ()
    bits: bool = False
    demands: tuple[Demand, ...] = ()

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.offsets.shape


@dataclass(frozen=True, eq=False)
class Chosen:
    """Pointers into one argument where a condition holds, and into another one where it does not."""

    condition: Tensor
    then: Pointers | Chosen
    otherwise: Pointers | Chosen

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.condition.shape

    def sides(self) -> tuple[tuple[Pointers | Chosen, Tensor], ...]:
        """Both sides, each with the block of conditions under which it is meant."""
        c = self.condition
        return (self.then, c), (self.otherwise, block(c.shape, lambda *i: not_(c[i]), "bool"))


@dataclass(frozen=True, eq=False)
class Descriptor:
    """A tensor in memory as the kernel describes it: where it begins, with what must hold for that, and how its
    elements lie. `padded`: what is read outside is 0, else undefined."""

    pointers: Pointers
    sizes: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    padded: bool

    @property
    def shape(self) -> tuple[Any, ...]:
        return ()


class Shuffled(Tensor):
    """A block whose elements may be in any order: only what does not depend on the order may read it."""

    __slots__ = ()


Value = Tensor | Pointers | Chosen | Descriptor


def block(shape: tuple[Any, ...], at: Callable[..., Any], kind: str) -> Tensor:
    return tensor(shape, at, kind)


def same_everywhere(value: Expr, shape: tuple[int, ...] = ()) -> Tensor:
    return Tensor(shape, lambda *_: value, value.kind)


def chosen(place: Place, condition: Expr, a: Value, b: Value) -> Value:
    """One value where a condition on the whole program holds, else another."""
    if a is b:
        return a
    if isinstance(condition, Not):
        return chosen(place, condition.argument, b, a)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return block(a.shape, lambda *i: where(condition, a[i], b[i]), a.kind)
    if not isinstance(a, Pointers | Chosen) or not isinstance(b, Pointers | Chosen):
        raise Refused(f"{place}: a pointer or a number, or one of two descriptors, as a condition decides")
    return pointers_chosen(same_everywhere(condition, a.shape), a, b)


def pointers_chosen(condition: Tensor, a: Pointers | Chosen, b: Pointers | Chosen) -> Pointers | Chosen:
    """Pointers by a block of conditions, or by one for all of them."""
    if not condition.shape:
        condition = same_everywhere(condition[()], a.shape)
    if isinstance(a, Chosen) or isinstance(b, Chosen) or (a.memory, a.bits) != (b.memory, b.bits):
        return Chosen(condition, a, b)
    offsets = block(a.shape, lambda *i: where(condition[i], a.offsets[i], b.offsets[i]), "int")
    return replace(a, offsets=offsets, parts=(*a.parts, *b.parts))


def element_at(memory: Memory, offset: Expr) -> Expr:
    """The element so far behind the pointer, memory seen as one line, as it is before the launch."""
    if memory.contents is None or memory.contents != memory.contents:
        return undefined(Place(memory.name), memory.kind, offset)
    if memory.contents in (inf, -inf):
        return PLUS_INFINITY if memory.contents == inf else MINUS_INFINITY
    if not isinstance(memory.contents, str):
        if memory.kind == "bool":
            return const(bool(memory.contents))
        return const(Fraction(memory.contents)) if memory.contents in LOWEST else constant(memory.contents)
    found = Load(line_of(memory), (offset,))
    if memory.shown is None:
        return found
    return where(integers.tidied(substitute(memory.shown, {PLACE: offset})), found, MINUS_INFINITY)


def line_of(memory: Memory) -> Leaf:
    """The argument's memory as a leaf of one dimension."""
    return memory.leaf(f"{memory.name}*", (1,))


def undefined(place: Place, kind: str, *where_: Expr) -> Expr:
    """A value that nobody knows: another one at each place and for each of the indices."""
    return Load(Unknown(undefined_at(place), (1,) * len(where_), kind), tuple(where_))


def undefined_at(place: Place | str) -> str:
    """What the unknown values of a line are called; no tensor has a name with a space in it."""
    return f"undefined {place}"


def place_of(leaf: Unknown) -> str:
    return leaf.name.removeprefix(undefined_at(""))


def undefined_in(expr: Expr) -> list[str]:
    """The places (file:line) whose undefined values occur."""
    return sorted({place_of(e.leaf) for e in walk(expr) if isinstance(e, Load) and isinstance(e.leaf, Unknown)})


def is_finite(expr: Expr) -> bool:
    """Whether neither an infinity nor an undefined value occurs."""
    return not any(isinstance(e, NegInf) or is_undefined(e) for e in walk(expr))


WRAPS = "bits."  # opaque integer functions whose results wrap around by design


@lru_cache(maxsize=1 << 14)
def wraps(expr: Expr) -> bool:
    """Whether an integer is computed from bits, so that sums of it wrap around on purpose. Bits that are only compared
    do not count: how many keys there are of a kind is a plain number."""
    match expr:
        case Opaque(name):
            return name.startswith(WRAPS)
        case Where(_, then, otherwise):
            return wraps(then) or wraps(otherwise)
        case Add(parts) | Mul(parts) | Extremum(_, parts):
            return any(map(wraps, parts))
        case FloorDiv(part, _) | Mod(part, _) | Pow(part, _) | Fold(_, _, part):
            return wraps(part)
    return False


def fits_by_design(expr: Expr, bits: int) -> bool:
    """Whether an integer is one that wraps around by design, in no more than so many bits. A sum of such is not."""
    match expr:
        case Opaque(name, width):
            return name.startswith(WRAPS) and isinstance(width, int) and width <= bits
        case Where(_, then, otherwise):
            return fits_by_design(then, bits) and fits_by_design(otherwise, bits)
        case Extremum(_, parts):
            return all(fits_by_design(part, bits) for part in parts)
        case Fold("max" | "min", _, part):
            return fits_by_design(part, bits)
        case Num(value):
            return -(1 << (bits - 1)) <= value < 1 << (bits - 1)
    return False


def of_bits(name: str, bits: int, *operands: Expr) -> Expr:
    """An operation on the bits of integers, of which nothing is known but that it is a function."""
    return Opaque(WRAPS + name, bits, (), tuple(map(const, operands)), "int")


def bits_of(x: Expr, bits: int) -> Expr:
    """The bits of a float as an integer; of −x, all but the first are those of x, and 0 has one sign."""
    return Opaque(WRAPS + "of", bits, (Lambda((), x),), (), "int")


def float_of(bits: Expr) -> Expr | None:
    """The float whose bits these are, if they are those of one."""
    if isinstance(bits, Opaque) and bits.name == WRAPS + "of":
        return bits.arguments[0].body
    return None


def address_of(pointers: Pointers) -> Tensor:
    """Where a pointer points, as a number of which nothing is known but that it is not 0."""
    made = Opaque(WRAPS + "address", pointers.memory.name, (), (pointers.offsets[()],), "int")
    return same_everywhere(made)


def is_address(expr: Expr) -> bool:
    return isinstance(expr, Opaque) and expr.name == WRAPS + "address"


def as_number(expr: Expr) -> Expr:
    return Where(expr, const(1), ZERO) if expr.kind == "bool" else expr
