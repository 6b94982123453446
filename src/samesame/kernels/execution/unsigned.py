"""Tensors of unsigned integers, which Triton's IR reads and writes as signed ones of the same bits.

An element of a tensor of u8 is 0 … 255, and what a load gives is an i8: the element itself below 128, and 256 less from
there on. A store goes the other way round. Whether a number is meant as signed shows in the operation that uses it
(`divui`, `ult`, `extui`), not in its type.
"""

from __future__ import annotations

from samesame.formula.expr import Expr, Num, Where, where
from samesame.kernels.indices import integers
from samesame.kernels.launch import Memory


def as_read(memory: Memory, element: Expr) -> Expr:
    """What a load gives for an element of the tensor."""
    return signed(element, bits_of(memory)) if is_unsigned(memory) else element


def as_kept(memory: Memory, value: Expr) -> Expr:
    """The element that a tensor holds after a store of the value."""
    return unsigned(value, bits_of(memory)) if is_unsigned(memory) else value


def is_unsigned(memory: Memory) -> bool:
    return memory.kind == "int" and memory.element.startswith("u")


def bits_of(memory: Memory) -> int:
    return int(memory.element.lstrip("ui"))


def signed(number: Expr, bits: int) -> Expr:
    """The signed number with the bits of an unsigned one."""
    return where(integers.less(number, 1 << (bits - 1)), number, integers.minus(number, 1 << bits))


def unsigned(number: Expr, bits: int) -> Expr:
    """The unsigned number with the bits of a signed one."""
    known = unsigned_in(number, bits)
    if known is not None:
        return known
    return where(integers.at_least_zero(number), number, integers.plus_(number, 1 << bits))


def unsigned_in(number: Expr, bits: int) -> Expr | None:
    """The unsigned number of which this is the signed one, by how it is written; None where that does not show."""
    if isinstance(number, Num):
        return number if number.value >= 0 else None
    if not isinstance(number, Where):
        return None
    if number is signed(number.then, bits):
        return number.then
    then, otherwise = unsigned_in(number.then, bits), unsigned_in(number.otherwise, bits)
    return None if then is None or otherwise is None else where(number.condition, then, otherwise)
