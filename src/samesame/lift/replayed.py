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
from samesame.kernels.front import PARTS, memories_in, passed_of
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
    for parameter, one in passed_of(run.recorded, run.captured).items():
        if one.name == name:
            fresh = held_by_nobody(run.seen.before[parameter])
            for written in marks(run, one.view.memory):
                fresh &= ~written
            first = value_at(one.view.offset, run.sizes)
            shape, strides = ([value_at(n, run.sizes) for n in dims] for dims in (one.view.shape, one.view.strides))
            mine = torch.arange(fresh.numel()).as_strided(shape, strides, first)
            left = mine[fresh[mine]]
            return int(left[0]) - first if left.numel() else None
    return None


def held_by_nobody(tensor: torch.Tensor) -> torch.Tensor:
    """Of each element in a tensor's memory, whether it looks as if nobody had written to it."""
    from samesame.kernels.host.language import undefined

    line = torch.tensor([], dtype=tensor.dtype).set_(tensor.untyped_storage())
    return (line == torch.full((), undefined(tensor.dtype), dtype=tensor.dtype)) | line.isnan()


def taken_from_nobody(run: Rerun, name: str) -> tuple[int, str] | None:
    """The place of an element in a tensor's memory that a later launch reads and nobody has written before, and the
    line of that launch; of what the host reads no run tells which, so that may be any of it."""
    memory = next(one.view.memory for one in passed_of(run.recorded, run.captured).values() if one.name == name)
    launches = {launch.call: launch for launch in reversed(run.captured.launches)}
    for call in sorted(call for call in launches if run.recorded.call < call < len(run.whole.executions)):
        seen = run.whole.executions[call]
        for parameter, view in launches[call].arguments.items():
            if getattr(view, "memory", None) == memory and seen.kernel == launches[call].kernel:
                taken = held_by_nobody(seen.before[parameter]) & seen.read[parameter]
                for earlier in range(call):
                    for other, theirs in launches[earlier].arguments.items():
                        if getattr(theirs, "memory", None) == memory:
                            taken &= ~run.whole.executions[earlier].written[other]
                if bool(taken.any()):
                    return int(taken.nonzero()[0]), launches[call].called.spoken
    hosts = [s for s in run.captured.steps if not hasattr(s, "variants") and memory in memories_in(s)]
    left = garbage_left(run, name) if hosts else None
    return (left, hosts[-1].origin.spoken) if left is not None else None


def returns_something_else(run: Rerun) -> bool:
    """Whether something that the launch function returns is another one where all that is undefined is zero."""
    one, other = run.whole.outputs, run.run(blank=True).outputs
    return one.keys() != other.keys() or not all(are_equal(one[name], other[name]) for name in one)


def marks(run: Rerun, memory: int) -> Iterator[torch.Tensor]:
    """Which elements of a memory each launch writes."""
    for launch in {launch.call: launch for launch in run.captured.launches}.values():
        for parameter, view in launch.arguments.items():
            if getattr(view, "memory", None) == memory and launch.call < len(run.whole.executions):
                yield run.whole.executions[launch.call].written[parameter]


def changes_with_undefined(run: Rerun, _: Obligation) -> bool:
    """Whether a result is another one where all that is undefined is zero, or is no number, of numbers. What a launch
    leaves to later ones alone is a result as far as something that is returned hangs on it."""
    nothing = made_of_nothing(run.seen)
    if any(not is_handed_on(run, name) for name in nothing):
        return True
    changed = nothing + apart(run.seen, run.launch_in(run.run(blank=True)))
    if all(is_handed_on(run, name) for name in changed):
        no_number = any(bool(x.isnan().any()) for x in run.whole.outputs.values())
        return bool(changed) and (no_number or returns_something_else(run))
    return True


def is_handed_on(run: Rerun, parameter: str) -> bool:
    """Whether a step behind a launch gets an argument of it that was made empty and is not returned, as something else
    is."""
    memory = run.recorded.arguments[parameter].memory
    returned = {view.memory for _, view in run.captured.outputs}
    steps = run.captured.steps
    behind = next(k for k, step in enumerate(steps) if run.recorded in getattr(step, "variants", ())) + 1
    later = any(memory in memories_in(step) for step in steps[behind:])
    made_empty = run.captured.memories[memory].contents in (None, PARTS)
    return bool(returned) and memory not in returned and made_empty and later


def made_of_nothing(seen: Any) -> list[str]:
    """The arguments in which a launch stores what is no number, where it has read numbers only."""
    read = all(bool(seen.before[name].isfinite().all()) for name, r in seen.read.items() if bool(r.any()))
    return [name for name, w in seen.written.items() if read and bool(w.all()) and bool(seen.after[name].isnan().any())]


def changes_with_tuning(run: Rerun, _: Obligation) -> bool:
    """Whether a result is another one where a tuner has run the kernel before."""
    return are_apart(run.seen, run.launch_in(run.run(tuning=True)))


def are_apart(one: Any, other: Any) -> bool:
    """Whether two runs of a launch leave something else in what it writes."""
    return bool(apart(one, other))


def apart(one: Any, other: Any) -> list[str]:
    """The arguments that a launch writes to, and in which two runs of it leave something else."""
    written = (name for name, w in one.written.items() if bool(w.any()))
    return [name for name in written if not are_equal(one.after[name], other.after[name])]


def are_equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return torch.equal(a.isnan(), b.isnan()) and torch.equal(a.nan_to_num(), b.nan_to_num())


SHOWS: dict[str, Callable[[Rerun, Obligation], bool]] = {  # by obligation: whether a run shows that it does not hold
    "bounds": has_fault("load out of bounds", "store out of bounds", "atomic out of bounds"),
    "race": has_fault("race"),
    "coverage": leaves_out,
    "undefined": changes_with_undefined,
    "exact": is_off,
    "tuning": changes_with_tuning,
}
