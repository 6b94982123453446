"""Schedules: a group of stages becomes a kernel under a map of its axes, with symbols for sizes and tiles.

Four maps, told apart by axes alone: `rows` for stages without a contraction (rows.py), `lanes`, `dots` and `parts` for
a contraction (contraction.py); for a GPU `blocks`, of each kind. What every kernel should compute is said in `holds`
from the forms; that it does is proved in `meaning.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from samesame.optimize import contraction
from samesame.optimize.contraction import columns, common_depth, dots, lanes, parts
from samesame.optimize.partition import Stage, groups, is_contraction
from samesame.optimize.rows import blocks, rows
from samesame.optimize.space import NoSchedule, Scheduled, Space

__all__ = ["NoSchedule", "Scheduled", "Space", "alternatives"]


def contains_contraction(stage: Stage) -> bool:
    return any(map(is_contraction, stage.folds.values()))


def alternatives(space: Space, gpu: bool = False) -> Iterator[list[Scheduled]]:
    """For each group of neighbouring stages, every map that takes it. Raises NoSchedule where none does."""
    of_rows, of_contractions = (blocks, (contraction.blocks,)) if gpu else (rows, (lanes, dots))
    outputs = {output.name for output in space.specification.roots()}
    contractions = {stage.target for stage in space.stages if contains_contraction(stage)}
    for group in groups(space.stages, contractions):
        read_elsewhere = {name for stage in space.stages if stage not in group for name in stage.reads}
        if group[0].target not in contractions:
            yield [of_rows(space, group, outputs | read_elsewhere)]
            continue
        able = columns(group[0])
        found = [map(space, group[0], column) for column in able for map in of_contractions]
        if not gpu:
            found += [parts(space, group[0], column) for column in able if common_depth(group[0], column)]
        if not found:
            raise NoSchedule(f"no axis of {', '.join(group[0].axes)} can be a contraction's columns")
        yield found
