"""Kernels run one element at a time, in plain Python: slow, and the reference for what printed code computes.

All arithmetic is in float64, and every access is checked: an index out of range, or an element that nothing has written
before it is read, raises.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    Truth,
    Unsupported,
    Where,
)
from samesame.formula.scalars import SCALARS
from samesame.optimize.emit.places import whole
from samesame.optimize.ir import Accumulate, Buffer, Kernel, Local, Loop, Program, Rescaled, Statement, Store, When

Array = NDArray[Any]
IDENTITY = {"sum": 0.0, "max": -math.inf}
FOLDS = {"sum": np.add, "max": np.maximum}


def run(program: Program, tensors: Mapping[str, Array]) -> dict[str, Array]:
    """Every tensor by name after all kernels have run; those that are not given begin without values."""
    held = {name: np.array(array, dtype=float) for name, array in tensors.items()}
    for kernel in program.kernels:
        with np.errstate(all="ignore"):
            _run(kernel, held)
    return held


def _run(kernel: Kernel, held: dict[str, Array]) -> None:
    for buffer in kernel.reads + kernel.writes:
        if buffer.name not in held:
            held[buffer.name] = _empty(buffer)
    machine = _Machine(held)
    machine.block(kernel.body, {})
    for buffer in kernel.writes:
        held[buffer.name] = machine.memory[buffer.name]


class Unwritten(Exception):
    """An element is read that nothing has written."""


UNWRITTEN = np.float64(np.frombuffer(np.uint64(0x7FF8_0000_0BAD_0BAD).tobytes(), np.float64)[0])


def _empty(buffer: Buffer, value: float = float(UNWRITTEN)) -> Array:
    return np.full(tuple(map(whole, buffer.shape)), value)


class _Machine:
    def __init__(self, held: Mapping[str, Array]) -> None:
        self.memory = dict(held)
        self.locals: dict[str, Local] = {}

    def block(self, body: tuple[Statement, ...], at: dict[Index, int]) -> None:
        for statement in body:
            self.statement(statement, at)

    def statement(self, statement: Statement, at: dict[Index, int]) -> None:
        match statement:
            case Loop(_, variable, body):
                for i in range(int(self.value(variable.extent, at))):
                    self.block(body, {**at, variable: i})
            case When(condition, body):
                if self.value(condition, at):
                    self.block(body, at)
            case Local(buffer, monoid, _):
                self.locals[buffer.name] = statement
                self.memory[buffer.name] = _empty(buffer, IDENTITY[monoid]) if monoid else _empty(buffer)
            case Store(target, indices, value):
                self.memory[target.name][self.place(target.name, indices, at)] = self.value(value, at)
            case Accumulate(target, indices, value):
                local, place = self.locals[target.name], self.place(target.name, indices, at)
                guarded = local.running.name if local.running else ""
                array = self.memory[target.name]
                array[place] = FOLDS[local.monoid](array[place], self.value(value, at, guarded))
            case Rescaled(running, sums, body):
                before = np.maximum(self.memory[running.name], np.finfo(float).min)
                self.block(body, at)
                factor = np.exp(before - np.maximum(self.memory[running.name], np.finfo(float).min))
                for each in sums:
                    array = self.memory[each.name]
                    array *= factor.reshape(factor.shape + (1,) * (array.ndim - factor.ndim))

    def place(self, name: str, indices: tuple[Expr, ...], at: dict[Index, int]) -> tuple[int, ...]:
        found = tuple(int(self.value(i, at)) for i in indices)
        shape = self.memory[name].shape
        if len(found) != len(shape) or not all(0 <= i < size for i, size in zip(found, shape, strict=True)):
            raise IndexError(f"{name}{list(found)} is outside of {list(shape)}")
        return found

    def value(self, e: Expr, at: dict[Index, int], guarded: str = "") -> Any:
        def go(part: Expr) -> Any:
            return self.value(part, at, guarded)

        match e:
            case Num(number):
                return int(number) if number.denominator == 1 else float(number)
            case Named("π"):
                return math.pi
            case NegInf():
                return -math.inf
            case Truth(truth):
                return truth
            case Index():
                return at[e]
            case Load(leaf, indices):
                found = self.memory[leaf.name][self.place(leaf.name, indices, at)]
                if np.float64(found).tobytes() == UNWRITTEN.tobytes():
                    raise Unwritten(leaf.name)
                return max(found, np.finfo(float).min) if leaf.name == guarded else found
            case Add(terms):
                return sum(map(go, terms))
            case Mul(factors):
                return math.prod(map(go, factors))
            case Pow(base, exponent):
                return np.float64(go(base)) ** float(exponent)
            case Fn(name, argument):
                return float(SCALARS[name].values(np.float64(go(argument))))  # type: ignore[arg-type]
            case FloorDiv(a, b):
                return int(go(a)) // int(go(b))
            case Mod(a, b):
                return int(go(a)) % int(go(b))
            case Compare(op, a, b):
                return {"<": go(a) < go(b), "≤": go(a) <= go(b), "=": go(a) == go(b)}[op]
            case Not(a):
                return not go(a)
            case And(parts):
                return all(map(go, parts))
            case Or(parts):
                return any(map(go, parts))
            case Where(c, x, y):
                return go(x) if go(c) else go(y)
            case Extremum(op, parts):
                return FOLDS[op].reduce([go(part) for part in parts])
        raise Unsupported(f"a value with {type(e).__name__} in it")
