"""Workers: processes that load the libraries once and then do one task after another.

A worker that crashes takes nothing with it but the task it was at, which another worker tries once more; a task that
takes too long is ended together with its worker. Results come in the order in which they are reached. Nothing here
knows what a task is: `prepare(*given)` runs once in each process and returns the function that does one.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

from samesame.evidence import SamesameError

STARTING = 300.0                            # seconds in which a worker loads what it needs
TRIES = 2
TASKS = 100                                 # after which a worker makes room for a fresh one: libraries keep things


@dataclass(frozen=True, slots=True)
class Lost:
    """A task without a result, and why."""

    why: str


@dataclass(slots=True)
class _Worker:
    process: Any
    pipe: Connection
    until: float
    ready: bool = False
    task: Any = None
    done: int = 0


@dataclass(slots=True)
class Workers:
    """`jobs` processes, each with `limit` seconds for a task; used as a context, at whose end they are gone."""

    prepare: Callable[..., Callable[[Any], Any]]
    given: tuple[Any, ...]
    jobs: int
    limit: float
    _workers: list[_Worker] = field(default_factory=list)
    _tries: dict[int, int] = field(default_factory=dict)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            _end(worker)
        self._workers = []

    def results(self, tasks: Iterable[Any], until: float = float("inf")) -> Iterator[tuple[Any, Any]]:
        """Each task with its result, or with Lost. Ends at `until` on time.monotonic, with what is then under way
        ended. Raises SamesameError where no worker can be made ready."""
        waiting = deque(enumerate(tasks))
        self._tries = {}
        while waiting or any(worker.task is not None for worker in self._workers):
            if time.monotonic() > until:
                self.__exit__()
                return
            self._staff(len(waiting))
            self._hand_out(waiting)
            yield from self._collected(waiting, until)

    def _staff(self, waiting: int) -> None:
        """Start workers while there is more to do than there are hands."""
        busy = sum(worker.task is not None for worker in self._workers)
        while len(self._workers) < min(self.jobs, waiting + busy):
            self._workers.append(_started(self.prepare, self.given, self.jobs))

    def _hand_out(self, waiting: deque[tuple[int, Any]]) -> None:
        for worker in list(self._workers):
            if worker.ready and worker.task is None and waiting:
                worker.task = waiting.popleft()
                worker.until = time.monotonic() + self.limit
                try:
                    worker.pipe.send(worker.task[1])
                except OSError:                             # it ended while it had nothing to do
                    waiting.appendleft(worker.task)
                    self._dismiss(worker)

    def _collected(self, waiting: deque[tuple[int, Any]], until: float) -> Iterator[tuple[Any, Any]]:
        """What has come in by the next moment at which a worker is out of time."""
        watched = [worker for worker in self._workers if worker.task is not None or not worker.ready]
        soonest = min([until, *(worker.until for worker in watched)])
        ready = wait([worker.pipe for worker in watched], min(1.0, max(0.0, soonest - time.monotonic())))
        for worker in watched:
            if worker.pipe in ready:
                yield from self._heard(worker, waiting)
            elif time.monotonic() > worker.until:
                self._dismiss(worker)
                if not worker.ready:
                    raise SamesameError(f"a worker was not ready within {STARTING:.0f} s; give fewer --jobs")
                yield worker.task[1], Lost(f"it took longer than {self.limit:.0f} s")

    def _heard(self, worker: _Worker, waiting: deque[tuple[int, Any]]) -> Iterator[tuple[Any, Any]]:
        try:
            kind, content = worker.pipe.recv()
        except (EOFError, OSError):
            yield from self._crashed(worker, waiting)
            return
        if kind == "ready":
            worker.ready = True
        elif kind == "unusable":
            self._dismiss(worker)
            raise SamesameError(content)
        else:
            (_, task), worker.task = worker.task, None
            worker.done += 1
            if worker.done >= TASKS:
                self._dismiss(worker)
            yield task, (Lost(content) if kind == "failed" else content)

    def _crashed(self, worker: _Worker, waiting: deque[tuple[int, Any]]) -> Iterator[tuple[Any, Any]]:
        """The task goes back to where it was, once; a worker that crashes before it is ready would do so again."""
        self._dismiss(worker)
        how = _spoken(worker.process.exitcode)
        if not worker.ready:
            raise SamesameError(f"a worker process {how} while it loaded the libraries; run with --jobs 1 and look at "
                                "what it says on stderr")
        number, task = worker.task
        self._tries[number] = self._tries.get(number, 0) + 1
        if self._tries[number] < TRIES:
            waiting.appendleft((number, task))
        else:
            del self._tries[number]
            yield task, Lost(f"the process that ran it {how}, twice")

    def _dismiss(self, worker: _Worker) -> None:
        _end(worker)
        self._workers = [other for other in self._workers if other is not worker]


def _spoken(code: int | None) -> str:
    if code is not None and code < 0:
        try:
            return f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"was ended by signal {-code}"
    return f"ended with exit code {code}"


def _started(prepare: Callable[..., Any], given: tuple[Any, ...], jobs: int) -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, prepare, given, jobs), daemon=True)
    with _deaf_to_ctrl_c():
        process.start()
    theirs.close()
    return _Worker(process, ours, time.monotonic() + STARTING)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """A process that begins here ignores Ctrl-C from its first moment: it is for this process to hear."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _end(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.join(0.2)                # a process that crashed has ended by itself, with an exit code of its own
    if worker.process.exitcode is None:
        worker.process.kill()
        worker.process.join()


# --------------------------------------------------------------------------------------------------- inside the process


def _serve(pipe: Connection, prepare: Callable[..., Callable[[Any], Any]], given: tuple[Any, ...], jobs: int) -> None:
    """Do tasks until there are none. Ctrl-C is the parent's to hear; what libraries print is no result."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    share = max(1, (os.cpu_count() or 1) // jobs)
    os.environ.setdefault("OMP_NUM_THREADS", str(share))
    try:
        work = prepare(*given)
    except SamesameError as error:
        pipe.send(("unusable", str(error)))
        return
    pipe.send(("ready", None))
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send(_done(work, task))


def _done(work: Callable[[Any], Any], task: Any) -> tuple[str, Any]:
    try:
        return "done", work(task)
    except Exception as error:
        traceback.print_exc()
        return "failed", f"this is a defect of samesame, not a verdict: {type(error).__name__}: {error}"
