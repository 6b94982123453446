"""A block is the small claim between a candidate pair and the nearest tensors that are already related.

It is a graph of its own: its inputs are the frontier (each tensor there a variable), its two roots the left value,
in the candidate's layout, and the right value. So it can be printed, run on fresh values, and read as a pattern: a
block that has been proved is a rule, and another layer's block with the same `key` is an instance of that rule,
whatever its tensors are called.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import torch

from samesame.formula.assumptions import Assumption
from samesame.graph import Dtype, Graph, Node, TensorType, map_nodes
from samesame.operators.demands import Range
from samesame.operators.numbers import says_nothing
from samesame.operators.shapes import NARROW
from samesame.relate.domain import demanded, in_range, inputs_in, labels
from samesame.relate.joint import SOURCES, JointGraph, Slot, Typed, is_table, moved_type
from samesame.relate.kinds import is_uniform
from samesame.relate.layout import Layout, build, share

_DTYPES = {"real": "float64", "int": "int64", "bool": "bool", "complex": "complex128"} | {kind: kind for kind in NARROW}


class TooLarge(Exception):
    """The nearest related tensors are too far away for a claim of reasonable size, or nowhere."""


@dataclass(frozen=True, slots=True)
class Block:
    """`graph` has the roots `left` and `right`; `frontier[input name]` is the class that input stands for.

    `terms[node name]` is the term or class that a node stands for; the steps of the candidate's layout have none.
    `ranges[input name]` is the domain of an integer that indexes, and `labels` that of labels, were none ignored: the
    claim does not rest on these, unless it is `of_classes`. `untold` says that a constant was taken as it is, so that
    looking at how it was made would tell more. Inputs that are `free` stand for no tensor: what reads them does, and
    what is `granted` is said of that.
    """

    graph: Graph
    frontier: dict[str, int]
    ranges: dict[str, Range]
    untold: bool
    key: str
    terms: dict[str, int] = field(default_factory=dict, compare=False)
    labels: dict[str, Range] = field(default_factory=dict)
    of_classes: bool = False
    free: frozenset[str] = frozenset()
    granted: tuple[Assumption, ...] = ()

    def without_ignored_labels(self) -> Block | None:
        """The claim for labels that are all classes; None where that is the same claim."""
        ranges = {**self.labels, **self.ranges}
        if ranges == self.ranges:
            return None
        return replace(self, ranges=ranges, of_classes=True, key=key_of(self.graph, ranges))

    def in_range(self) -> list[Assumption]:
        """What its proofs take for granted of integers."""
        own = {name: bounds for name, bounds in self.ranges.items() if name not in self.free}
        return [*in_range(own, self.labels if self.of_classes else ()), *self.granted]

    @property
    def left(self) -> Node:
        return self.graph.roots[0][1]

    @property
    def right(self) -> Node:
        return self.graph.roots[1][1]


Made = tuple[tuple[Node, ...], Node]                       # variables, and what is made of them


def taking_on(
    claim: Block, made_of: Callable[[Node], Made | None], ranges: Mapping[str, Range] | None = None
) -> Block | None:
    """The claim with variables that stand for no tensor, which have these ranges, and what is made of them in the place
    of others, under their names; None where nothing is made of a variable."""
    made, free = dict[Node, Node](), dict[str, int]()

    def nodes() -> Iterator[Node]:
        for node in claim.graph.nodes:
            found = made_of(node)
            if found is None:
                args, kwargs = (map_nodes(made.__getitem__, part) for part in (node.args, tuple(node.kwargs.items())))
                made[node] = replace(node, args=args, kwargs=dict(kwargs))
            else:
                variables, made[node] = found
                free.update({variable.name: claim.frontier[node.name] for variable in variables})
                yield from variables
            yield made[node]

    every = tuple(nodes())
    if not free:
        return None
    roots = tuple((name, made[root]) for name, root in claim.graph.roots)
    graph = Graph(claim.graph.name, every, roots, claim.graph.tensors)
    there, names = {node.name for node in every if node.operator == "input"}, {**claim.frontier, **free}
    within = {**claim.ranges, **{name: bounds for name, bounds in (ranges or {}).items() if name in free}}
    return replace(claim, graph=graph, key=key_of(graph, within), ranges=within, free=claim.free | frozenset(free),
                   frontier={name: term for name, term in names.items() if name in there})


def cut(
    joint: JointGraph,
    left: int,
    right: int,
    layout: Layout,
    *,
    opened: frozenset[int] = frozenset(),
    constants: int = 0,
    limit: int = 250,
    neighbours: bool = True,
) -> Block:
    """The claim `right = layout(left)` down to the frontier; classes in `opened` are looked through, and with
    `constants` also how every constant was made: 1, but for tables of numbers; 2, these too. Without `neighbours`, of
    what one side joins what the other has nothing of yet is a variable, beside something that it has.

    Raises TooLarge above `limit` nodes.
    """
    place = share(layout, joint.types[left].shape)
    return _Cutter(joint, opened, constants, limit, place, neighbours).claim(left, right, layout)


JOINS = ("aten.cat.default", "aten.stack.default")
STEPS = 3                   # between a tensor at the frontier and those there that it is made of


def tied_together(
    joint: JointGraph, frontier: Iterable[int], limit: int = 250, most: int = STEPS
) -> frozenset[int]:
    """The classes of a frontier that are made of others there alone, in a few steps, and what stands between. A claim
    in which they are variables forgets that: of m, a and m·cos a it may hold only for those that belong together."""
    held = frozenset(frontier)
    found, bases = frozenset[int](), dict[int, frozenset[int]]()

    def made(name: int, steps: int) -> tuple[frozenset[int], frozenset[int]] | None:
        """What it is made of at the frontier, and what stands between; None where it is made of something else."""
        needed = _Cutter(joint, frozenset([name]), 0, limit, Fraction(1)).needed(name) if steps else ()
        whole, between = frozenset[int](), frozenset([name])
        for part in needed:
            if joint.constant_value(part) is not None:
                continue
            inner = (bases.get(part, frozenset([part])), frozenset[int]()) if part in held else made(part, steps - 1)
            if inner is None:
                return None
            whole, between = whole | inner[0], between | inner[1]
        return (whole, between) if whole else None

    for name in sorted(held):
        own = made(name, most)
        if own is not None and name not in own[0]:
            bases = {other: parts - {name} | own[0] if name in parts else parts for other, parts in bases.items()}
            bases[name] = own[0]
            found |= own[1]
    return found


class _Cutter:
    def __init__(
        self, joint: JointGraph, opened: frozenset[int], constants: int, limit: int, place: Fraction,
        neighbours: bool = True,
    ) -> None:
        self.place, self.neighbours = place, neighbours
        self.aside = set[int]()
        self.joint, self.egraph = joint, joint.egraph
        self.opened, self.constants, self.limit = opened, constants, limit
        self.nodes: list[Node] = []
        self.tensors: dict[str, Any] = {}
        self.frontier: dict[str, int] = {}
        self.made: dict[int, Node] = {}
        self.terms: dict[str, int] = {}
        self.untold = False

    def claim(self, left: int, right: int, layout: Layout) -> Block:
        yours = self.side(right)
        met = self.made.get(self.egraph.find(left))
        mine = met if met is not None and met.operator == "input" else self.side(left)
        arranged = build(layout, lambda _: mine, self.step)
        graph = Graph("block", tuple(self.nodes), (("left", arranged), ("right", yours)), self.tensors)
        ranges = {name: known for name, term in self.frontier.items() if (known := self.joint.range_elsewhere(term))}
        ranges |= demanded(graph, self.is_negative)
        ranges |= {name: known for name, term in self.frontier.items() if (known := self.joint.positions(term))}
        terms = {node.name: name for name, node in self.made.items()} | self.terms
        key = key_of(graph, ranges)
        told = labels(graph, self.is_negative)
        told = {name: bounds for name, bounds in told.items() if self.is_given(name)}
        return Block(graph, self.frontier, ranges, self.untold, key, terms, told)

    def needed(self, name: int) -> set[int]:
        """The frontier that a class is made of; none where it is a source, or too far from any."""
        try:
            self.value(name)
        except TooLarge:
            return set()
        return set(self.frontier.values()) - {name}

    def is_negative(self, node: Node) -> bool:
        """Was the tensor of this input negative somewhere? What is no input is not asked about."""
        return node.name in self.frontier and self.joint.is_negative(self.frontier[node.name])

    def is_given(self, name: str) -> bool:
        """Does the variable hold elements of an input? What was computed from one may be a label that is ignored where
        nobody tries it."""
        members = self.egraph.members(self.frontier[name]) if name in self.frontier else []
        nodes = [self.joint.lefts[member] for member in members if member in self.joint.lefts]
        return any(next(inputs_in(node), None) is not None for node in nodes)

    def side(self, term: int) -> Node:
        """A side of the claim is looked into, wherever the frontier is; unless it is a source, which holds no more."""
        return self.value(term) if self.egraph.term(term).operator in SOURCES else self.expand(term)

    def value(self, term: int) -> Node:
        """The node for a class: a frontier variable, a number, or the application that defines it."""
        name = self.egraph.find(term)
        if name not in self.made:
            self.made[name] = self.leaf(name) or self.expand(self.definition(name))
        return self.made[name]

    def leaf(self, name: int) -> Node | None:
        constant = self.joint.constant_value(name)
        if constant is not None and is_uniform(constant) and not self.is_open_number(name, constant):
            node = self.append("constant", (), {}, self.joint.types[name], f"c{len(self.nodes)}")
            self.tensors[node.name] = constant
            return node
        anchored = self.joint.is_anchored(name)
        source = self.egraph.term(self.definition(name)).operator in SOURCES
        if source or name in self.aside or (anchored and not self.is_open(name)):
            self.untold |= constant is not None
            node = self.append("input", (), {}, self.joint.types[name], f"x{len(self.frontier)}")
            self.frontier[node.name] = name
            return node
        return None

    def is_open_number(self, name: int, value: torch.Tensor) -> bool:
        """Is the class a number to be looked through, as its digits say nothing and it was computed somehow?"""
        computed = self.egraph.term(self.definition(name)).operator not in SOURCES
        if not computed or value.dtype != torch.float64 or not says_nothing(float(value.flatten()[0])):
            return False
        self.untold |= not self.constants
        return self.constants > 0

    def is_open(self, name: int) -> bool:
        """Is the class to be looked through, although both sides hold it?"""
        value = self.joint.constant_value(name) if self.constants else None
        return name in self.opened or (value is not None and (self.constants > 1 or not is_table(value)))

    def definition(self, name: int) -> int:
        """The application to look through: the left graph's own where there is one, else a layout of it (of several the
        piece that lies where the claim's does), else the right graph's.
        """
        members = self.egraph.members(name)
        members = [term for term in members if not self.is_of_itself(term, name)] or members
        tables = [term for term in members if term in self.joint.tables]
        if tables and not self.is_open(name):
            self.untold = True
            return min(tables)
        written = [term for term in members if term in self.joint.written_out] if self.constants > 1 else []
        told = [term for term in members if term not in tables and term not in self.joint.written_out]
        lefts = [term for term in members if "left" in self.joint.sides.get(term, ()) and not (
            written and self.egraph.term(term).operator == "constant")]
        layouts = [term for term in told if term in self.joint.layouts]
        others = [term for term in told if self.egraph.term(term).operator != "constant"]
        if layouts and not lefts:
            return min(layouts, key=lambda term: (abs(self.joint.share(term) - self.place), term))
        return min(lefts or others or written or tables or members)

    def is_of_itself(self, term: int, name: int) -> bool:
        """Is it made of its own class, as a symmetric constant is of itself, turned? Or, where tables of ranks are
        looked into, of what is made of it: buffers that were sent in one message are joined of pieces of themselves.
        (Tables of one program are pieces of longer ones, and are looked into as that.)"""
        parts = {self.egraph.find(argument) for argument in self.egraph.term(term).arguments}
        return name in parts or (
            self.joint.of_ranks and self.constants > 1 and any(self.is_in(part, name) for part in parts))

    def is_in(self, whole: int, name: int) -> bool:
        """Is one of a class made of another?"""
        terms = map(self.egraph.term, self.egraph.members(whole))
        return any(name == self.egraph.find(argument) for term in terms for argument in term.arguments)

    def expand(self, root: int) -> Node:
        """One application and, depth first, everything it needs. Iterative: blocks may be deep.

        Raises TooLarge where a value is defined by itself, as a table may be by a piece of it that was put back.
        """
        results: dict[int, Node] = {}
        under_way: set[int] = set()
        stack: list[tuple[int, bool]] = [(root, False)]
        while stack:
            term, ready = stack.pop()
            if term in results:
                continue
            arguments = self.egraph.term(term).arguments
            if not ready:
                if term in under_way:
                    raise TooLarge
                under_way.add(term)
                stack.append((term, True))
                if not self.neighbours and self.egraph.term(term).operator in JOINS:
                    self.leave_aside({self.egraph.find(argument) for argument in arguments})
                for argument in reversed(arguments):
                    name = self.egraph.find(argument)
                    if name in self.made:
                        continue
                    leaf = self.leaf(name)
                    if leaf is not None:
                        self.made[name] = leaf
                    else:
                        stack.append((self.definition(name), False))
                continue
            inputs = []
            for argument in arguments:
                name = self.egraph.find(argument)
                if name not in self.made:
                    self.made[name] = results[self.definition(name)]
                inputs.append(self.made[name])
            results[term] = self.application(term, inputs)
        return results[root]

    def leave_aside(self, parts: set[int]) -> None:
        """Of what is joined, what is on the left only, if there is something else beside it."""
        alone = {name for name in parts if not self.joint.is_related(name) and not self.joint.stands_in(name, "right")
                 and self.joint.constant_value(name) is None}
        if alone < parts:
            self.aside |= alone

    def application(self, term: int, inputs: list[Node]) -> Node:
        shown = self.egraph.term(term)
        args, kwargs = self.joint.given(term)
        told = self.joint.told(term)
        if told:
            inputs = [self.cast(node, type_) for node, type_ in zip(inputs, told, strict=True)]
        filled = _fill(args, inputs)
        named = {name: _fill(value, inputs) for name, value in kwargs}
        node = self.append(shown.operator, filled, named, self.joint.types[term], f"t{len(self.nodes)}")
        self.terms[node.name] = term
        return node

    def cast(self, node: Node, type_: Any) -> Node:
        """The tensor in its own dtype, for an operator that may ask for it."""
        if not isinstance(type_, TensorType) or node.type == type_:
            return node
        dtype = {"dtype": Dtype(type_.dtype)}
        return self.append("aten._to_copy.default", (node,), dtype, type_, f"t{len(self.nodes)}")

    def step(self, operator: str, arguments: tuple[Any, ...]) -> Node:
        """A step of the candidate's layout."""
        first = arguments[0] if isinstance(arguments[0], tuple) else (arguments[0],)
        parts = [Typed(node.shape, _kind(node)) for node in first]
        return self.append(operator, arguments, {}, moved_type(operator, parts, arguments[1:]), f"t{len(self.nodes)}")

    def append(self, operator: str, args: tuple[Any, ...], kwargs: dict[str, Any], type_: Any, name: str) -> Node:
        if len(self.nodes) >= self.limit:
            raise TooLarge
        node = Node(name, operator, args, kwargs, _tensor_type(type_))
        self.nodes.append(node)
        return node


def _kind(node: Node) -> str:
    assert isinstance(node.type, TensorType)
    return next(kind for kind, dtype in _DTYPES.items() if dtype == node.type.dtype)


def _tensor_type(type_: Any) -> Any:
    if isinstance(type_, TensorType):
        return type_
    if isinstance(type_, Typed):
        return TensorType(type_.shape, _DTYPES[type_.kind])
    return tuple(map(_tensor_type, type_))


def _fill(argument: Any, inputs: list[Node]) -> Any:
    if isinstance(argument, Slot):
        return inputs[argument.position]
    if isinstance(argument, tuple):
        return tuple(_fill(part, inputs) for part in argument)
    return argument


def key_of(graph: Graph, ranges: Mapping[str, Range]) -> str:
    """The same for two blocks that are one claim about different tensors: names stand for the order of appearance
    only.
    """
    position = {node: k for k, node in enumerate(graph.nodes)}

    def number(node: Node) -> Any:
        return ("%", position[node])

    lines = [
        (
            node.operator,
            map_nodes(number, node.args),
            tuple((name, map_nodes(number, value)) for name, value in sorted(node.kwargs.items())),
            repr(node.type),                               # with the minima of its sizes, which a proof rests on
            graph.tensors[node.name].flatten()[0].item() if node.operator == "constant" else None,
        )
        for node in graph.nodes
    ]
    roots = tuple(position[node] for _, node in graph.roots)
    return hashlib.sha256(repr((lines, roots, sorted(ranges.items()))).encode()).hexdigest()
