"""What the terminal shows, as HTML: the same sentences, so that a report says everything in one way only.

The sections of a report are rich renderables: lines of text with styles, tables without borders, indentation. Each has
one element here. Every text is escaped; a style becomes a class.
"""

from __future__ import annotations

import linecache
from collections.abc import Iterable
from itertools import pairwise

from markupsafe import Markup, escape
from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

AROUND = 2                  # lines of a source above and below the one that is meant
CLASSES = {"dim": "quiet", "bold": "strong", "cyan": "code", "green": "good", "red": "bad", "yellow": "open"}


def html(part: RenderableType) -> Markup:
    """A renderable of a report as HTML."""
    if isinstance(part, str):
        return Markup("<p>{}</p>").format(part)
    if isinstance(part, Text):
        return Markup("<p>{}</p>").format(inline(part)) if part.plain.strip() else Markup("")
    if isinstance(part, Padding):
        return Markup('<div class="in">{}</div>').format(html(part.renderable))
    if isinstance(part, Constrain):
        return html(part.renderable)
    if isinstance(part, Group):
        return Markup("").join(map(html, part.renderables))
    if isinstance(part, Table):
        return _table(part)
    raise TypeError(f"there is no HTML for {type(part).__name__}")


def paragraphs(parts: Iterable[RenderableType]) -> Markup:
    return Markup("").join(map(html, parts))


def inline(text: Text) -> Markup:
    """A line with its styles as spans, and its line ends kept by the stylesheet."""
    marks = sorted({0, len(text.plain), *(end for span in text.spans for end in (span.start, span.end))})
    found = Markup("")
    for start, end in pairwise(marks):
        styles = [str(text.style), *(str(span.style) for span in text.spans if span.start <= start and end <= span.end)]
        names = [CLASSES[word] for style in styles for word in style.split() if word in CLASSES]
        piece = escape(text.plain[start:end])
        found += Markup('<span class="{}">{}</span>').format(" ".join(names), piece) if names else piece
    return found


def lines_around(file: str, line: int, code: str) -> list[tuple[int, str, bool]]:
    """A line and those around it, numbered, and which of them is meant; the code alone where the file has another."""
    lines = linecache.getlines(file) if file else []
    if line < 1 or line > len(lines) or code not in lines[line - 1]:
        return [(line, code, True)] if code else []
    first, last = max(1, line - AROUND), min(len(lines), line + AROUND)
    return [(n, lines[n - 1].rstrip("\n"), n == line) for n in range(first, last + 1)]


def _table(table: Table) -> Markup:
    columns = [list(column.cells) for column in table.columns]
    rows = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(map(_cell, row))) for row in zip(*columns, strict=True)
    )
    return Markup('<div class="wide" tabindex="0" role="group" aria-label="table"><table>{}</table></div>').format(rows)


def _cell(cell: RenderableType) -> Markup:
    content = inline(cell) if isinstance(cell, Text) else escape(cell) if isinstance(cell, str) else html(cell)
    return Markup("<td>{}</td>").format(content)
