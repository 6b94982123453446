"""`samesame fuzz`: does the compiler keep equal programs equal?"""

from __future__ import annotations

import json as json_
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from samesame.cli.files import all_in_format, demand, in_format, write_answers
from samesame.cli.options import (
    Format,
    FormatOption,
    Html,
    Inputs,
    Json,
    Junit,
    Quiet,
    Sarif,
    Seed,
    Verbose,
    argument,
    option,
    require_address,
)
from samesame.cli.progress import progress_of, terminated_gently
from samesame.cli.streams import reported, stdout_guarded
from samesame.evidence import SamesameError

if TYPE_CHECKING:
    from samesame.fuzz.campaign import Settings
    from samesame.fuzz.corpus import Finding
    from samesame.report.answers import Answer as Told

EPILOG = "Exit codes: 0 nothing found, 1 found, 2 usage or unusable input, 3 stopped before anything was decided."
FOUND, UNDECIDED = 1, 3

Target = Annotated[
    str | None,
    argument("TARGET", "A program of one's own as the seed: file.py:name."),
]
Backends = Annotated[
    str, option("--backend", metavar="NAMES", words="Back ends, separated by commas; `list` shows them.")
]
Generators = Annotated[
    str | None, option("--generators", metavar="NAME=SHARE,…", words="Which generators, and how often each.")
]
Minutes = Annotated[float | None, option("--minutes", words="End after this long; without it, at Ctrl-C.")]
Cases = Annotated[int | None, option("--cases", min=1, words="End after so many programs.")]
Jobs = Annotated[int, option("--jobs", "-j", min=1, words="Worker processes.")]
Out = Annotated[str, option("--out", metavar="DIR", words="The campaign's folder: findings and its corpus.")]
Resume = Annotated[bool, option("--resume", words="Go on with the campaign in the folder.")]
Replay = Annotated[str | None, option("--replay", metavar="DIR", words="Run one finding again, stage by stage.")]
List = Annotated[str | None, option("--list", metavar="DIR", words="The findings of a campaign's folder.")]
Llm = Annotated[str | None, option("--llm", metavar="URL", words="A language model that writes programs, too.")]
Model = Annotated[str | None, option("--model", metavar="NAME", words="The model's name there.")]
RAY = "Workers on the Ray cluster there (host:port, or auto), not here."
Ray = Annotated[str | None, option("--ray", metavar="ADDRESS", words=RAY)]
Kept = Annotated[str | None, option("--store", metavar="PATH", words="Learnt rules, as rewrites (default: none).")]
NoTwins = Annotated[bool, option("--no-twins", words="Programs alone, without their equivalent twins.")]


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
    ray: Ray = None,
    store: Kept = None,
    no_twins: NoTwins = False,
    seed: Seed = 0,
    json: Json = None,
    html: Html = None,
    junit: Junit = None,
    sarif: Sarif = None,
    format_: FormatOption = Format.text,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Does the compiler keep equal programs equal?

    samesame fuzz --backend inductor --minutes 30 --jobs 2 --out found/

    samesame fuzz model.py:module --inputs model.py:inputs

    samesame fuzz --replay found/0007
    """
    require_address(ray)
    with reported(verbose):
        from samesame.report.json import write_text

        demand(json, html, junit, sarif)
        if html is not None and backend == "list":
            raise SamesameError("a page is of what was found; leave --html out of --backend list")
        if backend == "list":
            told = backends_in_words()
        elif list_ is not None:
            told = listed(Path(list_))
        elif replay is not None:
            told = replayed(Path(replay))
        else:
            settings = settings_of(backend, generators, llm, model)
            settings.seed, settings.jobs, settings.twins = seed, jobs, not no_twins
            settings.minutes, settings.cases = minutes, cases
            settings.ray, settings.store = ray or "", "" if store in (None, "-") else store
            if target is not None and ray is not None:
                raise SamesameError("a program of one's own is judged on this machine; leave --ray out")
            if target is not None:
                told = on_own(target, inputs, settings)
            else:
                told = on_generated(Path(out), settings, resume, quiet)
        write_answers(told.answers, junit, sarif)
        data = json_.dumps(told.data, indent=1) + "\n"
        with stdout_guarded():
            print(data if json == "-" else in_words(told, format_, quiet))
        if json not in (None, "-"):
            write_text(data, Path(json))
        if html is not None and told.page is not None:
            write_text(told.page(), Path(html))
        raise typer.Exit(told.code)


class Answer(NamedTuple):
    """What the command says: its exit code, text for people, data for machines, answers for other tools, one line for
    all of these, where they are not one, and how its page is made."""

    code: int
    text: str
    data: dict[str, Any]
    answers: Sequence[Told] = ()
    headline: str = ""
    page: Callable[[], str] | None = None


def in_words(told: Answer, form: Format, quiet: bool) -> str:
    """For people: the text, its first line, or what they paste somewhere."""
    if form is Format.text:
        return told.text.splitlines()[0] if quiet else told.text
    if told.answers and not told.headline:
        return in_format(told.answers, form)
    return all_in_format(told.headline, told.code, told.answers, told.text, form)


def settings_of(backend: str, generators: str | None, llm: str | None, model: str | None) -> Settings:
    """What a campaign is to do. Raises SamesameError."""
    from samesame.fuzz.campaign import Settings

    settings = Settings(backends=tuple(dict.fromkeys(name.strip() for name in backend.split(","))))
    if (llm is None) != (model is None):
        raise SamesameError("--llm and --model belong together: a URL, and the name of a model there")
    if llm is not None and model is not None:
        settings.llm, settings.model = llm, model
        settings.generators["written"] = 1.0
    if generators is not None:
        settings.generators = shares(generators)
    return settings


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


def on_own(target: str, inputs: str | None, settings: Settings) -> Answer:
    """A program of one's own."""
    if inputs is None:
        raise SamesameError(f"{target} needs inputs to run on; give --inputs file.py:name")
    if len(settings.backends) > 1:
        raise SamesameError("a program of one's own is compiled by one back end at a time; give --backend one name")
    from samesame.fuzz.answers import of_own
    from samesame.fuzz.single import fuzz_own
    from samesame.report.words import counted

    with redirect_stdout(sys.stderr):
        found = fuzz_own(target, inputs, settings)
    agree = "agrees" if found.twins == 1 else "agree"
    twins = f"{counted(found.twins, 'equal twin')} by {counted(len(found.rewrites), 'rewrite')} {agree}"
    silent = f", {found.silent} said nothing" if found.silent else ""
    text = f"{found.verdict}   {target}, {settings.backends[0]}: {found.why or twins + silent}"
    told = "\n\n".join(filter(None, (text, found.text)))

    def page() -> str:
        from samesame.fuzz.page import own_html

        return own_html(found)

    return Answer(found.exit_code, told, asdict(found), [of_own(found)], page=page)


def on_generated(out: Path, settings: Settings, resume: bool, quiet: bool) -> Answer:
    """A campaign."""
    from samesame.fuzz.answers import of_findings
    from samesame.fuzz.campaign import fuzz
    from samesame.report.words import counted

    with terminated_gently(), progress_of(quiet) as shown, redirect_stdout(sys.stderr):
        told = (lambda progress: shown.far(progress.far)) if shown else None
        progress = fuzz(out, settings, resume=resume, told=told)
    rows = [progress.line, "", findings_in_words(progress.findings, out)]
    if failed := progress.statuses["failed"]:
        rows.append(f"samesame itself failed on {counted(failed, 'program')}, which say nothing; "
                    f"{out} keeps what it said")
    if wrong := progress.statuses["wrong twin"]:
        rows.append(f"not equal in eager torch: {counted(wrong, 'twin')}, of wrong rewrites, which accuse nobody")
    findings = [asdict(finding) for finding in progress.findings]
    data = {"cases": progress.cases, "statuses": progress.statuses, "seconds": progress.seconds, "findings": findings}
    code = FOUND if findings else 0 if progress.decided else UNDECIDED
    return Answer(code, "\n".join(rows), data, of_findings(progress.findings, out), progress.line,
                  partial(page_of, out))


def listed(folder: Path) -> Answer:
    """The findings of a campaign's folder."""
    from samesame.fuzz.answers import of_findings
    from samesame.fuzz.corpus import read_campaign

    findings = read_campaign(folder).findings
    data = {"findings": [asdict(finding) for finding in findings]}
    told = findings_in_words(findings, folder)
    return Answer(FOUND if findings else 0, told, data, of_findings(findings, folder), told.splitlines()[0],
                  partial(page_of, folder))


def page_of(folder: Path) -> str:
    """The page of a campaign's folder."""
    from samesame.fuzz.corpus import read_campaign
    from samesame.fuzz.page import campaign_html

    return campaign_html(read_campaign(folder), folder)


def findings_in_words(findings: list[Finding], folder: Path) -> str:
    """The table of distinct findings, the worst first, and where their scripts lie."""
    if not findings:
        return "nothing found"
    from samesame.fuzz.campaign import summary, table
    from samesame.fuzz.finding import who

    rows = [summary(findings)]
    for finding, *others in table(findings):
        times = finding.times + sum(other.times for other in others)
        seen = f"   {times} times" if times > 1 else ""
        rows.append(f"  {folder / f'{finding.number:04d}'}   {finding.kind}   {finding.backend}{seen}{who(finding)}")
        rows.append(f"      {' · '.join(finding.calls)}: {finding.detail}")
        if others:
            rows.append(f"      also {', '.join(f'{other.number:04d}' for other in others)}")
    return "\n".join(rows)


def backends_in_words() -> Answer:
    """Every back end, and why it cannot run here where it cannot."""
    from samesame.fuzz.backends import BACKENDS

    missing = {name: backend.missing() for name, backend in BACKENDS.items()}
    rows = [f"{name:30} {why or 'runs here'}" for name, why in missing.items()]
    return Answer(0, "\n".join(rows), {"missing": missing})


def replayed(folder: Path) -> Answer:
    """One finding again, stage by stage."""
    file = folder / "finding.json"
    if not file.exists():
        raise SamesameError(f"{folder} holds no finding; name a folder such as found/0001")
    from samesame.fuzz.answers import of_replay
    from samesame.fuzz.campaign import told
    from samesame.fuzz.corpus import Finding
    from samesame.fuzz.page import AGAIN, replayed_html
    from samesame.fuzz.single import replay

    try:
        finding = Finding(**json_.loads(file.read_text()))
    except (ValueError, TypeError) as error:
        raise SamesameError(f"{file} was written by another version, or is damaged ({error})") from None
    with redirect_stdout(sys.stderr):
        stages = replay(finding)
    rows = [finding.text.rstrip(), "", *(f"{name:30} {told(result)}" for name, result in stages)]
    shows = any((result.get("kind") or result["status"]) == finding.kind for _, result in stages)
    rows += ["", AGAIN[shows]]
    text = "\n".join(rows)
    data = {"shows": shows, "stages": dict(stages)}
    return Answer(FOUND if shows else 0, text, data, [of_replay(finding, folder, shows, text)],
                  page=partial(replayed_html, finding, folder, shows, dict(stages)))
