"""What libraries keep of their process groups, between one rank and the next.

Megatron, fairscale, DeepSpeed and others make their groups once and keep them in variables of their modules: "this is
rank 1, of that group". Here ranks run one after the other in one process, and the next one would find what the last one
was told. So what was bound anew in a module while a rank was made and ran is bound again to what it was before,
groups that were put into a module's tables are taken out of them, and functions that remember what they were first
asked (`@cache def get_rank()`) forget it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import _lru_cache_wrapper
from operator import is_
from types import FunctionType, ModuleType
from typing import Any

import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh

NOT_LIBRARIES = frozenset(sys.stdlib_module_names) | {"torch", "samesame", "numpy", "z3", "sympy", "__main__"}
IMPORTED = (ModuleType, FunctionType, type)                # bound late, to the same thing on any rank
KEEPING = frozenset({dict, list, set, _lru_cache_wrapper})
LARGE = 1000                                               # a table of more entries is looked into only if it has grown


@contextmanager
def forgotten() -> Iterator[None]:
    """Inside, modules of libraries may be told of process groups; afterwards they know of none.

    A process with models in it has some hundred thousand variables in its modules, and ranks are many, so what can be
    compared as a whole is.
    """
    spaces = [vars(module) for name, module in list(sys.modules.items())
              if module is not None and name.partition(".")[0] not in NOT_LIBRARIES]
    before = [dict(space) for space in spaces]
    # isinstance would load what a proxy is
    kept = [thing for space in before for thing in space.values() if type(thing) in KEEPING]
    tables = {id(thing): thing for thing in kept if type(thing) is not _lru_cache_wrapper}
    known = {key: _known(table) for key, table in tables.items()}   # each once: all modules have one of builtins
    caches = [thing for thing in kept if type(thing) is _lru_cache_wrapper and not thing.cache_info().currsize]
    try:
        yield
    finally:
        for cache in caches:
            cache.cache_clear()
        for space, old in zip(spaces, before, strict=True):
            for name, value in old.items() if not _same(space, old) else ():
                if (now := space.get(name, value)) is not value and not isinstance(now, IMPORTED):
                    space[name] = value
        for key, table in tables.items():
            _without_groups(table, known[key])


def _same(now: Any, before: Any) -> bool:
    """Whether a table holds the very things it held, in this order."""
    things, others = (x.values() if isinstance(x, dict) else x for x in (now, before))
    return len(now) == len(before) and all(map(is_, things, others))


def _known(table: Any) -> Any:
    """A copy of the table; of a large one how many entries there are."""
    return len(table) if len(table) > LARGE else table.copy()


def _without_groups(table: Any, known: Any) -> None:
    """Take out of a table of a module the groups that were put there."""
    if len(table) == known if isinstance(known, int) else _same(table, known):
        return
    before = set() if isinstance(known, int) else set(map(id, known.values() if isinstance(known, dict) else known))
    if isinstance(table, dict):
        for key in [key for key, value in table.items() if id(value) not in before and _is_of_group(key, value)]:
            del table[key]
    else:
        for value in [value for value in table if id(value) not in before and _is_of_group(value)]:
            table.remove(value)


def _is_of_group(*things: Any) -> bool:
    parts = [part for thing in things for part in (thing if isinstance(thing, tuple | list) else (thing,))]
    return any(isinstance(part, dist.ProcessGroup | DeviceMesh) for part in parts)
