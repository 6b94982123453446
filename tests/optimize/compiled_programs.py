"""Programs of loop nests, compiled in one step. The verb keeps what it printed and loads it in other processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from samesame.optimize.compiled import Compiled, describe, load
from samesame.optimize.emit import cpp
from samesame.optimize.ir import Program, Tile
from samesame.optimize.machine import here
from samesame.optimize.tune import Tuned, choices, worth


def compile_program(
    program: Program, inputs: Sequence[str], weights: Sequence[str], outputs: Sequence[str]
) -> Compiled:
    """A program with numbers for all its sizes, ready to be called."""
    return load(cpp.source(program, here().lanes), describe(program, inputs, weights, outputs))


def untimed(programs: Sequence[Program], sizes: Mapping[str, int], share: float) -> Tuned:
    """In place of tuning: the second of the numbers worth trying for each tile, where there is one. Which is fastest
    makes no difference to what is computed, and to time them takes as long as to prove them."""

    def second(tile: Tile, length: int, program: Program) -> list[int]:
        return worth(here(), tile, length, program)[:2][-1:]

    first = next(choices(programs, sizes, second, sizes))
    return Tuned(first.program, first.numbers, 0.0, first.roles, ())
