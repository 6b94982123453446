"""Forks: tasks done one each in a fork of this process, several at a time.

What all tasks need is loaded before the first fork and shared by all; what one of them loads, changes or crashes is
gone with its process. A task's result is what its process wrote to a file before it ended well: one that was ended,
crashed, or ended itself has none. What a task prints goes to a file of its own, and is told where there is no result.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from samesame.supervised import dies_with_parent, without_answer

PAUSE = 0.005                               # seconds between two looks at what has ended
TOLD = 20                                   # lines of what a task printed


@dataclass(frozen=True, slots=True)
class Lost:
    """A task without a result: why, and what it printed last."""

    why: str
    printed: str


@dataclass(slots=True)
class _Fork:
    process: int
    task: Any
    place: Path
    began: float
    limit: float


def in_forks(
    work: Callable[[Any], Any], tasks: Iterable[tuple[Any, float]], jobs: int
) -> Iterator[tuple[Any, Any, float]]:
    """Each task with its result, which JSON can hold, or Lost, and the seconds it took, as they are done. With each
    task comes the number of seconds after which it is ended. What is under way when this is left is ended, too."""
    waiting, under_way = list(tasks)[::-1], list[_Fork]()
    with TemporaryDirectory(prefix="samesame-") as folder:
        try:
            while waiting or under_way:
                while waiting and len(under_way) < jobs:
                    task, limit = waiting.pop()
                    place = Path(folder) / str(len(waiting))
                    under_way.append(_Fork(_forked(work, task, place), task, place, time.monotonic(), limit))
                ended = [fork for fork in under_way if _over(fork)]
                for fork in ended:
                    under_way.remove(fork)
                    yield fork.task, _result(fork), time.monotonic() - fork.began
                if not ended:
                    time.sleep(PAUSE)
        finally:
            for fork in under_way:
                os.kill(fork.process, signal.SIGKILL)
                os.waitpid(fork.process, 0)


@contextmanager
def _heard_afterwards() -> Iterator[None]:
    """A Ctrl-C that comes meanwhile is heard at the end: what is raised within a fork gets lost, on whatever thread the
    signal arrived."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    heard, parent = list[FrameType | None](), os.getpid()
    signal.signal(signal.SIGINT, lambda _, frame: heard.append(frame))
    yield
    if os.getpid() == parent:
        signal.signal(signal.SIGINT, before)
        if heard:
            before(signal.SIGINT, heard[0])


def _forked(work: Callable[[Any], Any], task: Any, place: Path) -> int:
    """Do the task in a child; its process."""
    for stream in sys.stdout, sys.stderr:
        stream.flush()
    with _heard_afterwards():
        child = os.fork()
        if not child:
            signal.signal(signal.SIGINT, signal.SIG_IGN)        # Ctrl-C is the parent's to hear
    if child:
        return child
    try:
        dies_with_parent()
        printed = os.open(place.with_suffix(".printed"), os.O_WRONLY | os.O_CREAT)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        sys.stdout = sys.stderr = open(2, "w", closefd=False, errors="replace", buffering=1)        # noqa: SIM115
        result = json.dumps(work(task))
        place.with_suffix(".part").write_text(result)
        place.with_suffix(".part").replace(place.with_suffix(".json"))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _over(fork: _Fork) -> bool:
    """Has it ended? One that is out of time is, now."""
    try:
        ended, status = os.waitpid(fork.process, os.WNOHANG)
    except ChildProcessError:
        ended, status = fork.process, 0
    if ended:
        fork.place.with_suffix(".status").write_text(str(status))
        return True
    if time.monotonic() - fork.began > fork.limit:
        os.kill(fork.process, signal.SIGKILL)
        os.waitpid(fork.process, 0)
        return True
    return False


def _result(fork: _Fork) -> Any:
    result, status = fork.place.with_suffix(".json"), fork.place.with_suffix(".status")
    if status.exists() and result.exists():
        return json.loads(result.read_text())
    printed = fork.place.with_suffix(".printed")
    last = printed.read_text(errors="replace").splitlines()[-TOLD:] if printed.exists() else []
    why = without_answer(int(status.read_text())) if status.exists() else \
        f"it was ended after {fork.limit:.0f} s; give it more with timeout, or make it smaller"
    return Lost(why, "\n".join(last))
