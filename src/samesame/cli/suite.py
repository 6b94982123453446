"""`samesame suite`: many pairs, jobs and kernels with the verdicts that are expected of them."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from samesame.cli.files import all_in_format, demand, write_answers, write_json
from samesame.cli.options import (
    Format,
    FormatOption,
    Html,
    Json,
    Junit,
    OwnStore,
    Quiet,
    Ray,
    Sarif,
    argument,
    at_once,
    jobs_option,
    option,
    require_address,
    verbose,
)
from samesame.cli.progress import progress_of, terminated_gently
from samesame.cli.rules import rules_of
from samesame.cli.streams import INTERRUPTED, complain, reported, stdout_guarded

EPILOG = ("Exit codes: 0 all as expected, 1 some are not, 2 usage or unusable input, 3 some are undecided, "
          "130 interrupted by Ctrl-C.")

File = Annotated[str, argument("FILE", "A TOML file with check, refine and lift entries.")]
Jobs = Annotated[int | None, jobs_option("Entries that are asked at the same time")]
RESUME = "Keep every answer here; go on from there if the file exists."
Resume = Annotated[str | None, option("--resume", metavar="FILE", words=RESUME)]
ONLY = "Entries with this in their name; may be given several times."
Only = Annotated[list[str] | None, option("--only", metavar="TEXT", words=ONLY)]
ANEW = "Ask everything anew, also where nothing has changed."
Anew = Annotated[bool, option("--anew", words=ANEW)]
EveryReport = Annotated[bool, verbose("The report of what is not as expected; a traceback if samesame itself fails.")]


def suite(
    file: File,
    jobs: Jobs = None,
    ray: Ray = None,
    only: Only = None,
    anew: Anew = False,
    resume: Resume = None,
    store: OwnStore = None,
    json: Json = None,
    html: Html = None,
    junit: Junit = None,
    sarif: Sarif = None,
    format_: FormatOption = Format.text,
    quiet: Quiet = False,
    verbose: EveryReport = False,
) -> None:
    """Do many pairs, jobs and kernels have the verdicts that are expected of them?

    samesame suite suite.toml --jobs 2 --junit report.xml --sarif report.sarif

    What was decided is not asked again while the programs, what they import and read, options and versions are as then.
    """
    require_address(ray)
    with reported(verbose):
        from samesame.report.html.beside import folder_beside
        from samesame.suite.table import dumps, headline, text
        from samesame.suite.verb import suite as run

        demand(json, html, junit, sarif)
        shows = progress_of(quiet)
        with terminated_gently(), shows as shown, redirect_stdout(sys.stderr), rules_of(store) as rules:
            found = run(Path(file), jobs=at_once(jobs, ray), ray=ray or "", store=rules,
                        resume=None if resume is None else Path(resume), only=only or (), anew=anew,
                        pages=None if html is None else folder_beside(Path(html)),
                        progress=shown.far if shown else None)
        write_answers(found.answers, junit, sarif)
        with stdout_guarded():
            if json == "-":
                sys.stdout.write(dumps(found))
            elif format_ is not Format.text:
                report = text(found, verbose=verbose)
                print(all_in_format(headline(found), found.exit_code, found.answers, report, format_))
            else:
                print(headline(found) if quiet else text(found, verbose=verbose))
        write_json(json, lambda: dumps(found))
        if html is not None:
            from samesame.suite.page import write_suite

            write_suite(found, Path(html))
        if found.interrupted:
            complain(f"interrupted: {found.goes_on}")
        raise typer.Exit(INTERRUPTED if found.interrupted else found.exit_code)
