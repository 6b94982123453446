"""What `lift` answers, for people: a block of lines for each kernel.

    softmax_kernel   verified, if N ≤ 1024   softmax
      out[i, j] = exp(x[i, j] − max_{k<N} x[i, k]) / …
      needs      N ≤ 1024
      coverage   proved     every element of out is written
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from samesame.kernels.verdict import KernelVerdict, LiftVerdict, Obligation
from samesame.report.json import plain
from samesame.report.words import counted

WIDTH = 11
TITLE = 22


def as_json(verdict: LiftVerdict) -> str:
    return json.dumps(plain(verdict.to_json()), indent=2, allow_nan=False)


def quiet_lines(verdict: LiftVerdict) -> Iterator[str]:
    """One line for each kernel: its name and the formula's, or what is in the way of `verified`."""
    for k in verdict.kernels:
        worst = [o for o in k.obligations if o.state == ("violated" if k.verdict == "violated" else "undecided")]
        why = k.name if k.verdict == "verified" else ", ".join([*(o.name for o in worst), *k.unsupported])
        yield f"{k.kernel}: {k.headline}" + (f", {why}" if why else "")
    yield from (f"not lifted: {sentence}" for sentence in verdict.unsupported)
    if verdict.against:
        yield f"against {verdict.reference}: {verdict.against_headline}"


def lines(verdict: LiftVerdict, *, explain: bool = False, latex: bool = False) -> Iterator[str]:
    """The report."""
    for kernel in verdict.kernels:
        yield "   ".join(part for part in (kernel.kernel, kernel.headline, kernel.name) if part)
        for formula in kernel.formulas:
            yield f"  {formula.latex if latex and formula.latex else formula.text}"
        for stage in kernel.stages:
            yield f"    {stage.title:<{TITLE}}{stage.latex if latex else stage.text}   {stage.place}".rstrip()
        yield from (row("needs", condition) for condition in kernel.preconditions)
        for obligation in kernel.obligations:
            yield from of_obligation(obligation, explain)
        yield from of_numerics(kernel)
        yield from (row("unsupported", sentence) for sentence in kernel.unsupported)
        if explain:
            yield from (row("read", sentence) for sentence in kernel.readings)
            yield row("time", f"{1000 * kernel.seconds:.0f} ms")
    yield from (row("not lifted", sentence) for sentence in verdict.unsupported)
    yield from (row("note", sentence) for sentence in verdict.notes)
    if verdict.against:
        yield f"against {verdict.reference}: {verdict.against_headline}"
        yield f"  {verdict.against_detail}"
        if verdict.against_counterexample:
            yield row("at", in_words(verdict.against_counterexample))
    yield f"{verdict.headline}; over the reals, floating-point casts being the identity"


def of_numerics(kernel: KernelVerdict) -> Iterator[str]:
    """One line for each tensor whose error was measured: `out: float32 6e-08, float16 5e-04`."""
    for name in dict.fromkeys(m.tensor for m in kernel.numerics):
        found = [m for m in kernel.numerics if m.tensor == name]
        errors = ", ".join(f"{m.dtype} {m.error:.1e}" for m in found)
        sizes = ", ".join(f"{size} = {n}" for size, n in found[0].sizes.items())
        drawn = counted(found[0].draws, "draw") + (f" at {sizes}" if sizes else "")
        yield row("error", f"{name}: {errors}   of the largest value; against float64, {drawn}, worst element")
    yield from (row("error", sentence) for sentence in kernel.unmeasured)


def of_obligation(obligation: Obligation, explain: bool) -> Iterator[str]:
    place = f"   {obligation.place}" if obligation.place and (explain or obligation.state != "proved") else ""
    took = f"   {1000 * obligation.seconds:.1f} ms" if explain else ""
    yield row(obligation.name, f"{obligation.state:<10} {obligation.detail}{place}{took}")
    if obligation.counterexample:
        yield row("", f"{'at':<10} {in_words(obligation.counterexample)}")


def row(name: str, text: str) -> str:
    return f"  {name:<{WIDTH - 1}} {text}"


def in_words(case: dict[str, Any]) -> str:
    """A counterexample: `n = 1000: load of x at offset 1000, of 1000 elements; program [15]; lane [40]; …`."""
    told = dict(case)
    sizes = ", ".join(f"{size} = {n}" for size, n in told.pop("sizes", {}).items())
    parts: list[str] = []
    if "access" in told:
        access, tensor, offset, elements = (told.pop(key) for key in ("access", "tensor", "offset", "elements"))
        parts.append(f"{access} of {tensor} at offset {offset}, of {elements} elements")
    if "bits" in told:
        parts.append(f"a number of {told.pop('bits')} bits wraps around")
    for name, value in told.items():
        if isinstance(value, dict):
            parts.append(f"{name}: {in_words(value)}")
        elif name == "replayed":
            parts.append("seen in Triton's interpreter too" if value == "yes" else f"replayed: {value}")
        else:
            parts.append(f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}")
    return ": ".join(filter(None, (sizes, "; ".join(parts))))
