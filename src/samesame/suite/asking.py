"""One entry asked, in a process of its own: the answer, and all that was read for it."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from samesame.evidence import SamesameError
from samesame.report.answers import (
    STATES,
    Answer,
    Place,
    of_check,
    of_lift,
    of_refine,
    place_of_target,
    to_form,
    unusable,
)
from samesame.store import Store
from samesame.suite.entries import Entry
from samesame.suite.reads import Reads

CHECKPOINT = re.compile("(hf|vllm):")
KERNELS = 20.0                              # a launch has no more of them that need all their time
GRACE = 60.0                                # seconds beyond its time limit, for loading; then its process is ended


def limit_of(entry: Entry) -> float:
    """The seconds after which the entry's process is ended."""
    return (KERNELS if entry.verb == "lift" else 1.5) * entry.timeout + GRACE


def asked(entry: Entry, folder: Path, reads: Reads, store: Store | None) -> dict[str, Any]:
    """The entry's answer and what it read, as data. For a process of its own, which knows nothing else afterwards."""
    os.chdir(folder)
    reads.watch()
    started = time.perf_counter()
    targets = [str(entry.options[key]) for key in ("left", "right", "job", "target") if key in entry.options]
    try:
        answer = VERBS[entry.verb](entry, store)
    except SamesameError as error:
        answer = unusable(entry.verb, entry.name, str(error), places=map(place_of_target, targets))
    answer = replace(answer, name=entry.name, seconds=time.perf_counter() - started)
    form, libraries = reads.form([*entry.reads, *filter(os.path.exists, map(_file_of, targets))])
    return {"answer": to_form(anchored(answer)), "reads": form, "libraries": libraries}


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


def _check(entry: Entry, store: Store | None) -> Answer:
    from samesame.capture.targets import programs_of
    from samesame.check import check

    given = dict(entry.options)
    names, inputs, tiny = [given.pop("left"), given.pop("right")], given.pop("inputs", None), given.pop("tiny", False)
    with programs_of(names, inputs, tiny=tiny, seed=given.get("seed", 0)) as ((left, right), example):
        verdict = check(left, right, example, timeout=entry.timeout, store=store, **given)
    verdict.left, verdict.right = names
    return of_check(verdict)


def _refine(entry: Entry, store: Store | None) -> Answer:
    from samesame.budget import Run
    from samesame.refine import arguments_of, refine

    given = dict(entry.options)
    run, job, seed = Run(entry.timeout), given.pop("job"), given.get("seed", 0)
    with run.bounded():
        verdict = refine(**arguments_of(job, **given), seed=seed, run=run, store=store)
    verdict.left = job
    return of_refine(verdict)


def _lift(entry: Entry, store: Store | None) -> Answer:
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
    return Answer("lift", given["target"], verdict.verdict, STATES[verdict.exit_code], line,
                  "\n".join(lines(verdict)), findings=findings)


VERBS: dict[str, Callable[[Entry, Store | None], Answer]] = {"check": _check, "refine": _refine, "lift": _lift}
