"""The time of one run: how long it may take, where it is, and how it is stopped so that what it has found stays.

Every stage that loops looks at `deadline` by itself. Two things cannot: the user's own program, which runs as long as
it likes, and a step of ours that takes longer than expected. So on the main thread an alarm ends the stage under way
by raising `Stopped`, a little after the deadline, which is the time an orderly end takes. A Ctrl-C does the same where
it is heard (`bounded(interrupts=True)`), without waiting for the deadline. While tensors are related it first only
moves the deadline into the past: what was proved so far is kept by coming to an end, and nothing is raised inside the
solver.

Signals reach the main thread only. A run on another thread, or beside a program with an alarm of its own, has the
stages' own checks and nothing else.
"""

from __future__ import annotations

import contextlib
import math
import signal
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TypeVar

import z3

from samesame.formula import effort
from samesame.graph import Origin
from samesame.programs.origins import line_of_error

T = TypeVar("T")
Progress = Callable[[int, int, str], None]    # how many operators are done, of how many, and the place

STARTING = 3.0                              # seconds in which no run is interrupted, however short its limit
TOLERANCE = 1.1                             # the deadline's factor at which a stage that goes on is interrupted
AGAIN = 0.1                                 # seconds between two alarms, for a proof that begins meanwhile
AGAIN_RAISED = 0.3                          # the same after Stopped was raised: it is lost in a destructor, say
PATIENCE = 2.0                              # seconds in which proving may finish after Ctrl-C

# Raised in these, Stopped could keep `bounded` from disarming the alarm, or would be lost and printed.
LEAVING = {__file__, contextlib.__file__, weakref.__file__}

_held: list[None] = []                     # one for each block that is `undisturbed`

TIME, CTRL_C, TERMINATED = "the time limit", "Ctrl-C", "SIGTERM"
TWICE = {signal.SIGINT: 0.1, signal.SIGTERM: 1.0}    # seconds in which a signal to a group comes twice, and means once
GENTLY = "prove"                            # the stage that is asked to end, and interrupted only if it does not
DOING = {
    "load": "loading the programs",
    "capture": "capturing the programs",
    "execute": "running both programs",
    "prove": "relating their tensors",
    "generalise": "proving it at the captured sizes",
    "diagnose": "looking for where they part",
    "unequal": "running the ranks on unequal parts",
    "numeric": "measuring rounding errors",
    "neighbours": "proving it in neighbouring regions of sizes",
    "search": "looking for faster programs",
    "race": "trying and timing what was found",
}


class Deadline(float):
    """A moment on time.monotonic. `passed` moves it into the past for everyone who compares with it, now or later."""

    over = False

    def passed(self) -> None:
        self.over = True

    def __lt__(self, other: float) -> bool:
        return self.over or float.__lt__(self, other)

    def __sub__(self, other: float) -> float:
        return -1.0 if self.over else float.__sub__(self, other)


class Stopped(BaseException):
    """Ends the stage under way. Not an Exception: neither the user's program nor what reports its failures may take
    it for one."""


@dataclass(slots=True)
class Run:
    """One run. `timeout` in seconds counts from `started` on time.monotonic, which is now; None is no limit.
    `progress(done, total, place)` and `stage(name)` are called as it goes.

    After the run `why` says what stopped it, if anything did, and `seconds` how long each stage took.
    """

    timeout: float | None = None
    progress: Progress | None = None
    stage: Callable[[str], None] | None = None
    why: str = ""
    left_out: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    deadline: Deadline = field(init=False)
    started: float = field(default_factory=time.monotonic)
    _under_way: str = ""
    _cut: str = ""                          # the stage that was ended before its time
    _origin: Origin = field(default_factory=Origin)
    _at: tuple[int, int] | None = None
    _patience: float = math.inf
    _armed: bool = False
    _told: float = 0.0                      # when a signal first asked it to end
    _trying: float = 0.0                    # when an attempt that may be left out is interrupted; 0: none is under way

    def __post_init__(self) -> None:
        self.deadline = Deadline(self.started + (math.inf if self.timeout is None else self.timeout))

    # -------------------------------------------------------------------------------------------------- what stages ask

    @property
    def over(self) -> bool:
        """Is it time to come to an end?"""
        return time.monotonic() > self.deadline

    @property
    def interrupted(self) -> bool:
        return self.why in (CTRL_C, TERMINATED)

    @contextmanager
    def during(self, stage: str) -> Iterator[None]:
        """The stage of this name, one of DOING."""
        if self.interrupted:
            raise Stopped                    # proving has come to its end; what would follow is not begun
        started = time.monotonic()
        self._under_way = stage
        if self.stage is not None:
            self.stage(stage)
        try:
            yield
        finally:
            self.seconds[stage] = time.monotonic() - started

    def sparing(self, attempts: Iterator[T], share: float, lost: str) -> Iterator[T]:
        """The attempts that can be made in this share of the time that is left. The one under way when that is spent is
        interrupted; `lost` is the note that says so."""
        until = time.monotonic() + share * (self.deadline - time.monotonic())
        while time.monotonic() < until and not self.over:
            self._trying = until
            self._wait(self._next() - time.monotonic())
            try:
                made = next(attempts, None)
            except Stopped:
                if time.monotonic() >= self._patience:
                    raise
                break
            finally:
                self._trying = 0.0
                self._wait(self._next() - time.monotonic())
            if made is None:
                return
            yield made
        if not self.interrupted:
            self.left_out.append(lost)

    def advance(self, done: int, total: int, place: str) -> None:
        """Proving has come to this place."""
        self._at = done, total
        if self.progress is not None:
            self.progress(done, total, place)

    def notes(self) -> list[str]:
        """What the report must say of how the run ended; nothing if every stage came to its own end."""
        if not self._cut and not self.interrupted:
            return self.left_out
        stage = self._cut or self._under_way
        place = f", at {self._origin}" if self._origin.file else ""
        if stage == GENTLY and self._at is not None:
            place = f", at operator {self._at[0] + 1} of {self._at[1]}"
        why = {TERMINATED: "the process was told to end (SIGTERM)"}.get(self.why, "Ctrl-C was pressed")
        if self.why == TIME:
            why = f"the time limit was reached ({self.timeout:g} seconds)"
        stopped = f"Stopped while {DOING.get(stage, stage)}{place}: {why}. What is missing was not tried."
        return [*self.left_out, stopped]

    # ------------------------------------------------------------------------------------------------ how it is stopped

    @contextmanager
    def bounded(self, *, interrupts: bool = False) -> Iterator[None]:
        """What is done here ends when the run is over: the block is left early, and what it assigned stays.

        With `interrupts` a Ctrl-C ends it too, or a SIGTERM, as `timeout 60 samesame …` sends; a later one raises
        KeyboardInterrupt at once.
        """
        with self._signals(interrupts):
            try:
                yield
            except Stopped as stopped:
                if self._armed:
                    signal.setitimer(signal.ITIMER_REAL, 0)
                self._cut, self._origin = self._under_way, line_of_error(stopped)

    @contextmanager
    def _signals(self, interrupts: bool) -> Iterator[None]:
        heard = list(self._heard(interrupts))
        before = {number: signal.signal(number, self._on_signal) for number in heard}
        self._armed = self._armed or signal.SIGALRM in before
        if signal.SIGINT in before:
            z3.set_param("ctrl_c", False)                                     # else a query takes it for itself
        if signal.SIGALRM in before and self.timeout is not None:
            self._wait(self.deadline - time.monotonic())
        try:
            yield
        finally:
            if signal.SIGALRM in before:
                self._armed = False
                signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in before.items():         # what is left to do is to report: it is not told again
                again = number == signal.SIGTERM and self.why == TERMINATED
                signal.signal(number, signal.SIG_IGN if again else handler)

    def _heard(self, interrupts: bool) -> Iterator[int]:
        """The signals that nobody else wants, where there are signals at all."""
        if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
            return
        free = signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
        if free and (self.timeout is not None or interrupts) and not any(signal.getitimer(signal.ITIMER_REAL)):
            yield signal.SIGALRM
        if interrupts and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            yield signal.SIGINT
        if interrupts and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            yield signal.SIGTERM

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if number in (signal.SIGINT, signal.SIGTERM):
            if not self.interrupted:
                self.why = CTRL_C if number == signal.SIGINT else TERMINATED
                self._told, self._patience = now, now + (PATIENCE if self._under_way == GENTLY else 0.0)
            elif now > self._told + TWICE[signal.Signals(number)] and not _held:
                raise KeyboardInterrupt
        elif not self.why and self.timeout is not None and now >= self.started + self.timeout:
            self.why = TIME
            self._patience = self.started + max(TOLERANCE * self.timeout, STARTING)
        gently = bool(self.why) and self._under_way == GENTLY
        if gently:
            self.deadline.passed()
            _cut_proof()
        if now >= min(self._patience, -math.inf if gently and self._trying else self._trying or math.inf):
            self._wait(AGAIN_RAISED)
            if not _held and (frame is None or frame.f_code.co_filename not in LEAVING):
                raise Stopped
            return
        self._wait(AGAIN if gently else self._next() - now)

    def _next(self) -> float:
        """When something is due, on time.monotonic."""
        due = self._patience if self.why else float(self.deadline)
        return min(due, self._trying or math.inf)

    def _wait(self, seconds: float) -> None:
        if self._armed and seconds < math.inf:
            signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))


@contextmanager
def undisturbed() -> Iterator[None]:
    """What is short and must not be left half done: no signal ends it here; a run that is over ends right after."""
    _held.append(None)
    try:
        yield
    finally:
        _held.pop()


def _cut_proof() -> None:
    """The proof under way is out of time at its next step."""
    under_way = effort.current()
    if math.isfinite(under_way.deadline):
        under_way.deadline = -1.0
