"""Online softmax: the mean of values under a softmax of scores, in one pass and with no tensor of scores or weights.

Five stages make an attention: scores (a contraction), their maximum along a row, weights exp(x − max), the sum of
these, and the weighted sum of values. Here they are one kernel. Keys come in tiles; when one raises the maximum of a
row, the sums under way are rescaled by exp(before − after). What stands between scores and weights (a scale, a mask,
positions) is computed where the scores are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from samesame.formula.expr import Expr, Fold, Leaf, Load, exp, index, mul
from samesame.formula.tensor import Tensor as Formula
from samesame.optimize.forms import Form, finite, fn, fold, load, minus, times, walk
from samesame.optimize.groups import together
from samesame.optimize.ir import Accumulate, Buffer, Kernel, Local, Program, Rescaled, Statement, Store
from samesame.optimize.lying import is_tensor
from samesame.optimize.meaning import Claim
from samesame.optimize.partition import Stage, factors, is_contraction
from samesame.optimize.space import Nest, Scheduled, Space, Tiled, in_tiles, tile_of, tiles, whatever


@dataclass(frozen=True)
class Softmax:
    """The stages of a weighted mean, in order; `x` is what is exponentiated, over the scores, `key` the summed axis."""

    scores: Stage
    maximum: Stage
    weights: Stage
    total: Stage
    mean: Stage
    x: Form
    values: Form
    key: str

    @property
    def stages(self) -> tuple[Stage, ...]:
        return self.scores, self.maximum, self.weights, self.total, self.mean


def softmaxes(stages: list[Stage]) -> Iterator[Softmax]:
    """The weighted means among these, of which nothing else reads the stages within."""
    named = {stage.target: stage for stage in stages}
    for mean in stages:
        for found in _ended_by(mean, named):
            inside = {stage.target for stage in found.stages[:-1]}
            if not any(inside & other.reads for other in stages if other not in found.stages):
                yield found


def _ended_by(mean: Stage, named: dict[str, Stage]) -> Iterator[Softmax]:
    parts = [x for form in mean.folds.values() for x in factors(form.arguments[0]) if is_tensor(x)]
    inner = _only(mean)
    if inner is None or len(parts) != 2 or len(inner.attributes[1]) != 1:
        return
    (key,) = inner.attributes[1]
    for first, values in (parts, parts[::-1]):
        weights = named.get(first.attributes[0])
        if weights is None or weights.folds or inner is not fold("sum", [key], times(first, values)):
            continue
        if first is not _itself(weights) or key not in values.axes:
            continue
        value = weights.value
        for maximum in named.values():
            row = _only(maximum)
            x = row.arguments[0] if row is not None else value
            if value is not fn("exp", minus(x, _itself(maximum))) or _whole(maximum) is not fold("max", [key], x):
                continue
            total = [s for s in named.values() if _only(s) is fold("sum", [key], first) and s.target in mean.reads]
            reads = [part for part in walk(x) if part.operator == "load" and part.attributes[0] in named]
            scores = named[reads[0].attributes[0]] if len(reads) == 1 else None
            if scores is None or not total or reads[0] is not _itself(scores) or key in total[0].axes:
                continue
            product = _whole(scores)
            if product is not None and is_contraction(product) and len({*mean.axes} - {*maximum.axes}) == 1:
                yield Softmax(scores, maximum, weights, total[0], mean, x, values, key)


def _itself(stage: Stage) -> Form:
    return load(stage.target, *stage.axes)


def _only(stage: Stage) -> Form | None:
    """The stage's fold, if it has one."""
    return next(iter(stage.folds.values())) if len(stage.folds) == 1 else None


def _whole(stage: Stage) -> Form | None:
    """The fold that the stage is."""
    return _only(stage) if stage.value in [load(name) for name in stage.folds] else None


# ---------------------------------------------------------------------------------------------------------- the kernel


def online(space: Space, of: Softmax) -> Scheduled:
    """One kernel: batches and tiles of rows in parallel, tiles of keys in turn."""
    return _Online(space, of).scheduled()


class _Online:
    def __init__(self, space: Space, of: Softmax) -> None:
        self.space, self.of, self.nest = space, of, Nest()
        (self.column,) = {*of.mean.axes} - {*of.maximum.axes}
        product = _whole(of.scores)
        assert product is not None
        parts = factors(product.arguments[0])
        self.scale = times(*(x for x in parts if finite(x)))
        self.product = times(*(x for x in parts if not finite(x)))
        self.depth: tuple[str, ...] = product.attributes[1]
        free = [axis for axis in of.maximum.axes if axis not in of.values.axes] or [of.maximum.axes[-1]]
        self.row = max(free, key=space.extent)
        self.tiles = [tile_of(space, of.mean, axis, role) for axis, role in (
            (self.row, "rows"), (of.key, "keys"), (of.key, "columns"), (space.last(self.product, self.depth), "depth"))]
        rows, keys, columns, _ = (tile.size for tile in self.tiles)
        self.at: dict[str, Expr] = {axis: self.nest.loop("parallel", space.size(axis))
                                    for axis in of.maximum.axes if axis != self.row}
        self.rows = in_tiles(space, self.row, self.tiles[0], self.nest, "parallel")
        name, wide = of.mean.target, mul(keys, columns)
        self.top, self.total = (Buffer(f"{what} of {name}", (rows,), space.real) for what in ("maximum", "total"))
        self.sums = Buffer(f"sums of {name}", (rows, space.size(self.column)), space.real)
        self.shown, self.weights = (Buffer(f"{what} of {name}", (rows, wide), space.real)
                                    for what in ("shown", "weights"))
        self.scores = Buffer(f"scores of {name}", (rows, columns), space.real)
        self.turn, self.block = Nest(), Nest()
        length = space.size(of.key)
        self.keys = Tiled(wide, length, self.turn.loop("serial", tiles(length, wide)))
        self.first = mul(self.block.loop("serial", keys), columns)

    def scheduled(self) -> Scheduled:
        space, of, turn = self.space, self.of, self.turn
        turn.add(Local(self.shown), *self.scored())
        turn.add(Rescaled(self.top, (self.total, self.sums), self.each_key(
            lambda g, j: Accumulate(self.top, (g,), self.shown[g, j]))), Local(self.weights, running=self.top))
        turn.add(*self.each_key(lambda g, j: Store(self.weights, (g, j), exp(self.shown[g, j] - self.top[g]))))
        turn.add(*self.each_key(lambda g, j: Accumulate(self.total, (g,), self.weights[g, j])), *self.gathered())
        self.nest.add(Local(self.top, "max"), Local(self.total, "sum", self.top), Local(self.sums, "sum", self.top),
                      *turn.done(), *self.ended())
        names = {name for stage in of.stages for name in stage.reads} - {stage.target for stage in of.stages}
        kernel = Kernel(f"online_{of.mean.target}", tuple(space.buffers[name] for name in sorted(names)),
                        (space.buffers[of.mean.target],), self.nest.done())
        claim = self.claim()
        at = tuple(index(space.size(axis)) for axis in of.scores.axes)
        return Scheduled(
            Program((kernel,), tuple(self.tiles)), {of.mean.target: self.held(claim)}, "online softmax",
            {self.scores.name: claim}, of.stages, ((self.scaled(Load(claim.leaf, at)), space.held(of.scores)[at]),))

    def scaled(self, score: Expr) -> Expr:
        return mul(self.space.expression(self.scale, {}), score)

    def reached(self, g: Expr, j: Expr) -> dict[str, Expr]:
        return {**self.at, self.row: self.rows.at(g), self.of.key: self.keys.at(j)}

    def each_key(self, statement: Callable[[Expr, Expr], Statement]) -> tuple[Statement, ...]:
        """The statement for each row of a tile and each of its keys, in lanes."""
        nest = Nest()
        g = nest.loop("unrolled", self.tiles[0].size)
        nest.when(self.rows.inside(g))
        j = nest.loop("vector", self.keys.size)
        nest.when(self.keys.inside(j))
        return nest.add(statement(g, j)).done()

    def scored(self) -> tuple[Statement, ...]:
        """A tile of what is exponentiated, a block of keys after the other."""
        body, out, size = Nest(), Nest(), self.space.size
        deep = self.space.last(self.product, self.depth)
        at: dict[str, Expr] = {axis: body.loop("serial", size(axis)) for axis in self.depth if axis != deep}
        along = in_tiles(self.space, deep, self.tiles[3], body, "serial")
        g, j = self.each_score(body)
        k = body.loop("vector", along.size)
        body.when(along.inside(k))
        at |= {**self.reached(g, self.first + j), deep: along.at(k)}
        body.add(Accumulate(self.scores, (g, j), self.space.expression(self.product, at)))
        g, j = self.each_score(out)
        score = partial(whatever, self.scaled(self.scores[g, j]))
        x = self.space.expression(self.of.x, self.reached(g, self.first + j), {self.of.scores.target: score})
        out.add(Store(self.shown, (g, self.first + j), x))
        return self.block.add(Local(self.scores, "sum"), *body.done(), *out.done()).done()

    def each_score(self, nest: Nest) -> tuple[Expr, Expr]:
        g = nest.loop("unrolled", self.tiles[0].size)
        nest.when(self.rows.inside(g))
        j = nest.loop("unrolled", self.tiles[2].size)
        nest.when(self.keys.inside(self.first + j))
        return g, j

    def gathered(self) -> tuple[Statement, ...]:
        nest = Nest()
        j = nest.loop("serial", self.keys.size)
        nest.when(self.keys.inside(j))
        g = nest.loop("unrolled", self.tiles[0].size)
        nest.when(self.rows.inside(g))
        e = nest.loop("vector", self.space.size(self.column))
        value = self.space.expression(self.of.values, {**self.reached(g, j), self.column: e})
        return nest.add(Accumulate(self.sums, (g, e), mul(self.weights[g, j], value))).done()

    def ended(self) -> tuple[Statement, ...]:
        """The stage's value of the finished sums, stored."""
        nest, mean, total = Nest(), self.of.mean, self.of.total
        g = nest.loop("unrolled", self.tiles[0].size)
        nest.when(self.rows.inside(g))
        at = {**self.reached(g, g), self.column: nest.loop("vector", self.space.size(self.column))}
        found = {name: partial(whatever, self.sums[g, at[self.column]]) for name in mean.folds}
        folded = {name: partial(whatever, self.total[g]) for name in total.folds}
        found[total.target] = partial(whatever, self.space.expression(total.value, at, folded))
        value = self.space.expression(mean.value, at, found)
        return nest.add(Store(self.space.buffers[mean.target], tuple(at[axis] for axis in mean.axes), value)).done()

    def claim(self) -> Claim:
        """That a block's sums are the scores, but for their scale, each at its place."""
        axes, size = self.of.scores.axes, self.space.size

        def element(*indices: Expr) -> Expr:
            bound = {axis: index(size(axis)) for axis in self.depth}
            at: dict[str, Expr] = {**dict(zip(axes, indices, strict=True)), **bound}
            return Fold("sum", tuple(bound.values()), self.space.expression(self.product, at))

        shape = tuple(map(size, axes))
        g, j = (index(extent) for extent in self.scores.shape)
        at = self.reached(g, self.first + j)
        return Claim(Leaf(f"Σ {self.scores.name}", shape), (g, j), tuple(at[axis] for axis in axes),
                     Formula(shape, element))

    def held(self, claim: Claim) -> Formula:
        """What the mean holds, over the scores that are claimed."""
        of = self.of
        scores = {of.scores.target: lambda at: self.scaled(Load(claim.leaf, at))}
        return self.space.held(together(of.mean, [of.maximum, of.weights, of.total, of.mean]), scores)
