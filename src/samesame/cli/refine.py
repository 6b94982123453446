"""`samesame refine`: a distributed program against its sequential one."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer

from samesame.cli.files import demand, in_format, write_answers, write_json
from samesame.cli.options import (
    STORE,
    AllRelations,
    Format,
    FormatOption,
    Html,
    Json,
    Junit,
    Quiet,
    Sarif,
    Seed,
    Timeout,
    argument,
    option,
    require_positive,
)
from samesame.cli.progress import progress_of
from samesame.cli.rules import rules_of
from samesame.cli.streams import INTERRUPTED, reported, stdout_guarded
from samesame.evidence import Refinement, SamesameError

EPILOG = "Exit codes: 0 refines, 1 does not refine, 2 usage or unusable input, 3 undecided, 130 interrupted by Ctrl-C."

JOB = "A job file: sequential(), distributed(rank, world_size), inputs(); or hf:DIR for Transformers' own plan."
Target = Annotated[str | None, argument("JOB", JOB)]
RANKS = "How many ranks (default: the job's, or 2)."
Ranks = Annotated[int | None, option("--world-size", "-n", min=1, words=RANKS)]
Tp = Annotated[int | None, option("--tp", min=1, words="Ranks of tensor parallelism, for hf:DIR.")]
Train = Annotated[bool, option("--train", words="Forward and backward: gradients are outputs too.")]
CASE = "Captured graphs with their stated relation: a relation.json."
CaseFile = Annotated[str | None, option("--case", metavar="FILE", words=CASE)]
Kept = Annotated[str | None, option("--store", metavar="PATH", words=f"{STORE} (default: none).")]


def refine(
    job: Target = None,
    world_size: Ranks = None,
    tp: Tp = None,
    train: Train = False,
    case: CaseFile = None,
    json: Json = None,
    html: Html = None,
    junit: Junit = None,
    sarif: Sarif = None,
    format_: FormatOption = Format.text,
    quiet: Quiet = False,
    verbose: AllRelations = False,
    seed: Seed = 0,
    timeout: Timeout = None,
    store: Kept = None,
) -> None:
    """Does the distributed program compute what the sequential one does?

    samesame refine job.py --world-size 4

    samesame refine hf:DIR --tp 2 --train
    """
    require_positive("--timeout", timeout)
    if (job is None) == (case is None):
        raise typer.BadParameter("give a job file, hf:DIR, or --case FILE, one of them", param_hint="JOB")
    with reported(verbose):
        from samesame.report import dumps
        from samesame.report.answers import of_refine
        from samesame.report.refinement import headline, print_report

        demand(json, html, junit, sarif)
        with progress_of(quiet, timeout) as bar, rules_of(store or "-") as rules:
            verdict, interrupted = decided(job, case, world_size, tp, train, seed, timeout, rules, bar)
        write_answers([of_refine(verdict)], junit, sarif)
        with stdout_guarded():
            if json == "-":
                sys.stdout.write(dumps(verdict))
            elif format_ is not Format.text:
                print(in_format([of_refine(verdict)], format_))
            elif quiet:
                print(headline(verdict).plain)
            else:
                print_report(verdict, verbose=verbose)
        write_json(json, lambda: dumps(verdict))
        if html is not None:
            from samesame.report.html.refine import write_refine

            write_refine(verdict, Path(html))
        raise typer.Exit(INTERRUPTED if interrupted else verdict.exit_code)


def decided(
    target: str | None,
    case: str | None,
    world_size: int | None,
    tp: int | None,
    train: bool,
    seed: int,
    timeout: float | None,
    store: Any,
    bar: Any,
) -> tuple[Refinement, bool]:
    """The verdict, and whether Ctrl-C ended the run."""
    with redirect_stdout(sys.stderr):
        from samesame.budget import Run
        from samesame.refine import arguments_of, refine

        run = Run(timeout, *((bar.advance, bar.stage) if bar else ()))
        with run.bounded(interrupts=True):
            if case is not None:
                from samesame.entangle.verb import refine_case

                if any((world_size, tp, train)):
                    raise SamesameError("a case says itself how many ranks it has and what it captured; leave out "
                                        "--world-size, --tp and --train")
                verdict = refine_case(case, seed=seed, run=run, store=store)
            else:
                assert target is not None
                given = arguments_of(target, world_size=world_size, tp=tp, train=train, seed=seed)
                verdict = refine(**given, seed=seed, run=run, store=store)
        verdict.left = target or str(case)
        return verdict, run.interrupted
