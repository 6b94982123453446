"""Many launch functions in one run, several at a time: those that are named, and all that a file has.

Each is lifted in a fork of this process, which has loaded what all of them need; a program that ends or crashes its
process costs that one launch. What comes back is data: the report's lines, the JSON, and the answers for other tools.
A record keeps it together with what was read for it, so that a run that goes on asks what has changed once more.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from samesame.evidence import Refused, SamesameError
from samesame.kernels.kernel import Settings
from samesame.kernels.loops.carried import Means
from samesame.lift.program import demand_triton, lift
from samesame.report.answers import STATES, UNUSABLE, Answer, from_form, of_lift, place_of_target, to_form, unusable
from samesame.report.json import plain
from samesame.report.lifted import lines, quiet_lines
from samesame.report.words import counted, seconds_in_words
from samesame.supervised import without_answer
from samesame.versions import versions_of_packages
from samesame.work.crew import Crew
from samesame.work.local import Local, Work
from samesame.work.progress import Progress, Told, goes_on
from samesame.work.reads import Reads, keep, recall
from samesame.work.record import Record, open_record
from samesame.work.tasks import Lost, Task

LIFTING = "samesame.lift.many:lifting"
KERNELS = 20.0                              # a launch has no more of them that need all their time
GRACE = 60.0                                # seconds for its host code
VERSION = 1
WORST = (1, 2, 3, 0)                        # exit codes, the one that decides first


@dataclass(frozen=True, slots=True)
class Lifted:
    """What came of one launch function: its exit code, the report in lines and in short, the JSON, and its answers."""

    target: str
    exit_code: int
    lines: Sequence[str]
    short: Sequence[str]
    form: Mapping[str, Any]
    answers: Sequence[Answer]


@dataclass(slots=True)
class Many:
    """All of them, in the order in which they were named; `left_out` are launch functions that need arguments."""

    targets: Sequence[str]
    found: list[Lifted] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    total: int = 0
    seconds: float = 0.0
    interrupted: bool = False
    goes_on: str = ""

    @property
    def exit_code(self) -> int:
        """1 where a kernel is violated, else 2 where one could not be looked at, else 3 where one is undecided or was
        not reached."""
        codes = {lifted.exit_code for lifted in self.found} | ({3} if len(self.found) < self.total else set())
        return next((code for code in WORST if code in codes), 0)

    @property
    def headline(self) -> str:
        counts = Counter(lifted.exit_code for lifted in self.found)
        words = {0: "verified", 1: "violated", 3: "undecided", 2: "could not be looked at"}
        parts = [f"{counts[code]} {word}" for code, word in words.items() if counts[code] or code == 0]
        parts += [f"{self.total - len(self.found)} not reached"] if len(self.found) < self.total else []
        return f"{counted(self.total, 'launch function')}: {', '.join(parts)}   {seconds_in_words(self.seconds)} s"

    @property
    def answers(self) -> list[Answer]:
        return [answer for lifted in self.found for answer in lifted.answers]

    def text(self, *, short: bool = False) -> str:
        """The report: the headline, then each launch."""
        told = [self.headline]
        for lifted in self.found:
            told += [f"{lifted.target}   {line}" for line in lifted.short] if short else \
                ["", lifted.target, *(f"  {line}".rstrip() for line in lifted.lines)]
        if self.left_out:
            without = f"not lifted, since they need arguments (--inputs): {', '.join(self.left_out)}"
            told += [without] if short else ["", without]
        return "\n".join(told)

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, "exit_code": self.exit_code, "launches": [lifted.form for lifted in self.found],
                "left_out": self.left_out, "interrupted": self.interrupted, "seconds": self.seconds}


def lift_many(
    targets: Sequence[str], options: Mapping[str, Any], *, jobs: int = 1, resume: Path | None = None,
    progress: Told | None = None,
) -> Many:
    """Lift every launch function that `targets` name, `jobs` at a time: `file.py:launch`, a file of TTIR, or `file.py`
    for all its functions that launch a kernel and need no arguments. `options` are `seconds`, `elements`, `synthesis`,
    `explain`, `latex` and `numerics`. What is done is kept in the file `resume`, from which a later call goes on.
    `progress` is called at least once a second. Ctrl-C ends the run and keeps what is done. Raises Refused where a file
    cannot be imported or launches nothing, and SamesameError where the record cannot be used."""
    demand_triton()
    started = time.monotonic()
    found = Many(targets)
    record = open_record(resume, {"record": "lift", "options": options, "versions": versions_of_packages()}, dict)
    given = dict(options), time.time(), dict(os.environ) if resume else None
    with Crew([Local(LIFTING, given, jobs, forks=True, tasks_each=1)], tries=1) as crew:
        lifting = _Lifting(found, crew, KERNELS * options["seconds"] + GRACE, progress, record)
        try:
            lifting.all()
        except KeyboardInterrupt:
            found.interrupted = True
        finally:
            record.close()
    found.goes_on = goes_on(len(lifting.done), found.total, "launches", str(resume or ""))
    found.found = [lifted for target in targets for lifted in lifting.under(target)]
    found.seconds = time.monotonic() - started
    return found


def is_whole_file(target: str) -> bool:
    """Does it stand for all launch functions of a file?"""
    return target.endswith(".py")


@dataclass(slots=True)
class _Lifting:
    """Targets on their way through a crew; a file is first asked which functions it has."""

    many: Many
    crew: Crew
    limit: float
    progress: Told | None
    record: Record
    names: dict[str, list[str]] = field(default_factory=dict)
    done: dict[str, Lifted] = field(default_factory=dict)

    def all(self) -> None:
        files = [target for target in dict.fromkeys(self.many.targets) if is_whole_file(target)]
        self.names = {target: [target] for target in self.many.targets if target not in files}
        for done in self.crew.results(self.task(file) for file in files):
            self.read(done.task.content, done.result)
        names = [*dict.fromkeys(name for target in self.many.targets for name in self.names[target])]
        self.many.total = len(names)
        for name in names:
            if (kept := recall(self.record, _key(name))) is not None:
                self.done[name] = _read(kept["lifted"])
        far = Progress("launches", len(names), len(self.done), len(self.done))

        def tell() -> None:
            far.done = len(self.done)
            far.under_way = [(task.name, seconds) for task, seconds in self.crew.under_way]
            if self.progress is not None:
                self.progress(far)

        self.crew.watch = tell
        for done in self.crew.results(self.task(name) for name in names if name not in self.done):
            target, result = done.task.content, done.result
            if isinstance(result, Lost):
                self.done[target] = _read(without(target, said(result), result.printed))
            else:
                self.done[target] = _read(result["lifted"])
                if (read := result["read"]) is not None and not read[0]["unseen"]:
                    keep(self.record, _key(target), {"lifted": result["lifted"]}, *read)
            tell()

    def task(self, target: str) -> Task:
        return Task(target, target, target, self.limit)

    def read(self, file: str, result: Any) -> None:
        """The launch functions that a file has. Raises Refused where there are none."""
        if isinstance(result, Lost):
            raise Refused(f"{file}: {said(result)}")
        if "names" not in result:
            raise Refused(result["lifted"]["form"]["why"])
        names, left_out = ([f"{file}:{name}" for name in result[key]] for key in ("names", "left_out"))
        if not names:
            hint = f"; these launch some, and need arguments: {', '.join(left_out)}" if left_out else ""
            raise Refused(f"{file} has no function that launches a kernel and needs no arguments{hint}")
        self.names[file] = names
        self.many.left_out += left_out

    def under(self, target: str) -> Iterator[Lifted]:
        """What came of a target, or of all that a file has."""
        yield from (self.done.pop(name) for name in self.names.get(target, ()) if name in self.done)


def _key(target: str) -> str:
    """Of a launch function, from whichever folder it is named."""
    return os.path.abspath(target)


def _read(form: Mapping[str, Any]) -> Lifted:
    """What `lifted` wrote."""
    return Lifted(**{**form, "answers": [from_form(answer) for answer in form["answers"]]})


def said(lost: Lost) -> str:
    return lost.why if lost.code is None else without_answer(lost.code)


# ------------------------------------------------------------------------------------------------------- inside a fork


def lifting(options: Mapping[str, Any], began: float, environment: Mapping[str, str] | None) -> Work:
    """In a fork: lifts a launch function, or says which ones a file has. With the variables of when the run `began`, it
    says what was read, too."""
    from samesame.kernels.host.found import launch_functions

    def work(target: str) -> dict[str, Any]:
        reads = None if environment is None else Reads(began, dict(environment))
        if reads is not None:
            reads.watch()
        try:
            if is_whole_file(target):
                names, left_out = launch_functions(target)
                return {"names": names, "left_out": left_out}
            found = lifted(target, options)
        except SamesameError as error:
            found = without(target, str(error))
        return {"lifted": found, "read": reads and reads.form([target.rpartition(":")[0] or target])}

    return work


def lifted(target: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What came of a launch function, as data."""
    means = Means(synthesis=options["synthesis"])
    settings = Settings(seconds=options["seconds"], elements=options["elements"], explain=options["explain"],
                        means=means)
    verdict = lift(target, None, settings, numerics=options["numerics"])
    told = lines(verdict, explain=options["explain"], latex=options["latex"])
    return {"target": target, "exit_code": verdict.exit_code, "lines": [*told], "short": [*quiet_lines(verdict)],
            "form": plain(verdict.to_json()), "answers": [to_form(answer) for answer in of_lift(verdict)]}


def without(target: str, why: str, printed: str = "") -> dict[str, Any]:
    """The same of one that could not be looked at."""
    answer = unusable("lift", target, why, places=[place_of_target(target)])
    code = next(code for code, state in STATES.items() if state == UNUSABLE)
    return {"target": target, "exit_code": code, "lines": [why, *printed.splitlines()], "short": [why],
            "form": {"version": VERSION, "verdict": UNUSABLE, "target": target, "why": why},
            "answers": [to_form(answer)]}
