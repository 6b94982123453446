"""Stages without a contraction as one loop nest, which runs in parallel over the axes that they share.

The last axis of each stage runs in lanes; of stages that have all axes in common it is one for all, and what is handed
on stays in registers. Else what one stage computes and a later one of the same row reads stays in scratch of the row's
own, so that a row is read from memory once. For a GPU (`blocks`) both the rows and the lanes are
cut into tiles, and only what a row has one of is kept; the rest is computed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from math import prod

from samesame.formula.expr import Expr, FloorDiv, const
from samesame.optimize.forms import Part
from samesame.optimize.groups import shared, together
from samesame.optimize.ir import Accumulate, Buffer, Kernel, Kind, Local, Program, Statement, Store, Tile
from samesame.optimize.partition import SHORT, Stage, replaced
from samesame.optimize.proving import Elements
from samesame.optimize.space import Nest, Scheduled, Space, Tiled, in_tiles, tile_of, tiles, whatever

FEW = 4                                              # numbers that are made one after the other
PIECE = 4096                                         # elements that a thread takes at a time


def rows(space: Space, group: list[Stage], kept_outside: Iterable[str]) -> Scheduled:
    """One nest for stages without a contraction: parallel over the axes they share."""
    how = _Whole(space, group)
    if how.folded is not None:
        return _beside(space, group[0], how, how.folded)
    turned = two_ways(space, group[0]) if len(group) == 1 and not group[0].folds else None
    return _turned(space, group[0], *turned) if turned else _nest(space, group, kept_outside, how)


def few_beside(space: Space, group: list[Stage], kept_outside: Iterable[str]) -> list[Scheduled]:
    """The same with lanes along the last axis but one, where the last has few numbers; else nothing."""
    how = _Whole(space, group, few=few_last(space, group))
    return [replace(_nest(space, group, kept_outside, how), map="few numbers beside one another", shuffles=True)
            ] if how.few else []


def untiled(space: Space, stage: Stage) -> Scheduled:
    """One stage as it comes, beside kernels that have tiles of their own."""
    return _nest(space, [stage], [stage.target], _Whole(space, [stage], tiled=False))


def blocks(space: Space, group: list[Stage], kept_outside: Iterable[str]) -> Scheduled:
    """The same for a GPU: programs over tiles of rows, and over tiles of lanes where nothing is folded over these."""
    outer, done = _outer(group), list[Stage]()
    for stage in group:
        again = [other for other in done if not set(other.axes) <= set(outer) and not other.folds]
        forms, axes = {s.target: s.value for s in again}, {s.target: s.axes for s in again}
        folds = {name: replaced(fold, forms, axes) for name, fold in stage.folds.items()}
        done.append(replace(stage, value=replaced(stage.value, forms, axes), folds=folds))
    return _nest(space, done, kept_outside, _Tiles(space, done))


def side_by_side(space: Space, group: list[Stage]) -> bool:
    """Whether what is folded or stored in a group lies beside one another along an axis that all its stages share, so
    that a row would be read or written across all others: each of them goes through memory by itself, then."""
    inner = shared(group)
    if len(group) > 1 and any(crosses(space, stage) for stage in group):
        return True
    across = any(stage.axes[-1] in inner and set(stage.axes) > set(inner) and space.extent(stage.axes[-1]) >= SHORT
                 for stage in group if stage.axes)
    return len(group) > 1 and (across or any(lane(space, stage, inner) for stage in group if stage.folds))


def crosses(space: Space, stage: Stage) -> bool:
    """Whether what is made element by element is read along one axis and along another, an element for each that is
    made or more, so that it is made in tiles."""
    votes, size = space.votes(stage.value, stage.axes), prod(map(space.extent, stage.axes))
    return not stage.folds and sum(votes[axis] >= size and space.extent(axis) > SHORT for axis in stage.axes) > 1


def lane(space: Space, stage: Stage, inner: tuple[str, ...]) -> str | None:
    """Of these axes that which runs in lanes; none where what is folded over does, as it lies in memory no less."""
    if not stage.folds:
        return space.last(stage.value, inner)
    own = Counter[str]()
    for fold in stage.folds.values():
        votes = space.votes(fold.arguments[0], (*inner, *fold.attributes[1]))
        most = max(votes, key=lambda axis: (votes[axis], axis in fold.attributes[1], axis))
        own[most if most in inner else ""] += 1
    (best, times), *_ = own.most_common()
    return best if best and times == len(stage.folds) else None


def lanes_of_folds(space: Space, stage: Stage, outer: tuple[str, ...]) -> str | None:
    """The axis along which folds lie beside one another: in memory, or as they are stored, where what lies beside in
    memory is folded and short, as a pool's window is."""
    if (where := slides(space, stage)) is not None:
        return where
    found = lane(space, stage, outer)
    folded = [axis for fold in stage.folds.values() for axis in fold.attributes[1]]
    if found is not None or not outer or any(isinstance(space.sizes.get(axis), FloorDiv) for axis in folded):
        return found                                 # how many tiles there are is not known yet
    windows = max(map(space.extent, folded)) < SHORT <= space.extent(stage.axes[-1])
    return stage.axes[-1] if windows else None


def slides(space: Space, stage: Stage) -> str | None:
    """The axis along which the windows that a stage sums up stand side by side, an element apart: each lane has one of
    its own then, where what is within one would have to be summed across them."""
    found = set[str]()
    for fold in stage.folds.values():
        table, _ = max(space.reads(fold.arguments[0]), key=lambda read: read[1], default=(None, 0))
        near = space.nearest(table) if table is not None else None
        apart = [part.axis for part in near.parts if part == Part(part.axis)] if near is not None else []
        stand = [axis for axis in apart if axis in stage.axes and space.extent(axis) >= SHORT]
        within = near is not None and any(part.axis in fold.attributes[1] for part in near.parts)
        found.update(stand if within and len(stand) == 1 else ("",))
    return found.pop() or None if len(found) == 1 else None


def two_ways(space: Space, stage: Stage) -> tuple[str, str] | None:
    """Two axes of a stage along which tensors lie that it reads; where some lie along one and some along another. That
    along which its target lies is last."""
    *others, last = stage.axes or ("",)
    votes = space.votes(stage.value, others)
    most = max(votes, key=lambda axis: (votes[axis], axis), default="")
    long = most and min(space.extent(most), space.extent(last)) > SHORT
    return (most, last) if long and votes[most] else None


def few_last(space: Space, group: list[Stage]) -> str | None:
    """The last axis of one stage where it is of a few numbers, the two parts of a complex number or the coordinates of
    a point: they can be made one after the other, in lanes that run along the axis before."""
    if len(group) > 1 or group[0].folds or len(group[0].axes) < 2:
        return None
    *_, before, last = group[0].axes
    few = space.extent(last) <= FEW and isinstance(space.size(last), int)
    return last if few and space.extent(before) >= SHORT else None


def _outer(group: list[Stage]) -> tuple[str, ...]:
    """The axes that run in parallel."""
    outer = shared(group)
    return outer[:-1] if len(group) == 1 and outer and not group[0].folds else outer


def _is_pointwise(group: list[Stage]) -> bool:
    """Whether each element of a stage is made of elements at the same place."""
    return all(not stage.folds and {*stage.axes} == {*group[0].axes} for stage in group)


class _Whole:
    """How a nest runs: a round of a parallel loop for each row, and all of it in lanes. What is folded over something
    else than lies side by side in memory runs along that, which is `folded` beside it. Where an element is all there
    is of a row, or `few` numbers along an axis are, the last axis that rows have in `common` runs in lanes."""

    map, name = "rows", "rows"

    def __init__(self, space: Space, group: list[Stage], tiled: bool = True, few: str | None = None) -> None:
        self.space, self.group, self.outer, self.few = space, group, _outer(group), few
        self.tiles: list[Tile] = []
        alone = tiled and len(group) == 1 and group[0].folds
        self.folded = lanes_of_folds(space, group[0], self.outer) if alone else None
        self.outer = tuple(axis for axis in self.outer if axis != self.folded)
        pointwise = _is_pointwise(group)
        self.common = self.outer[-1] if self.outer and pointwise and (len(group) > 1 or self.few) else None
        self.flat = pointwise and not [axis for axis in self.outer if axis != self.common]

    def rows(self, nest: Nest) -> dict[str, Expr]:
        return {axis: self.lanes(nest, axis) if axis == self.common else nest.loop("parallel", self.space.size(axis))
                for axis in self.outer}

    def lanes(self, nest: Nest, axis: str) -> Expr:
        """Of a long row that has no others beside it each thread has some pieces."""
        length = self.space.size(axis)
        if not self.flat or self.space.extent(axis) < 2 * PIECE:
            return nest.loop("vector", length)
        tiled = Tiled(PIECE, length, nest.loop("parallel", tiles(length, PIECE)))
        return tiled.at(_place(tiled, nest))

    def lane(self, stage: Stage, inner: tuple[str, ...]) -> str | None:
        """The axis of a row that runs in lanes, if one does."""
        return lane(self.space, stage, inner)


class _Tiles(_Whole):
    """Rows and lanes in tiles, as many in one as are asked for."""

    map, name = "rows in blocks", "blocks"

    def lane(self, stage: Stage, inner: tuple[str, ...]) -> str | None:
        return self.space.last(stage.value, inner) if not stage.folds else None

    def rows(self, nest: Nest) -> dict[str, Expr]:
        *others, row = self.outer or ("",)
        at: dict[str, Expr] = {axis: nest.loop("parallel", self.space.size(axis)) for axis in others}
        return at | ({row: self.cut(nest, row, "rows", "parallel")} if row else {})

    def cut(self, nest: Nest, axis: str, role: str, kind: Kind) -> Expr:
        tile = next((each for each in self.tiles if each.role == role), None)
        if tile is None:
            self.tiles.append(tile := tile_of(self.space, self.group[-1], axis, role))
        tiled = in_tiles(self.space, axis, tile, nest, kind)
        return tiled.at(_place(tiled, nest))

    def lanes(self, nest: Nest, axis: str) -> Expr:
        apart = len(self.group) == 1 and not self.group[0].folds
        return self.cut(nest, axis, "lanes", "parallel" if apart else "serial")


def _nest(space: Space, group: list[Stage], kept_outside: Iterable[str], how: _Whole) -> Scheduled:
    nest, outer = Nest(), how.outer
    at = how.rows(nest)
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
        targets = [scratch] if scratch is not None else []
        targets += [space.buffers[stage.target]] if scratch is None or stage.target in outside else []
        nest.add(*_row(space, stage, how, at, elements, targets))
    reads = {name for stage in group for name in stage.reads} - inner
    writes = [stage for stage in group if not any(stage.target in other.reads for other in group)
              or stage.target in outside]
    kernel = Kernel(
        f"{how.name}_{group[-1].target}", tuple(space.buffers[name] for name in sorted(reads)),
        tuple(space.buffers[stage.target] for stage in writes), nest.done(),
    )
    holds = {stage.target: space.held(together(stage, group)) for stage in writes}
    return Scheduled(Program((kernel,), tuple(how.tiles)), holds, how.map, group=tuple(group))


def _beside(space: Space, stage: Stage, how: _Whole, axis: str) -> Scheduled:
    """Folds that lie beside one another along an axis: a part of these together, while what they fold is gone through
    in the order in which it lies."""
    nest, tile = Nest(), tile_of(space, stage, axis, "beside")
    at, found = how.rows(nest), dict[str, Callable[[tuple[Expr, ...]], Expr]]()
    tiled, last = in_tiles(space, axis, tile, nest, "parallel"), Nest()
    place = _place(tiled, last)
    here = {**at, axis: tiled.at(place)}
    for loops in _alike(space, stage, False):
        body, (_, (first, _)) = Nest(), loops[0]
        inside = {each: body.loop("serial", space.size(each)) for each in first}
        each_place = _place(tiled, body)
        for name, (axes, _) in loops:
            accumulator = Buffer(f"{name} of {stage.target}", (tile.size,), space.real)
            own = at | {each: inside[other] for each, other in zip(axes, first, strict=True)}
            value = space.expression(stage.folds[name].arguments[0], {**own, axis: tiled.at(each_place)})
            body.add(Accumulate(accumulator, (each_place,), value))
            nest.add(Local(accumulator, stage.folds[name].attributes[0]))
            found[name] = partial(whatever, accumulator[place])
        nest.add(*body.done())
    target = space.buffers[stage.target]
    last.add(Store(target, tuple(here[each] for each in stage.axes), space.expression(stage.value, here, found)))
    reads = tuple(space.buffers[name] for name in sorted(stage.reads))
    kernel = Kernel(f"rows_{stage.target}", reads, (target,), nest.add(*last.done()).done())
    return Scheduled(Program((kernel,), (tile,)), {stage.target: space.held(stage)}, "folds beside one another",
                     group=(stage,))


def _turned(space: Space, stage: Stage, read: str, stored: str) -> Scheduled:
    """A stage that reads along one axis and stores along another, tile by tile, so that what was fetched beside an
    element is used while it is near."""
    nest, others = Nest(), [axis for axis in stage.axes if axis not in (read, stored)]
    at: dict[str, Expr] = {axis: nest.loop("parallel", space.size(axis)) for axis in others}
    tiles = [tile_of(space, stage, axis, role) for axis, role in ((read, "across"), (stored, "along"))]
    one, other = (in_tiles(space, axis, tile, nest, "parallel")
                  for axis, tile in zip((read, stored), tiles, strict=True))
    row = nest.loop("serial", one.size)
    nest.when(one.inside(row))
    at |= {read: one.at(row), stored: other.at(_place(other, nest))}
    target = space.buffers[stage.target]
    nest.add(Store(target, tuple(at[axis] for axis in stage.axes), space.expression(stage.value, at)))
    reads = tuple(space.buffers[name] for name in sorted(stage.reads))
    kernel = Kernel(f"rows_{stage.target}", reads, (target,), nest.done())
    return Scheduled(Program((kernel,), tuple(tiles)), {stage.target: space.held(stage)}, "tiles, as one axis is read "
                     "along and another stored along", group=(stage,))


def _place(tiled: Tiled, nest: Nest) -> Expr:
    """A place in a tile, by a loop over its lanes, where the axis is as long."""
    within = nest.loop("vector", tiled.size)
    nest.when(tiled.inside(within))
    return within


def _picked(scratch: Buffer, which: tuple[int, ...], indices: tuple[Expr, ...]) -> Expr:
    """An element of what a row keeps, of its indices those that are not the row's own."""
    return scratch[tuple(indices[k] for k in which)]


def _scratch(space: Space, stage: Stage, outer: tuple[str, ...]) -> Buffer:
    shape = tuple(space.size(axis) for axis in stage.axes if axis not in outer)
    return Buffer(f"{stage.target} here", shape, space.real)


def _row(
    space: Space, stage: Stage, how: _Whole, at: Mapping[str, Expr], elements: Elements, targets: list[Buffer]
) -> list[Statement]:
    """The statements that compute a stage inside of the loops over the rows."""
    inner = tuple(axis for axis in stage.axes if axis not in how.outer)
    nest, here = Nest(), dict(at)
    lane = None if how.few else how.lane(stage, inner)
    _loops(space, how, nest, here, [axis for axis in inner if axis != how.few], lane)
    found = dict(elements)
    for loops in _alike(space, stage, lane is None):
        body, inside = Nest(), dict[str, Expr]()
        _, (first, last) = loops[0]
        _loops(space, how, body, inside, first, last)
        for name, (axes, _) in loops:
            accumulator, (monoid, _) = Buffer(f"{name} of {stage.target}", (), space.real), stage.folds[name].attributes
            own = here | {axis: inside[other] for axis, other in zip(axes, first, strict=True)}
            body.add(Accumulate(accumulator, (), space.expression(stage.folds[name].arguments[0], own, elements)))
            nest.add(Local(accumulator, monoid))
            found[name] = partial(whatever, accumulator[()])
        nest.add(*body.done())
    for each in ({how.few: const(k)} for k in range(space.extent(how.few))) if how.few else ({},):
        here |= each
        value = space.expression(stage.value, here, found)
        for target in targets:
            indices = tuple(here[axis] for axis in stage.axes if len(target.shape) == len(stage.axes) or axis in inner)
            nest.add(Store(target, indices, value))
    return list(nest.done())


Loops = tuple[tuple[str, ...], str | None]           # over which axes, the slowest first, and which of them is in lanes


def _alike(space: Space, stage: Stage, lanes: bool) -> list[list[tuple[str, Loops]]]:
    """The stage's folds, those together that loops of the same lengths in the same order go through: what they have in
    common is then read, and computed, once."""
    found: dict[tuple[object, ...], list[tuple[str, Loops]]] = {}
    for name, fold in stage.folds.items():
        axes = tuple(space.in_order(fold, fold.attributes[1]))
        last = space.last(fold, axes) if lanes else None
        key = (*map(space.size, axes), axes.index(last) if last else -1)
        found.setdefault(key, []).append((name, (axes, last)))
    return list(found.values())


def _loops(
    space: Space, how: _Whole, nest: Nest, at: dict[str, Expr], axes: Iterable[str], lane: str | None
) -> None:
    """A loop over each axis, that over lanes innermost; where each is, in `at`."""
    for axis in axes:
        if axis != lane:
            at[axis] = nest.loop("serial", space.size(axis))
    if lane:
        at[lane] = how.lanes(nest, lane)
