"""The verdict of `refine` as a page: what the terminal says, and a lane for each rank."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from samesame.evidence import Refinement
from samesame.report import refinement, terminal
from samesame.report.html import plots
from samesame.report.html.drawing import ANSWERS
from samesame.report.html.lanes import meetings, rows_of
from samesame.report.html.page import page, write_page
from samesame.report.html.wording import inline, paragraphs
from samesame.report.words import counted, place_in_words

DRAWN = ("collectives", "relations", "inputs and weights (a rank's = layout of the sequential)")    # as lanes


def refine_html(verdict: Refinement) -> str:
    """The whole page."""
    shown = [name for name, _ in refinement.SECTIONS if name not in DRAWN]
    place = shown.index("sizes") + 1
    rungs = sorted({r.evidence.rung for r in (*verdict.relations, *verdict.input_relation)}, reverse=True)
    return page(
        "refine.html",
        title=f"{verdict.verdict}: {verdict.left}",
        code=verdict.exit_code,
        headline=inline(refinement.headline(verdict)),
        program=f"{verdict.left}, on {counted(verdict.world_size, 'rank')}",
        before=list(_sections(verdict, shown[:place])),
        after=list(_sections(verdict, shown[place:])),
        ranks=range(verdict.world_size),
        tables=[
            {"title": title, "id": name, "rows": rows_of(verdict, relations)}
            for name, title, relations in (
                ("tensors", "what the ranks have of each tensor", verdict.relations),
                ("given", "inputs and weights", verdict.input_relation),
            ) if relations
        ],
        lost=_lost(verdict),
        meetings=meetings(verdict),
        legend=[{"kind": ANSWERS[rung], "words": str(rung)} for rung in rungs],
        plots=list(filter(None, [plots.time(verdict)])),
        footer=inline(terminal.footer(verdict)),
    )


def _lost(verdict: Refinement) -> dict[str, Any] | None:
    """The first sequential operator that the ranks do not hold, and what they have instead."""
    found = verdict.loss
    if found is None:
        return None
    site = found.operator
    place, source = site.origin.module or site.origin.function, place_in_words(site.origin)
    return {"place": place, "name": f"{site.operator} ({site.node})", "source": source, "lines": found.instead,
            "search": f"{place} {site.operator} {source}".lower()}


def write_refine(verdict: Refinement, path: Path) -> None:
    """Write the page to `path` in one step. Raises SamesameError if the disk does not let it."""
    write_page(refine_html(verdict), path)


def _sections(verdict: Refinement, wanted: list[str]) -> Iterator[dict[str, Any]]:
    for name, section in refinement.SECTIONS:
        rows = list(section(verdict, True)) if name in wanted else []
        if rows:
            yield {"title": name, "content": paragraphs(rows), "id": "-".join(name.split()[:3])}
