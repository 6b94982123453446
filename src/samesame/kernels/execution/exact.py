"""Integers that are kept in floats for a while: a position that goes through float32 and back, a mask that is compared
in float16, a count that is added up in one.

A float of p digits holds every integer up to 2^p and no longer each one above, so what comes back, or is compared, is
the integer only if it and what it was made of stay below. That is an obligation like that of a 32-bit number, and where
sizes decide it the limit is printed. Numbers that stay floats are reals here, as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from samesame.formula.expr import Expr, index
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.ttir import Operation, Place

if TYPE_CHECKING:
    from samesame.kernels.execution.symbolic import Machine

DIGITS = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}  # of a dtype's numbers, in bits; of 8-bit floats below
FEWER = {"f8E4M3": 4, "f8E5M2": 3}
NAMES = {54: "float64", 25: "float32", 12: "float16", 9: "bfloat16", 5: "float8_e4m3", 4: "float8_e5m2"}
BACK = ("arith.fptosi", "arith.fptoui", "arith.cmpf")  # here a float that is no longer the integer shows


@dataclass(frozen=True, eq=False)
class Held:
    """A block of floats that was made of integers, and the blocks that it was made of."""

    block: Tensor
    digits: int
    path: tuple[Expr, ...]
    place: Place
    made_of: tuple[Held, ...]

    def all(self) -> Iterator[Held]:
        """This block and all that it was made of, each once."""
        seen: dict[int, Held] = {}
        left = [self]
        while left:
            one = left.pop()
            if id(one) not in seen:
                seen[id(one)] = one
                left += one.made_of
        yield from seen.values()


def digits_of(element: str) -> int:
    """How many bits a float dtype's numbers have, by its name in the IR."""
    return DIGITS.get(element) or next((n for name, n in FEWER.items() if element.startswith(name)), 3)


def follow(machine: Machine, operation: Operation, operands: Sequence[Any], results: Sequence[Any]) -> None:
    """Note floats that are made of integers, and where they are taken for integers again."""
    before = tuple(machine.floats[id(x)] for x in operands if id(x) in machine.floats)
    if operation.name in BACK and (before or operation.name != "arith.cmpf") and all(map(is_whole, operands)):
        digits, path = digits_of(operation.given[0].element), tuple(machine.path)
        for x in operands:
            one = machine.floats.get(id(x), Held(x, digits, path, operation.place, ()))
            machine.taken_back += [part for part in one.all() if is_whole(part.block)]
    elif before or operation.name in ("arith.sitofp", "arith.uitofp"):
        for result in results:
            if isinstance(result, Tensor) and operation.type.kind == "real":
                digits = digits_of(operation.type.element)
                held = Held(result, digits, tuple(machine.path), operation.place, before)
                machine.floats[id(result)] = held


def is_whole(block: Tensor) -> bool:
    """Whether the formula of a block's elements is one of integers."""
    return block[tuple(index(n) for n in block.shape)].kind == "int"
