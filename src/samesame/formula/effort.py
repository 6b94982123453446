"""What one proof may spend, what it assumed, and what it remembers.

A proof runs inside `with spending(budget, LAWS) as effort:`, with the laws that forms obey in it (laws.py). Every loop
that can grow calls `step()`, which raises `OutOfBudget` once the time or the number of terms is spent: no signals,
nobody who watches. What a step relies on (`x[i] ≠ 0`) is written down with `assume`, as data, and `meant_under` the
conditions under which it is asked for; what is tried in vain takes back with `unassumed` what it assumed. Functions
marked `@remember` keep their results for one proof, with what these rely on, and forget them when the next one begins,
so a thousand proofs need no more memory than one, and a proof never depends on those before it. All this is each
thread's own: threads that prove at once know nothing of each other."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

from samesame.formula.expr import Unsupported

F = TypeVar("F", bound=Callable[..., Any])


WORK = 5_000  # median over queries of more than 5 ms on claims of the corpus; 3,000 to 6,000


@dataclass(frozen=True)
class Budget:
    """Limits of one proof. Whichever is hit is named in the answer.

    `terms`: terms written in all; `permutations`: labellings tried for one term; `solver`: what one query may take, in
    Z3's own count of its work (`WORK` is about a millisecond of it); `seconds`: for everything, of this thread's own
    time. So a busy machine proves no less, and a query that is answered on one machine is on every other."""

    terms: int = 20_000
    permutations: int = 5_000
    solver: int = 1500 * WORK
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Assumed:
    """What a step relies on: the `relation` holds of the `subject`, a part of the normal form, wherever all `guards`
    do, for all values of its variables. assumptions.py reads it back as an expression."""

    relation: str
    subject: Any
    guards: frozenset[Any] = frozenset()


class OutOfBudget(Unsupported):
    """The proof has spent what it was given; the message names the limit."""


@dataclass
class Effort:
    """The state of the proof under way."""

    budget: Budget
    deadline: float
    laws: Any  # terms.Laws; None outside of proofs, where no form is worked with
    thorough: bool = False  # the second attempt: small sums written out, arguments over common denominators
    by_signs: bool = False  # the third: max, min, abs and sign by the signs of what they compare
    by_factors: bool = False  # the fourth: signs of products by the signs of their factors
    longer: bool = False  # the last: sums of a few more values written out
    terms: int = 0
    steps: int = 0
    solver_calls: int = 0
    solver_proofs: int = 0
    solver_unknown: int = 0
    assumed: list[Assumed] = field(default_factory=list)  # in the order they were met, some several times
    limits: dict[str, None] = field(default_factory=dict)
    dropped: bool = False  # a −∞ was left out of a maximum
    infinite: bool = False  # something was compared with −∞

    def seconds_left(self) -> float:
        return self.deadline - time.thread_time()


class _Here(threading.local):
    """What this thread has under way: the account outside of proofs, then that of a proof; and how its memories are
    emptied."""

    def __init__(self) -> None:
        self.idle = Effort(Budget(), float("inf"), None)
        self.efforts = [self.idle]
        self.memories: list[Callable[[], None]] = []


_here = _Here()


def current() -> Effort:
    """The proof under way; outside of one, a fresh account without a deadline."""
    return _here.efforts[-1]


@contextmanager
def spending(
    budget: Budget, laws: Any, thorough: bool = False, by_signs: bool = False, by_factors: bool = False,
    longer: bool = False,
) -> Iterator[Effort]:
    """Begin a proof by these laws: forget the one before, and count from zero."""
    if len(_here.efforts) > 1:
        raise RuntimeError("a proof cannot begin inside another: it would forget what the other remembers")
    forget()
    _here.idle.assumed.clear()
    effort = Effort(budget, time.thread_time() + budget.seconds, laws, thorough, by_signs, by_factors, longer)
    _here.efforts.append(effort)
    try:
        yield effort
    finally:
        _here.efforts.pop()
        forget()


def step(terms: int = 1) -> None:
    """Account for written terms; raises OutOfBudget when the time or the terms are spent."""
    effort = _here.efforts[-1]
    effort.terms += terms
    if effort is _here.idle:
        return
    if effort.terms > effort.budget.terms * WRITTEN_PER_TERM:
        raise OutOfBudget(f"more than {effort.budget.terms} terms")
    effort.steps += 1
    if effort.deadline < 0 or (effort.steps % LOOKS == 0 and time.thread_time() > effort.deadline):
        raise OutOfBudget(f"more than {effort.budget.seconds:g} seconds")


LOOKS = 8  # steps between two looks at the clock
WRITTEN_PER_TERM = 10  # a term that stays is written about this often on the way: opened, rewritten, merged


def assume(relation: str, subject: Any, guards: Iterable[Any] = ()) -> None:
    """Note what the proof relies on, and under which guards."""
    _here.efforts[-1].assumed.append(Assumed(relation, subject, frozenset(guards)))


@contextmanager
def meant_under(guards: Iterable[Any]) -> Iterator[None]:
    """What is assumed inside is asked for where the guards hold."""
    assumed, held = _here.efforts[-1].assumed, frozenset(guards)
    before = len(assumed)
    try:
        yield
    finally:
        assumed[before:] = [replace(one, guards=one.guards | held) for one in assumed[before:]]


@contextmanager
def unassumed() -> Iterator[Callable[[], None]]:
    """What is assumed inside is taken back, unless the block calls what it is given: it counts."""
    assumed, counts = _here.efforts[-1].assumed, list[bool]()
    before = len(assumed)
    try:
        yield lambda: counts.append(True)
    finally:
        if not counts:
            del assumed[before:]


def limited(limit: str) -> None:
    """Note a limit that was hit without stopping the proof."""
    _here.efforts[-1].limits[limit] = None


class _Memory(threading.local):
    """This thread's results of a function, each with what it relies on."""

    def __init__(self, function: Callable[..., Any]) -> None:
        def found(*args: Any) -> tuple[Any, tuple[Assumed, ...]]:
            assumed = _here.efforts[-1].assumed
            before = len(assumed)
            result = function(*args)
            used = tuple(dict.fromkeys(assumed[before:]))
            del assumed[before:]
            return result, used

        self.recall = lru_cache(maxsize=None)(found)
        on_forget(self.recall.cache_clear)


def remember(function: F) -> F:
    """Keep results for the length of one proof. Arguments are compared by identity or as plain data. Whoever asks for a
    result once more relies on what it relies on."""
    memory = _Memory(function)

    @wraps(function)
    def remembered(*args: Any) -> Any:
        result, used = memory.recall(*args)
        if used:
            _here.efforts[-1].assumed.extend(used)
        return result

    return cast(F, remembered)


def on_forget(clear: Callable[[], None]) -> None:
    """Have `clear` called whenever a proof of this thread begins or ends."""
    _here.memories.append(clear)


def forget() -> None:
    """Empty every memory of the prover on this thread."""
    for clear in _here.memories:
        clear()
