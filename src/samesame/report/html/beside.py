"""Pages of single reports, in a folder beside the page that leads to them.

Such a page is named by the result that it shows, its time included: as long as a result is kept, its page is found
again, and never one of another run. A store or a record holds nothing of it, since what comes from there is shown as
text alone.
"""

from __future__ import annotations

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from samesame.evidence import SamesameError
from samesame.report.html.page import is_ours, write_page

LETTERS = 60                                # of a result's name, in that of its page


def folder_beside(page: Path) -> Path:
    """The folder of single reports that belongs to a page."""
    return page.with_name(f"{page.stem}_files")


def page_of(name: str, result: Any, folder: Path) -> Path:
    """Where the page of a result lies, which is given as JSON has it."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", name)[:LETTERS].strip("-")
    return folder / f"{words}-{sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()[:12]}.html"


def link_to(page: Path) -> str:
    """The way there from the page beside its folder; nothing where there is none."""
    return quote(f"{page.parent.name}/{page.name}") if page.exists() else ""


def write_arrived(text: str, page: Path) -> None:
    """Write a single report that another machine has drawn. Raises SamesameError if it does more than ours do, or the
    disk does not let it."""
    if not is_ours(text):
        raise SamesameError("a machine of the cluster has drawn a page that holds a script of its own; do not use it")
    write_beside(text, page)


def write_beside(text: str, page: Path) -> None:
    """Write a single report. Raises SamesameError if the disk does not let it."""
    try:
        page.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise SamesameError(f"cannot make the folder {page.parent}: {error.strerror}") from None
    write_page(text, page)
