"""Induction over rounds: two programs that loop over a sequence are the same for every length of it.

A loop that was recorded has as many rounds as the example's sequence has steps, so nothing that is proved about its
graph holds for another length. What holds for every length is shown by claims without a loop. Let the tensors that
rounds hand on, and those that are collected, be paired; then

    at the start    what is carried is the same before the first round,
    in a round      if what is carried is the same, so is all that round number t makes, for any t,
    at the end      if all rounds made the same, so do the programs.

Both programs are written anew as graphs of these claims: what is carried into the round, and what all rounds made, are
inputs of which nothing is known, the same on both sides. Each round is there twice, as number 0 and as number 1, which
tells how its numbers grow; in the family that is read off runs at several sizes, one of the two becomes number t of
t + 1 + u rounds. Where only one of the two loops, a closed form stands for the other's (closed_forms.py). So everything
that proves a pair of programs for all sizes proves these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import torch

from samesame.capture.sizes.family import Family, Graphs, Recording
from samesame.evidence import Refused
from samesame.formula.expr import Expr, Size, add, const, mul
from samesame.formula.sizes import canonical, plain, symbols, value_at
from samesame.formula.tensor import Dim
from samesame.graph import Dtype, Graph, Node, Origin, TensorType, at, map_nodes, with_roots
from samesame.operators.execute import execute
from samesame.relate.closed_forms import COPIED, ClosedForm, by_rows, closed_form, copied
from samesame.relate.layout import Layout
from samesame.relate.propose import Values, agree
from samesame.relate.rounds import SELECTED, Rounds, Stack, rounds_of

COUNT, CARRIED, MADE = "rounds", "carried", "made"         # inputs that are added
FIRST, SECOND, START = "round", "next", "start"            # roots that are added
BEFORE, AFTER = "rounds before", "rounds after"            # the symbols
Pairs = tuple[tuple[int, int], ...]                        # places in a round of either side
Loops = tuple[Rounds, Rounds]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inductive(Family):
    """A family of the claims. `of_example` are its members at the example's sizes, of which the `values` are; `place`
    is a line of the loop."""

    of_example: Graphs
    values: tuple[Values, Values]
    numbers: dict[str, int]
    place: Origin

    @property
    def added(self) -> int:
        """How many inputs the claims have of their own."""
        return sum(node.name.partition(" ")[0] in (COUNT, CARRIED, MADE) for node in self.graphs[0].sources("input"))

    def mentions(self, condition: str) -> bool:
        """Does a condition speak of what a round is given, or of anything made of it? No other claim shows that."""
        made = {name for graph in self.graphs for name in _made_of_added(graph)}
        return any(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", condition) for name in made)

    @property
    def example(self) -> dict[str, int]:
        """The value of each symbol in the example, those of the round's number among them."""
        return self.numbers


@dataclass(frozen=True, slots=True)
class Plan:
    """How claims are made of two programs: the tensors of a round that are paired, how many operators a round has on
    either side, and where only one of them loops, the closed form."""

    pairs: Pairs
    periods: tuple[int, int]
    closed: ClosedForm | None = None

    def loops(self, graphs: Graphs) -> Loops | None:
        """The loops of both at some sizes; None where they are others there."""
        if self.closed is None:
            return _of_one_length(graphs, self.periods)
        side, other = self.closed.side, graphs[1 - self.closed.side]
        loop = rounds_of(graphs[side], period=self.periods[side])
        if loop is None or other[self.closed.tensor].shape[self.closed.dim] != len(loop.rounds):
            return None
        rows = by_rows(other, self.closed.tensor, self.closed.dim)
        return (loop, rows) if side == 0 else (rows, loop)

    @property
    def first(self) -> int:
        """The first round that the claims about a round are about."""
        return 0 if self.closed is None else 1


def plan(graphs: Graphs, values: tuple[Values, Values], layouts: Mapping[str, Layout]) -> Plan | None:
    """How claims can be made of two programs of which one or both loop over something that is given; None where they
    cannot be."""
    sizes = {n - k for graph in graphs for node in graph.sources("input") for n in node.shape for k in (0, 1)}
    loops = _of_one_length(graphs, (None, None), sizes)
    if loops is not None:
        pairs = _paired(loops, values)
        return None if pairs is None else Plan(pairs, (len(loops[0].rounds[0]), len(loops[1].rounds[0])))
    closed = closed_form(graphs, values, layouts, sizes)
    loop = None if closed is None else rounds_of(graphs[closed.side], among=sizes)
    if closed is None or loop is None:
        return None
    period = len(loop.rounds[0])
    if closed.side == 0:
        return Plan(tuple((place, 0) for place in loop.read), (period, 1), closed)
    return Plan(tuple((0, place) for place in loop.read), (1, period), closed)


def _made_of_added(graph: Graph) -> set[str]:
    """The names of inputs that only the claims have, and of what is computed from them."""
    made: set[str] = set()
    for node in graph.nodes:
        added = node.operator == "input" and node.name.partition(" ")[0] in (COUNT, CARRIED, MADE)
        if added or any(part.name in made for part in node.inputs):
            made.add(node.name)
    return made


def _of_one_length(
    graphs: Graphs, periods: Sequence[int | None], among: Collection[int] | None = None
) -> Loops | None:
    """The loops of both programs, with as many rounds as the shorter has."""
    found = [rounds_of(graph, None, period, among) for graph, period in zip(graphs, periods, strict=True)]
    counts = [len(loop.rounds) for loop in found if loop is not None]
    if len(counts) < 2 or counts[0] == counts[1]:
        left, right = found
    else:
        left, right = (rounds_of(graph, min(counts), period) for graph, period in zip(graphs, periods, strict=True))
    return None if left is None or right is None else (left, right)


def _paired(loops: Loops, values: tuple[Values, Values]) -> Pairs | None:
    """For each tensor that is read beyond its round one of the other side with its values in every round."""

    def partner(side: int, place: int) -> int | None:
        mine, yours = loops[side].rounds, loops[1 - side].rounds
        candidates = sorted(range(len(yours[0])), key=lambda other: other not in loops[1 - side].read)
        return next((other for other in candidates if all(
            _same(values[side][draw][a[place].name], values[1 - side][draw][b[other].name])
            for draw in range(len(values[0])) for a, b in zip(mine, yours, strict=True))), None)

    found = [(place, partner(0, place)) for place in loops[0].read]
    met = {other for _, other in found}
    found += [(partner(1, other), other) for other in loops[1].read if other not in met]     # type: ignore[misc]
    pairs = tuple((a, b) for a, b in found if a is not None and b is not None)
    if len(pairs) < len(found) or any(_begin_apart(loops, alike) for alike in _classes(pairs)):
        return None
    return pairs


def _classes(pairs: Pairs) -> list[tuple[frozenset[int], frozenset[int]]]:
    """The places of either side that pairs, one after the other, say are the same."""
    found: list[tuple[frozenset[int], frozenset[int]]] = []
    for a, b in pairs:
        met = [one for one in found if a in one[0] or b in one[1]]
        whole = frozenset([a]).union(*(one[0] for one in met)), frozenset([b]).union(*(one[1] for one in met))
        found = [one for one in found if one not in met] + [whole]
    return found


def _begin_apart(loops: Loops, alike: tuple[frozenset[int], frozenset[int]]) -> bool:
    """Are there two of one side that begin as different tensors, and none of the other to hold both against?"""
    begun = [{loop.initial[place] for place in places if place in loop.initial}
             for loop, places in zip(loops, alike, strict=True)]
    return not all(begun) and any(len(nodes) > 1 for nodes in begun)


def _same(a: Any, b: Any) -> bool:
    """Equal but for dimensions of size one."""
    return isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor) and agree(a.squeeze(), b.squeeze())


def recording_claims(record: Recording, planned: Plan) -> Recording:
    """The claims of both programs at other sizes."""

    def recorded(example: Any) -> Graphs:
        graphs = record(example)
        loops = planned.loops(graphs)
        if loops is None:
            raise Refused("the loop is another one at other sizes")
        return claims(loops, planned)

    return recorded


# ----------------------------------------------------------------------------------------------------------- the claims


def claims(loops: Loops, planned: Plan) -> Graphs:
    """Both programs as graphs of the claims."""
    classes, closed = _classes(planned.pairs), planned.closed
    begun = [pair for left, right in classes for pair in product(sorted(left), sorted(right))
             if all(place in loop.initial for place, loop in zip(pair, loops, strict=True))]
    other = None if closed is None else loops[1 - closed.side].graph
    left, right = (_Claims(loops[side], [one[side] for one in classes], [pair[side] for pair in planned.pairs],
                           [pair[side] for pair in begun], closed, other).graph() for side in (0, 1))
    return left, right


class _Claims:
    """The graph of one side. `classes` are the places in a round whose tensors are taken to be the same; those at
    `places` are compared, and the beginnings of those `begun`. With a `closed` form, which is a tensor of the graph
    `other`, the first round is compared instead, and what is carried into the next ones is the row before."""

    def __init__(
        self, loop: Rounds, classes: Sequence[frozenset[int]], places: Sequence[int], begun: Sequence[int],
        closed: ClosedForm | None, other: Graph | None,
    ) -> None:
        self.loop, self.classes, self.places, self.begun = loop, classes, places, begun
        self.closed, self.other = closed, other
        self.carried: dict[int, Node] = {}                 # as an input
        self.form: Node | None = None                      # the closed form, in this graph
        self.nodes: list[Node] = []
        self.tensors = dict(loop.graph.tensors)
        self.now: dict[Node, Node] = {}                    # of the program, as it stands here

    def graph(self) -> Graph:
        loop, graph = self.loop, self.loop.graph
        first, last = graph.nodes.index(loop.rounds[0][0]), graph.nodes.index(loop.rounds[-1][-1])
        inputs, count = graph.sources("input"), len(loop.rounds)
        self.nodes += inputs
        self.input(COUNT, TensorType((count,), "int64"))
        made: dict[int, Node] = {}
        for k, places in enumerate(self.classes):
            kind = loop.rounds[0][min(places)].type
            assert isinstance(kind, TensorType)
            narrow = tuple(n for n in kind.shape if n != 1)
            if self.closed is None:
                self.carried |= dict.fromkeys(places, self.input(f"{CARRIED} {k}", TensorType(narrow, kind.dtype)))
            made |= dict.fromkeys(places, self.input(f"{MADE} {k}", TensorType((count, *narrow), kind.dtype)))
        self.nodes += [node for node in graph.nodes[:first] if node not in inputs]
        if self.closed is not None and self.other is not None and loop.initial:
            self.copy(self.closed, self.other)
        begun = [loop.initial[place] for place in self.begun]
        if self.closed is not None:
            now = self.round(0)
            begun = [now[place] for place in self.places]
        roots = [(f"{START} {k}", self.narrowed(node, f"start of {k}")) for k, node in enumerate(begun)]
        for number, name in enumerate((FIRST, SECOND), 0 if self.closed is None else 1):
            now = self.round(number)
            roots += [(f"{name} {k}", self.narrowed(now[place], f"{name}, {k}"))
                      for k, place in enumerate(self.places)]
        for place, every in made.items():
            self.now[loop.rounds[-1][place]] = self.of_last(place, every)
        for node in graph.nodes[last + 1 :]:
            stack = loop.stacks.get(node)
            self.now[node] = self.reading(node) if stack is None else self.stacked(node, stack, made[stack.place])
        outputs = [(name, self.now.get(root, root)) for name, root in graph.roots]
        whole = replace(graph, nodes=tuple(self.nodes), roots=(), tensors=self.tensors, unread=())
        return with_roots(whole, [*outputs, *roots])

    def add(self, name: str, operator: str, args: tuple[Any, ...], type_: Any, origin: Origin) -> Node:
        self.nodes.append(Node(name, operator, args, {}, type_, origin))
        return self.nodes[-1]

    def input(self, name: str, kind: TensorType) -> Node:
        self.tensors[name] = torch.zeros(kind.shape, dtype=getattr(torch, kind.dtype))
        return self.add(name, "input", (), kind, self.loop.rounds[0][0].origin)

    def reading(self, node: Node) -> Node:
        kwargs = {name: map_nodes(self.there, value) for name, value in node.kwargs.items()}
        self.nodes.append(replace(node, args=map_nodes(self.there, node.args), kwargs=kwargs))
        return self.nodes[-1]

    def there(self, node: Node) -> Node:
        return self.now.get(node, node)

    def reshaped(self, node: Node, shape: tuple[int, ...], name: str) -> Node:
        assert isinstance(node.type, TensorType)
        return self.add(name, "aten.reshape.default", (node, shape), TensorType(shape, node.type.dtype), node.origin)

    def narrowed(self, node: Node, name: str) -> Node:
        """Without dimensions of size one, in which the programs may differ."""
        return self.reshaped(node, tuple(n for n in node.shape if n != 1), name)

    def copy(self, closed: ClosedForm, other: Graph) -> None:
        """The other side's closed form, of this side's inputs and weights."""
        own = {node.name: node for node in self.nodes}
        added = copied(other, f"{closed.tensor} itself", {name: own[mine] for name, mine in closed.names.items()})
        self.tensors |= {node.name: other.tensors[node.name.removeprefix(COPIED)] for node in added
                         if node.operator == "constant"}
        self.nodes += added
        self.form = added[-1]

    def into(self, place: int, number: int) -> Node:
        """What is carried into a round."""
        kind = self.loop.rounds[0][place].type
        assert isinstance(kind, TensorType)
        if self.closed is None:
            return self.reshaped(self.carried[place], kind.shape, f"{CARRIED} to {place} of {number}")
        if number == 0 or self.form is None:
            return self.loop.initial[place]
        dim, shape = self.closed.dim, self.form.shape
        row = TensorType((*shape[:dim], *shape[dim + 1 :]), kind.dtype)
        before = self.add(f"row to {place} of {number}", SELECTED, (self.form, dim, number - 1), row, self.form.origin)
        return self.reshaped(before, kind.shape, f"{CARRIED} to {place} of {number}")

    def round(self, number: int) -> list[Node]:
        """The round with this number."""
        first, second = self.loop.rounds[:2]               # what is carried is plain to see from round 1 on
        names = [node.name for node in (first, second)[number]] if number < 2 else [f"{n.name}, next" for n in second]
        now = {first[place]: self.into(place, number) for place in self.loop.initial}
        made = []
        for zero, one, name in zip(first, second, names, strict=True):
            args = map_nodes(lambda part: now.get(part, part), _of_round(number, zero.args, one.args))
            kwargs = {key: map_nodes(lambda part: now.get(part, part), _of_round(number, zero.kwargs[key], value))
                      for key, value in one.kwargs.items()}
            now[one] = replace(one, name=name, args=args, kwargs=kwargs)
            made.append(now[one])
        self.nodes += made
        return made

    def of_last(self, place: int, every: Node) -> Node:
        """What the last round made, of all that all made."""
        node, count = self.loop.rounds[-1][place], len(self.loop.rounds)
        assert isinstance(node.type, TensorType)
        row = TensorType(every.shape[1:], node.type.dtype)
        chosen = self.add(f"{node.name} of the last", "aten.select.int", (every, 0, count - 1), row, node.origin)
        return self.reshaped(chosen, node.shape, node.name)

    def stacked(self, node: Node, stack: Stack, every: Node) -> Node:
        """What all rounds made, as it is put together."""
        shape, row = every.shape, self.loop.rounds[0][stack.place].shape
        assert isinstance(node.type, TensorType)
        whole = self.reshaped(every, (shape[0], *row), f"{node.name}, one by one")
        if stack.turned:
            whole = self.add(f"{node.name}, turned", "aten.flip.default", (whole, (0,)), whole.type, node.origin)
        order = [*range(1, len(row) + 1)]
        order.insert(stack.dim, 0)
        moved = TensorType(tuple(whole.shape[d] for d in order), node.type.dtype)
        placed = self.add(f"{node.name}, moved", "aten.permute.default", (whole, tuple(order)), moved, node.origin)
        return self.reshaped(placed, node.shape, node.name)


def _of_round(number: int, zero: Any, one: Any) -> Any:
    """An argument in the round of this number, from what it is in rounds 0 and 1: the tensors of the latter."""
    if isinstance(one, tuple):
        return tuple(_of_round(number, a, b) for a, b in zip(zero, one, strict=True))
    whole = isinstance(one, int) and not isinstance(one, bool)
    return zero + number * (one - zero) if whole else one


# ------------------------------------------------------------------------------------------------- for any round number


def inductive(found: Family, loops: Loops, planned: Plan, values: tuple[Values, Values]) -> Inductive | None:
    """The family of the claims with one round in the place of two, number t of t + 1 + u (counted from the first that
    they are about); None where the number of rounds does not vary, or not as one size does."""
    counts = {graph[COUNT].shape[0] for graph in found.graphs}
    own = {symbol for count in counts for symbol in symbols(count)}
    if len(counts) != 1 or len(own) != 1:
        return None
    (count,), (symbol,) = counts, own
    more = value_at(count, {symbol.name: 0})
    if canonical(add(symbol, more)) != count or symbol.minimum + more < 1 + planned.first:
        return None
    before, after = Size(BEFORE, 0), Size(AFTER, 0)
    length = canonical(add(before, after, 1 + planned.first - more))
    left, right = (at(_any_round(graph, len(planned.pairs), before), {symbol.name: length}) for graph in found.graphs)
    rounds = len(loops[0].rounds)
    number = rounds // 2
    numbers = {**found.example, BEFORE: number - planned.first, AFTER: rounds - 1 - number}
    sizes: dict[str, Dim] = dict(numbers)
    here = at(left, sizes), at(right, sizes)
    side = 1 if planned.closed is None else planned.closed.side
    place = loops[side].rounds[0][0].origin
    told = f"how often {place.spoken} goes round, and what is asked of sizes on the way, is read off these runs"
    fields = {name: getattr(found, name) for name in Family.__dataclass_fields__}
    fields |= {"graphs": (left, right), "lost": (*found.lost, told)}
    drawn = _values(here, loops[side], side, planned, values, number)
    return Inductive(**fields, of_example=here, values=drawn, numbers=numbers, place=place)


def _any_round(graph: Graph, pairs: int, number: Size) -> Graph:
    """The graph with one round, so many after the first, for two: what grows from one to the next grows so from round
    to round."""
    by_root = dict(graph.roots)
    twins: dict[Node, Node] = {}                           # of each node of a round, the one of the next
    waiting = [(by_root[f"{FIRST} {k}"], by_root[f"{SECOND} {k}"]) for k in range(pairs)]
    while waiting:
        first, second = waiting.pop()
        if first is not second and first not in twins:
            twins[first] = second
            waiting += zip(first.inputs, second.inputs, strict=True)

    def grown(a: Any, b: Any) -> Any:
        if isinstance(a, tuple):
            return tuple(grown(x, y) for x, y in zip(a, b, strict=True))
        if isinstance(a, Node | TensorType | Dtype | str | float | bool | None) or a == b:
            return a
        return plain(canonical(add(_of(a), mul(number, add(_of(b), mul(-1, _of(a)))))))

    now: dict[Node, Node] = {}
    for node in graph.nodes:
        twin = twins.get(node)
        args = node.args if twin is None else grown(node.args, twin.args)
        kwargs = {key: value if twin is None else grown(value, twin.kwargs[key]) for key, value in node.kwargs.items()}
        now[node] = replace(node, args=map_nodes(lambda n: now.get(n, n), args),
                            kwargs={key: map_nodes(lambda n: now.get(n, n), value) for key, value in kwargs.items()})
    roots = [(name, now[root]) for name, root in graph.roots if not name.startswith(SECOND)]
    return with_roots(replace(graph, nodes=tuple(now.values())), roots)


def _of(number: Dim) -> Expr:
    return const(number)


def _values(
    graphs: Graphs, loop: Rounds, side: int, planned: Plan, values: tuple[Values, Values], number: int
) -> tuple[Values, Values]:
    """Values of the claims at the example's sizes: what is carried, and what all rounds make, as one side makes it."""
    found: tuple[list[Any], list[Any]] = ([], [])
    for draw in range(len(values[0])):
        mine, count = values[side][draw], len(loop.rounds)
        added: dict[str, torch.Tensor] = {COUNT: torch.zeros(count, dtype=torch.int64)}
        for k, places in enumerate(_classes(planned.pairs)):
            of_round = [mine[nodes[min(places[side])].name] for nodes in loop.rounds]
            shape = graphs[0][f"{MADE} {k}"].shape[1:]
            if planned.closed is None:
                added[f"{CARRIED} {k}"] = of_round[number - 1].reshape(shape)
            added[f"{MADE} {k}"] = torch.stack([part.reshape(shape) for part in of_round])
        for k, graph in enumerate(graphs):
            own = {node.name: values[k][draw][node.name] for node in graph.nodes
                   if node.is_source and node.name in values[k][draw]}
            found[k].append(execute(graph, {**own, **added}))
    return found


def families_by_induction(
    graphs: Graphs,
    values: tuple[Values, Values],
    record: Recording,
    search: Callable[[Recording, Graphs], Family],
    layouts: Mapping[str, Layout],
) -> Iterator[Family]:
    """The family of the claims of two programs that loop. `search` finds that of what records two graphs, and of
    these; `layouts` are those of right weights."""
    planned = plan(graphs, values, layouts)
    loops = None if planned is None else planned.loops(graphs)
    if planned is None or loops is None:
        return
    made = inductive(search(recording_claims(record, planned), claims(loops, planned)), loops, planned, values)
    if made is not None:
        yield made
