"""Schedules: a stage becomes a kernel under a map of its axes, with symbols for sizes and tiles.

Three maps, told apart by axes alone:

    rows     stages without a contraction share parallel loops over the axes that they have in common; the last axis of
             each runs in lanes, what a row needs twice stays in scratch of its own
    lanes    a contraction: one axis of the right operand runs in lanes, the axes that the right operand lacks are rows;
             tiles of rows × lanes accumulate in registers while the depth runs by. A weight is packed ahead, so that a
             tile's part of it is read from front to back
    dots     a contraction whose depth runs in lanes: for operands that lie along the depth in memory and are no weights

What every kernel should compute is said in `holds` from the forms; that it does is proved in `meaning.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import prod

from samesame.formula.expr import (
    TRUE,
    Expr,
    Index,
    Leaf,
    Load,
    Size,
    add,
    and_,
    compare,
    floordiv,
    index,
    mul,
    rebuild,
    where,
)
from samesame.formula.expr import Fold as Folded
from samesame.formula.tensor import Tensor as Formula
from samesame.optimize.forms import Form, Place, along, base, finite, formula, load, times, walk
from samesame.optimize.ir import Accumulate, Buffer, Dim, Kernel, Kind, Local, Program, Statement, Store, Tile, When
from samesame.optimize.ir import loop as new_loop
from samesame.optimize.meaning import Claim
from samesame.optimize.partition import Stage, factors, groups, is_contraction, shared, together
from samesame.optimize.specification import Specification

Elements = Mapping[str, Callable[[tuple[Expr, ...]], Expr]]         # what stands for a tensor's element, by name


class NoSchedule(Exception):
    """A stage that no map here takes."""


@dataclass(frozen=True)
class Scheduled:
    """Kernels for neighbouring stages; what each buffer should hold; the numbers to be chosen; how, in a word."""

    program: Program
    holds: Mapping[str, Formula]
    map: str
    claims: Mapping[str, Claim] = field(default_factory=dict)


def tiles(size: Dim, tile: Dim) -> Expr:
    """How many tiles cover a size."""
    return floordiv(add(size, tile, -1), tile)


@dataclass
class Space:
    """The tensors of one partition as buffers, over size symbols where the program's own sizes allow it."""

    specification: Specification
    stages: list[Stage]
    sizes: dict[str, Dim] = field(default_factory=dict)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    alike: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._find_shapes()
        for stage in self.stages:
            shape = tuple(self.size(axis) for axis in stage.axes)
            self.buffers[stage.target] = Buffer(stage.target, shape, stage.dtype or "float32")

    def size(self, axis: str) -> Dim:
        name = self._first(axis)
        return self.sizes.setdefault(name, Size(name, 1))

    def _first(self, axis: str) -> str:
        """The axis that stands for all that are as long for the same reason."""
        axis = base(axis)
        while self.alike.get(axis, axis) != axis:
            axis = self.alike[axis]
        return axis

    def extent(self, axis: str) -> int:
        extents = self.specification.extents
        return extents[axis] if axis in extents else extents[base(axis)]

    def numbers(self) -> dict[str, int]:
        """The example's sizes by the symbols' names."""
        return {size.name: self.extent(axis) for axis, size in self.sizes.items() if isinstance(size, Size)}

    def _find_shapes(self) -> None:
        """A dimension that some load runs over from end to end is as long as the load's axes; another is a number, and
        so are the axes that are read along it."""
        places: dict[tuple[str, int], list[Place]] = {}
        loads = {x for stage in self.stages for x in walk(stage.whole) if x.operator == "load"}
        for x in loads:
            for d, place in enumerate(x.attributes[1:]):
                places.setdefault((x.attributes[0], d), []).append(place)
        tensors = self.specification.tensors
        kept = {stage.target for stage in self.stages}
        found: dict[tuple[str, int], tuple[str, ...]] = {}
        pinned: set[str] = set()
        for (name, d), several in places.items():
            if name in kept or name not in tensors:
                continue
            whole = [place for place in several if self._covers(place, tensors[name].shape[d])]
            if whole:
                found[name, d] = tuple(sorted(whole[0].axes))
            if whole == several and all(len(place.axes) == 1 for place in several):
                for place in several[1:]:                    # several axes along one dimension are of one length
                    self.alike[self._first(place.axes[0])] = self._first(several[0].axes[0])
            elif not whole or any(sorted(map(base, p.axes)) != sorted(map(base, found[name, d])) for p in several):
                pinned |= {base(axis) for place in several for axis in place.axes}
        self.sizes.update({self._first(axis): self.extent(axis) for axis in pinned})
        for name, tensor in tensors.items():
            shape = (self._length(found.get((name, d)), size) for d, size in enumerate(tensor.shape))
            self.buffers[name] = Buffer(name, tuple(shape), tensor.dtype)

    def _covers(self, place: Place, size: int) -> bool:
        return place.offset == 0 and all(p.factor == 1 for p in place.parts) and self._span(place.axes) == size

    def _span(self, axes: Iterable[str]) -> int:
        return prod(map(self.extent, axes))

    def _length(self, axes: tuple[str, ...] | None, size: int) -> Dim:
        return size if axes is None else mul(*map(self.size, axes)) if axes else 1

    def expression(self, form: Form, at: Mapping[str, Expr], elements: Elements | None = None) -> Expr:
        """A form's element, with other expressions in place of elements of some tensors."""
        leaves = {name: buffer.leaf for name, buffer in self.buffers.items()}
        sizes = {axis: self.size(axis) for x in walk(form) for axis in x.axes}

        def go(e: Expr) -> Expr:
            if elements and isinstance(e, Load) and e.leaf.name in elements:
                return elements[e.leaf.name](tuple(map(go, e.indices)))
            return rebuild(e, go)

        found = formula(form, at, _Sizes(self, sizes), leaves)
        return go(found) if elements else found

    def held(self, stage: Stage) -> Formula:
        """What a stage's target holds, over the tensors that it reads."""
        shape = tuple(self.size(axis) for axis in stage.axes)
        return Formula(shape, lambda *at: self.expression(stage.whole, dict(zip(stage.axes, at, strict=True))))


class _Sizes(dict[str, "int | Expr"]):
    """The sizes of all axes, those inside of folds included."""

    def __init__(self, space: Space, known: Mapping[str, Dim]) -> None:
        super().__init__(known)
        self.space = space

    def __missing__(self, axis: str) -> Dim:
        return self.space.size(axis)

    def __contains__(self, axis: object) -> bool:
        return True


# ------------------------------------------------------------------------------------------------------------- building


class Nest:
    """Loops that are being opened, outermost first, and what is inside of them so far."""

    def __init__(self) -> None:
        self.open: list[Callable[[tuple[Statement, ...]], Statement]] = []
        self.body: list[Statement] = []

    def loop(self, kind: Kind, extent: Dim) -> Index:
        variable, opened = new_loop(kind, extent)
        self.open.append(lambda body: opened(*body))
        return variable

    def when(self, *conditions: Expr) -> None:
        real = [condition for condition in conditions if condition is not TRUE]
        if real:
            self.open.append(lambda body: When(and_(*real), body))

    def add(self, *statements: Statement) -> Nest:
        self.body.extend(statements)
        return self

    def done(self) -> tuple[Statement, ...]:
        body = tuple(self.body)
        for opened in reversed(self.open):
            body = (opened(body),)
        return body


@dataclass(frozen=True)
class Tiled:
    """An axis cut into tiles: `tile·size + within`, where that is below the axis' length."""

    size: Dim
    length: Dim
    tile: Expr

    def at(self, within: Expr) -> Expr:
        return self.tile * self.size + within

    def inside(self, within: Expr) -> Expr:
        return TRUE if self.size == self.length else compare("<", self.at(within), self.length)


def tile_of(space: Space, stage: Stage, axis: str, role: str) -> Tile:
    return Tile(Size(f"{role} of {axis} in {stage.target}", 1), role, space.size(axis))


# ----------------------------------------------------------------------------------------------------------------- rows


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


def _whatever(value: Expr, indices: tuple[Expr, ...]) -> Expr:
    return value


def _scratch(space: Space, stage: Stage, outer: tuple[str, ...]) -> Buffer:
    return Buffer(f"{stage.target} here", tuple(space.size(axis) for axis in stage.axes if axis not in outer))


def _row(
    space: Space, stage: Stage, outer: tuple[str, ...], at: Mapping[str, Expr], elements: Elements,
    targets: list[Buffer],
) -> list[Statement]:
    """The statements that compute a stage inside of the loops over `outer`."""
    inner = tuple(axis for axis in stage.axes if axis not in outer)
    nest, here = Nest(), dict(at)
    last = _last(stage.value, inner) if not stage.folds else None
    for axis in [*(axis for axis in inner if axis != last), *([last] if last else [])]:
        here[axis] = nest.loop("vector" if axis == last else "serial", space.size(axis))
    found = dict(elements)
    for name, fold in stage.folds.items():
        accumulator = Buffer(f"{name} of {stage.target}", ())
        monoid, axes = fold.attributes
        body = Nest()
        deep = _last(fold, axes)
        inside = dict(here)
        for axis in [*(axis for axis in axes if axis != deep), deep]:
            inside[axis] = body.loop("vector" if axis == deep else "serial", space.size(axis))
        body.add(Accumulate(accumulator, (), space.expression(fold.arguments[0], inside, elements)))
        nest.add(Local(accumulator, monoid), *body.done())
        found[name] = partial(_whatever, accumulator[()])
    value = space.expression(stage.value, here, found)
    for target in targets:
        indices = tuple(here[axis] for axis in stage.axes if len(target.shape) == len(stage.axes) or axis in inner)
        nest.add(Store(target, indices, value))
    return list(nest.done())


def _last(form: Form, axes: Iterable[str]) -> str:
    """Of these axes the one along which most loads lie in memory."""
    votes = {axis: 0 for axis in axes}
    for x in walk(form):
        if x.operator == "load" and x.attributes[1:]:
            parts = x.attributes[-1].parts
            if parts and parts[-1].axis in votes and parts[-1].factor == 1 and not parts[-1].over:
                votes[parts[-1].axis] += 1
    return max(votes, key=lambda axis: (votes[axis], axis)) if votes else ""


# ---------------------------------------------------------------------------------------------------------- contraction


@dataclass(frozen=True)
class Product:
    """One fold of a contraction: Σ over `depth` of scale · left · right, where only `right` has the column axis."""

    name: str
    depth: tuple[str, ...]
    scale: Form
    left: Form
    right: Form


def products(stage: Stage, column: str) -> list[Product]:
    """The folds as products, with the column axis on the right. Raises NoSchedule where they are none."""
    found = []
    for name, fold in stage.folds.items():
        monoid, axes = fold.attributes
        parts = factors(fold.arguments[0])
        right = [x for x in parts if column in x.axes]
        if monoid != "sum" or len(right) != 1 or right[0].operator != "load":
            raise NoSchedule(f"{column} runs through more than one operand, or through none that is a tensor")
        left = [x for x in parts if x is not right[0] and not finite(x)]
        scale = [x for x in parts if finite(x)]
        found.append(Product(name, axes, times(*scale), times(*left), right[0]))
    if not found:
        raise NoSchedule("there is no contraction")
    return found


def columns(stage: Stage) -> list[str]:
    """The axes that can be columns, at least one of whose operands does not have all rows."""
    able = []
    for axis in stage.axes:
        try:
            several = products(stage, axis)
        except NoSchedule:
            continue
        if all(set(stage.axes) - set(p.right.axes) or set(stage.axes) - set(p.left.axes) for p in several):
            able.append(axis)
    return able


@dataclass
class _Grid:
    """The loops around a tile of the result: batches and tiles of columns in parallel, tiles of rows one by one."""

    nest: Nest
    at: dict[str, Expr]
    column: tuple[str, Tiled]
    row: tuple[str, Tiled] | None
    tiles: list[Tile]

    @property
    def shape(self) -> tuple[Dim, Dim]:
        return self.row[1].size if self.row else 1, self.column[1].size

    def reached(self, i: Expr, j: Expr) -> dict[str, Expr]:
        """Where each axis of the result is at row i and column j of the tile."""
        ends = [(self.column, j), *([(self.row, i)] if self.row else [])]
        return {**self.at, **{axis: tiled.at(within) for (axis, tiled), within in ends}}

    def tile(self, nest: Nest, columns: Kind) -> tuple[Expr, Expr, Expr]:
        """Loops over the tile: row, column, and the condition that there is such a column."""
        i = nest.loop("unrolled", self.shape[0])
        nest.when(self.row[1].inside(i) if self.row else TRUE)
        j = nest.loop(columns, self.shape[1])
        return i, j, self.column[1].inside(j)


def _grid(space: Space, stage: Stage, column: str, several: list[Product], role: str) -> _Grid:
    free = [axis for axis in stage.axes if axis != column and all(axis not in p.right.axes for p in several)]
    row = max(free, key=space.extent, default=None)
    nest, chosen = Nest(), [tile_of(space, stage, column, role)]
    at: dict[str, Expr] = {axis: nest.loop("parallel", space.size(axis))
                           for axis in stage.axes if axis != column and axis not in free}
    across = _tiled(space, column, chosen[0], nest, "parallel")
    at |= {axis: nest.loop("serial", space.size(axis)) for axis in free if axis != row}
    if row is None:
        return _Grid(nest, at, (column, across), None, chosen)
    chosen.append(tile_of(space, stage, row, "rows"))
    return _Grid(nest, at, (column, across), (row, _tiled(space, row, chosen[1], nest, "serial")), chosen)


def _tiled(space: Space, axis: str, tile: Tile, nest: Nest, kind: Kind) -> Tiled:
    return Tiled(tile.size, space.size(axis), nest.loop(kind, tiles(space.size(axis), tile.size)))


def lanes(space: Space, stage: Stage, column: str) -> Scheduled:
    """Columns in lanes: each lane of a tile has its own sum."""

    def fold(grid: _Grid, nest: Nest, at: dict[str, Expr], depth: list[str]) -> _Step:
        at |= {axis: nest.loop("serial", space.size(axis)) for axis in depth}
        i, j, there = grid.tile(nest, "vector")
        return _Step(i, j, there, {**grid.reached(i, j), **at})

    return _contraction(space, stage, column, "lanes", "vector", fold)


def dots(space: Space, stage: Stage, column: str) -> Scheduled:
    """The depth in lanes: each sum of a tile is kept in as many parts as there are lanes."""

    def fold(grid: _Grid, nest: Nest, at: dict[str, Expr], depth: list[str]) -> _Step:
        *others, deep = depth
        at |= {axis: nest.loop("serial", space.size(axis)) for axis in others}
        grid.tiles.append(tile_of(space, stage, deep, "depth"))
        along_depth = _tiled(space, deep, grid.tiles[-1], nest, "serial")
        i, j, there = grid.tile(nest, "unrolled")
        nest.when(there)
        k = nest.loop("vector", along_depth.size)
        nest.when(along_depth.inside(k))
        return _Step(i, j, TRUE, {**grid.reached(i, j), **at, deep: along_depth.at(k)})

    return _contraction(space, stage, column, "columns", "unrolled", fold)


@dataclass(frozen=True)
class _Step:
    """One round of a fold: row and column of the tile, whether there is such a column, where each axis is."""

    row: Expr
    column: Expr
    there: Expr
    at: dict[str, Expr]


def _contraction(
    space: Space, stage: Stage, column: str, role: str, kind: Kind,
    fold: Callable[[_Grid, Nest, dict[str, Expr], list[str]], _Step],
) -> Scheduled:
    several = products(stage, column)
    grid = _grid(space, stage, column, several, role)
    ahead, operands = _operands(space, stage, several, grid)
    nest = grid.nest
    sums = {p.name: Buffer(_sums(stage, p), grid.shape) for p in several}
    nest.add(*(Local(buffer, "sum") for buffer in sums.values()))
    for depth in dict.fromkeys(p.depth for p in several):
        body = Nest()
        step = fold(grid, body, {}, _deepest_last(several, depth))
        for p in several:
            if p.depth == depth:
                term = mul(space.expression(operands.left[p.name], step.at), operands.right(p, step, grid))
                add_it = Accumulate(sums[p.name], (step.row, step.column), term)
                sure = step.there is TRUE or p.name in operands.packed
                body.add(add_it if sure else When(step.there, (add_it,)))
        nest.add(*body.done())
    nest.add(*_result(space, stage, operands, sums, grid, kind))
    kernel = _kernel(space, role, stage, operands, nest)
    claims = {_sums(stage, p): _claim(stage, p, operands, grid) for p in several}
    held = {**operands.holds, stage.target: operands.held(stage, claims)}
    return Scheduled(Program((*ahead, kernel), tuple(grid.tiles)), held, f"{role} along {column}", claims)


def _sums(stage: Stage, p: Product) -> str:
    return f"{p.name} of {stage.target}"


def _claim(stage: Stage, p: Product, operands: Operands, grid: _Grid) -> Claim:
    """That a tile's sums are the product's, each at its place."""
    total = operands.total(stage, p)
    i, j = (index(size) for size in grid.shape)
    at = grid.reached(i, j)
    return Claim(Leaf(f"Σ {_sums(stage, p)}", total.shape), (i, j), tuple(at[axis] for axis in stage.axes), total)


def _result(
    space: Space, stage: Stage, operands: Operands, sums: Mapping[str, Buffer], grid: _Grid, kind: Kind
) -> tuple[Statement, ...]:
    """The stage's value of the finished sums, stored."""
    out = Nest()
    i, j, there = grid.tile(out, kind)
    out.when(there)
    at = grid.reached(i, j)
    finished = {p.name: operands.scaled(p, sums[p.name][i, j]) for p in operands.several}
    value = space.expression(stage.value, at, {name: partial(_whatever, v) for name, v in finished.items()})
    out.add(Store(space.buffers[stage.target], tuple(at[axis] for axis in stage.axes), value))
    return out.done()


def _kernel(space: Space, map: str, stage: Stage, operands: Operands, nest: Nest) -> Kernel:
    names = {x.attributes[0] for form in (*operands.left.values(), stage.value) for x in walk(form)
             if x.operator == "load"} - set(stage.folds)
    names |= {p.right.attributes[0] for p in operands.several if p.name not in operands.packed}
    reads = [space.buffers[name] for name in sorted(names)] + list(operands.packed.values())
    return Kernel(f"{map}_{stage.target}", tuple(reads), (space.buffers[stage.target],), nest.done())


@dataclass
class Operands:
    """How a kernel reads its products: weights from packed panels, a left operand that is computed from where it was
    stored."""

    space: Space
    several: list[Product]
    column: str
    left: dict[str, Form]
    packed: dict[str, Buffer] = field(default_factory=dict)
    order: dict[str, tuple[str, ...]] = field(default_factory=dict)
    width: Dim = 1
    holds: dict[str, Formula] = field(default_factory=dict)

    def right(self, p: Product, step: _Step, grid: _Grid) -> Expr:
        """The right operand's element."""
        if p.name in self.packed:
            at, tile = step.at, grid.column[1].tile
            return self.packed[p.name][
                (*(at[a] for a in self.order[p.name]), tile, *(at[a] for a in self.deep(p)), step.column)]
        return self.space.expression(p.right, step.at)

    def total(self, stage: Stage, p: Product) -> Formula:
        """What a product's sum is at each place of the stage's axes."""

        def element(*indices: Expr) -> Expr:
            bound = {axis: index(self.space.size(axis)) for axis in p.depth}
            at = {**dict(zip(stage.axes, indices, strict=True)), **bound}
            body = mul(self.space.expression(self.left[p.name], at), self.whole(p, at))
            return Folded("sum", tuple(bound.values()), body)

        return Formula(tuple(map(self.space.size, stage.axes)), element)

    def held(self, stage: Stage, claims: Mapping[str, Claim]) -> Formula:
        """What the stage's target holds, over the sums that are claimed."""

        def element(*indices: Expr) -> Expr:
            at = dict(zip(stage.axes, indices, strict=True))
            found = {p.name: self.scaled(p, Load(claims[_sums(stage, p)].leaf, indices)) for p in self.several}
            return self.space.expression(stage.value, at, {name: partial(_whatever, v) for name, v in found.items()})

        return Formula(tuple(map(self.space.size, stage.axes)), element)

    def scaled(self, p: Product, total: Expr) -> Expr:
        return mul(self.space.expression(p.scale, {}), total)

    def whole(self, p: Product, at: Mapping[str, Expr]) -> Expr:
        """The same for a column that is not cut into tiles."""
        if p.name in self.packed:
            n, batch, depth = at[self.column], self.order[p.name], self.deep(p)
            tile, lane = floordiv(n, self.width), n % self.width
            return self.packed[p.name][(*(at[a] for a in batch), tile, *(at[a] for a in depth), lane)]
        return self.space.expression(p.right, at)

    def deep(self, p: Product) -> tuple[str, ...]:
        return tuple(axis for axis in _deepest_last(self.several, p.depth) if axis in p.right.axes)


def _operands(
    space: Space, stage: Stage, several: list[Product], grid: _Grid
) -> tuple[list[Kernel], Operands]:
    """Kernels that bring operands into the order in which they are read, and how they are read then."""
    operands = Operands(space, several, grid.column[0], {}, width=grid.column[1].size)
    kernels: list[Kernel] = []
    for p in several:
        operands.left[p.name] = p.left
        if p.left.operator not in ("load", "number"):
            kept = Stage(f"left of {p.name} of {stage.target} by {grid.column[0]}", p.left.axes, p.left)
            space.buffers[kept.target] = Buffer(kept.target, tuple(map(space.size, kept.axes)))
            before = rows(space, [kept], [kept.target])
            kernels.extend(before.program.kernels)
            operands.holds.update(before.holds)
            operands.left[p.name] = load(kept.target, *map(along, kept.axes))
        tensor = space.specification.tensors.get(p.right.attributes[0])
        if tensor is not None and tensor.role == "weight" and grid.tiles[0].role == "lanes":
            kernels.append(_packed(space, stage, operands, p))
    return kernels, operands


def _packed(space: Space, stage: Stage, operands: Operands, p: Product) -> Kernel:
    """The weight in panels of as many columns as a tile has; zeros stand beyond the last column."""
    depth, column, width = operands.deep(p), operands.column, operands.width
    batch = tuple(axis for axis in p.right.axes if axis != column and axis not in depth)
    operands.order[p.name] = batch
    length = space.size(column)
    shape = (*map(space.size, batch), tiles(length, width), *map(space.size, depth), width)
    source = space.buffers[p.right.attributes[0]]
    buffer = Buffer(f"{p.name} of {stage.target} packed by {column}", shape, source.dtype)
    operands.packed[p.name] = buffer

    def value(*at: Expr) -> Expr:
        tile, lane = at[len(batch)], at[-1]
        here = dict(zip((*batch, *depth), (*at[: len(batch)], *at[len(batch) + 1 : -1]), strict=True))
        here[column] = tile * width + lane
        return where(compare("<", here[column], length), space.expression(p.right, here), 0)

    nest = Nest()
    outer = [nest.loop("parallel" if n <= len(batch) else "serial", size) for n, size in enumerate(shape[:-1])]
    lane = nest.loop("vector", width)
    nest.add(Store(buffer, (*outer, lane), value(*outer, lane)))
    operands.holds[buffer.name] = Formula(shape, value)
    return Kernel(f"pack_{p.name}_of_{stage.target}", (source,), (buffer,), nest.done(), ahead=True)


def _deepest_last(several: list[Product], depth: tuple[str, ...]) -> list[str]:
    forms = [p.left for p in several if p.depth == depth]
    last = _last(times(*forms), depth) if depth else ""
    return [*(axis for axis in depth if axis != last), *([last] if last else [])]


def contains_contraction(stage: Stage) -> bool:
    return any(map(is_contraction, stage.folds.values()))


def alternatives(space: Space) -> Iterator[list[Scheduled]]:
    """For each group of neighbouring stages, every map that takes it. Raises NoSchedule where none does."""
    outputs = {output.name for output in space.specification.roots()}
    contractions = {stage.target for stage in space.stages if contains_contraction(stage)}
    for group in groups(space.stages, contractions):
        read_elsewhere = {name for stage in space.stages if stage not in group for name in stage.reads}
        if group[0].target not in contractions:
            yield [rows(space, group, outputs | read_elsewhere)]
            continue
        found = [map(space, group[0], column) for column in columns(group[0]) for map in (lanes, dots)]
        if not found:
            raise NoSchedule(f"no axis of {', '.join(group[0].axes)} can be a contraction's columns")
        yield found
