"""Diagnose: where two programs part, and the smallest edit that would rejoin them.

The divergent region of a side is what the differing root reads, back to the tensors whose values still agree with
the other side. The first divergence is the region's earliest operator. The edit is found by trying: each operator
of either region is changed in one place (a number, an activation, an axis, an order, a bound, a missing factor,
bias or cap), the side runs again, and an edit counts only if every root agrees on every draw. No side is presumed
right: edits are tried on both, and reported with the line they apply to. Values find an edit; where the edited
program can then be proved the same, the report says so.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import torch

from samesame.diagnose.change import Change, Hints, packet
from samesame.diagnose.edits import changes
from samesame.diagnose.glance import NEAR, Glance
from samesame.diagnose.tried import Limits, tried
from samesame.evidence import Divergence, Edit, Effect, Rung, SamesameError, Site
from samesame.graph import Graph, Node, TensorType, rewritten, with_roots
from samesame.operators.execute import Value, closed, elements, execute, few_threads, rerun, sizes
from samesame.operators.kept import Over, Part
from samesame.relate.candidates import MOVES
from samesame.relate.draws import Draw
from samesame.relate.kinds import kind_of
from samesame.relate.layout import wholes
from samesame.relate.propose import Proposer, Values, agree, difference, reals
from samesame.relate.relating import Relating, relate
from samesame.relate.sized import closed_values

SPLITS = frozenset(("aten.split", "aten.split_with_sizes", "aten.chunk", "aten.unbind"))

_REGION = 60
_TRIES = 1000
_NEAR = 8
_FOUND = 3                   # steps earlier for a change that makes what the other side has
_EDITS = 3
_SHOWN = 4
_SECONDS = 20.0              # of this thread's time, as the next, so that a busy machine finds no less
_PLAIN = 2                   # rank of a change that is tried before configs are
_MORE = 1.5                  # for other edits, once there is one
_PROVING = 4.0               # for the proofs of all edits together


Configs = Callable[[tuple[Site | None, Site | None], float], list[Edit]]


def diagnose(
    relating: Relating,
    values: tuple[Values, Values],
    taken: Sequence[Draw],
    deadline: float | None = None,
    configs: Configs | None = None,
) -> tuple[Divergence | None, list[Edit]]:
    """The first divergence and up to three edits that rejoin the roots, smallest first. `configs` is what to try where
    no plain edit does: edits of the configs that the programs were made from, given where they part and a deadline."""
    with few_threads(chain(sizes(relating.left), sizes(relating.right))):
        return _Search(relating, values, taken, deadline).result(configs)


def effect_of(graphs: tuple[Graph, Graph], values: tuple[Values, Values]) -> Effect:
    """How far the first differing root is apart on the example; for logits also in log-probabilities and in
    choices.
    """
    (name, left), (_, right) = next(
        (
            pair
            for pair in zip(graphs[0].roots, graphs[1].roots, strict=True)
            if not _same(values, pair[0][1], pair[1][1])
        ),
        (graphs[0].roots[0], graphs[1].roots[0]),
    )
    a, b = reals(values[0][0][left.name], values[1][0][right.name])
    gap = (a - b).abs()
    gap = gap[torch.isfinite(gap)]
    effect = Effect(float(gap.max()) if gap.numel() else 0.0, float(gap.mean()) if gap.numel() else 0.0)
    if math.isinf(difference(a, b)):
        return Effect(math.inf, math.inf)
    if "logits" not in name or a.dim() < 2:
        return effect
    log_prob = (torch.log_softmax(a, -1) - torch.log_softmax(b, -1)).abs().max()
    changed = a.argmax(-1) != b.argmax(-1)
    return replace(
        effect, max_log_prob_change=float(log_prob), argmax_changed=int(changed.sum()), argmax_total=changed.numel()
    )


def _same(values: tuple[Values, Values], left: Node, right: Node) -> bool:
    return all(agree(a[left.name], b[right.name]) for a, b in zip(*values, strict=True))


@dataclass(frozen=True, slots=True)
class _Side:
    """One side during the search: its graph, its runs, and the part that has left the other side's values."""

    name: str
    graph: Graph
    values: Values
    sources: list[Mapping[str, torch.Tensor]]
    region: list[Node]
    agreeing: list[Node]
    glance: Glance | None

    def places(self) -> list[tuple[Node, bool]]:
        """Where to try changes, first to last: the region's operators, and what they read that still agrees."""
        region = self.region[:_REGION]
        read = {above for node in region for part in node.inputs for above in _unmoved(part)} - set(self.region)
        return [(node, node in read) for node in self.graph.nodes if node in read or node in region]


def _unmoved(node: Node) -> Iterator[Node]:
    """The tensor, what it only rearranges, and so on up."""
    while True:
        yield node
        if node.is_source or (packet(node) not in MOVES and node.operator not in MOVES) or len(node.inputs) != 1:
            return
        node = node.inputs[0]


_Row = tuple[int, int, Change, _Side, _Side]               # how early, rank, change; its side, and the other


class _Search:
    """One search. Constants are taken for right at first: they part all the time in how they are made, and seldom in
    value.
    """

    def __init__(
        self, relating: Relating, values: tuple[Values, Values], taken: Sequence[Draw], deadline: float | None
    ) -> None:
        self.relating, self.values, self.taken = relating, values, taken
        self.deadline = math.inf if deadline is None else deadline
        self.limits = Limits(_EDITS, time.thread_time() + _SECONDS, deadline, _TRIES, _MORE)
        pairs = zip(relating.left.roots, relating.right.roots, strict=True)
        self.apart = [(a, b) for (_, a), (_, b) in pairs if not _same(values, a, b)]
        self.proposers = [self._proposer(0), self._proposer(1)]
        self.glances = [self._glance(0), self._glance(1)]
        self.tried: set[tuple[str, frozenset[Node]]] = set()
        self.sides = self._both(constants=False)

    def _proposer(self, k: int) -> Proposer:
        graph = (self.relating.left, self.relating.right)[k]
        return Proposer(self.values[k], elements(graph.nodes))

    def _both(self, *, constants: bool) -> tuple[_Side, _Side]:
        return (
            self._side("left", self.relating.left, 0, [d.left for d in self.taken], constants),
            self._side("right", self.relating.right, 1, [d.right for d in self.taken], constants),
        )

    def _side(
        self, name: str, graph: Graph, k: int, sources: list[Mapping[str, torch.Tensor]], constants: bool
    ) -> _Side:
        """Walk back from the differing roots through tensors that no tensor of the other side agrees with."""
        names = {name for _, layout, _ in self.relating.related.values() for name in wholes(layout)}
        related = {*self.relating.related} if k else {node for node in graph.nodes if node.name in names}
        fixed = frozenset() if constants else closed(graph)
        region: set[Node] = set()
        agreeing: dict[Node, None] = {}
        stack = [pair[k] for pair in self.apart]
        roots = set(stack)
        while stack:
            node = stack.pop()
            if node in region or node in agreeing:
                continue
            met = node in related or node.is_source or node.name in fixed or self._meets(k, node, graph)
            if met and node not in roots:
                agreeing[node] = None
            else:
                region.add(node)
                stack.extend(node.inputs)
        ordered = [node for node in graph.nodes if node in region]
        return _Side(name, graph, self.values[k], sources, ordered, [n for n in graph.nodes if n in agreeing],
                     self.glances[k])

    def _glance(self, k: int) -> Glance | None:
        """At changes of a side, by the first output that is apart; None where none is."""
        graph, own, other = (self.relating.left, self.relating.right)[k], self.values[k][0], self.values[1 - k][0]
        for pair in self.apart:
            wanted = other[pair[1 - k].name]
            return Glance(graph, own, pair[k], wanted) if isinstance(wanted, torch.Tensor) else None
        return None

    def _meets(self, k: int, node: Node, graph: Graph) -> bool:
        """Is the tensor on the other side too, as one or in pieces?"""
        if self._candidates(k, node):
            return True
        cuts = [n for n in graph.nodes if packet(n) in SPLITS and n.args[0] is node and isinstance(n.type, tuple)]
        return any(self._has_pieces(k, cut) for cut in cuts[:1])

    def _has_pieces(self, k: int, cut: Node) -> bool:
        """Are all the pieces on the other side?"""
        assert isinstance(cut.type, tuple)
        runs = [{str(p): piece for p, piece in enumerate(run[cut.name])} for run in self.values[k]]
        other = self.proposers[1 - k]
        return all(other.candidates(runs, str(p), kind.shape) for p, kind in enumerate(cut.type))

    def _candidates(self, k: int, node: Node) -> bool:
        if isinstance(node.type, tuple):
            return False
        return bool(self.proposers[1 - k].candidates(self.values[k], node.name, node.shape))

    def result(self, configs: Configs | None) -> tuple[Divergence | None, list[Edit]]:
        if not any(side.region for side in self.sides):
            return None, []
        plain, whole = self.sides, self._both(constants=True)
        constants = self._constants_part()
        for kind in [*([] if configs is None else ["configs", "plain"][:: 1 if constants else -1]), "any"]:
            if kind == "configs" and configs is not None:
                self.sides = plain
                sites = self._sites()
                edits = configs(sites, self.deadline)
                if edits:
                    return Divergence(*sites, self._still_agreeing(sites[1])), edits
                continue
            for sides in (whole, plain) if constants else (plain, whole):
                self.sides = sides
                edits = self._edits(_PLAIN if kind == "plain" else math.inf)
                if edits:
                    return self._divergence(edits[0]), edits
        self.sides = plain
        return self._divergence(None), []

    def _constants_part(self) -> bool:
        """Does the first operator that parts read a constant that the other side does not have?"""
        for k, side in enumerate(self.sides):
            constants = closed(side.graph)
            read = [part for node in side.region[:1] for part in node.inputs if part.name in constants]
            if any(part.shape and not self._candidates(k, part) for part in read):
                return True
        return False

    def _divergence(self, edit: Edit | None) -> Divergence:
        left, right = self._sites()
        if edit is not None:
            other = edit.counterpart
            left, right = (edit.site, other or right) if edit.site.side == "left" else (other or left, edit.site)
        return Divergence(left, right, self._still_agreeing(right))

    def _sites(self) -> tuple[Site | None, Site | None]:
        """The first operator of each side that parts."""
        left, right = (_site(side, side.region[0]) if side.region else None for side in self.sides)
        return left, right

    def _still_agreeing(self, site: Site | None) -> tuple[str, ...]:
        """What the right operator reads that still agrees with the left side, or else the edge of the region."""
        right = self.sides[1]
        read = [] if site is None else right.graph[site.node].inputs
        met = [node for node in right.agreeing if node.name not in self.relating.inputs.unpaired_right]
        shown = [node for node in met if node in read] or met
        return tuple(f"{node.name} ({node.origin})" if node.origin.file else node.name for node in shown[:_SHOWN])

    def _edits(self, highest: float) -> list[Edit]:
        """Changes up to this rank that rejoin every root on every draw; the earliest operators and the plainest changes
        first."""
        found: list[tuple[int, Edit]] = []
        proving = math.inf

        def holds(row: _Row) -> list[Mapping[str, Value]] | None:
            early, _, change, side, other = row
            what = (change.description, frozenset([change.node, *change.twins]))
            if what in self.tried or early > highest:
                return None
            self.tried.add(what)
            return self._rejoins(side, other, change)

        for (_, rank, change, side, other), runs in tried(self._interleaved(), self.limits, holds, lambda row: row[1]):
            proving = proving if found else time.thread_time() + _PROVING
            counterpart = self._counterpart(side, other, change, runs)
            edit = Edit(
                change.description,
                _site(side, change.node),
                "proved" if self._is_proved(side, change, proving) else "values",
                None if counterpart is None else _site(other, counterpart),
            )
            found.append((rank, edit))
        return [edit for _, edit in sorted(found, key=lambda row: row[0])]

    def _is_proved(self, side: _Side, change: Change, limit: float) -> bool:
        """Are all roots proved the same once the side is edited? What was proved before serves again as rules.

        An edit that takes a tensor from the other side is no program of its own, and cannot be; nor can one that rests
        on a kernel that was only tested.
        """
        tested = any(relation.evidence.rung is Rung.TESTED for relation in self.relating.relations())
        if change.taken or tested:
            return False
        edited, k = apply(side.graph, change), 0 if side.name == "left" else 1
        read = set(with_roots(edited, edited.roots).nodes)     # what nothing reads any more may fail
        edited = replace(edited, nodes=tuple(node for node in edited.nodes if node.is_source or node in read))
        graphs: list[Graph] = [self.relating.left, self.relating.right]
        values: list[Any] = list(self.values)
        values[k] = [execute(edited, sources) for sources in side.sources]
        graphs[k] = _as_run(edited, values[k][0])
        left, right = graphs
        prover = replace(self.relating.prover, deadline=self.deadline, until=limit, patience=math.inf)
        constants = closed_values(left, values[0]), closed_values(right, values[1])
        held = {node.name for node in left.nodes}           # an edit may leave a weight without a use
        known = self.relating.inputs
        layouts = {name: layout for name, layout in known.layouts.items() if held.issuperset(wholes(layout))}
        again = relate(left, right, replace(known, layouts=layouts), (values[0], values[1]), constants, prover)
        roots = [again.root_evidence(a, b) for (_, a), (_, b) in zip(left.roots, right.roots, strict=True)]
        rungs = [Rung.UNDECIDED if evidence is None else evidence.rung for evidence in roots]
        return min([*rungs, *(relation.evidence.rung for relation in again.relations())]) >= Rung.PROVED_HERE

    def _interleaved(self) -> Iterator[_Row]:
        """Every change of both sides, the right one's and the left one's in turn; what is plain and early first.

        A mistake is mostly near the first operators that part, so a few operators further on count as much as a change
        that is less plain. A change comes earlier if what it makes of tensors that agree is found on the other side.
        """
        left, right = self.sides
        rows: list[tuple[int, int, int, int, Change, _Side, _Side]] = []
        for order, (side, other) in enumerate(((right, left), (left, right))):
            hints = Hints(
                side.graph, side.values[0], side.agreeing, other.region[:_REGION], other.graph, other.values[0]
            )
            seen = _Seen(side, other)
            for place, (node, agreeing) in enumerate(side.places()):
                if self.limits.over():
                    return
                for change in changes(node, hints, agreeing=agreeing):
                    rank = change.cost + place // _NEAR
                    rows.append((rank - _FOUND * seen.has(change), place, order, rank, change, side, other))
        rows.sort(key=lambda row: row[:3])
        yield from ((row[0], *row[3:]) for row in rows)

    def _rejoins(self, side: _Side, other: _Side, change: Change) -> list[Mapping[str, Value]] | None:
        """The runs of the changed side if all its roots agree on every draw, else None. Most changes part at the first
        root on the first draw, which a glance sees, so no more is run before that is known."""
        sources = [
            Over({name: other.values[draw][node.name] for name, node in change.taken.items()}, given)
            for draw, given in enumerate(side.sources)
        ]
        if side.glance is not None and side.glance.parts(change, sources[0]):
            return None
        graph, base = apply(side.graph, change), set(side.graph.nodes)
        unchanged = [node.name for node in graph.nodes if node in base]
        whole = not closed(graph) <= set(unchanged)          # a constant is made anew, in its own precision
        done: list[Mapping[str, Value]] = []
        for (_, root), (_, wanted) in zip(graph.roots, other.graph.roots, strict=True):
            for draw, values in enumerate(sources):
                try:
                    if draw == len(done):
                        known = Part(side.values[draw], unchanged)
                        done.append(execute(graph, values) if whole else known)
                    done[draw] = rerun(graph, values, done[draw], _above(graph, root, done[draw]))
                except SamesameError:
                    return None
                value = done[draw][root.name]
                if not isinstance(value, torch.Tensor) or not agree(value, other.values[draw][wanted.name], NEAR):
                    return None
        return done

    def _counterpart(self, side: _Side, other: _Side, change: Change, runs: list[Mapping[str, Value]]) -> Node | None:
        """The operator of the other side that does what the change makes this one do: the first whose result is now
        found on this side, or else one that the change was made after, or one like it."""
        graph, base = apply(side.graph, change), set(side.graph.nodes)
        proposer = Proposer(other.values, elements(other.region))
        for node in graph.nodes:
            if node not in base and all(isinstance(run.get(node.name), torch.Tensor) for run in runs):
                found = {name for name, _ in proposer.candidates(runs, node.name, node.shape)}  # type: ignore[arg-type]
                if found:
                    return next(n for n in other.graph.nodes if n.name in found)
        if change.counterpart is not None:
            return change.counterpart
        same = [node for node in other.region[:_NEAR] if node.operator == change.node.operator]
        return next(iter(same or other.region), None)


class _Seen:
    """What the other side's region holds, to look up what a change would make of tensors that agree."""

    def __init__(self, side: _Side, other: _Side) -> None:
        self.side, self.draw = side, min(1, len(side.values) - 1)
        run = other.values[self.draw]
        self.proposer = Proposer([run], elements(other.region))
        self.met = {*side.agreeing, *(node for node in side.graph.nodes if node.is_source)}

    def has(self, change: Change) -> bool:
        """Is what the changed operator makes there on the other side? Looked up only where all that it reads is."""
        if change.taken:
            return False
        made = change.make(change.node)
        read = {part for node in made for part in node.inputs} - set(made)
        if not read <= self.met or not any(not part.is_source for part in read):
            return False
        values = self.side.values[self.draw]
        known = {part.name: values[part.name] for part in read}
        try:
            value = rerun(self.side.graph, {}, known, made)[made[-1].name]
        except SamesameError:
            return False
        if not isinstance(value, torch.Tensor):
            return False
        return bool(self.proposer.candidates([{"": value}], "", tuple(value.shape)))


def _above(graph: Graph, root: Node, known: Mapping[str, Value]) -> list[Node]:
    """What is needed for the root and not known yet, in order."""
    needed: set[Node] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node not in needed and node.name not in known:
            needed.add(node)
            stack.extend(node.inputs)
    return [node for node in graph.nodes if node in needed]


def apply(graph: Graph, change: Change) -> Graph:
    """The graph with the changed nodes' replacements in their places; whatever read a node reads the last of them.

    Sources come first, for a replacement may read one that is first used further on."""
    changed = {change.node, *change.twins}
    graph = replace(graph, nodes=tuple(sorted(graph.nodes, key=lambda node: not node.is_source)))
    return rewritten(graph, lambda node, current: change.make(current) if node in changed else [current])


def _as_run(graph: Graph, run: Mapping[str, Any]) -> Graph:
    """The graph with the shapes and kinds that a run of it gave: an edit may have changed them."""

    def typed(_: Node, node: Node) -> list[Node]:
        value = run[node.name]
        if not isinstance(value, torch.Tensor) or not isinstance(node.type, TensorType):
            return [node]
        dtype, now = node.type.dtype, str(value.dtype).removeprefix("torch.")
        if kind_of(dtype) in ("int", "bool") or kind_of(dtype) != kind_of(now):      # reals of a run are wider
            dtype = now
        return [replace(node, type=TensorType(tuple(value.shape), dtype))]

    return rewritten(graph, typed)


def _site(side: _Side, node: Node) -> Site:
    """An operator as the report names it: one that only rearranges, on no line of the program, is named by what it
    rearranges."""
    while node.operator == "getitem" or (
        not node.origin.file and (packet(node) in MOVES or node.operator in MOVES) and len(node.inputs) == 1
    ):
        node = node.inputs[0]
    return Site(side.name, node.name, node.operator, node.origin)
