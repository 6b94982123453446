"""Contractions as loop nests: tiles of rows × columns accumulate in registers while the depth runs by.

One operand, the right one, has the column axis; the axes that it lacks are rows, of which the longest is cut into
tiles, and what both operands have are batches. What is summed need be no product: of a distance Σ (x − y)², too, each
element of x meets each of y. In `lanes` each lane of a register has a column of its own; a weight is
packed ahead, so that a tile's part of it is read from front to back. In `dots` the depth runs in lanes, and each sum is
kept in as many parts: for operands that lie along the depth in memory and are no weights. In `blocks`, for a GPU, tiles
of rows run in parallel, too, and rows, columns and depth of a tile are all lanes; a left operand is computed as it is
read. In `parts` (split-K) parts of the depth are summed up in parallel, and their sums by a second kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from samesame.formula.expr import TRUE, ZERO, Expr, Leaf, Load, and_, compare, floordiv, index, mul, where
from samesame.formula.expr import Fold as Folded
from samesame.formula.tensor import Tensor as Formula
from samesame.optimize.forms import Form, along, exchanged, finite, fold, load, times, walk
from samesame.optimize.ir import (
    NARROW,
    Accumulate,
    Buffer,
    Dim,
    Kernel,
    Kind,
    Local,
    Program,
    Statement,
    Store,
    Tile,
    When,
)
from samesame.optimize.lying import is_tensor, leaves, table_of
from samesame.optimize.meaning import Claim
from samesame.optimize.partition import Stage, factors, is_pairwise, of_weights
from samesame.optimize.rows import untiled
from samesame.optimize.shared import is_function
from samesame.optimize.space import Nest, NoSchedule, Scheduled, Space, Tiled, in_tiles, tile_of, tiles, whatever

ROWS = 8                                             # of a tile, about: of longer axes that of nearer rows has these


@dataclass(frozen=True)
class Product:
    """One fold of a contraction: Σ over `depth` of scale · left · right, where only the right operand has the column
    axis. `rights` are the tensors with that axis of which it is made as it is read, by the names that stand for them: a
    weight, or one of few bits with its zeros and scales. Where none is a factor (`mixed`), `left` is what is summed,
    over these names."""

    name: str
    depth: tuple[str, ...]
    scale: Form
    left: Form
    rights: Mapping[str, Form]
    right: Form | None

    @property
    def mixed(self) -> bool:
        return self.right is None

    @property
    def is_plain(self) -> bool:
        """Whether the right operand is a tensor as it is."""
        return self.right is not None and self.right.operator == "load"

    def term(self, left: Form) -> Form:
        """What is summed, but for the scale."""
        return left if self.right is None else times(left, self.right)

    def lacks(self, axis: str) -> bool:
        """Whether the right operand does not have this axis."""
        return all(axis not in right.axes for right in self.rights.values())


def products(stage: Stage, column: str) -> list[Product]:
    """The folds as products, with the column axis on the right. Raises NoSchedule where they are none."""
    found = []
    for name, form in stage.folds.items():
        monoid, axes = form.attributes
        parts = factors(form.arguments[0])
        right = [x for x in parts if column in x.axes]
        scale, rest = times(*(x for x in parts if finite(x))), [x for x in parts if not finite(x)]
        left = times(*(x for x in rest if x not in right))
        if monoid == "sum" and len(right) == 1 and is_tensor(right[0]):
            found.append(Product(name, axes, scale, left, {f"right of {name}": right[0]}, load(f"right of {name}")))
        elif monoid == "sum" and is_operand_of_several(right, left, column):
            names, rights = named_rights(name, right, column)
            found.append(Product(name, axes, scale, left, rights, exchanged(times(*right), names)))
        elif is_pairwise(form):
            names, rights = named_rights(name, [form.arguments[0]], column)
            found.append(Product(name, axes, scale, exchanged(times(*rest), names), rights, None))
        else:
            raise NoSchedule(f"{column} runs through more than one operand, or through none that is a tensor")
    if not found:
        raise NoSchedule("there is no contraction")
    return found


def named_rights(name: str, factors: Iterable[Form], column: str) -> tuple[dict[Form, Form], dict[str, Form]]:
    """The tensors with the column axis that these are made of: the names that stand for them, and they by these."""
    tensors = [x for x in leaves(times(*factors)) if is_tensor(x) and column in x.axes]
    names = {x: load(f"right {k} of {name}") for k, x in enumerate(tensors)}
    return names, {each.attributes[0]: x for x, each in names.items()}


def is_operand_of_several(factors: Sequence[Form], left: Form, column: str) -> bool:
    """Whether these factors are made of tensors, some with the column axis, without functions, so that they cost little
    where they are read; and what they meet has an axis that they all lack."""
    parts = leaves(times(*factors))
    cheap = not any(map(is_function, walk(*factors)))
    made_of = all(map(is_tensor, parts)) and any(column in x.axes for x in parts)
    return cheap and made_of and not {*left.axes} <= {axis for x in parts for axis in x.axes}


def columns(stage: Stage) -> list[str]:
    """The axes that can be columns, at least one of whose operands does not have all rows."""
    able = []
    for axis in stage.axes:
        try:
            several = products(stage, axis)
        except NoSchedule:
            continue
        if all(any(map(p.lacks, stage.axes)) or (set(stage.axes) - set(p.left.axes) and not p.mixed) for p in several):
            able.append(axis)
    return able


@dataclass
class _Grid:
    """The loops around a tile of the result: batches and tiles of columns in parallel, tiles of rows `rows`; `inside`,
    a tile's own rows. `part` is an axis of the depth of which parts run in parallel, `pairs` are those that go by twos.
    """

    nest: Nest
    at: dict[str, Expr]
    column: tuple[str, Tiled]
    row: tuple[str, Tiled] | None
    tiles: list[Tile]
    inside: Kind
    part: tuple[str, Tiled] | None = None
    pairs: frozenset[str] = frozenset()

    @property
    def shape(self) -> tuple[Dim, Dim]:
        return self.row[1].size if self.row else 1, self.column[1].size

    def reached(self, i: Expr, j: Expr) -> dict[str, Expr]:
        """Where each axis of the result is at row i and column j of the tile."""
        ends = [(self.column, j), *([(self.row, i)] if self.row else [])]
        return {**self.at, **{axis: tiled.at(within) for (axis, tiled), within in ends}}

    def down(self, space: Space, nest: Nest, axis: str) -> Expr:
        """A loop along the depth, in a part of it only its own."""
        if axis in self.pairs:
            two = Tiled(2, space.size(axis), nest.loop("serial", tiles(space.size(axis), 2)))
            which = nest.loop("serial", 2)
            nest.when(two.inside(which))
            return two.at(which)
        if self.part is None or axis != self.part[0]:
            return nest.loop("serial", space.size(axis))
        within = nest.loop("serial", self.part[1].size)
        nest.when(self.part[1].inside(within))
        return self.part[1].at(within)

    def tile(self, nest: Nest, columns: Kind) -> tuple[Expr, Expr, Expr]:
        """Loops over the tile: row, column, and the condition that there is such a column."""
        i = nest.loop(self.inside, self.shape[0]) if self.row else ZERO
        nest.when(self.row[1].inside(i) if self.row else TRUE)
        j = nest.loop(columns, self.shape[1])
        return i, j, self.column[1].inside(j)


def _grid(space: Space, stage: Stage, column: str, several: list[Product], role: str, split: str) -> _Grid:
    rows: Kind = "parallel" if role == "blocks" else "serial"
    inside: Kind = "vector" if role == "blocks" else "unrolled"
    free = [axis for axis in stage.axes if axis != column and all(p.lacks(axis) for p in several)]
    row = max(reversed(free), key=lambda axis: min(space.extent(axis), ROWS), default=None)
    nest, chosen = Nest(), [tile_of(space, stage, column, role)]
    part = None
    if split:
        chosen.append(tile_of(space, stage, split, "parts"))
        part = split, in_tiles(space, split, chosen[-1], nest, "parallel")
    at: dict[str, Expr] = {axis: nest.loop("parallel", space.size(axis))
                           for axis in stage.axes if axis != column and axis not in free}
    across = in_tiles(space, column, chosen[0], nest, "parallel")
    at |= {axis: nest.loop(rows, space.size(axis)) for axis in free if axis != row}
    if row is None:
        return _Grid(nest, at, (column, across), None, chosen, inside, part)
    chosen.append(tile_of(space, stage, row, "rows"))
    return _Grid(nest, at, (column, across), (row, in_tiles(space, row, chosen[-1], nest, rows)), chosen, inside, part)


def lanes(space: Space, stage: Stage, column: str, split: str = "") -> Scheduled:
    """Columns in lanes: each lane of a tile has its own sum."""

    def fold(grid: _Grid, nest: Nest, at: dict[str, Expr], depth: list[str]) -> _Step:
        at |= {axis: grid.down(space, nest, axis) for axis in depth}
        i, j, there = grid.tile(nest, "vector")
        return _Step(i, j, there, {**grid.reached(i, j), **at})

    return _contraction(space, stage, column, "lanes", "vector", fold, split)


def parts(space: Space, stage: Stage, column: str) -> Scheduled:
    """Lanes, of parts of the depth in parallel; a second kernel sums these up."""
    return lanes(space, stage, column, max(common_depth(stage, column), key=lambda axis: (space.extent(axis), axis)))


def common_depth(stage: Stage, column: str) -> set[str]:
    """The axes that all products sum over."""
    return set.intersection(*(set(p.depth) for p in products(stage, column)))


def dots(space: Space, stage: Stage, column: str) -> Scheduled:
    """The depth in lanes: each sum of a tile is kept in as many parts as there are lanes."""
    return _along_depth(space, stage, column, "columns", "unrolled")


def blocks(space: Space, stage: Stage, column: str) -> Scheduled:
    """Rows, columns and depth of a tile in lanes: a product of two small matrices."""
    return _along_depth(space, stage, column, "blocks", "vector")


def _along_depth(space: Space, stage: Stage, column: str, role: str, kind: Kind) -> Scheduled:
    def fold(grid: _Grid, nest: Nest, at: dict[str, Expr], depth: list[str]) -> _Step:
        *others, deep = depth
        at |= {axis: nest.loop("serial", space.size(axis)) for axis in others}
        grid.tiles.append(tile_of(space, stage, deep, "depth"))
        along_depth = in_tiles(space, deep, grid.tiles[-1], nest, "serial")
        i, j, there = grid.tile(nest, kind)
        nest.when(there)
        k = nest.loop("vector", along_depth.size)
        nest.when(along_depth.inside(k))
        return _Step(i, j, TRUE, {**grid.reached(i, j), **at, deep: along_depth.at(k)})

    return _contraction(space, stage, column, role, kind, fold)


@dataclass(frozen=True)
class _Step:
    """One round of a fold: row and column of the tile, whether there is such a column, where each axis is."""

    row: Expr
    column: Expr
    there: Expr
    at: dict[str, Expr]


def _contraction(
    space: Space, stage: Stage, column: str, role: str, kind: Kind,
    fold: Callable[[_Grid, Nest, dict[str, Expr], list[str]], _Step], split: str = "",
) -> Scheduled:
    several = products(stage, column)
    grid = _grid(space, stage, column, several, role, split)
    ahead, operands = _operands(space, stage, several, grid)
    nest = grid.nest
    sums = {p.name: Buffer(_sums(stage, p), grid.shape, space.real) for p in several}
    nest.add(*(Local(buffer, "sum") for buffer in sums.values()))
    for depth in dict.fromkeys(p.depth for p in several):
        body = Nest()
        step = fold(grid, body, {}, _deepestlast(space, several, depth))
        for p in several:
            if p.depth == depth:
                read = {key: operands.right(p, key, step, grid) for key in p.rights}
                add_it = Accumulate(sums[p.name], (step.row, step.column), operands.term(p, step.at, read))
                sure = step.there is TRUE or operands.packed.keys() >= p.rights.keys()
                body.add(add_it if sure else When(step.there, (add_it,)))
        nest.add(*body.done())
    claims = {_sums(stage, p): _claim(stage, p, operands, grid) for p in several}
    at = {axis: index(space.size(axis)) for axis in stage.axes}
    whole = {p.name: space.expression(stage.folds[p.name], at) for p in several}
    if grid.part is not None:
        return _in_parts(space, stage, operands, grid, sums, claims, ahead, at, whole)
    nest.add(*_result(space, stage, operands, sums, grid, kind))
    kernel = _kernel(space, role, stage, operands, nest)
    held = {**operands.holds, stage.target: operands.held(stage, claims)}
    made = [operands.scaled(p, Load(claims[_sums(stage, p)].leaf, tuple(at.values()))) for p in several]
    return Scheduled(Program((*ahead, kernel), tuple(grid.tiles)), held, f"{role} along {column}", claims, (stage,),
                     tuple(zip(made, whole.values(), strict=True)))


def _in_parts(
    space: Space, stage: Stage, operands: Operands, grid: _Grid, sums: Mapping[str, Buffer],
    claims: Mapping[str, Claim], ahead: list[Kernel], at: Mapping[str, Expr], whole: Mapping[str, Expr],
) -> Scheduled:
    """The sums of parts side by side, and a kernel that sums these up."""
    assert grid.part is not None
    split, part = grid.part
    axis = f"parts of {split} in {stage.target}"
    space.sizes[axis] = tiles(part.length, part.size)
    folds, some = dict[str, Form](), dict[str, Buffer]()
    out = Nest()
    i, j, there = grid.tile(out, "vector")
    out.when(there)
    here = grid.reached(i, j)
    for p in operands.several:
        buffer = Buffer(f"{_sums(stage, p)} in parts", (*map(space.size, stage.axes), space.size(axis)), space.real)
        some[buffer.name] = space.buffers[buffer.name] = buffer
        out.add(Store(buffer, (*(here[a] for a in stage.axes), part.tile), sums[p.name][i, j]))
        operands.holds[buffer.name] = Formula(buffer.shape, partial(_claimed, claims[_sums(stage, p)].leaf))
        folds[p.name] = fold("sum", [axis], times(p.scale, load(buffer.name, *stage.axes, axis)))
    grid.nest.add(*out.done())
    kernel = _kernel(space, "parts", stage, operands, grid.nest, tuple(some.values()))
    last_one = untiled(space, replace(stage, folds=folds))
    program = Program((*ahead, kernel, *last_one.program.kernels), tuple(grid.tiles))
    made = [(space.expression(folds[name], at), whole[name]) for name in folds]
    return Scheduled(program, {**operands.holds, **last_one.holds}, f"parts of {split}, lanes along {grid.column[0]}",
                     claims, (stage,), tuple(made))


def _claimed(leaf: Leaf, *at: Expr) -> Expr:
    return Load(leaf, at)


def _sums(stage: Stage, p: Product) -> str:
    return f"{p.name} in {stage.target}"


def _claim(stage: Stage, p: Product, operands: Operands, grid: _Grid) -> Claim:
    """That a tile's sums are the product's, each at its place."""
    total = operands.total(stage, p, grid.part)
    i, j = (index(size) for size in grid.shape)
    at = grid.reached(i, j)
    place = [at[axis] for axis in stage.axes] + ([grid.part[1].tile] if grid.part else [])
    return Claim(Leaf(f"Σ {_sums(stage, p)}", total.shape), (i, j), tuple(place), total)


def _result(
    space: Space, stage: Stage, operands: Operands, sums: Mapping[str, Buffer], grid: _Grid, kind: Kind
) -> tuple[Statement, ...]:
    """The stage's value of the finished sums, stored."""
    out = Nest()
    i, j, there = grid.tile(out, kind)
    out.when(there)
    at = grid.reached(i, j)
    finished = {p.name: operands.scaled(p, sums[p.name][i, j]) for p in operands.several}
    value = space.expression(stage.value, at, {name: partial(whatever, v) for name, v in finished.items()})
    out.add(Store(space.buffers[stage.target], tuple(at[axis] for axis in stage.axes), value))
    return out.done()


def _kernel(
    space: Space, map: str, stage: Stage, operands: Operands, nest: Nest, writes: tuple[Buffer, ...] = ()
) -> Kernel:
    forms = [*operands.left.values(), *(p.right for p in operands.several if p.right is not None)]
    forms += [] if writes else [stage.value]
    names = {x.attributes[0] for form in forms for x in walk(form) if x.operator == "load"} - set(stage.folds)
    rights = {key: right for p in operands.several for key, right in p.rights.items()}
    names -= rights.keys()
    names |= {x.attributes[0] for key, right in rights.items() if key not in operands.packed
              for x in walk(right) if x.operator == "load"}
    reads = [space.buffers[name] for name in sorted(names)] + list(operands.packed.values())
    return Kernel(f"{map}_{stage.target}", tuple(reads), writes or (space.buffers[stage.target],), nest.done())


@dataclass
class Operands:
    """How a kernel reads its products: weights from packed panels, a left operand that is computed from where it was
    stored. What is packed goes by the names of `rights`."""

    space: Space
    several: list[Product]
    column: str
    left: dict[str, Form]
    packed: dict[str, Buffer] = field(default_factory=dict)
    pairs: dict[str, str] = field(default_factory=dict)
    order: dict[str, tuple[str, ...]] = field(default_factory=dict)
    width: Dim = 1
    holds: dict[str, Formula] = field(default_factory=dict)

    def term(self, p: Product, at: Mapping[str, Expr], read: Mapping[str, Expr]) -> Expr:
        """What a product sums at a place, with its right operands as they are `read`."""
        form = p.term(self.left[p.name])
        return self.space.expression(form, at, {key: partial(whatever, value) for key, value in read.items()})

    def right(self, p: Product, key: str, step: _Step, grid: _Grid) -> Expr:
        """A right operand's element."""
        if key in self.packed:
            return self.panel(p, key, step.at, grid.column[1].tile, step.column)
        return self.space.expression(p.rights[key], step.at)

    def panel(self, p: Product, key: str, at: Mapping[str, Expr], tile: Expr, lane: Expr) -> Expr:
        """The element of a packed weight in this lane of a tile."""
        deep, last_two = [at[axis] for axis in self.deep(p, key)], [lane]
        if key in self.pairs:
            deep[-1], last_two = floordiv(deep[-1], 2), [lane, deep[-1] % 2]
        return self.packed[key][(*(at[axis] for axis in self.order[key]), tile, *deep, *last_two)]

    def total(self, stage: Stage, p: Product, part: tuple[str, Tiled] | None) -> Formula:
        """What a product's sum is at each place of the stage's axes; of a part of it, by its number."""

        def element(*indices: Expr) -> Expr:
            bound = {axis: index(self.space.size(axis)) for axis in p.depth}
            at: dict[str, Expr] = {**dict(zip(stage.axes, indices, strict=False)), **bound}
            if part is not None:
                axis, mine = part[0], replace(part[1], tile=indices[-1])
                bound[axis] = index(mine.size)
                at[axis] = mine.at(bound[axis])
            body = self.term(p, at, {key: self.whole(p, key, at) for key in p.rights})
            body = body if part is None else where(mine.inside(bound[axis]), body, 0)
            return Folded("sum", tuple(bound.values()), body)

        parts = [tiles(part[1].length, part[1].size)] if part is not None else []
        return Formula((*map(self.space.size, stage.axes), *parts), element)

    def held(self, stage: Stage, claims: Mapping[str, Claim]) -> Formula:
        """What the stage's target holds, over the sums that are claimed."""

        def element(*indices: Expr) -> Expr:
            at = dict(zip(stage.axes, indices, strict=True))
            found = {p.name: self.scaled(p, Load(claims[_sums(stage, p)].leaf, indices)) for p in self.several}
            return self.space.expression(stage.value, at, {name: partial(whatever, v) for name, v in found.items()})

        return Formula(tuple(map(self.space.size, stage.axes)), element)

    def scaled(self, p: Product, total: Expr) -> Expr:
        return mul(self.space.expression(p.scale, {}), total)

    def whole(self, p: Product, key: str, at: Mapping[str, Expr]) -> Expr:
        """The same for a column that is not cut into tiles."""
        if key in self.packed:
            n = at[self.column]
            return self.panel(p, key, at, floordiv(n, self.width), n % self.width)
        return self.space.expression(p.rights[key], at)

    def deep(self, p: Product, key: str) -> tuple[str, ...]:
        return tuple(axis for axis in _deepestlast(self.space, self.several, p.depth) if axis in p.rights[key].axes)


def _operands(
    space: Space, stage: Stage, several: list[Product], grid: _Grid
) -> tuple[list[Kernel], Operands]:
    """Kernels that bring operands into the order in which they are read, and how they are read then."""
    operands = Operands(space, several, grid.column[0], {}, width=grid.column[1].size)
    kernels: list[Kernel] = []
    stored: dict[tuple[Form, tuple[str, ...], str], Form] = {}
    for p in several:
        operands.left[p.name] = p.left
        given = is_tensor(p.left) or p.left.operator == "number"
        if not given and not p.mixed and grid.tiles[0].role != "blocks":
            deep = [axis for axis in _deepestlast(space, several, p.depth) if axis in p.left.axes]
            axes = (*(axis for axis in p.left.axes if axis not in deep), *deep)
            beside = {space.buffers[table_of(right).attributes[0]].dtype for right in p.rights.values()}
            dtype = NARROW if beside == {NARROW} and p.is_plain else space.real
            if (p.left, axes, dtype) not in stored:
                kept = Stage(f"left of {p.name} of {stage.target} by {grid.column[0]}", axes, p.left)
                space.buffers[kept.target] = Buffer(kept.target, tuple(map(space.size, axes)), dtype)
                before = untiled(space, kept)
                once = bool(of_weights([kept], space.marked, ()))
                kernels.extend(replace(kernel, ahead=once) for kernel in before.program.kernels)
                operands.holds.update(before.holds)
                stored[p.left, axes, dtype] = load(kept.target, *map(along, axes))
            operands.left[p.name] = stored[p.left, axes, dtype]
        for key, right in p.rights.items():
            if right.operator == "load" and right.attributes[0] in space.lasting and grid.tiles[0].role == "lanes":
                deepest, dtype = _deepestlast(space, several, p.depth)[-1], space.buffers[right.attributes[0]].dtype
                if dtype == NARROW and grid.part is None and deepest in right.axes and p.is_plain:
                    operands.pairs[key] = operands.deep(p, key)[-1]
                kernels.append(_packed(space, stage, operands, p, key))
    grid.pairs = frozenset(operands.pairs.values())
    return kernels, operands


def _packed(space: Space, stage: Stage, operands: Operands, p: Product, key: str) -> Kernel:
    """The weight in panels of as many columns as a tile has; zeros stand beyond the last column. Where machines
    multiply in pairs, two neighbours along the depth stand side by side in each lane."""
    right, depth, column, width = p.rights[key], operands.deep(p, key), operands.column, operands.width
    batch = tuple(axis for axis in right.axes if axis != column and axis not in depth)
    operands.order[key] = batch
    length, deep, two = space.size(column), list(map(space.size, depth)), [2] if key in operands.pairs else []
    if two:
        deep[-1] = tiles(deep[-1], 2)
    front = (*map(space.size, batch), tiles(length, width), *deep)
    source = space.buffers[right.attributes[0]]
    buffer = Buffer(f"{key} of {stage.target} packed by {column}", (*front, width, *two), source.dtype)
    operands.packed[key] = buffer

    def value(*at: Expr) -> Expr:
        (*outer, tile), (lane, *second) = at[:len(batch) + 1], at[len(front):]
        down = list(at[len(batch) + 1:len(front)])
        if second:
            down[-1] = down[-1] * 2 + second[0]
        here = dict(zip((*batch, *depth), (*outer, *down), strict=True))
        here[column] = tile * width + lane
        ends = [(here[column], length), *([(down[-1], space.size(depth[-1]))] if second else [])]
        there = and_(*(compare("<", place, end) for place, end in ends))
        return where(there, space.expression(right, here), 0)

    nest = Nest()
    outer = [nest.loop("parallel" if n <= len(batch) else "serial", size) for n, size in enumerate(front)]
    second = [nest.loop("serial", 2) for _ in two]
    lane = nest.loop("vector", width)
    nest.add(Store(buffer, (*outer, lane, *second), value(*outer, lane, *second)))
    operands.holds[buffer.name] = Formula(buffer.shape, value)
    return Kernel(f"pack_{key}_of_{stage.target}", (source,), (buffer,), nest.done(), ahead=True)


def _deepestlast(space: Space, several: list[Product], depth: tuple[str, ...]) -> list[str]:
    forms = [p.left for p in several if p.depth == depth]
    final = space.last(times(*forms), depth) if depth else ""
    return [*(axis for axis in depth if axis != final), *([final] if final else [])]
