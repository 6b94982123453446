"""The time that one kernel may take: one clock, looked at where the work is.

Whoever lifts a launch sets the limit, `with limited(seconds)`. Whoever works looks: `look()` ends the work with a
sentence once the time is over, and `left()` is what a proof or a search of its own may take at most. A limit inside
another one ends no later than that, so what is tried second has what the first has left. It is this thread's own time,
as a busy machine is to prove no less; where nobody has set a limit there is none.

That time is over is never an answer: nothing follows from it, neither a proof nor that there is none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from samesame.evidence import Refused


@dataclass(frozen=True)
class Limit:
    """So many seconds, until this moment of the thread's time."""

    seconds: float
    until: float


NONE = Limit(math.inf, math.inf)
_limit: ContextVar[Limit] = ContextVar("limit", default=NONE)  # each thread has its own


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """What is done inside may take so many seconds, or what is left of an outer limit."""
    until = time.thread_time() + seconds
    outer = _limit.set(min(Limit(seconds, until), _limit.get(), key=lambda limit: limit.until))
    try:
        yield
    finally:
        _limit.reset(outer)


def left() -> float:
    """Seconds until the limit; 0 where it is over."""
    return max(0.0, _limit.get().until - time.thread_time())


def look() -> None:
    """Raise Refused where the time is over."""
    if time.thread_time() > _limit.get().until:
        seconds = _limit.get().seconds
        raise Refused(f"the kernel's formulas do not get simple in {seconds:g} seconds; give more with --timeout")
