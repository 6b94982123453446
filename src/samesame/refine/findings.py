"""Findings: where the ranks lose the sequential program, and the smallest edit that would mend it.

A sequential tensor is *held* when the ranks have it in a clean way: on each of them, in pieces, or as the sum over
ranks of what each has. The loss is the first sequential operator that is not held although everything it reads is,
among those that a failing output depends on. What it reads as a sum tells most: a reduction is missing there.

An edit is tried on all ranks' graphs at once, at the operators around the loss: reduce here, do not reduce there, a
mean for a sum, divide by the number of ranks, gather or scatter another dimension, shift a position by the rank's
offset. The world is made anew and run, and an edit counts only if every output then is where it should be, on every
draw.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from samesame.capture.world import world
from samesame.evidence import Edit, Loss, SamesameError, Site
from samesame.execute import closed, execute
from samesame.graph import Graph, Node, rewritten
from samesame.operators.defaults import with_defaults
from samesame.refine.outputs import declared, output_relation
from samesame.refine.placement import holders
from samesame.relate.draws import Draw
from samesame.relate.layout import Layout, Slice, Whole
from samesame.relate.propose import Proposer, Values
from samesame.relate.relating import MOVES, Relating
from samesame.relate.world import IDENTITIES

_REGION = 40                # operators of a rank around the loss at which edits are tried
_EDITS = 3
SUM = "the sum over ranks"
_SECONDS = 20.0


def local(node: Node) -> tuple[int, str]:
    """The rank of a node of the world, and its name there."""
    rank, _, name = node.name.partition(".")
    return int(rank.removeprefix("r")), name


@dataclass(slots=True)
class Holdings:
    """What the ranks hold of the sequential tensors, in words; and which of the ranks' tensors are summands."""

    relating: Relating
    values: tuple[Values, Values]
    pieces: dict[int, list[Layout]] = field(default_factory=lambda: defaultdict(list))
    summands: dict[str, list[Node]] = field(default_factory=dict)
    sums: Proposer | None = None

    def __post_init__(self) -> None:
        for right, (left, layout, _) in self.relating.related.items():
            if right.name.startswith("r"):
                self.pieces[self._class(left)].append(layout)
        by_name: dict[str, list[Node]] = defaultdict(list)
        for node in self.relating.right.nodes:
            if not node.is_source and not isinstance(node.type, tuple) and node.name.startswith("r"):
                by_name[local(node)[1]].append(node)
        ranks = max((len(nodes) for nodes in by_name.values()), default=0)
        totals: list[dict[str, torch.Tensor]] = [{} for _ in self.values[1]]
        for name, nodes in by_name.items():
            floats = all(node.type.dtype.startswith("float") for node in nodes)            # type: ignore[union-attr]
            if len(nodes) == ranks > 1 and floats and len({node.shape for node in nodes}) == 1:
                self.summands[name] = nodes
                for total, run in zip(totals, self.values[1], strict=True):
                    total[name] = torch.stack([run[node.name] for node in nodes]).sum(0)
        self.sums = Proposer(totals, list(self.summands))

    def _class(self, left: Node) -> int:
        world = self.relating.world
        return world.egraph.find(world.term[left])

    def of(self, left: Node) -> str:
        """What the ranks hold of a sequential tensor, in words; nothing where they do not hold it."""
        if left.is_source:
            return "given"
        found = self.pieces.get(self._class(left), [])
        if any(map(_is_whole, found)):
            return "on the ranks as it is"
        if found:
            return "in pieces on the ranks"
        if isinstance(left.type, tuple):
            return "several results"
        if (name := self.sum_of(left)) is not None:
            return f"{SUM} of {name}"
        return ""

    def sum_of(self, left: Node) -> str | None:
        """The local name of tensors whose sum over ranks it is."""
        if self.sums is None or isinstance(left.type, tuple):
            return None
        found = self.sums.candidates(self.values[0], left.name, left.shape)
        return found[0][0] if found else None


def _is_whole(layout: Layout) -> bool:
    while not isinstance(layout, Whole):
        if isinstance(layout, Slice) or not hasattr(layout, "part"):
            return False
        layout = layout.part
    return True


def loss_of(relating: Relating, values: tuple[Values, Values], failing: Sequence[Node]) -> Loss | None:
    """The first sequential operator that the ranks lose, on the way to the failing outputs."""
    holdings = Holdings(relating, values)
    constants = closed(relating.left)
    needed = _above(failing)
    held: dict[Node, str] = {}
    for node in relating.left.nodes:
        if node not in needed:
            continue
        told = "a constant" if node.name in constants else holdings.of(node)
        told = told or _moved(node, held)
        if not told and all(part in held for part in node.inputs):
            return _loss(node, held, holdings)
        if told:
            held[node] = told
    return next((_at_the_end(root, held) for root in failing if root in held), None)


def _at_the_end(root: Node, held: Mapping[Node, str]) -> Loss:
    """All is there, but an output is not in its place: a sum that nobody took, as a rule."""
    parts = dict.fromkeys(root.inputs)
    inputs = tuple(f"{part.origin.parameter or part.name}: {held.get(part, 'given')}" for part in parts)
    told = f"{root.name} is {held[root]}"
    instead = f"{told}: a reduction is missing before it is returned" if held[root].startswith(SUM) else told
    return Loss(Site("sequential", root.name, root.operator, root.origin), inputs, (instead,))


def _above(roots: Sequence[Node]) -> set[Node]:
    """The roots and everything they depend on."""
    found: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(node.inputs)
    return found


def _moved(node: Node, held: Mapping[Node, str]) -> str:
    """A movement of a held tensor is held as that is, and so is a cast."""
    moves = node.operator.rsplit(".", 1)[0] in MOVES | IDENTITIES
    return held[node.inputs[0]] if moves and node.inputs and all(part in held for part in node.inputs) else ""


def _loss(node: Node, held: Mapping[Node, str], holdings: Holdings) -> Loss:
    inputs, instead = [], []
    for part in dict.fromkeys(node.inputs):
        place = f" ({part.origin})" if part.origin.file or part.origin.module else ""
        inputs.append(f"{part.origin.parameter or part.name}{place}: {held[part]}")
        name = holdings.sum_of(part) if not part.is_source else None
        if name is not None and held[part].startswith(SUM):
            reader = _reader(holdings, name)
            where = f" before {local(reader)[1]} ({reader.origin})" if reader is not None else ""
            instead.append(f"{part.name} is the sum over ranks of {name}: a reduction is missing{where}")
    if not instead:
        strange = _first_strange(holdings)
        if strange is not None:
            rank, name = local(strange)
            instead.append(f"rank {rank} computes {name} ({strange.operator}, {strange.origin}) instead")
    return Loss(Site("sequential", node.name, node.operator, node.origin), tuple(inputs), tuple(instead))


def _reader(holdings: Holdings, name: str) -> Node | None:
    """The first operator of a rank that reads a summand."""
    summand = holdings.summands[name][0]
    return next((node for node in holdings.relating.right.nodes if summand in node.inputs), None)


def _first_strange(holdings: Holdings) -> Node | None:
    """The first tensor of a rank that is neither a piece of a sequential one nor a summand, with inputs that are."""
    relating = holdings.relating
    mine = [node.name for node in relating.left.nodes if isinstance(holdings.values[0][0].get(node.name), torch.Tensor)]
    wholes = Proposer(holdings.values[0], mine)
    constants = closed(relating.right)
    known: set[Node] = set()
    for node in relating.right.nodes:
        summand = node.name.startswith("r") and _is_summand(node, holdings, wholes)
        if node.is_source or node.name in constants or node in relating.related or summand:
            known.add(node)
        elif isinstance(node.type, tuple) or node.operator.rsplit(".", 1)[0] in MOVES:
            known |= {node} if all(part in known for part in node.inputs) else set()
        elif all(part in known for part in node.inputs):
            return node
    return None


def _is_summand(node: Node, holdings: Holdings, wholes: Proposer) -> bool:
    name = local(node)[1]
    if name not in holdings.summands or holdings.sums is None:
        return False
    totals = holdings.sums.left
    return bool(wholes.candidates(totals, name, tuple(totals[0][name].shape)))


# ---------------------------------------------------------------------------------------------------------------- edits


Make = Callable[[Node, int], list[Node]]        # what stands for a node of a rank, given the rank


@dataclass(frozen=True, slots=True)
class RankEdit:
    """A change at the operator of this name on every rank."""

    name: str
    words: str
    make: Make


def edits_of(
    relating: Relating,
    sequential: Graph,
    taken: Sequence[Draw],
    values: Values,
    ranks: Sequence[Graph],
    expected: Mapping[str, str],
    deadline: float | None,
) -> list[Edit]:
    """Up to three edits that put every output where it should be, on every draw; the plainest near the loss first.

    `values` are those of the `sequential` graph; `ranks` the graphs as captured, with their collectives.
    """
    limit = time.monotonic() + _SECONDS
    limit = limit if deadline is None else min(limit, deadline)
    search = _Search(taken, values, dict(sequential.roots), expected)
    found, partly = list[Edit](), list[RankEdit]()
    before = search.placed(ranks)
    for edit in _candidates(relating, ranks):
        if time.monotonic() > limit or len(found) >= _EDITS:
            break
        after = search.placed(_edited(ranks, [edit]))
        if len(after) == len(search.roots):
            found.append(_edit(edit, ranks))
        elif after > before:
            partly.append(edit)
    return found or _together(partly, ranks, search, before)


def _together(edits: Sequence[RankEdit], ranks: Sequence[Graph], search: _Search, before: set[str]) -> list[Edit]:
    """Edits that each mend some outputs, one after the other, until all are mended."""
    chosen: list[RankEdit] = []
    for edit in edits:
        after = search.placed(_edited(ranks, [*chosen, edit]))
        if after > before:
            chosen.append(edit)
            before = after
        if len(before) == len(search.roots):
            words = " and ".join(edit.words for edit in chosen)
            return [_edit(replace(chosen[0], words=words), ranks)]
    return []


def _edit(edit: RankEdit, ranks: Sequence[Graph]) -> Edit:
    node = next(node for graph in ranks for node in graph.nodes if node.name == edit.name)
    return Edit(edit.words, Site("ranks", node.name, node.operator, node.origin), "values")


def _edited(ranks: Sequence[Graph], edits: Sequence[RankEdit]) -> list[Graph]:
    made = {edit.name: edit.make for edit in edits}

    def put(graph: Graph, rank: int) -> Graph:
        return rewritten(graph, lambda node, now: made[node.name](now, rank) if node.name in made else [now])

    return [put(graph, rank) for rank, graph in enumerate(ranks)]


@dataclass(frozen=True, slots=True)
class _Search:
    """What an edit is measured by: the draws, the sequential program's values on them, and where outputs should be."""

    taken: Sequence[Draw]
    wanted: Values
    roots: Mapping[str, Node]
    expected: Mapping[str, str]

    def placed(self, ranks: Sequence[Graph]) -> set[str]:
        """The outputs that are where they should be on every draw."""
        try:
            right = with_defaults(world(ranks))
            runs: list[Any] = [execute(right, draw.right, keep=False) for draw in self.taken]
        except SamesameError:
            return set()
        theirs, found = dict(right.roots), set()
        for name, root in self.roots.items():
            _, where = holders(self.expected.get(name, ""), name, len(ranks))
            own = {rank: theirs[f"r{rank}.{name}"] for rank in where if f"r{rank}.{name}" in theirs}
            held = {rank: [run[node.name] for run in runs] for rank, node in own.items()}
            lies = output_relation([run[root.name] for run in self.wanted], held, len(ranks))
            if declared(lies, self.expected.get(name)):
                found.add(name)
        return found


def _candidates(relating: Relating, ranks: Sequence[Graph]) -> Iterator[RankEdit]:
    """Edits at the operators of a rank that lead to its outputs and are related to nothing, and at what they read."""
    first = ranks[0]
    groups = list(dict.fromkeys(
        [tuple(range(len(ranks))), *(tuple(n.kwargs["group"]) for n in first.nodes if "group" in n.kwargs)]
    ))
    related = {local(node)[1] for node in relating.related if node.name.startswith("r0.")}
    order = [node for node in first.nodes if not node.is_source and not isinstance(node.type, tuple)]
    region = [node for node in order if node.name not in related][:_REGION]
    near = dict.fromkeys(part for node in region for part in (*node.inputs, node) if not part.is_source)
    places = [node for node in order if node in near]
    for maker in MAKERS:
        for node in places:
            for words, make in maker(node, len(ranks), groups):
                yield RankEdit(node.name, words, make)


Edits = Iterator[tuple[str, Make]]
Groups = list[tuple[int, ...]]


def _spoken(group: tuple[int, ...], ranks: int) -> str:
    return "over all ranks" if len(group) == ranks else f"over groups of {len(group)} ranks"


def reduced(node: Node, ranks: int, groups: Groups) -> Edits:
    """A reduction that is missing."""
    if _is_float(node) and node.operator != "collective.all_reduce":
        for op, words in (("sum", "summed"), ("avg", "averaged")):
            for group in groups:
                yield f"{node.name} is {words} {_spoken(group, ranks)}", _then_reduce(op, group, ranks)


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


def other_reduction(node: Node, ranks: int, groups: Groups) -> Edits:
    """A mean for a sum, or no reduction."""
    if node.operator == "collective.all_reduce":
        op = "avg" if node.kwargs["op"] == "sum" else "sum"
        yield f"the all_reduce takes the {op}", lambda n, _: [replace(n, kwargs={**n.kwargs, "op": op})]
        yield "there is no all_reduce", lambda n, _: [
            Node(n.name, "aten.clone.default", n.args[:1], {}, n.type, n.origin)
        ]


def scaled(node: Node, ranks: int, groups: Groups) -> Edits:
    """A factor for the number of ranks."""
    if _is_float(node):
        for size in dict.fromkeys(len(group) for group in groups):
            for operator, words in (("div", "divided"), ("mul", "multiplied")):
                words = f"{node.name} is {words} by {size}, the number of ranks"
                yield words, _followed(f"aten.{operator}.Scalar", size, 0)


def on_one_rank(node: Node, ranks: int, groups: Groups) -> Edits:
    """A bias or another tensor that each rank adds before they sum."""
    if node.operator.rsplit(".", 1)[0] in ("aten.add", "aten.addmm"):
        for place, part in enumerate(node.args[:2]):
            if isinstance(part, Node) and _is_float(part):
                yield f"{part.origin.parameter or part.name} is added on rank 0 only", _only_first(place)


def _only_first(place: int) -> Make:
    def make(node: Node, rank: int) -> list[Node]:
        if rank == 0:
            return [node]
        part = node.args[place]
        nothing = Node(f"{node.name}_nothing", "aten.mul.Scalar", (part, 0), {}, part.type, node.origin)
        return [nothing, replace(node, args=(*node.args[:place], nothing, *node.args[place + 1 :]))]

    return make


def shifted(node: Node, ranks: int, groups: Groups) -> Edits:
    """Positions that should start at the rank's own offset, or from 0."""
    if node.type.dtype == "int64" and node.shape:                                          # type: ignore[union-attr]
        for size in dict.fromkeys(node.shape):
            yield f"{node.name} starts at rank · {size}", _followed("aten.add.Scalar", 0, size)
            yield f"{node.name} starts {size} earlier on each rank", _followed("aten.sub.Scalar", 0, size)


def other_dimension(node: Node, ranks: int, groups: Groups) -> Edits:
    """A collective over another dimension."""
    if "dim" in node.kwargs and node.operator.startswith("collective."):
        for dim in range(len(node.shape)):
            if dim != node.kwargs["dim"]:
                words = f"{node.operator.removeprefix('collective.')} over dimension {dim}"
                yield words, _over(dim)


def _over(dim: int) -> Make:
    return lambda node, _: [replace(node, kwargs={**node.kwargs, "dim": dim})]


MAKERS = (other_reduction, reduced, on_one_rank, scaled, shifted, other_dimension)


def _followed(operator: str, number: int, by_rank: int) -> Make:
    """The node, then an operator with a number: so much, and so much more for each rank."""

    def make(node: Node, rank: int) -> list[Node]:
        before = replace(node, name=f"{node.name}_before")
        return [before, Node(node.name, operator, (before, number + rank * by_rank), {}, node.type, node.origin)]

    return make


def _is_float(node: Node) -> bool:
    return not isinstance(node.type, tuple) and node.type.dtype.startswith(("float", "bfloat"))


