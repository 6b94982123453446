"""Generalise sizes: prove two programs equal at the most general sizes for which it can be done.

First at the sizes of the example: that decides what is related to what. Then the same proofs are made once more over
size symbols, on families of graphs: with equal sizes of the example as one size, and if that succeeds apart; if not,
without the sizes that constants depend on (a table of positions has the rows it has). What succeeds holds for all
sizes, under no more conditions than at those of the example; the sizes that stayed numbers are named with the reason.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

from samesame.budget import Progress
from samesame.capture.calls import SECOND_INPUT
from samesame.capture.sizes.family import Family, Following, Place, Recording, family, place_text
from samesame.capture.sizes.fit import Misfit
from samesame.evidence import Root, Rung, Sizes
from samesame.formula.assumptions import simplified
from samesame.formula.region import Region
from samesame.formula.sizes import size_text, symbols, value_at
from samesame.formula.tensor import Dim
from samesame.graph import Graph
from samesame.operators.provisos import provisos
from samesame.operators.table import packet
from samesame.relate.handed_on import with_rows_excluded
from samesame.relate.induction import Inductive
from samesame.relate.joined import JoinProposer
from samesame.relate.lapses import lapse
from samesame.relate.layout import cuts
from samesame.relate.parameters import InputRelation
from samesame.relate.pieces import PieceProposer
from samesame.relate.propose import Proposer, Values
from samesame.relate.prove import Prover
from samesame.relate.relating import LARGEST_OF_ROOTS, Relating, relate
from samesame.relate.roots import compare_roots, resting
from samesame.relate.sized import closed_values, symbols_of_constants
from samesame.relate.tabulated import tabulated

SYMBOLIC_SECONDS = 2.0      # for the normal form of one block over size symbols
SECONDS, TIMES = 4.0, 4.0   # for all families: so long, and so many times what the example took
CONSTANT = "constants of the programs depend on it, and were compared by their values"
JOINING = frozenset(f"aten.{name}" for name in ("cat", "stack", "slice_scatter", "select_scatter", "index_put"))
_REASON = 160               # characters of it that are shown


@dataclass(slots=True)
class Generalised:
    """The outcome at the most general sizes for which everything could be proved."""

    relating: Relating
    roots: list[Root]
    sizes: Sizes = field(default_factory=Sizes)
    seconds: float = 0.0


def families_of(
    program: Any,
    example: Any,
    record: Recording,
    graphs: tuple[Graph, Graph],
    follow: Callable[[], Following],
    *,
    neighbour: bool = False,
) -> Iterator[Family]:
    """Families to try: with equal sizes of the example as one, apart, without the sizes that constants depend on. Of a
    `neighbour` only the widest, and what lies beyond is looked at by others."""
    follow = cache(follow)
    tied = family(program, example, record, graphs, tied=True, follow=follow, beyond=not neighbour)
    yield from _with_and_without_tables(tied)
    if any(len(v.places) > 1 for v in tied.varying):
        free = family(program, example, record, graphs, follow=follow)
        if {v.places for v in free.varying} != {v.places for v in tied.varying}:
            yield from _with_and_without_tables(free)
    if neighbour:
        return
    own = [v.symbol.name for v in tied.varying]
    used = {name for graph in tied.graphs for name in symbols_of_constants(graph)}
    constant = [name for name in reversed(own) if name in used]      # a position varies faster than a batch
    others = [name for name in reversed(own) if name not in used]
    for names, why in [
        (_of_unlike_roots(tied), "the outputs have one shape at this size only"),
        *(({name}, CONSTANT) for name in constant),
        (set(constant), CONSTANT),
        *(({name}, "no proof was found for every one") for name in others),
    ]:
        if names and names != set(own):
            with suppress(Misfit):                         # nothing else varies without them
                yield tied.without(names, why)


def _with_and_without_tables(found: Family) -> Iterator[Family]:
    table = tabulated(found)
    if table is not None:
        yield table
    yield found


def _of_unlike_roots(found: Family) -> set[str]:
    """The symbols at which outputs have the same shape at some sizes only."""
    pairs = zip(*(graph.roots for graph in found.graphs), strict=True)
    sizes = [size for (_, a), (_, b) in pairs for size in zip(a.shape, b.shape, strict=True) if size[0] != size[1]]
    return {symbol.name for pair in sizes for size in pair for symbol in symbols(size)}


def generalise_sizes(
    graphs: tuple[Graph, Graph],
    families: Iterator[Family],
    relation: InputRelation,
    values: tuple[Values, Values],
    prover: Prover,
    progress: Progress | None,
    *,
    harder: bool = True,
) -> Generalised:
    """Prove the programs equal at the sizes of the example, `harder` as long as there is time, and then what was proved
    for all sizes."""
    here = _attempt(graphs, relation, values, prover, progress)
    while harder and lowest(here) is Rung.UNDECIDED and prover.try_harder():
        here = _attempt(graphs, relation, values, prover, progress)
    here.seconds, here.sizes = prover.seconds, Sizes(shapes=_shapes(graphs[0]))
    if lowest(here) < Rung.PROVED_HERE:
        return here
    seconds, fixed, told = prover.seconds, tuple[str, ...](), provisos_of(here)
    left = SECONDS + TIMES * sum(relation.evidence.seconds for relation in here.relating.relations())
    best: Generalised | None = None
    differ = ""
    for found in _until_one_fails(families, prover):
        differ = differ or _where(found)
        if best is not None and len(found.varying) <= len(best.sizes.varying):
            break
        if not found.varying:
            fixed = fixed or found.fixed
            continue
        if isinstance(found, Inductive) and prover.book.closed:
            continue                                       # a certificate has no words for an induction
        general = replace(prover, sizes=found.example, alike=bool(found.lost), rules={}, seconds=0.0)
        general.learning, general.questions = 0.0, {}
        general.ideal, general.literal, general.hidden, general.untied = set(), set(), set(), set()
        general.proofs = general.attempts = general.by_rule = 0
        general.budget = replace(prover.budget, seconds=SYMBOLIC_SECONDS)
        started = time.thread_time()
        general.until = until = started + left
        there = _at_all_sizes(found, relation, values, general, progress, here.relating)
        if isinstance(there, Generalised) and (more := [one for one in provisos_of(there) if one not in told]):
            there = f"the proof for all of them holds if {' and if '.join(more)}"
        left -= time.thread_time() - started - (general.until - until)
        seconds += general.seconds
        if isinstance(there, Generalised) and lowest(there) >= Rung.PROVED_ALIKE:
            there.sizes, best = replace(_sizes_of(found), shapes=_shapes(graphs[0])), there
        elif best is not None:
            break
        if not isinstance(found, Inductive):
            fixed = fixed or (*found.fixed, f"{', '.join(map(str, found.varying))}: {_why_not(there)}")
    if best is None:
        fixed = fixed or tuple(map(_why_not, prover.book.lapses))
        best, here.sizes = here, Sizes(fixed=fixed, shapes=_shapes(graphs[0]))
    best.seconds, best.sizes = seconds, replace(best.sizes, apart=differ)
    return best


def _where(found: Family) -> str:
    """Sizes at which the two programs were seen to differ: `x.shape[1] = 65`."""
    own = {(name, d): n for name, shape in _shapes(found.graphs[0]).items() for d, n in enumerate(shape)}
    for sizes in found.apart:
        return ", ".join(f"{place_text(place)} = {n}" for place, n in sizes.items() if n != own[place])
    return ""


def _attempt(
    graphs: tuple[Graph, Graph],
    relation: InputRelation,
    values: tuple[Values, Values],
    prover: Prover,
    progress: Progress | None,
    guide: Relating | None = None,
    fed: Mapping[str, Sequence[str]] | None = None,
) -> Generalised:
    constants = closed_values(graphs[0], values[0]), closed_values(graphs[1], values[1])
    whole = PieceProposer if joins(graphs[1]) or has_pieces(relation) else Proposer
    proposer = partial(JoinProposer, whole, graphs[1])
    relating = relate(*graphs, relation, values, constants, prover, progress, guide, proposer, fed=fed or {},
                      of_roots=LARGEST_OF_ROOTS)
    return Generalised(relating, compare_roots(relating, values))


def _until_one_fails(families: Iterator[Family], prover: Prover) -> Iterator[Family]:
    """The families up to one that we fail to make, which is told."""
    try:
        yield from families
    except Exception as error:
        prover.book.lapses[lapse(error)] = None


def _at_all_sizes(
    found: Family,
    relation: InputRelation,
    values: tuple[Values, Values],
    general: Prover,
    progress: Progress | None,
    guide: Relating,
) -> Generalised | str:
    """What is proved at all sizes of a family; or where we failed, which costs this family alone, and is told."""
    try:
        if isinstance(found, Inductive):
            return _by_induction(found, relation, general, progress, len(guide.left.roots))
        return _attempt(found.graphs, relation, values, general, progress, guide)
    except Exception as error:
        failed = lapse(error)
        general.book.lapses[failed] = None
        return failed


def _by_induction(
    found: Inductive, relation: InputRelation, general: Prover, progress: Progress | None, outputs: int
) -> Generalised:
    """The outputs, so many, as far as all claims of the induction are proved: at the example's sizes, then at all."""
    at_these = replace(general, sizes={}, alike=False, rules={})
    there = _attempt(found.of_example, relation, found.values, at_these, progress, fed=found.fed)
    if lowest(there) >= Rung.PROVED_HERE:
        there = _attempt(found.graphs, relation, found.values, general, progress, there.relating, found.fed)
    known = [*(root.evidence for root in there.roots), *(one for _, _, one in there.relating.related.values())]
    assumed = [condition for one in known for condition in one.conditions if found.mentions(condition)]
    for node in found.graphs[1].sources("input")[-found.added :]:
        there.relating.related.pop(node, None)             # of the claims, and of no program
    weakest = min((root.evidence for root in there.roots), key=lambda evidence: evidence.rung)
    if assumed:                                            # of a round that nobody shows to be given such
        weakest = replace(weakest, rung=Rung.UNDECIDED, detail=f"{found.spoken} needs {assumed[0]}")
    conditions = simplified(condition for root in there.roots for condition in root.evidence.conditions)
    detail = weakest.detail if weakest.rung < Rung.PROVED_HERE else f"induction over {found.spoken}"
    there.roots = [replace(root, evidence=replace(root.evidence, rung=weakest.rung, detail=detail,
                                                  conditions=conditions)) for root in there.roots[:outputs]]
    return there


def joins(graph: Graph) -> bool:
    """Does it put tensors together that it computes, as a cache of keys and what is new? Then its tensors may be pieces
    of another program's."""
    return any(packet(node.operator) in JOINING and any(not part.is_source for part in node.inputs)
               for node in graph.nodes)


def has_pieces(relation: InputRelation) -> bool:
    """Has the right side pieces of weights, as a loop over heads does? Then it makes pieces of what these make."""
    return any(map(cuts, relation.layouts.values()))


def lowest(settled: Generalised) -> Rung:
    """The rung of the output that is shown least."""
    relations = settled.relating.relations()
    rungs = [resting(root, settled.relating, relations).evidence.rung for root in settled.roots]
    return min(rungs, default=Rung.PROVED)


def provisos_of(settled: Generalised) -> list[str]:
    """What a headline is to say of what the proofs took for granted."""
    known = [*(root.evidence for root in settled.roots), *(one for _, _, one in settled.relating.related.values())]
    conditions = (condition for one in known for condition in one.conditions)
    return provisos(with_rows_excluded(conditions, settled.relating))


def _shapes(graph: Graph) -> dict[str, tuple[int, ...]]:
    """The shapes of the example, by the names of inputs; those of a second call are the same."""
    return {node.name: tuple(graph.tensors[node.name].shape) for node in graph.sources("input")
            if not node.name.startswith(SECOND_INPUT)}


def said(places: Mapping[Place, Dim], region: Region) -> tuple[str, ...]:
    """What varies: `B = x.shape[0] ≥ 2`, with its upper bound where it has one: `T = x.shape[1] ≥ 2, ≤ 64`."""
    told = []
    for name, (low, high) in region.bounds.items():
        own = [place for place, size in places.items() if name in {symbol.name for symbol in symbols(size)}]
        size, equal = places[own[0]], " = ".join(map(place_text, own))
        most = "" if high is None else f", ≤ {value_at(size, {name: high})}"
        told.append(f"{size_text(size)} = {equal} ≥ {value_at(size, {name: low})}{most}")
    return tuple(told)


def _sizes_of(found: Family) -> Sizes:
    ran = (", ".join(f"{name} = {n}" for name, n in run.items()) for run in found.runs)
    places = {place: v.size for v in found.varying for place in v.places}
    varying, shapes, told = said(places, found.region), _shapes(found.graphs[0]), tuple(dict.fromkeys(ran))
    return Sizes(varying, found.fixed, told, shapes, places, found.region, found.runs, found.bounds, found.lost)


def _why_not(settled: Generalised | str) -> str:
    """Why there is no proof for all sizes: what was said of the last block that could not be decided, or of us."""
    if isinstance(settled, str):
        return f"no proof for all sizes: {settled}"
    failed = [rule.reason for rule in settled.relating.prover.rules.values() if rule.evidence is None]
    why = "; ".join(filter(None, [settled.relating.stopped, failed[-1] if failed else ""])) or "it was tested only"
    return f"no proof for all sizes: {why[:_REASON]}{'…' if len(why) > _REASON else ''}"
