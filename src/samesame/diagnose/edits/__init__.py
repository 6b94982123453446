"""Edits: one-place changes to a program that people really get wrong, as a table of generators.

Each generator looks at one operator of one side, with the other side's divergent region to take hints from, and
yields changes: another number (an epsilon, a scale, a window), another activation, comparison, axis or order, an
operand that should have been another tensor, a factor, bias or cap that is missing, an operator too many. `cost`
orders them: a change suggested by the other side's own code comes before a guess. Nothing here decides; `diagnose`
keeps only the changes that make every root agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from samesame.diagnose.change import Change, Hints
from samesame.diagnose.edits.kernels import other_scale, other_setting
from samesame.diagnose.edits.missing import missing_bias, missing_cap, missing_factor
from samesame.diagnose.edits.modules import module_left_out
from samesame.diagnose.edits.operators import (
    one_too_many,
    operand_too_many,
    other_activation,
    other_arithmetic,
    other_arrangement,
    other_axis,
    other_comparison,
    other_number,
    other_number_throughout,
    other_operand,
    other_option,
    other_order,
    results_swapped,
    steps_swapped,
    steps_too_many,
)
from samesame.diagnose.repeated import repetitions
from samesame.graph import Node


def changes(node: Node, hints: Hints, *, agreeing: bool = False) -> Iterator[Change]:
    """Every change of one operator: here alone, and likewise where the same line ran again.

    Where the operator's result is still `agreeing` with the other side, only what may come after it is tried, and
    another arrangement of it.
    """
    if node.is_source or node.operator == "getitem":
        return
    repeated = tuple(repetitions(node, hints.graph))
    for generator in AFTERWARDS if agreeing else GENERATORS:
        for change in generator(node, hints):
            yield change
            if not change.taken and not change.alone:
                for cost, words, twins in repeated:
                    described = f"{change.description}, {words}"
                    yield replace(change, description=described, cost=change.cost + cost, twins=twins)


Generator = Callable[[Node, Hints], Iterator[Change]]
# For an operator whose result is still in the other side, perhaps in another arrangement.
AFTERWARDS: tuple[Generator, ...] = (missing_factor, missing_bias, missing_cap, results_swapped, other_arrangement)
GENERATORS: tuple[Generator, ...] = (
    other_setting,
    other_scale,
    other_number,
    other_number_throughout,
    other_option,
    other_activation,
    other_comparison,
    other_arithmetic,
    missing_bias,
    missing_cap,
    other_axis,
    other_order,
    results_swapped,
    one_too_many,
    missing_factor,
    module_left_out,
    other_arrangement,
    operand_too_many,
    steps_swapped,
    steps_too_many,
    other_operand,
)
