"""Hints: what a kernel tells the compiler to take for granted, as conditions that have to hold.

    tl.assume(c)              c
    tl.max_constancy(x, c)    x[l] = x[c·⌊l/c⌋]                  for each lane l, along each axis
    tl.max_contiguous(x, c)   x[l] = x[c·⌊l/c⌋] + l mod c
    tl.multiple_of(x, v)      v divides x[l], or it divides x[c·⌊l/c⌋] and x counts on from there; c is v or as said

The compiler moves several elements at once where such a hint allows it, and leaves out tests that it decides: where the
hint is not so, the kernel is another one than it says. Nothing is derived from hints here. What Triton itself drops (a
hint on a kernel's own argument) is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Any

from samesame.formula.expr import FALSE, Expr, and_, const, or_
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.ttir import Operation, Place
from samesame.kernels.execution.values import Pointers, block
from samesame.kernels.indices import integers

if TYPE_CHECKING:
    from samesame.kernels.execution.symbolic import Machine

ATTRIBUTE = re.compile(r"tt\.(divisibility|contiguity|constancy)(\w*) = (?:dense<\[?([^\]>]*)\]?>|(\d+))")
WORDS = {"divisibility": "tl.multiple_of", "contiguity": "tl.max_contiguous", "constancy": "tl.max_constancy"}
ASSUME = "llvm.intr.assume"


@dataclass(frozen=True, eq=False)
class Hint:
    """A hint: the conditions for all lanes, and those on the path to it."""

    words: str
    condition: Tensor
    path: tuple[Expr, ...]
    place: Place


def heed(machine: Machine, operation: Operation, values: Sequence[Any]) -> None:
    """Note the hints on what an operation gives; of `tl.assume`, on its operand."""
    if operation.name == ASSUME:
        machine.hints.append(Hint("tl.assume", values[0], tuple(machine.path), operation.place))
        return
    told: dict[str, list[int]] = {}
    for kind, argument, several, one in ATTRIBUTE.findall(operation.text):
        if argument:  # on what a loop carries, of which only its closed form is known
            unknown = block((), lambda: FALSE, "bool")
            machine.hints.append(Hint(WORDS[kind], unknown, tuple(machine.path), operation.place))
        else:
            told[kind] = [int(n) for n in (several or one).split(",")]
    for kind, numbers in told.items():
        for x in values:
            condition = holding(kind, numbers, told, x)
            machine.hints.append(Hint(WORDS[kind], condition, tuple(machine.path), operation.place))


def holding(kind: str, numbers: list[int], told: dict[str, list[int]], x: Any) -> Tensor:
    """The condition of one hint for each lane of a block, or of a block of pointers, whose multiples are of bytes."""
    number = x.offsets if isinstance(x, Pointers) else x
    if kind == "divisibility" and isinstance(x, Pointers):
        width = max(int(re.sub(r"\D", "", x.memory.element.partition("_")[0]) or 8) // 8, 1)
        numbers = [n // gcd(n, width) for n in numbers]
    groups = told.get("contiguity", numbers)
    if not number.shape:
        return block((), lambda: divides(numbers[0], number[()]) if kind == "divisibility" else const(True), "bool")
    axes = range(len(number.shape))
    return block(number.shape, lambda *i: and_(*AXIS[kind](number, i, numbers, groups, axes)), "bool")


def divides(n: int, x: Expr) -> Expr:
    return integers.equal(integers.remainder(x, const(n)), 0)


def first_of(i: tuple[Expr, ...], axis: int, length: int) -> tuple[Expr, ...]:
    """The first lane of this lane's group of so many along an axis."""
    start = integers.times_(integers.quotient(i[axis], const(length)), length)
    return (*i[:axis], start, *i[axis + 1 :])


def constant(x: Tensor, i: Any, numbers: list[int], _: list[int], axes: range) -> Iterator[Expr]:
    yield from (integers.equal(x[i], x[first_of(i, k, numbers[k])]) for k in axes if numbers[k] > 1)


def contiguous(x: Tensor, i: Any, numbers: list[int], _: list[int], axes: range) -> Iterator[Expr]:
    yield from (counts_on(x, i, k, numbers[k]) for k in axes if numbers[k] > 1)


def counts_on(x: Tensor, i: tuple[Expr, ...], axis: int, length: int) -> Expr:
    first = first_of(i, axis, length)
    ahead = integers.minus(i[axis], first[axis])
    return integers.equal(x[i], integers.plus_(x[first], ahead))


def multiple(x: Tensor, i: Any, numbers: list[int], groups: list[int], axes: range) -> Iterator[Expr]:
    for k in axes:
        if numbers[k] > 1:
            length = groups[k] if groups[k] > 1 else numbers[k]
            begins = and_(counts_on(x, i, k, length), divides(numbers[k], x[first_of(i, k, length)]))
            yield or_(divides(numbers[k], x[i]), begins)


AXIS: dict[str, Callable[..., Iterator[Expr]]] = {
    "constancy": constant,
    "contiguity": contiguous,
    "divisibility": multiple,
}
