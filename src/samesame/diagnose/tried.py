"""Trying edits: one loop for all that look for a change which makes two sides agree again.

What can be changed and when a change holds is the caller's: operators of a side, of ranks, or fields of a config. Here
is when to stop: enough was found or tried, the thread has worked long enough, or the run is over. Once one holds, no
change that is less plain is tried, and the others get little time.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

C = TypeVar("C")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Limits:
    """`until` is this thread's own time, so that a busy machine finds no less; `deadline` the run's, by the clock;
    `more` seconds are for others, once there is one."""

    edits: int
    until: float
    deadline: float | None = None
    tries: float = math.inf
    more: float = math.inf

    def over(self) -> bool:
        return time.thread_time() > self.until or (self.deadline is not None and time.monotonic() > self.deadline)


def tried(
    changes: Iterable[C], limits: Limits, holds: Callable[[C], R | None], rank: Callable[[C], int] = lambda _: 0
) -> Iterator[tuple[C, R]]:
    """The changes that hold, with what `holds` says of each; None says that one does not. A change of a higher `rank`
    than one that was found is passed over."""
    found: list[int] = []
    until = limits.until
    for number, change in enumerate(changes):
        if number >= limits.tries or len(found) >= limits.edits or limits.over() or time.thread_time() > until:
            return
        if found and rank(change) > min(found):
            continue
        result = holds(change)
        if result is not None:
            if not found:
                until = time.thread_time() + limits.more
            found.append(rank(change))
            yield change, result
