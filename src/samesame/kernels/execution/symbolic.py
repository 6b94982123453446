"""Symbolic execution of one program instance: every name of the kernel becomes a block of formulas.

The program ids, lanes and loop counters are index variables, and the kernel's arguments are sizes and leaves, so one
walk through the operations stands for every program of every launch. What is read and written is noted as accesses,
each with its mask, the conditions on the path to it and the loops around it. A masked load without `other` gives an
undefined value in the lanes it leaves out: these are kept as such, and no law applies to them.

Loops are summarised in `loops.py`. An operation that is not known here is refused, with its line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from samesame.evidence import Refused
from samesame.formula.expr import (
    TRUE,
    ZERO,
    Expr,
    Index,
    Num,
    Truth,
    Where,
    and_,
    const,
    index,
    lt,
    not_,
    numeric,
    or_,
    where,
)
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.accesses import MEMORY, Access
from samesame.kernels.execution.barriers import Barrier, note_barrier
from samesame.kernels.execution.branches import Flow, called, if_else
from samesame.kernels.execution.descriptors import DESCRIPTORS
from samesame.kernels.execution.exact import Held, follow
from samesame.kernels.execution.flips import flipped
from samesame.kernels.execution.hints import ASSUME, Hint, heed
from samesame.kernels.execution.operations import (
    BITWISE,
    BOOLEANS,
    IGNORED,
    INTEGERS,
    MAY_OVERFLOW,
    MODULAR,
    NEEDS_SIGN,
    REALS,
    SHIFTS,
    TO_ZERO,
    WHOLE,
    WITHOUT_MEANING,
    bitwise,
    cast_of_bits,
    compared,
    library,
    modular,
    real,
    without_fraction,
)
from samesame.kernels.execution.shapes import AXES, SHAPES
from samesame.kernels.execution.ttir import Function, Operation, Place, Region, Type
from samesame.kernels.execution.unsigned import bits_of, is_unsigned, unsigned_in
from samesame.kernels.execution.values import (
    ADDRESS,
    Chosen,
    Descriptor,
    Pointers,
    Shuffled,
    Step,
    Value,
    address_of,
    as_number,
    block,
    float_of,
    is_address,
    of_bits,
    pointers_chosen,
    same_everywhere,
    undefined,
    wraps,
)
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.kernels.launch import Argument, Launch, Memory, whole_numbers
from samesame.kernels.loops.carried import ALL_MEANS, Means
from samesame.kernels.loops.closed import summarised, summarised_while

Environment = dict[str, Value]


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """A number that must not have wrapped around: it is compared, divided, widened or added to a pointer, where the
    mask has a lane. Sums and products that are only added and multiplied further may come right again."""

    result: Tensor
    bits: int
    path: tuple[Expr, ...]
    place: Place
    mask: Tensor | None = None


@dataclass
class Machine:
    """The state of the walk. `programs` are the program ids along the grid's axes."""

    launch: Launch
    prover: IndexProver
    programs: tuple[Index, ...] = ()
    accesses: list[Access] = field(default_factory=list)
    own: list[bool] = field(default_factory=list)  # of each load so far, whether it gives what its lane has stored
    reads_back: bool = False  # what was stored in the same iteration
    barriers: list[Barrier] = field(default_factory=list)
    arithmetic: list[Arithmetic] = field(default_factory=list)
    path: list[Expr] = field(default_factory=list)
    loops: list[Index] = field(default_factory=list)
    scalars: dict[str, Expr] = field(default_factory=dict)
    hints: list[Hint] = field(default_factory=list)
    floats: dict[int, Held] = field(default_factory=dict)  # blocks of floats that are made of integers, by their id
    taken_back: list[Held] = field(default_factory=list)  # those that have to be these integers
    steps: dict[str, int] = field(default_factory=dict)  # inductive steps proved, by line
    scope: Environment = field(default_factory=dict)  # the names where the walk is
    means: Means = ALL_MEANS
    synthesised: list[str] = field(default_factory=list)  # lines of loops with a closed form found by search
    counts: set[str] = field(default_factory=set)  # leaves whose elements are taken to be at least 1
    functions: dict[str, Function] = field(default_factory=dict)  # those that the kernel may call, by name
    calling: list[str] = field(default_factory=list)  # those that are executed now

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
        self.functions = function.others
        Flow(self, function).run(env)

    def argument(self, name: str, kind: Type, given: Argument) -> Value:
        if isinstance(given, Memory):
            if given.kind == "int" and (is_unsigned(given) or bits_of(given) < WHOLE):
                low, high = map(const, whole_numbers(given.element))
                self.prover.dtypes |= {given.name: (low, high), f"{given.name}*": (low, high)}
            return Pointers(given, same_everywhere(integers.tidied(const(self.launch.starts.get(name, 0)))))
        if isinstance(given, bool) or kind.kind == "bool":
            return same_everywhere(const(bool(given)) if not isinstance(given, Expr) else given)
        if kind.kind == "pointer":
            raise Refused(f"the argument {name} is a pointer, and the launch gives {given!r}")
        if isinstance(given, Expr):
            self.scalars[name] = integers.tidied(given) if given.kind == "int" and kind.bits < 64 else ZERO
            return same_everywhere(integers.tidied(given) if given.kind == "int" else given)
        return same_everywhere(const(given) if isinstance(given, int) else real(given, kind.element))

    @property
    def notes(self) -> tuple[list[Any], ...]:
        return self.accesses, self.arithmetic, self.hints, self.barriers, self.taken_back

    def mark(self) -> tuple[int, ...]:
        """How much is noted so far."""
        return tuple(len(notes) for notes in self.notes)

    def forget(self, mark: tuple[int, ...]) -> None:
        """Forget what was noted since: the walk was one for a trial."""
        for notes, kept in zip(self.notes, mark, strict=True):
            del notes[kept:]

    def block(self, region: Region, env: Environment) -> list[Value]:
        """Execute a region; the operands of its terminator."""
        for operation in region.operations:
            if operation.name in ("scf.yield", "tt.reduce.return", "tt.scan.return", "scf.condition"):
                return [self.operand(operation, name, env) for name in operation.operands]
            self.execute(operation, env)
        return []

    def execute(self, operation: Operation, env: Environment) -> None:
        if operation.name == ASSUME:
            heed(self, operation, [self.operand(operation, name, env) for name in operation.operands])
        note_barrier(self, operation, env)
        if operation.name in IGNORED:
            return
        if operation.name in CONTROL:
            operands = [self.operand(operation, name, env) for name in operation.operands if name in env]
            if operation.name in ("scf.for", "scf.while") and any(isinstance(x, Chosen) for x in operands):
                raise Refused(f"{operation.place}: a loop carries a pointer into one of several tensors")
            results = CONTROL[operation.name](self, operation, env)
        else:
            operands = [self.operand(operation, name, env) for name in operation.operands]
            self.scope = env
            made = self.value(operation, operands)
            results = list(made) if isinstance(made, tuple) else [made] if made is not None else []
            follow(self, operation, operands, results)
        heed(self, operation, results)
        for name, result in zip(operation.results, results, strict=True):
            env[name] = result

    def operand(self, operation: Operation, name: str, env: Environment) -> Value:
        if name not in env:
            raise Refused(f"{operation.place}: {operation.name} reads {name}, which is nowhere computed")
        found = env[name]
        if isinstance(found, Shuffled) and (operation.name != "tt.reduce" or len(found.shape) > 1):
            raise Refused(
                f"{operation.place}: the order of a reshaped block is left to the compiler; pass can_reorder=False"
            )
        return found

    # ------------------------------------------------------------------------------------------------- operations

    def value(self, operation: Operation, operands: list[Value]) -> Any:
        if operation.name in MEMORY:
            return MEMORY[operation.name](self, operation, operands)
        if operation.name in DESCRIPTORS:
            return DESCRIPTORS[operation.name](self, operation, operands)
        if any(isinstance(x, Descriptor) for x in operands):
            raise Refused(f"{operation.place}: {operation.name} of a tensor descriptor is not supported")
        if operation.name in SHAPES:
            return SHAPES[operation.name](self, operation, operands)
        if any(isinstance(x, Pointers | Chosen) for x in operands):
            return self.of_pointers(operation, operands)
        blocks = cast("list[Tensor]", operands)
        kinds = {x.kind for x in blocks}
        name = operation.name
        if name not in MODULAR:
            self.all_observed(operation, blocks)
        if name in SHIFTS and operation.type.bits <= WHOLE:
            self.observed(blocks[0], operation.type.bits, operation.place)
        if name == "arith.trunci" and operation.type.bits > 1:
            self.observed(blocks[0], operation.type.bits, operation.place)
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
        if name == "arith.xori" and (found := flipped(operation, blocks)) is not None:
            return found
        if name in NEEDS_SIGN:
            return self.elementwise(operation, blocks, self.division(operation), "int")
        if name in BITWISE:
            return self.elementwise(operation, blocks, bitwise(name, operation.type.bits), "int")
        if name in MAY_OVERFLOW:
            return self.elementwise(operation, blocks, modular(name, operation.type.bits), "int")
        if name in ("arith.fptosi", "arith.fptoui"):
            return self.elementwise(operation, blocks, without_fraction, "int")
        if name in INTEGERS:
            return self.elementwise(operation, blocks, self.converted(operation), operation.type.kind)
        raise unsupported(operation)

    def observed(self, x: Tensor, bits: int, place: Place, mask: Tensor | None = None) -> None:
        """Note integers that must not have wrapped around here."""
        if x.kind == "int" and bits < ADDRESS:
            self.arithmetic.append(Arithmetic(x, bits, tuple(self.path), place, mask))

    def all_observed(self, operation: Operation, blocks: Sequence[Tensor]) -> None:
        """Note the integers among an operation's operands, whose types are written apart or are one."""
        kinds = operation.given * len(blocks) if len(operation.given) == 1 else operation.given
        for x, kind in zip(blocks, kinds, strict=False):
            self.observed(x, kind.bits, operation.place)

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
                known = [unsigned_in(x, operation.given[0].bits) for x in operands]
                if None not in known:
                    return plain(*known)
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
            make = self.unsigned(operation, predicate)
        else:
            make = integers.COMPARISONS.get(predicate)
        if make is None:
            raise Refused(f"{operation.place}: the comparison {predicate} is not supported")
        return self.elementwise(operation, operands, of_signs(predicate, make), "bool")

    def unsigned(self, operation: Operation, predicate: str) -> Callable[[Expr, Expr], Expr]:
        """A comparison of unsigned numbers; of bits, of which only the signed number is spoken, an unknown one."""
        signed, path, bits = integers.COMPARISONS["s" + predicate[1:]], tuple(self.path), operation.given[0].bits

        def apply(a: Expr, b: Expr) -> Expr:
            if wraps(a) or wraps(b):
                return not_(integers.equal(of_bits(predicate, bits, a, b), 0))
            return self.where_not_negative(operation, path, (a, b), signed(a, b))

        return apply

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
            self.arithmetic += [Arithmetic(part.number, part.bits, tuple(self.path), place) for part in new]

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
        first = operands[0]
        if operation.name in ("tt.addptr", "tt.bitcast") and isinstance(first, Chosen):
            sides = (self.of_pointers(operation, [side, *operands[1:]]) for side in (first.then, first.otherwise))
            then, otherwise = cast("Iterator[Pointers | Chosen]", sides)
            return Chosen(first.condition, then, otherwise)
        if operation.name == "tt.addptr":
            pointers, offsets = operands
            if not isinstance(pointers, Pointers) or not isinstance(offsets, Tensor):
                raise Refused(f"{operation.place}: a pointer is added to a pointer")
            moved = self.elementwise(operation, [pointers.offsets, offsets], integers.plus_, "int")
            bits = operation.given[1].bits
            parts = (Step(offsets, bits),) if bits < ADDRESS else ()
            return replace(pointers, offsets=moved, parts=(*pointers.parts, *parts))
        if operation.name == "tt.ptr_to_int" and isinstance(first, Pointers) and not first.shape:
            return address_of(first)
        if operation.name == "tt.bitcast":
            (pointers,) = operands
            assert isinstance(pointers, Pointers)
            there, here = operation.given[0].pointee, operation.type.pointee
            if here.bits == 8 and pointers.memory.kind == "bool":
                return pointers
            if there.kind == "real" and here.kind == "int" and there.bits == here.bits:
                return replace(pointers, bits=True)
        if operation.name == "arith.select":
            condition, a, b = operands
            if isinstance(a, Pointers | Chosen) and isinstance(b, Pointers | Chosen):
                return pointers_chosen(cast(Tensor, condition), a, b)
        raise unsupported(operation, " of pointers")


def unsupported(operation: Operation, what: str = "") -> Refused:
    """That an operation has no meaning here, in the words of Triton's language where it has a name there."""
    said = WITHOUT_MEANING.get(operation.name, f"the operation {operation.name}{what} is not supported")
    return Refused(f"{operation.place}: {said}")


def of_signs(predicate: str, make: Callable[[Expr, Expr], Expr]) -> Callable[[Expr, Expr], Expr]:
    """A comparison in which a float's bits are negative where the float is, and no tensor's address is 0; of numbers
    that a condition chooses, that condition."""

    def apply(a: Expr, b: Expr) -> Expr:
        x = float_of(a)
        if isinstance(a, Where) and all(isinstance(e, Num) for e in (a.then, a.otherwise, b)):
            then, otherwise = make(a.then, b), make(a.otherwise, b)
            if isinstance(then, Truth) and isinstance(otherwise, Truth):
                return then if then is otherwise else a.condition if then is TRUE else not_(a.condition)
        if x is not None and b is ZERO and predicate in ("slt", "sge"):
            return lt(x, ZERO) if predicate == "slt" else not_(lt(x, ZERO))
        if is_address(a) and b is ZERO and predicate in ("eq", "ne"):
            return const(predicate == "ne")
        return make(a, b)

    return apply


ALIKE: dict[str, Callable[[Expr, Expr], Expr]] = {  # comparisons of truth values
    "eq": lambda a, b: or_(and_(a, b), and_(not_(a), not_(b))),
    "ne": lambda a, b: or_(and_(a, not_(b)), and_(not_(a), b)),
}


# ------------------------------------------------------------------------------------------------------------- control


CONTROL: dict[str, Callable[[Machine, Operation, Environment], list[Value]]] = {
    "scf.if": if_else,
    "tt.call": called,
    "scf.for": summarised,
    "scf.while": summarised_while,
}
