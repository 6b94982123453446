"""What README and docs show to be run: commands in indented blocks, in fences and in running text, and Python.

A command is a line that begins with a program's name; what follows two spaces or a `#` is said about it. In running
text it stands between ticks and names more than the verb; `…` in it leaves something out, and it is no command then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", "CONTRIBUTING.md", *(f"docs/{file.name}" for file in sorted((ROOT / "docs").glob("*.md"))))
TOUR = "docs/tour.md"
PROGRAMS = r"(?:samesame|make|pip|pytest|python3?|npm|git)"
IN_A_BLOCK = re.compile(rf"(?:    )?({PROGRAMS} .+?)(?:  +\S.*|\s+#.*)?$")
IN_TEXT = re.compile(rf"`({PROGRAMS} [^`…]+)`")
BARE = re.compile(r"samesame [a-z]+$")                # only names a verb
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Shown:
    """A command, or a piece of Python, where it stands; and the report that is printed under a command."""

    page: str
    line: int
    text: str
    report: str = ""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: str) -> Iterator[tuple[int, str, str]]:
    """Line, language and text of each block of code; an indented one has the language ''."""
    text = (ROOT / page).read_text()
    fenced = [(found.start(), found[1] or "text", found[2]) for found in FENCE.finditer(text)]
    bare = FENCE.sub(lambda found: "\n" * found[0].count("\n"), text)
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    yield from ((text.count("\n", 0, at) + 2, language, code) for at, language, code in fenced)
    lines, number = bare.splitlines(), 0
    while number < len(lines):
        first = number
        while number < len(lines) and (lines[number].startswith("    ") or (number > first and not lines[number]
                                       and number + 1 < len(lines) and lines[number + 1].startswith("    "))):
            number += 1
        if number > first and (first == 0 or not lines[first - 1].strip()):
            yield first + 1, "", "\n".join(line[4:] for line in lines[first:number]) + "\n"
        number += 1


def commands(page: str) -> list[Shown]:
    """The commands of a page, in their order."""
    found, reports = list[Shown](), dict[int, str]()
    code = sorted(blocks(page))
    for line, language, text in code:
        if language == "text":
            reports[line] = text
    ends = dict[int, Shown]()
    for line, language, text in code:
        if language not in ("", "sh", "bash", "console"):
            continue
        for number, row in enumerate(text.splitlines(), line):
            if given := IN_A_BLOCK.match(row):
                found.append(Shown(page, number, given[1].strip()))
        if found:
            ends[line + len(text.splitlines())] = found[-1]
    for end, command in ends.items():                    # a report stands right under the last command of a block
        if end + 2 in reports:
            found[found.index(command)] = Shown(page, command.line, command.text, reports[end + 2])
    prose = FENCE.sub(lambda block: "\n" * block[0].count("\n"), (ROOT / page).read_text())
    for number, row in enumerate(prose.splitlines(), 1):
        if not row.startswith("    "):
            found += [Shown(page, number, text) for text in IN_TEXT.findall(row) if not BARE.match(text)]
    return sorted(found, key=lambda shown: shown.line)


def kept_reports(page: str, command: str) -> list[str]:
    """The reports between `<!-- report: … (begin) -->` and its end that a page says come from this command."""
    parts = re.findall(r"<!-- report: .*? \(begin\) -->(.*?)<!-- report: ", (ROOT / page).read_text(), re.S)
    assert f"`{command}`" in parts[0]
    return [found[2] for part in parts for found in FENCE.finditer(part)]


def python(page: str) -> list[Shown]:
    """The pieces of Python of a page; in an indented block from its first import on."""
    found = []
    for line, language, text in blocks(page):
        begins = re.search(r"^(from|import) ", text, re.M) if not language else None
        if language == "python":
            found.append(Shown(page, line, text))
        elif begins:
            found.append(Shown(page, line + text.count("\n", 0, begins.start()), text[begins.start():]))
    return sorted(found, key=lambda shown: shown.line)


def missing(report: str, output: str) -> str:
    """The first part of a report, as a page shows it, that an output does not have, in this order; `…` stands for what
    is left out. Line breaks are of no matter, nor are seconds, and decimals, which another machine rounds otherwise."""
    rest = plain(output)
    for part in filter(None, map(plain, report.split("…"))):
        _, found, rest = rest.partition(part)
        if not found:
            return part
    return ""


def plain(text: str) -> str:
    text = re.sub(r"\d+(\.\d+)+(e-?\d+)?|\d+e-?\d+|\d+(?= m?s\b)", "#", text)
    text = " ".join(re.sub(r"-{3,}|={3,}", "", text).split())
    return re.sub(r" \(([a-z]+ #(, )?)+\)", "", text)              # of stages those that took a while are named
