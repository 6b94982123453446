"""A racer: a process of its own with one program in it, compiled in one way, that runs it when it is told to.

    python -m samesame.optimize.racer JOB        JOB is JSON: folder, file (of a found program; or none), way, threads,
                                                 device

It says when it is ready, then answers one line of JSON for each that it reads: mean seconds of a call, or how it does
by the numeric contract. What the program prints goes to stderr. Being alone, it can set what holds for a whole process
(freezing, threads), and nothing that another racer compiled is in its caches.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from samesame.supervised import dies_with_parent

ROUND = 0.02                                               # seconds that one measurement takes at least
PLAIN = 0.2                                                # of calls from Python beside those in a graph
MOST = 200                                                 # calls of one measurement


def main() -> None:
    """Do what stdin asks until it ends."""
    dies_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)           # Ctrl-C is the parent's
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    job = json.loads(sys.argv[1])
    sys.path[:] = job["path"]

    def say(**words: Any) -> None:
        print(json.dumps(words), file=answers, flush=True)

    try:
        racer = Racer(job) if job["device"] == "cpu" else GraphRacer(job)
        say(ready=racer.seconds, plain=racer.plain)
        for line in sys.stdin:
            asked = json.loads(line)
            say(**getattr(racer, asked.pop("do"))(**asked))
    except Exception as error:
        say(lost=sentence(error))


class Racer:
    """One program in one way, warmed up. `seconds` is what a call takes, roughly."""

    plain: float | None = None

    def __init__(self, job: dict[str, Any]) -> None:
        import torch

        from samesame.optimize.job import load, runnable

        memory(reuse=False)
        torch.set_num_threads(job["threads"])
        torch.set_float32_matmul_precision(job["precision"])
        torch.set_default_dtype(getattr(torch, job["dtype"].removeprefix("torch.")))
        warnings.filterwarnings("error", message="the original runs")
        self.torch, self.folder = torch, Path(job["folder"])
        self.job = load(self.folder)
        self.there = self.job.on(job["device"])
        self.file, self.way = job["file"] and Path(job["file"]), job["way"]
        self.program = runnable(self.there, self.file, self.way)
        self.warm_up()

    def warm_up(self) -> None:
        with self.torch.set_grad_enabled(self.job.gradients):
            for _ in range(3):
                begun = time.perf_counter()
                self.call()
                self.seconds = time.perf_counter() - begun

    def call(self) -> None:
        self.program(*self.there.args, **self.there.kwargs)

    def time(self) -> dict[str, Any]:
        """The mean of some calls in a row, after one that is not counted."""
        calls = max(1, min(MOST, round(ROUND / max(self.seconds, 1e-7))))
        with self.torch.set_grad_enabled(self.job.gradients):
            self.call()
            begun = time.perf_counter()
            for _ in range(calls):
                self.call()
            self.seconds = (time.perf_counter() - begun) / calls
        return {"seconds": self.seconds}

    def contract(self, seed: int, until: float) -> dict[str, Any]:
        """How the program does by the numeric contract."""
        from dataclasses import asdict

        from samesame.optimize.contract import contract
        from samesame.optimize.dropin import BOTH, FROZEN

        place = self.folder / "oracle"
        place.mkdir(exist_ok=True)
        frozen = self.way in (FROZEN, BOTH)
        try:
            memory(reuse=True)
            return asdict(contract(self.job, self.program, seed, frozen=frozen, seconds=until, place=place,
                                   there=self.there))
        finally:
            memory(reuse=False)


TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3                    # what glibc's mallopt calls them
STEADY, REUSED = 32 << 20, 128 << 20                       # bytes: as far as glibc raises its own, and more


def memory(reuse: bool) -> None:
    """How the C library hands out large blocks: all but the largest (widened weights) from its heap, which stays, so
    that the many tensors of a draw lie in pages that are there; or as in a process that has run for a while, the same
    for all that race."""
    import ctypes

    library = ctypes.CDLL(None)
    if not hasattr(library, "mallopt"):                    # another one than glibc
        return
    library.mallopt(MMAP_THRESHOLD, REUSED if reuse else STEADY)
    library.mallopt(TRIM_THRESHOLD, (1 << 31) - 1 if reuse else 2 * STEADY)
    if not reuse:
        library.malloc_trim(0)


class GraphRacer(Racer):
    """The same on a GPU, where what counts is a call in a CUDA graph; `plain` is what one takes from Python."""

    def warm_up(self) -> None:
        from torch._inductor.runtime import benchmarking

        from samesame.optimize.graphs import Graph, alone

        self.alone, inductors = alone, benchmarking.benchmarker.benchmark_gpu

        def benchmark_gpu(*args: Any, **kwargs: Any) -> Any:
            with alone():                                  # what a compiler measures while others measure, too
                return inductors(*args, **kwargs)

        setattr(benchmarking.benchmarker, "benchmark_gpu", benchmark_gpu)  # noqa: B010
        with self.torch.set_grad_enabled(self.job.gradients):
            super().warm_up()
            with alone():
                self.plain = self.seconds = self.called(max(1, min(20, round(PLAIN / max(self.seconds, 1e-7)))))
                self.graph = Graph(self.call, self.seconds)
                self.seconds = self.graph.seconds(ROUND)

    def called(self, number: int) -> float:
        """Mean seconds of so many calls from Python, one after another."""
        self.torch.cuda.synchronize()
        begun = time.perf_counter()
        for _ in range(number):
            self.call()
        self.torch.cuda.synchronize()
        return (time.perf_counter() - begun) / number

    def time(self) -> dict[str, Any]:
        """The mean of calls in a graph."""
        with self.alone():
            self.seconds = self.graph.seconds(ROUND)
        return {"seconds": self.seconds}


WHY = r"error: ", r"^Explanation: ", r"Error", r"[^:]$"    # what says why, the most telling first; not "… raised:"


def sentence(error: Exception) -> str:
    """What an exception says, in one line: of several the one that says why."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = next((line for why in WHY for line in lines if re.search(why, line)), "no message")
    return f"{type(error).__name__}: {text.removeprefix('Explanation: ')}"[:300]


if __name__ == "__main__":
    main()
