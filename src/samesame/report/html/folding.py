"""Folding: two programs as bands, one for each module of the left, with what the right has for it beside it.

Layers that repeat are one. Operators at the same place of repeated modules become one `Operator`, and relations between
the same operators on the same rung one `Tie`; so a layer that differs in anything stands out as a tie of its own. The
left is the reference: its modules make the bands, and an operator of the right stands in the band of what it is related
to, or else of what reads it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from samesame.evidence import Drawn, Picture, Relation, Rung, Verdict
from samesame.report.repetition import inline

SOURCES = ("input", "parameter", "constant")
PICK = "getitem"
GIVEN = "inputs and parameters"
ELSEWHERE = "outside of modules"


@dataclass(eq=False, slots=True)
class Operator:
    """The same operator of one side in every layer that has it: `nodes` are its instances, `place` its module with
    ranges in place of numbers, `at` where the first stands in the program."""

    side: str
    name: str
    place: str
    at: int
    nodes: list[Drawn] = field(default_factory=list)

    @property
    def times(self) -> int:
        return len(self.nodes)


@dataclass(eq=False, slots=True)
class Tie:
    """Relations between the same operators on the same rung. Where the programs part, `apart` is the
    place in words."""

    id: str
    lefts: tuple[Operator, ...]
    right: Operator | None
    rung: Rung
    members: list[Relation] = field(default_factory=list)
    apart: str = ""


@dataclass(eq=False, slots=True)
class Band:
    """What stands side by side: operators of one module of the left, or of several that the right makes one, and those
    of the right that go with them."""

    id: str
    places: list[str]
    left: list[Operator] = field(default_factory=list)
    right: list[Operator] = field(default_factory=list)
    ties: list[Tie] = field(default_factory=list)

    @property
    def times(self) -> int:
        return max((operator.times for operator in (*self.left, *self.right)), default=1)

    @property
    def apart(self) -> str:
        """Where the programs part, in words; empty where they do not."""
        return next((tie.apart for tie in self.ties if tie.apart), "")

    @property
    def is_given(self) -> bool:
        return self.places == [GIVEN]

    @property
    def rungs(self) -> dict[Rung, int]:
        """The number of ties on each rung, the weakest first."""
        return dict(sorted(Counter(tie.rung for tie in self.ties).items()))


@dataclass(slots=True)
class Folded:
    """Both programs in bands, in the left's order, and all ties in the right's."""

    bands: list[Band]
    ties: list[Tie]


def fold(verdict: Verdict, picture: Picture, prefix: str = "") -> Folded:
    """The programs of a verdict, folded; ids of bands and ties begin with the prefix."""
    names = {relation.right for relation in verdict.relations}
    names |= {name for relation in verdict.relations for name in relation.left}
    left = _operators("left", _looked_through(picture.left), names)
    right = _operators("right", _looked_through(picture.right), names)
    ties = _ties(verdict, left, right, prefix)
    bands = _bands(_unique(left.values()), _unique(right.values()), ties, right, prefix)
    return Folded(bands, ties)


# ------------------------------------------------------------------------------------------------------------ operators


def _looked_through(drawn: Sequence[Drawn]) -> list[Drawn]:
    """The nodes as they read what has several results, not what picks one of these."""
    real = {node.name: node.inputs[0] for node in drawn if node.operator == PICK}
    return [replace(n, inputs=tuple(real.get(name, name) for name in n.inputs)) for n in drawn]


def _operators(side: str, drawn: Sequence[Drawn], related: set[str]) -> dict[str, Operator]:
    """The folded operator of each node by name. One that picks a result stands for what has it; constants that nothing
    is said about are left out."""
    shown = [n for n in drawn if n.operator != PICK and (n.operator != "constant" or n.name in related)]
    places = inline(_concrete(node) for node in shown)
    tensors = inline(_tensor(node) for node in shown if node.operator in SOURCES)
    times = Counter[tuple[str, str]]()
    found: dict[tuple[str, str, int], Operator] = {}
    of_node: dict[str, Operator] = {}
    for at, node in enumerate(shown):
        source = node.operator in SOURCES
        concrete, name = _concrete(node), tensors[_tensor(node)] if source else node.operator
        key = GIVEN if source else places[concrete], name, 0 if source else times[concrete, name]
        times[concrete, name] += 1
        if key not in found:
            found[key] = Operator(side, name, key[0], at)
        found[key].nodes.append(node)
        of_node[node.name] = found[key]
    picks = {node.name: of_node[node.inputs[0]] for node in drawn if node.operator == PICK}
    return of_node | picks


def _concrete(node: Drawn) -> str:
    return node.origin.module or node.origin.function or ELSEWHERE


def _tensor(node: Drawn) -> str:
    return node.origin.parameter or node.name


def _unique(operators: Iterable[Operator]) -> list[Operator]:
    return sorted(dict.fromkeys(operators), key=lambda operator: operator.at)


# ----------------------------------------------------------------------------------------------------------------- ties


def _ties(verdict: Verdict, left: dict[str, Operator], right: dict[str, Operator], prefix: str) -> list[Tie]:
    found: dict[tuple[tuple[Operator, ...], Operator, Rung], Tie] = {}
    for relation in verdict.relations:
        lefts = tuple(dict.fromkeys(left[name] for name in relation.left if name in left))
        if relation.right not in right or not lefts:
            continue
        key = lefts, right[relation.right], relation.evidence.rung
        if key not in found:
            found[key] = Tie(f"{prefix}tie-{len(found) + 1}", lefts, right[relation.right], relation.evidence.rung)
        found[key].members.append(relation)
    ties = list(found.values())
    place = verdict.divergence
    if place is not None:
        mine = left.get(place.left.node) if place.left else None
        yours = right.get(place.right.node) if place.right else None
        if mine is not None or yours is not None:
            lefts = () if mine is None else (mine,)
            site = place.left or place.right
            apart = f"here they part: {site.origin.module or site.node if site else ''}"
            ties.append(Tie(f"{prefix}tie-{len(ties) + 1}", lefts, yours, Rung.REFUTED, apart=apart))
    return ties


# ---------------------------------------------------------------------------------------------------------------- bands


def _bands(
    left: list[Operator], right: list[Operator], ties: list[Tie], by_node: dict[str, Operator], prefix: str
) -> list[Band]:
    together = _together(left, ties)
    bands: dict[str, Band] = {}
    for operator in left:
        name = together[operator.place]
        band = bands.setdefault(name, Band(f"{prefix}band-{len(bands) + 1}", []))
        band.left.append(operator)
        if operator.place not in band.places:
            band.places.append(operator.place)
    for operator, name in _homes(right, ties, together, by_node).items():
        band = bands.setdefault(name, Band(f"{prefix}band-{len(bands) + 1}", [name]))
        band.right.append(operator)
    of_right = {operator: band for band in bands.values() for operator in band.right}
    of_left = {operator: band for band in bands.values() for operator in band.left}
    for tie in ties:
        home = of_right[tie.right] if tie.right is not None else of_left[tie.lefts[0]]
        home.ties.append(tie)
    return list(bands.values())


def _together(left: list[Operator], ties: list[Tie]) -> dict[str, str]:
    """For each place of the left the first of those that one relation puts together: `q_proj` for all of q, k, v."""
    first = {operator.place: operator.place for operator in left}

    def root(place: str) -> str:
        while first[place] != place:
            place = first[place]
        return place

    order = {place: number for number, place in enumerate(first)}
    for tie in ties:
        for operator in tie.lefts[1:]:
            a, b = sorted((root(tie.lefts[0].place), root(operator.place)), key=order.__getitem__)
            first[b] = a
    return {place: root(place) for place in first}


def _homes(
    right: list[Operator], ties: list[Tie], together: dict[str, str], by_node: dict[str, Operator]
) -> dict[Operator, str]:
    """The band of each operator of the right: that of what it is related to, of what reads it, or of what it reads."""
    votes: dict[Operator, Counter[str]] = defaultdict(Counter)
    for tie in ties:
        if tie.right is not None and tie.lefts:
            votes[tie.right][together[tie.lefts[0].place]] += max(1, len(tie.members))
    homes = {operator: count.most_common(1)[0][0] for operator, count in votes.items()}
    for operator in right:
        if operator.place == GIVEN:
            homes.setdefault(operator, together.get(GIVEN, GIVEN))
    for operator in reversed(right):
        if operator in homes and homes[operator] != GIVEN:
            for name in operator.nodes[0].inputs:
                if name in by_node:
                    homes.setdefault(by_node[name], homes[operator])
    for operator in right:
        read = (by_node[name] for name in operator.nodes[0].inputs if name in by_node)
        homes.setdefault(operator, next((homes[o] for o in read if homes.get(o, GIVEN) != GIVEN), operator.place))
    return {operator: homes[operator] for operator in right}
