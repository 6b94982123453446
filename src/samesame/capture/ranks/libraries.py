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
from types import FunctionType, ModuleType
from typing import Any

import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh

NOT_LIBRARIES = frozenset(sys.stdlib_module_names) | {"torch", "samesame", "numpy", "z3", "sympy", "__main__"}
IMPORTED = (ModuleType, FunctionType, type)                # bound late, to the same thing on any rank
TABLES = (dict, list, set)
LARGE = 1000                                               # a table of more entries is looked into only if it has grown


@contextmanager
def forgotten() -> Iterator[None]:
    """Inside, modules of libraries may be told of process groups; afterwards they know of none."""
    spaces = [vars(module) for name, module in list(sys.modules.items())
              if module is not None and name.partition(".")[0] not in NOT_LIBRARIES]
    before = [dict(space) for space in spaces]
    tables = {id(table): table for space in before for table in space.values() if type(table) in TABLES}
    known = {key: _known(table) for key, table in tables.items()}   # each once: all modules have one of builtins
    caches = [thing for space in before for thing in space.values()      # isinstance would load what a proxy is
              if type(thing) is _lru_cache_wrapper and not thing.cache_info().currsize]
    try:
        yield
    finally:
        for cache in caches:
            cache.cache_clear()
        for space, old in zip(spaces, before, strict=True):
            for name, value in old.items():
                if (now := space.get(name, value)) is not value and not isinstance(now, IMPORTED):
                    space[name] = value
        for key, table in tables.items():
            _without_groups(table, known[key])


def _known(table: Any) -> set[int] | int:
    """The entries of a table, by identity; of a large one how many there are."""
    if len(table) > LARGE:
        return len(table)
    return set(map(id, table.values() if isinstance(table, dict) else table))


def _without_groups(table: Any, known: set[int] | int) -> None:
    """Take out of a table of a module the groups that were put there."""
    if isinstance(known, int) and len(table) == known:
        return
    before = set[int]() if isinstance(known, int) else known
    if isinstance(table, dict):
        for key in [key for key, value in table.items() if id(value) not in before and _is_of_group(key, value)]:
            del table[key]
    else:
        for value in [value for value in table if id(value) not in before and _is_of_group(value)]:
            table.remove(value)


def _is_of_group(*things: Any) -> bool:
    parts = [part for thing in things for part in (thing if isinstance(thing, tuple | list) else (thing,))]
    return any(isinstance(part, dist.ProcessGroup | DeviceMesh) for part in parts)
