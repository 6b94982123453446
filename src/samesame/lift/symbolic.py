"""Symbolic execution of one program instance: every name of the kernel becomes a block of formulas.

The program ids, lanes and loop counters are index variables, and the kernel's arguments are sizes and leaves, so one
walk through the operations stands for every program of every launch. What is read and written is noted as accesses,
each with its mask, the conditions on the path to it and the loops around it. A masked load without `other` gives an
undefined value in the lanes it leaves out: these are kept as such, and no law applies to them.

Loops are summarised in `loops.py`. An operation that is not known here is refused, with its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from samesame.evidence import Refused
from samesame.formula.expr import (
    FALSE,
    TRUE,
    ZERO,
    Expr,
    Fold,
    Index,
    Truth,
    Where,
    add,
    and_,
    const,
    index,
    lt,
    mul,
    not_,
    numeric,
    or_,
    where,
)
from samesame.formula.tensor import Tensor
from samesame.lift import integers, reductions
from samesame.lift.launch import Argument, Launch, Memory
from samesame.lift.loops import summarised, summarised_while
from samesame.lift.operations import (
    BITWISE,
    BOOLEANS,
    IGNORED,
    INTEGERS,
    MAY_OVERFLOW,
    NEEDS_SIGN,
    OBSERVES,
    REALS,
    TO_ZERO,
    bitwise,
    cast_of_bits,
    compared,
    library,
    modular,
    number,
)
from samesame.lift.solver import Prover
from samesame.lift.ttir import Function, Operation, Place, Region, Type
from samesame.lift.values import (
    Pointers,
    Shuffled,
    Value,
    as_number,
    block,
    element_at,
    float_of,
    of_bits,
    same_everywhere,
    undefined,
    wraps,
)
from samesame.operators.numbers import constant

Environment = dict[str, Value]
AXES = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class Access:
    """One load, store or atomic operation, for all lanes, programs and iterations at once."""

    kind: str  # load, store, or an atomic operation's name
    pointers: Pointers
    mask: Tensor | None
    value: Tensor | None
    path: tuple[Expr, ...]  # conditions under which it happens
    loops: tuple[Index, ...]
    place: Place
    number: int  # in program order


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """A number that must not have wrapped around: it is compared, divided, widened or added to a pointer. Sums and
    products that are only added and multiplied further may wrap around and come right again."""

    result: Tensor
    bits: int
    path: tuple[Expr, ...]
    place: Place


@dataclass
class Machine:
    """The state of the walk. `programs` are the program ids along the grid's axes."""

    launch: Launch
    prover: Prover
    programs: tuple[Index, ...] = ()
    accesses: list[Access] = field(default_factory=list)
    arithmetic: list[Arithmetic] = field(default_factory=list)
    path: list[Expr] = field(default_factory=list)
    loops: list[Index] = field(default_factory=list)
    scalars: dict[str, Expr] = field(default_factory=dict)
    steps: dict[str, int] = field(default_factory=dict)  # inductive steps proved, by line

    def run(self, function: Function) -> None:
        """Execute the kernel. Raises Refused where an operation has no meaning here."""
        self.programs = tuple(index(integers.tidied(self.launch.programs(axis))) for axis in range(len(AXES)))
        env: Environment = {}
        names = self.launch.order or tuple(name.lstrip("%") for name, _ in function.arguments)
        if len(names) != len(function.arguments):
            raise Refused(f"{function.place}: {function.name} takes other arguments than its launch gives")
        for (name, kind), plain in zip(function.arguments, names, strict=True):
            if plain not in self.launch.arguments:
                raise Refused(f"{function.place}: the launch of {function.name} does not say what {plain} is")
            env[name] = self.argument(plain, kind, self.launch.arguments[plain])
        self.block(function.body, env)

    def argument(self, name: str, kind: Type, given: Argument) -> Value:
        if isinstance(given, Memory):
            return Pointers(given, same_everywhere(integers.tidied(const(self.launch.starts.get(name, 0)))))
        if isinstance(given, bool) or kind.kind == "bool":
            return same_everywhere(const(bool(given)) if not isinstance(given, Expr) else given)
        if kind.kind == "pointer":
            raise Refused(f"the argument {name} is a pointer, and the launch gives {given!r}")
        if isinstance(given, Expr):
            self.scalars[name] = integers.tidied(given) if given.kind == "int" and kind.bits < 64 else ZERO
            return same_everywhere(integers.tidied(given) if given.kind == "int" else given)
        return same_everywhere(const(given) if isinstance(given, int) and kind.kind == "int" else constant(given))

    def block(self, region: Region, env: Environment) -> list[Value]:
        """Execute a region; the operands of its terminator."""
        for operation in region.operations:
            if operation.name in ("scf.yield", "tt.return", "tt.reduce.return", "tt.scan.return", "scf.condition"):
                return [env[name] for name in operation.operands]
            self.execute(operation, env)
        return []

    def execute(self, operation: Operation, env: Environment) -> None:
        if operation.name in IGNORED:
            return
        if operation.name in CONTROL:
            results = CONTROL[operation.name](self, operation, env)
        else:
            operands = [self.operand(operation, name, env) for name in operation.operands]
            made = self.value(operation, operands)
            results = list(made) if isinstance(made, tuple) else [made] if made is not None else []
        for name, result in zip(operation.results, results, strict=True):
            env[name] = result

    def operand(self, operation: Operation, name: str, env: Environment) -> Value:
        if name not in env:
            raise Refused(f"{operation.place}: {operation.name} reads {name}, which is nowhere computed")
        found = env[name]
        if isinstance(found, Shuffled) and operation.name != "tt.reduce":
            raise Refused(
                f"{operation.place}: the order of a reshaped block is left to the compiler; pass can_reorder=False"
            )
        return found

    # ------------------------------------------------------------------------------------------------- operations

    def value(self, operation: Operation, operands: list[Value]) -> Any:
        if operation.name in MEMORY:
            return MEMORY[operation.name](self, operation, operands)
        if operation.name in SHAPES:
            return SHAPES[operation.name](self, operation, operands)
        if any(isinstance(x, Pointers) for x in operands):
            return self.of_pointers(operation, operands)
        blocks = cast("list[Tensor]", operands)
        kinds = {x.kind for x in blocks}
        name = operation.name
        if name in OBSERVES and operation.given and operation.given[0].bits < 64:
            self.arithmetic += [
                Arithmetic(x, operation.given[0].bits, tuple(self.path), operation.place)
                for x in blocks
                if x.kind == "int"
            ]
        if name == "arith.trunci" and 1 < operation.type.bits < 64:
            self.arithmetic += [Arithmetic(blocks[0], operation.type.bits, tuple(self.path), operation.place)]
        if name in ("arith.cmpi", "arith.cmpf"):
            return self.comparison(operation, blocks)
        if name == "arith.select":
            return self.elementwise(operation, blocks, where, blocks[1].kind)
        if name in ("tt.bitcast", "arith.bitcast"):
            made = cast_of_bits(operation.given[0], operation.type)
            return self.elementwise(operation, blocks, made, operation.type.kind)
        if name in REALS:
            return self.elementwise(operation, blocks, REALS[name], "real")
        if name == "tt.extern_elementwise":
            kind, function = operation.type.kind, library(operation)
            made = function if kind == "real" else lambda *xs: as_number(function(*xs))
            return self.elementwise(operation, blocks, made, kind)
        if kinds == {"bool"} and name in BOOLEANS:
            kind = operation.type.kind if name.startswith(("arith.ext", "arith.uitofp", "arith.sitofp")) else "bool"
            return self.elementwise(operation, blocks, BOOLEANS[name], kind)
        if name == "arith.trunci" and operation.type.kind == "bool":
            odd = lambda a: not_(integers.equal(integers.remainder(a, const(2)), 0))  # noqa: E731
            return self.elementwise(operation, blocks, odd, "bool")
        if name in NEEDS_SIGN:
            return self.elementwise(operation, blocks, self.division(operation), "int")
        if name in BITWISE:
            return self.elementwise(operation, blocks, bitwise(name, operation.type.bits), "int")
        if name in MAY_OVERFLOW:
            return self.elementwise(operation, blocks, modular(name, operation.type.bits), "int")
        if name in INTEGERS:
            return self.elementwise(operation, blocks, self.converted(operation), operation.type.kind)
        raise Refused(f"{operation.place}: the operation {name} is not supported")

    def elementwise(
        self, operation: Operation, operands: Sequence[Tensor], make: Callable[..., Expr], kind: str
    ) -> Tensor:
        shape = operands[0].shape if operands else operation.type.shape
        if operation.name == "arith.select" and not operands[0].shape:
            shape = operands[1].shape
        return block(shape, lambda *i: make(*(x[i] if x.shape else x[()] for x in operands)), kind)

    def converted(self, operation: Operation) -> Callable[..., Expr]:
        """An integer as another kind of number; of bits, an unknown function of them."""
        plain, path = INTEGERS[operation.name], tuple(self.path)

        def apply(*operands: Expr) -> Expr:
            if any(map(wraps, operands)):
                bits = of_bits(operation.name.partition(".")[2], operation.type.bits, *operands)
                return bits if operation.type.kind == "int" else numeric(bits)
            if operation.name in ("arith.extui", "arith.uitofp"):
                return self.where_not_negative(operation, path, operands, plain(*operands))
            return plain(*operands)

        return apply

    def comparison(self, operation: Operation, operands: list[Tensor]) -> Tensor:
        predicate = operation.word()
        if operation.name == "arith.cmpf":
            return self.elementwise(operation, operands, compared(predicate), "bool")
        if operands[0].kind == "bool":
            make = ALIKE.get(predicate)
        elif predicate[0] == "u":
            signed, path = integers.COMPARISONS["s" + predicate[1:]], tuple(self.path)
            make = lambda a, b: self.where_not_negative(operation, path, (a, b), signed(a, b))  # noqa: E731
        else:
            make = integers.COMPARISONS.get(predicate)
        if make is None:
            raise Refused(f"{operation.place}: the comparison {predicate} is not supported")
        return self.elementwise(operation, operands, of_signs(predicate, make), "bool")

    def where_not_negative(
        self, operation: Operation, path: tuple[Expr, ...], operands: Sequence[Expr], result: Expr
    ) -> Expr:
        """A result that is right for operands ≥ 0, and undefined for others. `path` is that to the operation: blocks
        are worked out later, when the walk is elsewhere."""
        signs = [integers.at_least_zero(x) for x in operands if not wraps(x)]
        missing = [sign for sign in signs if not self.prover.proves(path, sign)]
        return where(and_(*missing), result, undefined(operation.place, result.kind)) if missing else result

    def note_steps(self, start: Value, after: Value, place: Place) -> None:
        """What an iteration adds to a pointer must not have wrapped around."""
        if isinstance(start, Pointers) and isinstance(after, Pointers):
            new = after.parts[len(start.parts) :]
            self.arithmetic += [Arithmetic(part, 32, tuple(self.path), place) for part in new]

    def division(self, operation: Operation) -> Callable[[Expr, Expr], Expr]:
        make, path = NEEDS_SIGN[operation.name], tuple(self.path)

        def divide(a: Expr, b: Expr) -> Expr:
            if wraps(a) or wraps(b):
                return bitwise(operation.name, operation.type.bits)(a, b)
            if operation.name in TO_ZERO:
                return self.to_zero(operation, path, a, b)
            return self.where_not_negative(operation, path, (a, integers.minus(b, 1)), make(a, b))

        return divide

    def to_zero(self, operation: Operation, path: tuple[Expr, ...], a: Expr, b: Expr) -> Expr:
        """A quotient rounded to zero, or what it leaves over, which has the sign of `a`; undefined for b = 0."""
        make = NEEDS_SIGN[operation.name]
        turns = operation.name == "arith.divsi"  # whether the result changes its sign with that of b

        def by(divisor: Expr) -> Expr:
            if self.prover.proves(path, integers.at_least_zero(a)):
                return make(a, divisor)
            below = integers.times_(make(integers.minus(0, a), divisor), -1)
            return where(integers.at_least_zero(a), make(a, divisor), below)

        if self.prover.proves(path, integers.less(0, b)):
            return by(b)
        other = by(integers.times_(b, -1))
        negative = integers.times_(other, -1) if turns and not isinstance(other, Where) else other
        if turns and isinstance(other, Where):
            negative = where(other.condition, integers.times_(other.then, -1), integers.times_(other.otherwise, -1))
        rest = where(integers.less(b, 0), negative, undefined(operation.place, "int"))
        return where(integers.less(0, b), by(b), rest)

    def of_pointers(self, operation: Operation, operands: list[Value]) -> Value:
        if operation.name == "tt.addptr":
            pointers, offsets = operands
            if not isinstance(pointers, Pointers) or isinstance(offsets, Pointers):
                raise Refused(f"{operation.place}: a pointer is added to a pointer")
            moved = self.elementwise(operation, [pointers.offsets, offsets], integers.plus_, "int")
            parts = (offsets,) if operation.given[1].bits < 64 else ()
            return Pointers(pointers.memory, moved, (*pointers.parts, *parts))
        if operation.name == "tt.bitcast":
            (pointers,) = operands
            assert isinstance(pointers, Pointers)
            bits = operation.type.pointee.bits
            if bits == 8 and pointers.memory.kind == "bool":
                return pointers
        if operation.name == "arith.select":
            condition, a, b = operands
            if isinstance(a, Pointers) and isinstance(b, Pointers) and a.memory == b.memory:
                choice = [cast(Tensor, condition), a.offsets, b.offsets]
                return Pointers(a.memory, self.elementwise(operation, choice, where, "int"), (*a.parts, *b.parts))
        raise Refused(f"{operation.place}: {operation.name} of pointers is not supported")


def of_signs(predicate: str, make: Callable[[Expr, Expr], Expr]) -> Callable[[Expr, Expr], Expr]:
    """A comparison in which a float's bits are negative where the float is."""

    def apply(a: Expr, b: Expr) -> Expr:
        x = float_of(a)
        if x is not None and b is ZERO and predicate in ("slt", "sge"):
            return lt(x, ZERO) if predicate == "slt" else not_(lt(x, ZERO))
        return make(a, b)

    return apply


ALIKE: dict[str, Callable[[Expr, Expr], Expr]] = {  # comparisons of truth values
    "eq": lambda a, b: or_(and_(a, b), and_(not_(a), not_(b))),
    "ne": lambda a, b: or_(and_(a, not_(b)), and_(not_(a), b)),
}


# -------------------------------------------------------------------------------------------------------------- memory


def _load(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    pointers, *rest = operands
    if not isinstance(pointers, Pointers):
        raise Refused(f"{operation.place}: a load from what is no pointer")
    mask, other = (*cast("list[Tensor]", rest), None, None)[:2]
    kind = operation.given[0].pointee.kind
    memory, place, loops = pointers.memory, operation.place, tuple(machine.loops)
    if memory.kind != kind and not (memory.kind == "bool" and kind == "int"):
        raise Refused(
            f"{place}: {memory.name} holds {memory.element}, and is read as {operation.given[0].pointee.element}"
        )
    machine.accesses.append(
        Access("load", pointers, mask, None, tuple(machine.path), loops, place, len(machine.accesses))
    )

    def at(*i: Expr) -> Expr:
        offset = pointers.offsets[i]
        found = element_at(memory, offset)
        found = where(found, 1, 0) if memory.kind == "bool" and kind == "int" else found
        if mask is None:
            return found
        missing = other[i] if other is not None else undefined(place, kind, offset, *loops)
        return where(mask[i], found, missing)

    return block(pointers.shape, at, kind)


def _store(machine: Machine, operation: Operation, operands: list[Value]) -> None:
    pointers, value, *mask = operands
    _noted(machine, operation, "store", pointers, value, mask)


def _atomic(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    """The old value that an atomic operation returns depends on the order of programs: it is undefined."""
    pointers, value, *mask = operands
    _noted(machine, operation, operation.word(), pointers, value, mask)
    loops = tuple(machine.loops)
    assert isinstance(value, Tensor)
    return block(value.shape, lambda *i: undefined(operation.place, value.kind, *i, *loops), value.kind)


def _noted(machine: Machine, operation: Operation, kind: str, pointers: Value, value: Value, mask: list[Value]) -> None:
    if not isinstance(pointers, Pointers) or isinstance(value, Pointers):
        raise Refused(f"{operation.place}: {operation.name} needs a pointer and a number")
    memory = pointers.memory
    if memory.kind == "bool" and value.kind == "int":
        number_ = value
        value = block(value.shape, lambda *i: not_(integers.equal(number_[i], 0)), "bool")
    if memory.kind == "int" and value.kind == "real":
        raise Refused(f"{operation.place}: {memory.name} holds {memory.element}, and a float is stored")
    access = Access(
        kind,
        pointers,
        cast("Tensor | None", mask[0] if mask else None),
        value,
        tuple(machine.path),
        tuple(machine.loops),
        operation.place,
        len(machine.accesses),
    )
    machine.accesses.append(access)


MEMORY: dict[str, Callable[[Machine, Operation, list[Value]], Any]] = {
    "tt.load": _load,
    "tt.store": _store,
    "tt.atomic_rmw": _atomic,
}


# -------------------------------------------------------------------------------------------------------------- shapes


def moved(machine: Machine, operation: Operation, operands: list[Value], source: Callable[..., Any]) -> Value:
    """A block whose elements are elements of another: `source` gives the other's lanes."""
    (x,) = operands
    shape = operation.type.shape

    def one(t: Tensor) -> Tensor:
        return block(shape, lambda *i: t[tuple(source(t.shape, *i))], t.kind)

    return Pointers(x.memory, one(x.offsets), tuple(map(one, x.parts))) if isinstance(x, Pointers) else one(x)


def _splat(machine: Machine, operation: Operation, operands: list[Value]) -> Value:
    return moved(machine, operation, operands, lambda shape, *i: (ZERO,) * len(shape))


def _broadcast(machine: Machine, operation: Operation, operands: list[Value]) -> Value:
    return moved(
        machine, operation, operands, lambda shape, *i: [ZERO if n == 1 else k for n, k in zip(shape, i, strict=True)]
    )


def _expand(machine: Machine, operation: Operation, operands: list[Value]) -> Value:
    axis = operation.attribute("axis")
    return moved(machine, operation, operands, lambda shape, *i: i[:axis] + i[axis + 1 :])


def _transpose(machine: Machine, operation: Operation, operands: list[Value]) -> Value:
    found = re.search(r"order = array<i32: ([\d, ]+)>", operation.text)
    order = [int(k) for k in found[1].split(",")] if found else list(range(len(operation.type.shape)))[::-1]
    return moved(machine, operation, operands, lambda shape, *i: [i[order.index(d)] for d in range(len(order))])


def _reshape(machine: Machine, operation: Operation, operands: list[Value]) -> Value:
    shape = operation.type.shape

    def source(old: tuple[int, ...], *i: Expr) -> list[Expr]:
        line: Expr = ZERO
        for k, n in zip(i, shape, strict=True):
            line = integers.plus_(integers.times_(line, n), k)
        found: list[Expr] = []
        for n in reversed(old):
            found.append(integers.remainder(line, const(n)) if len(old) > 1 else line)
            line = integers.quotient(line, const(n))
        return found[::-1]

    result = moved(machine, operation, operands, source)
    if "allow_reorder" in operation.text and isinstance(result, Tensor) and any(n != 1 for n in operands[0].shape):
        return Shuffled(result.shape, lambda *i: result[i], result.kind)
    return result


def _range(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    start = operation.attribute("start")
    return block(operation.type.shape, lambda i: integers.plus_(i, start), "int")


def _constant(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    dense = re.search(r"dense<(.*)>", operation.text)
    text = dense[1] if dense else operation.text.split("}")[-1]
    kind = operation.type if operation.given else Type((), "i1")
    if text.strip().startswith("["):
        raise Refused(f"{operation.place}: a constant table is not supported")
    value = number(text, kind, operation)
    return block(kind.shape, lambda *i: value, kind.kind)


def _program(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    axis = AXES.index(operation.word())
    extent = machine.programs[axis].extent
    return same_everywhere(ZERO if extent is const(1) else machine.programs[axis])


def _programs(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    return same_everywhere(machine.programs[AXES.index(operation.word())].extent)


def _dot(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    a, b, c = cast("list[Tensor]", operands[:3])

    def at(*i: Expr) -> Expr:
        *batch, m, n = i
        k = index(a.shape[-1])
        product = Fold("sum", (k,), mul(a[(*batch, m, k)], b[(*batch, k, n)]))
        return add(c[i], product)

    return block(c.shape, at, c.kind)


def _join(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    a, b = cast("list[Tensor]", operands)
    return block((*a.shape, 2), lambda *i: where(integers.equal(i[-1], 0), a[i[:-1]], b[i[:-1]]), a.kind)


def _split(machine: Machine, operation: Operation, operands: list[Value]) -> tuple[Tensor, Tensor]:
    (x,) = cast("list[Tensor]", operands)
    first, second = (block(x.shape[:-1], lambda *i, k=k: x[(*i, const(k))], x.kind) for k in (0, 1))
    return first, second


def _cat(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    a, b = cast("list[Tensor]", operands)
    length = a.shape[0]

    def at(*i: Expr) -> Expr:
        return where(integers.less(i[0], length), a[i], b[(integers.minus(i[0], length), *i[1:])])

    return Shuffled(operation.type.shape, at, a.kind)  # Triton's cat may reorder


def _poison(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    kind = operation.type
    return block(kind.shape, lambda *i: undefined(operation.place, kind.kind, *i), kind.kind)


SHAPES: dict[str, Callable[[Machine, Operation, list[Value]], Any]] = {
    "arith.constant": _constant,
    "tt.get_program_id": _program,
    "tt.get_num_programs": _programs,
    "tt.make_range": _range,
    "tt.splat": _splat,
    "tt.unsplat": lambda machine, operation, operands: moved(
        machine, operation, operands, lambda shape, *i: (ZERO,) * len(shape)
    ),
    "tt.broadcast": _broadcast,
    "tt.expand_dims": _expand,
    "tt.trans": _transpose,
    "tt.reshape": _reshape,
    "tt.dot": _dot,
    "tt.join": _join,
    "tt.split": _split,
    "tt.cat": _cat,
    "ub.poison": _poison,
    "tt.reduce": reductions.reduce,
    "tt.scan": reductions.scan,
}


# ------------------------------------------------------------------------------------------------------------- control


def _if(machine: Machine, operation: Operation, env: Environment) -> list[Value]:
    condition = cast(Tensor, env[operation.operands[0]])[()]
    decided = condition if isinstance(condition, Truth) else None
    for goal, answer in ((condition, TRUE), (not_(condition), FALSE)):
        if decided is None and machine.prover.proves(machine.path, goal):
            decided = answer
    branches: list[list[Value]] = []
    for region, holds in zip((*operation.regions, Region())[:2], (True, False), strict=True):
        if decided is not None and decided.value != holds:
            branches.append([])
            continue
        machine.path.append(condition if holds else not_(condition))
        branches.append(machine.block(region, dict(env)))
        machine.path.pop()
    if decided is not None:
        return branches[0] if decided.value else branches[1]
    return [chosen(operation, condition, a, b) for a, b in zip(*branches, strict=True)] if operation.results else []


def chosen(operation: Operation, condition: Expr, a: Value, b: Value) -> Value:
    """One value where a condition on the whole program holds, else another."""
    if isinstance(a, Pointers) and isinstance(b, Pointers):
        if a.memory != b.memory:
            raise Refused(
                f"{operation.place}: a pointer into {a.memory.name} or {b.memory.name}, as a condition decides"
            )
        offsets = cast(Tensor, chosen(operation, condition, a.offsets, b.offsets))
        return Pointers(a.memory, offsets, (*a.parts, *b.parts))
    assert isinstance(a, Tensor) and isinstance(b, Tensor)
    return block(a.shape, lambda *i: where(condition, a[i], b[i]), a.kind)


CONTROL: dict[str, Callable[[Machine, Operation, Environment], list[Value]]] = {
    "scf.if": _if,
    "scf.for": summarised,
    "scf.while": summarised_while,
}
