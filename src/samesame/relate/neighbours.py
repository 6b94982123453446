"""Neighbours: the regions of sizes beside the example's, each proved in its turn.

Programs that ask `T > 64` are proved up to 64 on an example of five rows. At 65 they are other programs: they are
recorded there, on an example made of the given one, and proved for the region in which they decide as they do there;
and so on, while regions are few and examples small. What was proved case by case is said at once only where the cases
leave no size out (formula/cover.py). The weights are related as they are at the example, and whatever else a headline
says (of calls, state, modes) must be so in every case; else it stays a claim about the example's region.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, combinations, count
from typing import Any

from samesame.budget import Progress
from samesame.capture.sizes.family import Apart, Following, Recording, elements, place_text, resized, separate
from samesame.evidence import Case, Refused, Relation, Root, Rung, SamesameError, Sizes
from samesame.formula.assumptions import Assumption, simplified
from samesame.formula.cover import covers, uncovered
from samesame.formula.expr import Expr, Size, const, floordiv, mod
from samesame.formula.region import Condition, Region, Values, around
from samesame.formula.sizes import canonical, replaced, symbols, value_at
from samesame.formula.tensor import Dim
from samesame.graph import Graph, Setting
from samesame.relate.buffers import Names, buffers_as_weights
from samesame.relate.coincidence import Weighed
from samesame.relate.draws import Extremes, at_extremes, take_draws
from samesame.relate.extremes import OF_REALS
from samesame.relate.generalise_sizes import Generalised, families_of, generalise_sizes, said
from samesame.relate.layout import wholes
from samesame.relate.parameters import InputRelation
from samesame.relate.prove import Prover
from samesame.relate.reals import qualified
from samesame.relate.roots import ROUNDED, apart, difference_of_roots, resting
from samesame.relate.rules import Rulebook
from samesame.relate.sides import Sides
from samesame.relate.vanishing import without_noise

MOST = 4                                                   # neighbours that are tried
LARGE = 1 << 20                                            # numbers in all tensors of an example that is not made
SECONDS, TIMES = 3.0, 1.0                                  # for all of them: so long, and so many times the example's
LEAST = 2                                                  # sizes of 0 and 1 are other programs


@dataclass(frozen=True, slots=True)
class Here:
    """The two programs and what is known of them at the example: how they are `recorded` at other sizes and `followed`
    there, their weights, and the graphs over size symbols that were proved the same."""

    sides: Sides
    example: Any
    weighed: Weighed
    record: Recording
    follow: Callable[[Any, tuple[Graph, Graph]], Following]
    graphs: tuple[Graph, Graph]
    seed: int
    book: Rulebook


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One neighbouring region, in the symbols of the example's, and the proof in it."""

    region: Region
    settled: Generalised
    roots: list[Root]
    relations: list[Relation]
    extremes: Extremes
    sides: Sides


@dataclass(slots=True)
class Neighbourhood:
    """What is found around the region of `own`: the neighbours that are proved, sizes at which the programs differ, and
    of the others why there is no proof. A walk is `steps`, one neighbour each, until `until` (on
    time.thread_time); the run ends at the `deadline` (monotonic)."""

    here: Here
    own: Sizes
    until: float
    deadline: float
    progress: Progress | None = None
    proved: list[Neighbour] = field(default_factory=list)
    closed: list[Region] = field(default_factory=list)      # where it did not go on
    apart: str = ""
    open: list[str] = field(default_factory=list)

    def steps(self) -> Iterator[str]:
        """Try the nearest sizes that no region holds, and say which these were."""
        example = self.own.symbols_at(self.own.shapes)
        assert example is not None
        every = Region({name: (LEAST, None) for name in example})
        given = self.sizes(example)
        for number in count():
            known = [self.own.region, *(neighbour.region for neighbour in self.proved), *self.closed]
            at = None if self.apart else uncovered(known, every, example)
            if at is None:
                return
            if number == MOST or self.crawls or time.thread_time() > self.until:
                self.open.append(f"Only {number} neighbouring regions of sizes were tried.")
                return
            where = ", ".join(f"{place_text(p)} = {n}" for p, n in self.sizes(at).items() if n != given[p])
            try:
                self.proved.append(self.neighbour(at))
            except Apart:
                self.apart = where
            except SamesameError as failed:
                why = str(failed).rstrip(".")
                self.open.append(f"At {where} the programs decide otherwise, and nothing is proved there: {why}.")
            except SystemExit as left:
                self.open.append(f"At {where} the programs call sys.exit({left.code!r}).")
            if not self.proved or not self.proved[-1].region.holds(at):
                bounds = {n: (at[n], None) if at[n] > example[n] else (1, at[n]) for n in at if at[n] != example[n]}
                self.closed.append(Region(bounds))
            yield where

    @property
    def crawls(self) -> bool:
        """Are the last two regions one size each, side by side? Then the next would be, too."""
        last = [near.region.bounds for near in self.proved[-2:]]
        ones = [{name: low for name, (low, high) in bounds.items() if low == high} for bounds in last]
        return len(ones) == 2 and any(abs(ones[0].get(name, -1) - n) == 1 for name, n in ones[1].items())

    def sizes(self, at: Values) -> dict[tuple[str, int], int]:
        """The size in each place where the symbols have these values."""
        return {place: value_at(size, at) for place, size in self.own.places.items()}

    def neighbour(self, at: Values) -> Neighbour:
        """The region of these sizes and the proof in it. Raises Apart where the programs differ there, Refused where
        they are not proved the same."""
        here, weighed = self.here, self.here.weighed
        if (many := max(elements(graph, at) for graph in here.graphs)) > LARGE:
            raise Refused(f"an example of that size is too large to try ({many} numbers)")
        program = here.sides.programs[0]
        example = resized(*separate(program, here.example), self.sizes(at))
        sides = Sides(here.sides.programs, here.sides.how, here.sides.ignore)
        graphs = weighed.alike(sides.first(example))
        _require_alike(sides, here.sides)
        relation = _restricted(weighed.relation, graphs)
        taken, values = take_draws(graphs, relation.layouts, here.seed, bold=True)
        values = without_noise(graphs, values)
        others = relation.unpaired_left or relation.unpaired_right or _more(buffers_as_weights(graphs), weighed.weights)
        if others:                                          # which is which was told by all of the example's together
            values = values[0][:1], values[1][:1]
        if apart(graphs, values):
            _part(max(difference_of_roots(graphs, values)))
        if others:
            raise Refused("the programs use other weights there than at the example")
        extremes = at_extremes(graphs, taken, values, here.seed)
        if extremes.draw is not None:
            if extremes.asks is None and extremes.draw.label in dict(OF_REALS):
                raise Refused("comparisons of numbers have one answer there, so inputs were tried that are no numbers: "
                              f"the programs part with {extremes.draw.label}")
            raise Apart(f"they differ on the example with {extremes.draw.label}")
        follow = partial(here.follow, example, graphs)
        families = families_of(program, example, here.record, graphs, follow, neighbour=True)
        widest = next(families)
        prover = Prover(seed=here.seed, deadline=self.deadline, until=self.until, book=here.book)
        settled = generalise_sizes(graphs, chain([widest], families), relation, values, prover, self.progress)
        relating, relations = settled.relating, settled.relating.relations()
        roots = qualified(settled.roots, relating, graphs, values)
        lowest = min(resting(root, relating, relations).evidence.rung for root in roots)
        if lowest < (Rung.PROVED if widest.varying else Rung.PROVED_HERE):
            if time.thread_time() > self.until:
                raise Refused("there was no time left for it")
            why = next(reversed(settled.sizes.lost or settled.sizes.fixed), "no proof was found")
            raise Refused(why)
        told = list(_told(settled.sizes, self.own))
        if not all(condition.holds(at) for condition in told):
            raise Refused("its region could not be said in the sizes of the example")
        return Neighbour(around(at, [Size(name, 1) for name in at], told), settled, roots, relations, extremes, sides)

    def joined(self) -> Sizes:
        """The sizes for which all of it is proved: the widest region that the cases cover."""
        own = self.own
        cases = [Case(own.region, own.bounds), *(
            Case(near.region, near.settled.sizes.bounds, tuple(_conditions(near))) for near in self.proved
        )]
        regions = [case.region for case in cases]
        wide = next((region for region in _wider(regions) if covers(regions, region)), None)
        if wide is None:
            return replace(own, apart=self.apart)
        for case in cases[1:]:                              # one that adds nothing to this region is not named
            if covers([other.region for other in cases if other is not case], wide):
                cases.remove(case)
        varying = said(own.places, wide)
        return replace(own, region=wide, varying=varying, bounds=(), apart=self.apart, cases=tuple(cases))


def _wider(cases: list[Region]) -> Iterator[Region]:
    """Regions of which the first case is a part, the widest first: as far as the cases reach, in all symbols or in
    some, without its conditions or with them."""
    own = cases[0]
    reach: dict[str, tuple[int, int | None]] = {}
    for name in own.bounds:
        lows, highs = zip(*(case.bounds[name] for case in cases), strict=True)
        reach[name] = min(lows), None if None in highs else max(highs)
    grown = [name for name in own.bounds if reach[name] != own.bounds[name]]
    for number in range(len(grown), -1, -1):
        for names in combinations(grown, number):
            bounds = {**own.bounds, **{name: reach[name] for name in names}}
            for conditions in dict.fromkeys(((), own.conditions)):
                if (found := Region(bounds, conditions)) != own:
                    yield found


def _told(found: Sizes, own: Sizes) -> Iterator[Condition]:
    """The region of a neighbour as conditions on the symbols of the example's: both say what size stands in a place."""
    stands: dict[str, Dim] = {}
    for name, shape in own.shapes.items():
        for d, n in enumerate(shape):
            size, there = _anywhere(own.places.get((name, d), n)), found.places.get((name, d))
            if there is None:
                yield Condition("=", size, found.shapes[name][d])
                continue
            (symbol,) = symbols(there)
            step = value_at(there, {symbol.name: 1})
            yield Condition("=", canonical(mod(const(size), const(step))), 0)
            known = stands.setdefault(symbol.name, canonical(floordiv(const(size), const(step))))
            yield Condition("=", size, replaced(there, {symbol.name: known}))
    for name, (low, high) in found.region.bounds.items():
        yield Condition("≥", stands[name], low)
        if high is not None:
            yield Condition("≤", stands[name], high)
    for condition in found.region.conditions:
        here: dict[Expr, Dim] = {s: stands[s.name] for e in (condition.left, condition.right) for s in symbols(e)}
        yield condition.at(here)


def _anywhere(size: Dim) -> Dim:
    """The size over symbols that may be anything from 1 on: the minima of the example's region are not those of others.
    """
    return replaced(size, {symbol.name: Size(symbol.name, 1) for symbol in symbols(size)})


def _conditions(found: Neighbour) -> Iterator[Assumption]:
    """What the proofs of a case used."""
    evidence = [*(relation.evidence for relation in found.relations), *(root.evidence for root in found.roots)]
    yield from simplified(condition for one in evidence for condition in one.conditions)


def _part(worst: float) -> None:
    if worst > ROUNDED:
        raise Apart("the outputs of the two programs differ")
    raise Refused(f"the outputs of the two programs differ by {worst:.2g}, perhaps by rounding")


def _require_alike(found: Sides, own: Sides) -> None:
    """What a headline says beside sizes must be so here, too. Raises Apart where more than numbers differs."""
    if found.differences:
        raise Apart(found.differences[0].text)
    if (found.calls, found.scope, found.ignored) != (own.calls, own.scope, own.ignored):
        raise Refused("a second call, or what is ignored, is another there")
    if any(_state(a) - _state(b) for a, b in zip(found.settings, own.settings, strict=True)):
        raise Refused("the programs ask there for a state for which they do not ask at the example")


def _state(setting: Setting) -> set[Any]:
    asked = {(asked.what, asked.same) for asked in setting.asked if asked.same is not True}
    return {setting.mode, setting.unusual, *asked}


def _restricted(relation: InputRelation, graphs: tuple[Graph, Graph]) -> InputRelation:
    """What it says of the weights that these graphs use."""
    left, right = ({node.name for node in graph.sources("parameter")} for graph in graphs)
    layouts = {n: layout for n, layout in relation.layouts.items() if n in right and {*wholes(layout)} <= left}
    alone = left - {part for layout in layouts.values() for part in wholes(layout)}, right - {*layouts}
    return replace(relation, layouts=layouts, unpaired_left=sorted(alone[0]), unpaired_right=sorted(alone[1]))


def _more(found: Names, own: Names) -> bool:
    return any(names - known for names, known in zip(found, own, strict=True))
