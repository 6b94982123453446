"""Loads, stores and atomic operations: what a kernel reads and writes, for all lanes, programs and iterations at once.

Each is noted with its mask, the conditions on the path to it and the loops around it. A masked load without `other`
gives an undefined value in the lanes that it leaves out. A load from where the lane itself has stored, just before or
in the same turn of a loop that is over, gives what it stored there.

A maximum or minimum of floats is one of their bits in Triton's IR: where the new value is not negative, that of signed
integers (a negative float is negative as an integer, and floats above 0 are in the order of their bits), and where it
is, the opposite one of unsigned integers. Each of the two is the maximum of floats, where the sign is what it takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from samesame.evidence import Refused
from samesame.formula.expr import FALSE, TRUE, ZERO, And, Expr, Index, and_, index, lt, not_, or_, substitute, where
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.ttir import Operation, Place
from samesame.kernels.execution.unsigned import as_kept, as_read, is_unsigned
from samesame.kernels.execution.values import Chosen, Pointers, Value, block, element_at, float_of, undefined
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import with_fact

if TYPE_CHECKING:
    from samesame.kernels.execution.symbolic import Machine


@dataclass(frozen=True, eq=False)
class Access:
    """One load, store or atomic operation, for all lanes, programs and iterations at once. `own` is the store in a loop
    that is over whose value a load gives, the lane's own in the same turn; nobody else may have stored there since."""

    kind: str  # load, store, or what an atomic operation does: a monoid, or Triton's name of what is none
    pointers: Pointers
    mask: Tensor | None
    value: Tensor | None
    path: tuple[Expr, ...]  # conditions under which it happens
    loops: tuple[Index, ...]
    place: Place
    number: int  # in program order
    own: Access | None = None


BYTE = 8  # bits, which a truth value has in memory
ATOMIC = {"fadd": "sum", "add": "sum", "max": "max", "min": "min"}  # Triton's names, and monoids
UNSIGNED = {"add": "sum", "umax": "max", "umin": "min"}  # the same of unsigned integers
OF_BITS = {"max": ("max", False), "umin": ("max", True), "min": ("min", False), "umax": ("min", True)}
# of floats by their bits: a monoid, and whether the new value must be negative


def load(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    pointers, *rest = operands
    if isinstance(pointers, Chosen):
        condition = pointers.condition
        a, b = (load(machine, operation, [p, *masked(rest, m)]) for p, m in pointers.sides())
        return block(a.shape, lambda *i: where(condition[i], a[i], b[i]), a.kind)
    if not isinstance(pointers, Pointers) or pointers.bits:
        raise Refused(f"{operation.place}: a load from what is no pointer, or of floats as integers")
    mask, other = (*cast("list[Tensor]", rest), None, None)[:2]
    held = operation.made[0] if operation.made else operation.given[0].pointee
    kind = held.kind
    memory, place, loops = pointers.memory, operation.place, tuple(machine.loops)
    if memory.kind != kind and not (memory.kind == "bool" and kind == "int"):
        raise Refused(f"{place}: {memory.name} holds {memory.element}, and is read as {held.element}")
    own = own_store(machine, pointers, mask)
    machine.own.append(own is not None)
    machine.reads_back = machine.reads_back or (own is not None and not own.turns)
    if own is None or own.turns:
        store = own.store if own is not None else None
        number = len(machine.accesses)
        machine.accesses.append(Access("load", pointers, mask, None, tuple(machine.path), loops, place, number, store))

    def at(*i: Expr) -> Expr:
        offset = pointers.offsets[i]
        found = as_read(memory, element_at(memory, offset) if own is None else own.value(i))
        found = where(found, 1, 0) if memory.kind == "bool" and kind == "int" else found
        if mask is None:
            return found
        missing = other[i] if other is not None else as_read(memory, undefined(place, kind, offset, *loops))
        return where(mask[i], found, missing)

    return block(pointers.shape, at, kind)


@dataclass(frozen=True)
class Own:
    """A store, and the counters here in place of those of its loops: where it and a load go along the same places."""

    store: Access
    turns: dict[Index, Expr]

    def here(self, expr: Expr) -> Expr:
        return integers.tidied(substitute(expr, self.turns) if self.turns else expr)

    def value(self, lanes: tuple[Expr, ...]) -> Expr:
        value = cast(Tensor, self.store.value)[lanes]
        return self.here(value) if self.turns else value


def own_store(machine: Machine, pointers: Pointers, mask: Tensor | None) -> Own | None:
    """What each lane itself has stored where it reads now: by the last store to this memory, at the same offsets and
    under the same mask, in the same iteration or in the same turn of a loop before. None where that is not so."""
    memory = pointers.memory
    last = next(
        (
            access
            for access in reversed(machine.accesses)
            if access.kind != "load"
            and (access.pointers.memory == memory or memory.storage in ("", access.pointers.memory.storage))
        ),
        None,
    )
    if last is None or last.kind != "store" or last.value is None or last.pointers.memory != memory:
        return None
    turns = in_turn(last.loops, tuple(machine.loops))
    if turns is None or last.pointers.shape != pointers.shape or last.pointers.bits:
        return None
    own, lanes = Own(last, turns), tuple(index(n) for n in pointers.shape)
    passed = [integers.tidied(condition) for condition in machine.path[: len(last.path)]]
    if [own.here(condition) for condition in last.path] != passed:
        return None

    def alike(stored: Tensor, read: Tensor) -> bool:
        return own.here(stored[lanes]) is integers.tidied(read[lanes])

    masked_alike = last.mask is None or (mask is not None and alike(last.mask, mask))
    return own if masked_alike and alike(last.pointers.offsets, pointers.offsets) else None


def in_turn(before: tuple[Index, ...], here: tuple[Index, ...]) -> dict[Index, Expr] | None:
    """The counters of the loops here in place of those of loops before, where these run as often; nothing where they
    are the same loops. None where some do not."""
    turns: dict[Index, Expr] = {}
    if len(before) != len(here):
        return None
    for old, new in zip(before, here, strict=True):
        if old is not new and integers.tidied(substitute(old.extent, turns)) is not integers.tidied(new.extent):
            return None
        turns |= {} if old is new else {old: new}
    return turns


def _store(machine: Machine, operation: Operation, operands: list[Value]) -> None:
    pointers, value, *mask = operands
    noted(machine, operation, "store", pointers, value, mask)


def _atomic(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    """The old value that an atomic operation returns depends on the order of programs: it is undefined."""
    pointers, value, *mask = operands
    noted(machine, operation, operation.word(), pointers, value, mask)
    loops = tuple(machine.loops)
    assert isinstance(value, Tensor)
    return block(value.shape, lambda *i: undefined(operation.place, value.kind, *i, *loops), value.kind)


def _swapped(machine: Machine, operation: Operation, operands: list[Value]) -> None:
    raise Refused(f"{operation.place}: a compare-and-swap depends on the order of programs, and is not supported")


def masked(rest: list[Value], condition: Tensor) -> list[Value]:
    """Operands behind the pointers, with a condition more in the mask, which comes first."""
    if not rest:
        return [condition]
    mask = cast(Tensor, rest[0])
    return [block(mask.shape, lambda *i: and_(mask[i], condition[i]), "bool"), *rest[1:]]


def noted(machine: Machine, operation: Operation, kind: str, pointers: Value, value: Value, mask: list[Value]) -> None:
    if isinstance(pointers, Chosen):
        for side, condition in pointers.sides():
            noted(machine, operation, kind, side, value, masked(mask, condition))
        return
    if not isinstance(pointers, Pointers) or not isinstance(value, Tensor):
        raise Refused(f"{operation.place}: {operation.name} needs a pointer and a number")
    memory = pointers.memory
    under = cast("Tensor | None", mask[0] if mask else None)
    if pointers.bits:
        kind, value = _floats(machine, operation, value, under)
    elif kind != "store":
        kind = (UNSIGNED if is_unsigned(memory) else ATOMIC).get(kind, f"{kind} of {memory.element}")
    if memory.kind == "bool" and value.kind == "int":
        number_ = value
        machine.observed(number_, BYTE, operation.place, under)
        value = block(value.shape, lambda *i: not_(integers.equal(number_[i], 0)), "bool")
    if memory.kind == "int" and value.kind == "real":
        raise Refused(f"{operation.place}: {memory.name} holds {memory.element}, and a float is stored")
    if is_unsigned(memory):
        signed = value
        value = block(value.shape, lambda *i: as_kept(memory, signed[i]), "int")
    access = Access(
        kind,
        pointers,
        under,
        value,
        tuple(machine.path),
        tuple(machine.loops),
        operation.place,
        len(machine.accesses),
    )
    if machine.accesses and (whole := _both(machine.accesses[-1], access)) is not None:
        machine.accesses[-1] = whole
    else:
        machine.accesses.append(access)


def _floats(machine: Machine, operation: Operation, value: Tensor, mask: Tensor | None) -> tuple[str, Tensor]:
    """What an atomic operation on the bits of floats does to the floats. Raises Refused where that is not known."""
    monoid, negative = OF_BITS.get(operation.word() if operation.name == "tt.atomic_rmw" else "", ("", False))
    lanes = tuple(index(n) for n in value.shape)
    x = float_of(value[lanes])
    below = lt(x, ZERO) if x is not None else FALSE
    known = with_fact(tuple(machine.path), mask[lanes] if mask is not None else TRUE)
    if not monoid or x is None or not machine.prover.proves(known, below if negative else not_(below)):
        raise Refused(f"{operation.place}: floats are written as integers with the same bits, which is not supported")
    return monoid, block(value.shape, lambda *i: cast(Expr, float_of(value[i])), "real")


def _both(first: Access, second: Access) -> Access | None:
    """Two maxima or minima with the same value, one behind the other, as one under either mask: that of floats has a
    part for each sign."""
    same = first.kind == second.kind and first.pointers.memory == second.pointers.memory
    if not same or first.kind not in ("max", "min") or first.pointers.shape != second.pointers.shape:
        return None
    lanes = tuple(index(n) for n in first.pointers.shape)
    parts = [(a.pointers.offsets[lanes], cast(Tensor, a.value)[lanes], a.path, a.loops) for a in (first, second)]
    if parts[0] != parts[1]:
        return None
    if first.mask is None or second.mask is None:
        return replace(first, mask=None)
    one, other = first.mask, second.mask
    return replace(first, mask=block(one.shape, lambda *i: either(one[i], other[i]), "bool"))


def either(a: Expr, b: Expr) -> Expr:
    """a ∨ b, with what both demand taken out."""
    parts = [e.arguments if isinstance(e, And) else (e,) for e in (a, b)]
    both = [e for e in parts[0] if e in parts[1]]
    one, other = (and_(*(e for e in own if e not in both)) for own in parts)
    return and_(*both, TRUE if one is not_(other) else or_(one, other))


MEMORY: dict[str, Callable[[Machine, Operation, list[Value]], Any]] = {
    "tt.load": load,
    "tt.store": _store,
    "tt.atomic_rmw": _atomic,
    "tt.atomic_cas": _swapped,
}
