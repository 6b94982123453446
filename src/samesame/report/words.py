"""Words of a report: how a place, a number, an operator and a rung are said, wherever they are."""

from __future__ import annotations

import linecache
import math
import os

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from samesame.evidence import Evidence, Rung, Site
from samesame.graph import Origin

QUIET = "dim"


def site_in_words(site: Site) -> Text:
    """Two lines: the operator and its place; the source text there."""
    parts = place_in_words(site.origin), site.origin.parameter or site.origin.module
    place = "   ".join(filter(None, parts))
    text = Text.assemble((site.operator, "bold"), f" ({site.node})" if site.node != site.operator else "")
    if place:
        text.append(f"   {place}")
    if code := code_in_words(site.origin):
        text.append(f"\n    {code}", style="cyan")
    return text


def below(words: str) -> RenderableType:
    """A quiet line that belongs to the line above it."""
    return indented(Text(words, style=QUIET))


def indented(row: RenderableType) -> RenderableType:
    return Padding(row, (0, 0, 0, 2), expand=False)


def rung_in_words(evidence: Evidence) -> Text:
    colour = {Rung.REFUTED: "red", Rung.UNDECIDED: "yellow", Rung.TESTED: "yellow"}.get(evidence.rung, "green")
    return Text(str(evidence.rung), style=colour)


def place_in_words(origin: Origin) -> str:
    """`file:line`, the file relative to the working folder where it lies below it."""
    if not origin.file:
        return ""
    here = os.getcwd() + os.sep
    return f"{origin.file.removeprefix(here)}:{origin.line}"


def code_in_words(origin: Origin) -> str:
    return (origin.code or (linecache.getline(origin.file, origin.line) if origin.file else "")).strip()


def counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def listed(words: list[str]) -> str:
    """`dtype`, `dtype and state`, `dtype, shape and state`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def number_in_words(value: float) -> str:
    if not math.isfinite(value):
        return "not finite"
    return "0" if value == 0 else f"{value:.1e}"


def seconds_in_words(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"
