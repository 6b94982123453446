"""Workers on this machine: processes that load what they need once, or forks of this one, which have it already.

A worker is given the name of a function, `module:function`, which runs once in it and returns another: the one that
does a task. What a worker prints goes to stderr, since it is no result; that of a fork is kept, and told where a task
has none. Ctrl-C is for the process that began them to hear.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection
from tempfile import TemporaryFile
from types import FrameType
from typing import IO, Any

from samesame.evidence import SamesameError
from samesame.supervised import dies_with_parent, surrounded
from samesame.work.tasks import Lost, NoResult, Task

Work = Callable[[Any], Any]
Message = tuple[str, Any]                   # ready, unusable, done, lost, crashed or gone; and what there is to say
READY, UNUSABLE, DONE, LOST, CRASHED, GONE = "ready", "unusable", "done", "lost", "crashed", "gone"
TOLD = 20                                   # lines of what a worker printed
ENDING = 0.2                                # seconds for a process to end by itself
QUIET = {"PYTHONWARNINGS": "ignore:resource_tracker"}    # of what a library leaves behind in a process that is ended


@dataclass(slots=True)
class Local:
    """Room for `jobs` workers: fresh processes with this `environment` beside their own, or `forks` of this process.
    `quiet` ones print nothing."""

    prepare: str
    given: Sequence[Any]
    jobs: int = 1
    forks: bool = False
    quiet: bool = False
    tasks_each: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    here: bool = field(default=True, init=False)
    spoken: str = field(default="", init=False)

    def begin(self) -> Process:
        return Process(self)

    def close(self) -> None:
        """There is nothing to close."""


class Process:
    """A worker process, seen from the one that began it."""

    def __init__(self, place: Local) -> None:
        context: Any = get_context("fork" if place.forks else "spawn")
        self.pipe, theirs = context.Pipe()
        self.printed: IO[bytes] | None = TemporaryFile() if place.forks else None       # noqa: SIM115
        given = theirs, place.prepare, tuple(place.given), place.quiet, self.printed if place.forks else None
        self.process = context.Process(target=_serve, args=given)
        for stream in sys.stdout, sys.stderr:
            stream.flush()
        try:
            with _heard_afterwards(), surrounded({**QUIET, **place.environment}):
                self.process.start()
        except BaseException:
            if self.process.pid is not None:
                self.end()
            raise
        finally:
            theirs.close()

    def give(self, task: Task) -> bool:
        """Hand it a task; False where it has ended meanwhile."""
        try:
            self.pipe.send([task.content])
        except OSError:
            return False
        return True

    def heard(self) -> Message:
        """What it says, once the pipe has something; that it crashed, with its exit code, where it has ended."""
        try:
            message: Message = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join(ENDING)
            return CRASHED, self.process.exitcode
        return message

    def last_words(self) -> str:
        """What it printed last, where that is kept."""
        if self.printed is None:
            return ""
        self.printed.seek(0)
        return "\n".join(self.printed.read().decode(errors="replace").splitlines()[-TOLD:])

    def end(self) -> None:
        """End it; what it is at is not waited for."""
        with suppress(OSError):
            self.pipe.send(None)
        self.pipe.close()
        self.process.join(ENDING)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()
        if self.printed is not None:
            self.printed.close()


@contextmanager
def _heard_afterwards() -> Iterator[None]:
    """A Ctrl-C that comes while a process begins is heard afterwards, in this one: what is raised within a fork gets
    lost, on whatever thread the signal arrived, and a new process is to hear of none."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    heard = list[FrameType | None]()
    signal.signal(signal.SIGINT, lambda _, frame: heard.append(frame))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
    if heard:
        before(signal.SIGINT, heard[0])


# --------------------------------------------------------------------------------------------------- inside the process


def _serve(
    pipe: Connection, prepare: str, given: tuple[Any, ...], quiet: bool, printed: IO[bytes] | None
) -> None:
    """Do tasks until there are none. Ends the process: what others registered for its end is not for a worker."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        dies_with_parent()
        _print_to(printed, quiet)
        with suppress(EOFError, OSError):
            _work(pipe, prepare, given)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(Exception):
            sys.stderr.flush()
        os._exit(0)


def _print_to(printed: IO[bytes] | None, quiet: bool) -> None:
    """What is printed is no result, whoever prints it: it goes to the file, to nobody, or else to stderr."""
    if printed is not None:
        os.dup2(printed.fileno(), 2)
    elif quiet:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.dup2(2, 1)
    sys.stdout = sys.stderr = open(2, "w", closefd=False, errors="replace", buffering=1)        # noqa: SIM115


def _work(pipe: Connection, prepare: str, given: tuple[Any, ...]) -> None:
    module, _, name = prepare.partition(":")
    try:
        work: Work = getattr(import_module(module), name)(*given)
    except SamesameError as error:
        pipe.send((UNUSABLE, str(error)))
        return
    pipe.send((READY, None))
    while (task := pipe.recv()) is not None:
        pipe.send(_done(work, *task))


def _done(work: Work, content: Any) -> Message:
    try:
        return DONE, work(content)
    except NoResult as none:
        return LOST, none.lost
    except Exception as error:
        traceback.print_exc()
        return LOST, Lost(f"this is a defect of samesame, not a verdict: {type(error).__name__}: {error}")
