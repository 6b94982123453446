"""Counterexamples, run: a failure that was found in formulas is looked for in Triton's interpreter.

The launch function runs on the CPU at the counterexample's sizes, and what the interpreter sees there confirms the
case: an access out of bounds, two programs at one element, an element that nobody wrote, a result that changes with
memory that nobody has written to. Only what a run shows is violated; a case that no run shows, or that cannot be run,
is noted beside an obligation that stays open, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from samesame.evidence import Refused
from samesame.formula.expr import Unsupported
from samesame.formula.sizes import value_at
from samesame.kernels.front import passed_of
from samesame.kernels.verdict import KernelVerdict, Obligation
from samesame.lift.example import run_at
from samesame.lift.numerics import error_of

NOT_SEEN = {
    "bounds": "the interpreter sees no access out of bounds",
    "race": "what both programs write there is the same in the interpreter",
    "coverage": "the interpreter sees no such element",
    "undefined": "in the interpreter the result does not change with undefined values",
    "tuning": "in the interpreter the result is the same after a tuner's runs",
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

    def run(self, **how: bool) -> Any:
        """The whole function, run. Raises Refused."""
        configuration = self.recorded.configuration
        return run_at(
            self.target, self.inputs, self.captured, self.sizes, configuration=configuration, timeout=SECONDS, **how
        )

    def launch_in(self, run: Any) -> Any:
        """The launch in a run of all. Raises Refused where it is not reached."""
        found = run.executions[self.recorded.call : self.recorded.call + 1]
        if not found or found[0].kernel != self.recorded.kernel:
            raise Refused("at these sizes the host launches something else")
        return found[0]

    @cached_property
    def whole(self) -> Any:
        """All launches, run as they are."""
        return self.run()

    @property
    def seen(self) -> Any:
        """What the launch did."""
        return self.launch_in(self.whole)


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
    """Whether nobody has written the element that the case names, neither the host nor another launch."""
    assert obligation.counterexample is not None
    name = obligation.counterexample["element"].partition("[")[0]
    parameter, one = next((p, one) for p, one in passed_of(run.recorded, run.captured).items() if one.name == name)
    offset = value_at(one.view.offset, run.sizes) + obligation.counterexample["offset"]
    from samesame.kernels.host.language import undefined

    before = run.seen.before[parameter]
    held = torch.tensor([], dtype=before.dtype).set_(before.untyped_storage())[offset]
    garbage = torch.full((), undefined(before.dtype), dtype=before.dtype)
    fresh = bool(held == garbage) or bool(held.isnan())
    return fresh and not any(bool(written[offset]) for written in marks(run, one.view.memory))


def garbage_left(run: Rerun, name: str) -> int | None:
    """The place of an element of a tensor that nobody has written, neither the host nor a launch."""
    from samesame.kernels.host.language import undefined

    for parameter, one in passed_of(run.recorded, run.captured).items():
        if one.name == name:
            before = run.seen.before[parameter]
            line = torch.tensor([], dtype=before.dtype).set_(before.untyped_storage())
            first, _ = value_at(one.view.offset, run.sizes), one
            shape, strides = ([value_at(n, run.sizes) for n in dims] for dims in (one.view.shape, one.view.strides))
            fresh = (line == torch.full((), undefined(before.dtype), dtype=before.dtype)) | line.isnan()
            for written in marks(run, one.view.memory):
                fresh &= ~written
            mine = torch.arange(line.numel()).as_strided(shape, strides, first)
            left = mine[fresh[mine]]
            return int(left[0]) - first if left.numel() else None
    return None


def marks(run: Rerun, memory: int) -> Iterator[torch.Tensor]:
    """Which elements of a memory each launch writes."""
    for launch in {launch.call: launch for launch in run.captured.launches}.values():
        for parameter, view in launch.arguments.items():
            if getattr(view, "memory", None) == memory and launch.call < len(run.whole.executions):
                yield run.whole.executions[launch.call].written[parameter]


def changes_with_undefined(run: Rerun, _: Obligation) -> bool:
    """Whether a result is another one where all that is undefined is zero, or is no number, of numbers."""
    return made_of_nothing(run.seen) or are_apart(run.seen, run.launch_in(run.run(blank=True)))


def made_of_nothing(seen: Any) -> bool:
    """Whether a launch stores what is no number, and has read numbers only."""
    read = all(bool(seen.before[name].isfinite().all()) for name, r in seen.read.items() if bool(r.any()))
    return read and any(bool(seen.after[name].isnan().any()) for name, w in seen.written.items() if bool(w.all()))


def changes_with_tuning(run: Rerun, _: Obligation) -> bool:
    """Whether a result is another one where a tuner has run the kernel before."""
    return are_apart(run.seen, run.launch_in(run.run(tuning=True)))


def are_apart(one: Any, other: Any) -> bool:
    """Whether two runs of a launch leave something else in what it writes."""
    pairs = ((one.after[name], other.after[name]) for name, w in one.written.items() if bool(w.any()))
    return not all(torch.equal(a.isnan(), b.isnan()) and torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in pairs)


SHOWS: dict[str, Callable[[Rerun, Obligation], bool]] = {  # by obligation: whether a run shows that it does not hold
    "bounds": has_fault("load out of bounds", "store out of bounds", "atomic out of bounds"),
    "race": has_fault("race"),
    "coverage": leaves_out,
    "undefined": changes_with_undefined,
    "exact": is_off,
    "tuning": changes_with_tuning,
}
