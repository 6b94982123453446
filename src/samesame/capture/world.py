"""The world graph: all ranks of a distributed program in one ordinary graph, in which collectives are plain operators.

All ranks run side by side. Each goes on until it stands before a collective; when every rank of the collective's group
stands before the same one, it happens: an all-reduce is the sum of what the ranks gave, an all-gather their
concatenation, a reduce-scatter a slice of the sum, an all-to-all slices put together, and a message is the tensor that
was sent. Ranks may run different programs. If nobody can go on, the program would hang there, and the message says who
waits for what.

A collective's result is made once, under the name it has on the first rank of its group, and every rank reads it.
Sending waits for nobody: a message stays where it is until it is received.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from samesame.capture.collectives import is_collective
from samesame.evidence import Refused
from samesame.graph import Graph, Node, Origin, TensorType, map_nodes

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


# ------------------------------------------------------------------------------------------------------------ running


@dataclass(slots=True)
class _Rank:
    """One rank on its way: the nodes before it, and those it has left behind until a message arrives."""

    number: int
    graph: Graph
    ahead: deque[Node]
    behind: list[Node] = field(default_factory=list)
    now: dict[Node, Node] = field(default_factory=dict)    # its nodes, as nodes of the world

    @property
    def at(self) -> Node | None:
        """The node that the rank stands before."""
        return self.ahead[0] if self.ahead else None

    def ready(self, node: Node) -> bool:
        return all(part in self.now for part in node.inputs)


class _Lockstep:
    def __init__(self, graphs: Sequence[Graph]) -> None:
        self.ranks = [_Rank(number, graph, deque(graph.nodes)) for number, graph in enumerate(graphs)]
        self.messages: dict[tuple[int, int, int], deque[tuple[Node, Node]]] = defaultdict(deque)
        self.nodes: list[Node] = []
        self.names: set[str] = set()
        self.tensors: dict[str, Any] = {}
        self.meetings: list[Meeting] = []

    def run(self, name: str) -> World:
        while any(rank.ahead or rank.behind for rank in self.ranks):
            moved = [self.advance(rank) for rank in self.ranks]
            if not self.meet() and not any(moved):
                raise self.stuck()
        for (sender, receiver, _), left in self.messages.items():
            for _, sent in left:
                sentence = f"rank {sender} sends a message at {sent.origin} that rank {receiver} never receives"
                raise Mismatch(sentence, (sender, receiver), (sent.origin,))
        roots = [
            (f"r{rank.number}.{root}", rank.now[node]) for rank in self.ranks for root, node in rank.graph.roots
        ]
        graph = Graph(name, tuple(self.nodes), tuple(roots), self.tensors)
        places = [{node.name: made for node, made in rank.now.items()} for rank in self.ranks]
        return World(graph, tuple(self.meetings), tuple(places))

    def advance(self, rank: _Rank) -> bool:
        """Run a rank until it stands before a collective, or waits for a message; whether it moved."""
        moved = False
        behind, rank.behind = rank.behind, []
        for node in behind:
            moved |= self.step(rank, node)
        while rank.ahead:
            node = rank.ahead[0]
            if is_collective(node.operator) and not self.goes_on(rank, node):
                break
            rank.ahead.popleft()
            self.step(rank, node)
            moved = True
        return moved

    def goes_on(self, rank: _Rank, node: Node) -> bool:
        """Whether a rank that comes to a message goes on: always after sending, after receiving if it need not wait."""
        if node.operator == "collective.send":
            return True
        if node.operator != "collective.recv":
            return False
        return not node.kwargs.get("waits", True) or bool(self.messages[self.way(rank, node)])

    @staticmethod
    def way(rank: _Rank, node: Node) -> tuple[int, int, int]:
        """From whom, to whom, under which tag."""
        peer, tag = node.kwargs["peer"], node.kwargs.get("tag", 0)
        return (rank.number, peer, tag) if node.operator == "collective.send" else (peer, rank.number, tag)

    def step(self, rank: _Rank, node: Node) -> bool:
        """Run one node, or leave it behind if something that it reads has not arrived; whether it ran."""
        if not rank.ready(node) or not self.do(rank, node):
            rank.behind.append(node)
            return False
        return True

    def do(self, rank: _Rank, node: Node) -> bool:
        if node.operator in ("collective.send", "collective.recv"):
            return self.message(rank, node)
        kwargs = {key: map_nodes(rank.now.__getitem__, value) for key, value in node.kwargs.items()}
        args = map_nodes(rank.now.__getitem__, node.args)
        made = self.add(replace(node, name=self.unique(rank.number, node.name), args=args, kwargs=kwargs))
        if node.name in rank.graph.tensors:
            self.tensors[made.name] = rank.graph.tensors[node.name]
        rank.now[node] = made
        return True

    def message(self, rank: _Rank, node: Node) -> bool:
        """Send or receive; messages on one way keep their order. Whether it was done."""
        way = self.way(rank, node)
        if any(other.operator == node.operator and self.way(rank, other) == way for other in rank.behind):
            return False
        if node.operator == "collective.send":
            self.messages[way].append((rank.now[node.inputs[0]], node))
            return True
        if not self.messages[way]:
            return False
        value, sent = self.messages[way].popleft()
        origins = sent.origin, node.origin
        if value.type != node.type:
            sentence = f"rank {way[1]} receives {node.type} at {node.origin}, rank {way[0]} sends {value.type} at "
            raise Mismatch(sentence + str(sent.origin), way[:2], origins)
        rank.now[node] = value
        self.meetings.append(Meeting("collective.send", way[:2], "", origins, (value, None), (None, value)))
        return True

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
        """Let every collective happen before which its whole group stands; whether there was one."""
        met = False
        for rank in self.ranks:
            node = rank.at
            if node is None or "group" not in node.kwargs or not is_collective(node.operator):
                continue
            group = node.kwargs["group"]
            self.demand_members(rank, node)
            there = [self.ranks[number].at for number in group]
            if any(other is None or other.kwargs.get("group") != group for other in there):
                continue
            calls = [other for other in there if other is not None]
            if not all(self.ranks[number].ready(call) for number, call in zip(group, calls, strict=True)):
                continue
            self.happen(group, calls)
            met = True
        return met

    def demand_members(self, rank: _Rank, node: Node) -> None:
        group = node.kwargs["group"]
        if rank.number not in group or not all(0 <= number < len(self.ranks) for number in group):
            raise Refused(
                f"rank {rank.number} calls {spoken(node)} over ranks {list(group)}; the world has ranks 0 to "
                f"{len(self.ranks) - 1}, and a rank that calls has to be among them"
            )

    def happen(self, group: tuple[int, ...], calls: list[Node]) -> None:
        """One collective takes place: what each rank takes stands for its node from now on."""
        ranks = [self.ranks[rank] for rank in group]
        given = [rank.now[call.inputs[0]] if call.inputs else None for rank, call in zip(ranks, calls, strict=True)]
        demand_agreement(group, calls, given)
        taken = MEANING[calls[0].operator](_Maker(self, group, calls), given)
        for rank, call, result in zip(ranks, calls, taken, strict=True):
            rank.ahead.popleft()
            if result is not None and call.type != NOTHING:
                rank.now[call] = result
        op, origins = calls[0].kwargs.get("op", ""), tuple(call.origin for call in calls)
        self.meetings.append(Meeting(calls[0].operator, group, op, origins, tuple(given), tuple(taken)))

    def stuck(self) -> Mismatch:
        """Who waits for what, as an error: the last rank that waits, and the first that should have come."""
        waiting = {rank.number: self.cause(rank) for rank in self.ranks if rank.ahead or rank.behind}
        number, node = max(waiting.items(), key=lambda item: item[0])
        partners = [rank for rank in node.kwargs.get("group", (node.kwargs.get("peer"),)) if rank != number]
        absent = [rank for rank in partners if rank not in waiting or not same_call(waiting[rank], node)]
        other = next(iter(absent or partners), number)
        where = f"is at {spoken(waiting[other])}" if other in waiting else "has ended"
        origins = tuple(waiting[rank].origin for rank in (number, other) if rank in waiting)
        return Mismatch(f"rank {number} waits for {spoken(node)}, rank {other} {where}", (number, other), origins)

    def cause(self, rank: _Rank) -> Node:
        """What a rank waits for: a message that the next node needs, else the collective that it stands before."""
        pending = [node for node in rank.behind if node.operator == "collective.recv"]
        if rank.ahead and (rank.ready(rank.ahead[0]) or not pending):
            return rank.ahead[0]
        return (pending or rank.behind)[0]


# ----------------------------------------------------------------------------------------------------------- agreement


def spoken(node: Node) -> str:
    """A collective and its place, for a message."""
    return f"{node.operator.removeprefix('collective.')} at {node.origin}"


def same_call(one: Node, other: Node) -> bool:
    """Whether two ranks stand before the same collective of the same group."""
    return one.operator == other.operator and one.kwargs.get("group") == other.kwargs.get("group")


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
