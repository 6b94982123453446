"""One entry asked, in a fork of its own: the answer, and all that was read for it.

On another machine an entry is asked in a fork, too, and what is the same comes with its certificate. That is checked
here, on the graphs of the programs that lie here (`arrived`), so that what is kept hangs on the files here.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

from samesame.evidence import SamesameError
from samesame.report.answers import (
    STATES,
    Answer,
    Place,
    from_form,
    of_check,
    of_lift,
    of_refine,
    place_of_target,
    to_form,
    unusable,
)
from samesame.report.html.check import check_html
from samesame.report.html.lift import lift_html
from samesame.report.html.refine import refine_html
from samesame.store import Store
from samesame.suite.entries import Entry
from samesame.versions import versions
from samesame.work.crew import in_forks
from samesame.work.local import Work
from samesame.work.reads import Reads
from samesame.work.tasks import NotAccepted

CHECKPOINT = re.compile("(hf|vllm):")
KERNELS = 20.0                              # a launch has no more of them that need all their time
GRACE = 60.0                                # seconds beyond its time limit, for loading; then its process is ended


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of an entry: its answer, the certificate where there is one, and how its report is drawn as a page."""

    answer: Answer
    certificate: Any = None
    draw: Callable[[], str] | None = None


@dataclass(frozen=True, slots=True)
class How:
    """How entries are asked: with rules from a store, so that what is the same has a certificate, to be drawn."""

    store: Store | None
    certify: bool
    drawn: bool


def limit_of(entry: Entry) -> float:
    """The seconds after which the entry's process is ended."""
    return (KERNELS if entry.verb == "lift" else 1.5) * entry.timeout + GRACE


def load(verbs: Sequence[str]) -> None:
    """What every fork needs, once, before the first."""
    for verb in verbs:
        import_module(f"samesame.{verb}")


def asker(folder: str, store: str | None, environment: Mapping[str, str], began: float, certify: bool) -> Work:
    """In a fork, which knows nothing else afterwards: asks an entry of the suite in this folder, or checks what another
    machine says of it. `environment` are the variables of when it `began`, before any program was loaded; rules are in
    the `store` of this path, or nowhere."""

    def ask(content: dict[str, Any]) -> dict[str, Any]:
        entry, reads = Entry(**content["entry"]), Reads(began, dict(environment))
        os.chdir(folder)
        reads.watch()
        if "arrived" in content:
            try:
                return told(entry, reads, lambda: Asked(arrived(entry, reads, **content["arrived"])))
            except NotAccepted as why:
                return {"refused": str(why)}
        with _opened(store) as rules:
            how = How(rules, certify, content["drawn"])
            return told(entry, reads, lambda: VERBS[entry.verb](entry, how), how.drawn)

    return ask


def forking(folder: str, verbs: Sequence[str], store: str | None, certify: bool) -> Work:
    """In a worker, here or on another machine: asks entries of the suite in this folder, each in a fork."""
    environment, began = dict(os.environ), time.time()
    load(verbs)
    return in_forks("samesame.suite.asking:asker", (folder, store, environment, began, certify), folder)


@contextmanager
def _opened(path: str | None) -> Iterator[Store | None]:
    if path is None:
        yield None
        return
    prover, semantics = versions()
    with Store.open_or_go_without(path, prover=prover, semantics=semantics) as store:
        yield store


def told(entry: Entry, reads: Reads, ask: Callable[[], Asked], drawn: bool = False) -> dict[str, Any]:
    """The answer, its certificate where there is one, what was read for it, and its page if it is to be drawn, as
    data."""
    started = time.perf_counter()
    targets = [str(entry.options[key]) for key in ("left", "right", "job", "target") if key in entry.options]
    try:
        asked = ask()
    except SamesameError as error:
        asked = Asked(unusable(entry.verb, entry.name, str(error), places=map(place_of_target, targets)))
    answer = replace(asked.answer, name=entry.name, seconds=time.perf_counter() - started)
    form, libraries = reads.form([*entry.reads, *filter(os.path.exists, map(_file_of, targets))])
    reads.over = True                                       # drawing is ours
    page = asked.draw() if drawn and asked.draw is not None else None
    return {"answer": to_form(anchored(answer)), "reads": form, "libraries": libraries,
            "certificate": asked.certificate, "page": page}


def _file_of(target: str) -> str:
    """What a target is where it is a file or a folder by itself, as a checkpoint or a saved graph: others than Python
    read that."""
    return CHECKPOINT.sub("", target, count=1).partition("?")[0]


def anchored(answer: Answer) -> Answer:
    """The answer with paths that mean the same from any folder."""

    def anchor(place: Place) -> Place:
        return replace(place, file=os.path.abspath(place.file)) if os.path.exists(place.file) else place

    return replace(answer, findings=tuple(
        replace(finding, places=tuple(map(anchor, finding.places))) for finding in answer.findings))


def arrived(entry: Entry, reads: Reads, answer: dict[str, Any], certificate: Any) -> Answer:
    """The answer of another machine, once its certificate holds for the programs that lie here. Raises NotAccepted."""
    from samesame.capture.targets import programs_of
    from samesame.certificate.arrival import accepted, recorded

    found, given = from_form(answer), dict(entry.options)
    with programs_of([given["left"], given["right"]], given.get("inputs"), tiny=given.get("tiny", False),
                     seed=given.get("seed", 0)) as (programs, example):
        graphs = recorded(programs, example, given.get("how", "record"), given.get("ignore", ()))
        reads.over = True                                   # a solver's process is ours
        checked, trusted = accepted(certificate, found.evidence, graphs)
    lines = [f"  checked   {line}" for line in checked] + [f"  trusted   {line}" for line in trusted]
    return replace(found, report="\n".join([found.report, "", "its certificate, replayed here", *lines]))


def _check(entry: Entry, how: How) -> Asked:
    from samesame.capture.targets import programs_of
    from samesame.certificate.arrival import to_be_drawn
    from samesame.check import check

    given = dict(entry.options)
    names, inputs, tiny = [given.pop("left"), given.pop("right")], given.pop("inputs", None), given.pop("tiny", False)
    with programs_of(names, inputs, tiny=tiny, seed=given.get("seed", 0)) as ((left, right), example):
        verdict = check(left, right, example, timeout=entry.timeout, store=how.store, certify=how.certify,
                        picture=how.drawn, **given)
    verdict.left, verdict.right = names
    drawn = to_be_drawn(verdict) if how.certify else verdict
    return Asked(of_check(verdict), verdict.certificate, partial(check_html, drawn))


def _refine(entry: Entry, how: How) -> Asked:
    from samesame.budget import Run
    from samesame.refine import arguments_of, refine

    given = dict(entry.options)
    run, job, seed = Run(entry.timeout), given.pop("job"), given.get("seed", 0)
    with run.bounded():
        verdict = refine(**arguments_of(job, **given), seed=seed, run=run, store=how.store)
    verdict.left = job
    return Asked(of_refine(verdict), draw=partial(refine_html, verdict))


def _lift(entry: Entry, how: How) -> Asked:
    """One answer for all kernels and the reference."""
    from samesame.capture import load_inputs
    from samesame.lift import Settings, lift
    from samesame.report.lifted import lines

    given = dict(entry.options)
    example = load_inputs(given["inputs"]) if "inputs" in given else None
    verdict = lift(given["target"], given.get("against"), Settings(seconds=entry.timeout), inputs=example,
                   assume=given.get("assume", ()))
    parts = of_lift(verdict)
    line = "; ".join(part.headline for part in parts)
    findings = tuple(finding for part in parts for finding in part.findings)
    answer = Answer("lift", given["target"], verdict.verdict, STATES[verdict.exit_code], line,
                    "\n".join(lines(verdict)), findings=findings)
    return Asked(answer, draw=partial(lift_html, verdict))


Verb = Callable[[Entry, How], Asked]
VERBS: dict[str, Verb] = {"check": _check, "refine": _refine, "lift": _lift}
