"""Alive: which tensors exist when a program begins, so that one it finds can be told from one made behind torch.

Whoever asks Python's garbage collector for objects is given those of other threads too, down to a tuple that is only
half built; as long as somebody else holds it, the thread that builds it fails. So objects are picked by functions of C
alone, called by one of them: no other thread has a turn until all but what is wanted has been let go.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, compress
from operator import call
from threading import Lock
from typing import Any

import torch


def tensors_alive() -> dict[int, torch.Tensor]:
    """Every tensor that exists now, by id; inside `tensors_known` those it knows and those that are new."""
    with _one_at_a_time:
        return _known | _among_objects()


def _among_objects() -> dict[int, torch.Tensor]:
    """The tensors among the objects that Python's garbage collector goes through, by id."""
    kinds, more = set[type](), [torch.Tensor]
    while more:
        kinds.update(more)
        more = [kind for parent in more for kind in type.__subclasses__(parent) if kind not in kinds]
    return {id(thing): thing for thing in _of_kinds(kinds)}


def _of_kinds(kinds: Iterable[type]) -> list[Any]:
    """The objects of these very types among all. The steps are done by one call, without a turn for anybody between."""
    among = set(map(id, kinds)).__contains__               # by id: a type may be compared by code in Python
    everything, wanted, found = list[Any](), list[bool](), list[Any]()
    steps: tuple[Callable[[], None], ...] = (
        partial(everything.extend, chain.from_iterable(map(gc.get_objects, [None]))),
        partial(wanted.extend, map(among, map(id, map(type, everything)))),
        partial(found.extend, compress(everything, wanted)),
        everything.clear,
    )
    deque(map(call, steps), 0)
    return found


# The collector is told for all threads at once, so what it leaves alone is known to all of them.
_known: dict[int, torch.Tensor] = {}
_one_at_a_time = Lock()
_left = [0]                 # objects that were there after the last time that all were gone through
GROWN = 1.25                # times as many objects: time to go through all, by Python's own rule


@contextmanager
def tensors_known() -> Iterator[None]:
    """Inside, finding out which tensors exist looks at new objects only: a process has hundreds of thousands of others.

    Python's garbage collector is told to leave the objects of now alone, and told of them again afterwards. Where that
    is so already, by whoever began first or by a process that does it itself, nothing is done.
    """
    begun = False
    try:
        with _one_at_a_time:
            if not gc.get_freeze_count():
                begun = True                               # first, as a limit of time may end it anywhere
                _collect_if_due()
                _known.update(_among_objects())
                gc.freeze()
        yield
    finally:
        if begun:
            with _one_at_a_time:
                gc.unfreeze()
                _known.clear()


def _collect_if_due() -> None:
    """Let go of what only refers to itself. What the collector was told to leave alone counts as old afterwards and, as
    it was never new to it, as no reason to go through old objects: so many a recording's would stay for good."""
    if _counted() > GROWN * _left[0]:
        gc.collect()
        _left[0] = _counted()


def _counted() -> int:
    """How many objects there are."""
    gc.freeze()
    try:
        return gc.get_freeze_count()
    finally:
        gc.unfreeze()


@contextmanager
def all_gone_through() -> Iterator[None]:
    """Inside, the collector goes through every object again, as one has to that asks who holds a thing. What has been
    made meanwhile is known afterwards, like all that it then leaves alone."""
    frozen = bool(gc.get_freeze_count())
    if frozen:
        gc.unfreeze()
    try:
        yield
    finally:
        if frozen:
            with _one_at_a_time:
                _known.update(_among_objects())
                gc.freeze()
