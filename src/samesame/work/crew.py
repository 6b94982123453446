"""A crew: workers at one place or two, and the tasks that they share.

Tasks are taken from their source as hands get free, so that it may go on for ever, or say what comes next by what has
been found so far. A worker that crashes takes nothing with it but the task it was at, which another tries once more; a
task that takes too long is ended together with its worker; a machine that is lost gives its tasks back. So nothing is
lost, and what is done is not done twice. Results come in the order in which they are reached.
"""

from __future__ import annotations

import math
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any, Protocol

from samesame.evidence import SamesameError
from samesame.work.local import CRASHED, DONE, GONE, LOST, READY, Local, Message, Work
from samesame.work.tasks import Done, Lost, NoResult, Task

STARTING = 300.0                            # seconds in which a worker loads what it needs
LOSSES = 3                                  # machines that a task, or a beginning, may be lost with
TURN = 1.0                                  # seconds between two looks at the clock


class Worker(Protocol):
    """One that does a task at a time; its pipe has something when it has something to say."""

    pipe: Any

    def give(self, task: Task) -> bool: ...
    def heard(self) -> Message: ...
    def last_words(self) -> str: ...
    def end(self) -> None: ...


class Workplace(Protocol):
    """Where workers are: this machine or others, with room for so many; `spoken` is what follows `a worker`. One that
    has done so many `tasks_each` makes room for a fresh one."""

    here: bool
    jobs: int
    tasks_each: int | None
    spoken: str

    def begin(self) -> Worker: ...
    def close(self) -> None: ...


@dataclass(slots=True, eq=False)
class _Hand:
    """A worker, and what it is at."""

    worker: Worker
    place: Workplace
    until: float
    began: float
    ready: bool = False
    task: Task | None = None
    done: int = 0


@dataclass(slots=True)
class Crew:
    """Workers at these places: the first is for all tasks but those to be done here, where it is not here itself.

    A task that crashes its process is tried so many times. `watch` is called at least once a second. Used as a context,
    at whose end all workers are gone and the places closed.
    """

    places: Sequence[Workplace]
    tries: int = 2
    watch: Callable[[], None] = lambda: None
    _hands: list[_Hand] = field(default_factory=list)
    _waiting: deque[Task] = field(default_factory=deque)
    _source: Iterator[Task] = field(default_factory=lambda: iter(()))
    _crashes: Counter[str] = field(default_factory=Counter)
    _losses: Counter[str] = field(default_factory=Counter)
    _handler: Any = None

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self.rest()
        for place in self.places:
            place.close()

    def rest(self) -> None:
        """End all workers, and what they are at."""
        for hand in self._hands:
            hand.worker.end()
        self._hands = []

    @property
    def under_way(self) -> list[tuple[Task, float]]:
        """The tasks that are under way, and for how many seconds, the longest first."""
        now = time.monotonic()
        found = [(hand.task, now - hand.began) for hand in self._hands if hand.task is not None]
        return sorted(found, key=lambda pair: -pair[1])

    def add(self, *tasks: Task) -> None:
        """More to do, before all that is still waiting."""
        self._waiting.extendleft(reversed(tasks))

    def results(self, tasks: Iterable[Task], until: float = math.inf) -> Iterator[Done]:
        """Each task with its result, or Lost. Ends at `until` on time.monotonic, with what is then under way ended.
        Raises SamesameError where no worker can be made ready."""
        self._source, self._waiting = iter(tasks), deque()
        self._crashes, self._losses = Counter(), Counter()
        while any(hand.task for hand in self._hands) or self._pulled(1):
            if time.monotonic() > until:
                self.rest()
                return
            self._staff()
            self._hand_out()
            yield from self._collected(until)
            self.watch()

    # ---------------------------------------------------------------------------------------------- who does what

    def _does(self, place: Workplace, task: Task) -> bool:
        return place.here if task.here else place is self.places[0]

    def _pulled(self, count: int, place: Workplace | None = None) -> bool:
        """Do so many tasks wait, that this place does? They are taken from the source as far as need be."""
        while sum(place is None or self._does(place, task) for task in self._waiting) < count:
            task = next(self._source, None)
            if task is None:
                return False
            self._waiting.append(task)
        return True

    def _staff(self) -> None:
        """Begin workers while there is more to do than there are hands."""
        for place in self.places:
            mine = [hand for hand in self._hands if hand.place is place]
            idle = sum(hand.task is None for hand in mine)
            while len(mine) < place.jobs and self._pulled(idle + 1, place):
                now = time.monotonic()
                mine.append(_Hand(place.begin(), place, now + STARTING, now))
                self._hands.append(mine[-1])
                idle += 1

    def _hand_out(self) -> None:
        for hand in list(self._hands):
            if hand.ready and hand.task is None and self._pulled(1, hand.place):
                task = next(task for task in self._waiting if self._does(hand.place, task))
                self._waiting.remove(task)
                if not hand.worker.give(task):              # it ended while it had nothing to do
                    self.add(task)
                    self._dismiss(hand)
                    continue
                hand.task, hand.began = task, time.monotonic()
                hand.until = hand.began + task.limit

    # ------------------------------------------------------------------------------------------------ what comes in

    def _collected(self, until: float) -> Iterator[Done]:
        """What has come in by the next moment at which a worker is out of time."""
        watched = [hand for hand in self._hands if hand.task is not None or not hand.ready]
        soonest = min([until, *(hand.until for hand in watched)])
        ready = wait([hand.worker.pipe for hand in watched], min(TURN, max(0.0, soonest - time.monotonic())))
        for hand in watched:
            if hand.worker.pipe in ready:
                yield from self._heard(hand)
            elif time.monotonic() > hand.until:
                yield from self._late(hand)

    def _heard(self, hand: _Hand) -> Iterator[Done]:
        kind, content = hand.worker.heard()
        if kind == READY:
            hand.ready = True
            self._losses[""] = 0
        elif kind in (DONE, LOST):
            yield self._done(hand, content)
        elif kind == CRASHED:
            yield from self._crashed(hand, content)
        elif kind == GONE:
            yield from self._gone(hand, content)
        else:
            self._dismiss(hand)
            raise SamesameError(str(content))

    def _done(self, hand: _Hand, result: Any) -> Done:
        assert hand.task is not None
        found = Done(hand.task, result, time.monotonic() - hand.began, hand.place.here)
        hand.task, hand.done = None, hand.done + 1
        if hand.done == hand.place.tasks_each:
            self._dismiss(hand)
        return found

    def _crashed(self, hand: _Hand, code: int | None) -> Iterator[Done]:
        """The task goes back to where it was; a worker that crashes before it is ready would do so again."""
        printed, how = hand.worker.last_words(), in_words(code)
        self._dismiss(hand)
        if hand.task is None:
            raise SamesameError(f"a worker process{hand.place.spoken} {how} while it loaded the libraries; run with "
                                "--jobs 1 and look at what it says on stderr")
        self._crashes[hand.task.key] += 1
        if self._crashes[hand.task.key] < self.tries:
            self.add(hand.task)
        else:
            why = f"the process that ran it {how}" + (", twice" if self.tries == 2 else "")
            yield self._done(hand, Lost(why, printed, code))

    def _gone(self, hand: _Hand, how: str) -> Iterator[Done]:
        """A machine is no fault of its task; of one with which many are lost it may be."""
        self._dismiss(hand)
        about = hand.task.key if hand.task else ""
        self._losses[about] += 1
        if self._losses[about] < LOSSES:
            if hand.task is not None:
                self.add(hand.task)
        elif hand.task is None:
            raise SamesameError(f"no worker{hand.place.spoken} begins: {how}")
        else:
            yield self._done(hand, Lost(f"{LOSSES} machines were lost while they were at it: {how}"))

    def _late(self, hand: _Hand) -> Iterator[Done]:
        self._dismiss(hand)
        if hand.task is not None:
            lost = Lost(f"it was ended after {hand.task.limit:.0f} s; give it more time, or make it smaller")
            yield self._done(hand, lost)
        elif not any(other.ready for other in self._hands if other.place is hand.place):
            raise SamesameError(f"a worker{hand.place.spoken} was not ready within {STARTING:.0f} s; give fewer --jobs")
        else:
            hand.place.jobs -= 1                            # a machine less, say: the others go on

    def _dismiss(self, hand: _Hand) -> None:
        if hand in self._hands:
            hand.worker.end()
            self._hands.remove(hand)


def in_forks(prepare: str, given: Sequence[Any], folder: str) -> Work:
    """Does each task in a fork of this process, which has loaded what all of them need; for a worker, which has to see
    the `folder` that tasks name files in. Raises SamesameError where it does not."""
    if not os.path.isdir(folder):
        raise SamesameError(f"a machine of the cluster has no folder {folder}; every machine has to see it there")
    place = Local(prepare, given, forks=True, tasks_each=1)

    def work(content: Any) -> Any:
        with Crew([place], tries=1) as crew:
            (done,) = crew.results([Task("", content)])
        if isinstance(done.result, Lost):
            raise NoResult(done.result)
        return done.result

    return work


def in_words(code: int | None) -> str:
    """How a process ended."""
    if code is not None and code < 0:
        try:
            return f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"was ended by signal {-code}"
    return f"ended with exit code {code}"
