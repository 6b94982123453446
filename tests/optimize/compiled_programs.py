"""Programs of loop nests, compiled in one step. The verb keeps what it printed and loads it in other processes."""

from __future__ import annotations

from collections.abc import Sequence

from samesame.optimize.compiled import Compiled, describe, load
from samesame.optimize.emit import cpp
from samesame.optimize.ir import Program
from samesame.optimize.machine import here


def compile_program(
    program: Program, inputs: Sequence[str], weights: Sequence[str], outputs: Sequence[str]
) -> Compiled:
    """A program with numbers for all its sizes, ready to be called."""
    return load(cpp.source(program, here().lanes), describe(program, inputs, weights, outputs))
