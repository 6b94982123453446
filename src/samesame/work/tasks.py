"""Tasks: what there is to do, as data, and what came of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do. `content` is what a worker is given, as JSON has it; `key` tells it from the other tasks of a
    run, `name` is for people. After `limit` seconds it is ended; one that is to be done `here` goes to no other
    machine."""

    key: str
    content: Any
    name: str = ""
    limit: float = math.inf
    here: bool = False


@dataclass(frozen=True, slots=True)
class Lost:
    """No result: why, what was printed last where that is kept, and the exit code of a process that ended early."""

    why: str
    printed: str = ""
    code: int | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """A task with its result or Lost, the seconds it took, and whether it was done on this machine."""

    task: Task
    result: Any
    seconds: float
    here: bool


class NoResult(Exception):
    """Raised by what does a task, where there is no result."""

    def __init__(self, lost: Lost) -> None:
        super().__init__(lost.why)
        self.lost = lost


class NotAccepted(Exception):
    """What another machine says does not hold here; the words say why."""
