"""Several launches that write one tensor: what one leaves out another one may write.

Each launch is lifted by itself, and so each of two that write half of a tensor leaves the other half out. Where no
launch reads the tensor, and the host does not touch it in between, an element is written if any of them writes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from samesame.evidence import Refused
from samesame.formula.expr import TRUE, Expr, or_, substitute
from samesame.kernels.front import Covered, is_whole, memories_in, passed_of
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.kernels.verdict import KernelVerdict

SECONDS = 2.0
Lifted = Mapping[int, Sequence[KernelVerdict]]  # by the number of a launch, in each of its configurations


def covered_by(captured: Any, lifted: Lifted) -> Covered:
    """The memories of which a launch writes every element, in each configuration."""
    found: set[tuple[int, int]] = set()
    for call, view, covers in outputs_of(captured, lifted):
        if all(one is TRUE for _, one in covers) and is_whole(view, captured.memories[view.memory]):
            found.add((call, view.memory))
    return frozenset(found)


def outputs_of(captured: Any, lifted: Lifted) -> Iterator[tuple[int, Any, list[Any]]]:
    """Of each launch and each tensor that it writes: the view, and what tells whether an element is written."""
    first = {launch.call: launch for launch in reversed(captured.launches)}
    for call, verdicts in lifted.items():
        try:
            passed = passed_of(first[call], captured)
        except Refused:
            continue
        views = {one.name: one.view for one in passed.values()}
        for name in verdicts[0].covers:
            if all(name in verdict.covers for verdict in verdicts):
                yield call, views[name], [verdict.covers[name] for verdict in verdicts]


def cover_together(captured: Any, lifted: Lifted) -> None:
    """Prove open coverage by what other launches write."""
    outputs = list(outputs_of(captured, lifted))
    first = {launch.call: launch for launch in reversed(captured.launches)}
    for call, verdicts in lifted.items():
        for obligation in (o for verdict in verdicts for o in verdict.obligations):
            if obligation.name != "coverage" or obligation.state == "proved":
                continue
            views = {one.name: one.view for one in passed_of(first[call], captured).values()}
            view = views[obligation.tensor]
            reading = {c for c in lifted if any(f"memory {view.memory}" in v.reads for v in lifted[c])}
            if call in reading:
                continue                                    # as what adds to an element does
            others = [(c, covers) for c, v, covers in outputs if v == view and c not in reading]
            if len(others) > 1 and is_left_alone(captured, view.memory, [c for c, _ in others]):
                assumed = [e for c, _ in others for verdict in lifted[c] for e in verdict.assumed]
                if is_everything([part for _, covers in others for part in covers[:1]], assumed) and all(
                    len(covers) == 1 for _, covers in others
                ):
                    lines = sorted({first[c].called.spoken for c, _ in others})
                    obligation.state, obligation.counterexample = "proved", None
                    obligation.detail = f"every element of {obligation.tensor} is written by the launches at {lines[0]}"
                    obligation.detail += "".join(f", {line}" for line in lines[1:])


def is_left_alone(captured: Any, memory: int, calls: Sequence[int]) -> bool:
    """Whether nobody reads a memory before all of some launches have written it."""
    started = False
    for step in captured.steps:
        variants = getattr(step, "variants", ())
        call = variants[0].call if variants else None
        if call in calls:
            started = True
            if call == max(calls):
                return True
        elif started and memory in memories_in(step):
            return False
    return False


def is_everything(covers: Sequence[tuple[Any, Expr]], assumed: Sequence[Expr]) -> bool:
    """Whether each element is written by one at least."""
    common, _ = covers[0]
    parts = [integers.tidied(substitute(e, dict(zip(indices, common, strict=True)))) for indices, e in covers]
    prover = IndexProver(seconds=SECONDS)
    for condition in assumed:
        prover.assume(condition)
    return prover.proves((), or_(*parts))
