"""Options that several commands share: their words stand here once, and each command says its own defaults."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated, Any

import typer

STORE = "Rules learnt before are read here, and new ones kept"


def argument(name: str, words: str) -> Any:
    return typer.Argument(metavar=name, show_default=False, help=words)


def option(*names: str, words: str, **settings: Any) -> Any:
    return typer.Option(*names, help=words, **settings)


def verbose(words: str) -> Any:
    return option("--verbose", "-v", words=words)


class How(StrEnum):
    """How programs become graphs."""

    record = "record"
    export = "export"


class Format(StrEnum):
    """How the report is written."""

    text = "text"
    markdown = "markdown"
    github = "github"


EXAMPLE = "Example inputs: a tuple, a dict, or a function that returns one."
AFTER = "Stop after this long; what is then open is undecided."

Inputs = Annotated[str | None, option("--inputs", metavar="TARGET", words=EXAMPLE)]
HowOption = Annotated[How, option("--how", words="Capture by recording one run, or by torch.export.")]
Json = Annotated[str | None, option("--json", metavar="FILE", words="Write the result as JSON too; - for stdout.")]
JUNIT = "Write the result as JUnit XML too, for CI."
SARIF = "Write what was found as SARIF 2.1.0 too: annotations on lines."
FORMAT = "The report as text, or to paste into an issue: markdown, or github, which folds it."
FormatOption = Annotated[Format, option("--format", words=FORMAT)]
Junit = Annotated[str | None, option("--junit", metavar="FILE", words=JUNIT)]
Sarif = Annotated[str | None, option("--sarif", metavar="FILE", words=SARIF)]
HTML = "Write the report as one HTML file too, to open in a browser."
Html = Annotated[str | None, option("--html", metavar="FILE", words=HTML)]
Seed = Annotated[int, option("--seed", min=0, words="Seed of all that is random; same seed, same result.")]
Timeout = Annotated[float | None, option("--timeout", metavar="SECONDS", words=AFTER)]
OwnStore = Annotated[
    str | None, option("--store", metavar="PATH", words=f"{STORE} (default: in the user's cache; - for none).")
]
RAY = "Workers on the Ray cluster there (host:port, or auto); what they prove is checked here."
Ray = Annotated[str | None, option("--ray", metavar="ADDRESS", words=RAY)]
Quiet = Annotated[bool, option("--quiet", "-q", words="One line, and no progress.")]
Verbose = Annotated[bool, verbose("A traceback if samesame itself fails.")]
AllRelations = Annotated[bool, verbose("Every relation; a traceback if samesame itself fails.")]


JOBS = max(1, min(4, os.cpu_count() or 1))                  # at the same time on this machine, if nothing else is said


def jobs_option(what: str) -> Any:
    words = f"{what} (default: {JOBS}; with --ray all processors there)."
    return option("--jobs", "-j", min=1, show_default=False, words=words)


def at_once(jobs: int | None, ray: str | None) -> int | None:
    """How many jobs; None leaves it to the cluster."""
    return jobs if ray else jobs or JOBS


def require_address(ray: str | None) -> None:
    """Raises BadParameter where the address of a cluster is empty, as of a variable that is not set."""
    if ray is not None and not ray.strip():
        raise typer.BadParameter("give host:port of a Ray cluster, or auto", param_hint="--ray")


def require_positive(name: str, seconds: float | None) -> None:
    """Raises BadParameter where a time is none."""
    if seconds is not None and not seconds > 0:
        raise typer.BadParameter("give a number above 0", param_hint=name)
