"""More than two programs compared: the answer in a sentence, each pair in a line, and the report of what differs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from samesame.evidence import Verdict
from samesame.report.json import FORMAT, to_json, write_text
from samesame.report.terminal import headline, print_report


def several_text(verdicts: Sequence[Verdict], answer: str) -> str:
    """The answer, and each pair with its own."""
    lines = [answer, ""]
    for verdict in verdicts:
        lines += [f"  {verdict.left}", f"  {verdict.right}", f"      {headline(verdict).plain}"]
    return "\n".join(lines)


def print_several(verdicts: Sequence[Verdict], answer: str, *, verbose: bool = False) -> None:
    """Print the answer, each pair, and the reports of pairs that are not the same; with `verbose` all reports."""
    print(several_text(verdicts, answer))
    for verdict in verdicts:
        if verbose or verdict.verdict != "same":
            print()
            print_report(verdict, verbose=verbose)


def dumps_several(verdicts: Sequence[Verdict], answer: str) -> str:
    """One JSON object: the answer, and the verdict of each pair as `dumps` has it."""
    document = {"format": FORMAT, "answer": answer, "pairs": [to_json(verdict) for verdict in verdicts]}
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def write_several(verdicts: Sequence[Verdict], answer: str, path: Path) -> None:
    """Write that to `path` in one step. Raises SamesameError if the disk does not let it."""
    write_text(dumps_several(verdicts, answer), path)


__all__ = ["dumps_several", "print_several", "several_text", "write_several"]
