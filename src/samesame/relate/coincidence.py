"""Coincidence: programs that agree for the weights they were given only, because some of these hold equal numbers.

Draws give every weight numbers of its own, and the other side gets them by the input relation. If the programs then
differ, though they agree as they were given, either weights of equal numbers were paired wrongly, or what one program
computes from one weight the other computes from another that happens to be equal (or leaves out: zeros). Which weights
that hangs on is found by drawing few of them; then they are paired otherwise, one to one and against no name and
no place that both sides share. If nothing helps, the programs differ.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, permutations, product
from math import factorial, prod
from typing import Any

import torch

from samesame.graph import Graph
from samesame.operators.execute import Value
from samesame.relate.buffers import Names, as_one, as_sources, buffers_as_weights
from samesame.relate.draws import LABELS, Draw, draw, may_be_bold, run_both, take_draws
from samesame.relate.kinds import is_uniform
from samesame.relate.layout import Layout, Permute, Whole, renamed, wholes
from samesame.relate.pairing import Assignment, Group, Use, numbered, uses
from samesame.relate.parameters import USE, InputRelation, digest, relate_parameters, repeats
from samesame.relate.propose import Values
from samesame.relate.roots import apart
from samesame.relate.vanishing import without_noise

_PAIRINGS = 130             # ways to pair weights that are tried
_SECONDS = 10.0             # of the thread's time, to find out what a difference hangs on
_SHOWN = 3                  # names in a sentence
NOTHING: Names = frozenset(), frozenset()
Run = tuple[Mapping[str, Value], Mapping[str, Value]]


@dataclass(slots=True)
class Weighed:
    """Two graphs whose sources are paired, and their draws. `weights` are constants that count as weights, `frozen`
    weights that count as constants because the verdict is for their numbers only. `because` says why the two agree for
    the given weights only, `open` why it is not known whether they do; `one` which inputs are one tensor."""

    graphs: tuple[Graph, Graph]
    relation: InputRelation
    draws: list[Draw]
    values: tuple[Values, Values]
    weights: Names = NOTHING
    frozen: Names = NOTHING
    because: str = ""
    open: str = ""
    one: tuple[str, ...] = ()

    def alike(self, graphs: tuple[Graph, Graph]) -> tuple[Graph, Graph]:
        """Other recordings of the same programs, with the same sources as weights."""
        return _turned(graphs, self.weights, self.frozen)


def weigh(
    graphs: tuple[Graph, Graph],
    seed: int,
    *,
    as_given: bool = False,
    twins: Sequence[tuple[int, int]] = (),
    deadline: float = math.inf,
) -> Weighed:
    """Pair the weights of two graphs and draw values. What agrees for the given weights only differs on some draw,
    unless the weights are to be taken `as_given`: then those that it hangs on are constants. Inputs that are one tensor
    (`twins`: their positions, the earlier first) are drawn apart; they are one input only where the programs then
    differ and agree for one. What a difference hangs on is looked for until the `deadline` (monotonic) at most. Raises
    Refused as `take_draws` does."""
    weights = buffers_as_weights(graphs)
    graphs = _turned(graphs, weights, NOTHING)
    several, joined = _weighed(graphs, weights, seed, as_given, deadline), None
    if twins and apart(several.graphs, several.values):
        names = [node.name for node in graphs[0].sources("input")]
        one = as_one(graphs[0], twins), as_one(graphs[1], twins)
        joined = _weighed(one, weights, seed, as_given, deadline)
        joined.one = tuple(f"{names[later]} is {names[earlier]}" for earlier, later in twins)
    return joined if joined is not None and not apart(joined.graphs, joined.values) else several


def _weighed(graphs: tuple[Graph, Graph], weights: Names, seed: int, as_given: bool, deadline: float) -> Weighed:
    found = _Weighing(graphs, weights, seed, deadline)
    weighed = found.decided()
    weighed.weights = weights
    if as_given and weighed.because and not any(name in found.inputs for _, name in found.culprits):
        frozen = found.frozen(found.culprits)
        graphs = _turned(graphs, NOTHING, frozen)
        weighed = replace(_Weighing(graphs, weights, seed, deadline).as_it_is(), weights=weights, frozen=frozen)
    return weighed


def _turned(graphs: tuple[Graph, Graph], weights: Names, frozen: Names) -> tuple[Graph, Graph]:
    left, right = (
        as_sources(as_sources(graph, weights[k], "parameter"), frozen[k], "constant") for k, graph in enumerate(graphs)
    )
    return left, right


class _Weighing:
    """One pair of graphs: the first run, the input relation, the weights in doubt, and what is found out about them.

    A weight in doubt is given by its side (0 left, 1 right) and name; a right one is in doubt by itself only where it
    has no partner."""

    def __init__(self, graphs: tuple[Graph, Graph], weights: Names, seed: int, deadline: float) -> None:
        self.graphs, self.seed = graphs, seed
        self.until, self.deadline, self.label = time.thread_time() + _SECONDS, deadline, LABELS[1]
        left, right = ({n.name: g.tensors[n.name] for n in g.sources("parameter")} for g in graphs)
        self.held = left, right
        self.inputs = {node.name: graphs[0].tensors[node.name] for node in graphs[0].sources("input")}
        self.first: Any = None
        self.culprits: list[tuple[int, str]] = []
        kinds = [dict.fromkeys(names, "constant") for names in weights]
        self.relation = relate_parameters(*self.held, uses=self.uses, kinds=(kinds[0], kinds[1]), shared=False)
        missing = self.relation.unpaired_left, self.relation.unpaired_right
        inputs = {name: digest(tensor) for name, tensor in self.inputs.items()}
        self.keys = {**self.relation.keys[0], **inputs}, self.relation.keys[1]
        self.repeats = [repeats(*side) for side in zip(self.held, self.keys, missing, strict=True)]
        self.doubtful = self.in_doubt()

    def uses(self, lefts: Collection[str], rights: Collection[str]) -> tuple[dict[str, Use], dict[str, Use]]:
        """What each program computes from these weights, on the example."""
        self.first = self.first or run_both(self.graphs, draw(LABELS[0], *self.graphs, {}, seed=self.seed))
        (left, right), (mine, yours) = self.graphs, self.first
        return uses(left, mine, lefts), uses(right, yours, rights)

    def in_doubt(self) -> list[tuple[int, str]]:
        """The weights and inputs whose numbers others have too, or that hold one number throughout.

        One without a partner is not, where the other side has one whose numbers come from no single weight: that may be
        made of both."""
        missing = self.relation.unpaired_left, self.relation.unpaired_right
        made = [any(name not in self.repeats[side] for name in missing[side]) for side in (0, 1)]
        paired = (self.relation.layouts[name] for name in self.repeats[1] if name in self.relation.layouts)
        lefts = {*self.repeats[0], *(part for layout in paired for part in wholes(layout))}
        rights: set[str] = set()
        for side, names in enumerate(self.repeats):
            for name in names if not made[1 - side] else ():
                if name in missing[side]:
                    (lefts, rights)[side].add(name)
                    lefts.update(self.behind(side, name))
        lefts -= set(missing[0]) if made[1] else set()
        lefts.update(repeats(self.inputs, self.keys[0], ()))
        mine = [(0, name) for name in (*self.held[0], *self.inputs) if name in lefts]
        return mine + [(1, name) for name in self.held[1] if name in rights]

    def behind(self, side: int, name: str) -> set[str]:
        """The left weights whose numbers a weight without a partner repeats."""
        layout = self.repeats[side][name]
        twins = [other for other, key in self.keys[side].items() if key == self.keys[side][name] and other != name]
        names = twins if layout is None else wholes(layout)
        if side == 0:
            return set(names)
        layouts = (self.relation.layouts[other] for other in names if other in self.relation.layouts)
        return {part for layout in layouts for part in wholes(layout)}

    def loose(self) -> tuple[list[str], list[str]]:
        """Those of them that have no partner."""
        missing = self.relation.unpaired_left, self.relation.unpaired_right
        left, right = ([name for k, name in self.doubtful if k == side and name in missing[side]] for side in (0, 1))
        return left, right

    def taken(
        self, relation: InputRelation, kept: Collection[tuple[int, str]] = ()
    ) -> tuple[list[Draw], tuple[Values, Values]]:
        mine, loose = self.kept(kept)
        taken, values = take_draws(self.graphs, relation.layouts, self.seed, first=self.first, kept=mine, loose=loose,
                                   bold=True)
        return taken, without_noise(self.graphs, values)

    def kept(self, kept: Collection[tuple[int, str]]) -> tuple[list[str], tuple[list[str], list[str]]]:
        """What a draw keeps, and what it varies of weights without a partner, where these weights stay as they are."""
        left, right = ([name for name in names if (side, name) not in kept] for side, names in enumerate(self.loose()))
        return [name for side, name in kept if side == 0], (left, right)

    def as_it_is(self) -> Weighed:
        return Weighed(self.graphs, self.relation, *self.taken(self.relation))

    def decided(self) -> Weighed:
        """The draws, if nothing hangs on equal numbers; else what does."""
        weighed = self.as_it_is()
        first = weighed.values[0][:1], weighed.values[1][:1]
        if not self.doubtful or not apart(self.graphs, weighed.values) or apart(self.graphs, first):
            return weighed
        self.label = next((d.label for d, a, b in zip(weighed.draws, *weighed.values, strict=True)
                           if apart(self.graphs, ([a], [b]))), self.label)
        as_given = self.taken(self.relation, self.doubtful)
        if apart(self.graphs, as_given[1]):
            return weighed                                  # they differ for these weights, too
        self.culprits = list(self.hanging(self.doubtful))
        for relation in self.otherwise():
            if self.agree(relation):
                taken = self.taken(relation)
                if not apart(self.graphs, taken[1]):
                    return Weighed(self.graphs, relation, *taken)
        if self.is_decided:
            weighed.because = self.sentence()
            return weighed
        told = f"{self.sentence()}, and it was not found out which weight is which; give both sides the same names"
        return Weighed(self.graphs, self.relation, *as_given, open=told)

    @property
    def is_over(self) -> bool:
        """Is the thread's time for it spent, or the run's?"""
        return time.thread_time() > self.until or time.monotonic() > self.deadline

    def agree(self, relation: InputRelation, kept: Collection[tuple[int, str]] = ()) -> bool:
        """Do the programs agree on a draw in which all weights but those `kept` have other numbers?"""
        mine, loose = self.kept(kept)
        made = partial(draw, self.label, *self.graphs, relation.layouts, seed=self.seed, kept=mine, loose=loose)
        both: Any = run_both(self.graphs, made(bold=True)) if may_be_bold(self.graphs) else None
        both = both or run_both(self.graphs, made())
        return both is not None and not apart(self.graphs, ([both[0]], [both[1]]))

    def hanging(self, doubtful: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """The weights of which each alone, with other numbers, makes the programs differ; halves that do not are passed
        over."""
        if self.is_over or self.agree(self.relation, set(self.doubtful) - set(doubtful)):
            return
        middle = len(doubtful) // 2
        found = [*self.hanging(doubtful[:middle]), *self.hanging(doubtful[middle:])] if middle else []
        yield from found or doubtful                        # two zero factors, say: neither does it alone

    # ----------------------------------------------------------------------------------------------- other pairings

    def otherwise(self) -> Iterator[InputRelation]:
        """Other relations that fit the numbers, and contradict no name and no place: as the uses are, then every way to
        exchange the weights that it hangs on."""
        groups = [group for group in self.relation.groups if not self.settled(group)]
        by_use = [self.exchanged(group, group.assigned(by_use=True)) for group in groups]
        yield from self.fitting({name: other for change in by_use for name, other in change.items()})
        yield from self.transposed()
        yield from self.redealt()
        alike = self.exchangeable()
        ways = product(*(permutations(members) for members in alike.values()))
        for way in islice(ways, 1, _PAIRINGS):
            if self.is_over:
                return
            pairs = zip(alike.values(), way, strict=True)
            yield from self.fitting({a: b for members, moved in pairs for a, b in zip(members, moved, strict=True)})

    def transposed(self) -> Iterator[InputRelation]:
        """The relation with square matrices of one number transposed, as their numbers allow; a name that both sides
        have says that they are not."""
        squares = {name for side, name in self.culprits if side == 0 and name in self.held[0] and self.is_square(name)}
        turned = {
            right: Permute(layout, (1, 0)) for right, layout in self.relation.layouts.items()
            if isinstance(layout, Whole) and layout.name in squares and layout.name != right
        }
        for some in (turned, *({right: layout} for right, layout in turned.items())) if turned else ():
            how = self.relation.how | dict.fromkeys(some, USE)
            yield replace(self.relation, layouts={**self.relation.layouts, **some}, how=how)

    def redealt(self) -> Iterator[InputRelation]:
        """The relation with pieces of left weights dealt otherwise to right weights that are equal: halves of a fused
        matrix, say. Pieces of numbered lists stay in order."""
        classes = list(self.dealt().values())
        for way in islice(product(*map(permutations, classes)), 1, _PAIRINGS) if classes else ():
            moved = {right: self.relation.layouts[other] for members, dealt in zip(classes, way, strict=True)
                     for right, other in zip(members, dealt, strict=True)}
            yield replace(self.relation, layouts={**self.relation.layouts, **moved})

    def dealt(self) -> dict[tuple[object, ...], list[str]]:
        names = {name for side, name in self.culprits if side == 0}
        found: dict[tuple[object, ...], list[str]] = defaultdict(list)
        for right, layout in self.relation.layouts.items():
            if not isinstance(layout, Whole) and names & set(wholes(layout)) and numbered(right)[1] < 0:
                found[self.keys[1][right]].append(right)
        return {key: members for key, members in found.items() if len(members) > 1}

    def is_square(self, name: str) -> bool:
        value = self.held[0][name]
        return value.dim() == 2 and value.shape[0] == value.shape[1] and is_uniform(value)

    def exchangeable(self) -> dict[tuple[object, ...], list[str]]:
        """Left weights that it hangs on, equal ones together, without those that names or places decide."""
        kept = {name for group in self.relation.groups if self.settled(group) for name in group.lefts}
        alike: dict[tuple[object, ...], list[str]] = defaultdict(list)
        for side, name in self.culprits:
            if side == 0 and name not in kept and name not in self.inputs:
                alike[self.keys[0][name]].append(name)
        return alike

    def exchanged(self, group: Group, found: Assignment) -> dict[str, str]:
        """Which left weight stands where which stood, for another assignment of a group."""
        before = self.assigned(group)
        return {before[right]: left for right, left in found.items() if right in before}

    def assigned(self, group: Group, layouts: Mapping[str, Layout] | None = None) -> Assignment:
        layouts = self.relation.layouts if layouts is None else layouts
        return {right: layout.name for right in group.rights if isinstance(layout := layouts.get(right), Whole)}

    def fitting(self, change: Mapping[str, str]) -> Iterator[InputRelation]:
        """The relation with left weights exchanged, unless names or places are against it."""
        if sorted(change) != sorted(change.values()) or all(a == b for a, b in change.items()):
            return
        layouts = {
            right: renamed(layout, [change.get(name, name) for name in wholes(layout)])
            for right, layout in self.relation.layouts.items()
        }
        moved = {right for right, layout in layouts.items() if layout != self.relation.layouts[right]}
        touched = (group for group in self.relation.groups if moved & set(group.rights))
        if any(group.contradicts(self.assigned(group, layouts)) for group in touched):
            return
        still = [layout for right, layout in layouts.items() if right not in moved]
        if any(_is_shuffled(layouts[right], still) for right in moved):
            return
        yield replace(self.relation, layouts=layouts, how=self.relation.how | dict.fromkeys(moved, USE))

    def settled(self, group: Group) -> bool:
        return group.decided_by_name or group.decided_by_place or len(group.lefts) == len(group.rights) == 1

    @property
    def is_decided(self) -> bool:
        """Is there no other pairing, or was every one tried? Where one side has more of these weights than the other,
        there is none; where both have some without a partner, of the same number, one may have been missed."""
        alone = [(side, name) for side, name in self.culprits if name in self.loose()[side]]
        if alone:
            numbers = [{self.value(k, name).flatten()[0].item() for side, name in alone if side == k} for k in (0, 1)]
            return not numbers[0] & numbers[1]
        classes = [*self.exchangeable().values(), *self.dealt().values()]
        ways = prod(factorial(len(names)) for names in classes)
        return ways <= _PAIRINGS and not self.is_over

    # --------------------------------------------------------------------------------------------- what is said of it

    def sentence(self) -> str:
        """Why the programs agree for the given weights only: the weights that it hangs on, those of equal numbers
        together."""
        rest = list(self.culprits)
        clauses = []
        while rest:
            side, name = rest[0]
            members = [key for key in rest if self.keys[key[0]][key[1]] == self.keys[side][name]]
            rest = [key for key in rest if key not in members]
            clauses.append(self.clause(members))
        given = [name for _, name in self.culprits if name in self.inputs]
        kinds = [word for word, there in (("weights", len(given) < len(self.culprits)), ("inputs", given)) if there]
        return f"the same for these {' and '.join(kinds)} only, because {' and '.join(clauses)}"

    def clause(self, members: Sequence[tuple[int, str]]) -> str:
        """What these weights of equal numbers hold: one number throughout where the other side has none, a part of
        another, or what others hold."""
        side, name = members[-1]
        value, missing = self.value(side, name), (self.relation.unpaired_left, self.relation.unpaired_right)
        throughout = f"is {value.flatten()[0].item():g} throughout" if is_uniform(value) else ""
        layout = self.repeats[side].get(name)
        if layout is not None:
            return f"{name} is {layout}"
        if len(members) == 1 and throughout:
            lacking = f", which the {('right', 'left')[side]} has not," if name in missing[side] else ""
            return f"{name}{lacking} {throughout}"
        names = [other for at, other in members if at == side]
        if len(names) == 1:
            names = [n for n, key in self.keys[side].items() if key == self.keys[side][name]]
        if len(names) == 1 and side == 0:                   # its pieces are equal, then: they are weights of the right
            made = (right for right, found in self.relation.layouts.items() if name in wholes(found))
            names = [right for right in made if right in self.repeats[1]] or names
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN + 1 else ""
        shown = names[:_SHOWN] if more else names
        words = f"{', '.join(shown)}{more}" if more else " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
        return f"{words} {'hold equal numbers' if len(names) > 1 else throughout or 'holds the numbers of another'}"

    def value(self, side: int, name: str) -> torch.Tensor:
        held: Mapping[str, torch.Tensor] = self.inputs if side == 0 and name in self.inputs else self.held[side]
        return held[name]

    def frozen(self, culprits: Collection[tuple[int, str]]) -> Names:
        """The weights of both sides that must be constants where these are: whole right weights, so all of which they
        are made."""
        left = {name for side, name in culprits if side == 0}
        right = {name for side, name in culprits if side == 1}
        before = -1
        while before < len(left) + len(right):
            before = len(left) + len(right)
            right |= {name for name, layout in self.relation.layouts.items() if left & set(wholes(layout))}
            placed = (self.relation.layouts[name] for name in right if name in self.relation.layouts)
            left |= {part for layout in placed for part in wholes(layout)}
        return frozenset(left), frozenset(right)


def _is_shuffled(layout: Layout, others: Iterable[Layout]) -> bool:
    """Does a stack of a numbered list have its members in another order than every stack that values identify?"""
    order = _order(layout)
    known = {other for other in map(_order, others) if other is not None}
    return order is not None and order not in known and any(sorted(other) == sorted(order) for other in known)


def _order(layout: Layout) -> tuple[int, ...] | None:
    """The numbers of the members of one numbered list, in the order in which the layout has them; None for others."""
    names = [numbered(name) for name in wholes(layout)]
    one_list = len(names) > 1 and len({pattern for pattern, _ in names}) == 1
    return tuple(number for _, number in names) if one_list else None
