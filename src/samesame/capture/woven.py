"""Woven: where two recordings of a program part, whichever of two steps came first that do not hang on each other.

Every node gets a name, the same one for the same operator on operands of the same names, in both recordings: it does
not tell what was recorded before, but for steps that come *in turn*, as collectives do.

Writes into one memory stand one after another in a graph, each taking the whole that the last one left. But those at
places which do not overlap may come in any order: torch's reducer, for one, goes through the weights that nobody used
by the addresses of objects, and clears their places in a bucket so. What was written into is therefore told by what it
was before and by its writes, each with how many there are below it, one on another; and a part that is read, by those
writes that overlap it. What is seen in another shape, or turned, and then as it was, is what it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import torch

from samesame.capture.again import departure
from samesame.capture.memory import UNDO
from samesame.graph import Graph, Node, Origin, map_nodes
from samesame.operators.execute import bound

aten = torch.ops.aten
READS = {str(operator): operator for operator in (aten.slice.Tensor, aten.select.int)}
WRITES = {str(operator): operator for operator in (aten.slice_scatter.default, aten.select_scatter.default)}
SHAPING = {operator for operator, undo in UNDO.items() if undo is UNDO["aten.reshape.default"]}
TURNING = {operator for operator, undo in UNDO.items() if undo is UNDO["aten.t.default"]}      # each undoes itself


def parting(graph: Graph, other: Graph, in_turn: Callable[[str], bool]) -> Origin | None:
    """Where two recordings of a program first do what is not in the other; None where they are one but for the order of
    steps that do not hang on each other. Steps of operators `in_turn` come one after another."""
    place = departure(graph, other)
    if place is None:
        return None
    weaver = Weaver(in_turn)
    mine, yours = weaver.known(graph), weaver.known(other)

    def left(side: Graph, known: Known) -> list[Any]:
        turns = [known[node] for node in side.nodes if in_turn(node.operator)]
        return [turns, *((name, weaver.named(known[root])) for name, root in side.roots)]

    if left(graph, mine) == left(other, yours):
        return None

    def done(node: Node, known: Known) -> Any:
        return (place_of(node), weaver.named(known[node.args[1]])) if is_write(node) else known[node]

    here, there = {done(node, mine) for node in graph.nodes}, {done(node, yours) for node in other.nodes}
    alone = [node for node in other.nodes if done(node, yours) not in here] or [
        node for node in graph.nodes if done(node, mine) not in there
    ]
    return next((node.origin for node in alone if node.origin.file or node.origin.module), place)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part lies in a whole: which rows of one dimension; a single one has no dimension of its own."""

    dim: int
    rows: range
    single: bool

    def overlaps(self, other: Place) -> bool:
        """Whether the two may have an element in common."""
        apart = self.rows.stop <= other.rows.start or other.rows.stop <= self.rows.start
        return self.dim != other.dim or not apart


def place_of(node: Node) -> Place:
    """The place that a node reads or writes in its first operand."""
    given, shape = bound((READS | WRITES)[node.operator], node.args, node.kwargs), node.args[0].shape
    dim = given.get("dim", 0) % len(shape)
    if "index" in given:
        row = given["index"] % shape[dim]
        return Place(dim, range(row, row + 1), single=True)
    cut = slice(given.get("start"), given.get("end"), given.get("step", 1))
    return Place(dim, range(*cut.indices(shape[dim])), single=False)


def is_write(node: Node) -> bool:
    """Whether a node writes a part into a whole as it is, without rounding it."""
    return node.operator in WRITES and bool(node.args[0].type.dtype == node.args[1].type.dtype)


@dataclass(frozen=True, slots=True)
class Write:
    """What was written, by name, and how many writes there are below it, one on another."""

    place: Place
    part: str
    below: int


@dataclass(eq=False, slots=True)
class Memory:
    """What it was `before`, by name, and the first so many of `writes`, a list that those after it have, too."""

    before: str
    writes: list[Write]
    count: int

    def at(self, place: Place) -> list[Write]:
        """The writes that overlap a place."""
        return [write for write in islice(self.writes, self.count) if write.place.overlaps(place)]

    def after(self, place: Place, part: str) -> Memory:
        """What it is once this part is written."""
        below = max((write.below + 1 for write in self.at(place)), default=0)
        writes = self.writes if self.count == len(self.writes) else self.writes[: self.count]
        writes.append(Write(place, part, below))
        return Memory(self.before, writes, len(writes))


Known = Mapping[Node, str | Memory]


@dataclass(slots=True)
class Weaver:
    """Gives names to nodes, to memory that was written into where somebody reads it. `memories` has that by its name,
    and `seen`, by the name of a view and what undoes it, has that of which it is one."""

    in_turn: Callable[[str], bool]
    names: dict[Any, str] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    seen: dict[Any, str] = field(default_factory=dict)

    def known(self, graph: Graph) -> Known:
        known: dict[Node, str | Memory] = {}
        turns = 0
        for node in graph.nodes:
            told: Any = None
            if node.operator in ("input", "parameter"):
                told = node.name
            elif node.operator == "constant":
                told = graph.tensors[node.name].cpu().reshape(-1).view(torch.uint8).numpy().tobytes()
            elif self.in_turn(node.operator):
                told = turns = turns + 1
            known[node] = self.step(node, known, told)
        return known

    def step(self, node: Node, known: Known, told: Any) -> str | Memory:
        if is_write(node):
            return self.memory(known[node.args[0]]).after(place_of(node), self.named(known[node.args[1]]))
        if node.operator in READS:
            place, memory = place_of(node), self.memory(known[node.args[0]])
            there = memory.at(place)
            if there and there[-1].place == place:
                return there[-1].part                      # what was written there last, as it was
            known = {node.args[0]: Memory(memory.before, there, len(there))}
        operands = node.args, tuple(sorted(node.kwargs.items()))
        args, kwargs = map_nodes(lambda operand: self.named(known[operand]), operands)
        if node.operator in SHAPING:
            return self.view(args[0], ("shape", node.shape), ("shape", node.args[0].shape))
        if node.operator in TURNING:
            turn = node.operator, *args[1:], kwargs
            return self.view(args[0], turn, turn)
        return self.new((node.operator, repr(node.type), repr((args, kwargs)), told))

    def memory(self, value: str | Memory) -> Memory:
        return value if isinstance(value, Memory) else self.memories.get(value) or Memory(value, [], 0)

    def named(self, value: str | Memory) -> str:
        """The name of a value; memory has that of what it was and of the writes that no other at their place undid."""
        if isinstance(value, str):
            return value
        last = {write.place: write for write in islice(value.writes, value.count)}
        if not last:
            return value.before
        name = self.new((value.before, frozenset(last.values())))
        self.memories[name] = value
        return name

    def view(self, of: str, as_what: Any, undoing: Any) -> str:
        """The name of something seen otherwise, which another view of that undoes."""
        if (of, as_what) in self.seen:
            return self.seen[of, as_what]
        name = self.new((of, as_what))
        self.seen[name, undoing] = of
        return name

    def new(self, key: Any) -> str:
        return self.names.setdefault(key, f"%{len(self.names)}")
