"""What a formula says, worked out element by element: the second opinion beside the normal form.

Nothing here rewrites. `evaluate` computes every element of a tensor at once with numpy: the value of an expression is
an array with one axis for each index variable that occurs free in it, so a sum is an axis that is added and then summed
away, and shared expressions are computed once.

Some expressions are undefined somewhere: a load outside its leaf (which the untaken side of a concat always contains),
1/0, the maximum of nothing. `Where` never looks at the branch it does not take, so that one may be undefined;
everything else passes it on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samesame.formula.expr import (
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fn,
    Fold,
    Index,
    Lambda,
    Load,
    Mod,
    Mul,
    Named,
    NegInf,
    Not,
    Num,
    Opaque,
    Or,
    Pow,
    Size,
    Truth,
    Unsupported,
    Where,
    walk,
)
from samesame.formula.scalars import SCALARS
from samesame.formula.tensor import Tensor

Array = NDArray[Any]
# (name, attributes, whole arguments, kind of the result's elements) -> the whole result
OpaqueHandler = Callable[[str, Any, tuple[Array, ...], str], Array]

MOST_CELLS = 1 << 25                            # of one array: 256 MiB in float64
DTYPES = {"real": np.float64, "int": np.int64, "bool": np.bool_}
NAMED = {"π": math.pi}
REDUCERS: dict[str, tuple[Callable[..., Any], Any]] = {
    "sum": (np.sum, 0),
    "prod": (np.prod, 1),
    "any": (np.any, False),
    "all": (np.all, True),
    "max": (np.max, -math.inf),
    "min": (np.min, math.inf),
}


class Undefined(Unsupported):
    """An expression has no value at the given point."""


# ------------------------------------------------------------------------------------------------------ whole tensors


def evaluate(
    tensor: Tensor,
    values: Mapping[str, Array],
    sizes: Mapping[str, int] | None = None,
    opaque: OpaqueHandler | None = None,
) -> Array:
    """Every element of `tensor`, as float64, int64 or bool by its kind.

    `values` gives each leaf's array by name, `sizes` each symbolic size. `opaque` computes opaque operators from their
    whole arguments. Elements that are undefined are nan. Raises `Unsupported` for an opaque operator or a function that
    nobody computes, for arrays too large to expand, and for undefined elements of an integer or boolean tensor.
    """
    indices, expr = tensor.element()
    grid = Evaluation(values, sizes or {}, opaque).run(expr, indices)
    shape = grid.array.shape
    undefined = np.zeros(shape, bool) if grid.undefined is None else grid.undefined
    if undefined.any() and tensor.kind in ("int", "bool"):
        raise Undefined(f"{int(undefined.sum())} of {undefined.size} elements are undefined")
    if tensor.kind in ("int", "bool"):
        return grid.array.astype(DTYPES[tensor.kind])
    return np.where(undefined, np.nan, grid.array.astype(np.float64))


@dataclass(frozen=True, slots=True)
class Grid:
    """An expression's value for all values of its index variables: array axis k belongs to axes[k].

    `undefined` marks the cells without a value, where the array holds anything; None where all have one.
    """

    axes: tuple[Index, ...]
    array: Array
    undefined: Array | None = None

    @staticmethod
    def of(axes: tuple[Index, ...], array: Any, masks: Iterable[Array | None] = ()) -> Grid:
        """A grid that is undefined where any of the masks says so; masks broadcast to the array."""
        present = [mask for mask in masks if mask is not None]
        whole = np.asarray(array)
        return Grid(axes, whole, np.broadcast_to(reduce(np.logical_or, present), whole.shape) if present else None)


class Evaluation:
    """One evaluation: leaves before what is built on them, each distinct expression once."""

    def __init__(
        self,
        values: Mapping[str, Array],
        sizes: Mapping[str, int],
        opaque: OpaqueHandler | None,
        most: int = MOST_CELLS,
    ) -> None:
        self.values, self.sizes, self.opaque, self.most = values, sizes, opaque, most
        self.extents: dict[Index, int] = {}

    def run(self, expr: Expr, axes: Sequence[Index]) -> Grid:
        """The value of `expr`, over `axes` and in their order."""
        with np.errstate(all="ignore"):
            grid = self.value(expr)
            return self.spread(grid, tuple(axes))

    def value(self, expr: Expr) -> Grid:
        order = list(walk(expr))
        uses = Counter(child for e in order for child in e.children)
        found: dict[Expr, Grid] = {}
        for e in order:
            found[e] = self.step(e, [found[child] for child in e.children])
            for child in e.children:
                uses[child] -= 1
                if not uses[child]:
                    found.pop(child, None)
        return found[expr]

    def extent(self, index: Index) -> int:
        """How long an index's axis is: its extent, or the greatest one where it depends on other indices."""
        if index not in self.extents:
            array = self.value(index.extent).array
            self.extents[index] = max(int(array.max()), 0) if array.size else 0
        return self.extents[index]

    def spread(self, grid: Grid, axes: tuple[Index, ...]) -> Grid:
        """The same value over more axes, in any order."""
        kept = [axis for axis in axes if axis in grid.axes]
        turn = [grid.axes.index(axis) for axis in kept]
        thin = tuple(self.extent(axis) if axis in grid.axes else 1 for axis in axes)
        full = self.shape(axes)

        def lay(array: Array) -> Array:
            return np.broadcast_to(array.transpose(turn).reshape(thin), full)

        return Grid(axes, lay(grid.array), None if grid.undefined is None else lay(grid.undefined))

    def shape(self, axes: Iterable[Index]) -> tuple[int, ...]:
        shape = tuple(self.extent(axis) for axis in axes)
        if math.prod(shape) > self.most:
            raise Unsupported(f"an expression over {' × '.join(map(str, shape))} points is too large to expand")
        return shape

    def align(self, grids: Sequence[Grid]) -> tuple[tuple[Index, ...], list[Array], list[Any]]:
        """All their axes by serial number; arrays and undefined cells with an axis of one where they lack an index."""
        axes = _ordered(axis for grid in grids for axis in grid.axes)
        self.shape(axes)

        def lay(grid: Grid, array: Array | None) -> Array | None:
            if array is None:
                return None
            return array.reshape(tuple(self.extent(axis) if axis in grid.axes else 1 for axis in axes))

        arrays = [a for grid in grids if (a := lay(grid, grid.array)) is not None]
        return axes, arrays, [lay(grid, grid.undefined) for grid in grids]

    def pointwise(self, function: Callable[..., Array], grids: Sequence[Grid]) -> Grid:
        axes, arrays, undefined = self.align(grids)
        return Grid.of(axes, function(*arrays), undefined)

    def step(self, e: Expr, grids: list[Grid]) -> Grid:
        match e:
            case Num(value):
                return Grid((), np.asarray(int(value) if value.denominator == 1 else float(value)))
            case Named(name):
                return Grid((), np.asarray(NAMED[name]))
            case NegInf():
                return Grid((), np.asarray(-math.inf))
            case Truth(value):
                return Grid((), np.asarray(value))
            case Size(name):
                if name not in self.sizes:
                    raise Unsupported(f"the size {name} has no value")
                return Grid((), np.asarray(self.sizes[name]))
            case Index():
                return Grid((e,), np.arange(self.extent(e)))
            case Load():
                return self.load(e, grids)
            case Add():
                return self.pointwise(lambda *xs: reduce(np.add, xs), grids)
            case Mul():
                return self.pointwise(lambda *xs: reduce(np.multiply, xs), grids)
            case Pow(_, exponent):
                return self.pointwise(lambda x: _power(x, exponent), grids)
            case Fn(name):
                if name not in SCALARS:
                    raise Unsupported(f"the function {name} cannot be computed")
                return self.pointwise(lambda x: SCALARS[name].values(x.astype(np.float64)), grids)
            case FloorDiv() | Mod():
                return self.divide(e, grids)
            case Compare(op):
                return self.pointwise({"<": np.less, "≤": np.less_equal, "=": np.equal}[op], grids)
            case Not():
                return self.pointwise(np.logical_not, grids)
            case And() | Or():
                return self.connective(isinstance(e, And), grids)
            case Where():
                return self.choose(grids)
            case Extremum(op):
                best = np.maximum if op == "max" else np.minimum
                return self.pointwise(lambda *xs: reduce(best, xs), grids)
            case Fold():
                return self.fold(e, grids[0])
            case Lambda():
                return grids[0]
            case Opaque():
                return self.apply(e, grids)
        raise Unsupported(f"{type(e).__name__} cannot be computed")

    def load(self, e: Load, indices: list[Grid]) -> Grid:
        if e.leaf.name not in self.values:
            raise Unsupported(f"the leaf {e.leaf.name} has no value")
        source: Array = np.asarray(self.values[e.leaf.name]).astype(DTYPES[e.leaf.kind])
        if source.ndim != len(indices):
            raise Unsupported(f"{e.leaf.name} has rank {source.ndim}, its formula {len(indices)}")
        axes, positions, undefined = self.align(indices)
        outside = [(p < 0) | (p >= n) for p, n in zip(positions, source.shape, strict=True)]
        masks = [*undefined, *(o for o in outside if o.any())]
        if not source.size:                             # nothing to read: every cell there is, is undefined
            shape = np.broadcast_shapes(*(p.shape for p in positions))
            return Grid.of(axes, np.zeros(shape, source.dtype), masks)
        inside = [p.astype(np.int64).clip(0, n - 1) for p, n in zip(positions, source.shape, strict=True)]
        return Grid.of(axes, source[tuple(inside)], masks)

    def divide(self, e: FloorDiv | Mod, grids: list[Grid]) -> Grid:
        axes, (a, b), undefined = self.align(grids)
        bad = b <= 0
        divisor = np.where(bad, 1, b)
        array = a // divisor if isinstance(e, FloorDiv) else a % divisor
        return Grid.of(axes, array, [*undefined, bad if bad.any() else None])

    def connective(self, conjunction: bool, grids: list[Grid]) -> Grid:
        """∧ or ∨ in which a part that decides the whole makes up for an undefined one."""
        axes, arrays, undefined = self.align(grids)
        plain = Grid.of(axes, reduce(np.logical_and if conjunction else np.logical_or, arrays), undefined)
        if plain.undefined is None:
            return plain
        decided: Any = reduce(
            np.logical_or,
            [(a != conjunction) & (True if u is None else ~u) for a, u in zip(arrays, undefined, strict=True)],
        )
        return Grid.of(axes, np.where(decided, not conjunction, plain.array), [plain.undefined & ~decided])

    def choose(self, grids: list[Grid]) -> Grid:
        axes, (c, x, y), (uc, ux, uy) = self.align(grids)
        missing: Any = np.where(c, False if ux is None else ux, False if uy is None else uy)
        return Grid.of(axes, np.where(c, x, y), [uc, missing if missing.any() else None])

    def fold(self, e: Fold, body: Grid) -> Grid:
        outer = _ordered(
            axis for axis in (*body.axes, *(f for v in e.bound for f in v.extent.free)) if axis not in e.bound
        )
        whole = self.spread(body, outer + e.bound)
        array, undefined = whole.array, whole.undefined
        over = tuple(range(len(outer), array.ndim))
        present = self.present(e.bound, outer + e.bound)
        if present is not None:
            undefined = None if undefined is None else undefined & present
        reducer, identity = REDUCERS[e.monoid]
        if present is not None:
            array = np.where(present, array, identity)
        nothing = None
        if e.monoid in ("max", "min"):                  # the maximum of nothing is undefined
            cells = np.ones(array.shape, bool) if present is None else np.broadcast_to(present, array.shape)
            nothing = np.asarray(~cells.any(axis=over))
        if nothing is not None and (nothing.any() or not array.size):
            result = reducer(array.astype(np.float64), axis=over, initial=identity)
        else:
            result, nothing = reducer(array, axis=over), None
        return Grid.of(outer, result, [None if undefined is None else np.asarray(undefined.any(axis=over)), nothing])

    def present(self, bound: tuple[Index, ...], axes: tuple[Index, ...]) -> Array | None:
        """Which cells a fold runs over, where an extent depends on other indices; None where it runs over all."""
        inside: Array | None = None
        for v in bound:
            if v.extent.free:
                limit = self.pointwise(np.less, [Grid((v,), np.arange(self.extent(v))), self.value(v.extent)])
                cells = self.spread(limit, axes).array
                inside = cells if inside is None else inside & cells
        return inside

    def apply(self, e: Opaque, grids: list[Grid]) -> Grid:
        function: OpaqueHandler | None = OF_MATRICES.get(e.name, self.opaque)
        if function is None:
            raise Unsupported(f"{e.name} is opaque")
        arguments, indices = grids[: len(e.arguments)], grids[len(e.arguments) :]
        pairs = list(zip(e.arguments, arguments, strict=True))
        within = [axis for f, g in pairs for axis in g.axes if axis not in f.bound]
        outer = _ordered([*within, *(axis for f in e.arguments for v in f.bound for axis in v.extent.free)])
        points = list(product(*(range(n) for n in self.shape(outer))))
        if not points:
            raise Unsupported(f"{e.name} is applied nowhere")
        rows = [self.rows(e.name, f, g, outer) for f, g in pairs]
        shrinking = [k for k, f in enumerate(e.arguments) if any(v.extent.free for v in f.bound)]
        nothing = np.zeros(self.shape(outer), bool)
        found: dict[tuple[int, ...], Array] = {}
        for p in points:
            given = tuple(row(p) for row in rows)
            nothing[p] = any(not given[k].size for k in shrinking)
            if not nothing[p]:
                found[p] = function(e.name, e.attributes, given, e.result_kind)
        if not found:
            raise Undefined(f"{e.name} of nothing")
        some = next(iter(found.values()))
        results = np.stack([found.get(p, np.zeros_like(some)) for p in points])
        results = results.reshape(self.shape(outer) + results.shape[1:])
        lines = [Grid((axis,), np.arange(self.extent(axis))) for axis in outer]
        axes, positions, undefined = self.align([*lines, *indices])
        places = [p.astype(np.int64) for p in positions]
        beyond = [(p < 0) | (p >= n) for p, n in zip(places, results.shape, strict=True)]
        inside = tuple(np.where(far, 0, p) for p, far in zip(places, beyond, strict=True))
        empty = [nothing[inside[: len(outer)]]] if nothing.any() else []
        return Grid.of(axes, results[inside], [*undefined, *beyond, *empty])

    def rows(
        self, name: str, argument: Lambda, body: Grid, outer: tuple[Index, ...]
    ) -> Callable[[tuple[int, ...]], Array]:
        """An opaque operator's argument at a point, as long as it is there."""
        whole = self.spread(body, outer + argument.bound)
        lengths = [self.spread(self.value(v.extent), outer).array for v in argument.bound]

        def at(p: tuple[int, ...]) -> Array:
            there: Any = (*p, *(slice(0, max(int(length[p]), 0)) for length in lengths))
            if whole.undefined is not None and whole.undefined[there].any():
                raise Undefined(f"an argument of {name} is undefined")
            return np.asarray(whole.array[there])

        return at


def _of_matrix(name: str, attributes: Any, given: tuple[Array, ...], kind: str) -> Array:
    """The inverse, Cholesky factor or determinant of a matrix; nan where it has none."""
    work: dict[str, Any] = {"inverse": np.linalg.inv, "cholesky": np.linalg.cholesky, "determinant": np.linalg.det}
    (matrix,) = given
    try:
        return np.asarray(work[name](matrix.astype(np.float64)))
    except np.linalg.LinAlgError:
        return np.full(() if name == "determinant" else matrix.shape, np.nan)


OF_MATRICES: dict[str, OpaqueHandler] = dict.fromkeys(("inverse", "cholesky", "determinant"), _of_matrix)


def _ordered(axes: Iterable[Index]) -> tuple[Index, ...]:
    return tuple(sorted(set(axes), key=lambda axis: axis.serial))


def _power(x: Array, exponent: Fraction) -> Array:
    """x^exponent; nan where it is undefined, which includes 1/0."""
    if exponent.denominator == 1 and exponent >= 0 and x.dtype.kind in "iu":
        return np.asarray(x ** int(exponent))
    base = x.astype(np.float64)
    if exponent < 0:
        base = np.where(base == 0, np.nan, base)
    if exponent == Fraction(1, 2):
        return np.asarray(np.sqrt(base))
    return np.asarray(base ** (int(exponent) if exponent.denominator == 1 else float(exponent)))
