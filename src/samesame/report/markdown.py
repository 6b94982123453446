"""Answers as Markdown: a verdict to paste into an issue, or what a notebook shows.

The headline comes first, then where to look, each place as `file:line`, and the whole report, folded where the reader
folds (GitHub). What programs are called is text: nothing in it is read as Markdown or HTML.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterator, Sequence

from samesame.report.answers import ASIDE, FAILS, HOLDS, Answer, Place

MARKS = {HOLDS: "✅", FAILS: "❌", ASIDE: "➖"}
OTHERWISE = "❔"
SPECIAL = re.compile(r"([\\`*_\[\]#|~$>@])")


def markdown(answers: Sequence[Answer], *, folded: bool = False) -> str:
    """The answers; with `folded` the report is hidden until it is asked for, as GitHub can."""
    return "\n\n".join("\n".join(_one(answer, folded)) for answer in answers) + "\n"


def overview(headline: str, state: str, answers: Sequence[Answer], report: str, *, folded: bool = False) -> str:
    """Many answers as one: how it stands, a row for each, then those with something to look at, and the whole report.

    Without a headline there is the report alone: a list that is no answer."""
    lines = [*_headed(state, headline), ""] if headline else []
    if answers:
        lines += ["| | what was asked | what came of it |", "|---|---|---|"]
        lines += [f"| {_mark(a.state)} | {plain(a.name)} | {plain(a.headline)} |" for a in answers]
        lines += [""]
    for answer in answers:
        lines += [*_one(answer, folded), ""] if answer.findings else []
    return "\n".join([*lines, *_whole(report, folded)]) + "\n"


def _mark(state: str) -> str:
    return MARKS.get(state, OTHERWISE)


def _headed(state: str, headline: str) -> Iterator[str]:
    word, _, rest = headline.partition("   ")
    yield f"{_mark(state)} **{plain(word)}** {plain(rest)}".rstrip()


def _one(answer: Answer, folded: bool) -> Iterator[str]:
    yield from _headed(answer.state, answer.headline)
    yield ""
    yield f"*{plain(answer.verb)}* {plain(answer.name)}"
    for latex in answer.formulas:
        yield from ("", f"$$ {latex} $$")
    for finding in answer.findings:
        yield from ("", f"- {plain(finding.message)}")
        yield from (f"  - {_placed(place)}" for place in finding.places)
    if answer.report not in ("", answer.headline):
        yield from ("", *_whole(answer.report, folded))


def _whole(report: str, folded: bool) -> Iterator[str]:
    yield from (("<details><summary>the whole report</summary>", "") if folded else ())
    yield from _fenced(report)
    yield from (("", "</details>") if folded else ())


def _placed(place: Place) -> str:
    where = _code(f"{place.file.removeprefix(os.getcwd() + os.sep)}:{place.line}")
    return f"{where} {_code(place.code) if place.code else plain(place.words)}".rstrip()


def plain(text: str) -> str:
    """Text that Markdown and HTML take as it is, on one line."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split())).replace("&", "&amp;").replace("<", "&lt;")


def _code(text: str) -> str:
    """Code within a line, whatever ticks it holds."""
    text = " ".join(text.split())
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def _fenced(text: str) -> Iterator[str]:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    yield from (f"{fence}text", text.rstrip(), fence)


def html_of(answer: Answer) -> str:
    """The answer in a notebook: the headline, formulas, where to look, and the report in a fold."""
    word, _, rest = answer.headline.partition("   ")
    rows = [f"<p>{_mark(answer.state)} <b>{html.escape(word)}</b> {html.escape(rest)}</p>"]
    rows += [f"<p>$$ {html.escape(latex)} $$</p>" for latex in answer.formulas]
    for finding in answer.findings:
        places = "".join(f"<li><code>{html.escape(f'{place.file}:{place.line}')}</code> "
                         f"<code>{html.escape(place.code)}</code></li>" for place in finding.places)
        rows.append(f"<p>{html.escape(finding.message)}</p><ul>{places}</ul>")
    if answer.report:
        rows.append(f"<details><summary>the whole report</summary><pre>{html.escape(answer.report)}</pre></details>")
    return "\n".join(rows)
