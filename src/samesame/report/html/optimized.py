"""What `optimize` found as a page: bars of everything that raced, what was changed as formulas, how it came about rule
by rule, what the proof stands on, the figures of the numeric contract, and the code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from samesame.formula.mathml import is_mathml
from samesame.report.html.page import page, write_page
from samesame.report.html.plots import Bar, bars
from samesame.report.optimized import (
    CHANGED,
    CONTRACT,
    SIDE_BY_SIDE,
    STEPS,
    Contract,
    Formula,
    Report,
    Row,
    against_best,
    aside,
    footer,
    in_unit,
    is_answer,
    ran,
    sections,
    spoken,
    untimed,
)

LONGEST = 60_000                                     # letters of a file that are shown
DRAWN = (SIDE_BY_SIDE, CHANGED, STEPS, CONTRACT)     # sections that a page shows in its own way


def optimized_html(report: Report, files: Mapping[str, str]) -> str:
    """The whole page; `files` are what was found, by name."""
    told = dict(sections(report, explain=True))
    return page(
        "optimize.html",
        title=f"{report.verdict}: {report.title}",
        code=report.exit_code,
        word=report.verdict,
        headline=report.headline,
        aside=list(aside(report)),
        race=_race(report),
        failed=[(spoken(row), untimed(row)) for row in report.rows if row.seconds is None],
        changed=told.get(CHANGED, []),
        formulas=[_formula(formula) for formula in report.formulas if formula.before],
        steps=[{"rule": step.rule, "text": str(step), "drawn": [_math(side) for side in step.drawn if side]}
               for step in report.steps],
        contract=told.get(CONTRACT, []),
        errors=_errors(report.contract) if report.contract is not None else "",
        others=[{"title": title, "id": "-".join(title.split()), "lines": lines}
                for title, lines in told.items() if title not in DRAWN],
        files=[{"name": name, "lines": text[:LONGEST].splitlines(), "cut": len(text) > LONGEST}
               for name, text in files.items()],
        footer=footer(report),
    )


def write_optimized(report: Report, files: Mapping[str, str], path: Path) -> None:
    """Write the page to `path` in one step. Raises SamesameError if the disk does not let it."""
    write_page(optimized_html(report, files), path)


def _race(report: Report) -> Markup:
    """Bars of what was timed, the fastest first; a whisker is the spread up to the upper quartile."""
    shown = [_bar(report, row) for row in ran(report)]
    rows = [(spoken(row), in_unit(row.seconds or 0), f"{100 * (row.spread or 0):.0f} %", against_best(report, row),
             str(row.rounds)) for row in ran(report)]
    return bars(SIDE_BY_SIDE, shown, ("program", "a call", "spread", "against the best you have", "rounds"), rows)


def _bar(report: Report, row: Row) -> Bar:
    seconds, spread = row.seconds or 0.0, row.spread or 0.0
    words = " · ".join(filter(None, (in_unit(seconds), against_best(report, row),
                                     "← this" if is_answer(report, row) else "")))
    return Bar(spoken(row), seconds, words, seconds * (1 + spread), "all" if row.found else "here")


def _formula(formula: Formula) -> dict[str, Any]:
    return {"output": formula.output, "sides": list(_sides(formula))}


def _sides(formula: Formula) -> Iterator[tuple[str, str]]:
    """What is written before each formula; there is one where nothing is another formula."""
    yield ("was" if formula.after else "is"), _math(formula.before)
    if formula.after:
        yield "is now", _math(formula.after)


def _math(text: str) -> str:
    """A formula to be drawn. A report may come from a store that somebody else wrote: what is none stays text."""
    return Markup(text) if is_mathml(text) else text


def _errors(held: Contract) -> Markup:
    """The largest errors, of what was found and of the original."""
    shown = [("what was found", held.found_error, "all"), ("the original", held.original_error, "here")]
    return bars(
        "largest error against float64, relative to the largest value of its output",
        [Bar(name, error, f"{error:.1e}", kind=kind) for name, error, kind in shown],
        ("program", "error"), [(name, f"{error:.1e}") for name, error, _ in shown])
