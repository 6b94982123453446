"""Loads, stores and atomic operations: what a kernel reads and writes, for all lanes, programs and iterations at once.

Each is noted with its mask, the conditions on the path to it and the loops around it. A masked load without `other`
gives an undefined value in the lanes that it leaves out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from samesame.evidence import Refused
from samesame.formula.expr import Expr, Index, and_, not_, where
from samesame.formula.tensor import Tensor
from samesame.lift.execution.ttir import Operation, Place
from samesame.lift.execution.unsigned import as_kept, as_read, is_unsigned
from samesame.lift.execution.values import Chosen, Pointers, Value, block, element_at, undefined
from samesame.lift.indices import integers

if TYPE_CHECKING:
    from samesame.lift.execution.symbolic import Machine


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

def _load(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    pointers, *rest = operands
    if isinstance(pointers, Chosen):
        condition = pointers.condition
        a, b = (_load(machine, operation, [p, *masked(rest, m)]) for p, m in pointers.sides())
        return block(a.shape, lambda *i: where(condition[i], a[i], b[i]), a.kind)
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
        found = as_read(memory, element_at(memory, offset))
        found = where(found, 1, 0) if memory.kind == "bool" and kind == "int" else found
        if mask is None:
            return found
        missing = other[i] if other is not None else as_read(memory, undefined(place, kind, offset, *loops))
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


def masked(rest: list[Value], condition: Tensor) -> list[Value]:
    """Operands behind the pointers, with a condition more in the mask, which comes first."""
    if not rest:
        return [condition]
    mask = cast(Tensor, rest[0])
    return [block(mask.shape, lambda *i: and_(mask[i], condition[i]), "bool"), *rest[1:]]


def _noted(machine: Machine, operation: Operation, kind: str, pointers: Value, value: Value, mask: list[Value]) -> None:
    if isinstance(pointers, Chosen):
        for side, condition in pointers.sides():
            _noted(machine, operation, kind, side, value, masked(mask, condition))
        return
    if not isinstance(pointers, Pointers) or not isinstance(value, Tensor):
        raise Refused(f"{operation.place}: {operation.name} needs a pointer and a number")
    memory = pointers.memory
    if memory.kind == "bool" and value.kind == "int":
        number_ = value
        value = block(value.shape, lambda *i: not_(integers.equal(number_[i], 0)), "bool")
    if memory.kind == "int" and value.kind == "real":
        raise Refused(f"{operation.place}: {memory.name} holds {memory.element}, and a float is stored")
    if is_unsigned(memory):
        signed = value
        value = block(value.shape, lambda *i: as_kept(memory, signed[i]), "int")
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
