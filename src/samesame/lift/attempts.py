"""The time of all attempts at one target: as it is, under contracts, with sizes as they are written, or apart.

Each attempt lifts every kernel anew, and a kernel that takes all its time would take it a dozen times. So the first
attempt has the time of its kernels, and what it leaves of that the others share; none is begun when nothing is left.
A short limit is one for a kernel that is hard, and not for many attempts at easy ones, which have a minute.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from samesame.evidence import Refused
from samesame.kernels import clock

LEAST = 60.0  # seconds for each kernel, in all attempts together
Found = TypeVar("Found")


class NoTime(Refused):
    """Another attempt is not begun."""


@dataclass
class Shared:
    """So many seconds for each kernel, of this thread's own time; `ended` where an attempt was not begun."""

    seconds: float
    began: float = field(default_factory=time.thread_time)
    first: bool = True
    ended: bool = False

    @contextmanager
    def attempt(self, captured: Any) -> Iterator[None]:
        """Inside, an attempt at these launches takes no longer than what is left; the first one what each kernel may.
        Raises NoTime."""
        if self.first:
            self.first = False
            yield
            return
        whole = max(self.seconds, LEAST) * max(1, len(captured.launches))
        left = self.began + whole - time.thread_time()
        if left <= 0:
            self.ended = True
            raise NoTime("the time for all attempts is over")
        with clock.limited(left):
            yield

    def note(self) -> list[str]:
        """That not everything was tried, where it was not."""
        return ["Not all contracts were tried in the time of the kernels; give more with --timeout."] * self.ended


def in_time(attempt: Callable[[], Found]) -> Found | None:
    """What an attempt finds; None where there is no time for it."""
    try:
        return attempt()
    except NoTime:
        return None
