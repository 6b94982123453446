"""`samesame optimize`: the fastest program that still computes the same."""

from __future__ import annotations

import json as json_
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samesame.cli.files import demand, in_format, write_answers, write_json
from samesame.cli.options import (
    Format,
    FormatOption,
    Html,
    Inputs,
    Json,
    Junit,
    OwnStore,
    Quiet,
    Sarif,
    Seed,
    Verbose,
    argument,
    option,
    require_positive,
)
from samesame.cli.progress import progress_of
from samesame.cli.rules import rules_of
from samesame.cli.streams import reported, stdout_guarded, to_stdout
from samesame.evidence import SamesameError

if TYPE_CHECKING:
    from samesame.optimize.verb import Optimized
    from samesame.report.optimized import Report

EPILOG = "Exit codes: 0 faster and proved, 2 usage or unusable input, 3 nothing better or not timed, 130 interrupted."

Target = Annotated[str, argument("TARGET", "A module or function: file.py:name, package.module:name, or hf:DIR.")]
PART = "For hf:DIR: the block by its path in the model; its inputs are recorded from a run of the model."
Part = Annotated[str | None, option("--module", metavar="PATH", words=PART)]
Minutes = Annotated[float, option("--minutes", words="For searching, proving and timing together.")]
Threads = Annotated[int | None, option("--threads", min=1, words="How many it is timed with (default: all).")]
On = Annotated[str, option("--target", metavar="cpu|cuda", words="What it is to run on; cuda: timed on a GPU.")]
Out = Annotated[str | None, option("--out", metavar="DIR", words="Save what is found: fast.py, certificate, report.")]
Explain = Annotated[bool, option("--explain", words="Every step from the program to what was found.")]
AFTER = "Stop after this long, if that is less than --minutes."
Timeout = Annotated[float | None, option("--timeout", metavar="SECONDS", words=AFTER)]


def optimize(
    target: Target,
    inputs: Inputs = None,
    module: Part = None,
    minutes: Minutes = 5.0,
    threads: Threads = None,
    on: On = "cpu",
    out: Out = None,
    explain: Explain = False,
    json: Json = None,
    html: Html = None,
    junit: Junit = None,
    sarif: Sarif = None,
    format_: FormatOption = Format.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
    seed: Seed = 0,
    timeout: Timeout = None,
    store: OwnStore = None,
) -> None:
    """What is the fastest program that computes the same?

    samesame optimize block.py:module --inputs block.py:inputs --out fast/

    samesame optimize hf:DIR --module model.layers.0.mlp
    """
    require_positive("--minutes", minutes)
    require_positive("--timeout", timeout)
    with reported(verbose):
        from samesame.optimize.answers import of_optimize

        if on not in ("cpu", "cuda"):
            raise SamesameError(f"--target {on}: there is no such target; give cpu or cuda")
        demand(json, html, junit, sarif)
        if out is not None:
            from samesame.optimize.saved import require_room

            require_room(Path(out))
        seconds = min(60 * minutes, timeout or 60 * minutes)
        settings = {"threads": threads, "target": on, "seed": seed, "out": out}
        found = found_for(target, inputs, module, seconds, settings, quiet=quiet, store=store)
        found.report.title = f"{target} {module}" if module else target
        answers = [of_optimize(found.report, target)]
        write_answers(answers, junit, sarif)
        if format_ is not Format.text and json != "-":
            to_stdout(in_format(answers, format_))
        else:
            show(found.report, as_json=json == "-", quiet=quiet, explain=explain)
        write_json(json, lambda: json_.dumps(found.report.form(), indent=1) + "\n")
        if html is not None:
            from samesame.report.html.optimized import write_optimized

            write_optimized(found.report, found.files, Path(html))
        raise typer.Exit(found.report.exit_code)


def found_for(
    target: str, inputs: str | None, part: str | None, seconds: float, settings: dict[str, Any], *, quiet: bool,
    store: str | None,
) -> Optimized:
    """Load the target and optimize it, with progress on stderr."""
    with redirect_stdout(sys.stderr):
        from samesame.budget import Run
        from samesame.optimize.verb import optimize

        program, example = loaded(target, inputs, part)
        with progress_of(quiet, seconds) as bar, rules_of(store) as rules:
            run = Run(seconds, *((bar.advance, bar.stage) if bar else ()))
            return optimize(program, example, run=run, store=rules, **settings)


def loaded(target: str, inputs: str | None, part: str | None) -> tuple[Any, Any]:
    """The program and its inputs. Raises SamesameError."""
    from samesame.capture import load_inputs, load_target
    from samesame.capture.checkpoints.folders import is_checkpoint

    program = load_target(target)
    if is_checkpoint(target):
        from samesame.capture.checkpoints.blocks import block

        if part is None:
            raise SamesameError(f"{target} is a whole model; name a block of it, such as --module model.layers.0.mlp")
        return block(program, part, load_inputs(inputs) if inputs else None)
    if part is not None:
        raise SamesameError("--module is for hf:DIR; name the module itself, such as file.py:model.layers.0")
    if inputs is None:
        raise SamesameError(f"{target} needs inputs to run on; give --inputs file.py:name")
    return program, load_inputs(inputs)


def show(report: Report, *, as_json: bool, quiet: bool, explain: bool) -> None:
    """The result, on stdout: JSON, one line, or the report."""
    from samesame.report.optimized import first_line, in_full

    with stdout_guarded():
        if as_json:
            print(json_.dumps(report.form(), indent=1))
        else:
            print(first_line(report) if quiet else in_full(report, explain))
