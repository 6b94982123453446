"""check: do two programs compute the same function?

Capture both, run both on a few draws, let values propose and proofs decide, and answer root by root. `same` means
that every root is related with evidence; `different` that some draw tells them apart, and then the report says
where they part and which edit would rejoin them; `undecided` that nothing told them apart and not everything could
be established.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import torch

from samesame.budget import Progress, Run
from samesame.capture.alive import tensors_known
from samesame.capture.program import Foreign, Program
from samesame.capture.sizes.family import Apart, Family, Following, Recording, family
from samesame.capture.sizes.following import follow
from samesame.capture.sizes.remembered import Remembered
from samesame.certificate.certify import certificate
from samesame.diagnose import diagnose, effect_of
from samesame.diagnose.configs import configured
from samesame.evidence import Evidence, Numeric, Picture, Refused, Root, Rung, Verdict
from samesame.formula.assumptions import Assumption, simplified
from samesame.formula.selected import ties_excluded
from samesame.graph import Graph, Node
from samesame.operators.execute import execute
from samesame.operators.hiding import HIDDEN
from samesame.operators.hiding import told as told_of_hidden
from samesame.operators.numbers import LOWEST
from samesame.operators.provisos import provisos
from samesame.operators.table import packet
from samesame.relate.arrangement import in_common
from samesame.relate.carried import carried, counted
from samesame.relate.coincidence import NOTHING, Weighed, weigh
from samesame.relate.counted import counted_enough
from samesame.relate.draws import Draw, Extremes, at_extremes
from samesame.relate.extremes import first_apart
from samesame.relate.flags import flags_of
from samesame.relate.generalise_sizes import families_of, generalise_sizes, lowest
from samesame.relate.handed_on import with_rows_excluded
from samesame.relate.hidden_rows import with_hidden_rows
from samesame.relate.induction import families_by_induction
from samesame.relate.lost_sizes import lost_sizes
from samesame.relate.masks import counts, triangle
from samesame.relate.named_numbers import Tried, with_named_numbers
from samesame.relate.neighbours import SECONDS, TIMES, Here, Neighbourhood
from samesame.relate.parameters import InputRelation
from samesame.relate.picture import count_apart, measuring, picture_of
from samesame.relate.propose import Values, agree, difference
from samesame.relate.prove import Prover, places_of_unknown
from samesame.relate.reals import qualified
from samesame.relate.relating import Relating
from samesame.relate.roots import ROUNDED, apart, difference_of_roots, resting
from samesame.relate.rules import Rulebook
from samesame.relate.sides import Sides, instance
from samesame.relate.stored import Meant, meant, up_to_rounding
from samesame.relate.vanishing import without_noise
from samesame.relate.wider import Larger
from samesame.store import Store
from samesame.versions import versions_of_packages

_REASONS = 5
_LOADED, _COMMON = 1e-4, 0.5        # outputs so near, or such a share of numbers in common: the same weights are loaded
_SHARE = 0.4                # of the time that is left, for capturing the programs at other sizes
_MASKING = frozenset(f"aten.{name}" for name in ("masked_fill", "where", "full", "fill", "mul"))
_PATIENCE = 4.0             # seconds for what cannot be proved, where the outputs differ and proofs only say where
_APART = 8.0                # seconds for all proofs then
_NOISE, _NEARER = 1e-13, 100    # relative: what float64 rounds away; how much nearer outputs come by what is read
_DOUBTFUL = 5.0             # seconds of proofs before larger numbers are tried, and after these part the programs
RANDOM, AS_GIVEN = "random", "as-given"
_NOT_NEAR = "Not every neighbouring region of sizes was tried, for lack of time."
_NOT_CAPTURED = "Not every choice of sizes that may vary was tried, for lack of time."


def check(
    left: Any,
    right: Any,
    inputs: Any,
    *,
    seed: int = 0,
    timeout: float | None = None,
    how: str = "record",
    progress: Progress | None = None,
    run: Run | None = None,
    store: Store | None = None,
    certify: bool = False,
    weights: str = RANDOM,
    ignore: Collection[str] = (),
    picture: bool = False,
) -> Verdict:
    """Decide whether `left` and `right` compute the same function of `inputs`.

    `left` and `right` are each a module, a module class or factory without arguments, a function over tensors, or a
    captured `Graph`; `inputs` is a tuple or dict of example tensors, a function that returns one, or None where a
    program has its own (`program.example`, as the model of a checkpoint does). `how` is the way of capture: "record",
    "export" or "export+decompose". `timeout` (seconds) bounds everything: what is then not established is undecided,
    and a note says where it stopped. On the main thread this holds for the programs' own code too; on another, where no
    signal arrives, only for ours. `progress(done, total, place)` is called as it goes. `run` is one that the caller has
    begun, with a limit and progress of its own. A `store` has rules that were learnt before, and is given those learnt
    now; to `certify` (verdict.certificate, what `samesame replay` reads) everything is proved anew. `weights` are
    "random" (the two are the same if they agree for all weights) or "as-given" (where they agree only because some of
    the given ones hold equal numbers, these are constants). To `ignore` are kinds of differences beside numbers
    (interface.KINDS): structure, values, dtype, shape, aliasing, state. With a `picture`, verdict.picture holds what a
    drawing of both programs needs: operators, formulas, how rounding grows. Raises SamesameError (Refused) where a
    program cannot be captured or the two cannot be compared, ValueError for other `weights`.
    """
    if weights not in (RANDOM, AS_GIVEN):
        raise ValueError(f"weights is {weights!r}; give {RANDOM!r} or {AS_GIVEN!r}")
    run = run or Run(timeout, progress)
    verdict = Verdict("undecided", Rung.UNDECIDED, versions=versions_of_packages(), seed=seed)
    with run.bounded(), tensors_known():
        sides = Sides((left, right), how, ignore)
        _establish(verdict, sides, inputs, weights, run, Rulebook(store, closed=certify), picture)
    verdict.notes += run.notes()
    verdict.timing = run.seconds
    verdict.left, verdict.right = _title(left), _title(right)
    return verdict


def _establish(
    verdict: Verdict, sides: Sides, inputs: Any, weights: str, run: Run, book: Rulebook, picture: bool
) -> None:
    """Write into the verdict what is found, stage by stage: what stands there when the run is stopped is kept."""
    with run.during("capture"):
        programs = sides.programs = instance(sides.programs[0]), instance(sides.programs[1])
        example = inputs() if callable(inputs) else _own_inputs(programs) if inputs is None else inputs
        graphs = recorded = sides.first(example)
        verdict.settings = sides.settings
        verdict.differences, verdict.ignored, verdict.scope = sides.differences, sides.ignored, sides.scope
        unlike = [_not_comparable(*pair) for pair in sides.unpaired]
        if not graphs[0].roots:
            verdict.verdict, verdict.evidence, verdict.roots = "different", Rung.REFUTED, unlike
            verdict.notes = list(sides.notes)
            return
        verdict.roots = [_not_reached(name, a, b) for (name, a), (_, b) in zip(*(g.roots for g in graphs), strict=True)]
    with run.during("execute"):
        given = weights == AS_GIVEN or any(isinstance(program, Foreign) for program in programs)
        weighed = weigh(graphs, verdict.seed, as_given=given, twins=_twins(programs[0], example), deadline=run.deadline)
        graphs, relation, taken, values = weighed.graphs, weighed.relation, weighed.draws, weighed.values
        verdict.weights = weights
        verdict.only = ["for these weights"] if weights == AS_GIVEN or weighed.frozen != NOTHING else []
        verdict.only += [f"where {' and '.join(weighed.one)}"] if weighed.one else []
        read = None if weighed.because or weighed.frozen != NOTHING else _meant(weighed, verdict.seed)
        if read is not None:
            graphs, relation, taken, values = read.graphs, read.relation, read.taken, read.values
            verdict.readings = read.readings
        differ = apart(graphs, values)
        extremes = Extremes() if differ or run.over else at_extremes(graphs, taken, values, verdict.seed)
        tried = Tried() if differ or run.over else with_named_numbers(graphs, taken[0], verdict.seed)
        verdict.only += tried.without
        verdict.only += counted_enough(graphs)
        extremes = tried.apart if extremes.draw is None and tried.apart.draw is not None else extremes
        as_drawn = graphs
        if extremes.draw is not None:
            taken, differ = [*taken, extremes.draw], True
            values = [*values[0], extremes.values[0]], [*values[1], extremes.values[1]]

    def at_other_sizes(example: Any) -> tuple[Graph, Graph]:
        return _read_alike(weighed.alike(sides.at_other_sizes(example)), read)

    alike = Remembered(at_other_sizes, sides.settings_of_recording)
    record = Remembered(partial(_recorded_alike, alike), sides.settings_of_recording)
    alone = any(isinstance(side, Graph) for side in programs) or bool(weighed.one) or bool(sides.differences)

    def families(
        graphs: tuple[Graph, Graph], record: Recording, values: tuple[Values, Values]
    ) -> Iterator[Family]:
        if run.over or differ or alone:
            return iter(())
        follow = partial(_followed, programs, sides.how, example, weighed.graphs)
        tied = partial(family, programs[0], example, tied=True)
        looping = families_by_induction(graphs, values, record, tied, relation.layouts)
        found = chain(looping, families_of(programs[0], example, record, graphs, follow))
        return run.sparing(found, _SHARE, _NOT_CAPTURED)

    with run.during("prove"):
        different = bool(differ or sides.differences)
        prover = _prover(verdict.seed, run, book, different)
        larger = Larger(graphs, taken[0], (values[0][0], values[1][0]), relation.layouts, verdict.seed)
        doubtful = time.thread_time() + _DOUBTFUL

        def advance(done: int, total: int, place: str) -> None:
            if not (different or larger.tried or time.thread_time() < doubtful) and larger.parted is not None:
                prover.until = time.thread_time() + _DOUBTFUL
            run.advance(done, total, place)

        flags = None if differ else flags_of(graphs)
        prove = partial(generalise_sizes, relation=relation, prover=prover, progress=advance)
        settled = prove(graphs, families(graphs, record, values), values=values, harder=flags is None)
        flags = flags if lowest(settled) < Rung.ROUNDED else None
        if flags is not None and lowest(settled) is Rung.TESTED:
            verdict.only.append(flags.condition)                   # all draws were of zeros and ones
        elif flags is not None and not run.over:
            told = flags.rewrite(graphs), flags.values(values)
            there = families(told[0], partial(_recorded_alike, lambda example: flags.rewrite(alike(example))), told[1])
            again = prove(told[0], there, values=told[1])
            if lowest(again) > Rung.UNDECIDED:
                settled, (graphs, values) = again, told
                verdict.only.append(flags.condition)
            else:
                settled = prove(graphs, families(graphs, record, values), values=values)
        relating = settled.relating
        verdict.only += tried.of_classes if relating.of_classes else ()
        roots = qualified(settled.roots, relating, graphs, values)
        _decide(verdict, roots if read is None else up_to_rounding(roots, read), relating, run, unlike)
        doubted = verdict.verdict == "undecided" and graphs is larger.graphs and not relation.suspects
        parted = larger.parted if doubted and (larger.tried or not run.over) else None
        if parted is not None:
            extremes, differ = Extremes(draw=parted[0], values=parted[1]), True
            taken, values = [*taken, parted[0]], ([*values[0], parted[1][0]], [*values[1], parted[1][1]])
            settled = prove(graphs, iter(()), values=values, prover=_prover(verdict.seed, run, book, different=True))
            relating = settled.relating
            _decide(verdict, qualified(settled.roots, relating, graphs, values), relating, run, unlike)
        evidence = [found.evidence for found in verdict.roots] + [found.evidence for found in verdict.relations]
        conditions = [condition for one in evidence for condition in one.conditions]
        conditions = with_rows_excluded(conditions, relating)
        verdict.only += _only(conditions)
        verdict.only += counted_enough((relating.left, relating.right), but=graphs)    # at all sizes, too
        verdict.notes += sides.notes
        verdict.advice = _advice(relation, graphs, values)
        if verdict.verdict == "different":
            verdict.notes += [f"No rounding: {wrong}." for wrong in relation.refused]
        verdict.notes += _of_extremes(extremes, graphs)
        verdict.because = weighed.because if verdict.verdict == "different" else ""
        if weighed.open and verdict.verdict == "undecided":
            verdict.notes.append(f"{weighed.open[0].upper()}{weighed.open[1:]}.")
        verdict.sizes = settled.sizes
        if verdict.verdict == "same" and settled.sizes.fixed and not run.over:
            by_files = tuple(lost_sizes(programs, settled.sizes, example, sides.how))
            verdict.sizes = replace(settled.sizes, by_files=by_files)
            verdict.notes += [f"{one}: if others are meant, export it with that size dynamic." for one in by_files]
        verdict.notes += book.notes()
        verdict.picture = picture_of(relating) if picture else None
        if settled.sizes.apart and verdict.verdict == "same":
            verdict.verdict, verdict.evidence = "different", Rung.REFUTED
        run.seconds["proofs"] = settled.seconds
        book.save()
        if book.closed and verdict.verdict == "same" and not verdict.only and relating.leads_to_outputs():
            forms = () if read is None else [read.form(k, recorded[k]) for k in (0, 1)]
            verdict.certificate = certificate(relating, verdict, forms)
        if verdict.verdict == "same" and not run.over:
            verdict.only += with_hidden_rows(as_drawn, taken[0])   # a certificate lists the conditions behind it
    with run.during("diagnose"):
        if verdict.verdict == "different" and not verdict.sizes.apart and differ:
            verdict.effect = effect_of(graphs, values)
            other = configured(programs, example, graphs, taken, values)
            configs = None if other is None else other.edits
            verdict.divergence, verdict.diagnosis = diagnose(relating, values, taken, run.deadline, configs)
            verdict.notes += [] if other is None or run.over else other.paths()
    with run.during("numeric"):
        verdict.numeric = _numeric(weighed.graphs, weighed.draws, weighed.values, verdict.picture)
    if _is_bounded(verdict) and read is None and not book.closed:
        here = Here(sides, example, weighed, record, partial(_followed, programs, sides.how),
                    (relating.left, relating.right), verdict.seed, book)
        with run.during("neighbours"):
            _neighbours(verdict, here, run)


def _prover(seed: int, run: Run, book: Rulebook, different: bool) -> Prover:
    """A prover, of programs whose outputs are known to be different or not: proofs only say where, then."""
    prover = Prover(seed=seed, deadline=run.deadline, book=book)
    if different:
        prover.patience, prover.until = _PATIENCE, time.thread_time() + _APART
    return prover


def _only(assumptions: Iterable[Assumption]) -> list[str]:
    """What a headline says of what proofs took for granted."""
    used = simplified(assumptions)
    return [*told_of_hidden(used), *(f"where {told}" for told in ties_excluded(used)),
            *(f"if {told}" for told in provisos(used))]


def _is_bounded(verdict: Verdict) -> bool:
    """Is it the same in a region that decisions of the programs bound?"""
    proved = verdict.verdict == "same" and verdict.evidence is Rung.PROVED and not verdict.only
    return proved and bool(verdict.sizes.bounds)


def _neighbours(verdict: Verdict, here: Here, run: Run) -> None:
    """Prove the same in the regions of sizes beside the example's, and say what holds in all of them."""
    until = time.thread_time() + SECONDS + TIMES * sum(run.seconds.values())
    around = Neighbourhood(here, verdict.sizes, until, run.deadline, run.advance)
    for _ in run.sparing(around.steps(), _SHARE, _NOT_NEAR):
        pass
    verdict.sizes = around.joined()
    verdict.only += _only(condition for case in verdict.sizes.cases for condition in case.conditions)
    if around.apart:
        verdict.verdict, verdict.evidence = "different", Rung.REFUTED
    for found in around.proved:
        graphs = found.settled.relating.left, found.settled.relating.right
        verdict.only += [told for told in counted_enough(graphs) if told not in verdict.only]
        notes = [*found.sides.notes, *_notes(found.settled.relating), *_of_extremes(found.extremes, graphs)]
        verdict.notes += [note for note in notes if note not in verdict.notes]
    verdict.notes += [*around.open, *(note for note in here.book.notes() if note not in verdict.notes)]


def _of_extremes(found: Extremes, graphs: tuple[Graph, Graph]) -> list[str]:
    """What programs do with extreme inputs: where they part, or that they agree on what they ask for."""
    if found.draw is not None:
        (mine, yours), pairs = found.values, zip(*(graph.roots for graph in graphs), strict=True)
        outputs = [(name, mine[a.name], yours[b.name]) for (name, a), (_, b) in pairs]
        name, x, y = next(output for output in outputs if not agree(output[1], output[2]))
        return [f"They part on the example with {found.draw.label}: output {name}{first_apart(x, y)}."]
    if found.asks is None:
        return []
    tried = f"on the example with {', '.join(found.agree)} they agree" if found.agree else "no input takes others"
    return [f"{found.asks.operator} at {found.asks.origin.spoken} tells numbers from NaN or ±∞: what is proved is "
            f"about finite inputs; {tried}."]


def _not_reached(name: str, left: Node, right: Node) -> Root:
    return Root(name, left.name, right.name, Evidence(Rung.UNDECIDED, "values", detail="it was not compared"))


def _not_comparable(name: str, left: Node, right: Node) -> Root:
    told = f"{left.type} on the left and {right.type} on the right"
    return Root(name, left.name, right.name, Evidence(Rung.REFUTED, "shape", detail=told))


# -------------------------------------------------------------------------------------------------------- the two sides


def _followed(programs: tuple[Any, Any], how: str, example: Any, graphs: tuple[Graph, Graph]) -> Following:
    """What both programs ask of their sizes on these inputs, on which they were recorded as these graphs."""
    left, right = (
        follow(program, example, graph, how) for program, graph in zip(programs, graphs, strict=True)
    )
    return left, right


def _meant(weighed: Weighed, seed: int) -> Meant | None:
    """The programs with stored numbers read as they are meant: asked only where they differ, or where weights have no
    partner, or are further apart than float64 rounds; taken only where they come together by that, or where all that is
    stored is read and they still part, by more than rounding: what a reading leaves may be its own."""
    relation, differ = weighed.relation, apart(weighed.graphs, weighed.values)
    if not differ and not relation.unpaired_left and not relation.unpaired_right:
        gap = max(difference_of_roots(weighed.graphs, weighed.values), default=0.0)
        found = meant(weighed.graphs, relation, seed) if gap > _NOISE else None
        nearer = found is not None and max(difference_of_roots(found.graphs, found.values)) < gap / _NEARER
        return found if nearer else None
    found = meant(weighed.graphs, relation, seed)
    if found is None or (not found.differs and (differ or found.readings)):
        return found
    near = max(difference_of_roots(found.graphs, found.values)) <= ROUNDED
    if found.differs and found.is_read_whole and not near:
        return found
    read = frozenset(one.node.name for one in found.stored if near and found.differs)
    relation.suspects, relation.refused = found.unknown | read, found.wrong
    return None


def _read_alike(graphs: tuple[Graph, Graph], read: Meant | None) -> tuple[Graph, Graph]:
    """Graphs at other sizes, their stored numbers read in the same way."""
    return graphs if read is None else read.rewrite(graphs)


def _recorded_alike(record: Recording, example: Any) -> tuple[Graph, Graph]:
    """The graphs on inputs of other sizes. Raises Apart where the programs differ in value there."""
    graphs = record(example)
    left, right = (execute(graph, graph.tensors, keep=False) for graph in graphs)
    values: tuple[Values, Values] = [left], [right]                     # type: ignore[list-item]    # of roots
    if apart(graphs, values) and not _rounding_only(graphs):
        worst = max(difference_of_roots(graphs, values))
        if worst > ROUNDED:
            raise Apart("the outputs of the two programs differ at other sizes")
        raise Refused(f"the outputs of the two programs differ by {worst:.2g} at other sizes, perhaps by rounding")
    return graphs


def _rounding_only(graphs: tuple[Graph, Graph]) -> bool:
    """Are the outputs that differ zero, but for rounding?"""
    left, right = (execute(graph, graph.tensors) for graph in graphs)
    values: tuple[Values, Values] = [left], [right]                     # type: ignore[list-item]    # some are tuples
    return not apart(graphs, without_noise(graphs, values))


def _own_inputs(programs: tuple[Any, Any]) -> Any:
    """The inputs that a program has of itself: a model of a checkpoint has."""
    for program in programs:
        example = getattr(program, "example", None)
        if example is not None:
            return example
    raise Refused("no inputs to run both programs on; give a tuple or a dict of example tensors")


def _twins(program: Any, example: Any) -> list[tuple[int, int]]:
    """Positions of inputs that are one tensor, the earlier first."""
    given = [] if isinstance(program, Graph) else [tensor for _, tensor in Program(program, example).given]
    first = {id(tensor): position for position, tensor in reversed(list(enumerate(given)))}
    return [(first[id(tensor)], later) for later, tensor in enumerate(given) if first[id(tensor)] < later]


# ---------------------------------------------------------------------------------------------------------- the verdict


def _decide(verdict: Verdict, roots: list[Root], relating: Relating, run: Run, unlike: list[Root]) -> None:
    """Write the answer into the verdict, and what it stands on. Outputs that are `unlike` have no common shape."""
    relations = carried(relating.relations(), relating.right)
    roots = [*(resting(root, relating, relations) for root in roots), *unlike]
    lowest = min((root.evidence.rung for root in roots), default=Rung.UNDECIDED)
    if verdict.differences:
        lowest = Rung.REFUTED
    verdict.verdict = {Rung.REFUTED: "different", Rung.UNDECIDED: "undecided"}.get(lowest, "same")
    verdict.evidence, verdict.roots, verdict.relations = lowest, roots, relations
    verdict.unpaired = _unpaired(relating.inputs)
    verdict.notes = _notes(relating)
    if relating.stopped and verdict.verdict == "different" and not run.over:
        verdict.notes.append("The outputs differ, so not every proof of what else agrees was tried.")
    elif relating.stopped and not run.interrupted:
        verdict.notes.append(f"Not everything was tried: {relating.stopped}.")
    if lowest is Rung.UNDECIDED:
        verdict.notes += [*_finite_masks(relating), *_left_open(relating)]
    verdict.counts = counted(relating, relations, "left operators", "right operators")


def _unpaired(relation: InputRelation) -> list[str]:
    return [f"left {name}" for name in relation.unpaired_left] + [f"right {name}" for name in relation.unpaired_right]


def _advice(relation: InputRelation, graphs: tuple[Graph, Graph], values: tuple[Values, Values]) -> str:
    """What to do about weights of both sides that have no partner: they may not be the same, or packed in a way that
    is not known. Outputs that agree for the weights given, and numbers that both have, speak for the latter."""
    lone = [[graph.tensors[name] for name in names if name in graph.tensors and graph.tensors[name].is_floating_point()]
            for graph, names in zip(graphs, (relation.unpaired_left, relation.unpaired_right), strict=True)]
    if not all(lone):
        return ""
    given = max(difference_of_roots(graphs, (values[0][:1], values[1][:1])), default=0.0)
    if given > _LOADED and in_common(*lone) < _COMMON:
        return "Both sides have weights that the other lacks: load the same weights into both, and check again."
    why = "The outputs agree for the weights given" if given <= _LOADED else "Most of their numbers occur on both sides"
    return (f"{why}, but no way was found in which the weights of one are cut, moved, added, multiplied or divided out "
            "of the other's, so nothing can be said about other weights.")


def _notes(relating: Relating) -> list[str]:
    notes = ["Proofs are over the real numbers and unbounded integers: inputs are finite, and casts are the identity."]
    if relating.inputs.unpaired_left or relating.inputs.unpaired_right:
        notes.append("Weights without a partner take part with numbers of their own.")
    paired = Counter(relating.inputs.how.values())
    if paired:
        ways = ", ".join(f"{number} by {how}" for how, number in sorted(paired.items()))
        notes.append(f"Weights that hold the same numbers as others were told apart: {ways}.")
    notes += _masks(relating.left, relating.right)
    if relating.rounded:
        left, right = relating.rounded
        notes.append(
            f"A constant of the left ({left.origin}) and one of the right ({right.origin}) differ by rounding only."
        )
    both = set.intersection(*(kernels_in(graph) for graph in (relating.left, relating.right)))
    if both:
        notes.append(
            f"Both sides launch {', '.join(sorted(both))}: if only one was meant to, a patch of a module changed both."
        )
    return notes


def _masks(left: Graph, right: Graph) -> Iterator[str]:
    """Buffers that are read as the masks which they hold, in a sentence each."""
    for side, graph in (("left", left), ("right", right)):
        for node in graph.sources("constant"):
            value, name = graph.tensors[node.name], node.origin.parameter
            mask, row = (triangle(value), counts(value)) if name else (None, None)
            if mask is not None:
                yield f"The buffer {name} of the {side} is taken as the mask that it holds: {mask}."
            if row is not None:
                numbers = ", ".join(map(str, value.flatten()[:3].tolist()))
                held = f"{numbers}, and so on, {value.numel()} of them"
                yield f"The buffer {name} of the {side} is taken as the numbers that it holds: {held}."


def kernels_in(graph: Graph) -> set[str]:
    """The Triton kernels that a program launches."""
    launched = (node.operator for node in graph.nodes if node.operator.startswith("triton."))
    return {operator.split(".")[1].rpartition("_")[0] for operator in launched}


def _finite_masks(relating: Relating) -> list[str]:
    """Numbers like −1e9 that masks put in, of which few programs mean that what is masked still counts a little."""
    masking = [n for g in (relating.left, relating.right) for n in g.nodes if packet(n.operator) in _MASKING]
    return list(dict.fromkeys(
        f"{node.origin.spoken} puts in {number:g}: over the reals exp({number:g}) is not 0, and with −∞ in its place "
        "no proof was found either. Where −∞ is meant, write -float('inf')."
        for node in masking
        for number in node.args
        if isinstance(number, float) and -math.inf < number <= HIDDEN and number not in LOWEST
    ))


def _left_open(relating: Relating) -> list[str]:
    """Why blocks could not be decided, each reason once: limits that were hit, and what stood in the way of a proof."""
    joint, graphs = relating.joint, (relating.left, relating.right)
    origins = {
        joint.term[node]: node.origin.spoken for graph in graphs for node in graph.nodes if node.origin.file
    }
    reasons = Counter(
        f"{rule.reason}{f' ({places})' if (places := places_of_unknown(rule.block, rule.reason, origins)) else ''}"
        for rule in relating.prover.rules.values() if rule.evidence is None and rule.reason
    )
    shown = [f"Not proved{f', {n} times' if n > 1 else ''}: {why}." for why, n in reasons.most_common(_REASONS)]
    rest = len(reasons) - len(shown)
    more = [f"And {rest} more reasons why a block was not proved."] if rest else []
    return [*relating.told.left_out(), *shown, *more]


# ---------------------------------------------------------------------------------------------------------- the numbers


def _numeric(
    graphs: tuple[Graph, Graph], taken: list[Draw], values: tuple[Values, Values], picture: Picture | None
) -> list[Numeric]:
    """Each side in its own precision against its own float64 run on the same inputs and weights."""
    pairs = zip(graphs[0].roots, graphs[1].roots, strict=True)
    roots = [(name, (a, b)) for (name, a), (_, b) in pairs if values[0][0][a.name].dtype.is_floating_point]
    errors: list[tuple[list[float], list[float]]] = [([], []) for _ in roots]
    for place, draw in enumerate(taken):                         # one run at a time: each is as large as the program
        results: list[list[Any]] = [[] for _ in roots]
        for side, sources in enumerate((draw.left, draw.right)):
            seen = measuring(values[side][0], picture.errors[side]) if picture is not None and place == 0 else None
            own: Any = execute(graphs[side], sources, precision="own", keep=False, seen=seen)
            for (_, nodes), found, result in zip(roots, errors, results, strict=True):
                found[side].append(difference(values[side][place][nodes[side].name], own[nodes[side].name]))
                result.append(own[nodes[side].name])
        for (name, _), both in zip(roots, results, strict=True):
            if picture is not None:
                count_apart(picture.apart.setdefault(name, {}), *both)
    return [
        Numeric(name, max(mine), max(yours), a.type.dtype, len(taken))  # type: ignore[union-attr]
        for (name, (a, _)), (mine, yours) in zip(roots, errors, strict=True)
    ]


def _title(program: Any) -> str:
    if isinstance(program, Graph):
        return program.name
    if isinstance(program, torch.nn.Module):
        return type(program).__name__
    return getattr(program, "__name__", None) or type(program).__name__
