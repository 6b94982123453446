"""Sweeps of other configs beside one: what their reports in JSON say, as columns of its matrix.

A sweep is of one config. Which fields a library ignores is a question about many, so the page of one sweep may have
the others beside it, model by model, and each cell leads to the report that was drawn then.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from samesame.evidence import SamesameError
from samesame.sweep.outcome import Outcome, from_json
from samesame.sweep.table import FORMAT, OF_REPORTS


@dataclass(frozen=True, slots=True)
class Column:
    """One model: its name, and what came of its probes, each with the page that shows it ("" where there is none)."""

    name: str
    outcomes: tuple[tuple[Outcome, str], ...]


def columns(reports: Sequence[Path], page: Path) -> list[Column]:
    """The columns of reports that `samesame sweep --json` wrote, for a page that lies there. Raises SamesameError where
    a file cannot be read or is no such report."""
    return [_column(report, page) for report in reports]


def _column(report: Path, page: Path) -> Column:
    try:
        told = json.loads(report.read_text())
        if told["format"] != FORMAT:
            raise SamesameError(f"{report} is of another version; run that sweep once more with --json")
        found = [({name: value for name, value in probe.items() if name not in OF_REPORTS}, probe.get("page"))
                 for probe in told["probes"]]
        return Column(str(told["left"]), tuple((from_json(probe), _link(drawn, page)) for probe, drawn in found))
    except OSError as error:
        raise SamesameError(f"{report} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise SamesameError(f"{report} is no report of a sweep; give what `samesame sweep --json` wrote") from None


def _link(drawn: str | None, page: Path) -> str:
    """The way from the page to a report that was drawn, if it is still there."""
    if not drawn or not Path(drawn).exists():
        return ""
    return quote(os.path.relpath(Path(drawn).absolute(), page.absolute().parent))
