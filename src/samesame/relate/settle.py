"""Settle: prove two programs equal at the most general sizes for which it can be done.

The family of both programs over size symbols is tried first: what is proved there holds for all sizes. Equal sizes of
the example that were let vary apart are then tied together. What neither proves is proved at the sizes of the example,
and the sizes that stayed numbers are named with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from samesame.capture.family import Family, Recording, family
from samesame.evidence import Root, Rung, Sizes
from samesame.graph import Graph
from samesame.relate.parameters import InputRelation
from samesame.relate.propose import Values
from samesame.relate.prove import Prover
from samesame.relate.relating import Progress, Relating, closed_values, relate
from samesame.relate.roots import compare_roots, resting

SYMBOLIC_SECONDS = 2.0      # for the normal form of one block over size symbols
_REASON = 160               # characters of it that are shown


@dataclass(slots=True)
class Settled:
    """The outcome at the most general sizes for which everything could be proved."""

    relating: Relating
    roots: list[Root]
    sizes: Sizes
    seconds: float = 0.0


def families_of(program: Any, example: Any, record: Recording, graphs: tuple[Graph, Graph]) -> Iterator[Family]:
    """Families to try, the most general first: equal sizes of the example apart, then together."""
    free = family(program, example, record, graphs)
    yield free
    tied = family(program, example, record, graphs, tied=True)
    if {v.places for v in tied.varying} != {v.places for v in free.varying}:
        yield tied


def settle(
    graphs: tuple[Graph, Graph],
    families: Iterator[Family],
    relation: InputRelation,
    values: tuple[Values, Values],
    prover: Prover,
    progress: Progress | None,
) -> Settled:
    """Prove the programs equal for all sizes; what that does not prove, at the sizes of the example."""
    spent, fixed = 0.0, tuple[str, ...]()
    best: Settled | None = None
    for found in families:
        if not found.varying:
            fixed = found.fixed
            break
        budget = replace(prover.budget, seconds=SYMBOLIC_SECONDS)
        symbolic = replace(prover, sizes=found.example, budget=budget, rules={})
        relating, roots = _attempt(found.graphs, relation, values, symbolic, progress)
        spent += symbolic.seconds
        best = Settled(relating, roots, _sizes_of(found))
        if _lowest(best) is Rung.PROVED:
            best.seconds = spent
            return best
        fixed = fixed or (*found.fixed, f"{', '.join(map(str, found.varying))}: {_why_not(best)}")
    relating, roots = _attempt(graphs, relation, values, prover, progress)
    here = Settled(relating, roots, Sizes(fixed=fixed))
    chosen = best if best is not None and _lowest(best) >= _lowest(here) else here
    chosen.seconds = spent + prover.seconds
    return chosen


def _attempt(
    graphs: tuple[Graph, Graph],
    relation: InputRelation,
    values: tuple[Values, Values],
    prover: Prover,
    progress: Progress | None,
) -> tuple[Relating, list[Root]]:
    constants = closed_values(graphs[0], values[0]), closed_values(graphs[1], values[1])
    relating = relate(*graphs, relation, values, constants, prover, progress)
    return relating, compare_roots(relating, values)


def _lowest(settled: Settled) -> Rung:
    relations = settled.relating.relations()
    rungs = [resting(root, settled.relating, relations).evidence.rung for root in settled.roots]
    return min(rungs, default=Rung.PROVED)


def _sizes_of(found: Family) -> Sizes:
    ran = (", ".join(f"{name} = {n}" for name, n in run.items()) for run in found.runs)
    return Sizes(tuple(map(str, found.varying)), found.fixed, tuple(dict.fromkeys(ran)))


def _why_not(settled: Settled) -> str:
    """Why there is no proof for all sizes: what was said of the last block that could not be decided."""
    failed = [rule.reason for rule in settled.relating.prover.rules.values() if rule.evidence is None]
    why = failed[-1] if failed else "it was tested only"
    return f"no proof for all sizes ({why[:_REASON]}{'…' if len(why) > _REASON else ''})"
