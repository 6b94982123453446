"""Captured: what was proved at small sizes is proved once more of the program as it was captured.

A case is run at small sizes, and what is proved there says nothing of the sizes that were captured. So the same
relations are proved again, with the small run as guide: first over symbols in place of all sizes, which the captured
ones are values of. A claim that is too hard for symbols decides which of them become the captured numbers: one of those
that it mentions, the cheapest that helps, else all of these. The last resort are all captured numbers, that is the
graphs as they were captured. If that fails too, the proof is worth a test at small sizes, and is called one.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from samesame.budget import Run
from samesame.capture.ranks.world import lockstep
from samesame.entangle.case import Case, Sides
from samesame.entangle.reading import at as layout_at
from samesame.entangle.reading import over_symbols as read_over_symbols
from samesame.entangle.shrink import LEAST
from samesame.evidence import Evidence, Refinement, Root, Rung, Sizes
from samesame.formula.sizes import replaced
from samesame.graph import Graph, at
from samesame.operators.defaults import with_defaults
from samesame.refine.sides import paired
from samesame.refine.verb import Established, book_of, with_outputs, write
from samesame.relate.blocks import Block, key_of
from samesame.relate.layout import Layout, over_symbols
from samesame.relate.prove import Prover
from samesame.relate.relating import Relating, relate
from samesame.relate.roots import compare_roots, resting
from samesame.relate.sized import closed_values, symbols_of

SECONDS = 2.0               # for one claim
IN_ALL, TIMES = 20.0, 6.0   # for all attempts: so long, and so many times what the proofs at small sizes took
WHY = "no proof was found for every one"
_REASON = 160               # characters of it that are shown


def stated_parts(sides: Sides) -> dict[str, Layout]:
    """Which part of each output the case states that a rank has: by rank and output, such as `r1.logits`."""
    return {
        f"r{rank}.{name}": sides.expected[f"r{rank}.{node.name}"]
        for rank, graph in enumerate(sides.ranks) for name, node in graph.roots
        if f"r{rank}.{node.name}" in sides.expected
    }


class _Proving(Prover):
    """Proves only: at captured sizes nothing can be run."""

    def _test(self, block: Block) -> None:
        return None


class Captured:
    """A case that refines at small sizes, as `found` there, on its way to the captured ones."""

    def __init__(self, case: Case, found: Established, run: Run) -> None:
        self.case, self.found, self.run = case, found, run
        self.until = time.thread_time() + IN_ALL + TIMES * found.relating.prover.seconds
        self.general = self.graphs(case.over_symbols)

    def prove(self, verdict: Refinement) -> None:
        """Write into the verdict what is proved of the captured program, or why nothing is."""
        captured, failed = self.case.sizes.captured, ""
        fixed = {name: n for name, n in captured.items() if n < LEAST}
        while True:
            there = self.at_numbers(fixed)
            roots = compare_roots(there, self.found.values)
            if _lowest(there, roots) >= (Rung.PROVED if len(fixed) < len(captured) else Rung.PROVED_HERE):
                write(verdict, replace(self.found, relating=there), roots, self.run)
                verdict.sizes = self.sizes(fixed, failed)
                return
            failed = failed or _why_not(there)
            if len(fixed) == len(captured) or there.prover.late:
                break
            fixed |= self.narrower(there, fixed)
        verdict.notes.append(f"No proof was found at the captured sizes: {failed}.")

    def sizes(self, fixed: Mapping[str, int], failed: str) -> Sizes:
        """What the proof ranges over."""
        captured = self.case.sizes.captured
        varying = tuple(f"{name} ≥ {LEAST} (captured: {n})" for name, n in captured.items() if name not in fixed)
        stayed = tuple(f"{name} = {n}, as captured: {failed or WHY}" for name, n in fixed.items())
        return Sizes(varying, stayed, (_told(self.case.sizes.small),))

    def graphs(self, sides: Sides) -> tuple[Graph, Graph]:
        """Both sides with the roots that were compared at small sizes."""
        left, right = with_defaults(sides.sequential), with_defaults(lockstep(sides.ranks).graph)
        pairs = paired(left, right, len(sides.ranks))
        return with_outputs(left, right, pairs, self.found.outputs, self.found.sides.due, stated_parts(sides))

    def at_numbers(self, fixed: Mapping[str, int]) -> Relating:
        """What can be proved with these numbers for some symbols."""
        sides = self.case.with_numbers(fixed)
        left, right = self.graphs(sides) if fixed else self.general
        values = self.found.values
        inputs = replace(self.found.relating.inputs, layouts=sides.layouts)
        closed = closed_values(self.general[0], values[0]), closed_values(self.general[1], values[1])
        return relate(left, right, inputs, values, closed, self.prover(fixed), self.run.advance, self.guide(fixed),
                      general=self.general)

    def prover(self, fixed: Mapping[str, int]) -> Prover:
        here = self.found.relating.prover
        free = {name: n for name, n in self.case.sizes.small.items() if name not in fixed}
        budget = replace(here.budget, seconds=SECONDS)
        return _Proving(free, budget, here.seed, here.deadline, self.until, book=book_of(None))

    def guide(self, fixed: Mapping[str, int]) -> Relating:
        """The relations found at small sizes, at these."""
        here = self.found.relating
        related = {}
        for right, (left, layout, evidence) in here.related.items():
            mine, yours = self.general[0][left.name].shape, self.general[1][right.name].shape
            read = read_over_symbols(layout, mine, yours, self.case.sizes.small)
            wide = read or over_symbols(layout, mine, yours) or layout
            related[right] = left, layout_at(wide, fixed), evidence
        return replace(here, related=related, exact=True)

    def narrower(self, there: Relating, fixed: Mapping[str, int]) -> dict[str, int]:
        """Symbols to make numbers of: one with which the claim that failed is proved, else all that it mentions; else
        all there are."""
        captured = self.case.sizes.captured
        failed = [rule.block for rule in there.prover.rules.values() if rule.evidence is None]
        if not failed:
            return dict(captured)
        names = sorted(symbols_of(failed[-1].graph))
        for name in names:
            if not there.prover.late and self.helps(there.prover, failed[-1], {name: captured[name]}):
                return {name: captured[name]}
        return {name: captured[name] for name in names} or dict(captured)

    @staticmethod
    def helps(prover: Prover, block: Block, numbers: Mapping[str, int]) -> bool:
        """Is the claim proved with these numbers?"""
        graph = at(block.graph, numbers)
        ranges = {name: (replaced(low, numbers), replaced(high, numbers)) for name, (low, high) in block.ranges.items()}
        claim = replace(block, graph=graph, ranges=ranges, key=key_of(graph, ranges))
        prover.limit = SECONDS
        return isinstance(prover.prove(claim), Evidence)


def _told(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {n}" for name, n in sizes.items())


def _lowest(relating: Relating, roots: list[Root]) -> Rung:
    relations = relating.relations()
    return min((resting(root, relating, relations).evidence.rung for root in roots), default=Rung.PROVED)


def _why_not(relating: Relating) -> str:
    failed = [rule.reason for rule in relating.prover.rules.values() if rule.evidence is None]
    why = "; ".join(filter(None, [relating.stopped, failed[-1] if failed else ""])) or "an operator is opaque"
    return why[:_REASON] + "…" * (len(why) > _REASON)


def weaken(verdict: Refinement, case: Case) -> None:
    """Proofs at sizes that are not the program's own are worth a test."""
    sizes = _told(case.sizes.small)

    def weaker(evidence: Evidence) -> Evidence:
        if evidence.rung < Rung.PROVED_HERE or evidence.method == "input":
            return evidence
        told = f"proved at the reduced sizes {sizes}, not at the captured ones"
        return replace(evidence, rung=Rung.TESTED, detail="; ".join(filter(None, (told, evidence.detail))))

    verdict.roots = [replace(root, evidence=weaker(root.evidence)) for root in verdict.roots]
    verdict.relations = [replace(relation, evidence=weaker(relation.evidence)) for relation in verdict.relations]
    verdict.outputs = [replace(output, evidence=weaker(output.evidence)) for output in verdict.outputs]
    verdict.evidence = min(verdict.evidence, Rung.TESTED)
    verdict.notes.append(f"Everything was run and proved at the reduced sizes {sizes}, not at the captured ones.")
