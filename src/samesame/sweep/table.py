"""The report of a sweep: for people a table, differences first; for machines one JSON object.

    qwen3: 48 probes, 2 different, 26 same (6 of them move nothing), 20 refused         143 s

    different
      attention_bias = true
          logits differ by up to 2.2, mean 0.31; the likeliest token changes in 14 of 22 places
          hf    transformers/models/qwen3/modeling_qwen3.py:271  attn_output = self.o_proj(attn_output)
          vllm  vllm/model_executor/layers/linear.py:239  …
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from samesame.report.words import counted
from samesame.sweep.outcome import NEITHER, SAMESAME, Outcome, Place, Sweep, to_json
from samesame.sweep.probe import brief

FORMAT = 1
OF_REPORTS = ("script", "page")                # what a report says of a probe beside its outcome
HEADINGS = {"different": "different", "undecided": "undecided", "unsupported": "not supported"}
WIDTH = 118


def headline(sweep: Sweep) -> str:
    """One line: how many probes ended how."""
    counts = sweep.counts
    parts = [f"{counts['different']} different", _with(counts["same"], "same", counts["same, moving nothing"])]
    parts += [f"{counts[name]} {word}" for name, word in
              (("refused", "refused"), ("unsupported", "not supported"), ("undecided", "undecided"),
               ("waived", "waived"), ("not reached", "not reached")) if counts[name]]
    return f"{sweep.kind}: {counted(len(sweep.plan.probes), 'probe')}: {', '.join(parts)}   {sweep.seconds:.0f} s"


def _with(number: int, word: str, quiet: int) -> str:
    return f"{number} {word}" + (f" ({quiet} of them move nothing)" if quiet else "")


def text(sweep: Sweep, scripts: Mapping[str, Path], *, verbose: bool = False) -> str:
    """The whole report: what differs and what is open in full, the rest in lines."""
    lines = [headline(sweep), f"  left   {sweep.left}", f"  right  {sweep.right}"]
    if sweep.base is not None and sweep.base.outcome != "same":
        lines += ["", f"the config as it is: {sweep.base.outcome}", *in_full(sweep.base, scripts, sweep)]
    for outcome, heading in HEADINGS.items():
        found = [o for o in sweep.outcomes if o.outcome == outcome and not o.waived]
        if found:
            lines += ["", heading]
        for one in found:
            lines += [f"  {named(one)}", *in_full(one, scripts, sweep)]
    waived = [o for o in sweep.outcomes if o.waived]
    if waived:
        lines += ["", "waived", *(f"  {named(o)}: {o.outcome}; {o.waived}" for o in waived)]
    lines += _refused(sweep)
    lines += _same(sweep, verbose)
    lines += _left_out(sweep) if verbose else []
    lines += ["", *sweep.notes] if sweep.notes else []
    return "\n".join(lines)


def named(outcome: Outcome) -> str:
    """The probe, with what had to be changed beside it."""
    beside = outcome.probe.companions
    return f"{outcome.probe.spoken}{f'   with {beside}' if beside else ''}"


def in_full(outcome: Outcome, scripts: Mapping[str, Path], sweep: Sweep) -> Iterator[str]:
    """What is to be said of one probe, a line each, indented."""
    if outcome.message:
        by = f"{_side(outcome.by, sweep)}: " if outcome.by in ("left", "right") else ""
        yield f"      {by}{outcome.message}"
    if outcome.ignored_by:
        yield f"      {_side(outcome.ignored_by, sweep)} computes what it computes without it"
    if outcome.max_error is not None:
        changed = ""
        if outcome.argmax_total:
            changed = f"; the likeliest token changes in {outcome.argmax_changed} of {outcome.argmax_total} places"
        names = " and ".join(outcome.outputs).replace("_", " ") or "logits"
        yield f"      {names} differ by up to {outcome.max_error:.3g}, mean {outcome.mean_error:.3g}{changed}"
    for name in ("left", "right"):
        place: Place | None = getattr(outcome, name)
        if place is not None:
            module = f"   ({place.module})" if place.module else ""
            yield f"      {_side(name, sweep):5} {place.line}  {place.code}{module}"
    for edit in outcome.edits[:2]:
        yield f"      they agree again if {edit}"
    if outcome.probe.key in scripts:
        yield f"      script {scripts[outcome.probe.key]}"


def _side(name: str, sweep: Sweep) -> str:
    """The library of a side, where that tells the two apart."""
    left, right = (side.partition(":")[0] for side in (sweep.left, sweep.right))
    if name in (SAMESAME, NEITHER) or left == right:
        return name
    return {"left": left, "right": right}[name]


def _refused(sweep: Sweep) -> list[str]:
    """Refusals: what a side says of a field, once for all values of which it says the same."""
    found = [o for o in sweep.outcomes if o.outcome == "refused" and not o.waived]
    lines = []
    for by in dict.fromkeys(outcome.by for outcome in found):
        lines += ["", f"refused by {_side(by, sweep)}"]
        for same in _alike([outcome for outcome in found if outcome.by == by]):
            values = ", ".join(brief(outcome.probe.value) for outcome in same)
            beside = same[0].probe.companions
            named = f"{same[0].probe.field} = {values}{f'   with {beside}' if beside else ''}"
            lines += textwrap.wrap(f"{named}: {same[0].message}", WIDTH, initial_indent="  ",
                                   subsequent_indent="      ", max_lines=3, placeholder=" …")
    return lines


def _alike(outcomes: list[Outcome]) -> list[list[Outcome]]:
    """Refusals of one field in the same words, but for the value."""
    groups: dict[tuple[str, ...], list[Outcome]] = {}
    for outcome in outcomes:
        said = outcome.message.replace(str(outcome.probe.value), "…")
        groups.setdefault((outcome.probe.field, outcome.probe.companions, said), []).append(outcome)
    return list(groups.values())


def _same(sweep: Sweep, verbose: bool) -> list[str]:
    found = [o for o in sweep.outcomes if o.outcome == "same"]
    lines = []
    for heading, chosen in (("same", [o for o in found if not o.moves_nothing]),
                            ("same, and neither side's logits depend on it", [o for o in found if o.moves_nothing])):
        if not chosen:
            continue
        lines += ["", heading]
        if verbose:
            lines += [f"  {named(o)}   {o.evidence}" for o in chosen]
        else:
            fields = [f"{name} = {', '.join(brief(o.probe.value) for o in those)}"
                      for name, those in groupby(chosen, key=lambda o: o.probe.field)]
            lines += textwrap.wrap("; ".join(fields), WIDTH, initial_indent="  ", subsequent_indent="  ")
    return lines


def _left_out(sweep: Sweep) -> list[str]:
    lines = ["", "not tried"]
    for reason, fields in groupby(sorted(sweep.plan.left_out, key=lambda pair: pair[1]), key=lambda pair: pair[1]):
        lines += textwrap.wrap(f"{reason}: {', '.join(name for name, _ in fields)}", WIDTH, initial_indent="  ",
                               subsequent_indent="      ")
    return lines


def listed(sweep_plan: Any) -> str:
    """What a sweep would try."""
    return "\n".join(
        f"{probe.spoken}{f'   with {probe.companions}' if probe.companions else ''}" for probe in sweep_plan.probes
    )


def dumps(sweep: Sweep, scripts: Mapping[str, Path], pages: Mapping[str, Path] | None = None) -> str:
    """The sweep as one JSON object; names are those of `Sweep` and `Outcome`. `pages` are the reports that were drawn,
    by their probe."""
    pages = pages or {}
    document = {
        "format": FORMAT,
        "left": sweep.left,
        "right": sweep.right,
        "model_type": sweep.kind,
        "exit_code": sweep.exit_code,
        "counts": sweep.counts,
        "base": None if sweep.base is None else to_json(sweep.base),
        "probes": [to_json(o) | dict(zip(OF_REPORTS, (_path(found.get(o.probe.key)) for found in (scripts, pages)),
                                           strict=True)) for o in sweep.outcomes],
        "not_reached": [{"field": probe.field, "value": probe.value} for probe in sweep.unreached],
        "left_out": [{"field": name, "reason": reason} for name, reason in sweep.plan.left_out],
        "notes": sweep.notes,
        "interrupted": sweep.interrupted,
        "versions": dict(sweep.versions),
        "seed": sweep.seed,
        "seconds": sweep.seconds,
    }
    return json.dumps(_finite(document), indent=2, allow_nan=False) + "\n"


def _path(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _finite(part: Any) -> Any:
    """Numbers that JSON does not have, as strings."""
    if (isinstance(part, float) and part != part) or part in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(part)]
    if isinstance(part, Mapping):
        return {name: _finite(value) for name, value in part.items()}
    return [_finite(value) for value in part] if isinstance(part, list | tuple) else part


