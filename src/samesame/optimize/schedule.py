"""Schedules: a group of stages becomes a kernel under a map of its axes, with symbols for sizes and tiles.

Five maps, told apart by axes alone: `rows` for stages without a contraction (rows.py; in three ways, as tensors lie in
memory), `lanes`, `dots` and `parts` for a contraction (contraction.py), `online` for a mean under a softmax
(online.py); for a GPU `blocks`, of rows and of contractions. What every kernel should compute is said in `holds` from
the forms; that it does is proved in `meaning.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import chain, groupby

from samesame.optimize import contraction
from samesame.optimize.contraction import columns, common_depth, dots, lanes, parts
from samesame.optimize.forms import Form
from samesame.optimize.groups import ended, groups
from samesame.optimize.guard import NO_PLACE
from samesame.optimize.guard import scheduled as guard
from samesame.optimize.online import Softmax, online
from samesame.optimize.partition import Stage, factors, is_contraction, is_pairwise
from samesame.optimize.rows import blocks, few_beside, rows, side_by_side, slides
from samesame.optimize.space import NoSchedule, Scheduled, Space

__all__ = ["NoSchedule", "Scheduled", "Space", "alternatives"]


def contractions_of(stages: Sequence[Stage]) -> set[str]:
    """The targets of stages that contract. A sum of what an earlier one makes for each of its elements is none, though
    that is a tensor by now: beside it, it needs no memory."""
    found, made = set[str](), set[str]()
    for stage in stages:
        contracts = any((is_contraction(fold) and not is_of_its_own(fold, made)) or is_pairwise(fold)
                        for fold in stage.folds.values())
        (found if contracts else made).add(stage.target)
    return found


def is_of_its_own(fold: Form, made: Collection[str]) -> bool:
    """Whether one of these is a factor that has all axes of a sum and its range."""
    every = {*fold.axes, *fold.attributes[1]}
    return any(x.operator == "load" and x.attributes[0] in made and {*x.axes} >= every
               for x in factors(fold.arguments[0]))


def as_they_lie(space: Space, group: list[Stage]) -> list[list[Stage]]:
    """A group, or each of its stages by itself where that is how they lie in memory; what slides, and what ends its
    rows, by itself."""
    if side_by_side(space, group):
        return [[stage] for stage in group]
    own = {stage.target: slides(space, stage) and stage.target for stage in group}       # None of all that do not
    return [part for _, some in groupby(group, key=lambda stage: own[stage.target])
            for part in ended(list(some), space.extent)]


def alternatives(space: Space, gpu: bool = False, means: Sequence[Softmax] = ()) -> Iterator[list[Scheduled]]:
    """For each group of neighbouring stages, every map that takes it; each of the `means` is a group, in one pass. A
    contraction none of whose axes can be columns is summed up row by row."""
    of_rows, of_contractions = (blocks, (contraction.blocks,)) if gpu else (rows, (lanes, dots))
    outputs = {output.name for output in space.specification.roots()}
    contractions = contractions_of(space.stages)
    indices = {stage.target for stage in space.stages if stage.target not in outputs and "int" in stage.dtype}
    in_one = {mean.mean.target: mean for mean in means}
    within = {stage.target for mean in means for stage in mean.stages[:-1]}
    neighbours = groups([stage for stage in space.stages if stage.target not in within], contractions | indices,
                        space.early)
    for group in neighbours if gpu else chain.from_iterable(map(partial(as_they_lie, space), neighbours)):
        if group[0].target == NO_PLACE:
            if gpu:
                raise NoSchedule("what is looked up at integers in data has kernels for processors only")
            yield [guard(space, group[0])]
            continue
        read_elsewhere = {name for stage in space.stages if stage not in group for name in stage.reads}
        if group[0].target not in contractions:
            few = [] if gpu else few_beside(space, group, outputs | read_elsewhere)
            yield [*few, of_rows(space, group, outputs | read_elsewhere)]
            continue
        if group[0].target in in_one:
            yield [online(space, in_one[group[0].target])]
            continue
        pairwise = any(map(is_pairwise, group[0].folds.values()))
        able = [] if gpu and pairwise else columns(group[0])
        found = [map(space, group[0], column) for column in able for map in of_contractions]
        if not gpu:
            found += [parts(space, group[0], column) for column in able if common_depth(group[0], column)]
        yield found or [of_rows(space, group, outputs | read_elsewhere)]
