"""Reports of entries as pages of their own, drawn as their verbs draw them, in a folder beside the suite's page.

A page is named by the answer that it shows, its time included: as long as an answer is kept, its page is found again,
and never one of another run. The store holds nothing of it, since what comes from there is shown as text alone.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from samesame.evidence import SamesameError
from samesame.report.answers import Answer, to_form
from samesame.report.html.page import write_page
from samesame.suite.reads import digest_of

LETTERS = 60                                # of an entry's name, in that of its page


def folder_beside(page: Path) -> Path:
    """The folder of entries' pages that belongs to a suite's page."""
    return page.with_name(f"{page.stem}_files")


def page_of(answer: Answer, folder: Path) -> Path:
    """Where an answer's page lies, if there is one."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", answer.name)[:LETTERS].strip("-")
    return folder / f"{words}-{digest_of(to_form(replace(answer, name='')))[:12]}.html"


def write_drawn(text: str, answer: Answer, folder: Path) -> None:
    """Write an answer's page. Raises SamesameError if the disk does not let it."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise SamesameError(f"cannot make the folder {folder}: {error.strerror}") from None
    write_page(text, page_of(answer, folder))
