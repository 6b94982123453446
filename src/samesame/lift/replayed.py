"""Counterexamples, run: a failure that was found in formulas is looked for in Triton's interpreter.

The launch function runs on the CPU at the counterexample's sizes, and what the interpreter sees there confirms the case:
an access out of bounds, two programs at one element, an element that nobody wrote, a result that changes with memory
that nobody has written to. Only what a run shows is violated; a case that no run shows, or that cannot be run, is noted
beside an obligation that stays open, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from samesame.evidence import Refused
from samesame.formula.expr import Unsupported
from samesame.formula.sizes import value_at
from samesame.lift.front import passed_of
from samesame.lift.numerics import error_of
from samesame.lift.verdict import KernelVerdict, Obligation

NOT_SEEN = {
    "bounds": "the interpreter sees no access out of bounds",
    "race": "what both programs write there is the same in the interpreter",
    "coverage": "the interpreter sees no such element",
    "undefined": "in the interpreter the result does not change with undefined values",
    "exact": "in the interpreter the result is what the formula says",
}
SECONDS = 20.0  # for one run
FAR = 1e-2  # of the largest value, for a result that is another one


@dataclass
class Rerun:
    """The launch function at some sizes, in the configuration of one recorded launch."""

    target: Any
    inputs: Any
    captured: Any
    recorded: Any
    kernel: KernelVerdict
    sizes: dict[str, int]

    def execution(self, blank: bool) -> Any:
        from samesame.capture.triton_interpret import interpret

        run = interpret(
            self.target,
            self.inputs,
            sizes=self.sizes,
            example=self.captured.sizes,
            configuration=self.recorded.configuration,
            blank=blank,
            timeout=SECONDS,
        )
        found = run.executions[self.recorded.call : self.recorded.call + 1]
        if not found or found[0].kernel != self.recorded.kernel:
            raise Refused("at these sizes the host launches something else")
        return found[0]

    @cached_property
    def seen(self) -> Any:
        """What the launch did. Raises Refused where it is not reached."""
        return self.execution(blank=False)

    @cached_property
    def blank(self) -> Any:
        """The same with zeros where nothing is defined."""
        return self.execution(blank=True)


def replay(target: Any, inputs: Any, captured: Any, recorded: Any, kernel: KernelVerdict) -> None:
    """Run the cases of a kernel's violated obligations; those that no run confirms are open."""
    runs: dict[tuple[tuple[str, int], ...], Rerun] = {}
    for obligation in kernel.obligations:
        case = obligation.counterexample
        if obligation.name not in SHOWS or obligation.state != "violated" or not case:
            continue
        key = tuple(sorted(case["sizes"].items()))
        run = runs.setdefault(key, Rerun(target, inputs, captured, recorded, kernel, dict(case["sizes"])))
        try:
            why = "" if SHOWS[obligation.name](run, obligation) else NOT_SEEN[obligation.name]
        except Refused as refused:
            why = str(refused)
        case["replayed"] = f"no: {why}" if why else "yes"
        if why:
            obligation.state = "undecided"
            obligation.detail += f", in a case that no run shows: {why}"


def is_off(run: Rerun, _: Obligation) -> bool:
    """Whether what the launch stored is not what its formulas say, where these can be worked out."""
    passed = passed_of(run.recorded, run.captured)
    told = (formula for formula in run.kernel.formulas if formula.expr is not None)
    try:
        return any(error_of(formula, passed, run.seen, run.sizes) > FAR for formula in told)
    except Unsupported as unsupported:
        raise Refused(f"the formula cannot be worked out: {unsupported}") from None


def has_fault(*kinds: str) -> Callable[[Rerun, Obligation], bool]:
    return lambda run, _: any(fault.kind in kinds for fault in run.seen.faults)


def leaves_out(run: Rerun, obligation: Obligation) -> bool:
    """Whether nobody writes the element that the case names."""
    assert obligation.counterexample is not None
    name, _, place = obligation.counterexample["element"].partition("[")
    parameter, one = next((p, one) for p, one in passed_of(run.recorded, run.captured).items() if one.name == name)
    indices = [int(n) for n in re.findall(r"-?\d+", place)]
    strides = (value_at(n, run.sizes) for n in one.view.strides)
    offset = value_at(one.view.offset, run.sizes) + sum(i * s for i, s in zip(indices, strides, strict=True))
    return not bool(run.seen.written[parameter][offset])


def changes_with_undefined(run: Rerun, _: Obligation) -> bool:
    """Whether a result is another one where all that is undefined is zero."""
    pairs = ((run.seen.after[name], run.blank.after[name]) for name, w in run.seen.written.items() if bool(w.any()))
    return any(not torch.equal(a.nan_to_num(), b.nan_to_num()) or bool((a.isnan() != b.isnan()).any()) for a, b in pairs)


SHOWS: dict[str, Callable[[Rerun, Obligation], bool]] = {  # by obligation: whether a run shows that it does not hold
    "bounds": has_fault("load out of bounds", "store out of bounds", "atomic out of bounds"),
    "race": has_fault("race"),
    "coverage": leaves_out,
    "undefined": changes_with_undefined,
    "exact": is_off,
}
