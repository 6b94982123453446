"""A page: one file that opens from disk, with its styles and its script inside and nothing fetched from anywhere.

jinja2 fills the templates and escapes whatever is put in: names, source lines and options are text of somebody's
program, and stay text. Characters that may change how others are read (those that turn the direction of writing) are
shown as what they are. The file itself is ASCII, so no reader can take it for another encoding.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from samesame.report.json import write_text
from samesame.report.visible import visible

ACTIVE = {"script", "meta", "base", "iframe", "frame", "object", "embed", "form", "link"}
LEADS_TO_A_SCRIPT = re.compile("(javascript|vbscript|data):", re.IGNORECASE)


@cache
def _environment() -> Environment:
    return Environment(loader=PackageLoader("samesame.report.html"), autoescape=True, undefined=StrictUndefined,
                       trim_blocks=True, lstrip_blocks=True)


def page(template: str, **given: Any) -> str:
    """The template as a whole page, in ASCII."""
    folder = files("samesame.report.html") / "templates"
    style, script = (Markup((folder / name).read_text(encoding="utf-8")) for name in ("page.css", "page.js"))
    text = _environment().get_template(template).render(style=style, script=script, **given)
    return visible(text).encode("ascii", "xmlcharrefreplace").decode("ascii")


def is_ours(text: str) -> bool:
    """Does a page begin as ours do, which lets it fetch nothing, and run no script but ours?"""
    empty = page("page.html", title="")
    head, script = empty.partition("<title>")[0], empty[empty.rindex("<script>"):]
    own, reader = _Active(), _Active()
    own.feed(empty)
    reader.feed(text)
    return text.startswith(head) and text.endswith(script) and reader.found == own.found


class _Active(HTMLParser):
    """Collects what does more than show something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ACTIVE:
            self.found.append(tag)
        self.found += [name for name, value in attrs
                       if name.startswith("on") or LEADS_TO_A_SCRIPT.match(re.sub(r"\s", "", value or ""))]


def choices(states: Iterable[tuple[str, str]]) -> dict[str, dict[str, str]]:
    """What a page can be filtered by: of each state, in words and with its colour, a key that may stand in a list."""
    return {words: {"words": words, "kind": kind, "key": f"state-{number}"}
            for number, (words, kind) in enumerate(dict(states).items(), 1)}


def write_page(text: str, path: Path) -> None:
    """Write the page in one step. Raises SamesameError if the disk does not let it."""
    write_text(text, path)
