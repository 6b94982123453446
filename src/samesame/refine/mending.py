"""Mending: the smallest edit of the ranks' programs that puts every output where it should be.

An edit is tried on all ranks at once that run the same program, at the operators around the loss: reduce here, do not
reduce there, a mean for a sum, divide, add on one rank only, shift a position by the rank's offset, another dimension,
messages the other way round, and whatever `edits` knows of mistakes that have nothing to do with ranks; at one
operator, or at all that a line made in a rank's micro-batches. The world is made anew and run, and an edit counts only
if every output then is where it should be, on every draw.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch

from samesame.capture.ranks.world import world
from samesame.diagnose.change import Change, Hints, packet
from samesame.diagnose.edits import changes
from samesame.diagnose.tried import Limits, tried
from samesame.evidence import Edit, SamesameError, Site
from samesame.graph import Graph, Node, rewritten
from samesame.operators.defaults import with_defaults
from samesame.operators.execute import execute
from samesame.refine.due import Due
from samesame.refine.holdings import Holdings, local
from samesame.refine.outputs import Found, output_relation
from samesame.relate.draws import Draw
from samesame.relate.propose import Values

_REGION = 40                # operators of a rank around the loss at which edits are tried
_EDITS = 3
_SECONDS = 20.0

Make = Callable[[Node, int], list[Node]]        # what stands for a node of a rank, given the rank


@dataclass(frozen=True, slots=True)
class RankEdit:
    """A change of ranks' graphs, told at one operator. `taken[prefix]` is the sequential tensor whose value the inputs
    have that are made here, and whose names start so."""

    words: str
    site: Node
    apply: Callable[[Graph, int], Graph]
    taken: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """What an edit is measured by: the draws, the sequential program's values on them, and where outputs should be."""

    taken: Sequence[Draw]
    wanted: Values
    roots: Mapping[str, Node]
    dues: Mapping[str, Due]

    def placed(self, ranks: Sequence[Graph], edits: Sequence[RankEdit]) -> set[str]:
        """The outputs that are where they should be on every draw, once the ranks are edited."""
        graphs = list(ranks)
        for edit in edits:
            graphs = [edit.apply(graph, rank) for rank, graph in enumerate(graphs)]
        try:
            right = with_defaults(world(graphs))
            runs = [execute(right, self._given(draw, k, edits, right), keep=False) for k, draw in enumerate(self.taken)]
        except SamesameError:
            return set()
        theirs, found = dict(right.roots), set()
        for name, root in self.roots.items():
            due = self.dues[name]
            own = {rank: theirs[f"r{rank}.{name}"] for rank in due.where if f"r{rank}.{name}" in theirs}
            held: dict[int, Any] = {rank: [run[node.name] for run in runs] for rank, node in own.items()}
            lies = output_relation([run[root.name] for run in self.wanted], held, len(ranks))
            if due.holds(lies):
                found.add(name)
        return found

    def _given(self, draw: Draw, k: int, edits: Sequence[RankEdit], right: Graph) -> dict[str, torch.Tensor]:
        """The inputs of the world on a draw, with what edits take from the sequential program."""
        more = [pair for edit in edits for pair in edit.taken.items()]
        put = {node.name: self.wanted[k][of.name] for node in right.sources("input") for prefix, of in more
               if local(node)[1].startswith(prefix)}
        return {**draw.right, **put}


def edits_of(
    holdings: Holdings,
    ranks: Sequence[Graph],
    asked: Asked,
    lying: Mapping[str, Found],
    deadline: float | None,
) -> list[Edit]:
    """Up to three edits that put every output where it should be; the plainest near the loss first, and last the one
    that mends the outputs themselves. `ranks` are the graphs as captured, with their collectives; `lying` says how the
    failing outputs lie on them."""
    limit = time.thread_time() + _SECONDS
    before = asked.placed(ranks, [])
    if _all(asked, before):                                # what fails is nothing that a value shows
        return []
    partly = list[RankEdit]()

    def holds(edit: RankEdit) -> RankEdit | None:
        after = asked.placed(ranks, [edit])
        if not _all(asked, after) and after > before:
            partly.append(edit)
        return edit if _all(asked, after) else None

    last = next((edit for edit in at_outputs(lying, ranks) if _all(asked, asked.placed(ranks, [edit]))), None)
    limits = Limits(_EDITS - (last is not None), limit, deadline)
    candidates = () if last and len(lying) == 1 else _candidates(holdings, ranks, lying)
    found = [edit for edit, _ in tried(candidates, limits, holds)] + ([last] if last else [])
    found = found or _together(partly, ranks, asked, before)
    return [Edit(edit.words, Site("ranks", edit.site.name, edit.site.operator, edit.site.origin), "values")
            for edit in found]


def _all(asked: Asked, placed: set[str]) -> bool:
    return len(placed) == len(asked.roots)


def _together(edits: Sequence[RankEdit], ranks: Sequence[Graph], asked: Asked, before: set[str]) -> list[RankEdit]:
    """Edits that each mend some outputs, one after the other, until all are mended."""
    chosen: list[RankEdit] = []
    for edit in edits:
        after = asked.placed(ranks, [*chosen, edit])
        if after > before:
            chosen.append(edit)
            before = after
        if _all(asked, before):
            return [replace(chosen[0], words=" and ".join(edit.words for edit in chosen))]
    return []


# ---------------------------------------------------------------------------------------------------------- at outputs


def at_outputs(lying: Mapping[str, Found], ranks: Sequence[Graph]) -> Iterator[RankEdit]:
    """What the failing outputs lack, in all of them at once: to be added up, or divided."""
    kinds = {found.kind for found in lying.values()}
    subject, it = (f"{_listed(list(lying))} is", "it") if len(lying) == 1 else (f"{_listed(list(lying))} are", "them")
    if kinds == {"partial"}:
        for op, words in REDUCTIONS:
            for group in _groups(ranks):
                words_ = f"{subject} {words} {_spoken(group, len(ranks))} before the ranks return {it}"
                yield from _on_roots(words_, list(lying), ranks, partial(_then_reduce, op, group, len(ranks)))
    factors = {found.factor for found in lying.values()}
    if kinds == {"scaled"} and len(factors) == 1:
        by = 1 / factors.pop()
        operator, number, words = (
            ("aten.div.Scalar", by.numerator, "divided") if by.denominator == 1 else
            ("aten.mul.Scalar", float(1 / by), "multiplied")
        )
        words = f"{subject} {words} by {number}"
        yield from _on_roots(words, list(lying), ranks, lambda: _followed(operator, number, 0))


def _on_roots(
    words: str, names: Sequence[str], ranks: Sequence[Graph], make: Callable[[], Make]
) -> Iterator[RankEdit]:
    roots = [{node: name for name, node in graph.roots if name in names} for graph in ranks]
    if any(roots):
        site = next(node for nodes in roots for node in nodes)

        def apply(graph: Graph, rank: int) -> Graph:
            own = {node.name for node in roots[rank]}
            return rewritten(graph, lambda node, now: make()(now, rank) if node.name in own else [now])

        yield RankEdit(words, site, apply)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


# -------------------------------------------------------------------------------------------------------- at operators


@dataclass(frozen=True, slots=True)
class Place:
    """One operator of a rank, as makers of edits see it: the number of ranks, groups in which they meet, numbers that
    outputs are off by, and sequential tensors that divide."""

    node: Node
    graph: Graph
    ranks: int
    groups: Sequence[tuple[int, ...]]
    factors: Sequence[int]
    divisors: Sequence[Node]


Edits = Iterator[tuple[str, Make] | tuple[str, Make, Mapping[str, Node]]]


def _candidates(holdings: Holdings, ranks: Sequence[Graph], lying: Mapping[str, Found]) -> Iterator[RankEdit]:
    """Edits at the operators of ranks that are related to nothing, and at what they read; one at a time, and at all
    that a line made."""
    places = [place for members in holdings.programs for place in _places(holdings, ranks, members, lying)]
    places.sort(key=partial(_distance, holdings.first_strange()))
    tried = set[Any]()
    for maker in MAKERS:
        for members, place in places:
            twins = [other for other in place.graph.nodes if _same_line(place.node, other)]
            for words, make, *taken in maker(place):
                for nodes in ([place.node], twins) if len(twins) > 1 else ([place.node],):
                    everywhere = f", in all {len(twins)} places where the line runs" if len(nodes) > 1 else ""
                    if len(members) == 1 and maker is on_one_rank:
                        continue                           # a rank of its own is none of several that add up
                    told = words.replace(place.node.name, ""), *(node.name for node in nodes)
                    if told in tried:
                        continue
                    tried.add(told)
                    apply = partial(_applied, {node.name for node in nodes}, members, make)
                    yield RankEdit(words + everywhere, place.node, apply, *taken)
    for members in holdings.programs:
        yield from _messages(ranks[members[0]], members)
    for members, place in places:
        yield from _ordinary(holdings, place, members)


def _distance(strange: Node | None, where: tuple[tuple[int, ...], Place]) -> tuple[bool, int]:
    """How far an operator is from the first of a rank that went astray: on that rank first, and the nearest."""
    members, place = where
    if strange is None:
        return False, 0
    rank, name = local(strange)
    at = {node.name: position for position, node in enumerate(place.graph.nodes)}
    return rank not in members, abs(at[place.node.name] - at.get(name, 0))


def _applied(names: set[str], members: Sequence[int], make: Make, graph: Graph, rank: int) -> Graph:
    if rank not in members:
        return graph
    return rewritten(graph, lambda node, now: make(now, rank) if node.name in names else [now])


def _places(
    holdings: Holdings, ranks: Sequence[Graph], members: tuple[int, ...], lying: Mapping[str, Found]
) -> Iterator[tuple[tuple[int, ...], Place]]:
    graph = ranks[members[0]]
    known = {local(node)[1] for node in holdings.known if local(node)[0] == members[0]}
    order = [node for node in graph.nodes if not node.is_source and not isinstance(node.type, tuple)]
    region = [node for node in order if node.name not in known][:_REGION]
    near = dict.fromkeys(part for node in region for part in (*node.inputs, node) if not part.is_source)
    groups = [group for group in _groups(ranks) if set(group) <= set(members)]      # others run something else
    off = [1 / found.factor for found in lying.values() if found.kind == "scaled"]
    factors = dict.fromkeys([*(len(group) for group in groups), *(int(by) for by in off if by.denominator == 1)])
    divisors = [node.args[1] for node in holdings.relating.left.nodes if packet(node) == "aten.div"]
    scalars = [node for node in divisors if isinstance(node, Node) and node.shape == ()]
    for node in order:
        if node in near:
            often = sum(_same_line(node, other) for other in graph.nodes)
            own = [n for n in dict.fromkeys((*factors, often)) if n > 1]
            yield members, Place(node, graph, len(ranks), groups, own, scalars)


def _same_line(a: Node, b: Node) -> bool:
    """Did one line make both, in one module, alike?"""
    return a is b or (
        a.operator == b.operator and bool(a.origin.file)
        and (a.type == b.type or a.operator.startswith("collective."))
        and list(map(type, a.args)) == list(map(type, b.args))
        and [part.operator for part in a.inputs] == [part.operator for part in b.inputs]
        and (a.origin.file, a.origin.line) == (b.origin.file, b.origin.line)
        and (a.origin.module == b.origin.module or a.operator.startswith("collective."))
    )


def _groups(ranks: Sequence[Graph]) -> list[tuple[int, ...]]:
    """All ranks, and the groups in which rank 0 meets others."""
    meets = (tuple(node.kwargs["group"]) for node in ranks[0].nodes if "group" in node.kwargs)
    return list(dict.fromkeys([tuple(range(len(ranks))), *meets]))


def _spoken(group: tuple[int, ...], ranks: int) -> str:
    return "over all ranks" if len(group) == ranks else f"over groups of {len(group)} ranks"


REDUCTIONS = (("sum", "summed"), ("avg", "averaged"))


def reduced(place: Place) -> Edits:
    """A reduction that is missing."""
    if _is_float(place.node) and place.node.operator != "collective.all_reduce":
        largest = packet(place.node) in ("aten.amax", "aten.max")
        for op, words in (("max", "replaced by the largest"),) if largest else REDUCTIONS:
            for group in place.groups:
                told = f"{place.node.name} is {words} {_spoken(group, place.ranks)}"
                yield told, _then_reduce(op, group, place.ranks)


def _then_reduce(op: str, group: tuple[int, ...], ranks: int) -> Make:
    def make(node: Node, rank: int) -> list[Node]:
        before = replace(node, name=f"{node.name}_before")
        own = _group_of(rank, group, ranks)
        kwargs = {"op": op, "group": own}
        return [before, Node(node.name, "collective.all_reduce", (before,), kwargs, node.type, node.origin)]

    return make


def _group_of(rank: int, group: tuple[int, ...], ranks: int) -> tuple[int, ...]:
    """The rank's own group, where groups are copies of this one of rank 0, shifted."""
    if rank in group or len(group) == ranks:
        return group
    return next((s for by in range(ranks) if rank in (s := tuple(member + by for member in group))), group)


def other_reduction(place: Place) -> Edits:
    """A mean for a sum, or no reduction, or over other ranks."""
    node = place.node
    if node.operator in ("collective.all_reduce", "collective.reduce_scatter"):
        op, name = "avg" if node.kwargs["op"] == "sum" else "sum", node.operator.removeprefix("collective.")
        yield f"the {name} takes the {op}", lambda n, _: [replace(n, kwargs={**n.kwargs, "op": op})]
    if node.operator == "collective.all_reduce":
        yield "there is no all_reduce", lambda n, _: [
            Node(n.name, "aten.clone.default", n.args[:1], {}, n.type, n.origin)
        ]
        for step in range(1, place.ranks):
            group = tuple(range(0, place.ranks, step))[: len(node.kwargs["group"])]
            if len(group) == len(node.kwargs["group"]) and group != tuple(node.kwargs["group"]):
                yield f"the all_reduce is over groups such as ranks {', '.join(map(str, group))}", _among(group, step)


def _among(group: tuple[int, ...], step: int) -> Make:
    """The same collective, over groups of ranks that are `step` apart."""

    def make(node: Node, rank: int) -> list[Node]:
        block = rank // (step * len(group)) * step * len(group)
        own = tuple(block + rank % step + member for member in group)
        return [replace(node, kwargs={**node.kwargs, "group": own})]

    return make


def scaled(place: Place) -> Edits:
    """A factor: the number of ranks or of micro-batches, or what outputs are off by."""
    if _is_float(place.node):
        for size in place.factors:
            for operator, words in (("div", "divided"), ("mul", "multiplied")):
                told = ", the number of ranks" if size in map(len, place.groups) else ""
                yield f"{place.node.name} is {words} by {size}{told}", _followed(f"aten.{operator}.Scalar", size, 0)


def other_divisor(place: Place) -> Edits:
    """A loss that is divided by a count of its own, where the sequential program divides by that of the whole."""
    if packet(place.node) != "aten.div" or place.node.shape != ():
        return
    if any(place.node in other.inputs and packet(other) == "aten.div" for other in place.graph.nodes):
        return
    for divisor in place.divisors:
        told = f"{place.node.name} divides by the {divisor.name} of the whole batch ({divisor.origin}), not by its own"
        yield told, _divided(divisor), {f"{divisor.name}_of_all_": divisor}


def _divided(by: Node) -> Make:
    """What was divided, by a number of the sequential program, and by nothing else."""

    def make(node: Node, rank: int) -> list[Node]:
        inner = node
        while packet(inner) == "aten.div":
            inner = inner.inputs[0]
        given = Node(f"{by.name}_of_all_{node.name}", "input", (), {}, by.type, by.origin)
        return [given, Node(node.name, "aten.div.Tensor", (inner, given), {}, node.type, node.origin)]

    return make


def on_one_rank(place: Place) -> Edits:
    """A bias or another tensor that each rank adds before they sum."""
    if packet(place.node) in ("aten.add", "aten.addmm"):
        for at, part in enumerate(place.node.args[:2]):
            if isinstance(part, Node) and _is_float(part):
                yield f"{part.origin.parameter or part.name} is added on rank 0 only", _only_first(at)


def _only_first(place: int) -> Make:
    def make(node: Node, rank: int) -> list[Node]:
        if rank == 0:
            return [node]
        part = node.args[place]
        nothing = Node(f"{node.name}_nothing", "aten.mul.Scalar", (part, 0), {}, part.type, node.origin)
        return [nothing, replace(node, args=(*node.args[:place], nothing, *node.args[place + 1 :]))]

    return make


def shifted(place: Place) -> Edits:
    """Positions that should start at the rank's own offset, or from 0."""
    node = place.node
    if node.type.dtype == "int64" and node.shape:                                          # type: ignore[union-attr]
        for size in dict.fromkeys(node.shape):
            yield f"{node.name} starts at rank · {size}", _followed("aten.add.Scalar", 0, size)
            yield f"{node.name} starts {size} earlier on each rank", _followed("aten.sub.Scalar", 0, size)


def other_dimension(place: Place) -> Edits:
    """A collective over another dimension."""
    node = place.node
    if "dim" in node.kwargs and node.operator.startswith("collective."):
        for dim in range(len(node.shape)):
            if dim != node.kwargs["dim"]:
                words = f"{node.operator.removeprefix('collective.')} over dimension {dim}"
                yield words, _over(dim)


def _over(dim: int) -> Make:
    return lambda node, _: [replace(node, kwargs={**node.kwargs, "dim": dim})]


MAKERS: tuple[Callable[[Place], Edits], ...] = (
    other_divisor, other_reduction, on_one_rank, reduced, scaled, shifted, other_dimension
)


def _followed(operator: str, number: float, by_rank: int) -> Make:
    """The node, then an operator with a number: so much, and so much more for each rank."""

    def make(node: Node, rank: int) -> list[Node]:
        before = replace(node, name=f"{node.name}_before")
        return [before, Node(node.name, operator, (before, number + rank * by_rank), {}, node.type, node.origin)]

    return make


def _is_float(node: Node) -> bool:
    return not isinstance(node.type, tuple) and node.type.dtype.startswith(("float", "bfloat"))


def _messages(graph: Graph, members: tuple[int, ...]) -> Iterator[RankEdit]:
    """Messages to one rank in the reverse order."""
    sends: dict[Any, list[Node]] = {}
    for node in graph.nodes:
        if node.operator == "collective.send":
            sends.setdefault((node.kwargs["peer"], node.inputs[0].type), []).append(node)
    for (peer, _), nodes in sends.items():
        if len(nodes) > 1:
            words = f"rank {members[0]} sends its {len(nodes)} messages to rank {peer} in the reverse order"
            yield RankEdit(words, nodes[0], partial(_reversed, {node.name for node in nodes}, members))


def _reversed(names: set[str], members: tuple[int, ...], graph: Graph, rank: int) -> Graph:
    """The graph with these messages sent where the last of them was, the last one first."""
    if rank not in members:
        return graph
    sends = [node for node in graph.nodes if node.name in names]
    nodes: list[Node] = []
    for node in graph.nodes:
        if node is sends[-1]:
            nodes += sends[::-1]
        elif node not in sends:
            nodes.append(node)
    return replace(graph, nodes=tuple(nodes))


def _ordinary(holdings: Holdings, place: Place, members: tuple[int, ...]) -> Iterator[RankEdit]:
    """Mistakes that have nothing to do with ranks: those that `edits` knows."""
    prefix, left = f"r{members[0]}.", holdings.relating.left
    own = {name.removeprefix(prefix): value for name, value in holdings.values[1][0].items() if name.startswith(prefix)}
    lost = [node for node in left.nodes if not holdings.of(node)][:_REGION]
    hints = Hints(place.graph, own, [], lost, left, holdings.values[0][0])
    for change in changes(place.node, hints) if not place.node.operator.startswith("collective.") else ():
        if not change.taken:
            names = {node.name for node in (change.node, *change.twins)}
            apply = partial(_applied, names, members, _regardless(change))
            yield RankEdit(change.description, change.node, apply)


def _regardless(change: Change) -> Make:
    return lambda node, rank: change.make(node)
