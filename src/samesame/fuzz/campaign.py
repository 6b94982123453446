"""fuzz: does the compiler keep equal programs equal?

A campaign hands numbered cases to worker processes: a case's number, the seed and the generator say which program it
is. What a worker finds is reduced, its guilty pass is looked for, and it is kept if nothing like it was found before.
The operators of a wrong result are avoided from then on, so that one fault does not hide the others.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from samesame.evidence import SamesameError
from samesame.fuzz.backends import BACKENDS
from samesame.fuzz.corpus import Corpus, Finding
from samesame.fuzz.encode import decoded, encoded
from samesame.fuzz.finding import write_finding
from samesame.fuzz.generators import GENERATORS
from samesame.fuzz.generators.written import Writer
from samesame.fuzz.own import loaded, seed_program
from samesame.fuzz.program import steps_in
from samesame.versions import versions_of_packages

WORST = (
    "wrong value",
    "wrong input after the call",
    "wrong shape",
    "wrong dtype",
    "wrong aliasing",
    "crashed",
    "hung",
    "out of memory",
    "crash",
    "wrong strides",
)
ACCUSED = ("found", "crashed", "hung", "out of memory")
BISECTING = 180.0            # for the bisector
REDUCING = 90.0  # seconds for one finding
SECONDS = 60.0  # for one case
GIGABYTES = 8.0

Told = Callable[["Progress"], None]


@dataclass
class Settings:
    """What a campaign is; the same settings and seed make the same cases."""

    backends: tuple[str, ...] = ("inductor",)
    generators: dict[str, float] = field(default_factory=lambda: {name: 1.0 for name in GENERATORS})
    seed: int = 0
    jobs: int = 1
    twins: bool = True
    minutes: float | None = None
    cases: int | None = None
    seconds: float = SECONDS
    gigabytes: float = GIGABYTES
    bisect: bool = True
    llm: str = ""                                # the URL of a language model, and its name
    model: str = ""

    def kept(self) -> dict[str, Any]:
        """What must be the same when a campaign goes on."""
        return {"backends": list(self.backends), "generators": self.generators, "seed": self.seed, "twins": self.twins}


@dataclass(frozen=True)
class OwnResult:
    """What was found of a program of one's own, and how many of its twins agreed, by which rewrites."""

    verdict: str  # compiled rightly, or what is wrong
    twins: int
    rewrites: tuple[str, ...]
    finding: Finding | None
    seconds: float

    @property
    def exit_code(self) -> int:
        return 0 if self.verdict == RIGHTLY else 1


RIGHTLY = "compiled rightly"


def fuzz_own(target: str, inputs: str, folder: Path, settings: Settings, twins: int = 12) -> OwnResult:
    """Is the user's program compiled rightly, and are its twins? Raises Refused where it does not run eagerly."""
    demand_known(settings)
    begun = time.monotonic()
    backend = settings.backends[0]
    seed = encoded(seed_program(loaded(target, inputs), folder))
    worker = Worker(folder / ".cache0", settings)
    rewrites: dict[str, None] = {}
    agreed = 0
    try:
        result = worker.ask({"task": "own", "target": target, "inputs": inputs, "backend": backend})
        for number in range(twins):
            if result["status"] not in ("agrees", "no twin"):
                break
            result = worker.ask({"task": "own twin", "program": seed, "backend": backend, "number": number})
            agreed += result["status"] == "agrees"
            rewrites |= dict.fromkeys(result.get("rewrites", ()))
    finally:
        worker.close()
    verdict = (
        RIGHTLY
        if result["status"] in ("agrees", "no twin")
        else f"{result.get('kind') or result['status']}: {told(result)}"
    )
    return OwnResult(verdict, agreed, tuple(rewrites), None, time.monotonic() - begun)


def told(result: dict[str, Any]) -> str:
    """What a case that is no agreement says of itself."""
    return " ".join(filter(None, (result.get("where"), result.get("detail"), result.get("why"))))


@dataclass
class Progress:
    """How far a campaign is."""

    cases: int = 0
    agreed: int = 0
    dropped: int = 0
    wrong_twins: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)

    @property
    def line(self) -> str:
        """One line: programs a minute, the share that said something, findings."""
        pace = 60 * self.cases / self.seconds if self.seconds else 0.0
        valid = 100 * (self.cases - self.dropped) / self.cases if self.cases else 0.0
        kinds = ", ".join(
            f"{sum(f.kind == kind for f in self.findings)} {kind}"
            for kind in WORST
            if any(f.kind == kind for f in self.findings)
        )
        return f"{self.cases} programs, {pace:.0f}/min, {valid:.0f} % valid, findings: {kinds or 'none'}"


def fuzz(out: Path, settings: Settings | None = None, *, resume: bool = False, told: Told | None = None) -> Progress:
    """Run a campaign in the folder `out` until its minutes or cases are over or Ctrl-C, and return what was found.

    Raises SamesameError where a back end is not installed or the folder cannot be used. Findings lie in `out`, a folder
    each.
    """
    settings = settings or Settings()
    demand_known(settings)
    corpus = Corpus(out, settings.kept(), resume)
    try:
        return _Campaign(corpus, settings, told or (lambda progress: None)).run()
    finally:
        corpus.close()


def demand_known(settings: Settings) -> None:
    """Raises SamesameError for back ends and generators that are not there, or not here."""
    for name in settings.backends:
        if name not in BACKENDS:
            raise SamesameError(f"there is no back end {name}; there are {', '.join(BACKENDS)}")
        if reason := BACKENDS[name].missing():
            raise SamesameError(f"the back end {name} cannot run here: {reason}")
    if WRITTEN in settings.generators and not (settings.llm and settings.model):
        raise SamesameError("the generator written needs a language model; give --llm URL and --model NAME")
    for name in settings.generators:
        if name not in (*GENERATORS, WRITTEN):
            raise SamesameError(f"there is no generator {name}; there are {', '.join(GENERATORS)}")


class _Campaign:
    """One run of a campaign: threads that feed workers, and what they share."""

    def __init__(self, corpus: Corpus, settings: Settings, told: Told) -> None:
        self.corpus, self.settings, self.told = corpus, settings, told
        self.progress = Progress(findings=corpus.findings())
        self.begun = time.monotonic()
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.failures: queue.Queue[BaseException] = queue.Queue()
        self.numbers = self._numbers(corpus.next_number())
        self.writer = Writer(settings.llm, settings.model, corpus.folder) if settings.llm else None
        self.writing = 0

    def _numbers(self, first: int) -> Iterator[int]:
        last = None if self.settings.cases is None else first + self.settings.cases
        number = first
        while last is None or number < last:
            yield number
            number += 1

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
            worker = Worker(self.corpus.folder / f".cache{worker_number}", self.settings)
            try:
                while not self.over.is_set():
                    with self.lock:
                        number = next(self.numbers, None)
                        case = None if number is None else self._case(number)
                    if case is None:
                        return
                    if case["generator"] == WRITTEN and not self._wrote(case):
                        continue
                    self._done(case, worker.ask(case), worker)
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

    def _wrote(self, case: dict[str, Any]) -> bool:
        """Ask the model for the case's program; an answer without one counts as invalid."""
        assert self.writer is not None
        with self.lock:
            number, self.writing = self.writing, self.writing + 1
        text = self.writer.program(number)
        if text is None:
            with self.lock:
                self._count(case, {"status": "invalid", "why": "the answer holds no program"}, None)
            return False
        case.update(task="written", text=text)
        return True

    def _avoided(self) -> list[str]:
        """The operators of wrong results that were found: the last one of each program."""
        return sorted(
            {finding.calls[-1] for finding in self.progress.findings if finding.calls and finding.kind in AVOIDED}
        )

    def _done(self, case: dict[str, Any], result: dict[str, Any], worker: Worker) -> None:
        finding = self._finding(case, result, worker) if result["status"] in ACCUSED else None
        with self.lock:
            self._count(case, result, finding)

    def _count(self, case: dict[str, Any], result: dict[str, Any], finding: Finding | None) -> None:
        """Write a case down, and tell how far the campaign is."""
        self.corpus.add(case["number"], case, result, finding.number if finding else None)
        progress = self.progress
        progress.cases += 1
        progress.agreed += result["status"] == "agrees"
        progress.wrong_twins += result["status"] == "wrong twin"
        progress.dropped += result["status"] in ("invalid", "undefined", "unsteady", "not given")
        progress.seconds = time.monotonic() - self.begun
        self.told(progress)

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
            program=program or {},
            text=small["text"],
            calls=[step.call for step in steps_in(decoded(program).steps)] if program else [],
            dtypes=dtypes(program) if program else [],
            dynamic=backend.endswith("dynamic"),
            found_by=case["generator"],
            stage=result.get("stage", ""),
            versions=versions_of_packages(),
        )
        if self.settings.bisect and program:
            told = worker.ask({"task": "bisect", "program": program, "backend": backend}, BISECTING)
            finding.guilty = told.get("guilty", {})
        with self.lock:
            return self._kept(finding)

    def _reduced(self, case: dict[str, Any], result: dict[str, Any], worker: Worker) -> dict[str, Any] | None:
        """What a finding is about, as small as it gets; None where it does not show again."""
        if result["status"] != "found":          # it did not come back: which program was it?
            if case["generator"] == WRITTEN:
                return {**result, "text": case["text"]}
            return {**worker.ask({**case, "task": "generate"}), **result}
        if "program" not in result:
            return result
        case = {"task": "shrink", "program": result["program"], "backend": case["backend"], "kind": result["kind"]}
        small = worker.ask({**case, "budget": REDUCING}, REDUCING + 60)
        return small if small["status"] == "found" else None

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


WRITTEN = "written"
AVOIDED = ("wrong value", "wrong input after the call", "wrong strides", "crash")


def dtypes(program: dict[str, Any]) -> list[str]:
    """The classes of dtype among a program's inputs."""
    kinds = {str(tensor.dtype).removeprefix("torch.") for tensor in decoded(program).make_inputs()}
    classes = {
        "bool": "bool",
        "float16": "short float",
        "bfloat16": "short float",
        "float32": "float",
        "float64": "float",
    }
    return sorted({classes.get(kind, "complex" if "complex" in kind else "integer") for kind in kinds})


class Worker:
    """A worker process: cases in, results out. One that dies is started again."""

    def __init__(self, cache: Path, settings: Settings) -> None:
        self.settings = {
            "cache": str(cache.absolute()),
            "backends": list(settings.backends),
            "seconds": settings.seconds,
            "gigabytes": settings.gigabytes,
            "seed": settings.seed,
            "twins": settings.twins,
        }
        self.process = self._started()

    def _started(self) -> subprocess.Popen[str]:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(
            [sys.executable, "-m", "samesame.fuzz.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
            start_new_session=True,  # Ctrl-C is the campaign's to answer
        )
        self._say(process, self.settings)
        if not process.stdout or not process.stdout.readline():
            raise SamesameError("a worker process ended as it began; run with one of its back ends alone to see why")
        return process

    def _say(self, process: subprocess.Popen[str], data: dict[str, Any]) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(data) + "\n")
        process.stdin.flush()

    def ask(self, case: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        """The result of a case; `seconds` where it may take longer than others."""
        self._say(self.process, {**case, "seconds": seconds} if seconds else case)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if line:
            result: dict[str, Any] = json.loads(line)
            return result
        self.process.wait()
        self.process = self._started()
        return {"status": "failed", "detail": "the worker process ended"}

    def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()


def table(findings: Sequence[Finding]) -> list[Finding]:
    """Findings, the worst first."""
    return sorted(findings, key=lambda f: (WORST.index(f.kind) if f.kind in WORST else len(WORST), -f.times))


def replay(finding: Finding) -> list[tuple[str, str]]:
    """A finding again under its back end and those of its family: what each does, in words."""
    program = decoded(finding.program)
    backend = BACKENDS[finding.backend]
    names = [finding.backend, *(name for name, other in BACKENDS.items() if other.family == backend.family)]
    with TemporaryDirectory() as folder:
        worker = Worker(Path(folder) / "cache", Settings(backends=(finding.backend,)))
        try:
            stages = []
            for name in dict.fromkeys(["eager", "aot_eager", "aot_eager_decomp_partition", *names]):
                if BACKENDS[name].missing() or (name == "aotinductor" and finding.backend != name):
                    continue
                result = worker.ask({"task": "rejudge", "program": encoded(program), "backend": name}, 120.0)
                words = (
                    "agrees"
                    if result["status"] == "agrees"
                    else f"{result.get('kind') or result['status']} {told(result)}"
                )
                stages.append((name, words))
            return stages
        finally:
            worker.close()
