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
t + 1 + u rounds. Where only one of the two loops, a closed form stands for the other's (closed_forms.py). Of several
loops one after the other, the next is looked for in the claims about the first, where what that one made is an input.
So everything that proves a pair of programs for all sizes proves these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

import torch

from samesame.capture.sizes.family import Family, Graphs, Recording
from samesame.evidence import Refused
from samesame.formula.assumptions import Assumption
from samesame.formula.expr import Expr, Size, add, const, mul
from samesame.formula.sizes import canonical, plain, symbols, value_at
from samesame.formula.tensor import Dim
from samesame.graph import Dtype, Graph, Node, Origin, TensorType, at, map_nodes, with_roots
from samesame.operators.execute import execute
from samesame.relate.closed_forms import COPIED, ClosedForm, by_rows, closed_form, copied
from samesame.relate.layout import Layout
from samesame.relate.propose import Values, agree
from samesame.relate.rounds import SELECTED, Rounds, Stack, last_of, loops_of, rounds_of

COUNT, CARRIED, MADE = "rounds", "carried", "made"         # inputs that are added
FIRST, SECOND, START = "round", "next", "start"            # roots that are added
BEFORE, AFTER = "rounds before", "rounds after"            # the symbols
MOST = 6                                                   # loops of a program that are looked at
Pairs = tuple[tuple[int, int], ...]                        # places in a round of either side
Loops = tuple[Rounds, Rounds]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inductive(Family):
    """A family of the claims. `of_example` are its members at the example's sizes, of which the `values` are; `spoken`
    are the loops, in words, and `fed` which roots each input holds that the claims have of their own: what is there
    before the first round, and what a round makes."""

    of_example: Graphs
    values: tuple[Values, Values]
    fed: Mapping[str, Sequence[str]]
    numbers: dict[str, int]
    spoken: str

    @property
    def added(self) -> int:
        """How many inputs the claims have of their own."""
        return sum(node.name.partition(" ")[0] in (COUNT, CARRIED, MADE) for node in self.graphs[0].sources("input"))

    def mentions(self, assumption: Assumption) -> bool:
        """Does it speak of what a round is given, or of anything made of it? No other claim shows that."""
        made = {name for graph in self.graphs for name in _made_of_added(graph)}
        return not made.isdisjoint(assumption.names)

    @property
    def example(self) -> dict[str, int]:
        """The value of each symbol in the example, those of the round's number among them."""
        return self.numbers


@dataclass(frozen=True, slots=True)
class Plan:
    """How claims are made of two programs: the tensors of a round that are paired, how many operators a round has on
    either side, which loop it is among those, in the order of either program, and where only one of them loops, the
    closed form."""

    pairs: Pairs
    periods: tuple[int, int]
    which: tuple[int, int] = (0, 0)
    closed: ClosedForm | None = None

    def loops(self, graphs: Graphs) -> Loops | None:
        """The loops of both at some sizes; None where they are others there."""
        if self.closed is None:
            return _of_one_length(*map(_this, graphs, self.periods, self.which))
        side, other = self.closed.side, graphs[1 - self.closed.side]
        loop = next(loops_of(graphs[side], period=self.periods[side]), None)
        if loop is None or other[self.closed.tensor].shape[self.closed.dim] != len(loop.rounds):
            return None
        rows = by_rows(other, self.closed.tensor, self.closed.dim)
        return (loop, rows) if side == 0 else (rows, loop)

    @property
    def first(self) -> int:
        """The first round that the claims about a round are about."""
        return 0 if self.closed is None else 1


def plans(graphs: Graphs, values: tuple[Values, Values], layouts: Mapping[str, Layout]) -> list[Plan]:
    """How claims can be made of two programs of which one or both loop over something that is given, of one loop after
    the other; none where they cannot be."""
    sizes = {n - k for graph in graphs for node in graph.sources("input") for n in node.shape for k in (0, 1)}
    found: list[Plan] = []
    now = graphs
    while len(found) < MOST and (one := _plan(now, values, sizes)) is not None:
        found.append(one)
        now = _claims(now, one, len(found))
    if found:
        return found
    closed = closed_form(graphs, values, layouts, sizes)
    loop = None if closed is None else rounds_of(graphs[closed.side], among=sizes)
    if closed is None or loop is None:
        return []
    period = len(loop.rounds[0])
    if closed.side == 0:
        return [Plan(tuple((place, 0) for place in loop.read), (period, 1), closed=closed)]
    return [Plan(tuple((0, place) for place in loop.read), (1, period), closed=closed)]


def _plan(graphs: Graphs, values: tuple[Values, Values], sizes: Collection[int]) -> Plan | None:
    """The same for one loop of either side, whose rounds make the same."""
    found = [[*islice(loops_of(graph, among=sizes), MOST)] for graph in graphs]
    known = [{period: _in_order(graph, period) for period in {len(loop.rounds[0]) for loop in loops}}
             for graph, loops in zip(graphs, found, strict=True) if all(found)]
    for pair in product(*found):
        left, right = (len(loop.rounds[0]) for loop in pair)
        first, second = map(_number, pair, (known[0][left], known[1][right]))
        if first is None or second is None:
            continue
        loops = _of_one_length(known[0][left][first], known[1][right][second])
        pairs = None if loops is None else _paired(loops, values)
        if pairs is not None:
            return Plan(pairs, (left, right), (first, second))
    return None


def _in_order(graph: Graph, period: int) -> list[Rounds]:
    """The loops with so many operators a round, in the order of the program."""
    found = [*loops_of(graph, period=period)]
    return sorted(found, key=lambda loop: loop.graph.nodes.index(loop.rounds[0][0]))


def _number(loop: Rounds, among: Sequence[Rounds]) -> int | None:
    """Which one of these a loop is: the one with an operator in common."""
    own = {node.name for nodes in loop.rounds for node in nodes}
    return next((n for n, other in enumerate(among) if other.rounds[-1][-1].name in own), None)


def _this(graph: Graph, period: int, which: int) -> Rounds | None:
    return next(islice(_in_order(graph, period), which, None), None)


def _made_of_added(graph: Graph) -> set[str]:
    """The names of inputs that only the claims have, and of what is computed from them."""
    made: set[str] = set()
    for node in graph.nodes:
        added = node.operator == "input" and node.name.partition(" ")[0] in (COUNT, CARRIED, MADE)
        if added or any(part.name in made for part in node.inputs):
            made.add(node.name)
    return made


def _of_one_length(left: Rounds | None, right: Rounds | None) -> Loops | None:
    """Both loops, with as many rounds as the shorter has."""
    if left is None or right is None:
        return None
    count = min(len(left.rounds), len(right.rounds))
    left, right = last_of(left, count), last_of(right, count)
    return None if left is None or right is None else (left, right)


def _paired(loops: Loops, values: tuple[Values, Values]) -> Pairs | None:
    """For each tensor that is read beyond its round one of the other side with its values in every round."""

    if any(node.name not in values[side][0] for side in (0, 1) for nodes in loops[side].rounds for node in nodes):
        return None                                        # of the claims about another loop

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


def recording_claims(record: Recording, planned: Sequence[Plan]) -> Recording:
    """The claims of both programs at other sizes."""
    return lambda example: claims(record(example), planned)


# ----------------------------------------------------------------------------------------------------------- the claims


def claims(graphs: Graphs, planned: Sequence[Plan]) -> Graphs:
    """Both programs as graphs of the claims. Raises Refused where the loops are others than planned."""
    for number, one in enumerate(planned, 1):
        graphs = _claims(graphs, one, number)
    return graphs


def _claims(graphs: Graphs, planned: Plan, number: int) -> Graphs:
    """The claims about one loop, with its number."""
    loops = planned.loops(graphs)
    if loops is None:
        raise Refused("the loop is another one at other sizes")
    classes, closed = _classes(planned.pairs), planned.closed
    begun = _begun(loops, planned)
    other = None if closed is None else loops[1 - closed.side].graph
    left, right = (_Claims(number, loops[side], [one[side] for one in classes], [pair[side] for pair in planned.pairs],
                           [pair[side] for pair in begun], closed, other).graph() for side in (0, 1))
    return left, right


def _begun(loops: Loops, planned: Plan) -> Pairs:
    """The places whose tensors are compared before the first round."""
    return tuple(pair for left, right in _classes(planned.pairs) for pair in product(sorted(left), sorted(right))
                 if all(place in loop.initial for place, loop in zip(pair, loops, strict=True)))


def _fed(loops: Loops, planned: Plan, number: int) -> dict[str, list[str]]:
    """The roots that each input holds which the claims about a loop have of their own."""
    begun = _begun(loops, planned) if planned.closed is None else planned.pairs
    found = dict[str, list[str]]()
    for k, (places, _) in enumerate(_classes(planned.pairs)):
        roots = [_named(f"{what} {j}", number) for what, pairs in ((START, begun), (FIRST, planned.pairs))
                 for j, (place, _) in enumerate(pairs) if place in places]
        found |= dict.fromkeys((_named(f"{what} {k}", number) for what in (CARRIED, MADE)), roots)
    return found


def _named(what: str, number: int) -> str:
    """What it is called in the claims about the loop with this number."""
    return what if number == 1 else f"{what} of loop {number}"


class _Claims:
    """The graph of one side, of the claims about the loop with this `number`. `classes` are the places in a round whose
    tensors are taken to be the same; those at `places` are compared, and the beginnings of those `begun`. With a
    `closed` form, which is a tensor of the graph `other`, the first round is compared instead, and what is carried into
    the next ones is the row before."""

    def __init__(
        self, number: int, loop: Rounds, classes: Sequence[frozenset[int]], places: Sequence[int], begun: Sequence[int],
        closed: ClosedForm | None, other: Graph | None,
    ) -> None:
        self.number, self.loop, self.classes, self.places, self.begun = number, loop, classes, places, begun
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
        self.input(_named(COUNT, self.number), TensorType((count,), "int64"))
        made: dict[int, Node] = {}
        for k, places in enumerate(self.classes):
            kind = loop.rounds[0][min(places)].type
            assert isinstance(kind, TensorType)
            narrow = tuple(n for n in kind.shape if n != 1)
            if self.closed is None:
                carried = self.input(self.called(CARRIED, k), TensorType(narrow, kind.dtype))
                self.carried |= dict.fromkeys(places, carried)
            every = self.input(self.called(MADE, k), TensorType((count, *narrow), kind.dtype))
            made |= dict.fromkeys(places, every)
        self.nodes += [node for node in graph.nodes[:first] if node not in inputs]
        if self.closed is not None and self.other is not None and loop.initial:
            self.copy(self.closed, self.other)
        begun = [loop.initial[place] for place in self.begun]
        if self.closed is not None:
            now = self.round(0)
            begun = [now[place] for place in self.places]
        roots = [(self.called(START, k), self.narrowed(node, self.called("start of", k)))
                 for k, node in enumerate(begun)]
        for number, name in enumerate((FIRST, SECOND), 0 if self.closed is None else 1):
            now = self.round(number)
            roots += [(self.called(name, k), self.narrowed(now[place], self.called(f"{name},", k)))
                      for k, place in enumerate(self.places)]
        for place, every in made.items():
            self.now[loop.rounds[-1][place]] = self.of_last(place, every)
        for node in graph.nodes[last + 1 :]:
            stack = loop.stacks.get(node)
            self.now[node] = self.reading(node) if stack is None else self.stacked(node, stack, made[stack.place])
        outputs = [(name, self.now.get(root, root)) for name, root in graph.roots]
        whole = replace(graph, nodes=tuple(self.nodes), roots=(), tensors=self.tensors, unread=())
        return with_roots(whole, [*outputs, *roots])

    def called(self, what: str, k: int) -> str:
        """The name of an input or a claim."""
        return _named(f"{what} {k}", self.number)

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
            return self.reshaped(self.carried[place], kind.shape, self.called(f"{CARRIED} to {place} of", number))
        if number == 0 or self.form is None:
            return self.loop.initial[place]
        dim, shape = self.closed.dim, self.form.shape
        row = TensorType((*shape[:dim], *shape[dim + 1 :]), kind.dtype)
        name = self.called(f"row to {place} of", number)
        before = self.add(name, SELECTED, (self.form, dim, number - 1), row, self.form.origin)
        return self.reshaped(before, kind.shape, self.called(f"{CARRIED} to {place} of", number))

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


def inductive(
    found: Family, graphs: Graphs, planned: Sequence[Plan], values: tuple[Values, Values]
) -> Inductive | None:
    """The family of the claims about the example's `graphs`, with one round of each loop in the place of two, number t
    of t + 1 + u (counted from the first that they are about); None where the number of rounds does not vary, or not as
    one size does. Loops with one number of rounds share t: each claim is about all of them."""
    loops, counts = list[Loops](), list[Dim]()
    for number, one in enumerate(planned, 1):
        both = one.loops(graphs)
        sizes = {graph[_named(COUNT, number)].shape[0] for graph in found.graphs}
        if both is None or len(sizes) != 1:
            return None
        loops.append(both)
        counts += sizes
        graphs = _claims(graphs, one, number)
    numbers, lengths, chosen = dict(found.example), dict[str, Dim](), list[tuple[Size, int]]()
    for both, count, one in zip(loops, counts, planned, strict=True):
        own = list(symbols(count))
        if len(own) != 1:
            return None
        (symbol,), rounds = own, len(both[0].rounds)
        more = value_at(count, {symbol.name: 0})
        if canonical(add(symbol, more)) != count or symbol.minimum + more < 1 + one.first:
            return None
        place = [*dict.fromkeys([*lengths, symbol.name])].index(symbol.name) + 1
        before, after = Size(_named(BEFORE, place), 0), Size(_named(AFTER, place), 0)
        length = canonical(add(before, after, 1 + one.first - more))
        if lengths.setdefault(symbol.name, length) != length:
            return None                                    # two loops over one size, and not as often
        numbers |= {before.name: rounds // 2 - one.first, after.name: rounds - 1 - rounds // 2}
        chosen.append((before, rounds // 2))
    left, right = (_any_rounds(graph, planned, [before for before, _ in chosen], lengths) for graph in found.graphs)
    sizes_here: dict[str, Dim] = dict(numbers)
    here = at(left, sizes_here), at(right, sizes_here)
    sides = [1 if one.closed is None else one.closed.side for one in planned]
    places = [both[side].rounds[0][0].origin.spoken for both, side in zip(loops, sides, strict=True)]
    places = [*dict.fromkeys(places)]
    told = [f"how often {place} goes round, and what is asked of sizes on the way, is read off these runs"
            for place in places]
    spoken = f"the loop{'s' if len(places) > 1 else ''} at {' and '.join(places)}"
    fields = {name: getattr(found, name) for name in Family.__dataclass_fields__}
    fields |= {"graphs": (left, right), "lost": (*found.lost, *told)}
    each = zip(loops, sides, planned, chosen, strict=True)
    added = [_added(both[side], side, one, values, number, round_)
             for number, (both, side, one, (_, round_)) in enumerate(each, 1)]
    fed = {name: roots for number, (both, one) in enumerate(zip(loops, planned, strict=True), 1)
           for name, roots in _fed(both, one, number).items()}
    return Inductive(**fields, of_example=here, values=_values(here, added, values), numbers=numbers, spoken=spoken,
                     fed=fed)


def _any_rounds(graph: Graph, planned: Sequence[Plan], numbers: Sequence[Size], lengths: Mapping[str, Dim]) -> Graph:
    for place, (one, number) in enumerate(zip(planned, numbers, strict=True), 1):
        names = [(_named(f"{FIRST} {k}", place), _named(f"{SECOND} {k}", place)) for k in range(len(one.pairs))]
        graph = _any_round(graph, names, number)
    return at(graph, lengths)


def _any_round(graph: Graph, names: Sequence[tuple[str, str]], number: Size) -> Graph:
    """The graph with one round, so many after the first, for the two of which these are the roots: what grows from one
    to the next grows so from round to round."""
    by_root = dict(graph.roots)
    twins: dict[Node, Node] = {}                           # of each node of a round, the one of the next
    waiting = [(by_root[first], by_root[second]) for first, second in names]
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
    seconds = {second for _, second in names}
    roots = [(name, now[root]) for name, root in graph.roots if name not in seconds]
    return with_roots(replace(graph, nodes=tuple(now.values())), roots)


def _of(number: Dim) -> Expr:
    return const(number)


def _added(
    loop: Rounds, side: int, planned: Plan, values: tuple[Values, Values], number: int, round_: int
) -> list[dict[str, torch.Tensor]]:
    """For each draw what the claims about a loop take beside what the programs do: what is carried into this round, and
    what all rounds make, as one side makes it."""
    found = []
    for mine in values[side]:
        added: dict[str, torch.Tensor] = {_named(COUNT, number): torch.zeros(len(loop.rounds), dtype=torch.int64)}
        for k, places in enumerate(_classes(planned.pairs)):
            of_round = [mine[nodes[min(places[side])].name] for nodes in loop.rounds]
            rows = [part.reshape([n for n in part.shape if n != 1]) for part in of_round]
            if planned.closed is None:
                added[_named(f"{CARRIED} {k}", number)] = rows[round_ - 1]
            added[_named(f"{MADE} {k}", number)] = torch.stack(rows)
        found.append(added)
    return found


def _values(
    graphs: Graphs, added: Sequence[Sequence[dict[str, torch.Tensor]]], values: tuple[Values, Values]
) -> tuple[Values, Values]:
    """Values of the claims at the example's sizes."""
    found: tuple[list[Any], list[Any]] = ([], [])
    for draw in range(len(values[0])):
        more = {name: value for of_loop in added for name, value in of_loop[draw].items()}
        for k, graph in enumerate(graphs):
            own = {node.name: values[k][draw][node.name] for node in graph.nodes
                   if node.is_source and node.name in values[k][draw]}
            found[k].append(execute(graph, {**own, **more}))
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
    planned = plans(graphs, values, layouts)
    if not planned:
        return
    made = inductive(search(recording_claims(record, planned), claims(graphs, planned)), graphs, planned, values)
    if made is not None:
        yield made
