"""Alive: which tensors exist when a program begins, so that one it finds can be told from one made behind torch."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

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
    return {id(thing): thing for thing in gc.get_objects() if type(thing) in kinds}


# The collector is told for all threads at once, so what it leaves alone is known to all of them.
_known: dict[int, torch.Tensor] = {}
_one_at_a_time = Lock()


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
                _known.update(_among_objects())
                gc.freeze()
        yield
    finally:
        if begun:
            with _one_at_a_time:
                gc.unfreeze()
                _known.clear()


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
