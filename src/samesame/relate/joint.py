"""The joint graph: both programs as terms of one e-graph, so that what one side establishes is known on the other.

Equal applications are one term. A right weight *is* its layout of left weights. A cast between real types is the
identity, as it is in every proof. A closed tensor (one that depends on no input and no weight) is the constant the
program computes, and equal constants are one class. After that, an established relation `right = layout(left)` is a
union, and congruence carries it on.

A class is *anchored* once both sides are known to hold its value: blocks stop there and take it as a variable.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd
from typing import Any

import torch

from samesame.egraph import EGraph, Evidence, Reason
from samesame.formula.expr import add, mul
from samesame.formula.sizes import canonical
from samesame.graph import Graph, Node, TensorType, map_nodes
from samesame.operators import meaning_of
from samesame.operators.demands import Range
from samesame.operators.numbers import says_nothing
from samesame.operators.table import UNINITIALISED, packet
from samesame.relate.domain import demanded, positions
from samesame.relate.kinds import is_uniform, told_apart, widened
from samesame.relate.layout import Layout, Slice, Whole, build, reshaped, share
from samesame.relate.masks import Counting, Triangle, counts, triangle
from samesame.relate.moved import Moved

HUGE = 1e30  # a number as large stands for infinity
_SEEN = 4096
FEWEST, FEW = 8, 32         # elements of a constant that blocks may look into: any, and such whose digits say something
_CORNERS = 64               # places that are tried for a piece of a table
SOURCES = ("input", "parameter", "constant", "uninitialised")
CONSTANT, MOVED = "constant", "moved"                      # why terms are equal, if no proof says so


# Over the reals these return their first argument, unless the kind of number changes.
IDENTITIES = frozenset(
    "aten." + name
    for name in [
        "alias",
        "detach",
        "clone",
        "contiguous",
        "lift",
        "lift_fresh",
        "lift_fresh_copy",
        "_to_copy",
        "to",
        "type_as",
        "positive",
        "_conj_physical_if_real",
        "alias_copy",
        "detach_copy",
    ]
)


@dataclass(frozen=True, slots=True)
class Slot:
    """Where an argument of a term stood among the operator's own arguments."""

    position: int


@dataclass(frozen=True, slots=True)
class Typed:
    """Shape and kind ("real", "int", "bool", "complex") of a term; dtypes of one kind are not told apart in
    proofs. Integers so narrow that they may wrap around are each a kind of their own.
    """

    shape: tuple[int, ...]
    kind: str


def typed(kind_or_type: Any) -> Any:
    """The type of a term, from the type of a node: one `Typed`, or a tuple of them."""
    if isinstance(kind_or_type, tuple):
        return tuple(map(typed, kind_or_type))
    shape: tuple[Any, ...] = tuple(map(canonical, kind_or_type.shape))
    return Typed(shape, told_apart(kind_or_type.dtype))


@dataclass(slots=True)
class JointGraph:
    """Terms of both graphs. `term[node]` is a node's term; `sides[term]` which graphs it stands in; `lefts[term]`
    its left node.
    """

    egraph: EGraph = field(default_factory=EGraph)
    term: dict[Node, int] = field(default_factory=dict)
    sides: dict[int, set[str]] = field(default_factory=dict)
    lefts: dict[int, Node] = field(default_factory=dict)
    types: dict[int, Any] = field(default_factory=dict)
    layouts: set[int] = field(default_factory=set)
    anchored: set[int] = field(default_factory=set)
    values: dict[int, torch.Tensor] = field(default_factory=dict)
    tables: set[int] = field(default_factory=set)
    written_out: set[int] = field(default_factory=set)
    whole_tables: dict[int, torch.Tensor] = field(default_factory=dict)
    negatives: set[int] = field(default_factory=set)
    demanded: dict[int, Range] = field(default_factory=dict)
    established: dict[int, tuple[int, Layout]] = field(default_factory=dict)
    of_ranks: bool = False                                 # the right side puts together what ranks hold
    moved: Moved | None = None                             # where a program takes elements by constants

    def add(self, operator: str, attributes: tuple[Any, ...], arguments: tuple[int, ...], type_: Any) -> int:
        """The term for an application; the type is one of its attributes, so that terms of different types never
        meet.
        """
        term = self.egraph.add(operator, (*attributes, type_), arguments, type_)
        self.types[term] = type_
        return term

    def add_graph(
        self,
        side: str,
        graph: Graph,
        closed: Mapping[str, torch.Tensor],
        layouts: Mapping[str, Layout],
        sources: Mapping[str, int],
    ) -> None:
        """Enter one side. `closed` gives the values of closed tensors; `layouts` the right sources over left ones
        by name, whose terms `sources` has.
        """
        unsettled: set[Node] = set()  # reads memory that was not written yet, so it is no constant
        inputs = {node: position for position, node in enumerate(graph.sources("input"))}
        for node in graph.nodes:
            if node.is_source and node.name in layouts:
                term = self.add_layout(layouts[node.name], sources)
            elif node in inputs:
                term = self._source("input", (inputs[node],), node)
            elif node.operator == "parameter":
                term = self._source("parameter", (side, node.name), node)
            elif packet(node.operator) in UNINITIALISED:
                term = self._source("uninitialised", (side, node.name), node)
                unsettled.add(node)
            elif node.operator == "constant":
                term = self.add_constant(graph.tensors[node.name])
            else:
                term = self._application(node)
                if any(part in unsettled for part in node.inputs):
                    unsettled.add(node)
                value = closed.get(node.name)
                if isinstance(value, torch.Tensor) and node not in unsettled:
                    self.union(term, self.add_constant(value), CONSTANT)
            self.term[node] = term
            if self.moved is not None and node.inputs:
                reads = [self.term[part] for part in node.inputs]
                self.moved.enter(node, term, reads, list(map(self.constant_value, reads)))
            self.sides.setdefault(term, set()).add(side)
            if side == "left":
                self.lefts.setdefault(term, node)
        self.rebuild()

    def rebuild(self) -> None:
        """Carry on what was entered: to equal applications, and to what holds the same elements of equal tensors."""
        self.egraph.rebuild()
        while self.moved is not None and (pairs := list(self.moved.alike(self.egraph.find, self.types))):
            for a, b in pairs:
                self.union(a, b, MOVED)
            self.egraph.rebuild()

    def _source(self, operator: str, attributes: tuple[Any, ...], node: Node) -> int:
        term = self.add(operator, attributes, (), typed(node.type))
        self.anchored.add(term)
        return term

    def _application(self, node: Node) -> int:
        type_ = typed(node.type)
        packet = node.operator.rsplit(".", 1)[0]
        if packet in IDENTITIES and node.inputs and self.types[self.term[node.inputs[0]]] == type_:
            return self.term[node.inputs[0]]
        slots = iter(range(len(node.inputs)))
        args = map_nodes(lambda _: Slot(next(slots)), node.args)
        kwargs = tuple((name, map_nodes(lambda _: Slot(next(slots)), value)) for name, value in node.kwargs.items())
        # What an operator without a meaning does may depend on the dtypes of what it is given.
        known = node.operator == "getitem" or meaning_of(node.operator) is not None
        told = () if known else (tuple(n.type for n in node.inputs),)
        return self.add(node.operator, (args, kwargs, *told), tuple(self.term[n] for n in node.inputs), type_)

    def add_constant(self, value: torch.Tensor) -> int:
        """The term of a constant tensor: the same for equal shapes, kinds and values, whatever the dtype.

        A table of generic numbers is entered as its smallest period, repeated: a rotary table that one side repeats
        for every sequence of the batch and the other for both halves of a head is one table. So is one that says every
        number twice in a row, for the two of a pair. A mask that is a triangle is entered as what makes it, and so
        are numbers that count.
        """
        wide = widened(value)
        if is_table(wide):
            whole = self._stretched(wide)
        elif wide.dtype == torch.int64 and (counting := counts(wide)) is not None:
            whole = self._counted(wide, counting)
        else:
            mask = triangle(wide)
            whole = self._constant_leaf(wide) if mask is None else self._masked(wide, mask)
            if mask is None:
                self._write_out(whole, wide)
        self.values[whole] = wide
        return whole

    def _write_out(self, leaf: int, core: torch.Tensor) -> None:
        """Enter a constant of few elements as these, one behind the other, too."""
        if not 1 < core.numel() <= FEW or core.is_complex() or is_uniform(core):
            return
        if core.numel() > FEWEST and any(map(says_nothing, core.flatten().tolist())):
            return
        parts = tuple(map(self._constant_leaf, core.reshape(-1, 1)))
        self.values.update(zip(parts, core.reshape(-1, 1), strict=True))
        row = Typed((len(parts),), self.types[leaf].kind)
        slots = tuple(map(Slot, range(len(parts))))
        together = self.add("aten.cat.default", ((slots, 0), ()), parts, row)
        term = self.add_layout(reshaped(Whole("row"), row.shape, tuple(core.shape)), {"row": together})
        self.written_out.add(term)
        self.union(term, leaf, CONSTANT)

    def _masked(self, wide: torch.Tensor, mask: Triangle) -> int:
        """A triangle of a number, in the shape of the mask."""
        full = mask.number.expand(mask.shape).contiguous()
        leaf = self._constant_leaf(full)
        self.values[leaf] = full
        made = self.add(mask.operator, ((Slot(0), mask.diagonal), ()), (leaf,), self.types[leaf])
        return self.add_layout(reshaped(Whole("made"), mask.shape, tuple(wide.shape)), {"made": made})

    def _counted(self, wide: torch.Tensor, counting: Counting) -> int:
        """Numbers that count up or down along digits of their place: a row for each digit, all these added, in this
        shape."""
        sizes, start, made = tuple(size for size, _ in counting.digits), counting.first, list[int]()
        for place, (size, step) in enumerate(counting.digits):
            if step:
                made.append(self._counting_row((start, start + step * size, step), size, len(sizes) - place))
                start = 0
        whole = made[0]
        for other in made[1:]:
            shape = self.types[whole].shape
            along = tuple(map(max, shape, (1,) * (len(shape) - len(self.types[other].shape)) + self.types[other].shape))
            whole = self.add("aten.add.Tensor", ((Slot(0), Slot(1)), ()), (whole, other), Typed(along, "int"))
        if self.types[whole].shape != sizes:
            whole = self.add("aten.expand.default", ((Slot(0), sizes), ()), (whole,), Typed(sizes, "int"))
        return self.add_layout(reshaped(Whole("made"), sizes, tuple(wide.shape)), {"made": whole})

    def _counting_row(self, ends: tuple[int, int, int], size: int, rank: int) -> int:
        """So many numbers from the first of the ends to before the second, in steps, along the first dimension of so
        many."""
        row = self.add("aten.arange.start_step", (ends, ()), (), Typed((size,), "int"))
        self.values[row] = torch.arange(*ends)
        return self.add_layout(reshaped(Whole("row"), (size,), (size, *(1,) * (rank - 1))), {"row": row})

    def _constant_leaf(self, wide: torch.Tensor) -> int:
        shape, kind = tuple(wide.shape), told_apart(str(wide.dtype).removeprefix("torch."))
        content = torch.view_as_real(wide).contiguous() if kind == "complex" else wide
        digest = hashlib.sha256(repr((kind, shape)).encode() + content.numpy().tobytes()).hexdigest()
        return self.add("constant", (digest,), (), Typed(shape, kind))

    def _stretched(self, wide: torch.Tensor) -> int:
        """A table, of which each element may be said several times in a row along a dimension."""
        for dim, size in enumerate(wide.shape):
            times = _stretch(wide, dim, size)
            if 1 < times < size:
                term = self._stretched(wide.index_select(dim, torch.arange(0, size, times)))
                term = self.add(
                    "aten.repeat_interleave.self_int",
                    ((Slot(0), times, dim), ()),
                    (term,),
                    Typed(tuple(wide.shape), "real"),
                )
                self.tables.add(term)
                return term
        return self._repeated(wide)

    def _repeated(self, wide: torch.Tensor) -> int:
        core = wide
        for dim, size in enumerate(wide.shape):
            core = core.narrow(dim, 0, _period(core, dim, size))
        squeezed = core.squeeze().contiguous()
        leaf = self._table(squeezed)
        layout = reshaped(Whole("core"), tuple(squeezed.shape), tuple(core.shape))
        term = self.add_layout(layout, {"core": leaf})
        times = tuple(size // period for size, period in zip(wide.shape, core.shape, strict=True))
        if any(time != 1 for time in times):
            term = self.add("aten.repeat.default", ((Slot(0), times), ()), (term,), Typed(tuple(wide.shape), "real"))
        self.tables.add(term)
        return term

    def _table(self, core: torch.Tensor) -> int:
        """The term of a table: a piece of a larger one that was entered before, or a constant of its own."""
        for whole, table in self.whole_tables.items():
            padded = core.reshape(*(1,) * (table.dim() - core.dim()), *core.shape)           # a row of it, perhaps
            corner = _corner(padded, table)
            if corner is not None:
                layout: Layout = Whole("table")
                for dim, (start, size) in enumerate(zip(corner, padded.shape, strict=True)):
                    if size != table.shape[dim]:
                        layout = Slice(layout, dim, start, start + size)
                layout = reshaped(layout, tuple(padded.shape), tuple(core.shape))
                term = self.add_layout(layout, {"table": whole})
                self.values[term] = core
                return term
        leaf = self._constant_leaf(core)
        self.values[leaf] = core
        self.whole_tables[leaf] = core
        self._write_out(leaf, core)
        return leaf

    def enter_tables(self, constants: Iterable[torch.Tensor]) -> None:
        """Enter tables of numbers, those first that say most, so that what a program cuts out of one is known as its
        piece: a table of cosines that says each twice is a piece of one that has sines, too."""
        tables = [wide for value in constants if is_table(wide := widened(value))]
        for table in sorted(tables, key=lambda table: _once(table).numel(), reverse=True):
            self.add_constant(table)

    def add_layout(self, layout: Layout, terms: Mapping[str, int]) -> int:
        """The term of a layout over the terms that its names stand for."""

        def apply(operator: str, arguments: tuple[Any, ...]) -> int:
            parts = arguments[0] if isinstance(arguments[0], tuple) else (arguments[0],)
            first: Any = tuple(Slot(k) for k in range(len(parts))) if isinstance(arguments[0], tuple) else Slot(0)
            type_ = moved_type(operator, [self.types[part] for part in parts], arguments[1:])
            term = self.add(operator, ((first, *arguments[1:]), ()), parts, type_)
            self.layouts.add(term)
            return term

        return build(layout, terms.__getitem__, apply)

    def union(self, a: int, b: int, evidence: str) -> None:
        self.egraph.union(a, b, Evidence(evidence))

    def establish(self, left: int, right: int, layout: Layout, evidence: str) -> None:
        """Enter `right = layout(left)`; the layout names the left tensor by any one name."""
        term = self.add_layout(layout, _Anything(left))
        if not self.egraph.equal(term, right):
            self.union(term, right, evidence)
        self.established[term] = left, layout
        self.anchor(left)
        self.rebuild()

    def establish_joined(self, made: int, right: int, parts: Iterable[int], evidence: str) -> None:
        """Enter `right = made`, what several left tensors make side by side: each of these is a value of both sides."""
        if not self.egraph.equal(made, right):
            self.union(made, right, evidence)
        for part in parts:
            self.anchor(part)
        self.rebuild()

    def pieces(self, term: int) -> list[tuple[int, Layout]]:
        """What the class is known to be of left tensors: each term, with its layout of it that was established."""
        members = sorted(self.egraph.members(self.egraph.find(term)))
        return [self.established[member] for member in members if member in self.established]

    def share(self, term: int) -> Fraction:
        """Where in its left tensor the piece starts that an established term is (`layout.share`)."""
        if term not in self.established:
            return Fraction(0)
        left, layout = self.established[term]
        return share(layout, self.types[left].shape)

    def anchor(self, term: int) -> None:
        """Let blocks stop at this value; where it is one tensor rearranged, at that tensor instead."""
        last = term
        for last in self.unmoved(term):
            if self.is_related(last):
                return
        if self.egraph.term(last).operator.rsplit(".", 1)[0] != "aten.expand":
            self.anchored.add(last)

    def unmoved(self, term: int) -> Iterator[int]:
        """The term, then what it only reshapes or permutes, and so on down."""
        while True:
            yield term
            operator, arguments = self.egraph.term(term).operator, self.egraph.term(term).arguments
            if operator.rsplit(".", 1)[0] not in BIJECTIVE or len(arguments) != 1:
                return
            term = arguments[0]

    def is_anchored(self, term: int) -> bool:
        return any(member in self.anchored for member in self.egraph.members(self.egraph.find(term)))

    def stands_in(self, term: int, side: str) -> bool:
        """Does the class of this term hold a tensor of that graph?"""
        return any(side in self.sides.get(member, ()) for member in self.egraph.members(self.egraph.find(term)))

    def note_integers(self, graph: Graph, runs: Sequence[Mapping[str, torch.Tensor]]) -> None:
        """Remember the integer tensors that had a negative element on some draw, and in which range the program demands
        an input to lie somewhere, since it indexes with it: outside of that it computes nothing."""
        for node in graph.nodes:
            integers = isinstance(node.type, TensorType) and node.type.dtype.startswith("int")
            if integers and any(_holds_negatives(run.get(node.name)) for run in runs):
                self.negatives.add(self.term[node])
        for name, known in demanded(graph, lambda node: self.is_negative(self.term[node])).items():
            self.demanded.setdefault(self.term[graph[name]], known)

    def is_unset(self, term: int) -> bool:
        """Is the class memory that nobody has written to yet?"""
        return any(self.egraph.term(member).operator == "uninitialised" for member in self.egraph.members(term))

    def is_negative(self, term: int) -> bool:
        """Was an element of the class negative on some draw, or was it not seen at all?"""
        members = self.egraph.members(self.egraph.find(term))
        seen = any(member in self.sides or member in self.values for member in members)
        met = any(member in self.negatives for member in members)
        return not seen or met or _holds_negatives(self.constant_value(term))

    def given(self, term: int) -> tuple[Any, Any]:
        """The arguments and keyword arguments of an application, a `Slot` standing for each tensor."""
        args, kwargs, *_ = self.egraph.term(term).attributes
        return args, kwargs

    def told(self, term: int) -> tuple[Any, ...]:
        """The types of the arguments of an operator that may ask for their dtypes; none for any other."""
        _, _, *told, _ = self.egraph.term(term).attributes
        return tuple(*told)  # type: ignore[arg-type]

    def positions(self, term: int) -> Range | None:
        """The range of a class of integers that are positions by definition, such as the indices of topk."""
        for member in self.egraph.members(self.egraph.find(term)):
            result = None
            if self.egraph.term(member).operator == "getitem":
                result = self.given(member)[0][1]
                member = self.egraph.term(member).arguments[0]
            shown = self.egraph.term(member)
            if shown.arguments and isinstance(of := self.types[shown.arguments[0]], Typed):
                args, kwargs = self.given(member)
                known = positions(shown.operator, result, of.shape, args, dict(kwargs))
                if known is not None:
                    return known
        return None

    def range_elsewhere(self, term: int) -> Range | None:
        """The range that a program demands of an input somewhere."""
        members = self.egraph.members(self.egraph.find(term))
        return next((self.demanded[member] for member in members if member in self.demanded), None)

    def is_related(self, term: int) -> bool:
        """Is the class held by both sides, or a layout of what is?"""
        members = self.egraph.members(self.egraph.find(term))
        return any(member in self.anchored or member in self.layouts or member in self.tables for member in members)

    def constant_value(self, term: int) -> torch.Tensor | None:
        """The value of a closed tensor's class, its floats widened."""
        members = self.egraph.members(self.egraph.find(term))
        return next((self.values[member] for member in members if member in self.values), None)

    def anchor_shared_constants(self) -> None:
        """Constants that both sides compute are the same value; one that is a single number is better left to see."""
        for term, value in self.values.items():
            if is_uniform(value) or is_table(value) or self.is_anchored(term):
                continue
            if self.stands_in(term, "left") and self.stands_in(term, "right"):
                self.anchored.add(term)


BIJECTIVE = frozenset(
    "aten." + name
    for name in [
        "view",
        "_unsafe_view",
        "reshape",
        "permute",
        "transpose",
        "t",
        "unsqueeze",
        "squeeze",
        "flatten",
        "unflatten",
        "movedim",
        "numpy_T",
        "mT",
    ]
)


def _holds_negatives(value: Any) -> bool:
    """Is it an integer tensor with a negative element?"""
    integers = (torch.int64, torch.int32, torch.int16, torch.int8)
    return isinstance(value, torch.Tensor) and value.dtype in integers and bool((value < 0).any())


def is_table(value: torch.Tensor) -> bool:
    """Does a constant hold generic real numbers? A mask of a few values says more by how it was made."""
    if value.dtype != torch.float64 or value.numel() < 3 or not bool(torch.isfinite(value).all()):
        return False
    return float(value.abs().max()) < HUGE and len(torch.unique(value.flatten()[:_SEEN])) > 2


def _corner(core: torch.Tensor, table: torch.Tensor) -> tuple[int, ...] | None:
    """Where a table of the same rank holds these numbers in one piece."""
    if core.dim() != table.dim() or any(small > large for small, large in zip(core.shape, table.shape, strict=True)):
        return None
    for corner in (table == core.flatten()[0]).nonzero()[:_CORNERS].tolist():
        ends = [start + size for start, size in zip(corner, core.shape, strict=True)]
        inside = all(end <= size for end, size in zip(ends, table.shape, strict=True))
        if inside and torch.equal(table[tuple(map(slice, corner, ends))], core):
            return tuple(corner)
    return None


def _once(value: torch.Tensor) -> torch.Tensor:
    """What a table says, without what it says again."""
    for dim, size in enumerate(value.shape):
        value = value.index_select(dim, torch.arange(0, size, _stretch(value, dim, size)))
        value = value.narrow(dim, 0, _period(value, dim, value.shape[dim]))
    return value


def _period(value: torch.Tensor, dim: int, size: int) -> int:
    """The least divisor p of the size such that the tensor repeats every p along the dimension."""
    for period in range(1, size):
        if size % period == 0:
            first, rest = value.narrow(dim, 0, size - period), value.narrow(dim, period, size - period)
            if torch.equal(first, rest):
                return period
    return size


def _stretch(value: torch.Tensor, dim: int, size: int) -> int:
    """How many times in a row each element is said along the dimension: the largest divisor of the size that does."""
    moved = value.movedim(dim, 0).reshape(size, -1)
    changes = (moved[1:] != moved[:-1]).any(1)
    return gcd(size, *(changes.nonzero().flatten() + 1).tolist())


def moved_type(operator: str, parts: list[Any], rest: tuple[Any, ...]) -> Typed:
    """The type of a layout step; sizes may be symbolic."""
    shape = list(parts[0].shape)
    match operator, rest:
        case "aten.reshape.default", (sizes,):
            shape = list(sizes)
        case "aten.permute.default", (dims,):
            shape = [shape[d] for d in dims]
        case "aten.slice.Tensor", (dim, start, stop):
            shape[dim] = canonical(add(stop, mul(-1, start)))
        case "aten.mul.Scalar" | "aten.div.Scalar" | "aten.flip.default", (_,):
            pass
        case "aten.cat.default", (dim,):
            shape[dim] = canonical(add(*(part.shape[dim] for part in parts)))
        case _:
            raise ValueError(f"{operator} is no step of a layout")
    return Typed(tuple(shape), parts[0].kind)


class _Anything(dict[str, int]):
    """A lookup that gives one term for every name."""

    def __init__(self, term: int) -> None:
        super().__init__()
        self._term = term

    def __missing__(self, name: str) -> int:
        return self._term


__all__ = ["BIJECTIVE", "IDENTITIES", "JointGraph", "Reason", "Slot", "Typed", "typed"]
