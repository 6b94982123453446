"""The grammar of kernels: loop nests over symbols, all in this file.

A program is a list of kernels; a kernel is a loop nest that reads tensors and writes tensors. Lengths of dimensions and
of tiles are symbols (`formula.Size`), so that one program stands for a family of them: it is proved once, for every
tile size (`meaning.py`), and numbers are put in afterwards (`bound`), when code is printed from it. Indices, conditions
and values are expressions of `formula/expr.py`, in which an element of a buffer is a `Load`.

    loop(parallel, t < ⌈N/T⌉)                       the grid: dimension n is split into tiles, which run in parallel
        local acc[T] (sum)                          an accumulator with a monoid; every element begins as its identity
        loop(serial, k < K)
            loop(vector, i < T)
                where(t·T + i < N)                  the ragged end
                    acc[i] += x[k]·w[t·T + i, k]
        loop(vector, i < T)
            where(t·T + i < N)
                y[t·T + i] = acc[i]

A dimension is *parallel*, *serial*, *vector* (lanes of a register) or *unrolled* by the kind of its loops,
*replicated* where a parallel loop does not index what is computed in it, and split-K where the partial results of a
parallel loop are stored side by side and folded by a later kernel. A running maximum may change while sums that are
scaled by it are under way: `Rescaled` multiplies these by exp(before − after), all that an online softmax needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, cast

import torch

from samesame.formula.expr import (
    Expr,
    Fold,
    Index,
    Lambda,
    Leaf,
    Load,
    Mul,
    Opaque,
    Size,
    Unsupported,
    const,
    index,
    rebuild,
    walk,
)
from samesame.formula.show import unicode
from samesame.formula.sizes import replaced

Dim = int | Expr
Kind = Literal["parallel", "serial", "vector", "unrolled"]


@dataclass(frozen=True)
class Buffer:
    """A tensor in memory: row-major unless `strides` (in elements) say otherwise. `dtype` is torch's name.

    Strides are of what is given and only read, so elements may share memory: an element is where torch has it.
    """

    name: str
    shape: tuple[Dim, ...]
    dtype: str = "float32"
    strides: tuple[Dim, ...] | None = None

    @cached_property
    def leaf(self) -> Leaf:
        kind = "bool" if self.dtype == "bool" else "int" if "int" in self.dtype else "real"
        return Leaf(self.name, self.shape, kind)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return int(getattr(torch, self.dtype).itemsize)

    @property
    def fastest(self) -> int | None:
        """The dimension along which elements lie side by side; None where there is none."""
        steps = (0,) * (len(self.shape) - 1) + (1,) if self.strides is None else self.strides
        return next((d for d in reversed(range(len(self.shape))) if steps[d] == 1), None)

    def __getitem__(self, indices: Expr | int | tuple[Expr | int, ...]) -> Expr:
        several = indices if isinstance(indices, tuple) else (indices,)
        return Load(self.leaf, tuple(map(const, several)))


@dataclass(frozen=True)
class Loop:
    """The body for each value of the variable, 0 ≤ variable < its extent."""

    kind: Kind
    variable: Index
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class When:
    """The body where the condition holds, as at ragged ends."""

    condition: Expr
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Local:
    """A buffer that begins here and ends with the enclosing loop's round.

    With a `monoid` it is an accumulator: every element begins as the identity, and only `Accumulate` changes it.
    Without one, elements have no value before they are stored. `running` is the accumulator (of max) that its terms
    are scaled by, exp(s − running)·w; its indices are the first ones of this buffer. Terms may wait in a buffer without
    monoid until they are folded, as long as the maximum is the same.
    """

    buffer: Buffer
    monoid: str = ""
    running: Buffer | None = None


@dataclass(frozen=True)
class Store:
    """target[indices] = value, once for each element."""

    target: Buffer
    indices: tuple[Expr, ...]
    value: Expr

    def __post_init__(self) -> None:
        _with_expressions(self)


@dataclass(frozen=True)
class Accumulate:
    """target[indices] = target[indices] ⊕ value, with the monoid of an accumulator."""

    target: Buffer
    indices: tuple[Expr, ...]
    value: Expr

    def __post_init__(self) -> None:
        _with_expressions(self)


def _with_expressions(write: Store | Accumulate) -> None:
    """Numbers among indices and values become expressions."""
    object.__setattr__(write, "indices", tuple(map(const, write.indices)))
    object.__setattr__(write, "value", const(write.value))


@dataclass(frozen=True)
class Rescaled:
    """The body folds into the running maximum; then each of the sums is multiplied by exp(before − after)."""

    running: Buffer
    sums: tuple[Buffer, ...]
    body: tuple[Statement, ...]


Write = Store | Accumulate
Statement = Loop | When | Local | Write | Rescaled


@dataclass(frozen=True)
class Kernel:
    """One loop nest after the other over the tensors it `reads`; what is in `writes` outlives it.

    `ahead`: it reads weights only, so that it runs once, before the program is used (packing).
    """

    name: str
    reads: tuple[Buffer, ...]
    writes: tuple[Buffer, ...]
    body: tuple[Statement, ...]
    ahead: bool = False

    @property
    def tensors(self) -> tuple[Buffer, ...]:
        """What a function that is the kernel takes, in order."""
        return tuple(dict.fromkeys(self.reads + self.writes))


@dataclass(frozen=True)
class Program:
    """Kernels in the order they run. `tiles` are the symbols that stand for numbers to be chosen, by what they tile."""

    kernels: tuple[Kernel, ...]
    tiles: tuple[Tile, ...] = ()


@dataclass(frozen=True)
class Tile:
    """A symbol to be chosen: the `role` says among which numbers ("rows", "lanes", "depth", "parts")."""

    size: Size
    role: str
    of: Dim                                          # the length of what it tiles


# --------------------------------------------------------------------------------------------------------- construction


def loop(kind: Kind, extent: Dim) -> tuple[Index, _Open]:
    """A new loop variable, and what takes the loop's body: `t, each = loop("serial", K); each(…using t…)`."""
    variable = index(extent)
    return variable, _Open(kind, variable)


@dataclass(frozen=True)
class _Open:
    kind: Kind
    variable: Index

    def __call__(self, *body: Statement) -> Loop:
        return Loop(self.kind, self.variable, body)


def statements(body: tuple[Statement, ...]) -> Iterator[Statement]:
    """Every statement, outer ones first."""
    for statement in body:
        yield statement
        yield from statements(getattr(statement, "body", ()))


def innermost(body: tuple[Statement, ...], loops: tuple[Loop, ...] = ()) -> Iterator[tuple[tuple[Loop, ...], Write]]:
    """Each store and fold, with the loops around it."""
    for statement in body:
        if isinstance(statement, Store | Accumulate):
            yield loops, statement
        else:
            inside = (*loops, statement) if isinstance(statement, Loop) else loops
            yield from innermost(getattr(statement, "body", ()), inside)


NARROW = "bfloat16"                                  # what machines multiply in pairs


def narrow_ones(buffers: Iterable[Buffer]) -> set[Leaf]:
    """Those whose elements machines multiply in pairs, as they stand in expressions."""
    return {buffer.leaf for buffer in buffers if buffer.dtype == NARROW}


def is_narrow_product(statement: Statement, narrow: Collection[Leaf]) -> bool:
    """Whether it sums up products of two elements of these."""
    if not isinstance(statement, Accumulate) or not isinstance(statement.value, Mul):
        return False
    product = statement.value.factors
    return len(product) == 2 and all(isinstance(e, Load) and e.leaf in narrow for e in product)


def lanes(loops: tuple[Loop, ...]) -> tuple[Index, ...]:
    """The variables of those that are vectors."""
    return tuple(loop.variable for loop in loops if loop.kind == "vector")


def expressions(statement: Statement) -> Iterator[Expr]:
    """The expressions that a statement itself evaluates."""
    match statement:
        case Loop(_, variable, _):
            yield variable.extent
        case When(condition, _):
            yield condition
        case Store(_, indices, value) | Accumulate(_, indices, value):
            yield from indices
            yield value


# -------------------------------------------------------------------------------------------------------------- numbers


def bound(thing: Any, numbers: Mapping[str, int]) -> Any:
    """A program, kernel or statement with numbers in place of size symbols, by name; loop variables are new."""
    return _Binding(numbers)(thing)


class _Binding:
    """Copies what holds symbols. One object keeps what it made, so that a variable or buffer stays one."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self.numbers = numbers
        self.exprs: dict[Expr, Expr] = {}
        self.buffers: dict[Buffer, Buffer] = {}

    def __call__(self, thing: Any) -> Any:
        match thing:
            case Expr():
                return self.expr(thing)
            case Buffer(name, shape, dtype, strides):
                if thing not in self.buffers:
                    at = None if strides is None else tuple(map(self.size, strides))
                    self.buffers[thing] = Buffer(name, tuple(map(self.size, shape)), dtype, at)
                return self.buffers[thing]
            case tuple():
                return tuple(map(self, thing))
            case Loop() | When() | Local() | Store() | Accumulate() | Rescaled() | Kernel() | Program() | Tile():
                return self._fields(thing)
        return thing

    def _fields(self, thing: Any) -> Any:
        return replace(thing, **{f.name: self(getattr(thing, f.name)) for f in fields(thing)})

    def expr(self, e: Expr) -> Expr:
        if e not in self.exprs:
            self.exprs[e] = self._expr(e)
        return self.exprs[e]

    def _expr(self, e: Expr) -> Expr:
        match e:
            case Size(name, _):
                return const(self.numbers[name]) if name in self.numbers else e
            case Index(_, extent):
                return index(self.size(extent))
            case Load(leaf, indices):
                shape = tuple(map(self.size, leaf.shape))
                return Load(replace(leaf, shape=shape), tuple(map(self.expr, indices)))
        return rebuild(e, self.expr)

    def size(self, size: Dim) -> Dim:
        """An int where nothing is left symbolic."""
        return replaced(self.expr(size), {}) if isinstance(size, Expr) else size


def anonymous(thing: Any, numbers: Mapping[str, int]) -> Any:
    """Programs or expressions, or several of them, with the names of tensors and sizes, and all variables, in the order
    in which they are met: equal for those that are the same but for these."""
    return _Anonymous(numbers)(thing)


class _Anonymous(_Binding):
    """Each name and each variable becomes another, wherever it is: what holds of the result holds of what was given."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        super().__init__(numbers)
        self.names: dict[str, str] = {}

    def name(self, name: str) -> str:
        return self.names.setdefault(name, str(len(self.names)))

    def __call__(self, thing: Any) -> Any:
        match thing:
            case Buffer(name) if thing not in self.buffers:
                self.buffers[thing] = replace(super().__call__(thing), name=self.name(name))
            case Kernel():
                return replace(super().__call__(thing), name="")
        return super().__call__(thing)

    def _expr(self, e: Expr) -> Expr:
        match e:
            case Size(name, minimum) if name not in self.numbers:
                return Size(self.name(name), minimum)
            case Index(_, extent):
                return Index(len(self.exprs), self.expr(extent))
            case Load(leaf, indices):
                shape, (low, high) = tuple(map(self.size, leaf.shape)), leaf.bounds or (0, 0)
                bounds = leaf.bounds and (self.size(low), self.size(high))
                own = replace(leaf, name=self.name(leaf.name), shape=shape, bounds=bounds)
                return Load(own, tuple(map(self.expr, indices)))
            case Fold(monoid, variables, body):
                return Fold(monoid, tuple(cast(Index, self.expr(each)) for each in variables), self.expr(body))
            case Lambda() | Opaque():
                raise Unsupported(f"{type(e).__name__} has names that are not looked into")
        return super()._expr(e)


def symbols(thing: Any) -> frozenset[str]:
    """The names of all size symbols in a program, kernel or statement."""
    found: set[str] = set()

    def look(part: Any) -> None:
        if isinstance(part, Expr):
            for e in walk(part):
                found.update([e.name] if isinstance(e, Size) else [])
                look(e.extent) if isinstance(e, Index) else None
                look(e.leaf.shape) if isinstance(e, Load) else None
        elif isinstance(part, tuple):
            for each in part:
                look(each)
        elif isinstance(part, Buffer | Loop | When | Local | Store | Accumulate | Rescaled | Kernel | Program | Tile):
            for f in fields(part):
                look(getattr(part, f.name))

    look(thing)
    return frozenset(found)


def text(kernel: Kernel) -> str:
    """A kernel as people read it."""
    return "\n".join([f"kernel {kernel.name}", *_lines(kernel.body, "    ")])


SIGNS = {"sum": "+=", "max": "max="}


def _lines(body: tuple[Statement, ...], space: str) -> Iterator[str]:
    monoids: dict[str, str] = {}
    for statement in body:
        match statement:
            case Loop(kind, variable, inside):
                yield f"{space}loop({kind}, {unicode(variable)} < {unicode(variable.extent)})"
                yield from _lines(inside, space + "    ")
            case When(condition, inside):
                yield f"{space}where({unicode(condition)})"
                yield from _lines(inside, space + "    ")
            case Rescaled(running, sums, inside):
                yield f"{space}rescaled({running.name}: {', '.join(each.name for each in sums)})"
                yield from _lines(inside, space + "    ")
            case Local(buffer, monoid, _):
                monoids[buffer.name] = monoid
                shape = ", ".join(unicode(const(size)) for size in buffer.shape)
                yield f"{space}local {buffer.name}[{shape}]{f' ({monoid})' if monoid else ''}"
            case Store(target, indices, value):
                yield f"{space}{target.name}[{', '.join(map(unicode, indices))}] = {unicode(value)}"
            case Accumulate(target, indices, value):
                sign = SIGNS[monoids.get(target.name, "sum")]
                yield f"{space}{target.name}[{', '.join(map(unicode, indices))}] {sign} {unicode(value)}"
