"""Many launch functions in one run, several at a time: those that are named, and all that a file has.

Each is lifted in a fork of this process, which has loaded what all of them need; a program that ends or crashes its
process costs that one launch. What comes back is data: the report's lines, the JSON, and the answers for other tools.
A record keeps it together with what was read for it, so that a run that goes on asks what has changed once more.

A launch has no certificate, so on a Ray cluster nothing is verified: what a machine there finds violated or different
is asked once more here, what it says is verified is not accepted, and what it leaves undecided stays so.
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
from samesame.report.answers import (
    FAILS,
    HOLDS,
    NOT_ACCEPTED,
    OPEN,
    STATES,
    UNUSABLE,
    Answer,
    from_form,
    not_accepted,
    of_lift,
    place_of_target,
    to_form,
    unusable,
)
from samesame.report.json import plain
from samesame.report.lifted import lines, quiet_lines
from samesame.report.words import counted, seconds_in_words
from samesame.supervised import without_answer
from samesame.versions import versions_of_packages
from samesame.work.cluster import Cluster
from samesame.work.crew import Crew, Workplace, in_forks
from samesame.work.local import Local, Work
from samesame.work.progress import Progress, Told, goes_on
from samesame.work.reads import Reads, keep, recall
from samesame.work.record import Record, open_record
from samesame.work.tasks import Done, Lost, Task

LIFTING, FORKING = "samesame.lift.many:lifting", "samesame.lift.many:forking"
ELSEWHERE = "on the cluster"
NO_CERTIFICATE = "a launch has no certificate that could be checked here; without --ray it is asked here"
KERNELS = 20.0                              # a launch has no more of them that need all their time
GRACE = 60.0                                # seconds for its host code
VERSION = 1
WORST = (1, 2, 3, 0)                        # exit codes, the one that decides first
IN_WORDS = {0: "verified", 1: "violated", 3: "undecided", 2: "could not be looked at"}


@dataclass(frozen=True, slots=True)
class Lifted:
    """What came of one launch function: its exit code, the report in lines and in short, the JSON, its answers, and
    where it was found, if not here."""

    target: str
    exit_code: int
    lines: Sequence[str]
    short: Sequence[str]
    form: Mapping[str, Any]
    answers: Sequence[Answer]
    told: str = ""

    @property
    def state(self) -> str:
        """What it counts as."""
        if self.form["verdict"] == NOT_ACCEPTED:
            return f"verified {ELSEWHERE} alone"
        return IN_WORDS[self.exit_code]


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
        counts = Counter(lifted.state for lifted in self.found)
        states = [IN_WORDS[0], f"verified {ELSEWHERE} alone", *IN_WORDS.values()]
        parts = [f"{counts[state]} {state}" for state in dict.fromkeys(states) if counts[state] or state == IN_WORDS[0]]
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
                ["", lifted.target + (f"   {lifted.told}" if lifted.told else ""),
                 *(f"  {line}".rstrip() for line in lifted.lines)]
        if self.left_out:
            without = f"not lifted, since they need arguments (--inputs): {', '.join(self.left_out)}"
            told += [without] if short else ["", without]
        return "\n".join(told)

    def to_json(self) -> dict[str, Any]:
        return {"version": VERSION, "exit_code": self.exit_code, "launches": [lifted.form for lifted in self.found],
                "left_out": self.left_out, "interrupted": self.interrupted, "seconds": self.seconds}


def lift_many(
    targets: Sequence[str], options: Mapping[str, Any], *, jobs: int | None = 1, ray: str = "",
    resume: Path | None = None, progress: Told | None = None,
) -> Many:
    """Lift every launch function that `targets` name, `jobs` at a time, here or on the Ray cluster at the address `ray`
    (None: as many as it has processors): `file.py:launch`, a file of TTIR, or `file.py` for all its functions that
    launch a kernel and need no arguments. `options` are `seconds`, `elements`, `synthesis`, `explain`, `latex` and
    `numerics`. What is done is kept in the file `resume`, from which a later call goes on; one without `ray` asks what
    was found on a cluster once more. `progress` is called at least once a second. Ctrl-C ends the run and keeps what is
    done. Raises Refused where a file cannot be imported or launches nothing, and SamesameError where the record cannot
    be used, and where a cluster does not answer."""
    demand_triton()
    started = time.monotonic()
    found = Many(targets)
    record = open_record(resume, {"record": "lift", "options": options, "versions": versions_of_packages()}, dict)
    folder, reading = os.getcwd(), resume is not None
    lifting = _Lifting(found, KERNELS * options["seconds"] + GRACE, progress, record, bool(ray))
    places: list[Workplace]
    try:
        if ray:                                             # a process that speaks with Ray is not to be forked
            given = dict(options), folder, reading
            places = [Cluster(ray, jobs, FORKING, given, environment={"OMP_NUM_THREADS": "1"}),
                      Local(FORKING, given, min(jobs or 1, os.cpu_count() or 1))]
        else:
            variables = dict(os.environ) if reading else None
            own = dict(options), folder, time.time(), variables
            places = [Local(LIFTING, own, jobs or 1, forks=True, tasks_each=1)]
        with Crew(places, tries=1) as crew:
            lifting.all(crew)
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
    limit: float
    progress: Told | None
    record: Record
    afar: bool = False
    names: dict[str, list[str]] = field(default_factory=dict)
    done: dict[str, Lifted] = field(default_factory=dict)

    def all(self, crew: Crew) -> None:
        files = [target for target in dict.fromkeys(self.many.targets) if is_whole_file(target)]
        self.names = {target: [target] for target in self.many.targets if target not in files}
        for done in crew.results(self.task(file, here=True) for file in files):
            self.read(done.task.content, done.result)
        names = [*dict.fromkeys(name for target in self.many.targets for name in self.names[target])]
        self.many.total = len(names)
        for name in names:
            if (kept := recall(self.record, _key(name))) is not None:
                lifted = _read(kept["lifted"])
                if self.afar or not lifted.told:
                    self.done[name] = lifted
        far = Progress("launches", len(names), len(self.done), len(self.done))

        def tell() -> None:
            far.done = len(self.done)
            far.under_way = [(task.name, seconds) for task, seconds in crew.under_way]
            if self.progress is not None:
                self.progress(far)

        crew.watch = tell
        for done in crew.results(self.task(name) for name in names if name not in self.done):
            crew.add(*self.answered(done))
            tell()

    def task(self, target: str, *, here: bool = False) -> Task:
        return Task(target, target, target, self.limit, here or not self.afar)

    def answered(self, done: Done) -> Iterator[Task]:
        """Keep what came of a launch; what another machine finds wrong with it is to be shown here first."""
        target, result = done.task.content, done.result
        if isinstance(result, Lost):
            self.done[target] = _read(without(target, said(result), result.printed))
            return
        form, read = result["lifted"], result["read"]
        if not done.here:
            if STATES[form["exit_code"]] == FAILS:
                yield self.task(target, here=True)
                return
            form = elsewhere(form)
        self.done[target] = _read(form)
        if read is not None and not read[0]["unseen"]:
            keep(self.record, _key(target), {"lifted": form}, *read)

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


def elsewhere(form: Mapping[str, Any]) -> dict[str, Any]:
    """What another machine says of a launch, as it counts here."""
    told = {**form, "told": ELSEWHERE}
    if STATES[form["exit_code"]] != HOLDS:
        return told
    line = f"{NOT_ACCEPTED}: verified, says a machine of the cluster, but {NO_CERTIFICATE}"
    code = next(code for code, state in STATES.items() if state == OPEN)
    answers = [to_form(not_accepted(from_form(answer), NO_CERTIFICATE)) for answer in form["answers"]]
    return {**told, "exit_code": code, "lines": [line, *form["lines"]], "short": [line], "answers": answers,
            "form": {"version": VERSION, "verdict": NOT_ACCEPTED, "target": form["target"], "why": NO_CERTIFICATE,
                     "there": form["form"]}}


def said(lost: Lost) -> str:
    return lost.why if lost.code is None else without_answer(lost.code)


# ------------------------------------------------------------------------------------------------------- inside a fork


def forking(options: Mapping[str, Any], folder: str, reading: bool) -> Work:
    """In a worker, here or on another machine: lifts launch functions, each in a fork."""
    demand_triton()
    return in_forks(LIFTING, (options, folder, time.time(), dict(os.environ) if reading else None), folder)


def lifting(options: Mapping[str, Any], folder: str, began: float, environment: Mapping[str, str] | None) -> Work:
    """In a fork: lifts a launch function, or says which ones a file has, that is named from this folder. With the
    variables of when the run `began`, it says what was read, too."""
    from samesame.kernels.host.found import launch_functions

    def work(target: str) -> dict[str, Any]:
        os.chdir(folder)
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
