"""Whether integers in data are places of what is looked up at them.

Torch raises an error where one is not, and a kernel must not read there. So kernels read at the nearest place that
there is (`clamped`), and before them another one (`guard`) goes through all the integers and writes a number: 0 where
each is a place, and so its own nearest one. Where one is not, nothing else runs, and the caller runs the original,
whose error it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce

from samesame.optimize.forms import (
    ONE,
    ZERO,
    Form,
    compare,
    extent,
    extremum,
    fold,
    load,
    logic,
    lookup,
    made,
    minus,
    plus,
    size_of,
    walk,
    where,
)
from samesame.optimize.ir import Accumulate, Buffer, Kernel, Local, Program, Store
from samesame.optimize.partition import Stage
from samesame.optimize.space import Nest, Scheduled, Space, whatever
from samesame.optimize.specification import Output, Specification, are_places, look_ups

NO_PLACE = "an index outside"                         # the buffer: 0 where there is none
Looked = tuple[Form, str]                            # integers, and the axis that they are places along


def clamped(form: Form) -> Form:
    """The form with each look-up at the nearest place that there is."""
    memo: dict[Form, Form] = {}
    for x in walk(form):
        below = tuple(memo[y] for y in x.arguments)
        if x.operator == "lookup":
            (axis,), (table, i) = x.attributes, below
            memo[x] = lookup(axis, table, nearest(i, axis))
        else:
            memo[x] = made(x.operator, x.attributes, below) if below else x
    return memo[form]


def nearest(i: Form, axis: str) -> Form:
    return extremum("min", extremum("max", i, ZERO), minus(extent(axis), ONE))


def guarded(specification: Specification, kept: Sequence[Output]) -> tuple[Specification, list[Output], list[Stage]]:
    """The specification, and what is kept before it, with look-ups at the nearest places; and a stage that tells
    whether these are the ones that are asked for, where something is looked up."""
    every = [*kept, *specification.outputs]
    looked = [(i, axis) for i, axis in look_ups(output.form for output in every)
              if not are_places(i, size_of([axis], specification.extents), specification.tensors)]
    near = [replace(output, form=clamped(output.form)) for output in every]
    ends = len(kept)
    once = {specification.looked_at(*each): each for each in (*looked, *specification.looked)}
    return replace(specification, outputs=tuple(near[ends:])), near[:ends], list(guard(once.values()))


def guard(looked: Iterable[Looked]) -> Iterator[Stage]:
    """The largest over all of these integers of 1 where one is no place along its axis, and 0 where it is."""
    folds, values = dict[str, Form](), list[Form]()
    for i, axis in looked:
        first, i = from_the_end(i, axis)
        inside = logic("and", compare("≤", first, i), compare("<", i, extent(axis)))
        found = fold("max", i.axes, clamped(where(inside, ZERO, ONE)))
        if found.operator == "fold":
            name = f"fold {len(folds)}"
            folds[name], found = found, load(name)
        values.append(found)
    if values:
        yield Stage(NO_PLACE, (), reduce(partial(extremum, "max"), values), folds, "float32")


def from_the_end(i: Form, axis: str) -> tuple[Form, Form]:
    """The first place, and the integers; where negative ones are counted from the end, these as they are."""
    if i.operator == "where":
        condition, there, here = i.arguments
        if condition is compare("<", here, ZERO) and there is plus(here, extent(axis)):
            return minus(ZERO, extent(axis)), here
    return ZERO, i


def scheduled(space: Space, stage: Stage) -> Scheduled:
    """A kernel for it: loops one after another, the last in lanes, as integers are few beside what is looked up."""
    nest, found = Nest(), {}
    for name, each in stage.folds.items():
        own, (monoid, axes) = Buffer(f"{name} of {NO_PLACE}", (), space.real), each.attributes
        inner, at = Nest(), {}
        for axis in space.in_order(each.arguments[0], axes):
            at[axis] = inner.loop("vector" if axis == space.last(each, axes) else "serial", space.size(axis))
        inner.add(Accumulate(own, (), space.expression(each.arguments[0], at)))
        nest.add(Local(own, monoid), *inner.done())
        found[name] = partial(whatever, own[()])
    target = space.buffers[NO_PLACE]
    nest.add(Store(target, (), space.expression(stage.value, {}, found)))
    kernel = Kernel("guard", tuple(space.buffers[name] for name in sorted(stage.reads)), (target,), nest.done())
    return Scheduled(Program((kernel,)), {NO_PLACE: space.held(stage)}, "indices looked through", group=(stage,))
