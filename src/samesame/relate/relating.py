"""The loop: walk the right graph from inputs to roots and relate each tensor to the left graph with evidence.

A tensor that congruence has already related costs nothing. Otherwise values propose left tensors, and the block
down to the frontier is the claim to decide. When it cannot be decided there, the frontier moves back: first
constants are looked into (that a mask is causal is a fact about how it was made), then the nearest tensors. What
stays unrelated is looked through by later blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import chain, count, islice, product, zip_longest
from types import MappingProxyType
from typing import Literal

import torch

from samesame.budget import Progress
from samesame.evidence import Evidence, Relation, Rung
from samesame.formula.assumptions import Assumption, Said, simplified
from samesame.formula.spans import ABOVE, ALL, Spans
from samesame.graph import Graph, Node
from samesame.operators.execute import elements, few_threads
from samesame.relate.assumed import Told, as_tested
from samesame.relate.at_infinity import infinite, is_written_alike, masked
from samesame.relate.blocks import Block, TooLarge, cut, tied_together
from samesame.relate.candidates import Candidates, distinct, moves_related, put_together
from samesame.relate.ignored_labels import classes_or_ignored
from samesame.relate.infinities import lying, spans_of
from samesame.relate.joint import SOURCES, JointGraph
from samesame.relate.layout import Concat, Layout, Whole, wholes
from samesame.relate.moved import Moved, takes_by_constants
from samesame.relate.of_a_sign import is_told, of_a_sign
from samesame.relate.parameters import NAME, PLACE, USE, InputRelation, relate_parameters
from samesame.relate.propose import Proposer, Proposes, Values, agree, difference
from samesame.relate.prove import FURTHER, GLANCE, Prover
from samesame.relate.sized import made_of_sizes

LARGEST, LARGEST_OF_ROOTS = 250, 1000    # operators in a claim, and in one about an output, which comes last
LARGEST_OF_RANKS = 1000                  # … in one that may add up what all ranks hold
_FRONTIERS = 6              # of one claim: twice constants are looked into, and else it moves back
SHORT, FRONTIERS_OF_SHORT = 12, 10       # operators in a claim whose frontier may move back more often
GENERAL, GENERAL_TIMES = 0.5, 3.0       # for a proof over symbols: seconds, and times what the guide's proof took
PAIRED = {
    "given": "given",
    "": "equal values of the loaded weights",
    NAME: "equal values that others have, too, and the same name",
    PLACE: "equal values that others have, too, and the same place among weights that values identify",
    USE: "equal values that others have, too, and the same use",
}
BY_USE = "weights that hold equal numbers are paired by use, not by name, as the relation above says"
Way = Callable[[Block, int], Evidence | None]        # for a block, and how often its frontier moved back
Claims = Callable[[Block], Block | None]


@dataclass(frozen=True, slots=True)
class Use:
    """One use of a proof: the right term is the layout of the left one, by the evidence with this id, for the block.
    Where tensors before it may be infinite, `masked` is the id and the block of the claim with any mask in front, or
    says that both sides are written alike."""

    id: str
    left: int
    right: int
    layout: Layout
    block: Block
    masked: tuple[str, Block] | Literal["alike"] | None = None


@dataclass(slots=True)
class Relating:
    """What is known about two graphs. `related[right node]` is a left node (the first, where several stand side by
    side), the layout and the evidence; `widened` how often the frontier moved back until there was a proof, and
    `helped` the same by the left term and the operator.

    Where the right `gathers` what ranks hold, a weight that is whole again is related, movement or not: else every use
    of it would look through how it was cut and put together. A `guide` is the same for the same programs at the sizes
    of the example: what it proved is then proved over size symbols, and nothing else is tried. Labels are all
    `of_classes`, none of them ignored, once a proof had to take that for granted. Proofs that take for granted what the
    example breaks do not count: of tensors that have no other they are `doubted`, and worth what equal values are. In
    which `spans` the elements of a tensor may lie, with any masks and numbers, is told by its term.
    """

    left: Graph
    right: Graph
    inputs: InputRelation
    joint: JointGraph
    prover: Prover
    told: Told
    related: dict[Node, tuple[Node, Layout, Evidence]] = field(default_factory=dict)
    widened: dict[Node, int] = field(default_factory=dict)
    helped: dict[tuple[int, str], int] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    guide: Relating | None = None
    exact: bool = False
    rounded: tuple[Node, Node] | None = None
    stopped: str = ""
    gathers: bool = False
    of_classes: bool = False
    doubted: dict[Node, Evidence] = field(default_factory=dict)
    spans: dict[int, Spans] = field(default_factory=dict)
    of_roots: int = LARGEST

    def root_evidence(self, left: Node, right: Node) -> Evidence | None:
        """Evidence that two roots, which agree in value, are equal element by element; None where there is none."""
        joint = self.joint
        known = self.related.get(right)
        if known is not None and known[0] is left and isinstance(known[1], Whole):
            return known[2]
        if joint.egraph.equal(joint.term[left], joint.term[right]):
            return self.congruent(right)
        self.doubted.pop(right, None)
        decided = _decide(self, right, [(joint.term[left], Whole(left.name))], self.of_roots)
        if decided is None:
            return self.doubted.get(right)
        _, evidence = decided
        joint.establish(joint.term[left], joint.term[right], Whole(left.name), evidence.proof)
        if known is not None:  # it may rest on what was known, and on its conditions
            evidence = replace(evidence, conditions=simplified((*known[2].conditions, *evidence.conditions)))
        self.related[right] = (left, Whole(left.name), evidence)
        return evidence

    def leads_to_outputs(self) -> bool:
        """Whether steps lead from each output to the other program's; a proof that does not count is none."""
        graph, term = self.joint.egraph, self.joint.term
        pairs = zip(self.left.roots, self.right.roots, strict=True)
        return all(graph.equal(term[a], term[b]) for (_, a), (_, b) in pairs)

    def spans_of(self, node: Node) -> Spans:
        """In which spans the elements of a tensor may lie, with any masks and numbers: of both programs where it is one
        tensor of theirs."""
        return _spans(self, self.joint.term[node])

    def arranged(self, left: Node, layout: Layout) -> int:
        """The term of a left tensor in this layout, or of several side by side, the first of which it is."""
        several = isinstance(layout, Concat)
        terms = {name: self.joint.term[self.left[name] if several else left] for name in wholes(layout)}
        return self.joint.add_layout(layout, terms)

    def congruent(self, node: Node) -> Evidence:
        """Evidence for a right tensor that stands in one class with a left one without a proof of its own."""
        if node.operator == "input":
            return Evidence(self.prover.rung, "input", detail="the same input")
        if self.joint.constant_value(self.joint.term[node]) is not None:
            detail = "both programs compute the same constant, bit for bit"
            return Evidence(self.prover.rung, "constant", detail=detail)
        return Evidence(self.prover.rung, "congruence", detail="the same operator on related tensors")

    def relations(self) -> list[Relation]:
        """Every relation, the input relation first, in the order of the right graph."""
        found = []
        for node in self.right.nodes:
            if node.is_source and node.name in self.inputs.layouts:
                layout = self.inputs.layouts[node.name]
                how = self.inputs.how.get(node.name, "") if node.operator == "parameter" else "given"
                conditions = (Said("paired", BY_USE),) if how == USE else ()
                evidence = Evidence(self.prover.rung, "input", detail=PAIRED[how], conditions=conditions)
                found.append(self._relation(node, layout, evidence))
            elif node in self.related:
                _, layout, evidence = self.related[node]
                found.append(self._relation(node, layout, evidence))
        return found

    def _relation(self, node: Node, layout: Layout, evidence: Evidence) -> Relation:
        names = wholes(layout)
        return Relation(names, node.name, str(layout), evidence, self.left[names[0]].origin, node.origin)


def input_relation(left: Graph, right: Graph) -> InputRelation:
    """How the right parameters sit in the left ones, by node name, from the loaded values."""

    def weights(graph: Graph) -> dict[str, torch.Tensor]:
        return {node.name: graph.tensors[node.name] for node in graph.sources("parameter")}

    return relate_parameters(weights(left), weights(right))


def relate(
    left: Graph,
    right: Graph,
    inputs: InputRelation,
    values: tuple[Values, Values],
    closed: tuple[Mapping[str, torch.Tensor], Mapping[str, torch.Tensor]],
    prover: Prover,
    progress: Progress | None = None,
    guide: Relating | None = None,
    proposer: Callable[[Values, Mapping[str, int]], Proposes] = Proposer,
    general: tuple[Graph, Graph] | None = None,
    gathers: bool = False,
    fed: Mapping[str, Sequence[str]] = MappingProxyType({}),
    of_roots: int = LARGEST,
) -> Relating:
    """Relate every right tensor that can be related. `values` hold every node's value per draw, for each side;
    `proposer` finds candidates among the left tensors of these values and names. The values are of other sizes where
    `general` has the graphs over symbols, of which these are members. Inputs that are `fed` hold what these roots
    do. Claims about outputs may have so many operators `of_roots`."""
    joint = JointGraph(of_ranks=gathers)
    held = (graph.tensors[node.name] for graph in (left, right) for node in graph.sources("constant"))
    if any(map(takes_by_constants, (left, right), closed)):
        joint.moved = Moved()
    joint.enter_tables(chain(held, *(values.values() for values in closed)))
    joint.add_graph("left", left, closed[0], {}, {})
    sources = {node.name: joint.term[node] for node in left.nodes if node.is_source}
    joint.add_graph("right", right, closed[1], inputs.layouts, sources)
    if joint.moved is not None:
        joint.moved.places.clear()
    for graph, draws, wide in zip((left, right), values, general or (left, right), strict=True):
        joint.note_integers(graph, draws)
        joint.negatives.update(joint.term[graph[name]] for name in made_of_sizes(wide))
    joint.anchor_shared_constants()
    told = Told(left, values[0], prover.sizes)
    relating = Relating(left, right, inputs, joint, prover, told, gathers=gathers, guide=guide, of_roots=of_roots)
    for graph, draws in zip((left, right), values, strict=True):
        for tensor, spans in spans_of(graph, draws[0], fed).items():
            relating.spans[joint.term[tensor]] = relating.spans.get(joint.term[tensor], spans) & spans
    relating.of_classes = guide is not None and guide.of_classes
    candidates_of = proposer(values[0], elements(left.nodes)) if guide is None else None
    by_name = {node.name: node for node in left.nodes}
    relating.rounded = _rounded_constants(left, right, closed)
    roots = {b: a for (_, a), (_, b) in zip(left.roots, right.roots, strict=True)}
    with few_threads(()):
        for position, node in enumerate(right.nodes):
            if prover.late:
                relating.stopped = f"the time limit was reached at operator {position + 1} of {len(right.nodes)}"
                break
            if progress is not None:
                progress(position, len(right.nodes), str(node.origin))
            partner = roots.get(node)
            if candidates_of is not None:
                candidates = partial(_proposed, candidates_of, values, node, partner)
            elif guide is not None:
                candidates = partial(_guided, guide, node)
            _relate_node(relating, node, partner, candidates, by_name)
            if relating.stopped:
                break
    return relating


def _rounded_constants(
    left: Graph, right: Graph, closed: tuple[Mapping[str, torch.Tensor], Mapping[str, torch.Tensor]]
) -> tuple[Node, Node] | None:
    """Two constants, one of each side, that are close without being equal: values alone cannot tell rounding from a
    mistake there."""
    for name, value in closed[1].items():
        if not value.dtype.is_floating_point or value.numel() < 2:
            continue
        for other, wanted in closed[0].items():
            same_kind = wanted.dtype.is_floating_point and wanted.shape == value.shape
            if same_kind and 0 < difference(wanted, value) < 1e-6:
                return left[other], right[name]
    return None


def _proposed(proposer: Proposes, values: tuple[Values, Values], node: Node, partner: Node | None) -> Candidates:
    """Left tensors that agree in value; for a root its partner first."""
    candidates = proposer.candidates(values[1], node.name, tuple(values[1][0][node.name].shape))
    if partner is not None and _agree(values, partner, node):
        candidates.insert(0, (partner.name, Whole(partner.name)))
    return candidates


def _guided(guide: Relating, node: Node) -> Candidates:
    """What the guide found, if anything; it does not know a table that stands for what was computed."""
    own = next((other for other in guide.right.nodes if other.name == node.name), None)
    known = guide.related.get(own) if own is not None else None
    return [] if known is None else [(known[0].name, known[1])]


def _relate_node(
    relating: Relating,
    node: Node,
    partner: Node | None,
    candidates: Callable[[], Candidates],
    by_name: Mapping[str, Node],
) -> None:
    joint = relating.joint
    term = joint.term[node]
    if isinstance(node.type, tuple) or node.operator == "parameter":
        return
    if _by_congruence(relating, node) or node.is_source:
        return
    proposed: Candidates | None = None
    if partner is None and moves_related(joint, term):
        proposed = put_together(joint, node, candidates, by_name, relating.gathers, relating.guide is not None)
        if not proposed:
            return  # later blocks look through a movement to the tensor that it moves
    held = joint.pieces(term)
    exact = relating.guide is not None and relating.guide.exact
    found = candidates() if proposed is None else proposed
    proposals = distinct(joint, node, partner, found, held, by_name, exact)
    decided = _decide(relating, node, [_of_one_term(relating, *pair) for pair in proposals])
    if decided is not None:
        (other, layout), evidence = proposals[decided[0]], decided[1]
        if isinstance(layout, Concat):
            parts = [joint.term[by_name[name]] for name in wholes(layout)]
            joint.establish_joined(_of_one_term(relating, other, layout)[0], term, parts, evidence.proof)
        else:
            joint.establish(joint.term[other], term, layout, evidence.proof)
        relating.related[node] = (other, layout, evidence)
        return
    if held:
        left, layout = held[0]
        relating.related[node] = (joint.lefts[left], layout, relating.congruent(node))


def _of_one_term(relating: Relating, other: Node, layout: Layout) -> tuple[int, Layout]:
    """A candidate as a term and a layout of it; left tensors side by side are a term of their own."""
    several = isinstance(layout, Concat)
    return (relating.arranged(other, layout), Whole(other.name)) if several else (relating.joint.term[other], layout)


def _by_congruence(relating: Relating, node: Node) -> bool:
    """Is the tensor in one class with a left tensor?"""
    joint = relating.joint
    members = joint.egraph.members(joint.egraph.find(joint.term[node]))
    left = next((joint.lefts[member] for member in sorted(members) if member in joint.lefts), None)
    if left is None:
        return False
    relating.related[node] = (left, Whole(left.name), relating.congruent(node))
    joint.anchor(joint.term[left])
    return True


def _agree(values: tuple[Values, Values], left: Node, right: Node) -> bool:
    return all(agree(a[left.name], b[right.name]) for a, b in zip(*values, strict=True))


def _decide(
    relating: Relating, node: Node, candidates: Sequence[tuple[int, Layout]], largest: int = LARGEST
) -> tuple[int, Evidence] | None:
    """The first of the candidates, each a left term and a layout of it, that is proved to be the tensor; its position,
    and the evidence.

    Each claim is cut at the nearest frontier, then with constants looked into (tables of numbers last), then with the
    frontier moved back; and all of them are tried in one way before the next. With a guide, the frontiers at which it
    had no proof are passed over, and where it had one there must be one.
    """
    joint, right, guide = relating.joint, relating.joint.term[node], relating.guide
    limit = LARGEST_OF_RANKS if relating.gathers else largest
    kept = {
        position: _Kept(_frontiers(joint, left, right, layout, limit, relating.gathers))
        for position, (left, layout) in enumerate(candidates)
        if joint.types[left].kind == joint.types[right].kind       # an integer and a real are never one tensor
    }
    for position, times, claim, way in _attempts(relating, node, candidates, kept):
        evidence = way(claim, times)
        if evidence is None or _asks_of_free(claim, evidence):
            continue
        spans = {name: _spans(relating, term) for name, term in claim.frontier.items()}
        asked = (one for one in evidence.conditions if not is_told(one, spans))
        told = relating.told.of((*asked, *claim.in_range()), partial(_stands_for, joint, claim))
        beyond = _at_infinity(relating, claim, evidence, spans)
        if not isinstance(beyond, str):
            told = simplified((*told, *beyond[0]))
            broken, hidden = relating.told.breach(told), beyond[1]
        else:
            broken, hidden = beyond, None
        if broken:
            relating.doubted.setdefault(node, as_tested(evidence, told, broken))
        else:
            left, layout = candidates[position]
            relating.widened[node] = relating.helped[left, node.operator] = times
            relating.of_classes |= claim.of_classes
            relating.uses.append(Use(evidence.proof, left, right, layout, claim, hidden))
            return position, replace(evidence, conditions=told)
    if guide is not None and _of_guide(relating, node) in guide.widened:
        relating.stopped = f"{node.origin.spoken} has a proof at the sizes of the example only"
    return None


def _attempts(
    relating: Relating, node: Node, candidates: Sequence[tuple[int, Layout]], kept: Mapping[int, _Kept]
) -> Iterator[tuple[int, int, Block, Way]]:
    """Which claims to decide in which order: of a candidate, how often its frontier moved back, the claim, and the way.
    Where a proof for the same tensor was found for another rank, it is looked for first."""
    guide, there = relating.guide, _of_guide(relating, node)
    known = guide.related.get(there) if guide is not None and there is not None else None
    seconds = math.inf if guide is None or known is None else GENERAL + GENERAL_TIMES * known[2].seconds
    first = guide.widened.get(there, 0) if guide is not None and there is not None else 0
    ways = list(_ways(relating, seconds))
    for position in kept if guide is None else ():
        times = relating.helped.get((candidates[position][0], node.operator), 0)
        block = next(islice(kept[position], times, None), None) if times else None
        if block is not None:
            yield position, times, _of_classes_if_any(block) if relating.of_classes else block, ways[-1][0]
    for (way, claim_of), group in product(ways, _by_left(kept, candidates)):
        for position, times, block in _nearest_first({position: kept[position] for position in group}, first):
            if (claim := claim_of(block)) is not None:
                yield position, times, claim, way


def _by_left(kept: Iterable[int], candidates: Sequence[tuple[int, Layout]]) -> list[list[int]]:
    """Positions of candidates; those that are one left tensor in several layouts together."""
    found = dict[int, list[int]]()
    for position in kept:
        found.setdefault(candidates[position][0], []).append(position)
    return list(found.values())


def _nearest_first(kept: Mapping[int, _Kept], first: int) -> Iterator[tuple[int, int, Block]]:
    """Blocks of several layouts, from the first frontier to be tried on: at each frontier all of them."""
    def blocks(position: int) -> Iterator[tuple[int, int, Block]]:
        last = sum(1 for _ in islice(kept[position], first + 1)) - 1   # fewer, where over symbols no constants are open
        for times, block in islice(enumerate(kept[position]), max(last, 0), None):
            yield position, times, block

    for at_one in zip_longest(*map(blocks, kept)):
        yield from (each for each in at_one if each is not None)


def _of_guide(relating: Relating, node: Node) -> Node | None:
    """The node of the guide's right side; a family that looks its tables up by rows has more than the example."""
    nodes = relating.guide.right.nodes if relating.guide is not None else ()
    return next((there for there in nodes if there.name == node.name), None)


def _ways(relating: Relating, seconds: float) -> Iterator[tuple[Way, Claims]]:
    """How to decide claims, one way after another, and which claim to decide of each block; by all means last, and at
    once with a guide, whose frontier is the right one. Labels had to be classes once: then all may as well be."""
    prover = relating.prover

    def recall(block: Block, _: int) -> Evidence | None:
        return prover.recall(block)

    def glance(block: Block, times: int) -> Evidence | None:
        return prover.glance(block, GLANCE if times == 0 else FURTHER)

    def decide(block: Block, _: int) -> Evidence | None:
        return prover.decide(block, seconds)

    if prover.book.is_filled:
        yield recall, _as_it_is                                   # at every frontier, before anything is proved
    for way in [glance, decide] if relating.guide is None else [decide]:
        yield way, _of_classes_if_any if relating.of_classes else _as_it_is
        yield way, Block.without_ignored_labels
        yield way, partial(_of_a_sign, relating)
        yield way, classes_or_ignored


def _of_a_sign(relating: Relating, block: Block) -> Block | None:
    return of_a_sign(block, {name: _spans(relating, term) for name, term in block.frontier.items()})


def _as_it_is(block: Block) -> Block:
    return block


def _of_classes_if_any(block: Block) -> Block:
    return block.without_ignored_labels() or block


class _Kept:
    """Blocks that may be gone through again; each is made when it is first asked for."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._more, self._made = blocks, list[Block]()

    def __iter__(self) -> Iterator[Block]:
        for position in count():
            if position == len(self._made):
                block = next(self._more, None)
                if block is None:
                    return
                self._made.append(block)
            yield self._made[position]


def _frontiers(
    joint: JointGraph, left: int, right: int, layout: Layout, limit: int, gathers: bool = False
) -> Iterator[Block]:
    """The claim down to ever later frontiers: first what is made of others at the frontier is looked through, then
    constants, then all. Constants that are too large to look into, or are defined by pieces of themselves, stay as they
    are. Where the right side `gathers` what ranks hold, some ranks come later, and the steps of a sequence that are
    theirs are nothing to look into yet."""
    first = _without_neighbours(joint, left, right, layout, limit) if gathers else None
    if first is not None:
        yield first
    opened, constants, most = frozenset[int](), 0, 2
    block: Block | None = None
    for number in range(FRONTIERS_OF_SHORT):
        if number >= _FRONTIERS and block is not None and len(block.graph.nodes) > SHORT:
            return
        try:
            block = cut(joint, left, right, layout, opened=opened, constants=constants, limit=limit)
        except TooLarge:
            if block is None or constants == 0 or most < 2:
                return
            constants = most = constants - 1
        else:
            yield block
            tied = frozenset[int]() if opened else tied_together(joint, block.frontier.values(), limit)
            if tied:
                if block.untold:                       # constants may be all that is missing, and what is tied is long
                    with suppress(TooLarge):
                        yield cut(joint, left, right, layout, constants=most, limit=limit)
                near = tied_together(joint, block.frontier.values(), limit, 1)
                if near and near != tied:              # what is far from the others may be no more than long
                    with suppress(TooLarge):
                        yield cut(joint, left, right, layout, opened=near, limit=limit)
                opened = tied
                continue
            if block.untold and constants < most:
                constants += 1
                continue
        inner = {name for name in block.frontier.values() if not _is_source(joint, name)} - opened
        if most < 2:
            inner = {name for name in inner if joint.constant_value(name) is None}
        if not inner:
            return
        opened |= inner


def _without_neighbours(joint: JointGraph, left: int, right: int, layout: Layout, limit: int) -> Block | None:
    """The claim in which steps that the right side does not have yet are variables, where it has others of them."""
    try:
        block = cut(joint, left, right, layout, limit=limit, neighbours=False)
    except TooLarge:
        return None
    return block if any(not _is_source(joint, name) and not joint.is_anchored(name)
                        for name in block.frontier.values()) else None


def _at_infinity(
    relating: Relating, claim: Block, evidence: Evidence, spans: Mapping[str, Spans]
) -> tuple[tuple[Assumption, ...], tuple[str, Block] | Literal["alike"] | None] | str:
    """What a proof of the claim takes for granted where tensors at its frontier may be infinite, and the proof with any
    mask in front of them; or, in words, that it takes them to be finite, where it holds of numbers alone."""
    told, joint = relating.told, relating.joint
    nodes = {name: _stands_for(joint, claim, name) for name in claim.frontier}
    unset = {name for name, term in claim.frontier.items() if joint.is_unset(term)}
    values = {name: value for name, node in nodes.items() if node is not None and name not in unset
              and isinstance(value := told.value(node.name), torch.Tensor)}
    anything = dict.fromkeys(unset, ALL - {ABOVE})         # −∞ stands for whatever is no number; a proof is without it
    found = infinite(claim, {**spans, **anything}, values)
    if not found or evidence.rung < Rung.PROVED_HERE:
        return (), None
    if all(found.values()) and is_written_alike(claim):
        return (), "alike"
    hidden, masks = masked(claim, found)
    proof = relating.prover.decide(hidden) if all(found.values()) else None
    if proof is None or proof.rung < evidence.rung or _asks_of_free(claim, proof):
        return told.not_finite(node for name in found if (node := nodes[name]))
    marks = {name: told.mark(operator, node)
             for name, (variable, operator) in masks.items() if (node := nodes[variable])}
    return told.of(proof.conditions, {**nodes, **marks}.get), (proof.proof, hidden)


def _asks_of_free(claim: Block, evidence: Evidence) -> bool:
    """Whether it takes something for granted of a number that stands for no tensor."""
    return any(claim.free & one.names for one in evidence.conditions)


def _spans(relating: Relating, term: int) -> Spans:
    """In which spans a tensor lies wherever both programs have a value, which is one there for all in a class. A part
    of a constant is no tensor of theirs, and lies where it does."""
    joint = relating.joint
    known = [relating.spans[member] for member in joint.egraph.members(term) if member in relating.spans]
    if not known:
        constant = joint.constant_value(term)
        return ALL if constant is None else lying(constant)
    return reduce(frozenset.intersection, known)


def _stands_for(joint: JointGraph, block: Block, variable: str) -> Node | None:
    """The left tensor that a variable of the block stands for."""
    term = block.frontier.get(variable)
    members = joint.egraph.members(term) if term is not None else []
    return next((joint.lefts[member] for member in members if member in joint.lefts), None)


def _is_source(joint: JointGraph, name: int) -> bool:
    members = joint.egraph.members(name)
    return all(joint.egraph.term(m).operator in SOURCES for m in members)
