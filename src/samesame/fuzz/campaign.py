"""fuzz: does the compiler keep equal programs equal?

A campaign hands numbered cases to worker processes: a case's number, the seed and the generator say which program it
is. What a worker finds is reduced, its guilty pass is looked for, and it is kept if nothing like it was found before.
The operators of a wrong result are avoided from then on, so that one fault does not hide the others.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from samesame.evidence import SamesameError
from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.corpus import Corpus, Finding
from samesame.fuzz.finding import write_finding
from samesame.fuzz.generators import GENERATORS
from samesame.fuzz.generators.written import Writer
from samesame.fuzz.own import loaded, seed_program
from samesame.fuzz.pool import Worker
from samesame.fuzz.program import decoded, encoded, steps_in
from samesame.fuzz.tasks import accuses
from samesame.fuzz.worker import CRASHED, DIED, HUNG, OUT_OF_MEMORY
from samesame.versions import versions_of_packages

WRITTEN = "written"
WORST = ("wrong value", "wrong input after the call", "wrong shape", "wrong dtype", "wrong aliasing", CRASHED, HUNG,
         OUT_OF_MEMORY, "crash", "wrong strides", "refusal")  # fmt: skip
AVOIDED = ("wrong value", "wrong input after the call", "wrong strides", "crash", "refusal")
SAYS_NOTHING = ("invalid", "undefined", "unsteady", "not given", "wrong twin", "failed", *DIED)
TWINS = 12                   # of a program of one's own …
TWINS_UNTIL = 100.0          # … none of which is begun after so many seconds
BISECTING = 180.0            # seconds for the bisector
REDUCING = 90.0              # seconds for one finding
AGAIN = 4                    # a case that does not come back is tried once more, with so many times the seconds

Told = Callable[["Progress"], None]


@dataclass
class Settings:
    """What a campaign is; the same settings and seed make the same cases. `seconds` and `gigabytes` are the limits of
    one case; `llm` and `model` the URL of a language model and its name."""

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
    llm: str = ""
    model: str = ""

    def kept(self) -> dict[str, Any]:
        """What must be the same when a campaign goes on."""
        return {"backends": list(self.backends), "generators": self.generators, "seed": self.seed, "twins": self.twins}

    def for_worker(self) -> dict[str, Any]:
        return {**self.kept(), "seconds": self.seconds, "gigabytes": self.gigabytes}

    def demand_known(self) -> None:
        """Raises SamesameError for back ends and generators that are not there, or not here."""
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
        if not sum(self.generators.values()):
            raise SamesameError("all generators have a share of 0; give one of them more")
        if WRITTEN in self.generators and not (self.llm and self.model):
            raise SamesameError("the generator written needs a language model; give --llm URL and --model NAME")


@dataclass
class Progress:
    """How far a campaign is: cases by status, and what was found."""

    statuses: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)

    @property
    def cases(self) -> int:
        return sum(self.statuses.values())

    @property
    def decided(self) -> int:
        """Programs of which something can be said."""
        return sum(times for status, times in self.statuses.items() if status not in SAYS_NOTHING)

    @property
    def line(self) -> str:
        """One line: programs a minute, the share that said something, findings."""
        pace = 60 * self.cases / self.seconds if self.seconds else 0.0
        valid = 100 * self.decided / self.cases if self.cases else 0.0
        kinds = Counter(finding.kind for finding in self.findings)
        found = ", ".join(f"{kinds[kind]} {kind}" for kind in WORST if kind in kinds)
        return f"{self.cases} programs, {pace:.0f}/min, {valid:.0f} % valid, findings: {found or 'none'}"


def fuzz(
    out: str | Path, settings: Settings | None = None, *, resume: bool = False, told: Told | None = None, **options: Any
) -> Progress:
    """Run a campaign in the folder `out` until its minutes or cases are over or Ctrl-C, and return what was found.

    `options` are fields of Settings, for those who do not want to make one. `told` is called after each case. Findings
    lie in `out`, a folder each. Raises SamesameError where a back end is not installed or the folder cannot be used.
    """
    settings = settings or Settings(**options)
    settings.demand_known()
    corpus = Corpus(Path(out), settings.kept(), resume)
    try:
        return _Campaign(corpus, settings, told or (lambda progress: None)).run()
    finally:
        corpus.close()


class _Campaign:
    """One run of a campaign: threads that feed workers, and what they share."""

    def __init__(self, corpus: Corpus, settings: Settings, told: Told) -> None:
        self.corpus, self.settings, self.told = corpus, settings, told
        self.progress = Progress(findings=corpus.findings())
        self.begun = time.monotonic()
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.failures: queue.Queue[BaseException] = queue.Queue()
        done = corpus.done()
        self.numbers = islice((number for number in count() if number not in done), settings.cases)
        self.writer = Writer(settings.llm, settings.model, corpus.folder) if settings.llm else None
        self.writing = count()

    def run(self) -> Progress:
        threads = [threading.Thread(target=self._feed, args=(k,), daemon=True) for k in range(self.settings.jobs)]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads) and not self._late():
                time.sleep(0.2)
        except KeyboardInterrupt:
            pass  # what is done is written down; --resume goes on
        self.over.set()
        for thread in threads:
            thread.join(self.settings.seconds + REDUCING)
        if not self.failures.empty():
            raise self.failures.get()
        self.progress.seconds = time.monotonic() - self.begun
        return self.progress

    def _late(self) -> bool:
        minutes = self.settings.minutes
        return minutes is not None and time.monotonic() - self.begun > 60 * minutes

    def _feed(self, worker_number: int) -> None:
        """Give cases to one worker until it is over."""
        try:
            worker = Worker(self.corpus.folder / f".cache{worker_number}", self.settings.for_worker())
            try:
                while not self.over.is_set():
                    with self.lock:
                        number = next(self.numbers, None)
                        case = None if number is None else self._case(number)
                    if case is None:
                        return
                    result = self._asked(case, worker)
                    finding = self._finding(case, result, worker) if accuses(result) else None
                    with self.lock:
                        self._count(case, result, finding)
            finally:
                worker.close()
        except BaseException as error:
            self.failures.put(error)
            self.over.set()

    def _case(self, number: int) -> dict[str, Any]:
        names = list(self.settings.generators)
        shares = [self.settings.generators[name] for name in names]
        place = (number * 0.618033988749895) % 1 * sum(shares)  # evenly spread, and the same for every run
        generator = next(name for k, name in enumerate(names) if place < sum(shares[: k + 1]) or k == len(names) - 1)
        backends = self.settings.backends
        backend = backends[number // len(names) % len(backends)]
        return {"task": "probe", "number": number, "generator": generator, "backend": backend, "avoid": self._avoided()}

    def _avoided(self) -> list[str]:
        """The operators of wrong results that were found: the last one of each program."""
        found = (finding.calls[-1] for finding in self.progress.findings if finding.calls and finding.kind in AVOIDED)
        return sorted(set(found))

    def _asked(self, case: dict[str, Any], worker: Worker) -> dict[str, Any]:
        """The result of a case. One that does not come back is asked once more and given more time: a busy machine is
        no fault of the compiler."""
        if case["generator"] == WRITTEN:
            assert self.writer is not None
            text = self.writer.program(next(self.writing))
            if text is None:
                return {"status": "invalid", "stage": "", "why": "the answer holds no program"}
            case.update(task="written", text=text)
        result = worker.ask(case)
        if result["status"] in DIED and accuses(result):
            result = worker.ask(case, AGAIN * self.settings.seconds)
        return result

    def _count(self, case: dict[str, Any], result: dict[str, Any], finding: Finding | None) -> None:
        """Write a case down, and tell how far the campaign is."""
        if accuses(result) and finding is None:
            result = {**result, "status": "unsteady"}                        # it did not show again
        self.corpus.add(case, result, finding.number if finding else None)
        self.progress.statuses[result["status"]] += 1
        self.progress.seconds = time.monotonic() - self.begun
        self.told(self.progress)

    def _finding(self, case: dict[str, Any], result: dict[str, Any], worker: Worker) -> Finding | None:
        """Reduce, tell who is guilty, and keep it if there is none like it."""
        backend = case["backend"]
        small = self._reduced(case, result, worker)
        if small is None:
            return None
        program = small.get("program")           # a module that was written may show what its graph does not
        finding = Finding(
            number=0,
            backend=backend,
            kind=small.get("kind") or small["status"],
            where=small.get("where", ""),
            detail=small.get("detail", ""),
            program=program or "",
            text=small["text"],
            calls=[step.call for step in steps_in(decoded(program).steps)] if program else [],
            dtypes=dtypes(program) if program else [],
            found_by=case["generator"],
            stage=result["stage"],
            first=small.get("first", ""),
            twin=small.get("twin", ""),
            versions=versions_of_packages(),
        )
        if self.settings.bisect and program and finding.kind not in DIED:
            told = worker.ask({"task": "bisect", "program": program, "backend": backend}, BISECTING)
            finding.guilty = told.get("guilty", {})
        with self.lock:
            return self._kept(finding)

    def _reduced(self, case: dict[str, Any], result: dict[str, Any], worker: Worker) -> dict[str, Any] | None:
        """What a finding is about, as small as it gets; None where it does not show again."""
        if case["generator"] == WRITTEN:
            return result if "text" in result else {**result, "text": case["text"]}
        program = result.get("program") or worker.ask({**case, "task": "generate", "stage": result["stage"]})["program"]
        asked = {"task": "shrink", "program": program, "backend": case["backend"], "budget": REDUCING}
        small = worker.ask(asked)
        return small if accuses(small) else None

    def _kept(self, finding: Finding) -> Finding:
        """The finding with a number; one like it that was there before, with its count raised."""
        known = next((other for other in self.progress.findings if other.key == finding.key), None)
        if known is not None:
            known.times += 1
            self.corpus.keep(known)
            return known
        finding.number = 1 + max((other.number for other in self.progress.findings), default=0)
        self.progress.findings.append(finding)
        self.corpus.keep(finding)
        write_finding(self.corpus.folder, finding)
        return finding


def dtypes(program: str) -> list[str]:
    """The classes of dtype among a program's inputs."""
    kinds = {str(tensor.dtype).removeprefix("torch.") for tensor in decoded(program).make_inputs()}
    classes = {"bool": "bool", "float16": "short float", "bfloat16": "short float", "float32": "float"}
    classes["float64"] = "float"
    return sorted({classes.get(kind, "complex" if "complex" in kind else "integer") for kind in kinds})


def table(findings: Sequence[Finding]) -> list[Finding]:
    """Findings, the worst first."""
    return sorted(findings, key=lambda f: (WORST.index(f.kind) if f.kind in WORST else len(WORST), -f.times))


def told(result: dict[str, Any]) -> str:
    """What a case that is no agreement says of itself."""
    words = (result.get("kind") or result["status"], result.get("where"), result.get("detail"), result.get("why"))
    return " ".join(filter(None, words))


# ------------------------------------------------------------------------------------------ one program, or one finding

RIGHTLY = "compiled rightly"
WRONGLY = "not compiled rightly"
UNDECIDED = "undecided"


@dataclass(frozen=True)
class OwnResult:
    """What was found of a program of one's own: the verdict, what it rests on in words, how many twins agreed and by
    which rewrites, how many said nothing."""

    verdict: str
    why: str
    twins: int
    rewrites: tuple[str, ...]
    silent: int
    seconds: float
    text: str = ""               # the program that is compiled wrongly, where it is a twin

    @property
    def exit_code(self) -> int:
        return {RIGHTLY: 0, WRONGLY: 1}.get(self.verdict, 3)


def fuzz_own(target: str, inputs: str, settings: Settings, twins: int = TWINS) -> OwnResult:
    """Is the user's program compiled rightly, and are its twins? Raises Refused where it does not run eagerly."""
    settings.demand_known()
    begun = time.monotonic()
    backend = settings.backends[0]
    with TemporaryDirectory() as folder:
        seed = encoded(seed_program(loaded(target, inputs), Path(folder)))
        worker = Worker(Path(folder) / "cache", settings.for_worker())
        try:
            asked = {"task": "own", "target": target, "inputs": inputs, "backend": backend}
            first = worker.ask(asked, AGAIN * settings.seconds)
            results = list(_twins_judged(worker, seed, backend, settings, twins)) if first["status"] == "agrees" else []
        finally:
            worker.close()
    accused = next((result for result in (first, *results) if accuses(result)), None)
    agreed = [result for result in results if result["status"] == "agrees"]
    rewrites = tuple(dict.fromkeys(name for result in agreed for name in result["rewrites"]))
    verdict = WRONGLY if accused else RIGHTLY if first["status"] == "agrees" else UNDECIDED
    why = told(accused or first) if verdict != RIGHTLY else ""
    silent = sum(result["status"] not in ("agrees", "no twin") and not accuses(result) for result in results)
    text = (accused or {}).get("text", "")
    return OwnResult(verdict, why, len(agreed), rewrites, silent, time.monotonic() - begun, text)


def _twins_judged(
    worker: Worker, seed: str, backend: str, settings: Settings, twins: int
) -> Iterator[dict[str, Any]]:
    """The results of twins, up to the first that accuses the compiler."""
    until = time.monotonic() + TWINS_UNTIL
    for number in range(settings.seed, settings.seed + twins if settings.twins else settings.seed):
        asked = {"task": "own twin", "program": seed, "backend": backend, "number": number}
        result = worker.ask(asked, AGAIN * settings.seconds)
        yield result
        if accuses(result) or time.monotonic() > until:
            return


def replay(finding: Finding) -> list[tuple[str, dict[str, Any]]]:
    """A finding again under its back end and those of its family: what each does."""
    family = BACKENDS[finding.backend].family
    names = ["eager", "aot_eager", "aot_eager_decomp_partition", finding.backend]
    names += [name for name, other in BACKENDS.items() if other.family == family and name != "aotinductor"]
    settings = Settings(backends=(finding.backend,))
    case: dict[str, Any] = {"task": "rejudge", "program": finding.program}
    if not finding.program:
        case = {"task": "written", "text": finding.text}
    with TemporaryDirectory() as folder:
        worker = Worker(Path(folder) / "cache", settings.for_worker())
        try:
            return [(name, worker.ask({**case, "backend": name}, 120.0)) for name in dict.fromkeys(names)]
        finally:
            worker.close()
