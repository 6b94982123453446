"""Alive: which tensors exist when a program begins, so that one it finds can be told from one made behind torch."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

import torch


def tensors_alive() -> dict[int, torch.Tensor]:
    """Every tensor that exists now, by id; inside `tensors_known` those it knows and those that are new."""
    kinds, more = set[type](), [torch.Tensor]
    while more:
        kinds.update(more)
        more = [kind for parent in more for kind in type.__subclasses__(parent) if kind not in kinds]
    return dict(_known.get()) | {id(thing): thing for thing in gc.get_objects() if type(thing) in kinds}


_known: ContextVar[Mapping[int, torch.Tensor]] = ContextVar("known", default=MappingProxyType({}))


@contextmanager
def tensors_known() -> Iterator[None]:
    """Inside, finding out which tensors exist looks at new objects only: a process has hundreds of thousands of others.

    Python's garbage collector is told to leave the objects of now alone, and told of them again afterwards. A process
    that has done so itself is not touched.
    """
    if gc.get_freeze_count():
        yield
        return
    token = _known.set(tensors_alive())
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        _known.reset(token)
