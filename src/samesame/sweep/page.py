"""A sweep as a page: a matrix of fields and the values that were tried, each cell with what came of it, and the way to
the report of its pair, drawn as `check` draws it, where there is one. Beside this config others may stand, each with a
column of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from samesame.report.html.beside import folder_beside, link_to
from samesame.report.html.page import choices, page, write_page
from samesame.report.words import counted
from samesame.sweep.beside import Column
from samesame.sweep.outcome import Outcome, Sweep
from samesame.sweep.probe import brief
from samesame.sweep.table import headline, in_full, named
from samesame.sweep.verb import page_of_outcome

KINDS = {"different": "refuted", "undecided": "undecided", "unsupported": "tested", "refused": "rounded", "same": "all"}
WORDS = {"unsupported": "not supported", "same, moving nothing": "same, and no logits depend on it"}
WAIVED = "waived"
VERDICTS = {0: "same", 1: "different", 3: "undecided"}


def sweep_html(sweep: Sweep, scripts: Mapping[str, Path], pages: Path, others: Sequence[Column] = ()) -> str:
    """The whole page; `scripts` are those of differences, by their probe; those of probes lie in the folder `pages`.
    `others` are sweeps of other configs, to stand beside this one in the matrix."""
    cells = [_cell(number, outcome, sweep, scripts, pages) for number, outcome in enumerate(sweep.outcomes, 1)]
    beside = [[_chip(outcome, link) for outcome, link in column.outcomes] for column in others]
    every = sorted([*cells, *chain(*beside)], key=lambda cell: cell["order"])
    states = choices((cell["state"], cell["kind"]) for cell in every)
    for cell in every:
        cell["states"] = states[cell["state"]]["key"]
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
        models=[sweep.left, *(column.name for column in others)] if others else [],
        rows=[_row(field, [cells, *beside]) for field in dict.fromkeys(cell["field"] for cell in every)],
        cells=sorted(cells, key=lambda cell: cell["order"]),
        states=states.values(),
        unreached=[probe.spoken for probe in sweep.unreached],
        left_out=sweep.plan.left_out,
        fields=counted(len(sweep.plan.left_out), "field"),
        notes=sweep.notes,
        footer=" · ".join([f"seed {sweep.seed}", *(f"{name} {version}" for name, version in sweep.versions.items())]),
    )


def write_sweep(
    sweep: Sweep, scripts: Mapping[str, Path], path: Path, others: Sequence[Column] = ()
) -> None:
    """Write the page to `path` in one step. Raises SamesameError if the disk does not let it."""
    write_page(sweep_html(sweep, scripts, folder_beside(path), others), path)


def drawn(sweep: Sweep, path: Path) -> dict[str, Path]:
    """The reports of probes that were drawn beside the page, by their probe."""
    found = {outcome.probe.key: page_of_outcome(outcome, folder_beside(path)) for outcome in sweep.outcomes}
    return {key: page for key, page in found.items() if page.exists()}


def _row(field: str, columns: Sequence[Sequence[dict[str, Any]]]) -> dict[str, Any]:
    """A field, with its cells model by model."""
    found = [[cell for cell in column if cell["field"] == field] for column in columns]
    return {"field": field, "columns": found, "search": " ".join(cell["search"] for cell in chain(*found)),
            "states": " ".join(cell["states"] for cell in chain(*found))}


def _chip(outcome: Outcome, link: str) -> dict[str, Any]:
    """A cell of the matrix, and where it leads."""
    state = "same, moving nothing" if outcome.outcome == "same" and outcome.moves_nothing else outcome.outcome
    state = WAIVED if outcome.waived else WORDS.get(state, state)
    return {
        "field": outcome.probe.field,
        "value": brief(outcome.probe.value),
        "name": named(outcome),
        "state": state,
        "kind": "" if outcome.waived else KINDS[outcome.outcome],
        "order": len(KINDS) if outcome.waived else list(KINDS).index(outcome.outcome),
        "link": link,
        "search": f"{named(outcome)} {state}".lower(),
    }


def _cell(
    number: int, outcome: Outcome, sweep: Sweep, scripts: Mapping[str, Path], pages: Path
) -> dict[str, Any]:
    """A probe of this sweep, with all that is to be said of it."""
    lines = [line.strip() for line in in_full(outcome, scripts, sweep)]
    chip = _chip(outcome, f"#probe-{number}")
    return {
        **chip,
        "id": f"probe-{number}",
        "drawn": link_to(page_of_outcome(outcome, pages)),
        "lines": [*filter(None, [outcome.waived]), *lines, *filter(None, [outcome.evidence])],
        "search": f"{chip['search']} {' '.join(lines)}".lower(),
    }
