"""Decisions: the conditions on sizes under which both programs do what their graphs over size symbols say.

What the programs asked of their sizes (`following.py`) is said of dimensions of their tensors; a family knows what each
of these is in its symbols. To that come the decisions of the operators themselves (operators/sizing.py), and the
numbers: one that torch was given is what the program computed, so the polynomial that was read off runs must be among
what it computed; and what it computed must be read, or a quotient that is one number at all sizes that were run would
be taken for that number: that it is, is a condition. Whatever cannot be followed to its end is said with its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, product

from samesame.capture.sizes.following import Call, Followings
from samesame.formula.expr import Expr, FloorDiv, Mod, Size, Unsupported, add, const, mul, walk
from samesame.formula.region import Condition, number_at, put
from samesame.formula.sizes import canonical, symbols
from samesame.formula.tensor import Dim
from samesame.graph import Graph, Node, Origin, nodes_in
from samesame.operators.positions import is_settled, made_of_sizes, positions
from samesame.operators.sizing import numbers_in, sizing

SHAPED = ("aten.reshape.default", "aten.expand.default")   # their nodes say the whole shape they give
Dims = Mapping[Expr, Dim]                                  # what each dimension of a tensor is in the family's symbols


@dataclass(slots=True)
class Decided:
    """Conditions, each with the line that asked; and, as text, where sizes were lost."""

    conditions: dict[Condition, Origin] = field(default_factory=dict)
    lost: dict[str, None] = field(default_factory=dict)


def decided(
    asked: Sequence[Followings], graphs: Sequence[Graph], example: Mapping[str, int], runs: Sequence[Mapping[str, int]]
) -> Decided:
    """What both programs decided on the sizes of a family; `example` has the values of its symbols, by name, and `runs`
    those of each run that the graphs were read off."""
    found = Decided()
    for followings, graph in zip(asked, graphs, strict=True):
        _Side(found, followings, graph, example, runs).decide()
    return found


class _Side:
    """One of the two programs."""

    def __init__(
        self, found: Decided, asked: Followings, graph: Graph, example: Mapping[str, int],
        runs: Sequence[Mapping[str, int]],
    ) -> None:
        self.found, self.asked, self.graph, self.example, self.runs = found, asked, graph, example, runs
        self.nodes = {node.name: node for node in (*graph.nodes, *graph.unread)}
        self.dims: dict[Expr, Dim] = {
            Size(f"{node.name}:{d}", 0): n
            for node in self.nodes.values() if not isinstance(node.type, tuple)
            for d, n in enumerate(node.type.shape)
        }
        self.sized = _sized(self.nodes.values())

    def decide(self) -> None:
        if self.asked.failed:
            self.lose(self.asked.failed)
            return
        for asked in self.asked.log.asked.values():
            condition = self.known(asked.condition)
            if condition is None:
                self.lose(f"{asked.origin.spoken} compares a size of a tensor that could not be told")
            elif condition.names:
                self.found.conditions.setdefault(condition, asked.origin)
        for lost in self.asked.log.lost.values():
            if self.moves(lost.atoms):
                self.lose(f"{lost.origin.spoken} {lost.what}")
        made = made_of_sizes(self.graph)
        settled: dict[str, bool] = {}
        for let_out in self.asked.let_out:
            name = let_out.node.name
            if name in self.sized and name not in settled:
                settled[name] = is_settled(made.get(self.nodes[name]))
            if not settled.get(name, True):
                self.lose(f"{let_out.origin.spoken} {let_out.doing} that depends on a size")
        read = self.numbers()
        for call in self.asked.calls:
            self.explain(call)
            self.hold(call, read)
        self.quotients()
        operators = sizing(self.graph, self.example)
        for condition, node in operators.conditions.items():
            self.found.conditions.setdefault(condition, node.origin)
        for node in operators.unknown:
            self.lose(f"{node.origin.spoken} calls {node.operator}, of which it is not known what sizes it gives")
        values = positions(self.graph, made, self.example)
        for condition, node in values.conditions.items():
            self.found.conditions.setdefault(condition, node.origin)
        for node in values.unknown:
            self.lose(f"{node.origin.spoken} makes numbers of sizes that {node.operator} may not hold exactly")

    def lose(self, why: str) -> None:
        self.found.lost[why] = None

    def moves(self, atoms: Iterable[Expr]) -> bool:
        """Whether one of these dimensions varies, or is unknown."""
        return any(not isinstance(self.dims.get(atom), int) for atom in atoms)

    def known(self, condition: Condition) -> Condition | None:
        atoms = {s for side in (condition.left, condition.right) for s in symbols(side)}
        return condition.at(self.dims) if all(atom in self.dims for atom in atoms) else None

    def explain(self, call: Call) -> None:
        """The numbers in the nodes that a call made must be what the program gave it."""
        if not self.moves(call.atoms):
            return
        if not call.known:
            self.lose(f"{call.origin.spoken} computes with sizes in a way that is not followed")
            return
        made = [self.nodes.get(self.asked.nodes[k].name) for k in call.nodes]
        numbers = [put(e, self.dims) for e in call.numbers]
        for node in (node for node in made if node is not None):
            given = numbers_in((node.args, tuple(node.kwargs.values())))
            unsaid = [n for n in given if not self.is_said(n, node, numbers)]
            if unsaid and not (node.operator in SHAPED and len(unsaid) == 1):
                self.lose(f"{call.origin.spoken} computes a number from sizes in a way that is not followed")

    def numbers(self) -> dict[Dim, None]:
        """The numbers made of sizes that stand in the graph, in order: arguments and dimensions."""
        given = (numbers_in((node.args, tuple(node.kwargs.values()))) for node in self.nodes.values())
        return dict.fromkeys(chain(*given, (n for n in self.dims.values() if not isinstance(n, int))))

    def hold(self, call: Call, read: Mapping[Dim, None]) -> None:
        """A quotient that a call was given and no node says was read as something else, as runs do not tell them apart:
        as one number, or as another polynomial. That it is that is a condition."""
        for e in (const(put(e, self.dims)) for e in call.numbers if call.known and self.moves(call.atoms)):
            if not any(isinstance(part, FloorDiv | Mod) for part in walk(e)) or canonical_or_none(e) in read:
                continue
            values = [number_at(e, run) for run in self.runs]
            alike = [n for n in read if [number_at(n, run) for run in self.runs] == values]
            for n in [const(Fraction(values[0]))] if len({*values}) == 1 else alike:
                self.found.conditions.setdefault(Condition("=", e, n), call.origin)

    def quotients(self) -> None:
        """A quotient that torch computed itself is not told from others by a few runs; it must be one that a call was
        given, or that an operator's own rule gives (its type, which is checked)."""
        given = {put(e, self.dims) for call in self.asked.calls for e in call.numbers}
        for node in self.graph.nodes:
            kinds = node.type if isinstance(node.type, tuple) else (node.type,)
            own = {n for kind in kinds for n in kind.shape} if node.operator in SHAPED else set()
            read = {n for part in node.inputs if not isinstance(part.type, tuple) for n in part.type.shape}
            for number in numbers_in((node.args, tuple(node.kwargs.values()))):
                if any(isinstance(e, FloorDiv | Mod) for e in walk(number)) and number not in given | own | read:
                    self.lose(f"{node.origin.spoken} takes a quotient of sizes that torch computes itself")

    def is_said(self, number: Expr, node: Node, numbers: Sequence[Dim]) -> bool:
        """Whether a number that varies is one that the call was given, or follows from it in the simplest way."""
        own = [n for part in node.inputs if not isinstance(part.type, tuple) for n in part.type.shape]
        said = [*numbers, *own]
        sums = (canonical_or_none(add(const(a), mul(s, b))) for a, b in product(said, said) for s in (1, -1))
        return any(_is_same(number, e, self.example) for e in said) or any(
            e is not None and _is_same(number, e, self.example) for e in sums
        )


def canonical_or_none(e: Expr) -> Dim | None:
    try:
        return canonical(e)
    except Unsupported:
        return None


def _is_same(a: Dim, b: Dim, example: Mapping[str, int]) -> bool:
    """Whether two numbers made of sizes are one: the same polynomial, or, where there are roots, the same number at
    several sizes far apart."""
    if a == b:
        return True
    if _whole(a) and _whole(b):
        return False
    points = [{name: n * far + far // 3 for name, n in example.items()} for far in (1, 7, 1009)]
    try:
        pairs = [(float(number_at(a, p)), float(number_at(b, p))) for p in points]
    except (Unsupported, ZeroDivisionError, KeyError):
        return False
    return all(abs(x - y) <= 1e-12 * max(abs(x), abs(y)) for x, y in pairs)


def _whole(a: Dim) -> bool:
    return isinstance(a, int) or a.kind == "int"


def _sized(nodes: Iterable[Node]) -> set[str]:
    """Names of the nodes that depend on a size: by their type, an argument, or what they read."""
    found: set[str] = set()
    for node in nodes:
        kinds = node.type if isinstance(node.type, tuple) else (node.type,)
        own = any(isinstance(n, Expr) for kind in kinds for n in kind.shape)
        given = (node.args, tuple(node.kwargs.values()))
        if own or any(True for _ in numbers_in(given)) or any(part.name in found for part in nodes_in(given)):
            found.add(node.name)
    return found
