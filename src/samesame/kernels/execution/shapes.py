"""Operations that move lanes about: a block whose elements are elements of others, and where blocks come from."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from samesame.evidence import Refused
from samesame.formula.expr import TRUE, ZERO, Expr, Fold, add, and_, const, index, mul, where
from samesame.formula.tensor import Tensor
from samesame.kernels.execution import reductions
from samesame.kernels.execution.flips import of_both
from samesame.kernels.execution.operations import number
from samesame.kernels.execution.ttir import Operation, Type
from samesame.kernels.execution.values import Chosen, Pointers, Shuffled, Value, block, same_everywhere, undefined
from samesame.kernels.indices import integers

if TYPE_CHECKING:
    from samesame.kernels.execution.symbolic import Machine

AXES = ("x", "y", "z")

def moved(machine: Machine, operation: Operation, operands: list[Value], source: Callable[..., Any]) -> Value:
    """A block whose elements are elements of another: `source` gives the other's lanes."""
    (x,) = operands
    shape = operation.type.shape

    def one(t: Tensor) -> Tensor:
        return block(shape, lambda *i: t[tuple(source(t.shape, *i))], t.kind)

    def pointers(value: Pointers | Chosen) -> Pointers | Chosen:
        if isinstance(value, Chosen):
            return Chosen(one(value.condition), pointers(value.then), pointers(value.otherwise))
        parts = tuple(replace(part, number=one(part.number)) for part in value.parts)
        return replace(value, offsets=one(value.offsets), parts=parts)

    if isinstance(x, Pointers | Chosen):
        return pointers(x)
    return one(cast(Tensor, x))


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
    machine.all_observed(operation, (a, b))  # their products have more bits

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


def _reduce(machine: Machine, operation: Operation, operands: list[Value]) -> Any:
    both = of_both(operation, cast(Tensor, operands[0]), operation.attribute("axis")) if len(operands) == 1 else None
    return reductions.reduce(machine, operation, operands) if both is None else both


def _histogram(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    """Of each bin how many lanes hold its number; what is in no bin is not counted, or nobody knows where, as the
    launch says."""
    x, *rest = cast("list[Tensor]", operands)
    (lanes,), (bins,), path = x.shape, operation.type.shape, tuple(machine.path)
    machine.observed(x, operation.given[0].bits, operation.place)

    def at(b: Expr) -> Expr:
        k = index(lanes)
        taken, held = rest[0][k] if rest else TRUE, integers.equal(x[k], b)
        inside = and_(integers.at_least_zero(x[k]), integers.less(x[k], const(bins)))
        if machine.launch.leaves_out or machine.prover.proves((*path, taken), inside):
            return Fold("sum", (k,), where(and_(taken, held), 1, 0))
        found = where(inside, where(held, 1, 0), undefined(operation.place, "int", b, k))
        return Fold("sum", (k,), where(taken, found, 0))

    return block(operation.type.shape, at, "int")


def _gather(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    """Along an axis, lanes by their number; undefined for one that is not there."""
    x, numbers = cast("list[Tensor]", operands)
    axis = operation.attribute("axis")
    machine.observed(numbers, operation.given[1].bits, operation.place)

    def at(*i: Expr) -> Expr:
        k = numbers[i]
        inside = and_(integers.at_least_zero(k), integers.less(k, x.shape[axis]))
        return where(inside, x[(*i[:axis], k, *i[axis + 1 :])], undefined(operation.place, x.kind, *i, *machine.loops))

    return block(numbers.shape, at, x.kind)


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
    "tt.reduce": _reduce,
    "tt.histogram": _histogram,
    "tt.gather": _gather,
    "tt.scan": reductions.scan,
}
