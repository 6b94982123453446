"""`samesame lift`: what Triton kernels compute, and whether they are safe."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from samesame.cli.files import demand_exchange, demand_page, demand_writable, in_format, write_answers
from samesame.cli.options import (
    Format,
    FormatOption,
    Html,
    Json,
    Junit,
    Sarif,
    Verbose,
    argument,
    option,
    require_positive,
)
from samesame.cli.streams import reported, to_stdout

EPILOG = (
    "Exit codes: 0 verified (and same), 1 violated or different, 2 usage or unusable input, 3 undecided, "
    "130 interrupted by Ctrl-C."
)

Target = Annotated[str, argument("TARGET", "file.py:launch, or a .ttir file.")]
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
    target: Target,
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
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """What does the kernel compute, for every size, and is it safe?

    samesame lift softmax.py:launch --against softmax.py:reference
    """
    require_positive("--timeout", timeout)
    with reported(verbose):
        with redirect_stdout(sys.stderr):
            from samesame.capture import load_inputs
            from samesame.kernels.loops.carried import Means
            from samesame.lift import Settings
            from samesame.lift import lift as lifted
            from samesame.report.answers import of_lift
            from samesame.report.json import write_text
            from samesame.report.lifted import as_json, lines, quiet_lines

            demand_writable(json)
            demand_page(html)
            demand_exchange(junit, sarif)
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
        if json not in (None, "-"):
            write_text(as_json(verdict) + "\n", Path(json))
        if html is not None:
            from samesame.report.html.lift import write_lift

            write_lift(verdict, Path(html))
    raise typer.Exit(verdict.exit_code)
