"""Barriers: where every thread of a program waits for all others, so that what was read before is read by then.

Lanes that lie in different threads go their own ways between these. One is written, `tl.debug_barrier()`. The other is
a reduction of a whole tile: threads hand each other what they have, and wait for it. They do so if the tile lies in
more than one warp. One of more than 32 lanes does, unless what it is a row or column of, or was, decides how it lies:
warps may then hold the same lanes each. So it counts only in kernels where no tile is more than a row. A program
of one warp has nobody to wait for: its lanes step by step do the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from samesame.formula.expr import Expr, Index, Load, Num, index, walk
from samesame.formula.tensor import Tensor
from samesame.kernels.execution.ttir import Operation
from samesame.kernels.execution.values import Shuffled

if TYPE_CHECKING:
    from samesame.kernels.execution.symbolic import Environment, Machine

WARP = 32  # lanes
GRANTED = f"a reduction of more than {WARP} lanes makes all threads of its program wait"
WRITTEN = ("gpu.barrier", "ttg.barrier")
LAID_OUT_BY_OTHERS = re.compile(r"tensor<\d+x\d|\btt\.(cat|gather|histogram|reshape|warp_specialize)\b")


@dataclass(frozen=True, eq=False)
class Barrier:
    """One barrier, for all programs and iterations at once: the conditions on the path to it, the loops around it, how
    many accesses come before it, and what it takes for granted, as no kernel says that threads wait for a reduction."""

    path: tuple[Expr, ...]
    loops: tuple[Index, ...]
    number: int
    granted: str = ""


def note_barrier(machine: Machine, operation: Operation, env: Environment) -> None:
    """Note that threads wait at an operation, if they do."""
    reduces = operation.name == "tt.reduce" and brings_together(machine, operation, env)
    of_global_memory = operation.name in WRITTEN and operation.text.split()[:1] != ["local"]
    if reduces or (of_global_memory and machine.launch.blocks == 1):           # only those of one block wait there
        here = tuple(machine.path), tuple(machine.loops), len(machine.accesses)
        machine.barriers.append(Barrier(*here, GRANTED if reduces else ""))


def brings_together(machine: Machine, operation: Operation, env: Environment) -> bool:
    """Whether a reduction is one of more lanes than a warp has, and of what is read: one of numbers that are known is
    not left to be done."""
    x = env.get(operation.operands[0])
    if not isinstance(x, Tensor) or isinstance(x, Shuffled) or len(x.shape) != 1:
        return False
    if not lie_in_rows(machine.launch.ttir):
        return False
    lanes = index(x.shape[0])
    wide = isinstance(lanes.extent, Num) and lanes.extent.value > WARP
    return wide and any(isinstance(e, Load) for e in walk(x[lanes]))


@cache
def lie_in_rows(ttir: str) -> bool:
    """Whether no tile of a kernel is more than a row, or made of another one's lanes in another order, and all threads
    do the same."""
    return LAID_OUT_BY_OTHERS.search(ttir) is None
