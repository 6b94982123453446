"""The weights of a function of JAX: arrays that it holds, in pytrees, closures, globals and bound arguments.

Each has the name of its place. An array in a jaxpr is a weight if it is that very array (NumPy's: that very memory),
never because it holds equal numbers: `np.ones(8)` in a program is a literal, though a scale may be ones, too.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from types import CellType, CodeType, ModuleType
from typing import Any

import numpy
import torch

from samesame.evidence import Refused
from samesame.graph.interface import path_name
from samesame.programs.origins import is_users

LIBRARIES = ("jax", "jaxlib", "numpy", "flax", "equinox", "jaxtyping", "haiku", "optax", "einops", "torch")
DTYPES = {
    "float32": torch.float32, "float64": torch.float64, "float16": torch.float16, "bfloat16": torch.bfloat16,
    "int8": torch.int8, "int16": torch.int16, "int32": torch.int32, "int64": torch.int64, "uint8": torch.uint8,
    "bool": torch.bool,
}


class Weights:
    """The arrays that a function holds, as tensors by name."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.names: dict[Any, str] = {}
        self.tensors: dict[str, torch.Tensor] = {}
        self.held: list[Any] = []                          # so that no other array gets one's identity
        for name, array in places_of("", function, set()):
            if identity(array) not in self.names:
                self.keep(name, array)

    def keep(self, name: str, array: Any) -> None:
        tensor = tensor_of(array)
        tensor.requires_grad_(tensor.is_floating_point())
        while name in self.tensors:                        # globals of two files may have one name
            name += "_"
        self.names[identity(array)], self.tensors[name] = name, tensor
        self.held.append(array)

    def tensor(self, array: Any) -> torch.Tensor | None:
        """The tensor of an array; None for one that is no weight."""
        name = self.names.get(identity(array))
        return None if name is None else self.tensors[name]


def identity(array: Any) -> Any:
    """What tells an array from others that hold equal numbers."""
    import jax

    if isinstance(array, jax.Array):
        return id(array)
    memory = numpy.asarray(array).__array_interface__
    return memory["data"][0], memory["shape"], memory["strides"], memory["typestr"]


def tensor_of(array: Any) -> torch.Tensor:
    """JAX's array as a tensor of its own."""
    name = str(array.dtype)
    if name not in DTYPES:
        raise Refused(f"a JAX array of {name} has no counterpart in torch")
    plain = numpy.asarray(array.astype("float32") if name == "bfloat16" else array)
    return torch.from_numpy(plain.copy()).to(DTYPES[name])


def array_of(tensor: torch.Tensor) -> Any:
    import jax.numpy

    plain = tensor.detach()
    array = jax.numpy.asarray((plain.float() if plain.dtype is torch.bfloat16 else plain).numpy())
    return array.astype("bfloat16") if plain.dtype is torch.bfloat16 else array


def places_of(name: str, thing: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """The arrays that something refers to, each with the name of its place."""
    import jax

    if id(thing) in seen:
        return
    seen.add(id(thing))
    for path, leaf in jax.tree_util.tree_flatten_with_path(thing)[0]:
        keys = (getattr(key, "key", getattr(key, "idx", getattr(key, "name", key))) for key in path)
        place = path_name((name,) if name else (), tuple(map(str, keys)))
        if isinstance(leaf, jax.Array) or (isinstance(leaf, numpy.ndarray) and str(leaf.dtype) in DTYPES):
            yield place, leaf
        else:
            for part, inner in held_by(leaf):
                yield from places_of(part or place, inner, seen)
    for part, inner in spoken_of(type(thing).__call__ if callable(thing) else None):
        yield from places_of(part, inner, seen)


def held_by(thing: Any) -> Iterator[tuple[str, Any]]:
    """What something that is no pytree refers to: arguments that are bound, variables around a function, the object
    that a method is of, attributes."""
    if isinstance(thing, functools.partial):
        yield "", thing.func
        yield from ((str(k), part) for k, part in enumerate(thing.args))
        yield from thing.keywords.items()
    elif inspect.ismethod(thing):
        yield "", thing.__func__
        yield "", thing.__self__
    elif inspect.isfunction(thing):
        yield from spoken_of(thing)
    elif hasattr(thing, "__wrapped__"):
        yield "", thing.__wrapped__
    elif getattr(thing, "scope", None) is not None and hasattr(thing, "variables"):
        yield "", thing.variables                          # a module of flax.linen that is bound to its variables
    elif is_own(type(thing)) and hasattr(thing, "__dict__"):
        yield from vars(thing).items()


def spoken_of(function: Any) -> Iterator[tuple[str, Any]]:
    """What the names in a function of the user's stand for: variables around it, and those of modules that it names."""
    if not inspect.isfunction(function) or not is_own(function):
        return
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    scope = function.__globals__ | {name: value for name, cell in cells for value in content(cell)}
    names = dict.fromkeys(names_in(function.__code__))
    for name in names:
        thing = scope.get(name)
        if isinstance(thing, ModuleType) and is_own(thing):
            yield from ((f"{name}.{part}", vars(thing)[part]) for part in names if part in vars(thing))
        else:
            yield name, thing


def is_own(thing: Any) -> bool:
    """Whether a function, class or module is the user's: of no library whose arrays are nobody's weights."""
    name = thing.__name__ if isinstance(thing, ModuleType) else thing.__module__ or ""
    file = getattr(sys.modules.get(name), "__file__", None) or getattr(thing, "__file__", None)
    return name.partition(".")[0] not in LIBRARIES and (file is None or is_users(file)) and name != "builtins"


def content(cell: CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:                                     # nothing was put there yet
        return ()


def names_in(code: CodeType) -> Iterator[str]:
    """The names that a function speaks of, and the functions inside of it."""
    yield from (*code.co_names, *code.co_freevars)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from names_in(part)
