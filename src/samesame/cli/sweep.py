"""`samesame sweep`: which config fields does one of two libraries ignore?"""

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
    Seed,
    argument,
    at_once,
    jobs_option,
    option,
    require_address,
    require_positive,
    verbose,
)
from samesame.cli.progress import progress_of, terminated_gently
from samesame.cli.streams import INTERRUPTED, complain, reported, stdout_guarded
from samesame.evidence import SamesameError

EPILOG = ("Exit codes: 0 no probe differs, 1 some differ, 2 usage or unusable input, 3 some are undecided, "
          "130 interrupted by Ctrl-C.")

CONFIG = "hf:CONFIG or vllm:CONFIG, a checkpoint folder or a config.json; options and fields after a question mark."
Side = Annotated[str, argument("LEFT", f"The reference: {CONFIG}")]
Other = Annotated[str, argument("RIGHT", "The other side, of the same config.")]
Only = Annotated[
    list[str] | None, option("--only", metavar="FIELD", words="Try this field alone; may be given several times.")
]
List = Annotated[bool, option("--list", words="Show what would be tried, and try nothing.")]
Jobs = Annotated[int | None, jobs_option("Worker processes")]
PER_PROBE = "For each probe; what is then open is undecided."
PerProbe = Annotated[float, option("--per-probe", metavar="SECONDS", words=PER_PROBE)]
AFTER = "Begin no probe after this long."
Timeout = Annotated[float | None, option("--timeout", metavar="SECONDS", words=AFTER)]
RESUME = "Keep each probe here when it is done; go on from there if the file exists."
Resume = Annotated[str | None, option("--resume", metavar="FILE", words=RESUME)]
WAIVE = "Known, intended differences with their reasons (JSON)."
Waive = Annotated[str | None, option("--waive", metavar="FILE", words=WAIVE)]
SCRIPTS = "Write a script for each difference that shows it with the two libraries alone."
Scripts = Annotated[str | None, option("--scripts", metavar="DIR", words=SCRIPTS)]
BESIDE = "A report (--json) of another config's sweep, to stand beside this one in the page; several times if wanted."
Beside = Annotated[list[str] | None, option("--beside", metavar="FILE", words=BESIDE)]
EveryProbe = Annotated[bool, verbose("Every probe; a traceback if samesame itself fails.")]


def sweep(
    left: Side,
    right: Other,
    only: Only = None,
    list_: List = False,
    jobs: Jobs = None,
    ray: Ray = None,
    per_probe: PerProbe = 60.0,
    timeout: Timeout = None,
    resume: Resume = None,
    waive: Waive = None,
    scripts: Scripts = None,
    beside: Beside = None,
    json: Json = None,
    html: Html = None,
    junit: Junit = None,
    sarif: Sarif = None,
    format_: FormatOption = Format.text,
    seed: Seed = 0,
    store: OwnStore = None,
    quiet: Quiet = False,
    verbose: EveryProbe = False,
) -> None:
    """Which fields of a config does one side ignore?

    samesame sweep hf:CONFIG vllm:CONFIG --jobs 2 --scripts found/

    One field at a time is changed on a tiny twin of the config, with random weights; each pair is checked.
    """
    require_positive("--per-probe", per_probe)
    require_positive("--timeout", timeout)
    require_address(ray)
    with reported(verbose):
        from samesame.report.html.beside import folder_beside
        from samesame.sweep.beside import columns

        demand(json, html, junit, sarif)
        if list_:
            with stdout_guarded():
                print(planned(left, right, only or []))
            raise typer.Exit
        if beside and html is None:
            raise SamesameError("--beside says what a page shows; give --html FILE too")
        others = [] if html is None else columns(list(map(Path, beside or [])), Path(html))
        folder = None if scripts is None else made_folder(Path(scripts))
        with terminated_gently(), progress_of(quiet) as shown, redirect_stdout(sys.stderr):
            from samesame.sweep.verb import sweep as swept

            found = swept(
                left, right, jobs=at_once(jobs, ray), ray=ray or "", seed=seed, per_probe=per_probe,
                timeout=timeout, only=only or [], resume=_path(resume), waive=_path(waive), store=store,
                pages=None if html is None else folder_beside(Path(html)), progress=shown.far if shown else None,
            )
        from samesame.sweep.answers import answers
        from samesame.sweep.page import drawn, write_sweep
        from samesame.sweep.script import write_scripts
        from samesame.sweep.table import dumps, headline, text

        if folder is not None and not found.attention:
            found.notes.append("There are no scripts: they run Transformers and vLLM in float32 without options.")
        written = {} if folder is None else write_scripts(found.outcomes, folder, found.attention)
        pages = {} if html is None else drawn(found, Path(html))
        told = answers(found)
        write_answers(told, junit, sarif)
        with stdout_guarded():
            if json == "-":
                sys.stdout.write(dumps(found, written, pages))
            elif format_ is not Format.text:
                report = text(found, written, verbose=verbose)
                print(all_in_format(headline(found), found.exit_code, told, report, format_))
            else:
                print(headline(found) if quiet else text(found, written, verbose=verbose))
        write_json(json, lambda: dumps(found, written, pages))
        if html is not None:
            write_sweep(found, written, Path(html), others)
        if found.interrupted:
            complain(f"interrupted: {found.goes_on}")
        raise typer.Exit(INTERRUPTED if found.interrupted else found.exit_code)


def planned(left: str, right: str, only: list[str]) -> str:
    """What a sweep of these would try."""
    with redirect_stdout(sys.stderr):
        from samesame.sweep.table import listed
        from samesame.sweep.verb import plan_of

        return listed(plan_of(left, right, only))


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def made_folder(path: Path) -> Path:
    """A folder to write to. Raises SamesameError where there can be none."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SamesameError(f"cannot make the folder {path}: {error.strerror}; give another one") from None
    return path
