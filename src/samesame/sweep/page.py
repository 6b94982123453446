"""A sweep as a page: a matrix of fields and the values that were tried, each cell with what came of it, and the way to
the report of its pair, drawn as `check` draws it, where there is one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from samesame.report.html.beside import folder_beside, link_to
from samesame.report.html.page import choices, page, write_page
from samesame.report.words import counted
from samesame.sweep.outcome import Outcome, Sweep
from samesame.sweep.probe import brief
from samesame.sweep.table import headline, in_full, named
from samesame.sweep.verb import page_of_outcome

KINDS = {"different": "refuted", "undecided": "undecided", "unsupported": "tested", "refused": "rounded", "same": "all"}
WORDS = {"unsupported": "not supported", "same, moving nothing": "same, and no logits depend on it"}
WAIVED = "waived"
VERDICTS = {0: "same", 1: "different", 3: "undecided"}


def sweep_html(sweep: Sweep, scripts: Mapping[str, Path], pages: Path) -> str:
    """The whole page; `scripts` are those of differences, by their probe; those of probes lie in the folder `pages`."""
    cells = [_cell(number, outcome, sweep, scripts, pages) for number, outcome in enumerate(sweep.outcomes, 1)]
    states = choices((cell["state"], cell["kind"]) for cell in sorted(cells, key=lambda cell: cell["order"]))
    for cell in cells:
        cell["states"] = states[cell["state"]]["key"]
    fields: dict[str, list[dict[str, Any]]] = {}
    for cell in cells:
        fields.setdefault(cell["field"], []).append(cell)
    told = headline(sweep)
    verdict = VERDICTS[sweep.exit_code]
    return page(
        "sweep.html",
        title=f"{verdict}: {sweep.left} and {sweep.right}",
        code=sweep.exit_code,
        headline=" ".join(told.split()),
        left=sweep.left,
        right=sweep.right,
        base=None if sweep.base is None or sweep.base.outcome == "same" else {
            "state": sweep.base.outcome, "lines": [line.strip() for line in in_full(sweep.base, scripts, sweep)],
        },
        drawn="" if sweep.base is None else link_to(page_of_outcome(sweep.base, pages)),
        rows=[{"field": field, "cells": found, "search": " ".join(cell["search"] for cell in found),
               "states": " ".join(cell["states"] for cell in found)}
              for field, found in sorted(fields.items(), key=lambda row: min(cell["order"] for cell in row[1]))],
        cells=sorted(cells, key=lambda cell: cell["order"]),
        states=states.values(),
        unreached=[probe.spoken for probe in sweep.unreached],
        left_out=sweep.plan.left_out,
        fields=counted(len(sweep.plan.left_out), "field"),
        notes=sweep.notes,
        footer=" · ".join([f"seed {sweep.seed}", *(f"{name} {version}" for name, version in sweep.versions.items())]),
    )


def write_sweep(sweep: Sweep, scripts: Mapping[str, Path], path: Path) -> None:
    """Write the page to `path` in one step. Raises SamesameError if the disk does not let it."""
    write_page(sweep_html(sweep, scripts, folder_beside(path)), path)


def _cell(
    number: int, outcome: Outcome, sweep: Sweep, scripts: Mapping[str, Path], pages: Path
) -> dict[str, Any]:
    state = "same, moving nothing" if outcome.outcome == "same" and outcome.moves_nothing else outcome.outcome
    state = WAIVED if outcome.waived else WORDS.get(state, state)
    lines = [line.strip() for line in in_full(outcome, scripts, sweep)]
    return {
        "id": f"probe-{number}",
        "field": outcome.probe.field,
        "value": brief(outcome.probe.value),
        "name": named(outcome),
        "state": state,
        "kind": "" if outcome.waived else KINDS[outcome.outcome],
        "order": len(KINDS) if outcome.waived else list(KINDS).index(outcome.outcome),
        "drawn": link_to(page_of_outcome(outcome, pages)),
        "lines": [*filter(None, [outcome.waived]), *lines, *filter(None, [outcome.evidence])],
        "search": f"{named(outcome)} {state} {' '.join(lines)}".lower(),
    }
