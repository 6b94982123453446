"""`samesame check hf:DIR gguf:FILE`: a file's weights against those of a checkpoint."""

from __future__ import annotations

import sys
from pathlib import Path

from samesame.cli.streams import to_stdout


def compare_weights(left: str, right: str, json: str | None, *, quiet: bool, verbose: bool) -> int:
    """Compare, show, and give the exit code."""
    from samesame.gguf.verb import compare, is_gguf
    from samesame.gguf.words import dumps, headline, text
    from samesame.report.json import write_text

    answer = compare(right, left) if is_gguf(left) else compare(left, right)
    if json == "-":
        sys.stdout.write(dumps(answer))
    else:
        to_stdout(headline(answer) if quiet else text(answer, verbose))
    if json not in (None, "-"):
        write_text(dumps(answer), Path(json))
    return answer.exit_code
