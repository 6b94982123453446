"""The world graph: all ranks of a distributed program in one ordinary graph, in which collectives are plain operators.

All ranks run side by side. Each goes on until it comes to a collective and begins it; when every rank of the group has
begun it, it happens: an all-reduce is the sum of what the ranks gave, an all-gather their concatenation, a
reduce-scatter a slice of the sum, an all-to-all slices put together, and a message is the tensor that was sent. Until
then a rank stays there, one that sends too (a backend may keep a message until it is asked for, and need not), unless
it only begins the collective and waits for it later. Ranks may run different programs. If nobody can go on, the program
would hang there, and the message says who waits for what. So it does where two ranks begin collectives of two groups in
different order: nothing then says which of them comes first.

A collective's result is made once, under the name it has on the first rank of its group, and every rank reads it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from math import prod
from typing import Any, TypeVar

from samesame.capture.ranks.collectives import is_collective
from samesame.capture.ranks.packed import packed_alike, pieces_in
from samesame.evidence import Refused
from samesame.graph import Graph, Node, NodeType, Origin, TensorType, map_nodes, rewritten

G = TypeVar("G", bound=Graph)
WAIT = "collective.wait"
NOTHING = TensorType((), "NoneType")                     # the type of a collective that gives this rank nothing


class Mismatch(Refused):
    """Ranks that do not meet: a finding about the program. `ranks` are those that wait, `origins` where each does."""

    def __init__(self, message: str, ranks: tuple[int, ...] = (), origins: tuple[Origin, ...] = ()) -> None:
        super().__init__(message)
        self.ranks, self.origins = ranks, origins


@dataclass(frozen=True, slots=True)
class Meeting:
    """One collective that took place: its name, the ranks, how values were combined, each rank's line, and the nodes of
    the world that hold what each rank gave and what it took (None for nothing)."""

    operator: str
    group: tuple[int, ...]
    op: str
    origins: tuple[Origin, ...]
    given: tuple[Node | None, ...]
    taken: tuple[Node | None, ...]


@dataclass(frozen=True, slots=True)
class World:
    """The world graph, the collectives in the order in which they took place, and where each rank's nodes are:
    `places[rank][name in the rank's graph]` is a node of the world."""

    graph: Graph
    meetings: tuple[Meeting, ...]
    places: tuple[dict[str, Node], ...]


def world(graphs: Sequence[Graph], name: str = "ranks") -> Graph:
    """The graph of all ranks; the k-th graph is rank k's. Its nodes and roots are named `r<k>.<name on that rank>`.

    Raises Mismatch where ranks do not meet in the same collectives, Refused where a collective has no meaning.
    """
    return lockstep(graphs, name).graph


def lockstep(graphs: Sequence[Graph], name: str = "ranks") -> World:
    """The same, with what took place on the way."""
    return _Lockstep(graphs).run(name)


Brought = list[dict[str, Node]]                          # by rank: what its collectives bring, by their names there


def meeting_so_far(graphs: Sequence[Graph]) -> tuple[Graph, Brought, Callable[[], Mismatch]]:
    """The world of ranks whose graphs need not go to their end, as far as it comes: with what the collectives that took
    place brought to each rank, all roots; and the error to raise if nobody can go on."""
    ranks = _Lockstep(graphs)
    ranks.go()
    brought = [{node.name: rank.now[node] for node in rank.begun if node in rank.now} for rank in ranks.ranks]
    roots = dict.fromkeys(node for own in brought for node in own.values())
    graph = Graph("ranks", tuple(ranks.nodes), tuple((node.name, node) for node in roots), ranks.tensors)
    return graph, brought, ranks.stuck


def alone(graph: G) -> G:
    """A graph of a world of one rank, in which what it says to itself is there at once; names and roots are kept."""
    if not any(is_collective(node.operator) for node in graph.nodes):
        return graph
    made = lockstep((graph,)).graph
    plain = {f"r0.{node.name}": node.name for node in graph.nodes}
    found = rewritten(made, lambda node, now: (replace(now, name=plain[node.name]),) if node.name in plain else (now,))
    tensors = {plain[name]: tensor for name, tensor in made.tensors.items()}
    roots = tuple((name, node) for (name, _), (_, node) in zip(graph.roots, found.roots, strict=True))
    return replace(graph, nodes=found.nodes, roots=roots, tensors=tensors)


# ------------------------------------------------------------------------------------------------------------ running


Channel = tuple[tuple[int, ...], int]                    # a group: its ranks, and which of the groups of these it is
Way = tuple[int, int, int]                               # of messages: from whom, to whom, under which tag


@dataclass(slots=True)
class _Rank:
    """One rank on its way: the nodes before it, the collectives that it has begun, in order, and those that are
    done."""

    number: int
    graph: Graph
    ahead: deque[Node]
    begun: dict[Node, int] = field(default_factory=dict)
    done: set[Node] = field(default_factory=set)
    now: dict[Node, Node] = field(default_factory=dict)    # its nodes, as nodes of the world

    def ready(self, node: Node) -> bool:
        return all(part in self.now or part in self.done for part in node.inputs)

    def lacks(self) -> Node | None:
        """What the rank waits for: the collective that it stands at, or one that it has begun and comes to need."""
        if not self.ahead:
            return next((node for node in self.begun if node not in self.done), None)
        node = self.ahead[0]
        lacking = (part for part in node.inputs if part not in self.now and part not in self.done)
        return next(lacking, node)


class _Lockstep:
    def __init__(self, graphs: Sequence[Graph]) -> None:
        self.ranks = [_Rank(number, graph, deque(graph.nodes)) for number, graph in enumerate(graphs)]
        self.sent: dict[Way, deque[Node]] = defaultdict(deque)
        self.asked: dict[Way, deque[Node]] = defaultdict(deque)
        self.calls: dict[Channel, dict[int, deque[Node]]] = defaultdict(lambda: defaultdict(deque))
        self.nodes: list[Node] = []
        self.names: set[str] = set()
        self.packed: set[Node] = set()                     # one after another: what was combined piece by piece
        self.tensors: dict[str, Any] = {}
        self.meetings: list[Meeting] = []
        self.met: list[tuple[Channel, list[Node]]] = []    # the calls of each collective of a group that took place

    def go(self) -> None:
        """Run all ranks until none can go on."""
        while any(rank.ahead for rank in self.ranks):
            moved = [self.advance(rank) for rank in self.ranks]
            if not self.meet() and not any(moved):
                return

    def run(self, name: str) -> World:
        self.go()
        if any(rank.lacks() for rank in self.ranks):
            raise self.stuck()
        self.demand_one_order()
        roots = [
            (f"r{rank.number}.{root}", rank.now[node]) for rank in self.ranks for root, node in rank.graph.roots
        ]
        graph = Graph(name, tuple(self.nodes), tuple(roots), self.tensors)
        places = [{node.name: made for node, made in rank.now.items()} for rank in self.ranks]
        return World(graph, tuple(self.meetings), tuple(places))

    def advance(self, rank: _Rank) -> bool:
        """Run a rank until it has to wait; whether it moved."""
        moved = False
        while rank.ahead and rank.ready(rank.ahead[0]):
            node = rank.ahead[0]
            if is_collective(node.operator):
                if node not in rank.begun and node.operator != WAIT:
                    self.begin(rank, node)
                    moved = True
                if node.operator != WAIT and node not in rank.done and node.kwargs.get("waits", True):
                    break
            else:
                self.do(rank, node)
            rank.ahead.popleft()
            moved = True
        return moved

    def do(self, rank: _Rank, node: Node) -> None:
        kwargs = {key: map_nodes(rank.now.__getitem__, value) for key, value in node.kwargs.items()}
        args = map_nodes(rank.now.__getitem__, node.args)
        if node.operator == "aten.slice.Tensor" and args[0] in self.packed and (pieces := pieces_in(*args)):
            rank.now[node] = self.together(rank.number, node, pieces)
            return
        made = self.add(replace(node, name=self.unique(rank.number, node.name), args=args, kwargs=kwargs))
        if node.name in rank.graph.tensors:
            self.tensors[made.name] = rank.graph.tensors[node.name]
        rank.now[node] = made

    def together(self, rank: int, like: Node, pieces: Sequence[Node], name: str = "") -> Node:
        """Pieces packed one after another, with the origin of the call that takes them."""
        if len(pieces) == 1:
            return pieces[0]
        assert isinstance(like.type, TensorType)
        type_ = TensorType((sum(piece.shape[0] for piece in pieces),), like.type.dtype)
        made = self.add(Node(self.unique(rank, name or like.name), "aten.cat.default", (tuple(pieces), 0), {}, type_,
                             like.origin))
        self.packed.add(made)
        return made

    def begin(self, rank: _Rank, node: Node) -> None:
        """A rank begins a collective; a message is delivered once both have come to it."""
        rank.begun[node] = len(rank.begun)
        if "group" in node.kwargs:
            self.demand_members(rank, node)
            self.calls[channel(node)][rank.number].append(node)
            return
        peer, tag = node.kwargs["peer"], node.kwargs.get("tag", 0)
        sends = node.operator == "collective.send"
        way = (rank.number, peer, tag) if sends else (peer, rank.number, tag)
        (self.sent if sends else self.asked)[way].append(node)
        if self.sent[way] and self.asked[way]:
            self.deliver(way, self.sent[way].popleft(), self.asked[way].popleft())

    def deliver(self, way: Way, sent: Node, asked: Node) -> None:
        sender, receiver = self.ranks[way[0]], self.ranks[way[1]]
        value, origins = sender.now[sent.inputs[0]], (sent.origin, asked.origin)
        if _as_many(value.type, asked.type):             # a message is numbers one after another, in any shape
            name = self.unique(way[1], asked.name)
            value = self.add(Node(name, "aten.reshape.default", (value, asked.shape), {}, asked.type, asked.origin))
        if value.type != asked.type:
            sentence = f"rank {way[1]} receives {asked.type} at {asked.origin}, rank {way[0]} sends {value.type} at "
            raise Mismatch(sentence + str(sent.origin), way[:2], origins)
        receiver.now[asked] = value
        sender.done.add(sent)
        receiver.done.add(asked)
        self.meetings.append(Meeting("collective.send", way[:2], "", origins, (value, None), (None, value)))

    def add(self, node: Node) -> Node:
        self.nodes.append(node)
        return node

    def unique(self, rank: int, name: str) -> str:
        found = stem = f"r{rank}.{name}"
        count = 0
        while found in self.names:
            count += 1
            found = f"{stem}_{count}"
        self.names.add(found)
        return found

    # ------------------------------------------------------------------------------------------------- collectives

    def meet(self) -> bool:
        """Let every collective happen that its whole group has begun; whether there was one."""
        met = False
        for where, calls in list(self.calls.items()):
            while all(calls[number] for number in where[0]):
                self.happen(where, [calls[number].popleft() for number in where[0]])
                met = True
        return met

    def demand_members(self, rank: _Rank, node: Node) -> None:
        group = node.kwargs["group"]
        if rank.number not in group or not all(0 <= number < len(self.ranks) for number in group):
            raise Refused(
                f"rank {rank.number} calls {spoken(node)} over ranks {list(group)}; the world has ranks 0 to "
                f"{len(self.ranks) - 1}, and a rank that calls has to be among them"
            )

    def happen(self, where: Channel, calls: list[Node]) -> None:
        """One collective takes place: what each rank takes stands for its node from now on."""
        group = where[0]
        ranks = [self.ranks[rank] for rank in group]
        given = [rank.now[call.inputs[0]] if call.inputs else None for rank, call in zip(ranks, calls, strict=True)]
        demand_agreement(group, calls, given)
        taken = MEANING[calls[0].operator](_Maker(self, group, calls), given)
        for rank, call, result in zip(ranks, calls, taken, strict=True):
            rank.done.add(call)
            if result is not None and call.type != NOTHING:
                rank.now[call] = result
        self.met.append((where, calls))
        op, origins = calls[0].kwargs.get("op", ""), tuple(call.origin for call in calls)
        self.meetings.append(Meeting(calls[0].operator, group, op, origins, tuple(given), tuple(taken)))

    def demand_one_order(self) -> None:
        """Raise Mismatch where ranks begin collectives of several groups in orders that cannot all be kept: waiting for
        each at once they would hang, and otherwise one of them may block the other."""
        on_rank: dict[int, list[int]] = defaultdict(list)
        for number, (where, _) in enumerate(self.met):
            for rank in where[0]:
                on_rank[rank].append(number)
        after: dict[int, dict[int, int]] = defaultdict(dict)                # by meeting: those before it, and on whom
        for rank, numbers in on_rank.items():
            for before, then in pairwise(sorted(numbers, key=lambda number: self.place(rank, number))):
                after[then][before] = rank
        try:
            TopologicalSorter({then: list(before) for then, before in after.items()}).prepare()
        except CycleError as error:
            circle = [(after[then][before], before, then) for before, then in pairwise(error.args[1])]
            told = [f"rank {rank} begins {spoken(self.call(rank, before))} before {spoken(self.call(rank, then))}"
                    for rank, before, then in circle]
            origins = tuple(self.call(rank, before).origin for rank, before, _ in circle)
            sentence = f"{', and '.join(told)}; of groups that share ranks, call collectives in one order on all ranks"
            raise Mismatch(sentence, tuple(rank for rank, _, _ in circle), origins) from None

    def call(self, rank: int, number: int) -> Node:
        """A rank's call of a collective that took place."""
        (group, _), calls = self.met[number]
        return calls[group.index(rank)]

    def place(self, rank: int, number: int) -> int:
        return self.ranks[rank].begun[self.call(rank, number)]

    def stuck(self) -> Mismatch:
        """Who waits for what, as an error: the last rank that waits, and the first that should have come."""
        waiting = {rank.number: node for rank in self.ranks if (node := rank.lacks()) is not None}
        number, node = max(waiting.items(), key=lambda item: item[0])
        partners = [rank for rank in node.kwargs.get("group", (node.kwargs.get("peer"),)) if rank != number]
        absent = [rank for rank in partners if rank not in waiting or not same_call(waiting[rank], node)]
        other = next(iter(absent or partners), number)
        if node.operator == "collective.send" and other not in waiting:
            sentence = f"rank {number} sends a message at {node.origin} that rank {other} never receives"
            return Mismatch(sentence, (number, other), (node.origin,))
        where = f"is at {spoken(waiting[other])}" if other in waiting else "has ended"
        origins = tuple(waiting[rank].origin for rank in (number, other) if rank in waiting)
        why = ""
        if other in waiting and node.operator == "collective.send":
            why = "; a rank may have to stay at a send until its message is received"
        elif other in waiting and waiting[other].kwargs.get("group") == node.kwargs.get("group", ()):
            why = "; these are two groups of the same ranks" if channel(waiting[other]) != channel(node) else ""
        return Mismatch(f"rank {number} waits for {spoken(node)}, rank {other} {where}{why}", (number, other), origins)


# ----------------------------------------------------------------------------------------------------------- agreement


def spoken(node: Node) -> str:
    """A collective and its place, for a message."""
    return f"{node.operator.removeprefix('collective.')} at {node.origin}"


def same_call(one: Node, other: Node) -> bool:
    """Whether two ranks stand before the same collective of the same group."""
    if one.operator != other.operator or "group" not in one.kwargs:
        return one.operator == other.operator
    return channel(one) == channel(other)


def channel(node: Node) -> Channel:
    """The group that a collective is over."""
    return node.kwargs["group"], node.kwargs.get("communicator", 0)


# What every rank has to say alike.
ALIKE = {
    "collective.all_reduce": ("op",),
    "collective.all_gather": ("dim", "sizes"),
    "collective.reduce_scatter": ("op", "dim", "sizes"),
    "collective.all_to_all": ("split_dim", "cat_dim"),
    "collective.broadcast": ("src",),
    "collective.reduce": ("op", "dst"),
    "collective.gather": ("dim", "dst"),
    "collective.scatter": ("dim", "src"),
    "collective.permute": ("pairs",),
    "collective.barrier": (),
}


def demand_agreement(group: tuple[int, ...], calls: Sequence[Node], given: Sequence[Node | None]) -> None:
    """Raise Mismatch unless the ranks of a group mean the same collective, and the sizes fit together."""
    for k, call in enumerate(calls[1:], 1):
        if call.operator != calls[0].operator:
            raise _mismatch(group, calls, k, 0)
        for name in ALIKE[call.operator]:
            one, other = call.kwargs[name], calls[0].kwargs[name]
            if one != other:
                raise _mismatch(group, calls, k, 0, f"{name} {one}", f"{name} {other}")
    fits = FITS.get(calls[0].operator)
    for k, x in enumerate(given):
        for m, call in enumerate(calls):
            if fits is not None and x is not None:
                given_, wanted = fits(x, calls[k], call, given[m], k, m, group)
                if given_ != wanted:
                    raise _mismatch(group, calls, m, k, wanted, given_)


def _mismatch(
    group: tuple[int, ...], calls: Sequence[Node], k: int, m: int, one: Any = "", other: Any = ""
) -> Mismatch:
    one, other = (f" ({detail})" if detail else "" for detail in (one, other))
    names = [call.operator.removeprefix("collective.") for call in calls]
    sentence = (
        f"rank {group[k]} waits for {names[k]}{one} at {calls[k].origin}, "
        f"rank {group[m]} is at {names[m]}{other} at {calls[m].origin}"
    )
    return Mismatch(sentence, (group[k], group[m]), (calls[k].origin, calls[m].origin))


def _as_many(sent: NodeType, asked: NodeType) -> bool:
    """Whether these are as many numbers of one dtype, in two shapes."""
    if sent == asked or not (isinstance(sent, TensorType) and isinstance(asked, TensorType)):
        return False
    return sent.dtype == asked.dtype and prod(sent.shape) == prod(asked.shape)


def _row(type_: Any, dim: int, size: int) -> TensorType:
    """A type with another size of one dimension."""
    return TensorType((*type_.shape[:dim], size, *type_.shape[dim + 1 :]), type_.dtype)


# What rank k gives (x, by `own`) beside what rank m expects of it (by `call`, giving y): two types.
Fit = Callable[[Node, Node, Node, Any, int, int, tuple[int, ...]], tuple[Any, Any]]


def _same(x: Node, own: Node, call: Node, y: Any, k: int, m: int, group: tuple[int, ...]) -> tuple[Any, Any]:
    return x.type, y.type


def _parts(x: Node, own: Node, call: Node, y: Any, k: int, m: int, group: tuple[int, ...]) -> tuple[Any, Any]:
    dim = own.kwargs["dim"]
    return x.type, _row(y.type, dim, call.kwargs["sizes"][k])


def _splits(x: Node, own: Node, call: Node, y: Any, k: int, m: int, group: tuple[int, ...]) -> tuple[Any, Any]:
    """The pieces in the direction from k to m."""
    dim = own.kwargs["split_dim"]
    cat = call.kwargs["cat_dim"]
    piece = _row(x.type, dim, own.kwargs["input_splits"][m])
    wanted = _row(_row(y.type, dim, call.kwargs["input_splits"][m]), cat, call.kwargs["output_splits"][k])
    return piece, wanted


def _to_one(x: Node, own: Node, call: Node, y: Any, k: int, m: int, group: tuple[int, ...]) -> tuple[Any, Any]:
    return _parts(x, own, call, y, k, m, group) if group[m] == call.kwargs["dst"] else (None, None)


def _from_one(x: Node, own: Node, call: Node, y: Any, k: int, m: int, group: tuple[int, ...]) -> tuple[Any, Any]:
    return _row(x.type, own.kwargs["dim"], own.kwargs["sizes"][m]), call.type


FITS: dict[str, Fit] = {
    "collective.all_reduce": _same,
    "collective.all_gather": _parts,
    "collective.reduce_scatter": _same,
    "collective.all_to_all": _splits,
    "collective.broadcast": _same,
    "collective.reduce": _same,
    "collective.gather": _to_one,
    "collective.scatter": _from_one,
    "collective.permute": _same,
}


# ---------------------------------------------------------------------------- what collectives mean, as plain operators


FOLD = {
    "sum": "aten.add.Tensor",
    "avg": "aten.add.Tensor",
    "product": "aten.mul.Tensor",
    "max": "aten.maximum.default",
    "min": "aten.minimum.default",
}
WHOLE_NUMBERS = ("int8", "int16", "int32", "int64", "uint8")


class _Maker:
    """Puts plain operators into the world, with the name and the origin of the collective that they are."""

    def __init__(self, lockstep: _Lockstep, group: tuple[int, ...], calls: Sequence[Node]) -> None:
        self.lockstep, self.group, self.calls = lockstep, group, calls
        self.count = 0

    @property
    def kwargs(self) -> dict[str, Any]:
        return self.calls[0].kwargs

    def emit(self, operator: str, args: tuple[Any, ...], type_: TensorType, k: int = 0, *, step: str = "") -> Node:
        """A node with the name and the origin of the call of the k-th rank of the group; `step` is added to the name of
        one that is not the result."""
        call = self.calls[k]
        name = self.lockstep.unique(self.group[k], call.name + step)
        return self.lockstep.add(Node(name, operator, args, {}, type_, call.origin))

    def combined(self, op: str, values: Sequence[Node], *, inner: bool = False) -> Node:
        """All values in one, element by element."""
        type_ = values[0].type
        assert isinstance(type_, TensorType)
        if type_.dtype == "bool" and op not in ("max", "min"):
            raise Refused(f"{spoken(self.calls[0])} takes the {op} of booleans; convert them to numbers first")
        if type_.dtype in WHOLE_NUMBERS and op == "avg":
            raise Refused(f"{spoken(self.calls[0])} takes the mean of integers; convert them to floating numbers first")
        if len(values) > 1 and (packed := packed_alike(values)):
            return self.lockstep.together(
                self.group[0], values[0], [self.combined(op, pieces, inner=True) for pieces in packed],
                self.calls[0].name + (".packed" if inner else ""))
        total = values[0]
        for k, value in enumerate(values[1:], 2):
            step = ".total" if inner or op == "avg" or k < len(values) else ""
            total = self.emit(FOLD[op], (total, value), type_, step=step)
        if op == "avg" and len(values) > 1:
            total = self.emit("aten.div.Tensor", (total, len(values)), type_, step=".mean" if inner else "")
        return total

    def joined(self, values: Sequence[Node], dim: int, k: int = 0) -> Node:
        """The values one after another along a dimension, for the k-th rank."""
        if len(values) == 1:
            return values[0]
        size = sum(value.shape[dim] for value in values)
        return self.emit("aten.cat.default", (tuple(values), dim), _row(values[0].type, dim, size), k)

    def slice(self, value: Node, dim: int, sizes: Sequence[int], part: int, k: int, *, step: str = "") -> Node:
        """One of the parts of these sizes, for the k-th rank."""
        start = sum(sizes[:part])
        if sizes[part] == value.shape[dim]:
            return value
        stop = start + sizes[part]
        if value in self.lockstep.packed and (pieces := pieces_in(value, dim, start, stop)):
            return self.lockstep.together(self.group[k], self.calls[k], pieces)
        type_ = _row(value.type, dim, sizes[part])
        return self.emit("aten.slice.Tensor", (value, dim, start, stop), type_, k, step=step)


Given = Sequence[Any]                                      # what each rank of the group gives: a node, or None
Taken = list[Node | None]


def _all_reduce(make: _Maker, given: Given) -> Taken:
    return [make.combined(make.kwargs["op"], given)] * len(given)


def _all_gather(make: _Maker, given: Given) -> Taken:
    return [make.joined(given, make.kwargs["dim"])] * len(given)


def _reduce_scatter(make: _Maker, given: Given) -> Taken:
    whole = make.combined(make.kwargs["op"], given, inner=True)
    return [make.slice(whole, make.kwargs["dim"], make.kwargs["sizes"], k, k) for k in range(len(given))]


def _all_to_all(make: _Maker, given: Given) -> Taken:
    split, cat = make.kwargs["split_dim"], make.kwargs["cat_dim"]
    splits = [call.kwargs["input_splits"] for call in make.calls]

    def taken_by(m: int) -> Node:
        giving = [k for k in range(len(given)) if splits[k][m]] or [0]
        return make.joined([make.slice(given[k], split, splits[k], m, m, step=".piece") for k in giving], cat, m)

    return [taken_by(m) for m in range(len(given))]


def _broadcast(make: _Maker, given: Given) -> Taken:
    return [given[make.group.index(make.kwargs["src"])]] * len(given)


def _scatter(make: _Maker, given: Given) -> Taken:
    src = make.group.index(make.kwargs["src"])
    sizes, dim = make.calls[src].kwargs["sizes"], make.kwargs["dim"]
    return [make.slice(given[src], dim, sizes, k, k) for k in range(len(given))]


def _permute(make: _Maker, given: Given) -> Taken:
    came_from = {to: source for source, to in make.kwargs["pairs"]}

    def taken_by(k: int) -> Node:
        if make.group[k] in came_from:
            source: Node = given[make.group.index(came_from[make.group[k]])]
            return source
        type_ = given[k].type
        return make.emit("aten.mul.Tensor", (given[k], 0), type_, k)

    return [taken_by(k) for k in range(len(given))]


MEANING: dict[str, Callable[[_Maker, Given], Taken]] = {
    "collective.all_reduce": _all_reduce,
    "collective.all_gather": _all_gather,
    "collective.reduce_scatter": _reduce_scatter,
    "collective.all_to_all": _all_to_all,
    "collective.broadcast": _broadcast,
    "collective.reduce": _all_reduce,
    "collective.gather": _all_gather,
    "collective.scatter": _scatter,
    "collective.permute": _permute,
    "collective.barrier": lambda make, given: [None] * len(given),
}
