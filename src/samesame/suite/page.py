"""A suite as a page: the table of its entries, filtered by what came of them, and each entry folded, with the command
that asks it alone, what was found at which lines, its report as the terminal has it, and the way to the page that its
verb draws of it, where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from samesame.report.answers import FAILS, HOLDS, OPEN, UNUSABLE, Finding
from samesame.report.html.beside import folder_beside, link_to
from samesame.report.html.page import choices, page, write_page
from samesame.report.html.wording import lines_around
from samesame.report.words import seconds_in_words
from samesame.suite.table import HEADINGS, command, headline, place_in_words
from samesame.suite.verb import Row, Suite, page_of_answer
from samesame.versions import versions_of_packages

COLOURS = {FAILS: "refuted", UNUSABLE: "rounded", OPEN: "undecided", HOLDS: "all"}      # the worst first
WORDS = {**HEADINGS, HOLDS: "as expected"}
PLACES = 4                                           # of a finding, that are shown


def suite_html(suite: Suite, pages: Path) -> str:
    """The whole page; those of entries lie in the folder `pages` beside it."""
    order = list(COLOURS)
    rows = sorted(suite.rows, key=lambda row: order.index(row.state))
    states = choices((WORDS[row.state], COLOURS[row.state]) for row in rows)
    reached = {row.entry.name for row in suite.rows}
    return page(
        "suite.html",
        title=f"{headline(suite)}",
        code=suite.exit_code,
        headline=" ".join(headline(suite).split()),
        entries=[{**_entry(number, row, suite, pages), **states[WORDS[row.state]]}
                 for number, row in enumerate(rows, 1)],
        states=states.values(),
        unreached=[entry.name for entry in suite.entries if entry.name not in reached],
        interrupted=suite.interrupted,
        again=[f"{row.entry.name}: {row.not_kept}" for row in suite.rows if row.not_kept],
        footer=" · ".join(f"{name} {version}" for name, version in versions_of_packages().items()),
    )


def write_suite(suite: Suite, path: Path) -> None:
    """Write the page to `path` in one step. Raises SamesameError if the disk does not let it."""
    write_page(suite_html(suite, folder_beside(path)), path)


def _entry(number: int, row: Row, suite: Suite, pages: Path) -> dict[str, Any]:
    entry, answer = row.entry, row.answer
    expected = " ".join(filter(None, (entry.expect, entry.at_least and f"at least {entry.at_least}")))
    return {
        "id": f"entry-{number}",
        "name": entry.name,
        "verb": entry.verb,
        "expected": expected,
        "verdict": answer.verdict,
        "evidence": answer.evidence,
        "cost": "unchanged" if row.unchanged else f"{seconds_in_words(answer.seconds)} s",
        "open": row.state != HOLDS,
        "why": row.why,
        "headline": answer.headline if answer.headline != row.why else "",
        "place": f"{suite.path}:{entry.line}",
        "command": command(entry),
        "drawn": link_to(page_of_answer(answer, pages)),
        "findings": [_finding(finding) for finding in answer.findings],
        "report": answer.report,
        "search": f"{entry.name} {entry.verb} {answer.verdict} {answer.evidence} {answer.headline}"[:2000],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule.id,
        "message": finding.message,
        "places": [{"place": f"{place_in_words(place.file)}:{place.line}", "words": place.words,
                    "lines": lines_around(place.file, place.line, place.code)} for place in finding.places[:PLACES]],
    }
