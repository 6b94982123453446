"""The verb: from a sequential program and the graphs of all ranks to a verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import torch

from samesame.budget import Progress, Run
from samesame.capture.alive import tensors_known
from samesame.capture.ranks.waiting import Unawaited
from samesame.capture.ranks.world import Mismatch, World
from samesame.evidence import Collective, Evidence, Output, Refinement, Root, Rung
from samesame.formula.selected import ties_excluded
from samesame.graph import Graph, Node, TensorType, rewritten
from samesame.operators.execute import execute
from samesame.operators.kept import Over
from samesame.operators.provisos import provisos
from samesame.refine.asked import answered_alike, conditions
from samesame.refine.due import Due, as_declared, missing
from samesame.refine.extreme import extreme_outputs
from samesame.refine.findings import loss_of
from samesame.refine.granted import evenly_cut, nobody_reads, taken_for_granted
from samesame.refine.holdings import Holdings, along_axes, programs
from samesame.refine.job import Job, ranks_of
from samesame.refine.mending import Asked, edits_of
from samesame.refine.outputs import Found, put_together, with_roots
from samesame.refine.placement import Mesh, coordinate
from samesame.refine.sides import (
    NAMES,
    Pairs,
    Sides,
    fits,
    returned_besides,
    returned_nowhere,
    sides_of,
    some_of,
    without_gradient,
)
from samesame.refine.unequal import try_unequal
from samesame.refine.uneven import uneven
from samesame.relate.carried import carried, counted
from samesame.relate.draws import take_draws
from samesame.relate.exact import MUCH, exact, written
from samesame.relate.formulas import numbers_in
from samesame.relate.handed_on import with_rows_excluded
from samesame.relate.joined import JoinProposer
from samesame.relate.joint import Typed, moved_type
from samesame.relate.layout import Layout, Whole, build
from samesame.relate.pieces import PieceProposer
from samesame.relate.propose import Values
from samesame.relate.prove import Prover
from samesame.relate.rank_rules import RankRules
from samesame.relate.relating import Relating, relate
from samesame.relate.roots import compare_roots, resting
from samesame.relate.rules import Rulebook
from samesame.relate.sized import closed_values
from samesame.relate.vanishing import with_zeros
from samesame.store import Store
from samesame.versions import versions_of_packages

SECONDS = 4.0               # for a proof
PATIENCE = 20.0             # for proofs that fail, all together, before the next ones get little time
IMPATIENCE, ENOUGH = 4.0, 20.0      # the same where values have refuted an output, and seconds for all proofs


@dataclass(frozen=True, slots=True)
class Established:
    """What a verdict was decided from: the sides, what is related to what, every value, how outputs lie; and which
    inputs are cut `even`ly, with how."""

    sides: Sides
    relating: Relating
    values: tuple[Values, Values]
    outputs: Mapping[str, Found]
    even: Mapping[str, str]


def refine(
    sequential: Any,
    distributed: Callable[..., Any],
    inputs: Any,
    *,
    world_size: int | None = None,
    mesh: Mesh | None = None,
    backward: bool = False,
    relations: Mapping[str, str] | None = None,
    expected: Mapping[str, str] | None = None,
    seed: int = 0,
    timeout: float | None = None,
    progress: Progress | None = None,
    run: Run | None = None,
    store: Store | None = None,
) -> Refinement:
    """Decide whether a distributed program computes what the sequential one does.

    `sequential` is a module or a function over tensors; `distributed(rank, world_size)` returns the one that a rank
    runs (and is given the device mesh too where `mesh` names its axes: {"dp": 2, "tp": 2}); there are as many ranks as
    the mesh has, or 2, unless `world_size` says so. `inputs` are the sequential program's: a tuple, a dict, or a
    function that returns either; a function of rank and world_size gives what each rank takes. With `backward` the
    gradients of all weights and inputs are outputs too.

    `relations` places inputs and weights by name, such as {"x": "shard(0)"} (`refine/placement.py` has all words);
    inputs that are not placed are whole on every rank, and weights are found by their names and values. `expected` does
    the same for outputs: each must be on the ranks whole or cut, unless it is declared otherwise. Other arguments are
    those of `check`. Raises Refused for what cannot be captured or compared.
    """
    run, expected = run or Run(timeout, progress), {str(name): text for name, text in (expected or {}).items()}
    by_mesh = 2 if mesh is None else ranks_of(mesh)
    world_size = world_size or by_mesh
    verdict = Refinement("undecided", Rung.UNDECIDED, versions=versions_of_packages(), seed=seed, world_size=world_size)
    with run.bounded(), tensors_known():
        with run.during("capture"):
            job = Job(sequential, distributed, inputs, world_size, mesh, relations or {})
            try:
                (left, ranks), telling = job.captured(backward, lambda sides: fits(*sides, job, expected))
            except (Unawaited, Mismatch) as found:
                stop(verdict, found)
        if not run.over and not verdict.stuck:
            told = establish(verdict, left, ranks, job.axes, relations or {}, expected, {}, {}, run, book_of(store))
            if told is not None and told.even and verdict.verdict == "refines":
                with run.during("unequal"):
                    try_unequal(verdict, job, told.sides, told.even, expected, backward=backward)
            verdict.notes += telling.notes()
    verdict.notes += run.notes()
    verdict.timing = run.seconds
    return verdict


def refine_graphs(
    left: Graph,
    ranks: Sequence[Graph],
    *,
    mesh: Mesh | None = None,
    relations: Mapping[str, str] | None = None,
    expected: Mapping[str, str] | None = None,
    layouts: Mapping[str, Layout] | None = None,
    seed: int = 0,
    timeout: float | None = None,
    progress: Progress | None = None,
    run: Run | None = None,
    store: Store | None = None,
) -> Refinement:
    """Decide whether the ranks, a graph each with collectives in it, compute together what `left` computes.

    `relations` places inputs and weights by name (see `placement`), where their values do not say it themselves;
    `expected` does so for outputs, and only there may one be partial or scaled. `layouts` gives sources of the world,
    by node name, as layouts of sequential ones. `mesh` names the axes of the ranks. Raises Refused where the programs
    cannot be compared; a collective that ranks do not meet at is a verdict.
    """
    run = run or Run(timeout, progress)
    verdict = Refinement("undecided", Rung.UNDECIDED, versions=versions_of_packages(), seed=seed, world_size=len(ranks))
    with run.bounded():
        establish(verdict, left, ranks, mesh or {"ranks": len(ranks)}, relations or {}, expected or {}, layouts or {},
                  {}, run, book_of(store))
    verdict.notes += run.notes()
    verdict.timing = run.seconds
    return verdict


def stop(verdict: Refinement, found: Mismatch | Unawaited) -> None:
    """Write into the verdict that the ranks do not come to an end that is certain: there is nothing to compare."""
    verdict.verdict, verdict.evidence, verdict.stuck = "does not refine", Rung.REFUTED, str(found)


def book_of(store: Store | None) -> Rulebook:
    """Without a store, rules are kept for what ranks repeat; with one, for later runs too."""
    return RankRules() if store is None else Rulebook(store)


def establish(
    verdict: Refinement,
    left: Graph,
    ranks: Sequence[Graph],
    mesh: Mesh,
    relations: Mapping[str, str],
    expected: Mapping[str, str],
    layouts: Mapping[str, Layout],
    stated: Mapping[str, Layout],
    run: Run,
    book: Rulebook,
    meant: bool = False,
) -> Established | None:
    """Write into the verdict what is found, stage by stage: what stands there when the run is stopped is kept.

    `stated` says which part of an output each rank has, `r0.loss` for instance, as a layout over sequential tensors.
    None where ranks do not meet. Other arguments are those of `refine_graphs`.
    """
    with run.during("capture"):
        try:
            sides = sides_of(left, ranks, mesh, relations, expected, layouts, stated)
        except Mismatch as found:
            stop(verdict, found)
            return None
        given = left, ranks
        left, right, ranks, due = sides.left, sides.right, sides.ranks, sides.due
        verdict.collectives = list(collectives_of(sides.met))
        even = evenly_cut(sides, mesh)
        verdict.provided = taken_for_granted(sides, even, relations)
    with run.during("execute"):
        taken, values = take_draws((left, right), sides.relation.layouts, verdict.seed)
        sides, aside = sides.gradients_aside(values)
        exactly = None if meant else as_meant(*given, sides.lying(values), due)
        if exactly is not None:
            left, ranks, words = exactly
            again = establish(verdict, left, ranks, mesh, relations, expected, layouts, stated, run, book, meant=True)
            verdict.notes.append(words)
            return again
        verdict.provided += [*conditions(sides, values), *nobody_reads(aside)]
        sides = sides.without_noise(values)
        outputs = sides.lying(values)
        ignorable = list[str]()
        for more in uneven(left, right, sides.sources, sides.relation.layouts, taken[0]):
            ignorable += [f"no element of {name} is {number}" for name, number in more.beyond.items()]
            if not answered_alike(sides, more.values):
                continue
            weighed = [*values[0], more.values[0]], [*values[1], more.values[1]]
            others = sides.lying(weighed)
            holding = [name for name, lies in outputs.items() if due[name].holds(lies)]
            failing = [name for name in holding if not due[name].holds(others[name])]
            if failing and more.beyond:
                verdict.provided += ignorable
            elif failing:
                taken, values = [*taken, more.draw], weighed
                outputs |= {name: replace(others[name], words=others[name].words + more.words) for name in failing}
        for draw, runs, wrong in extreme_outputs(sides, outputs, taken, values, verdict.seed):
            taken, values = [*taken, draw], ([*values[0], runs[0]], [*values[1], runs[1]])
            outputs |= wrong
            break
        outputs |= without_gradient(sides)
        left, right = with_outputs(left, right, sides.pairs, outputs, due, stated)
        values = with_values(left, values[0]), with_values(right, values[1])
        zero = [{node.name for title, node in side.roots if any(is_root_of(title, name) for name in sides.zero)}
                for side in (left, right)]
        values = with_zeros(values[0], zero[0]), with_zeros(values[1], zero[1])
        verdict.outputs = [_output(lies, due[name], []) for name, lies in outputs.items()]
        if any(output.evidence.rung is Rung.REFUTED for output in verdict.outputs):
            verdict.verdict, verdict.evidence = "does not refine", Rung.REFUTED    # whatever proofs will tell
    with run.during("prove"):
        prover = Prover(seed=verdict.seed, deadline=run.deadline, book=book, patience=PATIENCE)
        if verdict.evidence is Rung.REFUTED:               # proofs only help to say where, and values do too
            prover.patience, prover.until = IMPATIENCE, time.thread_time() + ENOUGH
        prover.budget = replace(prover.budget, seconds=SECONDS)
        closed = closed_values(left, values[0]), closed_values(right, values[1])
        pieces = partial(PieceProposer, factors=factors_of(mesh), places=partial(places_of, mesh))
        relating = relate(left, right, sides.relation, values, closed, prover, run.advance,
                          proposer=partial(JoinProposer, pieces, right), gathers=True)
        if relating.of_classes:                            # a proof took all labels for classes
            told = ignorable or ["labels are classes, none of which a loss ignores"]
            verdict.provided += [one for one in told if one not in verdict.provided]
        established = Established(sides, relating, values, outputs, even)
        write(verdict, established, compare_roots(relating, values), run)
        run.seconds["proofs"] = prover.seconds
        book.save()
    with run.during("diagnose"):
        if verdict.verdict == "does not refine":
            failing = [output.name for output in verdict.outputs if output.evidence.rung is Rung.REFUTED]
            holdings = Holdings(relating, values, programs(ranks), pieces(values[0], tensors_of(left, values[0])),
                                along_axes(mesh))
            verdict.loss = loss_of(holdings, [sides.pairs[name][0] for name in failing])
            asked = Asked(taken, values[0], {name: root for name, (root, _) in sides.pairs.items()}, due)
            lying = {name: outputs[name] for name in failing}
            verdict.diagnosis = edits_of(holdings, ranks, asked, lying, run.deadline)
    return established


def as_meant(
    left: Graph, ranks: Sequence[Graph], outputs: Mapping[str, Found], due: Mapping[str, Due]
) -> tuple[Graph, list[Graph], str] | None:
    """The programs with their constants worked out in float64, where an output is not as it is due and a program works
    constants out in less; with a sentence that says so."""
    if all(due[name].holds(lies) for name, lies in outputs.items()):
        return None
    numbers = {number for graph in (left, *ranks) for number in numbers_in(graph)}
    as_written = [written(graph, numbers) for graph in (left, *ranks)]
    exactly = [exact(graph) for graph, _ in as_written]
    widened = [one for _, changed in (*as_written, *exactly) for one in changed]
    if not widened:
        return None
    if not all(one.error < MUCH or one.meant is not None for one in widened):
        return None                             # no rounding: a step or a cancellation is taken elsewhere
    worst = max(widened, key=lambda one: (one.leaves, one.error))
    size = f"is {worst.error:.1e} of its largest magnitude off"
    words = (f"Constants are taken as they are meant, not as {worst.dtype} rounds them: {worst.node.origin.spoken} "
             f"{size if worst.meant is None else 'leaves something where numbers cancel'}.")
    return exactly[0][0], [graph for graph, _ in exactly[1:]], words


# ----------------------------------------------------------------------------------------------- the sides, and outputs


def with_outputs(
    left: Graph,
    right: Graph,
    pairs: Pairs,
    outputs: Mapping[str, Found],
    due: Mapping[str, Due],
    stated: Mapping[str, Layout],
) -> tuple[Graph, Graph]:
    """Both graphs with roots to compare one by one: each sequential output, and what puts it together from the ranks';
    and where it is `stated`, by output and rank, which part of it a rank has, that part and the rank's."""
    mine, yours = _Making(left), _Making(right)
    for name, (root, held) in pairs.items():
        holds = due[name].holds(outputs[name])
        lies = outputs[name]
        for title, node in put_together(name, root, held, lies, yours.make, holds=holds):
            mine.roots.append((title, root))
            yours.roots.append((title, node))
        for rank, layout in lies.own.items():
            mine.roots.append((f"{name} on rank {rank}, its own piece", mine.laid_out(layout, root)))
            yours.roots.append((f"{name} on rank {rank}, its own piece", held[rank]))
        for rank, node in held.items():
            layout = stated.get(f"r{rank}.{name}", Whole(root.name))
            if not isinstance(layout, Whole):
                mine.roots.append((f"{name} on rank {rank}, as stated", mine.laid_out(layout)))
                yours.roots.append((f"{name} on rank {rank}, as stated", node))
    return mine.graph(), yours.graph()


class _Making:
    """A graph to which operators are added, and roots."""

    def __init__(self, graph: Graph) -> None:
        self.old, self.made, self.roots = graph, list[Node](), list[tuple[str, Node]]()

    def make(self, operator: str, args: tuple[Any, ...], kind: TensorType) -> Node:
        self.made.append(Node(f"put_together_{len(self.made)}", operator, args, {}, kind))
        return self.made[-1]

    def laid_out(self, layout: Layout, whole: Node | None = None) -> Node:
        """A tensor that is so much of others, or of this one."""
        def step(operator: str, args: tuple[Any, ...]) -> Node:
            parts = list(args[0]) if isinstance(args[0], tuple) else [args[0]]
            shape = moved_type(operator, [Typed(part.shape, "real") for part in parts], args[1:]).shape
            return self.make(operator, args, TensorType(shape, parts[0].type.dtype))

        return build(layout, self.old.__getitem__ if whole is None else lambda _: whole, step)

    def graph(self) -> Graph:
        return with_roots(self.old, self.made, self.roots)


def with_values(graph: Graph, runs: Values) -> Values:
    """The values of each draw, with those of operators that were added to the graph worked out too."""
    made = [node for node in graph.nodes if node.name not in runs[0]]
    read = dict.fromkeys(part for node in made for part in node.inputs if part not in made)
    given = {node: replace(node, operator="input", args=(), kwargs={}) for node in read}
    added = rewritten(Graph("outputs", (*read, *made), ()), lambda node, now: [given.get(node, now)])
    found = [execute(added, {node.name: run[node.name] for node in read}) for run in runs]
    added_values: list[Any] = [{node.name: more[node.name] for node in made} for more in found]
    return [Over(more, run) for run, more in zip(runs, added_values, strict=True)]


def tensors_of(graph: Graph, runs: Values) -> dict[str, int]:
    """The graph's nodes that are one tensor each, by name, with the number of their elements."""
    found = {node.name: runs[0].get(node.name) for node in graph.nodes}
    return {name: value.numel() for name, value in found.items() if isinstance(value, torch.Tensor)}


def factors_of(mesh: Mesh) -> list[Fraction]:
    """Multiples that means over ranks leave behind: the sizes of the mesh's axes, of all, and their inverses."""
    sizes = dict.fromkeys(size for size in (*mesh.values(), torch.Size(mesh.values()).numel()) if size > 1)
    return [factor for size in sizes for factor in (Fraction(size), Fraction(1, size))]


def places_of(mesh: Mesh, name: str) -> tuple[float, ...]:
    """Where a rank's piece of a tensor may start, as shares of the whole: by its place along an axis or among all."""
    rank = int(name.partition(".")[0].removeprefix("r")) if name.startswith("r") else 0
    along = dict.fromkeys(coordinate(rank, axis, mesh) for axis in ("", *mesh))
    return tuple(place / ranks for place, ranks in along)


# ---------------------------------------------------------------------------------------------------------- the verdict


def write(verdict: Refinement, found: Established, roots: list[Root], run: Run) -> None:
    """Write the answer into the verdict, and what it stands on."""
    relating = found.relating
    relations = carried(relating.relations(), relating.right)
    verdict.roots = [resting(root, relating, relations) for root in roots]
    verdict.outputs = [_output(lies, found.sides.due[name], verdict.roots) for name, lies in found.outputs.items()]
    rungs = [output.evidence.rung for output in verdict.outputs]
    lowest = min(rungs, default=Rung.UNDECIDED)
    if not all(output.holds for output in verdict.outputs) or lowest is Rung.REFUTED:
        verdict.verdict, lowest = "does not refine", Rung.REFUTED
    else:
        verdict.verdict = "undecided" if lowest is Rung.UNDECIDED else "refines"
    verdict.evidence = lowest
    given = {node.name for node in relating.right.nodes if node.is_source}
    verdict.input_relation = [relation for relation in relations if relation.right in given]
    verdict.relations = [relation for relation in relations if relation.right not in given]
    used = with_rows_excluded((said for relation in relations for said in relation.evidence.conditions), relating)
    verdict.provided += [*ties_excluded(used), *provisos(used)]
    verdict.unpaired = [relating.left[name].origin.parameter or name for name in relating.inputs.unpaired_left]
    verdict.notes = _notes(verdict, found, run)
    verdict.counts = counted(relating, relations, "sequential operators", "ranks' operators")


_NO_ROOT = Evidence(Rung.REFUTED, "values", detail="nothing that the ranks return has the shape to be compared")
_NOT_YET = Evidence(Rung.UNDECIDED, "values", detail="equal on every draw, and nothing was proved yet")


def is_root_of(title: str, name: str) -> bool:
    """Whether a root that was added stands for the output of this name."""
    return title == name or title.startswith((f"{name} on rank ", f"{name} with rank "))


def _output(found: Found, due: Due, roots: Sequence[Root]) -> Output:
    """An output with the weakest evidence of its roots, one a rank; before there are `roots`, by values alone."""
    name = due.name
    own = [root for root in roots if is_root_of(root.name, name)]
    none = _NO_ROOT if roots else _NOT_YET
    weakest = min((root.evidence for root in own), key=lambda evidence: evidence.rung, default=none)
    holds = due.holds(found)
    if not holds and (weakest.rung > Rung.REFUTED or found.kind != "none"):
        told = "; ".join(filter(None, (missing(name, found), due.said)))
        weakest = Evidence(Rung.REFUTED, "values", detail=told)
    declare = "" if holds else as_declared(found)
    return Output(name, found.kind, found.words, due.text, holds, weakest, declare)


def _notes(verdict: Refinement, found: Established, run: Run) -> list[str]:
    relating = found.relating
    notes = ["Proofs are over the real numbers and unbounded integers: inputs are finite, and casts are the identity."]
    if verdict.unpaired:
        notes.append(f"No rank holds {some_of(verdict.unpaired)}.")
    notes += returned_nowhere(found.sides)
    if besides := returned_besides(found.sides):
        notes.append(f"Not compared, since it is no output of the sequential program: {some_of(besides)}.")
    if relating.stopped and not run.interrupted and verdict.verdict != "does not refine":
        notes.append(f"Not everything was tried: {relating.stopped}.")
    if verdict.verdict == "undecided":
        failed = [rule.reason for rule in relating.prover.rules.values() if rule.evidence is None]
        notes += relating.told.left_out()
        notes += [f"Not proved: {reason}" for reason in dict.fromkeys(failed) if reason][:NAMES]
    return notes + relating.prover.book.notes()


def collectives_of(met: World) -> Iterator[Collective]:
    """Every collective that took place, by the line of the group's first rank."""
    for meeting in met.meetings:
        kind = " ".join(filter(None, (meeting.operator.removeprefix("collective."), meeting.op)))
        yield Collective(kind, meeting.group, meeting.origins[0])
