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
t + 1 + u rounds. So everything that proves a pair of programs for all sizes proves these.
"""

from __future__ import annotations

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
from samesame.relate.propose import Values, agree
from samesame.relate.rounds import Rounds, Stack, rounds_of

COUNT, CARRIED, MADE = "rounds", "carried", "made"         # inputs that are added
FIRST, SECOND, START = "round 0", "round 1", "start"       # roots that are added
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

    @property
    def example(self) -> dict[str, int]:
        """The value of each symbol in the example, those of the round's number among them."""
        return self.numbers


def loops_of(graphs: Graphs, values: tuple[Values, Values]) -> tuple[Loops, Pairs] | None:
    """The loops of both programs over something that is given, of equally many rounds, and which tensors of a round are
    paired; None where that cannot be."""
    sizes = {n - k for graph in graphs for node in graph.sources("input") for n in node.shape for k in (0, 1)}
    loops = _of_one_length(graphs, (None, None), sizes)
    pairs = None if loops is None else _paired(loops, values)
    return None if loops is None or pairs is None else (loops, pairs)


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


def recording_claims(record: Recording, here: Loops, pairs: Pairs) -> Recording:
    """The claims of both programs at other sizes."""

    def recorded(example: Any) -> Graphs:
        graphs = record(example)
        loops = _of_one_length(graphs, [len(loop.rounds[0]) for loop in here])
        if loops is None:
            raise Refused(f"the loop at {here[1].rounds[0][0].origin.spoken} is another one at other sizes")
        return claims(loops, pairs)

    return recorded


# ----------------------------------------------------------------------------------------------------------- the claims


def claims(loops: Loops, pairs: Pairs) -> Graphs:
    """Both programs as graphs of the claims."""
    classes = _classes(pairs)
    begun = [pair for left, right in classes for pair in product(sorted(left), sorted(right))
             if all(place in loop.initial for place, loop in zip(pair, loops, strict=True))]
    left, right = (_Claims(loops[side], [one[side] for one in classes], [pair[side] for pair in pairs],
                           [pair[side] for pair in begun]).graph() for side in (0, 1))
    return left, right


class _Claims:
    """The graph of one side. `classes` are the places in a round whose tensors are taken to be the same; those at
    `places` are compared, and the beginnings of those `begun`."""

    def __init__(
        self, loop: Rounds, classes: Sequence[frozenset[int]], places: Sequence[int], begun: Sequence[int]
    ) -> None:
        self.loop, self.classes, self.places, self.begun = loop, classes, places, begun
        self.nodes: list[Node] = []
        self.tensors = dict(loop.graph.tensors)
        self.now: dict[Node, Node] = {}                    # of the program, as it stands here

    def graph(self) -> Graph:
        loop, graph = self.loop, self.loop.graph
        first, last = graph.nodes.index(loop.rounds[0][0]), graph.nodes.index(loop.rounds[-1][-1])
        inputs, count = graph.sources("input"), len(loop.rounds)
        self.nodes += inputs
        self.input(COUNT, TensorType((count,), "int64"))
        carried: dict[int, Node] = {}
        made: dict[int, Node] = {}
        for k, places in enumerate(self.classes):
            kind = loop.rounds[0][min(places)].type
            assert isinstance(kind, TensorType)
            narrow = tuple(n for n in kind.shape if n != 1)
            carried |= dict.fromkeys(places, self.input(f"{CARRIED} {k}", TensorType(narrow, kind.dtype)))
            made |= dict.fromkeys(places, self.input(f"{MADE} {k}", TensorType((count, *narrow), kind.dtype)))
        self.nodes += [node for node in graph.nodes[:first] if node not in inputs]
        roots = [(f"{START} {k}", self.narrowed(loop.initial[place], f"start of {k}"))
                 for k, place in enumerate(self.begun)]
        for number, name in ((0, FIRST), (1, SECOND)):
            now = self.round(number, carried)
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

    def round(self, number: int, carried: Mapping[int, Node]) -> list[Node]:
        """A round with this number that reads what is carried from an input."""
        before, second = self.loop.rounds[:2]              # what is carried is plain to see from round 1 on
        now = {before[place]: self.reshaped(carried[place], before[place].shape, f"{CARRIED} to {place} of {number}")
               for place in self.loop.initial}
        made = []
        for node, own in zip(second, self.loop.rounds[number], strict=True):
            args = map_nodes(lambda part: now.get(part, part), _with_numbers(node.args, own.args))
            kwargs = {name: map_nodes(lambda part: now.get(part, part), _with_numbers(value, own.kwargs[name]))
                      for name, value in node.kwargs.items()}
            now[node] = replace(own, args=args, kwargs=kwargs)
            made.append(now[node])
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


def _with_numbers(argument: Any, numbers: Any) -> Any:
    """An argument with the numbers of another round."""
    if isinstance(argument, tuple):
        return tuple(_with_numbers(a, b) for a, b in zip(argument, numbers, strict=True))
    return argument if isinstance(argument, Node) else numbers


# ------------------------------------------------------------------------------------------------- for any round number


def inductive(found: Family, loops: Loops, pairs: Pairs, values: tuple[Values, Values]) -> Inductive | None:
    """The family of the claims with one round in the place of two, number t of t + 1 + u; None where the number of
    rounds does not vary, or not as one size does."""
    counts = {graph[COUNT].shape[0] for graph in found.graphs}
    own = {symbol for count in counts for symbol in symbols(count)}
    if len(counts) != 1 or len(own) != 1:
        return None
    (count,), (symbol,) = counts, own
    more = value_at(count, {symbol.name: 0})
    if canonical(add(symbol, more)) != count or symbol.minimum + more < 1:
        return None
    before, after = Size(BEFORE, 0), Size(AFTER, 0)
    length = canonical(add(before, after, 1 - more))
    left, right = (at(_any_round(graph, len(pairs), before), {symbol.name: length}) for graph in found.graphs)
    rounds = len(loops[0].rounds)
    number = rounds // 2
    numbers = {**found.example, BEFORE: number, AFTER: rounds - 1 - number}
    sizes: dict[str, Dim] = dict(numbers)
    here = at(left, sizes), at(right, sizes)
    place = loops[1].rounds[0][0].origin
    told = f"how often {place.spoken} goes round, and what is asked of sizes on the way, is read off these runs"
    fields = {name: getattr(found, name) for name in Family.__dataclass_fields__}
    fields |= {"graphs": (left, right), "lost": (*found.lost, told)}
    return Inductive(**fields, of_example=here, values=_values(here, loops, pairs, values, number), numbers=numbers,
                     place=place)


def _any_round(graph: Graph, pairs: int, number: Size) -> Graph:
    """The graph with its round 0 as round `number`: what grows from round 0 to round 1 grows so from round to round."""
    by_root = dict(graph.roots)
    twins: dict[Node, Node] = {}                           # of each node of round 0, the one of round 1
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
    graphs: Graphs, loops: Loops, pairs: Pairs, values: tuple[Values, Values], number: int
) -> tuple[Values, Values]:
    """Values of the claims at the example's sizes: what is carried, and what all rounds make, as the left makes it."""
    found: tuple[list[Any], list[Any]] = ([], [])
    for draw in range(len(values[0])):
        mine, count = values[0][draw], len(loops[0].rounds)
        added: dict[str, torch.Tensor] = {COUNT: torch.zeros(count, dtype=torch.int64)}
        for k, (places, _) in enumerate(_classes(pairs)):
            of_round = [mine[nodes[min(places)].name] for nodes in loops[0].rounds]
            shape = graphs[0][f"{CARRIED} {k}"].shape
            added[f"{CARRIED} {k}"] = of_round[number - 1].reshape(shape)
            added[f"{MADE} {k}"] = torch.stack([part.reshape(shape) for part in of_round])
        for side, graph in enumerate(graphs):
            own = {node.name: values[side][draw][node.name] for node in graph.nodes
                   if node.is_source and node.name not in added}
            found[side].append(execute(graph, {**own, **added}))
    return found


def families_by_induction(
    graphs: Graphs,
    values: tuple[Values, Values],
    record: Recording,
    search: Callable[[Recording, Graphs], Family],
) -> Iterator[Family]:
    """The family of the claims of two programs that loop. `search` finds that of what records two graphs, and of
    these."""
    found = loops_of(graphs, values)
    if found is None:
        return
    loops, pairs = found
    made = inductive(search(recording_claims(record, loops, pairs), claims(loops, pairs)), loops, pairs, values)
    if made is not None:
        yield made
