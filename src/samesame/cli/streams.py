"""Streams: results go to stdout, progress and complaints to stderr, and every failure is one sentence and an exit code.

A verdict exits with 0, 1 or 3. Everything else exits with 2 and says so in one sentence: unusable input, no memory, and
also a defect of samesame itself, whose traceback `--verbose` shows.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import IO, cast

import typer

from samesame.evidence import SamesameError
from samesame.report.visible import Visible, visible

UNUSABLE, INTERRUPTED = 2, 130


@contextmanager
def reported(verbose: bool) -> Iterator[None]:
    """Turn every way to fail into one sentence on stderr and an exit code that is no verdict."""
    try:
        yield
    except typer.Exit:
        raise
    except (KeyboardInterrupt, typer.Abort):                # Ctrl-C, also where a question waits for its answer
        complain("interrupted")
        raise typer.Exit(INTERRUPTED) from None
    except BaseException as error:
        if verbose and not isinstance(error, SamesameError):
            traceback.print_exc()
        complain(sentence(error, verbose))
        raise typer.Exit(UNUSABLE) from None


def sentence(error: BaseException, verbose: bool) -> str:
    """What went wrong and what to do about it."""
    if isinstance(error, SamesameError):
        return str(error)
    if out_of_memory(error):
        return "not enough memory: try fewer layers, smaller inputs, or a machine with more"
    if isinstance(error, SystemExit):
        return f"a program called sys.exit({error.code!r}) while it was loaded or run; move that under a __main__ guard"
    hint = "" if verbose else "; --verbose shows the traceback"
    lines = str(error).strip().splitlines() or ["no message"]
    return f"this is a defect of samesame, not a verdict: {type(error).__name__}: {lines[0]}{hint}"


def out_of_memory(error: BaseException) -> bool:
    """torch says it with its own errors: one for accelerators, a RuntimeError for a CPU."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return bool(names & {"MemoryError", "OutOfMemoryError"}) or "can't allocate memory" in str(error)


def complain(message: str) -> None:
    print(visible(f"samesame: {message}"), file=sys.stderr)


@contextmanager
def stdout_guarded() -> Iterator[None]:
    """Write to stdout, visibly, and flush it. A reader that left (`| head`) is no failure; a full disk is."""
    try:
        with redirect_stdout(cast("IO[str]", Visible(sys.stdout))):
            yield
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())        # else Python fails once more at its exit
        if not isinstance(error, BrokenPipeError):
            raise SamesameError(f"cannot write to standard output: {error.strerror or error}") from None


def to_stdout(text: str) -> None:
    with stdout_guarded():
        print(text)
