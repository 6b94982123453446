"""Files that a command writes beside its result: that they can be written is checked before the work begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from samesame.cli.options import Format
from samesame.evidence import SamesameError

if TYPE_CHECKING:
    from samesame.report.answers import Answer


def demand(json: str | None, html: str | None, junit: str | None, sarif: str | None, *others: str | None) -> None:
    """Raises SamesameError where what is asked for cannot be written: JSON, a page, files for other tools, and others.
    `-` is stdout, for JSON alone; and None is no file."""
    from samesame.report.json import require_writable

    for file in (json, *others):
        if file not in (None, "-"):
            require_writable(Path(file))
    if html == "-":
        raise SamesameError("--html writes to a file; give a file name in place of -")
    if "-" in (junit, sarif):
        raise SamesameError("--junit and --sarif write to files; give a file name in place of -")
    for file in (html, junit, sarif):
        if file is not None:
            require_writable(Path(file))


def write_json(json: str | None, text: Callable[[], str]) -> None:
    """Write the result as JSON, where a file of it was asked for."""
    from samesame.report.json import write_text

    if json not in (None, "-"):
        write_text(text(), Path(json))


def in_format(answers: Sequence[Answer], form: Format) -> str:
    """The answers to be pasted somewhere."""
    from samesame.report.markdown import markdown

    return markdown(answers, folded=form is Format.github).rstrip()


def all_in_format(headline: str, code: int, answers: Sequence[Answer], report: str, form: Format) -> str:
    """A run that gave many answers and this exit code, to be pasted somewhere."""
    from samesame.report.answers import STATES
    from samesame.report.markdown import overview

    return overview(headline, STATES[code], answers, report, folded=form is Format.github).rstrip()


def write_answers(answers: Sequence[Answer], junit: str | None, sarif: str | None) -> None:
    """Write the answers for other tools, where they were asked for."""
    from samesame.report.json import write_text
    from samesame.report.junit import junit as as_junit
    from samesame.report.sarif import sarif as as_sarif

    if junit is not None:
        write_text(as_junit(answers), Path(junit))
    if sarif is not None:
        write_text(as_sarif(answers), Path(sarif))
