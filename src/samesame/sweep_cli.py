"""`samesame sweep`: which config fields does one of two libraries ignore?, on the command line.

The command is put into the command line by `cli.py`; what needs torch is imported when it runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, redirect_stdout
from pathlib import Path
from typing import Annotated, Any

import typer

from samesame.evidence import SamesameError

EPILOG = ("Exit codes: 0 no probe differs, 1 some differ, 2 usage or unusable input, 3 some are undecided, "
          "130 interrupted by Ctrl-C.")
INTERRUPTED = 130
JOBS = max(1, min(4, os.cpu_count() or 1))

CONFIG = "hf:CONFIG or vllm:CONFIG, a checkpoint folder or a config.json; options and fields after a question mark."
Side = Annotated[str, typer.Argument(metavar="LEFT", show_default=False, help=f"The reference: {CONFIG}")]
Other = Annotated[str, typer.Argument(metavar="RIGHT", show_default=False, help="The other side, of the same config.")]
Only = Annotated[
    list[str] | None, typer.Option("--only", metavar="FIELD", help="Try this field alone; may be given several times.")
]
List = Annotated[bool, typer.Option("--list", help="Show what would be tried, and try nothing.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Worker processes.")]
PER_PROBE = "For each probe; what is then open is undecided."
PerProbe = Annotated[float, typer.Option("--per-probe", metavar="SECONDS", help=PER_PROBE)]
AFTER = "Begin no probe after this long."
Timeout = Annotated[float | None, typer.Option("--timeout", metavar="SECONDS", help=AFTER)]
RESUME = "Keep each probe here when it is done; go on from there if the file exists."
Resume = Annotated[str | None, typer.Option("--resume", metavar="FILE", help=RESUME)]
WAIVE = "Known, intended differences with their reasons (JSON)."
Waive = Annotated[str | None, typer.Option("--waive", metavar="FILE", help=WAIVE)]
SCRIPTS = "Write a script for each difference that shows it with the two libraries alone."
Scripts = Annotated[str | None, typer.Option("--scripts", metavar="DIR", help=SCRIPTS)]
Json = Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON too; - for stdout.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of weights and draws; same seed, same result.")]
STORE = "Rules learnt before are read here, and new ones kept (default: in the user's cache; - for none)."
StorePath = Annotated[str | None, typer.Option("--store", metavar="PATH", help=STORE)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="One line, and no progress.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Every probe; a traceback if samesame itself fails.")]
Streams = Callable[..., AbstractContextManager[Any]]


def sweep_command(reported: Streams, progress_bar: Streams, guarded: Streams) -> Callable[..., None]:
    """The command, for `app.command()`. `reported(verbose)` turns failures into one sentence and an exit code,
    `progress_bar(quiet)` shows how it goes, `guarded()` writes to stdout."""

    def sweep(
        left: Side,
        right: Other,
        only: Only = None,
        list_: List = False,
        jobs: Jobs = JOBS,
        per_probe: PerProbe = 60.0,
        timeout: Timeout = None,
        resume: Resume = None,
        waive: Waive = None,
        scripts: Scripts = None,
        json: Json = None,
        seed: Seed = 0,
        store: StorePath = None,
        quiet: Quiet = False,
        verbose: Verbose = False,
    ) -> None:
        """Which fields of a config does one side ignore?

        samesame sweep hf:CONFIG vllm:CONFIG --jobs 2 --scripts found/

        One field at a time is changed on a tiny twin of the config, with random weights; each pair is checked.
        """
        for name, seconds in (("--per-probe", per_probe), ("--timeout", timeout)):
            if seconds is not None and not seconds > 0:
                raise typer.BadParameter("give a number of seconds above 0", param_hint=name)
        with reported(verbose):
            from samesame.report import require_writable
            from samesame.report.json import write_text

            if json not in (None, "-"):
                require_writable(Path(json))
            if list_:
                with guarded():
                    print(planned(left, right, only or []))
                raise typer.Exit
            folder = None if scripts is None else made_folder(Path(scripts))
            with progress_bar(quiet) as bar, redirect_stdout(sys.stderr):
                from samesame.sweep.verb import sweep as swept

                found = swept(
                    left, right, jobs=jobs, seed=seed, per_probe=per_probe, timeout=timeout, only=only or [],
                    resume=_path(resume), waive=_path(waive), store=store, progress=shown_on(bar),
                )
            from samesame.sweep.script import write_scripts
            from samesame.sweep.table import dumps, headline, text

            if folder is not None and not found.attention:
                found.notes.append("There are no scripts: they run Transformers and vLLM in float32 without options.")
            written = {} if folder is None else write_scripts(found.outcomes, folder, found.attention)
            with guarded():
                if json == "-":
                    sys.stdout.write(dumps(found, written))
                else:
                    print(headline(found) if quiet else text(found, written, verbose=verbose))
            if json not in (None, "-"):
                write_text(dumps(found, written), Path(json))
            raise typer.Exit(INTERRUPTED if found.interrupted else found.exit_code)

    return sweep


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


def shown_on(bar: Any) -> Callable[[int, int, str], None] | None:
    """Progress on a bar, if there is one."""
    if bar is None:
        return None
    bar.stage("start the workers")

    def advance(done: int, total: int, place: str) -> None:
        doing = f"probe {done} of {total}"
        bar.bar.update(bar.task, completed=done, total=total, description=place, doing=doing)

    return advance
