"""Timing on a GPU: calls are recorded as a CUDA graph and replayed, so that what is timed is the GPU.

To launch a kernel from Python takes longer than many a kernel runs, and whoever minds that replays a graph, as serving
engines and `torch.compile(mode="reduce-overhead")` do. So programs are compared as graphs of some calls in a row. Only
one process measures at a time on a machine, however many of them get ready: who measures is `alone`.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

LONG = 1e-3                                                # seconds that a graph takes at least, if calls are short
MOST = 50                                                  # calls in a graph


class _Alone:
    """Whether this process is the one that measures, and how often it said so."""

    times = 0


@contextmanager
def alone() -> Iterator[None]:
    """Inside, no other process of this user measures on a GPU of this machine; what is inside of it may ask again."""
    with (Path(tempfile.gettempdir()) / f"samesame-gpu-{os.getuid()}.lock").open("w") as file:
        if not _Alone.times:
            fcntl.flock(file, fcntl.LOCK_EX)
        _Alone.times += 1
        try:
            yield
        finally:
            _Alone.times -= 1


class Graph:
    """Some calls of a program in a row, as a CUDA graph; `seconds` is about what one takes. What the calls return is
    not kept. Raises RuntimeError for a program that waits for the GPU, which no graph can hold."""

    def __init__(self, call: Callable[[], Any], seconds: float) -> None:
        self.calls = max(1, min(MOST, round(LONG / max(seconds, 1e-7))))
        stream = torch.cuda.Stream()                       # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            call()
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            for _ in range(self.calls):
                call()

    def seconds(self, at_least: float) -> float:
        """Mean seconds of a call, over replays that take at least so many seconds together, after one that is not
        counted."""
        number, taken = 1, self._replayed(1)
        if taken < at_least:
            number = max(1, round(at_least / max(taken, 1e-6)))
            taken = self._replayed(number)
        return taken / number / self.calls

    def _replayed(self, number: int) -> float:
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        self.graph.replay()
        first.record()
        for _ in range(number):
            self.graph.replay()
        last.record()
        last.synchronize()
        return float(first.elapsed_time(last)) / 1e3
