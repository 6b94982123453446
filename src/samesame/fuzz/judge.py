"""Judge one program: eager, its twin, and both compiled, stage by stage.

    eager            does it run, is its result defined, and does it say anything (the same again, steady)?
    eager twin       differs: the rewrite is wrong, and no compiler is accused
    compiled         differs from eager: the compiler is accused
    compiled twin    differs from the twin: likewise

A float result is accused a second time, with a compiler that rounds in between as eager does, where there is one: what
vanishes then was rounding. A stage tells that it begins, so that whoever waits for a program that hangs or takes all
memory knows where.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.backends.backend import Backend
from samesame.fuzz.oracle import Discrepancy, Observation, compare, in_float64, observe, repeatable, words_of
from samesame.fuzz.program import Program, steps_in
from samesame.fuzz.undefined import leaves_open

PRECISE = "inductor-precise"
Stage = Callable[[str], None]


class Subject(Protocol):
    """What is compiled: a program as data, or one of the user's own."""

    def function(self) -> Callable[..., Any]: ...

    def make_inputs(self) -> list[torch.Tensor]: ...


@dataclass(frozen=True)
class Judgement:
    """`status`: agrees, found, invalid (eager raises), undefined, unsteady, wrong twin, not given (the back end cannot
    take such programs). `stage` is compiled or twin; `why` explains a status that is no verdict."""

    status: str
    stage: str = ""
    kind: str = ""
    where: str = ""
    detail: str = ""
    why: str = ""


def silent(stage: str) -> None:
    """Nobody waits."""


def judge(
    program: Program, backend: Backend, twin: Program | None = None, exact: bool = True, say: Stage = silent
) -> Judgement:
    """Compare all stages; `exact` says whether the twin equals the program bit for bit, and not over the reals only."""
    say("eager")
    if not backend.writes and writes(program):
        return Judgement("not given", why=f"{backend.name} does not write into its inputs")
    eager = observe(program.function(), program.make_inputs)
    if eager.error:
        return Judgement("invalid", why=eager.error)
    if why := leaves_open(program):
        return Judgement("undefined", why=why)
    if not repeatable(program, eager):
        return Judgement("unsteady", why="eager torch gives another result again, or for inputs that are a unit off")
    wide = in_float64(program)
    subjects = [("program", program, eager)]
    if twin is not None:
        say("twin")
        other = observe(twin.function(), twin.make_inputs)
        if wrong := of_twin(eager, other, wide, exact):
            return wrong
        subjects.append(("twin", twin, other))
    for stage, subject, seen in subjects:
        say(f"compiled {stage}")
        found = accusation(subject, backend, seen, wide)
        if found is not None:
            return Judgement("found", stage, found.kind, found.where, found.detail)
    return Judgement("agrees")


def of_twin(eager: Observation, twin: Observation, wide: Observation | None, exact: bool) -> Judgement | None:
    """What differs between a program and its twin in eager; None if nothing. Memory and strides are the twin's own
    affair."""
    if twin.error:
        return Judgement("wrong twin", "twin", "crash", "", twin.error)
    differences = compare(eager, twin, None if exact else wide)
    wrong = next((d for d in differences if d.kind not in ("wrong aliasing", "wrong strides")), None)
    return Judgement("wrong twin", "twin", wrong.kind, wrong.where, wrong.detail) if wrong else None


def accusation(program: Subject, backend: Backend, eager: Observation, wide: Observation | None) -> Discrepancy | None:
    """What the compiled program does otherwise than eager torch; None if nothing."""
    found = compare(eager, compiled(program, backend), wide)
    if not found:
        return None
    if _is_rounding(found[0], eager) and backend.family == "inductor" and backend.name != PRECISE:
        again = compare(eager, compiled(program, BACKENDS[PRECISE]), wide)
        if not any(d.kind == found[0].kind for d in again):
            return next((d for d in found if not _is_rounding(d, eager)), None)
    return found[0]


def _is_rounding(found: Discrepancy, eager: Observation) -> bool:
    """Whether it is about the value of a float, and might be rounding."""
    if found.kind != "wrong value":
        return found.kind == "wrong input after the call"
    position = int(found.where.split()[-1])
    return eager.outputs[0][position].value.is_floating_point()


def compiled(program: Subject, backend: Backend) -> Observation:
    """What the compiled program does."""
    function = program.function()

    def call(*given: Any) -> Any:
        return ready(*given)

    try:
        ready = backend.compile(function, program.make_inputs())
    except Exception as error:
        return Observation(error=words_of(error))
    return observe(call, program.make_inputs)


def writes(program: Program) -> bool:
    """Whether a step writes in place."""
    return any(step.call.rstrip().endswith("_") and not step.call.endswith("__") for step in steps_in(program.steps))
