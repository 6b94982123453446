"""Progress on stderr: a bar where a terminal shows one, and for a log a line now and then, which says that it lives.

Both say what is being done, how much of it, for how long, how long yet, and where it is: in one run the operator in the
user's program, of many tasks those that are under way, the longest first.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from samesame.report.visible import visible
from samesame.work.progress import Progress, in_minutes

EVERY = 30.0                                # seconds between two lines of a log
TICK = 1.0                                  # seconds between two looks at a run that may hang

Clock = Callable[[], float]


class Shown:
    """What a command is doing. A run calls `stage` and `advance` as it goes, a crew `far` at least once a second. It is
    over after `limit` seconds, if there is one."""

    def __init__(self, clock: Clock = time.monotonic, limit: float | None = None) -> None:
        self.clock, self.ends = clock, None if limit is None else clock() + limit
        self.doing, self.progress, self.place = "", self.beginning(), ""
        self.since = self.at = clock()

    def beginning(self, what: str = "", total: int = 0) -> Progress:
        """Nothing is done yet, and there is so much time left."""
        now = self.clock()
        return Progress(what, total, limit=None if self.ends is None else max(0.0, self.ends - now), clock=self.clock)

    def stage(self, name: str) -> None:
        self.doing, self.progress, self.place = name, self.beginning(), ""
        self.since = self.at = self.clock()
        self.show()

    def advance(self, done: int, total: int, place: str) -> None:
        if (total, "operators") != (self.progress.total, self.progress.what) or done < self.progress.done:
            self.progress = self.beginning("operators", total)
        if (done, place) != (self.progress.done, self.place):
            self.at = self.clock()
        self.progress.done, self.place = done, place
        self.show()

    def far(self, progress: Progress) -> None:
        self.progress = progress
        self.show()

    def looked_at(self) -> Progress:
        """How far it is now."""
        if self.place:
            self.progress.under_way = [(self.place, self.clock() - self.at)]
        return self.progress

    def show(self) -> None:
        raise NotImplementedError


class Bar(Shown):
    """On a terminal."""

    def __init__(self, bar: Any, limit: float | None) -> None:
        super().__init__(limit=limit)
        self.bar, self.task = bar, bar.add_task("", total=None, doing="", left="")

    def show(self) -> None:
        far = self.looked_at()
        left = "" if far.left is None else f"about {in_minutes(far.left)} to go"
        doing = ", ".join(filter(None, (self.doing, far.doing if far.what else "", far.note)))
        self.bar.update(self.task, total=far.total or None, completed=far.done, description=visible(far.place),
                        doing=visible(doing), left=left)


class Log(Shown):
    """In a log: nothing at first, then a line now and then."""

    def __init__(
        self, say: Callable[[str], None], clock: Clock = time.monotonic, limit: float | None = None
    ) -> None:
        super().__init__(clock, limit)
        self.say, self.said, self.words = say, clock(), {"": ""}

    def stage(self, name: str) -> None:
        from samesame.budget import DOING  # z3 comes with it: a run has loaded that already

        self.words = DOING
        super().stage(name)

    def show(self) -> None:
        """Say how far it is, if it is time."""
        now = self.clock()
        if now < self.said + EVERY:
            return
        self.said = now
        far, doing = self.looked_at(), self.words.get(self.doing, self.doing)
        left = f"; at most {in_minutes(far.left)} to go" if far.left else ""
        known = f"{doing}: {far.line}" if doing else far.line
        self.say(f"samesame: {known if far.what else f'{doing} for {in_minutes(now - self.since)}{left}'}")


@contextmanager
def progress_of(quiet: bool, limit: float | None = None) -> Iterator[Shown | None]:
    """What shows progress on stderr, or None where nobody wants it; `limit` as for Shown."""
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar(limit) as bar:
            yield bar
    else:
        with _log(limit) as log:
            yield log


@contextmanager
def _bar(limit: float | None) -> Iterator[Bar]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    doing, left, place = (TextColumn(f"{{task.{part}}}", markup=False)
                          for part in ("fields[doing]", "fields[left]", "description"))
    columns = doing, BarColumn(20), TimeElapsedColumn(), left, place
    with Bars(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Bar(bar, limit)


@contextmanager
def _log(limit: float | None) -> Iterator[Log]:
    """A thread looks after a run that hangs. It begins with a run's first stage: a suite is forked in this process, and
    does without."""
    stream, over = sys.stderr, threading.Event()

    class Ticking(Log):
        begun = False

        def stage(self, name: str) -> None:
            super().stage(name)
            if not self.begun:
                self.begun = True
                threading.Thread(target=tick, args=(self,), daemon=True).start()

    def tick(log: Log) -> None:
        while not over.wait(TICK):
            log.show()

    try:
        yield Ticking(lambda line: print(visible(line), file=stream, flush=True), limit=limit)
    finally:
        over.set()


@contextmanager
def terminated_gently() -> Iterator[None]:
    """SIGTERM, as `timeout 60 samesame …` sends it, is heard as Ctrl-C is. A run hears it for itself."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
