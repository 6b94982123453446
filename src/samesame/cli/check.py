"""`samesame check`: two or more programs that should compute the same."""

from __future__ import annotations

import sys
from contextlib import ExitStack, redirect_stdout
from enum import StrEnum
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import typer

from samesame.cli.files import demand, in_format, write_answers, write_json
from samesame.cli.gguf import compare_weights
from samesame.cli.options import (
    AllRelations,
    Format,
    FormatOption,
    How,
    HowOption,
    Html,
    Inputs,
    Json,
    Junit,
    OwnStore,
    Quiet,
    Sarif,
    Seed,
    Timeout,
    argument,
    option,
    require_positive,
)
from samesame.cli.progress import progress_of, terminated_gently
from samesame.cli.rules import rules_of
from samesame.cli.streams import INTERRUPTED, complain, reported, stdout_guarded, to_stdout
from samesame.evidence import Rung, SamesameError, Verdict
from samesame.graph.interface import KINDS
from samesame.programs import FORMS

EPILOG = "Exit codes: 0 same, 1 different, 2 usage or unusable input, 3 undecided, 130 interrupted by Ctrl-C."
PAIR = ("left", "right", "inputs")                # the names that a file of its own pair defines


class Weights(StrEnum):
    """For which weights two programs are to be the same."""

    as_given = "as-given"
    random = "random"


Left = Annotated[str, argument("LEFT", f"The reference: {FORMS}. Alone: a .py file that defines {', '.join(PAIR)}.")]
Right = Annotated[str | None, argument("RIGHT", "The program to compare with it.")]
MORE = "More programs: every pair is compared, and which one stands alone is said."
More = Annotated[list[str] | None, argument("MORE", MORE)]
TINY = "Give each checkpoint a tiny twin with its config's flags and random weights; config.json is enough."
Tiny = Annotated[bool, option("--tiny", words=TINY)]
WEIGHTS = "Compare for all weights; or as-given, where it hangs on weights that happen to hold equal numbers."
WeightsOption = Annotated[Weights, option("--weights", words=WEIGHTS)]
IGNORE = f"Differences beside numbers to leave aside, separated by commas: {', '.join(KINDS)}."
Ignore = Annotated[str, option("--ignore", metavar="KINDS", show_default=False, words=IGNORE)]
JOBS = "Of several programs: pairs that are compared at the same time, each in a process of its own."
Jobs = Annotated[int, option("--jobs", "-j", min=1, words=JOBS)]
CERTIFICATE = "Prove everything anew and write each step here, for `samesame replay`."
CertificateOption = Annotated[str | None, option("--certificate", metavar="FILE", words=CERTIFICATE)]


def check(
    left: Left,
    right: Right = None,
    more: More = None,
    inputs: Inputs = None,
    json: Json = None,
    junit: Junit = None,
    sarif: Sarif = None,
    format_: FormatOption = Format.text,
    html: Html = None,
    quiet: Quiet = False,
    verbose: AllRelations = False,
    seed: Seed = 0,
    timeout: Timeout = None,
    store: OwnStore = None,
    certificate: CertificateOption = None,
    how: HowOption = How.record,
    ignore: Ignore = "",
    tiny: Tiny = False,
    weights: WeightsOption = Weights.random,
    jobs: Jobs = 1,
) -> None:
    """Do LEFT and RIGHT compute the same function?

    samesame check model.py:Separate model.py:Fused --inputs model.py:inputs

    samesame check pair.py

    samesame check hf:DIR?attn=eager hf:DIR?attn=sdpa vllm:DIR --tiny

    samesame check hf:DIR gguf:FILE
    """
    require_positive("--timeout", timeout)
    with reported(verbose):
        from samesame.report import dumps, write_certificate, write_several
        from samesame.report.answers import of_check

        *targets, inputs = pair(left, right, inputs)
        demand(json, html, junit, sarif, certificate)
        if any(target.startswith("gguf:") for target in [*targets, *(more or [])]):
            if more or inputs or certificate:
                raise SamesameError("gguf: compares the weights of hf:DIR and gguf:FILE; leave out other programs, "
                                    "--inputs and --certificate")
            first, second = targets
            raise typer.Exit(compare_weights(first, second, json=json, html=html, junit=junit, sarif=sarif,
                                             form=format_, quiet=quiet, verbose=verbose))
        if more and certificate is not None:
            raise SamesameError("a certificate is of two programs; give --certificate with two")
        settings = {
            "seed": seed, "timeout": timeout, "how": how.value, "certify": certificate is not None,
            "weights": weights.value, "ignore": ignored_kinds(ignore), "picture": html is not None,
        }
        if jobs > 1 and not more:
            raise SamesameError("--jobs is of several programs; two are compared in one process")
        targets += more or []
        if more and (twice := next((one for k, one in enumerate(targets) if one in targets[:k]), None)):
            raise SamesameError(f"{twice} is given twice; give each program once")
        verdicts, drawn, interrupted = decide(targets, inputs, settings, jobs=jobs, quiet=quiet, store=store, tiny=tiny)
        answers = [of_check(verdict) for verdict in verdicts]
        write_answers(answers, junit, sarif)
        if format_ is not Format.text and json != "-":
            to_stdout(in_format(answers, format_))
        if more:
            from samesame.several import agreeing, alone, exit_code

            answer, code = alone(verdicts), exit_code(verdicts)
            if format_ is Format.text or json == "-":
                show_several(verdicts, answer, as_json=json == "-", quiet=quiet, verbose=verbose)
            if json not in (None, "-"):
                write_several(verdicts, answer, Path(json))
            if html is not None:
                from samesame.report.html.several import write_several_page

                write_several_page(verdicts, answer, agreeing(verdicts), code, Path(html), drawn)
            raise typer.Exit(INTERRUPTED if interrupted else code)
        verdict = verdicts[0]
        if certificate is not None and verdict.certificate is not None:
            write_certificate(verdict, Path(certificate))
        elif certificate is not None:
            complain(f"no certificate is written to {certificate}: only a verdict of same without restriction has one, "
                     "whose outputs are more than equal in value")
        if format_ is Format.text or json == "-":
            show(verdict, as_json=json == "-", quiet=quiet, verbose=verbose)
        write_json(json, lambda: dumps(verdict))
        if html is not None:
            from samesame.report.html.check import write_check

            write_check(verdict, Path(html))
    raise typer.Exit(INTERRUPTED if interrupted else verdict.exit_code)


def ignored_kinds(text: str) -> tuple[str, ...]:
    """The kinds of differences that --ignore names."""
    kinds = tuple(kind.strip() for kind in text.split(",") if kind.strip())
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise SamesameError(f"--ignore {unknown[0]}: there is no such kind of difference; give {', '.join(KINDS)}")
    return kinds


def pair(left: str, right: str | None, inputs: str | None) -> tuple[str, str, str | None]:
    """The targets to check: as given, or the three names that one file defines."""
    if right is not None:
        return left, right, inputs
    if not left.endswith(".py"):
        raise SamesameError(
            f"{left} is one program: give a second one, or a file such as pair.py that defines {', '.join(PAIR)}"
        )
    first, second, example = (f"{left}:{name}" for name in PAIR)
    return first, second, inputs or example


def decide(
    targets: list[str],
    inputs: str | None,
    settings: dict[str, Any],
    *,
    jobs: int,
    quiet: bool,
    store: str | None,
    tiny: bool = False,
) -> tuple[list[Verdict], list[dict[str, Any]], bool]:
    """Load the targets and check each pair, with progress on stderr: the verdicts, which name them as the user did;
    what a page shows of each, where it is drawn already; and whether Ctrl-C ended it. With several `jobs` each pair is
    checked in a process of its own. The time limit counts from here, where nothing of ours is left to load.

    Raises KeyboardInterrupt where Ctrl-C came before anything was established.
    """
    if jobs > 1:
        with terminated_gently(), progress_of(quiet) as shown, redirect_stdout(sys.stderr):
            from samesame.several import compare_targets

            return compare_targets(targets, inputs, settings, jobs=jobs, tiny=tiny, store=store,
                                   progress=shown.far if shown else None)
    with redirect_stdout(sys.stderr):
        from samesame.budget import Run
        from samesame.capture.targets import programs_of
        from samesame.check import check

        verdicts = [
            Verdict("undecided", Rung.UNDECIDED, seed=settings["seed"], left=left, right=right)
            for left, right in combinations(targets, 2)
        ]
        with progress_of(quiet, settings["timeout"]) as bar, rules_of(store) as rules, ExitStack() as kept:
            run = Run(settings["timeout"], *((bar.advance, bar.stage) if bar else ()))
            with run.bounded(interrupts=True):
                with run.during("load"):
                    loaded = programs_of(targets, inputs, tiny=tiny, seed=settings["seed"])
                    programs, example = kept.enter_context(loaded)
                for number, (mine, yours) in enumerate(combinations(programs, 2)):
                    found = check(mine, yours, example, **settings, run=run, store=rules)
                    found.left, found.right = verdicts[number].left, verdicts[number].right
                    verdicts[number] = found
    if run.interrupted and not any(v.relations or v.verdict != "undecided" for v in verdicts):
        raise KeyboardInterrupt
    for verdict in verdicts:
        verdict.notes = verdict.notes or run.notes()
    return verdicts, [], run.interrupted


def show(verdict: Verdict, *, as_json: bool, quiet: bool, verbose: bool) -> None:
    """The result, on stdout: JSON, one line, or the report."""
    from samesame.report import dumps, headline, print_report

    with stdout_guarded():
        if as_json:
            sys.stdout.write(dumps(verdict))
        elif quiet:
            print(headline(verdict).plain)
        else:
            print_report(verdict, verbose=verbose)


def show_several(verdicts: list[Verdict], answer: str, *, as_json: bool, quiet: bool, verbose: bool) -> None:
    """The result for several programs, on stdout: JSON, the answer alone, or that, each pair, and what differs."""
    from samesame.report import dumps_several, print_several

    with stdout_guarded():
        if as_json:
            sys.stdout.write(dumps_several(verdicts, answer))
        elif quiet:
            print(answer)
        else:
            print_several(verdicts, answer, verbose=verbose)
