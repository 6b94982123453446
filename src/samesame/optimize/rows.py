"""Stages without a contraction as one loop nest, which runs in parallel over the axes that they share.

The last axis of each stage runs in lanes. What one stage computes and a later one of the same row reads stays in
scratch of the row's own, so that a row is read from memory once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from samesame.formula.expr import Expr
from samesame.optimize.ir import Accumulate, Buffer, Kernel, Local, Program, Statement, Store
from samesame.optimize.partition import Stage, shared, together
from samesame.optimize.space import Elements, Nest, Scheduled, Space, last, whatever


def rows(space: Space, group: list[Stage], kept_outside: Iterable[str]) -> Scheduled:
    """One nest for stages without a contraction: parallel over the axes they share."""
    outer = shared(group)
    if len(group) == 1 and outer:
        outer = outer[:-1] if not group[0].folds else outer
    nest = Nest()
    at: dict[str, Expr] = {axis: nest.loop("parallel", space.size(axis)) for axis in outer}
    elements: dict[str, Callable[[tuple[Expr, ...]], Expr]] = {}
    inner = {stage.target for stage in group}
    outside = set(kept_outside)
    for stage in group:
        used = any(stage.target in other.reads for other in group)
        scratch = _scratch(space, stage, outer) if used else None
        if scratch is not None:
            nest.add(Local(scratch))
            where_in = [stage.axes.index(axis) for axis in stage.axes if axis not in outer]
            elements[stage.target] = partial(_picked, scratch, tuple(where_in))
        targets = [(scratch, False)] if scratch is not None else []
        targets += [(space.buffers[stage.target], True)] if scratch is None or stage.target in outside else []
        nest.add(*_row(space, stage, outer, at, elements, [t for t, _ in targets]))
    reads = {name for stage in group for name in stage.reads} - inner
    writes = [stage for stage in group if not any(stage.target in other.reads for other in group)
              or stage.target in outside]
    kernel = Kernel(
        "rows_" + group[-1].target, tuple(space.buffers[name] for name in sorted(reads)),
        tuple(space.buffers[stage.target] for stage in writes), nest.done(),
    )
    holds = {stage.target: space.held(together(stage, group)) for stage in writes}
    return Scheduled(Program((kernel,)), holds, "rows")


def _picked(scratch: Buffer, which: tuple[int, ...], indices: tuple[Expr, ...]) -> Expr:
    """An element of what a row keeps, of its indices those that are not the row's own."""
    return scratch[tuple(indices[k] for k in which)]


def _scratch(space: Space, stage: Stage, outer: tuple[str, ...]) -> Buffer:
    return Buffer(f"{stage.target} here", tuple(space.size(axis) for axis in stage.axes if axis not in outer))


def _row(
    space: Space, stage: Stage, outer: tuple[str, ...], at: Mapping[str, Expr], elements: Elements,
    targets: list[Buffer],
) -> list[Statement]:
    """The statements that compute a stage inside of the loops over `outer`."""
    inner = tuple(axis for axis in stage.axes if axis not in outer)
    nest, here = Nest(), dict(at)
    lane = last(stage.value, inner) if not stage.folds else None
    for axis in [*(axis for axis in inner if axis != lane), *([lane] if lane else [])]:
        here[axis] = nest.loop("vector" if axis == lane else "serial", space.size(axis))
    found = dict(elements)
    for name, fold in stage.folds.items():
        accumulator = Buffer(f"{name} of {stage.target}", ())
        monoid, axes = fold.attributes
        body = Nest()
        deep = last(fold, axes)
        inside = dict(here)
        for axis in [*(axis for axis in axes if axis != deep), deep]:
            inside[axis] = body.loop("vector" if axis == deep else "serial", space.size(axis))
        body.add(Accumulate(accumulator, (), space.expression(fold.arguments[0], inside, elements)))
        nest.add(Local(accumulator, monoid), *body.done())
        found[name] = partial(whatever, accumulator[()])
    value = space.expression(stage.value, here, found)
    for target in targets:
        indices = tuple(here[axis] for axis in stage.axes if len(target.shape) == len(stage.axes) or axis in inner)
        nest.add(Store(target, indices, value))
    return list(nest.done())
