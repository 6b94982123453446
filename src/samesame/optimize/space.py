"""The tensors of one partition as buffers, over size symbols; and what loop nests are put together from.

A dimension that a program reads from end to end is as long as the axes along it, so that a proof about it holds for all
sizes; a dimension of which only a part is read is a number, and so are the axes that are read along it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import cast

import torch

from samesame.formula.equal import Budget
from samesame.formula.expr import TRUE, Expr, FloorDiv, Index, Size, add, and_, compare, floordiv, mul
from samesame.formula.sizes import replaced
from samesame.formula.tensor import Tensor as Formula
from samesame.optimize.forms import Form, Part, Place, along, base, but_indices, formula, walk
from samesame.optimize.groups import together
from samesame.optimize.ir import NARROW, Buffer, Dim, Kind, Program, Statement, Tile, When
from samesame.optimize.ir import loop as new_loop
from samesame.optimize.lying import is_tensor, table_of
from samesame.optimize.meaning import Claim
from samesame.optimize.partition import Stage, factors
from samesame.optimize.proving import Checked, Elements, proved, with_elements
from samesame.optimize.specification import Specification


class NoSchedule(Exception):
    """A stage that no map here takes."""


@dataclass(frozen=True)
class Scheduled:
    """Kernels for neighbouring stages; what each buffer should hold, over what is claimed of sums; how, in a word; the
    stages' sums, as the kernels make them and as they should be. `shuffles`: it is beside another that does not, and
    which of the two is faster only a machine can tell."""

    program: Program
    holds: Mapping[str, Formula]
    map: str
    claims: Mapping[str, Claim] = field(default_factory=dict)
    group: tuple[Stage, ...] = ()
    sums: tuple[tuple[Expr, Expr], ...] = ()
    shuffles: bool = False

    def proved(self, seconds: float = 4.0) -> Checked:
        """Whether the kernels compute the stages, for all sizes and tiles; each question has so many seconds."""
        return proved(self.program, self.holds, self.claims, self.sums, Budget(seconds=seconds))

    def formulas(self, space: Space) -> dict[str, Formula]:
        """What each of the stages' buffers should hold, over what the group reads."""
        return {stage.target: space.held(together(stage, [*self.group])) for stage in self.group}


def tiles(size: Dim, tile: Dim) -> Expr:
    """How many tiles cover a size."""
    return floordiv(add(size, tile, -1), tile)


@dataclass
class Space:
    """The tensors of one partition as buffers, over size symbols where the program's own sizes allow it; on how many
    threads kernels are to run; and which stages are made once, of weights."""

    specification: Specification
    stages: list[Stage]
    sizes: dict[str, Dim] = field(default_factory=dict)
    buffers: dict[str, Buffer] = field(default_factory=dict)
    alike: dict[str, str] = field(default_factory=dict)
    merged: dict[str, tuple[str, ...]] = field(default_factory=dict)
    threads: int = field(default_factory=torch.get_num_threads)
    early: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self._find_shapes()
        for stage in self.stages:
            shape = tuple(self.size(axis) for axis in stage.axes)
            self.buffers[stage.target] = Buffer(stage.target, shape, stage.dtype or self._dtype_beside(stage.target))

    def _dtype_beside(self, kept: str) -> str:
        """How wide a tensor between stages is: narrow where it is multiplied with a narrow one and summed up, as then
        the program's own product was of two narrow ones; else as sums are."""
        tensors = self.specification.tensors
        for fold in (fold for stage in self.stages for fold in stage.folds.values()):
            names = {table_of(x).attributes[0] for x in factors(fold.arguments[0]) if is_tensor(x)}
            if fold.attributes[0] == "sum" and kept in names:
                return next((tensors[n].dtype for n in names if n in tensors and tensors[n].dtype == NARROW), self.real)
        return self.real

    @property
    def real(self) -> str:
        """What is summed up and kept in between: double in a program over doubles, else float."""
        whole = self.specification
        kinds = {*(tensor.dtype for tensor in whole.tensors.values()), *(output.dtype for output in whole.outputs)}
        return "float64" if "float64" in kinds else "float32"

    def size(self, axis: str) -> Dim:
        name = self._first(axis)
        return self.sizes.setdefault(name, Size(name, 1))

    def fix(self, axes: Iterable[str]) -> None:
        """Those of the axes that no stage has are as long as they are here: of sums that are written out."""
        for axis in map(self._first, axes):
            self.sizes.setdefault(axis, self.extent(axis))

    def _first(self, axis: str) -> str:
        """The axis that stands for all that are as long for the same reason."""
        axis = base(axis)
        while self.alike.get(axis, axis) != axis:
            axis = self.alike[axis]
        return axis

    @property
    def lasting(self) -> frozenset[str]:
        """The tensors that are the same in every call: weights, and what is made of them early."""
        return self.early.union(self.specification.named("weight"))

    @property
    def marked(self) -> frozenset[str]:
        """Those of which something else may be made early: where somebody writes to one, torch says so."""
        weights = self.specification.named("weight")
        return self.early.union(name for name in weights if self.specification.tensors[name].marked)

    def extent(self, axis: str) -> int:
        extents = self.specification.extents
        return extents[axis] if axis in extents else extents[base(axis)]

    def numbers(self) -> dict[str, int]:
        """The example's sizes by the symbols' names."""
        return {size.name: self.extent(axis) for axis, size in self.sizes.items() if isinstance(size, Size)}

    def _find_shapes(self) -> None:
        """A dimension that some load runs over from end to end is as long as the load's axes, one of which several
        loads read a part each as their axes together; another is a number, and so are the axes along it."""
        places: dict[tuple[str, int], list[Place]] = {}
        loads = {x for stage in self.stages for x in walk(stage.whole) if x.operator == "load"}
        for x in sorted(loads, key=str):
            for place in x.attributes[1:]:
                self._find_strides(place)
        for x in loads:
            for d, place in enumerate(x.attributes[1:]):
                places.setdefault((x.attributes[0], d), []).append(place)
        tensors = self.specification.tensors
        for stage in self.stages:                            # a tensor of the program's own is written from end to end
            for d, axis in enumerate(stage.axes):
                places.setdefault((stage.target, d), []).insert(0, along(axis))
        found: dict[tuple[str, int], tuple[str, ...]] = {}
        turns: dict[tuple[str, int], tuple[str, ...]] = {}
        pinned: set[str] = set()
        for (name, d), several in places.items():
            if name not in tensors:
                if all(self._covers(place, self.extent(several[0].axes[0])) for place in several):
                    (own,) = several[0].axes
                    for axes in (place.axes for place in several):
                        if len(axes) == 1:
                            self.alike[self._first(axes[0])] = self._first(own)
                        else:                                # heads, group by group: in two ways, as numbers
                            digits = tuple(map(base, axes))
                            if (first := self.merged.setdefault(base(own), digits)) != digits:
                                pinned |= {base(own), *first, *digits}
                else:                                        # what is kept is read in parts: their lengths are numbers
                    pinned |= {base(axis) for place in several for part in place.parts
                               for axis in (part.axis, *part.over)}
                continue
            if turn := self._in_turn(several, tensors[name].shape[d]):
                turns[name, d] = turn
                continue
            whole = [place for place in several if self._covers(place, tensors[name].shape[d])]
            if whole:
                found[name, d] = tuple(sorted(whole[0].axes))
            if whole == several and all(len(place.axes) == 1 for place in several):
                for place in several[1:]:                    # several axes along one dimension are of one length
                    self.alike[self._first(place.axes[0])] = self._first(several[0].axes[0])
            elif len(whole) < len(several) or any(
                    sorted(map(base, place.axes)) != sorted(map(base, found[name, d])) for place in several):
                pinned |= {base(axis) for place in several for part in place.parts for axis in (part.axis, *part.over)}
        self.sizes.update({self._first(axis): self.extent(axis) for axis in pinned})
        self._find_concatenations()
        for axis, inside in self.merged.items():
            if self._first(axis) not in self.sizes and self._first(axis) not in map(self._first, inside):
                self.sizes[self._first(axis)] = replaced(mul(*map(self.size, inside)), {})
        for name, tensor in tensors.items():
            shape = (add(*map(self.size, turns[name, d])) if (name, d) in turns
                     else self._length(found.get((name, d)), size) for d, size in enumerate(tensor.shape))
            self.buffers[name] = Buffer(name, tuple(shape), tensor.dtype, tensor.strides)

    def _find_concatenations(self) -> None:
        """Where parts lie one behind the other in what has a symbol of its own for its length, lengths are numbers."""
        for x in walk(*(stage.whole for stage in self.stages)):
            if x.operator == "concat":
                axis, parts = x.attributes
                sizes = [1 if part is None else self.size(part) for part in parts]
                if add(*sizes) != self.size(axis):
                    own = [axis, *(part for part in parts if part is not None)]
                    self.sizes.update({self._first(each): self.extent(each) for each in own})

    def _find_strides(self, place: Place) -> None:
        """A stride that is counted in another axis than the one that runs inside of it, as long at these sizes, is
        counted in that one: queries and keys have the same heads, each by axes of its own. An axis that runs as several
        inside of a stride is as long as these together."""
        for k, part in enumerate(place.parts):
            inside, counted = [base(p.axis) for p in place.parts[k + 1:]], [base(axis) for axis in part.over]
            lacking = [axis for axis in counted if axis not in inside]
            others = [axis for axis in inside if axis not in counted]
            if len(lacking) == len(others) == 1 and self.extent(lacking[0]) == self.extent(others[0]):
                one, other = self._first(lacking[0]), self._first(others[0])
                if one != other:
                    self.alike[one] = other
            elif len(lacking) == 1 and len(others) > 1 and self.extent(lacking[0]) == self._span(others):
                self.merged.setdefault(lacking[0], tuple(others))

    def _in_turn(self, places: Iterable[Place], size: int) -> tuple[str, ...]:
        """The axes of places that lie one behind the other, and together cover a dimension; none where they do not."""
        ordered = sorted(set(places), key=lambda place: len(place.past))
        axes = tuple(axis for place in ordered for axis in place.axes)
        turn = [Place((Part(axis),), 0, tuple(sorted(axes[:k]))) for k, axis in enumerate(axes)]
        return axes if len(axes) > 1 and ordered == turn and sum(map(self.extent, axes)) == size else ()

    def _covers(self, place: Place, size: int) -> bool:
        from_the_start = place.offset == 0 and not place.past and all(p.factor == 1 for p in place.parts)
        return from_the_start and self._span(place.axes) == size

    def _span(self, axes: Iterable[str]) -> int:
        return prod(map(self.extent, axes))

    def _length(self, axes: tuple[str, ...] | None, size: int) -> Dim:
        return size if axes is None else replaced(mul(*map(self.size, axes)), {}) if axes else 1

    def expression(self, form: Form, at: Mapping[str, Expr], elements: Elements | None = None) -> Expr:
        """A form's element, with other expressions in place of elements of some tensors."""
        leaves = {name: buffer.leaf for name, buffer in self.buffers.items()}
        sizes = {axis: self.size(axis) for x in walk(form) for axis in x.axes}
        found = formula(form, at, _Sizes(self, sizes), leaves)
        return with_elements(found, elements) if elements else found

    def last(self, form: Form, axes: Iterable[str]) -> str:
        """Of these axes the one along which most of what is read lies in memory."""
        votes = self.votes(form, axes)
        return max(votes, key=lambda axis: (votes[axis], axis)) if votes else ""

    def votes(self, form: Form, axes: Iterable[str]) -> dict[str, int]:
        """How many elements of tensors lie in memory along each of these axes: what is the same for many rounds is read
        but once for them. At which place of a table one looks is none of it."""
        votes = {axis: 0 for axis in axes}
        for x, elements in self.reads(form):
            near = self.nearest(x)
            part = near.parts[-1] if near is not None and near.parts else None
            if part is not None and part.axis in votes and part == Part(part.axis):
                votes[part.axis] += elements
        return votes

    def nearest(self, tensor: Form) -> Place | None:
        """The place along the dimension in which its elements are neighbours in memory; None where they are not."""
        steps = self.steps(tensor)
        fastest = next((d for d in self.fastest_first(tensor) if not self.is_one(tensor, d)), None)
        if fastest is None or (steps is not None and steps[fastest] != 1):
            return None
        return cast(Place, tensor.attributes[1 + fastest])

    def steps(self, tensor: Form) -> tuple[int, ...] | None:
        """In memory, of a tensor that is given; None of one that is row-major."""
        given = self.specification.tensors.get(tensor.attributes[0])
        return given.strides if given is not None else None

    def fastest_first(self, tensor: Form) -> list[int]:
        """The dimensions, those of the shortest steps first, and those last along which an element is repeated."""
        steps, dims = self.steps(tensor), range(len(tensor.attributes) - 1)
        return [*reversed(dims)] if steps is None else sorted(dims, key=lambda d: (steps[d] == 0, steps[d]))

    def is_one(self, tensor: Form, d: int) -> bool:
        """Whether there is but one element along a dimension."""
        name, *places = tensor.attributes
        given = self.specification.tensors.get(name)
        return given.shape[d] == 1 if given is not None else self.elements(places[d].axes) == 1

    def elements(self, axes: Iterable[str]) -> int:
        """As if there were one tile along an axis whose tiles are not chosen yet."""
        return prod(1 if isinstance(self.sizes.get(axis), FloorDiv) else self.extent(axis) for axis in axes)

    def reads(self, form: Form) -> list[tuple[Form, int]]:
        """The tensors of buffers that a form reads, and how many elements of each: of a table as many as are looked
        up."""
        inside = walk(form, arguments=lambda x: () if table_of(x).operator == "load" else but_indices(x))
        return [(table, self.elements(x.axes)) for x in inside
                if (table := table_of(x)).operator == "load" and table.attributes[0] in self.buffers]

    def in_order(self, form: Form, axes: Iterable[str]) -> list[str]:
        """The axes as the largest tensor that the form reads lies in memory, that of the longest steps first; before
        these, those along which it does not lie."""
        largest = max(self.reads(form), key=lambda read: read[1], default=None)
        if largest is None:
            return list(axes)
        _, *dims = largest[0].attributes
        places = [dims[d] for d in reversed(self.fastest_first(largest[0]))]
        order = [part.axis for place in places for part in place.parts]
        return sorted(axes, key=lambda axis: order.index(axis) if axis in order else -1)

    def held(self, stage: Stage, elements: Elements | None = None) -> Formula:
        """What a stage's target holds, over the tensors that it reads, or what stands for their elements."""
        shape = tuple(self.size(axis) for axis in stage.axes)
        return Formula(shape, lambda *at: self.expression(
            stage.whole, dict(zip(stage.axes, at, strict=True)), elements))


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


def in_tiles(space: Space, axis: str, tile: Tile, nest: Nest, kind: Kind) -> Tiled:
    """The axis cut into such tiles, by a loop of this kind."""
    return Tiled(tile.size, space.size(axis), nest.loop(kind, tiles(space.size(axis), tile.size)))


def whatever(value: Expr, indices: tuple[Expr, ...]) -> Expr:
    """The value, at all indices."""
    return value


