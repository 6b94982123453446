"""Views: NumPy arrays and storages, made before the program runs, that lie in the memory of its weights or inputs.

What a program reads through one of these passes no operator. They are looked for where a program can keep them: in the
attributes of its modules and objects, in its closures and the globals that its functions name, inside lists and dicts.
"""

from __future__ import annotations

import inspect
import random
import sys
import types
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import torch
from torch import nn

from samesame.capture.memory import has_memory
from samesame.capture.program import Program, holdings, referred
from samesame.evidence import Refused
from samesame.programs.origins import INSTALLED, is_users
from samesame.programs.outputs import kind_of_value

DEEP = 4                                    # containers and functions within one another
STORAGES = (torch.UntypedStorage, torch.TypedStorage)


def demand_no_views(program: Program, written: Iterable[torch.Tensor]) -> None:
    """Raise Refused where the program holds an array or a storage in the memory of a parameter, of an input, or of a
    tensor that it has `written` into."""
    found = list(reachable(program.program, memories()))
    if not found:
        return
    weights = [(name, x) for part, name, x in holdings(program.program)[1] if part == "parameter" and has_memory(x)]
    weights += [*program.given, *(("what it writes into", tensor) for tensor in written)]
    for name, thing in found:
        first, last = span(thing)
        for title, tensor in weights:
            memory = tensor.untyped_storage()
            if first < memory.data_ptr() + memory.nbytes() and memory.data_ptr() < last:
                raise Refused(
                    f"{program.title} keeps {name}, {kind_of_value(thing)} in the memory of {title}: what it reads "
                    "there is not seen; give it a copy"
                )


def memories() -> tuple[type, ...]:
    """What gives memory away without an operator."""
    numpy = sys.modules.get("numpy")
    return (*STORAGES, memoryview, bytearray, *(() if numpy is None else (numpy.ndarray,)))


def keeps_dice(program: Program) -> bool:
    """Whether the program has a generator of random numbers that is no tensor's."""
    numpy = sys.modules.get("numpy")
    dice = (random.Random, *(() if numpy is None else (numpy.random.Generator, numpy.random.RandomState)))
    return next(reachable(program.program, dice), None) is not None


def span(thing: Any) -> tuple[int, int]:
    """The first byte of what lies in memory, and the one after its last."""
    if isinstance(thing, STORAGES):
        return thing.data_ptr(), thing.data_ptr() + thing.nbytes()
    import numpy

    array = numpy.frombuffer(thing, numpy.uint8) if isinstance(thing, bytearray) else numpy.asarray(thing)
    start = array.__array_interface__["data"][0]
    steps = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    low, high = sum(step for step in steps if step < 0), sum(step for step in steps if step > 0)
    return (start + low, start + high + array.itemsize) if array.size else (0, 0)


def reachable(program: Any, wanted: tuple[type, ...]) -> Iterator[tuple[str, Any]]:
    """The things of these kinds that a program can reach by name, with the name."""
    seen = set[int]()
    todo = [(name or "it", thing, 0) for name, thing in (*referred(program), ("", program))]
    while todo:
        name, thing, depth = todo.pop()
        if isinstance(thing, wanted):
            yield name, thing
        elif depth < DEEP and id(thing) not in seen:
            seen.add(id(thing))
            todo += [(part, inside, depth + 1) for part, inside in inside_of(name, thing)]


def inside_of(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """What a thing holds: the elements of containers, what functions refer to, the attributes of the user's objects."""
    if isinstance(thing, dict):
        yield from ((f"{name}[{key!r}]", part) for key, part in thing.items())
    elif isinstance(thing, list | tuple | set | frozenset):
        yield from ((f"{name}[{k}]", part) for k, part in enumerate(thing))
    elif isinstance(thing, types.FunctionType):
        if is_written_by_user(thing.__code__.co_filename):
            outer = inspect.getclosurevars(thing)
            yield from {**outer.globals, **outer.nonlocals}.items()
    elif isinstance(thing, types.MethodType):
        yield from ((thing.__func__.__qualname__, thing.__func__), (name, thing.__self__))
    elif isinstance(thing, nn.Module):
        for part in thing.modules():
            kept = (value for value in vars(part).items() if value[0] not in OF_TORCH)
            yield from kept
            yield from methods(type(part))
    elif not isinstance(thing, type | types.ModuleType | torch.Tensor):
        yield from getattr(thing, "__dict__", {}).items()
        yield from methods(type(thing))


OF_TORCH = frozenset(vars(nn.Module()))


def methods(kind: type) -> Iterator[tuple[str, Any]]:
    """The user's functions among the attributes of a class, and what else it holds."""
    for base in kind.__mro__:
        if is_written_by_user(getattr(sys.modules.get(base.__module__), "__file__", None) or ""):
            yield from vars(base).items()


@lru_cache(maxsize=4096)
def is_written_by_user(file: str) -> bool:
    """Whether a file is the user's own: neither torch nor anything installed."""
    return bool(file) and is_users(file) and not any(folder in file for folder in INSTALLED)
