"""The report of a suite: for people a table, what is not as expected first; for machines one JSON object.

    suite.toml: 4 entries: 3 as expected (2 of them unchanged), 1 not   3.1 s

    not as expected
      norms   different, expected same   suite.toml:9
          output 0 differs, by up to 4.2e-01 over all draws; they agree again if …
          norms.py:8   return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)
          samesame check norms.py:left norms.py:right --inputs norms.py:inputs
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from typing import Any

from samesame.report.answers import FAILS, HOLDS, OPEN, UNUSABLE, to_form
from samesame.report.json import plain
from samesame.report.words import seconds_in_words
from samesame.suite.entries import Entry
from samesame.suite.verb import Row, Suite
from samesame.versions import versions_of_packages

FORMAT = 1
HEADINGS = {FAILS: "not as expected", UNUSABLE: "could not be looked at", OPEN: "undecided"}
COUNTED = {FAILS: "not", OPEN: "undecided", UNUSABLE: "could not be looked at"}
SWITCHES = {"inputs": "--inputs", "seed": "--seed", "weights": "--weights", "how": "--how", "ignore": "--ignore",
            "world_size": "--world-size", "tp": "--tp", "against": "--against"}
FLAGS = {"tiny": "--tiny", "train": "--train"}


def headline(suite: Suite) -> str:
    counts, unchanged = suite.counts, sum(row.unchanged and row.state == HOLDS for row in suite.rows)
    parts = [f"{counts[HOLDS]} as expected" + (f" ({unchanged} of them unchanged)" if unchanged else "")]
    parts += [f"{counts[state]} {words}" for state, words in COUNTED.items() if counts[state]]
    if rest := len(suite.entries) - len(suite.rows):
        parts.append(f"{rest} not reached")
    entries = f"{len(suite.entries)} {'entry' if len(suite.entries) == 1 else 'entries'}"
    return f"{suite.path}: {entries}: {', '.join(parts)}   {seconds_in_words(suite.seconds)} s"


def text(suite: Suite, *, verbose: bool = False) -> str:
    """The whole report; with `verbose` the report of each entry that is not as expected."""
    lines = [headline(suite)]
    for state, heading in HEADINGS.items():
        found = [row for row in suite.rows if row.state == state]
        lines += ["", heading] if found else []
        for row in found:
            lines += _in_full(row, suite, verbose)
    held = [row for row in suite.rows if row.state == HOLDS]
    if held:
        width = min(60, max(len(row.entry.name) for row in held))
        lines += ["", "as expected"]
        lines += [f"  {row.entry.name:<{width}}   {_stands_on(row)}   {_cost(row)}" for row in held]
    again = [row for row in suite.rows if row.not_kept]
    if again:
        lines += ["", "asked again each time, since what they read cannot be known"]
        lines += [f"  {row.entry.name}: {row.not_kept}" for row in again]
    return "\n".join(lines)


def _in_full(row: Row, suite: Suite, verbose: bool) -> Iterator[str]:
    answer = row.answer
    yield f"  {row.entry.name}   {row.why}   {suite.path}:{row.entry.line}"
    if answer.headline != row.why:
        yield f"      {answer.headline}"
    for finding in answer.findings[:1]:
        for place in finding.places[:2]:
            yield f"      {place_in_words(place.file)}:{place.line}   {place.code}".rstrip()
    yield f"      {command(row.entry)}"
    if verbose and answer.report:
        yield from (f"      {line}" for line in ("", *answer.report.splitlines(), ""))


def place_in_words(file: str) -> str:
    """A file from the working folder, where it lies below it."""
    return file.removeprefix(os.getcwd() + os.sep)


def _stands_on(row: Row) -> str:
    if row.entry.verb == "lift" or row.answer.verdict == "different":
        return row.answer.headline
    return f"{row.answer.verdict}, {row.answer.evidence}"


def _cost(row: Row) -> str:
    return "unchanged" if row.unchanged else f"{seconds_in_words(row.answer.seconds)} s {row.told}".rstrip()


def command(entry: Entry) -> str:
    """The command that asks this alone, in the suite's folder."""
    given = entry.options
    words = ["samesame", entry.verb, *(str(given[key]) for key in ("left", "right", "job", "target") if key in given)]
    for key, switch in SWITCHES.items():
        if key in given:
            value = given[key]
            words += [switch, ",".join(value) if isinstance(value, list) else str(value)]
    words += [switch for key, switch in FLAGS.items() if given.get(key)]
    words += [word for contract in given.get("assume", ()) for word in ("--assume", contract)]
    return shlex.join(words)


def dumps(suite: Suite) -> str:
    """The suite as one JSON object."""
    document: dict[str, Any] = {
        "format": FORMAT,
        "suite": str(suite.path),
        "exit_code": suite.exit_code,
        "counts": dict(suite.counts),
        "entries": [_row(row) for row in suite.rows],
        "not_reached": [entry.name for entry in suite.entries if entry not in [row.entry for row in suite.rows]],
        "interrupted": suite.interrupted,
        "seconds": suite.seconds,
        "versions": versions_of_packages(),
    }
    return json.dumps(plain(document), indent=2, allow_nan=False) + "\n"


def _row(row: Row) -> dict[str, Any]:
    answer = to_form(row.answer)
    return {
        "name": row.entry.name, "verb": row.entry.verb, "line": row.entry.line, "expect": row.entry.expect,
        "state": row.state, "why": row.why, "unchanged": row.unchanged, "not_kept": row.not_kept,
        "told": row.told,
        **{key: answer[key] for key in ("verdict", "evidence", "headline", "findings", "report", "seconds")},
    }
