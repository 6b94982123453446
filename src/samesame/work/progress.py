"""How far a run of many tasks is: what is done, how long the rest may take, what is under way, and for how long."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

SHOWN = 3                                   # tasks under way that are named
LONG = 20.0                                 # seconds after which a task that is under way says for how long


@dataclass(slots=True)
class Progress:
    """So many of `total` are done, `kept` of them by an earlier run; `what` they are, in words. `under_way` has names
    and seconds, the longest first; `note` is whatever else there is to say. `total` is 0 where there is no such number,
    and `limit` the seconds after which it ends then. Times are those of `clock`."""

    what: str
    total: int
    done: int = 0
    kept: int = 0
    under_way: Sequence[tuple[str, float]] = ()
    note: str = ""
    limit: float | None = None
    clock: Callable[[], float] = time.monotonic
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    @property
    def seconds(self) -> float:
        return self.clock() - self.began

    @property
    def left(self) -> float | None:
        """How many seconds the rest takes at the pace so far; None where nothing is done that tells."""
        made, ends = self.done - self.kept, None if self.limit is None else max(0.0, self.limit - self.seconds)
        paced = self.seconds / made * (self.total - self.done) if made > 0 and self.total else None
        return min((found for found in (paced, ends) if found is not None), default=None)

    @property
    def doing(self) -> str:
        """How much of it is done."""
        return f"{self.done} of {self.total} {self.what}" if self.total else f"{self.done} {self.what}"

    @property
    def place(self) -> str:
        """What is under way."""
        shown = [name + (f" ({in_minutes(seconds)})" if seconds >= LONG else "")
                 for name, seconds in self.under_way[:SHOWN]]
        more = len(self.under_way) - SHOWN
        return ", ".join([*shown, *([f"and {more} more"] if more > 0 else [])])

    @property
    def line(self) -> str:
        """All of it in one line, for a log."""
        left = self.left
        parts = [f"{self.doing} after {in_minutes(self.seconds)}"]
        parts += [f"about {in_minutes(left)} to go"] if left else []
        parts += [self.note] if self.note else []
        parts += [f"under way: {self.place}"] if self.under_way else []
        return "; ".join(parts)


Told = Callable[[Progress], None]


def goes_on(done: int, total: int, what: str, kept: str) -> str:
    """How a run goes on that did not come to its end; `kept` says where that lies which is done."""
    if kept:
        return f"{done} of {total} {what} are done and kept in {kept}; the same command goes on from there"
    return f"{done} of {total} {what} are done, and kept nowhere; with --resume FILE a run goes on from where it was"


def in_minutes(seconds: float) -> str:
    """A time as people say it."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min" + (f" {whole % 60} s" if whole < 600 and whole % 60 else "")
    return f"{whole // 3600} h" + (f" {whole % 3600 // 60} min" if whole % 3600 // 60 else "")
