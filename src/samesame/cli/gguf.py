"""`samesame check hf:DIR gguf:FILE`: a file's weights against those of a checkpoint."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from samesame.cli.files import in_format, write_answers
from samesame.cli.options import Format
from samesame.cli.streams import stdout_guarded


def compare_weights(
    left: str, right: str, *, json: str | None = None, html: str | None = None, junit: str | None = None,
    sarif: str | None = None, form: Format = Format.text, quiet: bool = False, verbose: bool = False,
) -> int:
    """Compare, show, and give the exit code."""
    from samesame.gguf.answers import of_weights
    from samesame.gguf.files import is_gguf
    from samesame.gguf.page import write_weights
    from samesame.gguf.verb import compare
    from samesame.gguf.words import dumps, headline, text
    from samesame.report.json import write_text

    started = time.monotonic()
    found = compare(right, left) if is_gguf(left) else compare(left, right)
    answers = [of_weights(found, time.monotonic() - started)]
    write_answers(answers, junit, sarif)
    with stdout_guarded():
        if json == "-":
            sys.stdout.write(dumps(found))
        elif form is not Format.text:
            print(in_format(answers, form))
        else:
            print(headline(found) if quiet else text(found, verbose))
    if json not in (None, "-"):
        write_text(dumps(found), Path(json))
    if html is not None:
        write_weights(found, Path(html))
    return found.exit_code
