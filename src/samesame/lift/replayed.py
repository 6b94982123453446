"""Counterexamples, run: a failure that was found in formulas is looked for in Triton's interpreter.

The launch function runs on the CPU at the counterexample's sizes, and what the interpreter sees there (an access out of
bounds, two programs at one element, an element nobody wrote) confirms the case. It is noted beside it; a case that the
interpreter cannot run stays what it is, and says so.
"""

from __future__ import annotations

from typing import Any

from samesame.evidence import Refused
from samesame.lift.verdict import KernelVerdict, Obligation

FAULTS = {
    "bounds": ("load out of bounds", "store out of bounds", "atomic out of bounds"),
    "race": ("race",),
}
NOT_SEEN = {
    "bounds": "no: the interpreter sees no access out of bounds",
    "race": "no: what both programs write there is the same in the interpreter",
    "coverage": "no: the interpreter sees no such element",
}
MOST = 2  # runs for one kernel
SECONDS = 20.0


def replay(target: Any, inputs: Any, example: dict[str, int], kernel: KernelVerdict) -> None:
    """Run the cases of a kernel's violated obligations, and note in each whether the interpreter confirms it."""
    from samesame.capture.triton_interpret import interpret

    runs: dict[tuple[tuple[str, int], ...], Any] = {}
    for obligation in kernel.obligations:
        case = obligation.counterexample
        if obligation.name not in ("bounds", "race", "coverage") or not case:
            continue
        key = tuple(sorted(case["sizes"].items()))
        if key not in runs:
            if len(runs) >= MOST:
                continue
            try:
                runs[key] = interpret(target, inputs, sizes=case["sizes"], example=example, timeout=SECONDS)
            except Refused as refused:
                runs[key] = str(refused)
        found = runs[key]
        if isinstance(found, str):
            case["replayed"] = f"no: {found}"
        else:
            seen = confirms(found, kernel.kernel, obligation)
            case["replayed"] = "yes" if seen else NOT_SEEN[obligation.name]


def confirms(run: Any, kernel: str, obligation: Obligation) -> bool:
    """Whether the run shows what the obligation forbids."""
    executions = [e for e in run.executions if e.kernel == kernel]
    if obligation.name == "coverage":
        return any(bool(w.any()) and not bool(w.all()) for e in executions for w in e.written.values())
    return any(fault.kind in FAULTS[obligation.name] for e in executions for fault in e.faults)
