"""Timing: programs race against one another in turns, each in a fresh process of its own.

A busy machine slows whoever runs at the moment, so nobody runs for long: in each round every racer takes one
measurement of some milliseconds, in an order that changes, and what counts is the lower quartile over the rounds. One
is faster than another if its lower quartile is less and it was faster in most of the rounds they ran side by side.

To be compiled takes longer than to race. So what is known from the start gets ready while the search goes on, on cores
that this leaves alone (`Ahead`), and stands still while the search measures.
"""

from __future__ import annotations

import json
import os
import random
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from threading import Event
from typing import Any

import torch

from samesame.optimize.dropin import EAGER

HERE = Path(__file__).parent.parent.parent                 # from which samesame is imported
ROUNDS = 16                                                # of a race that is to be believed, at least
WON = 2 / 3                                                # of the rounds, for one to be faster than another
OFTEN, QUICK = 4, 12.0                                     # so many times the rounds, within these seconds
COMPILERS = 8                                              # processes that compile for a racer on a GPU
SILENT = 60.0                                              # seconds in which a measurement must be over


class Lost(Exception):
    """A racer that cannot go on; the message says why."""


@dataclass
class Racer:
    """A process with one program in one way. `measured` are seconds, one for each round."""

    name: str
    way: str
    file: Path | None
    candidate: int | None = None
    device: str = "cpu"
    process: subprocess.Popen[str] | None = None
    errors: Any = None
    measured: list[float] = field(default_factory=list)
    failed: str = ""
    late: bool = False                                     # it failed for want of time alone
    plain: float | None = None                             # on a GPU: seconds of a call from Python, not in a graph

    @property
    def running(self) -> bool:
        return self.process is not None and not self.failed

    @property
    def lower(self) -> float:
        """The lower quartile."""
        return quantiles(self.measured, n=4, method="inclusive")[0] if len(self.measured) > 1 else self.measured[0]

    @property
    def spread(self) -> float:
        """From the lower quartile to the upper one, as a share of the lower."""
        if len(self.measured) < 2:
            return 0.0
        low, _, high = quantiles(self.measured, n=4, method="inclusive")
        return (high - low) / low

    def beats(self, other: Racer) -> bool:
        """Whether this one is faster; both ran in the same rounds."""
        won = sum(mine < yours for mine, yours in zip(self.measured, other.measured, strict=True))
        return self.lower < other.lower and won >= WON * len(self.measured)

    def start(self, folder: Path, threads: int, seconds: float) -> None:
        """Start the process and wait until its program is compiled; what goes wrong is noted."""
        job = {"folder": str(folder), "file": None if self.file is None else str(self.file), "way": self.way,
               "threads": threads, "path": sys.path, "device": self.device,
               "precision": torch.get_float32_matmul_precision(), "dtype": str(torch.get_default_dtype())}
        compilers = 1 if self.device == "cpu" else min(cores(), COMPILERS)
        own = {"OMP_NUM_THREADS": str(threads), "TORCHINDUCTOR_COMPILE_THREADS": str(compilers),
               "PYTHONPATH": str(HERE)}                    # the rest of the path is taken when Python runs
        self.errors = tempfile.TemporaryFile("w+")         # noqa: SIM115  (as long as the process)
        self.process = subprocess.Popen(
            [sys.executable, "-P", *["-O"] * sys.flags.optimize, "-m", "samesame.optimize.racer", json.dumps(job)],
            env={**os.environ, **own}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True,
            process_group=0,
        )
        ready = self.answer(seconds)
        self.plain = ready["plain"] if ready else None

    def signal(self, number: int) -> None:
        """Tell the process, and the compilers that it started."""
        process = self.process
        if process is not None and process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)

    def ask(self, seconds: float = SILENT, **words: Any) -> dict[str, Any] | None:
        """The answer to what is asked; None, and why is noted, where none comes."""
        if not self.running:
            return None
        self.tell(**words)
        return self.answer(seconds)

    def tell(self, **words: Any) -> None:
        """Ask, and go on: the answer is to be taken later."""
        assert self.process is not None and self.process.stdin is not None
        with suppress(OSError):                            # where it has ended its answer says so
            self.process.stdin.write(json.dumps(words) + "\n")
            self.process.stdin.flush()

    def answer(self, seconds: float) -> dict[str, Any] | None:
        try:
            return self._answer(seconds)
        except Lost as lost:
            self.failed = str(lost)
            self.stop()
            return None

    def _answer(self, seconds: float) -> dict[str, Any]:
        assert self.process is not None and self.process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(max(seconds, 0.0)):
                self.late = not self.measured
                raise Lost(f"not ready after {seconds:.0f} s" if self.late else f"no answer in {seconds:.0f} s")
        line = self.process.stdout.readline()
        if not line:
            raise Lost(self.ended())
        answer: dict[str, Any] = json.loads(line)
        if "lost" in answer:
            raise Lost(answer["lost"])
        return answer

    def ended(self) -> str:
        """How the process ended."""
        assert self.process is not None
        code = self.process.wait()
        self.errors.seek(0)
        last = (self.errors.read().strip().splitlines() or ["no message"])[-1]
        return "it was killed, often for want of memory" if code == -9 else f"its process ended ({code}): {last[:200]}"

    def stop(self) -> None:
        if self.process is not None:
            self.signal(signal.SIGKILL)
            self.process.wait()
            for stream in filter(None, (self.process.stdin, self.process.stdout, self.errors)):
                stream.close()
            self.process = None


class Ahead:
    """Racers that get ready while the search goes on: as many at a time as it leaves cores alone, none where there is
    one core."""

    def __init__(self, racers: Sequence[Racer], folder: Path, threads: int, seconds: float) -> None:
        spare = min(cores() - 1, len(racers))
        self.racers, self.folder, self.threads = list(racers), folder, threads
        self.since = time.monotonic()
        self.until = self.since + seconds
        self.going = Event()
        self.going.set()
        self.pool = ThreadPoolExecutor(max(spare, 1))
        self.begun = {id(racer): self.pool.submit(self._start, racer) for racer in racers if spare > 0}

    def _start(self, racer: Racer) -> None:
        self.going.wait()
        racer.start(self.folder, self.threads, max(self.until - time.monotonic(), 0.0))

    @contextmanager
    def held(self) -> Iterator[None]:
        """Inside, they stand still."""
        try:
            self.going.clear()
            for racer in self.racers:
                racer.signal(signal.SIGSTOP)
            yield
        finally:
            for racer in self.racers:
                racer.signal(signal.SIGCONT)
            self.going.set()

    def busy(self, racer: Racer) -> bool:
        """Whether the racer is getting ready at this moment."""
        begun = self.begun.get(id(racer))
        return begun is not None and begun.running()

    def ready(self, racer: Racer, seconds: float) -> bool:
        """Whether the racer was started here. It has so many seconds to be ready, and is ended where it is not."""
        begun = self.begun.pop(id(racer), None)
        if begun is None or begun.cancel():
            return False
        self.going.set()                                   # who was held while the search was ended
        racer.signal(signal.SIGCONT)
        if wait([begun], max(seconds, 0.0)).not_done:
            kill([racer], [begun])
            racer.failed, racer.late = f"not ready after {time.monotonic() - self.since:.0f} s", True
        begun.result()
        return True

    def end(self) -> None:
        """Nobody is started any more; threads end after the processes that hang on them."""
        for begun in self.begun.values():
            begun.cancel()
        self.going.set()                                   # a thread that waits has an end, too
        kill(self.racers, self.begun.values())
        self.pool.shutdown()


def kill(racers: Iterable[Racer], begun: Iterable[Future[None]]) -> None:
    """End racers that are getting ready, also one whose process is only now made."""
    waiting = list(begun)
    while True:
        for racer in racers:
            racer.signal(signal.SIGKILL)
        if not wait(waiting, 0.05).not_done:
            return


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def race(racers: Sequence[Racer], rounds: int, until: float, seed: int = 0) -> list[Racer]:
    """Measure those that run in so many rounds, and in some times as many where that takes a few seconds only; two at
    least, where time.monotonic() is past `until`. Those that reached the end, with what this race measured."""
    running = [racer for racer in racers if racer.running]
    for racer in running:
        racer.measured = []
    order, draw = list(running), random.Random(seed)
    quick = time.monotonic() + QUICK
    for number in range(OFTEN * rounds):
        if number >= 2 and time.monotonic() > (until if number < rounds else min(until, quick)):
            break
        draw.shuffle(order)
        for racer in order:
            found = racer.ask(do="time")
            if found is not None:
                racer.measured.append(found["seconds"])
        order = [racer for racer in order if racer.running]
    return [racer for racer in running if racer.running]


def incumbent(way: str, device: str = "cpu") -> Racer:
    """The user's own program, compiled in one of the ways."""
    return Racer("eager torch" if way == EAGER else way if way.startswith("torch.") else f"torch.compile, {way}", way,
                 None, device=device)
