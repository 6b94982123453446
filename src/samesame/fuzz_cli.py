"""`samesame fuzz`: does the compiler keep equal programs equal?, on the command line.

The command is put into the command line by `cli.py`; what needs torch is imported when it runs.
"""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samesame.evidence import SamesameError

if TYPE_CHECKING:
    from samesame.fuzz.campaign import Progress, Settings
    from samesame.fuzz.corpus import Finding

EPILOG = "Exit codes: 0 nothing found, 1 found, 2 usage or unusable input, 3 stopped before anything was decided."
FOUND, UNDECIDED = 1, 3

Target = Annotated[
    str | None,
    typer.Argument(metavar="[TARGET]", show_default=False, help="A program of one's own as the seed: file.py:name."),
]
Inputs = Annotated[str | None, typer.Option("--inputs", metavar="TARGET", help="Its example inputs: file.py:name.")]
Backends = Annotated[
    str, typer.Option("--backend", metavar="NAMES", help="Back ends, separated by commas; `list` shows them.")
]
Generators = Annotated[
    str | None, typer.Option("--generators", metavar="NAME=SHARE,…", help="Which generators, and how often each.")
]
Minutes = Annotated[float | None, typer.Option("--minutes", help="End after this long; without it, at Ctrl-C.")]
Cases = Annotated[int | None, typer.Option("--cases", min=1, help="End after so many programs.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Worker processes.")]
Out = Annotated[str, typer.Option("--out", metavar="DIR", help="The campaign's folder: findings and its corpus.")]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the campaign in the folder.")]
Replay = Annotated[str | None, typer.Option("--replay", metavar="DIR", help="Run one finding again, stage by stage.")]
List = Annotated[str | None, typer.Option("--list", metavar="DIR", help="The findings of a campaign's folder.")]
Llm = Annotated[str | None, typer.Option("--llm", metavar="URL", help="A language model that writes programs, too.")]
Model = Annotated[str | None, typer.Option("--model", metavar="NAME", help="The model's name there.")]
NoTwins = Annotated[bool, typer.Option("--no-twins", help="Programs alone, without their equivalent twins.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of the programs.")]
Json = Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON too; - for stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="One line, and no progress.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="A traceback if samesame itself fails.")]
Streams = Callable[..., AbstractContextManager[Any]]


def fuzz_command(reported: Streams, guarded: Streams) -> Callable[..., None]:
    """The command, for `app.command()`. `reported(verbose)` turns failures into one sentence and an exit code,
    `guarded()` writes to stdout."""

    def fuzz(
        target: Target = None,
        inputs: Inputs = None,
        backend: Backends = "inductor",
        generators: Generators = None,
        minutes: Minutes = None,
        cases: Cases = None,
        jobs: Jobs = 1,
        out: Out = "found",
        resume: Resume = False,
        replay: Replay = None,
        list_: List = None,
        llm: Llm = None,
        model: Model = None,
        no_twins: NoTwins = False,
        seed: Seed = 0,
        json: Json = None,
        quiet: Quiet = False,
        verbose: Verbose = False,
    ) -> None:
        """Does the compiler keep equal programs equal?

        samesame fuzz --backend inductor --minutes 30 --jobs 2 --out found/

        samesame fuzz model.py:module --inputs model.py:inputs

        samesame fuzz --replay found/0007
        """
        with reported(verbose):
            from samesame.report import require_writable

            if json not in (None, "-"):
                require_writable(Path(json))
            if backend == "list":
                with guarded():
                    print(backends_in_words())
                raise typer.Exit
            if list_ is not None:
                with guarded():
                    from samesame.fuzz.corpus import read_findings

                    print(findings_in_words(read_findings(Path(list_)), Path(list_)))
                raise typer.Exit
            if replay is not None:
                code, text = replayed(Path(replay))
                with guarded():
                    print(text)
                raise typer.Exit(code)
            from samesame.fuzz.campaign import Settings

            settings = Settings(
                backends=tuple(name.strip() for name in backend.split(",")),
                seed=seed,
                jobs=jobs,
                twins=not no_twins,
                minutes=minutes,
                cases=cases,
            )
            if (llm is None) != (model is None):
                raise SamesameError("--llm and --model belong together: a URL, and the name of a model there")
            if llm is not None and model is not None:
                settings.llm, settings.model = llm, model
                settings.generators["written"] = 1.0
            if generators is not None:
                settings.generators = shares(generators)
            if target is not None:
                code, text, data = on_own(target, inputs, settings)
            else:
                code, text, data = on_generated(Path(out), settings, resume, quiet)
            with guarded():
                print(json_.dumps(data, indent=1) if json == "-" else text.splitlines()[0] if quiet else text)
            if json not in (None, "-"):
                from samesame.report.json import write_text

                write_text(json_.dumps(data, indent=1) + "\n", Path(json))
            raise typer.Exit(code)

    return fuzz


def shares(text: str) -> dict[str, float]:
    """`operators=2,statements=1`. Raises SamesameError."""
    found: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = part.strip().partition("=")
        try:
            found[name] = float(share or 1)
        except ValueError:
            raise SamesameError(f"the share of the generator {name} is {share!r}; give a number") from None
    return found


def on_own(target: str, inputs: str | None, settings: Settings) -> tuple[int, str, dict[str, Any]]:
    """A program of one's own."""
    if inputs is None:
        raise SamesameError(f"{target} needs inputs to run on; give --inputs file.py:name")
    from samesame.fuzz.campaign import RIGHTLY, fuzz_own

    with TemporaryDirectory() as folder, redirect_stdout(sys.stderr):
        found = fuzz_own(target, inputs, Path(folder), settings)
    if found.verdict == RIGHTLY:
        twins = f"{found.twins} twins by {len(found.rewrites)} rewrites"
        text = f"{RIGHTLY}   {target}, {settings.backends[0]}, {twins}"
    else:
        text = f"not compiled rightly   {target}, {settings.backends[0]}: {found.verdict}"
    data = {"verdict": found.verdict, "twins": found.twins, "rewrites": list(found.rewrites), "seconds": found.seconds}
    return found.exit_code, text, data


def on_generated(out: Path, settings: Settings, resume: bool, quiet: bool) -> tuple[int, str, dict[str, Any]]:
    """A campaign."""
    from samesame.fuzz.campaign import fuzz

    def told(progress: Progress) -> None:
        if not quiet:
            end = "\r" if sys.stderr.isatty() else "\n"
            print(progress.line.ljust(100), end=end, file=sys.stderr, flush=True)

    with redirect_stdout(sys.stderr):
        progress = fuzz(out, settings, resume=resume, told=told)
    text = f"{progress.line}\n\n{findings_in_words(progress.findings, out)}"
    data = {
        "cases": progress.cases,
        "agreed": progress.agreed,
        "dropped": progress.dropped,
        "wrong_twins": progress.wrong_twins,
        "seconds": progress.seconds,
        "findings": [asdict(finding) for finding in progress.findings],
    }
    return FOUND if progress.findings else UNDECIDED if not progress.cases else 0, text, data


def findings_in_words(findings: list[Finding], folder: Path) -> str:
    """The table of distinct findings, the worst first, and where their scripts lie."""
    if not findings:
        return "nothing found"
    from samesame.fuzz.campaign import table
    from samesame.fuzz.finding import who

    rows = [f"{len(findings)} distinct findings"]
    for finding in table(findings):
        times = f"   {finding.times} times" if finding.times > 1 else ""
        rows.append(f"  {folder / f'{finding.number:04d}'}   {finding.kind}   {finding.backend}{times}{who(finding)}")
        rows.append(f"      {' · '.join(finding.calls)}: {finding.detail}")
    return "\n".join(rows)


def backends_in_words() -> str:
    """Every back end, and why it cannot run here where it cannot."""
    from samesame.fuzz.backends import BACKENDS

    return "\n".join(f"{name:30} {backend.missing() or 'runs here'}" for name, backend in BACKENDS.items())


def replayed(folder: Path) -> tuple[int, str]:
    """One finding again, stage by stage."""
    file = folder / "finding.json"
    if not file.exists():
        raise SamesameError(f"{folder} holds no finding; name a folder such as found/0001")
    from samesame.fuzz.campaign import replay
    from samesame.fuzz.corpus import Finding

    try:
        finding = Finding(**json_.loads(file.read_text()))
    except (ValueError, TypeError) as error:
        raise SamesameError(f"{file} was written by another version, or is damaged ({error})") from None
    with redirect_stdout(sys.stderr):
        stages = replay(finding)
    rows = [finding.text.rstrip(), "", *(f"{name:30} {words}" for name, words in stages)]
    shows = any(words.startswith(finding.kind) for _, words in stages)
    return (FOUND if shows else 0), "\n".join([*rows, "", "it still shows" if shows else "it does not show here"])
