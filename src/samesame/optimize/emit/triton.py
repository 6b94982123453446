"""Kernels as Triton, and the function that launches them, as one module.

A kernel here is one program of many. What its parallel loops stand for is read off the program's number; a serial loop
is a loop; and a vector loop is a dimension of tiles: `tl.arange`, shaped to the other such loops that are open, its
*frame*. A condition is no branch but a mask: of loads and stores, and of what is folded, which is the fold's identity
where the condition does not hold. An accumulator is a tile over the lanes it was declared in and is indexed by; the
lanes that are left are folded. A sum of products of two of these, one over rows and depth, one over depth and columns,
is a `tl.dot`.

Sizes are arguments, so that a kernel is the same for all of them; tiles are numbers. What is printed here is not
trusted: it is lifted back and compared with what was to be computed (`lifted.py`).
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import pi

from samesame.formula.expr import (
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fn,
    Index,
    Load,
    Mod,
    Mul,
    Named,
    NegInf,
    Not,
    Num,
    Or,
    Pow,
    Size,
    Truth,
    Unsupported,
    Where,
    and_,
    const,
    lt,
    mul,
    not_,
    walk,
)
from samesame.optimize.emit.arithmetic import OPERATORS, Arithmetic, Shared, Text
from samesame.optimize.ir import (
    Accumulate,
    Buffer,
    Dim,
    Kernel,
    Local,
    Loop,
    Program,
    Rescaled,
    Statement,
    Store,
    When,
    symbols,
)

DTYPES = ("float32", "float16", "bfloat16", "float64", "int32", "int64", "bool")
NARROW = ("float16", "bfloat16")
IDENTITY = {"sum": "0.0", "max": 'float("-inf")'}
FUNCTIONS = {
    **{name: f"tl.{name}({{}})" for name in ("exp", "log", "sin", "cos", "erf", "sigmoid", "abs", "floor", "ceil")},
    "tanh": "(2.0 * tl.sigmoid(2.0 * {}) - 1.0)",
    "expm1": "(tl.exp({}) - 1.0)",                   # the language has none; what that rounds is measured
    "erfc": "(1.0 - tl.erf({}))",                    # nor this
}
DOT = 16                                             # the least side of a tile that `tl.dot` takes
OWN = re.compile(r"(t|i|p|left|right)\d+")
RESERVED = {*keyword.kwlist, "tl", "torch", "triton", "launch", "program", "range", "float"}
HEAD = '''"""{words}"""

import torch
import triton
import triton.language as tl
'''


class Names:
    """Tensors, sizes and kernels as Python can call them. Different ones stay different."""

    def __init__(self) -> None:
        self.given: dict[tuple[str, bool], str] = {}

    def size(self, name: str) -> str:
        return self(name, True)

    def __call__(self, name: str, size: bool = False) -> str:
        if (name, size) not in self.given:
            found = re.sub(r"\W", "_", name, flags=re.ASCII)
            found = found if found[:1].isalpha() else f"n{found}"
            while found in RESERVED or found in self.given.values() or OWN.fullmatch(found):
                found += "_"
            self.given[name, size] = found
        return self.given[name, size]


@dataclass(frozen=True)
class Function:
    """A kernel as text; what it is launched with: tensors, sizes, and on which grid; which tensors it `writes`."""

    name: str
    text: str
    tensors: tuple[Buffer, ...]
    writes: tuple[Buffer, ...]
    sizes: tuple[str, ...]
    programs: tuple[Expr, Expr, Expr]


def function(kernel: Kernel, names: Names) -> Function:
    """A kernel whose tiles are numbers. Raises Unsupported."""
    try:
        printer = _Printer(kernel, names)
        printer.block(kernel.body, _Scope({}, (), ()))
    except Unsupported as error:
        raise Unsupported(f"{kernel.name} cannot be printed as Triton: {error}") from None
    sizes = tuple(sorted(symbols(kernel)))
    takes = ", ".join([*(names(b.name) for b in kernel.tensors), *map(names.size, sizes)])
    head = ["@triton.jit", f"def {names(kernel.name)}({takes}):", *printer.numbers()]
    text = "\n".join([*head, *printer.lines])
    return Function(kernel.name, text, kernel.tensors, kernel.writes, sizes, printer.programs())


@dataclass(frozen=True)
class Module:
    """A file: kernels, and `launch`, which takes the inputs in order and returns a tuple of the outputs. Tensors by
    what they are called in it."""

    text: str
    functions: tuple[Function, ...]
    tensors: Mapping[str, Buffer]


def module(
    program: Program, inputs: Sequence[str], outputs: Sequence[str], options: Mapping[str, Mapping[str, int]],
    words: str,
) -> Module:
    """The kernels of a program. `options` are Triton's own (`num_warps`, `num_stages`), by kernel; `words` go first.
    Raises Unsupported for what cannot be printed, and where a size can be read off no input."""
    names = Names()
    buffers = {b.name: b for kernel in program.kernels for b in kernel.tensors}
    called = {names(name): buffers[name] for name in (*inputs, *buffers) if name in buffers}
    functions = tuple(function(kernel, names) for kernel in program.kernels)
    host, first = _Python(Shared(), const(1), names), names(inputs[0])
    given = sizes_in(buffers[name] for name in inputs if name in buffers)
    wanted = sorted({size for each in functions for size in each.sizes})
    if missing := [size for size in wanted if size not in given]:
        raise Unsupported(f"no input has a dimension of the size {missing[0]}")
    lines = [f"def launch({', '.join(map(names, inputs))}):"]
    lines += [f"    {names.size(size)} = {names(given[size][0].name)}.shape[{given[size][1]}]" for size in wanted]
    for kernel, each in zip(program.kernels, functions, strict=True):
        for buffer in kernel.writes:
            shape = ", ".join(host.value(const(size)).code for size in buffer.shape)
            made = f"torch.empty([{shape}], dtype=torch.{buffer.dtype}, device={first}.device)"
            lines.append(f"    {names(buffer.name)} = {made}")
        takes = [*(names(b.name) for b in each.tensors), *map(names.size, each.sizes)]
        takes += [f"{name}={number}" for name, number in options.get(kernel.name, {}).items()]
        grid = ", ".join(host.value(const(n)).code for n in each.programs)
        lines.append(f"    {names(kernel.name)}[({grid})]({', '.join(takes)})")
    lines.append(f"    return ({', '.join(map(names, outputs))},)")
    texts = [HEAD.format(words=words).rstrip(), *(each.text for each in functions), "\n".join(lines)]
    return Module("\n\n\n".join(texts) + "\n", functions, called)


def sizes_in(buffers: Iterable[Buffer]) -> dict[str, tuple[Buffer, int]]:
    """Where a size can be read: a dimension that is that size and nothing else."""
    return {size.name: (b, d) for b in buffers for d, size in enumerate(b.shape) if isinstance(size, Size)}


# -------------------------------------------------------------------------------------------------------------- kernels


@dataclass(frozen=True)
class _Scope:
    """What is known at a place of the code: loops' variables by name, those that are lanes, the conditions."""

    at: Mapping[Index, str]
    lanes: tuple[Index, ...]
    conditions: tuple[Expr, ...]

    def having(self, variable: Index, name: str) -> _Scope:
        return replace(self, at={**self.at, variable: name})


@dataclass(frozen=True)
class _Held:
    """A local buffer: a tile over the lanes that it was declared in, and over those that its indices are."""

    name: str
    local: Local
    scope: _Scope


class _Printer:
    """Prints one kernel."""

    def __init__(self, kernel: Kernel, names: Names) -> None:
        self.names, self.common, self.count = names, _Common(), 0
        self.tensors = {buffer.name: buffer for buffer in kernel.tensors}
        if odd := next((b for b in self.tensors.values() if b.dtype not in DTYPES), None):
            raise Unsupported(f"{odd.name} holds {odd.dtype}, which kernels in Triton do not compute with")
        self.real = "float64" if any(b.dtype == "float64" for b in self.tensors.values()) else "float32"
        self.held: dict[str, _Held] = {}
        self.grid: list[tuple[str, Expr]] = []
        self.lines: list[str] = []
        self.depth = 1

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def fresh(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def programs(self) -> tuple[Expr, Expr, Expr]:
        """How many programs there are along each axis of the grid: the last parallel loop first."""
        *others, second, first = const(1), const(1), *(extent for _, extent in self.grid)
        return first, second, mul(*others)

    def numbers(self) -> list[str]:
        """Lines that say where parallel loops are: the last two by axes of their own, the others as digits."""
        host, last, others = _Python(self.common, const(1), self.names), self.grid[:-3:-1], self.grid[:-2]
        lines = [f"    {name} = tl.program_id({axis})" for axis, (name, _) in enumerate(last)]
        lines += ["    program = tl.program_id(2)"] if others else []
        for name, extent in reversed(others[1:]):
            size = host.value(extent).code
            lines += [f"    {name} = program % {size}", f"    program = program // {size}"]
        return [*lines, *(f"    {name} = program" for name, _ in others[:1])]

    def statement(self, statement: Statement, scope: _Scope) -> None:
        match statement:
            case Loop():
                self.loop(statement, scope)
            case When(condition, body):
                parts = condition.arguments if isinstance(condition, And) else (condition,)
                self.block(body, replace(scope, conditions=(*scope.conditions, *parts)))
            case Local():
                self.declare(statement, scope)
            case Rescaled():
                raise Unsupported("a maximum that runs along with sums")
            case Store(target, indices, value):
                self.store(target, indices, value, scope)
            case Accumulate(target, indices, value):
                self.accumulate(self.held[target.name], indices, value, scope)

    def block(self, body: tuple[Statement, ...], scope: _Scope) -> None:
        for statement in body:
            self.statement(statement, scope)

    def loop(self, loop: Loop, scope: _Scope) -> None:
        variable, extent = loop.variable, loop.variable.extent
        if loop.kind == "parallel":
            if self.depth > 1 or extent.free:
                raise Unsupported("a loop inside of another one cannot run in parallel on a GPU")
            self.grid.append((self.fresh("p"), extent))
            return self.block(loop.body, scope.having(variable, self.grid[-1][0]))
        name = self.fresh("i")
        inside = scope.having(variable, name)
        if loop.kind != "vector":
            self.line(f"for {name} in range({_Value(self, scope, (), extent).value(extent).code}):")
            self.depth += 1
            self.block(loop.body, inside)
            self.depth -= 1
            return None
        self.line(f"{name} = tl.arange(0, {width(variable)})")
        inside = replace(inside, lanes=(*scope.lanes, variable))
        if width(variable) != extent.value:  # type: ignore[attr-defined]
            inside = replace(inside, conditions=(*scope.conditions, lt(variable, extent)))
        return self.block(loop.body, inside)

    def declare(self, local: Local, scope: _Scope) -> None:
        held = self.held[local.buffer.name] = _Held(self.names(local.buffer.name), local, scope)
        if local.monoid:
            sides = [*map(width, scope.lanes), *(power_above(size) for size in local.buffer.shape if size != 1)]
            self.line(f"{held.name} = tl.full({sides}, {IDENTITY[local.monoid]}, tl.{self.real})")

    def store(self, target: Buffer, indices: tuple[Expr, ...], value: Expr, scope: _Scope) -> None:
        if target.name in self.held:
            held = self.held[target.name]
            writer = _Value(self, scope, self.frame(held, indices), value)
            code = writer.full(writer.value(value))
            return self.written(writer, f"{held.name} = {code}")
        writer = _Value(self, scope, scope.lanes, value)
        mask = writer.mask(scope.conditions, frozenset(scope.lanes))
        code, pointers = writer.value(value).code, writer.pointers(target, indices).code
        return self.written(writer, f"tl.store({pointers}, {code}{mask})")

    def written(self, writer: _Value, line: str) -> None:
        for each in (*writer.names, line):
            self.line(each)

    def frame(self, held: _Held, indices: tuple[Expr, ...]) -> tuple[Index, ...]:
        """The lanes of a local buffer's elements; a dimension of one element is none of the tile's."""
        own = [i for i, size in zip(indices, held.local.buffer.shape, strict=True) if size != 1]
        if not all(isinstance(i, Index) for i in own):
            raise Unsupported(f"{held.local.buffer.name} is kept in a tile and read at another place of it")
        return (*held.scope.lanes, *(i for i in own if isinstance(i, Index)))

    def accumulate(self, held: _Held, indices: tuple[Expr, ...], value: Expr, scope: _Scope) -> None:
        own = self.frame(held, indices)
        folded = tuple(v for v in scope.lanes if v not in own)
        since = [c for c in scope.conditions if c.free - {*own, *held.scope.at}]
        if held.local.monoid == "sum" and self.dot(held, own, folded, value, scope, since):
            return
        frame = tuple(v for v in scope.lanes if v in own or v in folded)
        if tuple(v for v in frame if v in own) != own:
            raise Unsupported(f"{held.local.buffer.name} is indexed in another order than its loops are in")
        monoid, writer = held.local.monoid, _Value(self, scope, frame, value)
        found = writer.value(value)
        if since:
            mask = writer.all(since)
            found = Text(f"tl.where({mask.code}, {found.code}, {IDENTITY[monoid]})", found.wide | mask.wide)
        code = writer.full(found) if folded else found.code
        for v in reversed(folded):
            code = f"tl.{monoid}({code}, axis={frame.index(v)})"
        both = f"{held.name} + {code}" if monoid == "sum" else f"tl.maximum({held.name}, {code})"
        self.written(writer, f"{held.name} = {both}")

    def dot(
        self, held: _Held, own: tuple[Index, ...], folded: tuple[Index, ...], value: Expr, scope: _Scope,
        since: list[Expr],
    ) -> bool:
        """A sum of products as one of matrices, where it is one whose sides are long enough."""
        if len(own) != 2 or len(folded) != 1 or self.real != "float32" or not isinstance(value, Mul):
            return False
        (i, j), (k,) = own, folded
        left, right = list[Expr](), list[Expr]()
        for factor in value.factors:
            over = {v for load in walk(factor) if isinstance(load, Load) for v in self.lanes_of(load)} | factor.free
            if {i, j} <= over:
                return False
            (right if j in over else left).append(factor)
        if not left or not right or min(map(width, (i, j, k))) < DOT:
            return False
        loads = [e for e in right if isinstance(e, Load)]
        narrow = next((dtype for e in loads if (dtype := self.dtype_of(e)) in NARROW), "")
        codes = []
        for side, factors, frame in (("left", left, (i, k)), ("right", right, (k, j))):
            whole = mul(*factors)
            writer = _Value(self, scope, frame, whole)
            if isinstance(whole, Load) and narrow and self.dtype_of(whole) == narrow:
                code = writer.full(writer.loaded(whole))           # as it is
            else:
                found = writer.value(whole)
                if not isinstance(whole, Load) and since:
                    found = Text(f"tl.where({writer.all(since).code}, {found.code}, 0.0)", found.wide | {k})
                code = writer.full(found) + (f".to(tl.{narrow})" if narrow else "")
            self.written(writer, f"{(name := self.fresh(side))} = {code}")
            codes.append(name)
        precision = "" if narrow else ', input_precision="ieee"'
        self.line(f"{held.name} = tl.dot({codes[0]}, {codes[1]}, {held.name}{precision})")
        return True

    def dtype_of(self, load: Load) -> str:
        """What a tensor in memory holds; nothing for a tile."""
        tensor = self.tensors.get(load.leaf.name)
        return tensor.dtype if tensor is not None else ""

    def lanes_of(self, load: Load) -> tuple[Index, ...]:
        return self.frame(self.held[load.leaf.name], load.indices) if load.leaf.name in self.held else ()


def width(variable: Index) -> int:
    """How many lanes a vector loop takes: its extent, or the next power of two."""
    return power_above(variable.extent)


def power_above(size: Dim) -> int:
    number = size.value if isinstance(size, Num) else size
    if isinstance(number, Expr):
        raise Unsupported("a tile without a number: kernels are printed once all tiles are known")
    return 1 << (int(number) - 1).bit_length()


# --------------------------------------------------------------------------------------------------------------- values


class _Python(Arithmetic):
    """Expressions of sizes, as host and kernels have them."""

    narrow: frozenset[Index] = frozenset()

    def __init__(self, common: Shared, whole: Expr, names: Names) -> None:
        super().__init__(common, whole)
        self.called = names

    def printed(self, e: Expr) -> Text:
        match e:
            case Num(value) if value.denominator == 1:
                return Text(str(value) if value >= 0 else f"({value})", self.narrow)
            case Num(value):
                return Text(self.literal(value), self.narrow)
            case Size(name, _):
                return Text(self.called.size(name), self.narrow)
            case Add(terms):
                return self.sum(terms)
            case Mul(factors):
                return self.product(factors)
            case FloorDiv(a, b) | Mod(a, b):
                left, right = self.value(a), self.value(b)
                sign = "//" if isinstance(e, FloorDiv) else "%"
                return Text(f"({left.code} {sign} {right.code})", left.wide | right.wide)
        raise Unsupported(f"a value with {type(e).__name__} in it")

    def literal(self, value: Fraction) -> str:
        return repr(float(value)) if value >= 0 else f"({float(value)!r})"


class _Common(Shared):
    """What is read twice is named, too."""

    worth = (*Shared.worth, Load)


class _Value(_Python):
    """One statement's value over the lanes of a frame; `guards` are the conditions under which it is read. Where lanes
    are is always named, since loads, stores and masks all speak of it."""

    def __init__(self, printer: _Printer, scope: _Scope, frame: tuple[Index, ...], whole: Expr) -> None:
        super().__init__(printer.common, whole, printer.names)
        self.printer, self.scope, self.frame, self.guards = printer, scope, frame, scope.conditions

    def value(self, e: Expr) -> Text:
        if isinstance(e, Add) and e.kind == "int" and e.free and not self.lazy and e not in self.known:
            self.known[e] = self.named(self.printed(e))
        return super().value(e)

    def printed(self, e: Expr) -> Text:
        match e:
            case Index():
                wide = (e,) if e in self.scope.lanes else ()
                return self.shaped(self.scope.at[e], wide)
            case Named("π"):
                return Text(repr(pi), self.narrow)
            case NegInf():
                return Text(IDENTITY["max"], self.narrow)
            case Truth(value):
                return Text(str(value), self.narrow)
            case Load():
                return self.load(e)
            case Pow(base, exponent):
                return self.power(self.value(base), exponent)
            case Fn(name, argument) if name in FUNCTIONS:
                inside = self.value(argument)
                return Text(FUNCTIONS[name].format(inside.code), inside.wide)
            case Fn(name, _):
                raise Unsupported(f"it has no {name}")
            case Extremum(op, parts):
                return self.joined(f"tl.{op}imum({{}}, {{}})", parts)
            case Compare(op, left, right):
                return self.joined(f"({{}} {OPERATORS[op]} {{}})", (left, right))
            case And(parts) | Or(parts):
                return self.joined("({} & {})" if isinstance(e, And) else "({} | {})", parts)
            case Not(argument):
                inside = self.value(argument)
                return Text(f"(~{inside.code})", inside.wide)
            case Where(condition, then, otherwise):
                return self.choice(condition, then, otherwise)
        return super().printed(e)

    def joined(self, form: str, parts: Sequence[Expr]) -> Text:
        found, *others = map(self.value, parts)
        for other in others:
            found = Text(form.format(found.code, other.code), found.wide | other.wide)
        return found

    def choice(self, condition: Expr, then: Expr, otherwise: Expr) -> Text:
        """Both branches, each read where it is chosen."""
        test, texts = self.value(condition), list[Text]()
        before = self.guards, self.lazy, self.known
        for branch, guard in ((then, condition), (otherwise, not_(condition))):
            self.guards, self.lazy, self.known = (*before[0], guard), True, {}
            texts.append(self.value(branch))
            self.guards, self.lazy, self.known = before
        wide = test.wide | texts[0].wide | texts[1].wide
        return Text(f"tl.where({test.code}, {texts[0].code}, {texts[1].code})", wide)

    def root(self, base: str) -> str:
        return f"tl.sqrt({base})"

    def raised(self, base: Text, exponent: Fraction) -> Text:
        if exponent.denominator != 1 or exponent > 16:
            raise Unsupported(f"a power of {exponent}")
        name = base if base.code.isidentifier() or self.lazy else self.named(base)
        return Text(f"({' * '.join([name.code] * int(exponent))})", base.wide)

    def shaped(self, code: str, lanes: tuple[Index, ...]) -> Text:
        """A tile over some lanes, in their order, as one over the frame."""
        if [v for v in self.frame if v in lanes] != list(lanes):
            raise Unsupported("a tile is read over other lanes than it was made over")
        parts = ", ".join(":" if v in lanes else "None" for v in self.frame)
        return Text(f"{code}[{parts}]" if lanes and len(lanes) < len(self.frame) else code, frozenset(lanes))

    def full(self, text: Text) -> str:
        """The value over all lanes of the frame."""
        if text.wide == frozenset(self.frame):
            return text.code
        sides = [width(v) for v in self.frame]
        if text.wide:
            return f"tl.broadcast_to({text.code}, {sides})"
        return f"tl.full({sides}, {text.code}, tl.{self.printer.real})"

    def load(self, e: Load) -> Text:
        name = e.leaf.name
        if name in self.printer.held:
            held = self.printer.held[name]
            return self.shaped(held.name, self.printer.frame(held, e.indices))
        found = self.loaded(e)
        code = found.code + (".to(tl.float32)" if self.printer.dtype_of(e) in NARROW else "")
        return Text(f"({code} != 0)" if e.kind == "bool" else code, found.wide)

    def loaded(self, e: Load) -> Text:
        """An element of a tensor in memory, of the tensor's own type. What a guard asks of is read in any case."""
        pointers = self.pointers(self.printer.tensors[e.leaf.name], e.indices)
        mask = self.mask([guard for guard in self.guards if e not in walk(guard)], pointers.wide)
        other = "" if not mask else ", other=0.0" if e.kind == "real" else ", other=0"
        return Text(f"tl.load({pointers.code}{mask}{other})", pointers.wide)

    def pointers(self, buffer: Buffer, indices: tuple[Expr, ...]) -> Text:
        """Where elements lie, row by row."""
        found, *others = map(self.value, indices or (const(0),))
        for at, size in zip(others, buffer.shape[1:], strict=True):
            found = Text(f"({found.code} * {self.value(const(size)).code} + {at.code})", found.wide | at.wide)
        return Text(f"{self.called(buffer.name)} + {found.code}", found.wide)

    def mask(self, conditions: Iterable[Expr], lanes: frozenset[Index]) -> str:
        """An argument: those of the conditions that speak of these lanes alone."""
        own = [c for c in conditions if c.free & {*self.scope.lanes} <= lanes]
        return f", mask={self.all(own).code}" if own else ""

    def all(self, conditions: Iterable[Expr]) -> Text:
        own = [c for c in dict.fromkeys(conditions) if c.free & {*self.scope.lanes} <= {*self.frame}]
        return self.value(and_(*own))
