"""Tensor descriptors: a pointer with sizes and strides, through which whole blocks are read and written.

A block that reaches over the edge is cut off: what lies outside is read as 0 and not written. So a descriptor is an
access by pointers with a mask, which the kernel need not write down. What it must keep to is how memory is aligned:
rows, and where a block begins in a row, lie at multiples of 16 bytes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce
from math import gcd
from typing import TYPE_CHECKING, Any, cast

from samesame.evidence import Refused
from samesame.formula.expr import ZERO, Expr, and_, const
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.accesses import load, noted
from samesame.kernels.execution.ttir import Operation
from samesame.kernels.execution.unsigned import is_unsigned
from samesame.kernels.execution.values import Demand, Descriptor, Pointers, Value, block, same_everywhere
from samesame.kernels.indices import integers
from samesame.kernels.launch import Memory

if TYPE_CHECKING:
    from samesame.kernels.execution.symbolic import Machine

ALIGNED = 16  # bytes


def _described(machine: Machine, operation: Operation, operands: list[Value]) -> Descriptor:
    pointers, *numbers = operands
    if not isinstance(pointers, Pointers) or pointers.bits:
        raise Refused(f"{operation.place}: a tensor descriptor of what is no tensor's memory is not supported")
    rank = len(numbers) // 2
    for size in cast("list[Tensor]", numbers[:rank]):
        machine.observed(size, 32, operation.place)
    sizes, strides = ([cast(Tensor, x)[()] for x in part] for part in (numbers[:rank], numbers[rank:]))
    name = pointers.memory.name
    if strides[-1] is not const(1):
        raise Refused(f"{operation.place}: the last stride of a tensor descriptor is not 1")
    words = f"not every row of {name} begins at a multiple of {ALIGNED} bytes"
    demands = [aligned(pointers.memory, step, words) for step in (pointers.offsets[()], *strides[:-1])]
    described = replace(pointers, demands=(*pointers.demands, *demands))
    return Descriptor(described, tuple(sizes), tuple(strides), operation.attribute("padding", 1) == 1)


def aligned(memory: Memory, elements: Expr, otherwise: str) -> Demand:
    """So many elements must be a multiple of 16 bytes; `otherwise` says what is wrong if they are not."""
    digits = re.search(r"\d+", memory.element)
    unit = ALIGNED // gcd(ALIGNED, max(int(digits[0]) // 8, 1) if digits else 1)
    return Demand(integers.equal(integers.remainder(elements, const(unit)), ZERO), otherwise)


def _accessed(
    machine: Machine, operation: Operation, descriptor: Value, offsets: list[Value], shape: tuple[Any, ...]
) -> tuple[Pointers, Tensor]:
    """The pointers of a block, and the mask of those that lie inside. Dimensions of one in front may be left out."""
    whole = [int(n) for n in re.findall(r"(\d+)x", operation.given[0].element)]
    front = len(whole) - len(shape)
    if not isinstance(descriptor, Descriptor) or whole != [1] * front + list(shape):
        raise Refused(f"{operation.place}: {operation.name} of a block with other dimensions is not supported")
    starts = [cast(Tensor, x)[()] for x in offsets]
    for start in cast("list[Tensor]", offsets):
        machine.observed(start, 32, operation.place)
    base = descriptor.pointers
    words = f"not every block of {base.memory.name} begins at a multiple of {ALIGNED} bytes"
    demands = (*base.demands, aligned(base.memory, starts[-1], words))

    def places(i: tuple[Expr, ...]) -> list[Expr]:
        return [integers.plus_(start, lane) for start, lane in zip(starts, (*[ZERO] * front, *i), strict=True)]

    def offset(*i: Expr) -> Expr:
        steps = map(integers.times_, places(i), descriptor.strides)
        return reduce(integers.plus_, steps, base.offsets[()])

    def inside(*i: Expr) -> Expr:
        pairs = zip(places(i), descriptor.sizes, strict=True)
        return and_(*(c for at, size in pairs for c in (integers.at_least_zero(at), integers.less(at, size))))

    pointers = replace(base, offsets=block(shape, offset, "int"), demands=demands)
    return pointers, block(shape, inside, "bool")


def _load(machine: Machine, operation: Operation, operands: list[Value]) -> Tensor:
    descriptor, *offsets = operands
    kind = operation.type
    pointers, mask = _accessed(machine, operation, descriptor, offsets, kind.shape)
    zero = same_everywhere(const(False) if kind.kind == "bool" else ZERO, kind.shape)
    padded = isinstance(descriptor, Descriptor) and descriptor.padded
    return load(machine, operation, [pointers, mask, *([zero] if padded else [])])


def _store(machine: Machine, operation: Operation, operands: list[Value]) -> None:
    descriptor, *offsets, value = operands
    pointers, mask = _accessed(machine, operation, descriptor, offsets, cast(Tensor, value).shape)
    noted(machine, operation, "store", pointers, value, [mask])


def _update(machine: Machine, operation: Operation, operands: list[Value]) -> None:
    descriptor, *offsets, value = operands
    pointers, mask = _accessed(machine, operation, descriptor, offsets, cast(Tensor, value).shape)
    word = operation.word()
    ordered = word in ("max", "min") and is_unsigned(pointers.memory)
    noted(machine, operation, f"u{word}" if ordered else word, pointers, value, [mask])


DESCRIPTORS: dict[str, Any] = {
    "tt.make_tensor_descriptor": _described,
    "tt.descriptor_load": _load,
    "tt.descriptor_store": _store,
    "tt.descriptor_reduce": _update,
}
