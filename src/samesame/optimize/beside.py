"""Beside one another: results that are made of the same elements share their axes, and so their loops.

A step of an optimizer returns three tensors for each parameter, and each is a function, element by element, of the same
gradient. As they are read from a program their axes have names of their own, and each would be a loop nest that goes
through memory by itself. Under the same names they are one group of stages (groups.py): what one is made of is read
once for all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from samesame.optimize.forms import Form, substitute, walk
from samesame.optimize.groups import shared
from samesame.optimize.partition import Stage
from samesame.optimize.specification import Output


def beside(outputs: Iterable[Output], extents: Mapping[str, int]) -> tuple[Output, ...]:
    """The outputs, with the axes of an earlier one where a tensor is read at all axes of both."""
    named: list[Output] = []
    for output in outputs:
        others = (under(output, other) for other in named if _alike(output, other, extents))
        named.append(next((one for one in others if one is not None), output))
    return tuple(named)


def under(output: Output, other: Output) -> Output | None:
    """The output with the other's axes, if they then read elements of one tensor."""
    axes = dict(zip(axes_of(output), axes_of(other), strict=True))
    if {*axes} & {*axes.values()}:
        return None
    form = substitute(output.form, axes)
    if not _elements(form, axes_of(other)) & _elements(other.form, axes_of(other)):
        return None
    return replace(output, form=form, dims=tuple(tuple(axes[axis] for axis in dim) for dim in output.dims))


def axes_of(output: Output) -> tuple[str, ...]:
    return tuple(axis for dim in output.dims for axis in dim)


def _alike(output: Output, other: Output, extents: Mapping[str, int]) -> bool:
    sizes, wanted = ([[extents[axis] for axis in dim] for dim in each.dims] for each in (output, other))
    return sizes == wanted and bool(axes_of(output))


def _elements(form: Form, axes: Sequence[str]) -> set[Form]:
    """What it reads of tensors of which it reads another element for each of its own."""
    return {x for x in walk(form) if x.operator == "load" and {*axes} <= {*x.axes}}


def neighbours(stages: Sequence[Stage]) -> list[Stage]:
    """The stages, each after those that it reads, and next to those that have the same axes where none folds."""
    left, found = list(stages), list[Stage]()
    targets = {stage.target for stage in stages}
    while left:
        done = {stage.target for stage in found}
        ready = [stage for stage in left if stage.reads & targets <= done]
        stage = next((stage for stage in ready if found and _is_next(stage, found[-1])), left[0])
        left.remove(stage)
        found.append(stage)
    return found


def _is_next(stage: Stage, last: Stage) -> bool:
    return not (stage.folds or last.folds) and stage.axes == last.axes == shared([stage, last])
