"""Alone: a run that puts something in the place of attributes of torch, Triton or Python's own modules.

These are the whole process's: of two such runs at once, one would be told what the other does, and would put back what
the other had put there. So a thread waits until no other is `alone`; a thread that is may go on to whatever asks for
the same. What a program launches from a thread of its own is part of the run that waits for that thread: it is `acting`
for it. A fork waits, too, for what is replaced would stay so in the child.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, local
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_one_at_a_time = Lock()
_own = local()                              # of this thread: is it inside, and does it hold the lock for a fork?


def is_inside() -> bool:
    return getattr(_own, "inside", False)


@contextmanager
def alone() -> Iterator[None]:
    """Inside, no other thread's run replaces anything."""
    if is_inside():
        yield
    else:
        with _one_at_a_time, acting():
            yield


@contextmanager
def acting() -> Iterator[None]:
    """What this thread does inside is done for the run that is alone."""
    before = is_inside()
    try:
        _own.inside = True
        yield
    finally:
        _own.inside = before


def on_behalf(function: Callable[P, T]) -> Callable[P, T]:
    """The function for a thread that this one waits for."""
    if not is_inside():
        return function

    def called(*args: P.args, **keywords: P.kwargs) -> T:
        with acting():
            return function(*args, **keywords)

    return called


def _before_a_fork() -> None:
    _own.forking = not is_inside() and _one_at_a_time.acquire()


def _after_a_fork() -> None:
    if _own.forking:
        _one_at_a_time.release()


os.register_at_fork(before=_before_a_fork, after_in_parent=_after_a_fork, after_in_child=_after_a_fork)
