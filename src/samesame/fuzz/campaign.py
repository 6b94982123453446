"""fuzz: does the compiler keep equal programs equal?

A campaign hands numbered cases to workers: a case's number, the seed and the generator say which program it is. What a
worker finds is reduced, its guilty pass is looked for, and it is kept if nothing like it was found before: each step is
a task that any worker does, and the campaign alone writes down what comes of it.
The operator of a result that was found wrong again and again is left out of most programs from then on, so that one
fault does not hide the others.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Any

from samesame.evidence import SamesameError, Shown
from samesame.fuzz.apart import CRASHED, DIED, HUNG, OUT_OF_MEMORY, SLOW
from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.corpus import Corpus, Finding
from samesame.fuzz.finding import error_of, files_of, write_finding
from samesame.fuzz.generators import GENERATORS
from samesame.fuzz.generators.written import Writer
from samesame.fuzz.learnt import learnt
from samesame.fuzz.program import decoded
from samesame.fuzz.reached import shares
from samesame.fuzz.tasks import accuses, dtypes
from samesame.fuzz.worker import CACHE, PREPARED, SURROUNDINGS, failed, workers
from samesame.report.words import counted
from samesame.versions import versions_of_packages
from samesame.work.cluster import Cluster
from samesame.work.crew import Crew, Workplace
from samesame.work.progress import Progress as Far
from samesame.work.tasks import Lost, Task

WRITTEN = "written"
FLOATS = ("float32", "float64")
WORST = ("wrong value", "wrong input after the call", "wrong shape", "wrong dtype", "wrong aliasing", CRASHED, HUNG,
         OUT_OF_MEMORY, "crash", "wrong strides", "refusal")  # fmt: skip
SAYS_NOTHING = ("invalid", "undefined", "unsteady", "not given", "wrong twin", "failed", SLOW, *DIED)
BISECTING = 180.0            # seconds for the bisector
OFTEN = 3                    # an operator found wrong so many times is left out of three programs in four
TRACED = 4                   # one case in so many tells which lines of the compiler it reached
REDUCING = 90.0              # seconds for one finding
AGAIN = 4                    # a case that does not come back is tried once more, with so many times the seconds

Told = Callable[["Progress"], None]
Result = dict[str, Any]
Asking = Generator[tuple[Result, float | None], Result, Result | None]    # yields what to ask; given the answers


@dataclass
class Settings:
    """What a campaign is; the same settings and seed make the same cases. `seconds` and `gigabytes` are the limits of
    one case; `llm` and `model` the URL of a language model and its name; `ray` the address of a cluster;
    `store` a file of learnt rules."""

    backends: tuple[str, ...] = ("inductor",)
    generators: dict[str, float] = field(default_factory=lambda: dict.fromkeys(GENERATORS, 1.0))
    seed: int = 0
    jobs: int = 1
    twins: bool = True
    minutes: float | None = None
    cases: int | None = None
    seconds: float = 60.0
    gigabytes: float = 8.0
    bisect: bool = True
    feedback: bool = True
    llm: str = ""
    model: str = ""
    ray: str = ""
    store: str = ""

    def kept(self) -> dict[str, Any]:
        """What must be the same when a campaign goes on."""
        return {"backends": list(self.backends), "generators": self.generators, "seed": self.seed, "twins": self.twins,
                "feedback": self.feedback, "store": self.store}

    def for_worker(self) -> dict[str, Any]:
        return {**self.kept(), "seconds": self.seconds, "gigabytes": self.gigabytes}

    def demand_known(self) -> None:
        """Raises SamesameError for back ends, generators and a store that are not there, or not here."""
        for name in self.backends:
            if name not in BACKENDS:
                raise SamesameError(f"there is no back end {name}; there are {', '.join(BACKENDS)}")
            if reason := BACKENDS[name].missing():
                raise SamesameError(f"the back end {name} cannot run here: {reason}")
        for name, share in self.generators.items():
            if name not in (*GENERATORS, WRITTEN):
                raise SamesameError(f"there is no generator {name}; there are {', '.join((*GENERATORS, WRITTEN))}")
            if not 0 <= share < float("inf"):
                raise SamesameError(f"the share of the generator {name} is {share}; give a number that is not negative")
        if learnt(self.store) and self.ray:
            raise SamesameError("a store lies on this machine, and --ray works on others; leave one of the two out")
        if not sum(self.generators.values()):
            raise SamesameError("all generators have a share of 0; give one of them more")
        if WRITTEN in self.generators and not (self.llm and self.model):
            raise SamesameError("the generator written needs a language model; give --llm URL and --model NAME")


@dataclass
class Progress(Shown):
    """How far the campaign of a folder is: cases by status, and what was found."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    reached: float = 0.0         # the share of the compiler's lines that were seen to run
    entered: float = 0.0         # and of the lines of those files of which any was
    far: Far = field(default_factory=lambda: Far("programs", 0))
    folder: Path = Path()

    @property
    def cases(self) -> int:
        return sum(self.statuses.values())

    @property
    def decided(self) -> int:
        """Programs of which something can be said."""
        return sum(times for status, times in self.statuses.items() if status not in SAYS_NOTHING)

    @property
    def line(self) -> str:
        """One line: programs a minute, and what was found."""
        pace = 60 * self.cases / self.seconds if self.seconds else 0.0
        return f"{counted(self.cases, 'program')}, {pace:.0f}/min, {self.found}"

    @property
    def found(self) -> str:
        """The share that said something, and findings."""
        valid = 100 * self.decided / self.cases if self.cases else 0.0
        kinds = Counter(finding.kind for finding in self.findings)
        found = ", ".join(f"{kinds[kind]} {kind}" for kind in WORST if kind in kinds)
        seen = f" {100 * self.reached:.0f} % of the compiler's lines reached," if self.reached else ""
        return f"{valid:.0f} % valid,{seen} findings: {found or 'none'}"


def fuzz(
    out: str | Path, settings: Settings | None = None, *, resume: bool = False, told: Told | None = None, **options: Any
) -> Progress:
    """Run a campaign in the folder `out` until its minutes or cases are over or Ctrl-C, and return what was found.

    `options` are fields of Settings, for those who do not want to make one. `told` is called at least once a second.
    Findings lie in `out`, a folder each. Raises SamesameError where a back end is not installed, the folder cannot be
    used, or no cluster answers.
    """
    settings = settings or Settings(**options)
    settings.demand_known()
    given = settings.for_worker()
    place: Workplace = workers(Path(out) / ".cache", given, settings.jobs)
    if settings.ray:
        place = Cluster(settings.ray, settings.jobs, PREPARED, (given,), environment=SURROUNDINGS, quiet=True,
                        scratch=CACHE)
    with Crew([place]) as crew, closing(Corpus(Path(out), settings.kept(), resume)) as corpus:
        return _Campaign(corpus, settings, told or (lambda progress: None), crew).run()


class _Campaign:
    """One run of a campaign: cases on their way through a crew, each step asked when the one before is answered."""

    def __init__(self, corpus: Corpus, settings: Settings, told: Told, crew: Crew) -> None:
        self.corpus, self.settings, self.told, self.crew = corpus, settings, told, crew
        limit = None if settings.minutes is None else 60 * settings.minutes
        self.progress = Progress(findings=corpus.findings(), folder=corpus.folder,
                                 far=Far("programs", settings.cases or 0, limit=limit))
        self.begun = time.monotonic()
        self.ends = float("inf") if limit is None else self.begun + limit
        done = corpus.done()
        self.numbers = islice((number for number in count() if number not in done), settings.cases)
        self.writer = Writer(settings.llm, settings.model, corpus.folder) if settings.llm else None
        self.writing = count()
        self.lines = set[str]()
        self.tried: Counter[str] = Counter()
        self.under_way: dict[str, Asking] = {}

    def run(self) -> Progress:
        """Cases until it is over; those under way then come to their end."""
        self.crew.watch = self._tell
        until = self.ends + self.settings.seconds + REDUCING
        try:
            for done in self.crew.results(self._tasks(), until):
                lost = isinstance(done.result, Lost)
                self._go_on(done.task, failed(done.result) if lost else done.result)
        except KeyboardInterrupt:
            pass  # what is done is written down; --resume goes on
        self.progress.seconds = time.monotonic() - self.begun
        return self.progress

    def _tell(self) -> None:
        self.progress.seconds = time.monotonic() - self.begun
        far = self.progress.far
        far.done, far.note = self.progress.cases, self.progress.found
        far.under_way = [(task.name, seconds) for task, seconds in self.crew.under_way]
        self.told(self.progress)

    def _tasks(self) -> Iterator[Task]:
        """The first step of each new case."""
        for number in self.numbers:
            if time.monotonic() > self.ends:
                return
            asking = self._through(self._case(number))
            try:
                yield self._step(str(number), asking, *next(asking))
            except StopIteration:
                continue                                                     # no program came to be asked about

    def _step(self, key: str, asking: Asking, asked: Result, seconds: float | None) -> Task:
        self.under_way[key] = asking
        name = f"program {key}" + ("" if asked["task"] == "probe" else f", {asked['task']}")
        return Task(key, {**asked, "seconds": seconds} if seconds else asked, name)

    def _go_on(self, task: Task, result: Result) -> None:
        """The next step of a case, if it has one."""
        self.lines.update(result.pop("begun", ()))
        asking = self.under_way.pop(task.key)
        try:
            self.crew.add(self._step(task.key, asking, *asking.send(result)))
        except StopIteration:
            self._tell()

    def _case(self, number: int) -> dict[str, Any]:
        names = list(self.settings.generators)
        shares = [self.settings.generators[name] for name in names]
        place = (number * 0.618033988749895) % 1 * sum(shares)  # evenly spread, and the same for every run
        generator = next(name for k, name in enumerate(names) if place < sum(shares[: k + 1]) or k == len(names) - 1)
        backends = self.settings.backends
        backend = backends[number // len(names) % len(backends)]
        traced = self.settings.feedback and number % TRACED == 0
        case = {"task": "probe", "number": number, "generator": generator, "backend": backend, "traced": traced}
        return {**case, "avoid": self._avoided() if number % 4 else [], "tried": dict(self.tried)}

    def _avoided(self) -> list[str]:
        """The operators of what was found often: the last one of each program."""
        often = (found for found in self.progress.findings if found.calls and found.times >= OFTEN)
        return sorted({found.calls[-1] for found in often})

    def _through(self, case: dict[str, Any]) -> Asking:
        """A case from its program to what is kept of it. One that does not come back is asked once more and given more
        time: a busy machine is no fault of the compiler."""
        if case["generator"] == WRITTEN:
            assert self.writer is not None
            text = self.writer.program(next(self.writing))
            if text is None:
                self._count(case, {"status": "invalid", "stage": "", "why": "the answer holds no program"}, None)
                return None
            case.update(task="written", text=text)
        result = yield case, None
        if result["status"] in DIED and accuses(result):
            result = yield case, AGAIN * self.settings.seconds
        finding = None
        if accuses(result):
            small = yield from self._reduced(case, result)
            finding = None if small is None else (yield from self._finding(_found(case, small, result["stage"])))
        self._count(case, result, finding)
        return None

    def _count(self, case: dict[str, Any], result: dict[str, Any], finding: Finding | None) -> None:
        """Write a case down."""
        if accuses(result) and finding is None:
            result = {**result, "status": "unsteady"}                        # it did not show again
        self.corpus.add(case, result, finding.number if finding else None)
        if "lines" in result:
            new = not self.lines.issuperset(result["lines"])
            self.lines.update(result["lines"])
            self.tried.update(result.get("calls", ()))
            self.tried.update({call: -self.tried[call] for call in result.get("calls", ()) if new})
            self.progress.reached, self.progress.entered = shares(self.lines)
        self.progress.statuses[result["status"]] += 1

    def _reduced(self, case: dict[str, Any], result: dict[str, Any]) -> Asking:
        """What a finding is about, as small as it gets; None where it does not show again."""
        if case["generator"] == WRITTEN:
            return result if "text" in result else {**result, "text": case["text"]}
        asked = {"task": "shrink", "program": result["program"], "backend": case["backend"], "budget": REDUCING}
        small = yield asked, None
        return small if accuses(small) else None

    def _finding(
        self, finding: Finding
    ) -> Generator[tuple[Result, float | None], Result, Finding | None]:
        """The finding, if there is none like it, with who is guilty; the one like it; None where its script, run alone,
        does not fail."""
        if known := self._known(finding):
            return known
        asked = {"task": "script", "text": files_of(finding)["script.py"], "error": error_of(finding)}
        alone = yield asked, 2 * self.settings.seconds
        if alone["status"] not in ("fails", finding.kind):
            return None
        if self.settings.bisect and finding.program and finding.kind not in DIED:
            told = yield {"task": "bisect", "program": finding.program, "backend": finding.backend}, BISECTING
            finding.guilty = told.get("guilty", {})
        if known := self._known(finding):                                    # found by another case meanwhile
            return known
        finding.number = 1 + max((other.number for other in self.progress.findings), default=0)
        self.progress.findings.append(finding)
        self.corpus.keep(finding)
        write_finding(self.corpus.folder, finding)
        return finding

    def _known(self, finding: Finding) -> Finding | None:
        """The one like it that was found before, which then was found once more."""
        known = next((other for other in self.progress.findings if other.key == finding.key), None)
        if known is not None:
            known.times += 1
            self.corpus.keep(known)
        return known


def _found(case: dict[str, Any], small: dict[str, Any], stage: str) -> Finding:
    """What is known of a finding once it is reduced."""
    program = small.get("program")           # a module that was written may show what its graph does not
    return Finding(
        number=0,
        backend=case["backend"],
        kind=small.get("kind") or small["status"],
        where=small.get("where", ""),
        detail=small.get("detail", ""),
        program=program or "",
        text=small["text"],
        calls=decoded(program).calls if program else [],
        dtypes=classes(dtypes(decoded(program))) if program else [],
        found_by=case["generator"],
        stage=stage,
        first=small.get("first", ""),
        twin=small.get("twin", ""),
        versions=versions_of_packages(),
    )


def classes(dtypes: list[str]) -> list[str]:
    """Dtypes as coarse as findings are told apart by."""
    known = {"bool": "bool", "float16": "short float", "bfloat16": "short float"} | dict.fromkeys(FLOATS, "float")
    return sorted({known.get(kind, "complex" if "complex" in kind else "integer") for kind in dtypes})


def table(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Findings that may well be one fault together, the shortest first; the worst fault first."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in sorted(findings, key=lambda f: len(f.text)):
        groups.setdefault(finding.group, []).append(finding)

    def rank(group: list[Finding]) -> tuple[int, int]:
        kind = group[0].kind
        return WORST.index(kind) if kind in WORST else len(WORST), -sum(finding.times for finding in group)

    return sorted(groups.values(), key=rank)


def summary(findings: Sequence[Finding]) -> str:
    """How many faults, and how many findings show them."""
    return f"{counted(len(table(findings)), 'fault')}, shown by {counted(len(findings), 'program')}"


def told(result: dict[str, Any]) -> str:
    """What a case that is no agreement says of itself."""
    words = (result.get("kind") or result["status"], result.get("where"), result.get("detail"), result.get("why"))
    return " ".join(filter(None, words))
