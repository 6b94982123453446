"""`samesame lift`: what Triton kernels compute, and whether they are safe."""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samesame.cli.files import all_in_format, demand, in_format, write_answers, write_json
from samesame.cli.options import (
    Format,
    FormatOption,
    Html,
    Json,
    Junit,
    Sarif,
    Verbose,
    argument,
    at_once,
    jobs_option,
    option,
    require_address,
    require_positive,
)
from samesame.cli.progress import progress_of, terminated_gently
from samesame.cli.streams import INTERRUPTED, complain, reported, to_stdout
from samesame.evidence import SamesameError

if TYPE_CHECKING:
    from samesame.lift.many import Many

EPILOG = (
    "Exit codes: 0 verified (and same), 1 violated or different, 2 usage or unusable input, 3 undecided, "
    "130 interrupted by Ctrl-C."
)

TARGETS = "file.py:launch, or a .ttir file; file.py for all its functions that launch a kernel. Several may be given."
Targets = Annotated[list[str], argument("TARGET…", TARGETS)]
Jobs = Annotated[int | None, jobs_option("Launch functions that are lifted at the same time")]
RAY = "Of several: on the Ray cluster there. What is wrong is shown here; what is verified there does not count."
Ray = Annotated[str | None, option("--ray", metavar="ADDRESS", words=RAY)]
RESUME = "Of several: keep each launch here when it is done; go on from there if the file exists."
Resume = Annotated[str | None, option("--resume", metavar="FILE", words=RESUME)]
Against = Annotated[
    str | None,
    option("--against", metavar="TARGET", words="A PyTorch function with the launch's tensors as parameters."),
]
Inputs = Annotated[str | None, option("--inputs", metavar="TARGET", words="Arguments for the launch function.")]
Explain = Annotated[
    bool, option("--explain", words="Each formula step by step; every obligation with its line and time.")
]
Numerics = Annotated[
    bool, option("--numerics", words="Measure the kernel's error in float32, float16 and bfloat16, on the CPU.")
]
Latex = Annotated[bool, option("--latex", words="The formulas in LaTeX.")]
Elements = Annotated[
    int, option("--elements", min=0, words="Elements that a tensor may span (0: find a limit that avoids overflow).")
]
Synthesis = Annotated[
    bool, option("--synthesis/--no-synthesis", words="Search for closed forms of loops where no rule knows one.")
]
Timeout = Annotated[float, option("--timeout", metavar="SECONDS", words="Time for each kernel.")]
Assume = Annotated[
    list[str] | None,
    option(
        "--assume",
        metavar="CONTRACT",
        words="What may be relied on, such as 'N % 2 == 0', '0 <= labels < V or labels == -100', 'distinct(slots)'; "
        "the example has to meet it. May be given several times.",
    ),
]
Quiet = Annotated[bool, option("--quiet", "-q", words="One line for each kernel.")]


def lift(
    targets: Targets,
    against: Against = None,
    inputs: Inputs = None,
    explain: Explain = False,
    latex: Latex = False,
    numerics: Numerics = False,
    assume: Assume = None,
    json: Json = None,
    html: Html = None,
    junit: Junit = None,
    sarif: Sarif = None,
    format_: FormatOption = Format.text,
    elements: Elements = 0,
    synthesis: Synthesis = True,
    timeout: Timeout = 10.0,
    jobs: Jobs = None,
    ray: Ray = None,
    resume: Resume = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """What does the kernel compute, for every size, and is it safe?

    samesame lift softmax.py:launch --against softmax.py:reference

    samesame lift kernels.py norms.py:launch --jobs 2
    """
    require_positive("--timeout", timeout)
    require_address(ray)
    if len(targets) > 1 or targets[0].endswith(".py"):
        options = {"seconds": timeout, "elements": elements, "synthesis": synthesis, "explain": explain,
                   "latex": latex, "numerics": numerics}
        with reported(verbose):
            demand_one({"--against": against, "--inputs": inputs, "--assume": assume, "--html": html})
            found = many(targets, options, at_once(jobs, ray), json, junit, sarif, quiet=quiet, form=format_,
                         resume=resume, ray=ray or "")
        raise typer.Exit(INTERRUPTED if found.interrupted else found.exit_code)
    [target] = targets
    with reported(verbose):
        for name, value in {"--resume": resume, "--ray": ray}.items():
            if value is not None:
                raise SamesameError(f"{name} is of several launch functions; name a file, or more than one of them")
        with redirect_stdout(sys.stderr):
            from samesame.capture import load_inputs
            from samesame.kernels.loops.carried import Means
            from samesame.lift import Settings
            from samesame.lift import lift as lifted
            from samesame.report.answers import of_lift
            from samesame.report.lifted import as_json, lines, quiet_lines

            demand(json, html, junit, sarif)
            given = load_inputs(inputs) if inputs else None
            means = Means(synthesis=synthesis)
            settings = Settings(seconds=timeout, elements=elements, explain=explain, means=means)
            verdict = lifted(target, against, settings, inputs=given, numerics=numerics, assume=assume or ())
            write_answers(of_lift(verdict), junit, sarif)
        if json == "-":
            to_stdout(as_json(verdict))
        elif format_ is not Format.text:
            to_stdout(in_format(of_lift(verdict), format_))
        else:
            to_stdout("\n".join(quiet_lines(verdict) if quiet else lines(verdict, explain=explain, latex=latex)))
        write_json(json, lambda: as_json(verdict) + "\n")
        if html is not None:
            from samesame.report.html.lift import write_lift

            write_lift(verdict, Path(html))
    raise typer.Exit(verdict.exit_code)


def demand_one(given: Mapping[str, Any]) -> None:
    """Raises SamesameError for an option that is of one launch function."""
    name = next((name for name, value in given.items() if value), None)
    if name is not None:
        raise SamesameError(f"{name} is of one launch function; name that one alone, as file.py:launch")


def many(
    targets: Sequence[str], options: Mapping[str, Any], jobs: int | None, json: str | None, junit: str | None,
    sarif: str | None, *, quiet: bool, form: Format, resume: str | None, ray: str,
) -> Many:
    """Lift several, and say what came of them."""
    demand(json, None, junit, sarif)
    with terminated_gently(), progress_of(quiet) as shown, redirect_stdout(sys.stderr):
        from samesame.lift.many import lift_many
        from samesame.report.json import write_text

        found = lift_many(targets, options, jobs=jobs, ray=ray, resume=None if resume is None else Path(resume),
                          progress=shown.far if shown else None)
    write_answers(found.answers, junit, sarif)
    text = json_.dumps(found.to_json(), indent=2, allow_nan=False)
    if json == "-":
        to_stdout(text)
    elif form is not Format.text:
        to_stdout(all_in_format(found.headline, found.exit_code, found.answers, found.text(), form))
    else:
        to_stdout(found.text(short=quiet))
    if json not in (None, "-"):
        write_text(text + "\n", Path(json))
    if found.interrupted:
        complain(f"interrupted: {found.goes_on}")
    return found
