"""Judge one program: eager, its twin, and both compiled, stage by stage.

    eager            does it run, is its result defined, and does it say anything (the same again, steady)?
    eager twin       differs: the rewrite is wrong, and no compiler is accused
    compiled         differs from eager: the compiler is accused
    compiled twin    differs from the twin: likewise

A wrong value is accused a second time, with a compiler that rounds in between as eager does, where there is one, and
over many more draws of other roundings: what vanishes then was rounding. A stage tells that it begins, so that whoever
waits for a program that hangs or takes all memory knows where.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from samesame.fuzz.backends.backend import Backend
from samesame.fuzz.oracle import Discrepancy, Observation, compare, observe, words_of
from samesame.fuzz.program import Program, Runs
from samesame.fuzz.steady import steady
from samesame.fuzz.undefined import leaves_open

GLANCES, SURE = 2, 40        # draws of other roundings before a program is compiled, and before a compiler is accused
VALUES = ("wrong value", "wrong input after the call")
Stage = Callable[[str], None]


class Subject(Protocol):
    """What is compiled: a program as data, or one of the user's own; `wide` is what runs it in float64, where it can
    be."""

    def function(self) -> Callable[..., Any]: ...

    def make_inputs(self) -> list[torch.Tensor]: ...

    def wide(self) -> Runs | None: ...


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
    program: Subject,
    backend: Backend,
    twin: Subject | None = None,
    exact: bool = True,
    say: Stage = silent,
    twin_alone: bool = False,
) -> Judgement:
    """Compare all stages; `exact` says whether the twin equals the program bit for bit, and not over the reals only.
    `twin_alone`: the program itself was judged before."""
    say("eager")
    if not backend.writes and isinstance(program, Program) and program.writes:
        return Judgement("not given", why=f"{backend.name} does not write into its inputs")
    eager = seen(program)
    if unsaid := says_nothing(program, eager):
        return unsaid
    wide = in_float64(program)
    subjects = [] if twin_alone else [("program", program, eager)]
    if twin is not None:
        say("twin")
        other = seen(twin)
        wrong = of_twin(eager, other, wide, exact)
        if wrong and (other.error or steady(twin.function(), twin.make_inputs, other, SURE)):
            return wrong
        if not wrong:                                 # one that other roundings change says nothing of its rewrites
            subjects.append(("twin", twin, other))
    for stage, subject, observed in subjects:
        say(f"compiled {stage}")
        found = accusation(subject, backend, observed, wide)
        if found is None:
            continue
        if found.kind in VALUES and not steady(subject.function(), subject.make_inputs, observed, SURE):
            return Judgement("unsteady", why=f"rounding explains it: {found.kind}, {found.detail}")
        return Judgement("found", stage, found.kind, found.where, found.detail)
    return Judgement("agrees")


def says_nothing(program: Subject, eager: Observation) -> Judgement | None:
    """Why no compiler can be wrong about a program that does this in eager torch; None where one can."""
    if eager.error:
        return Judgement("invalid", why=eager.error)
    if why := leaves_open(program):
        return Judgement("undefined", why=why)
    if not steady(program.function(), program.make_inputs, eager, GLANCES):
        return Judgement("unsteady", why="eager torch gives another result again, or with other roundings")
    return None


def seen(subject: Subject) -> Observation:
    """What eager torch does."""
    return observe(subject.function(), subject.make_inputs)


def in_float64(subject: Subject) -> Observation | None:
    """What eager torch does with the same numbers in float64; None where that is no comparison."""
    wide = subject.wide()
    observed = observe(*wide) if wide is not None else None
    return None if observed is None or observed.error else observed


def of_twin(eager: Observation, twin: Observation, wide: Observation | None, exact: bool) -> Judgement | None:
    """What differs between a program and its twin in eager; None if nothing. Memory and strides are the twin's own
    affair."""
    if twin.error:
        return Judgement("wrong twin", "twin", "crash", "", twin.error)
    differences = compare(eager, twin, None if exact else wide)
    wrong = next((d for d in differences if d.kind not in ("wrong aliasing", "wrong strides")), None)
    return Judgement("wrong twin", "twin", wrong.kind, wrong.where, wrong.detail) if wrong else None


def accusation(subject: Subject, backend: Backend, eager: Observation, wide: Observation | None) -> Discrepancy | None:
    """What the compiled program does otherwise than eager torch; None if nothing."""
    found = compare(eager, compiled(subject, backend), wide)
    if found and found[0].kind in VALUES and backend.precise:
        again = compare(eager, compiled(subject, backend, precise=True), wide)
        if not any(d.kind in VALUES for d in again):
            found = [d for d in found if d.kind not in VALUES]
    return found[0] if found else None


def compiled(subject: Subject, backend: Backend, precise: bool = False) -> Observation:
    """What the compiled program does."""
    try:
        ready = backend.compile(subject.function(), subject.make_inputs, precise)
    except Exception as error:
        return Observation(error=words_of(error))
    return observe(ready, subject.make_inputs)
