"""Outputs: what a program returns, taken apart into its tensors, each with the name of its place, and how they are put
together.

Tuples, lists, dicts and objects with named fields (dataclasses, Transformers' ModelOutput) are opened; numbers,
strings and the like are values; key-value caches are named and left out. Anything else is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import torch

from samesame.evidence import Refused
from samesame.graph.interface import Key, Structure, path_name

PLAIN = (type(None), bool, int, float, complex, str, bytes, Enum, torch.dtype, torch.device)
VALUES = (*PLAIN[1:], torch.memory_format, torch.layout, range, slice, type)


def taken_apart(outputs: Any, title: str) -> tuple[Structure, list[tuple[str, torch.Tensor]]]:
    """The structure of what a program called `title` returned, and its tensors by name, in order. Raises Refused for
    what cannot be looked into."""
    found: list[tuple[str, torch.Tensor]] = []
    return _opened(outputs, (), found, title, ()), found


def _opened(
    part: Any, keys: tuple[Any, ...], found: list[tuple[str, torch.Tensor]], title: str, inside: tuple[int, ...]
) -> Structure:
    name = path_name((), keys) or "0"
    if isinstance(part, torch.Tensor):
        found.append((name, part))
        return Structure("tensor", name)
    if part is None:
        return Structure("none")
    if is_cache(part):
        return Structure("cache", name)
    if isinstance(part, VALUES):
        return Structure("value", value=part)
    if id(part) in inside:
        raise Refused(f"{title} returns {kind_of_value(part)} that holds itself (output {name}); return tensors")
    kind, parts = _parts(part)
    if kind is None:
        raise Refused(
            f"{title} returns {kind_of_value(part)} (output {name}), which is no tensor; return "
            "tensors, or lists, tuples or dicts of them"
        )
    within = (*inside, id(part))
    opened = tuple((key, _opened(value, (*keys, step), found, title, within)) for key, step, value in parts)
    return Structure(kind, parts=opened, value=type(part).__name__)


def _parts(thing: Any) -> tuple[str | None, Iterable[tuple[Any, Any, Any]]]:
    """What kind of container this is, if it is one, and what it holds: keys, the steps of paths, values."""
    if isinstance(thing, Mapping):
        return "output" if is_model_output(thing) else "dict", ((key, Key(key), value) for key, value in thing.items())
    if isinstance(thing, tuple | list):
        names = getattr(thing, "_fields", range(len(thing)))
        kind = "tuple" if isinstance(thing, tuple) else "list"
        return kind, ((k, name, part) for k, (name, part) in enumerate(zip(names, thing, strict=True)))
    if is_dataclass(thing) and not isinstance(thing, type):
        return "fields", ((part.name, part.name, getattr(thing, part.name, None)) for part in fields(thing))
    return None, ()


def is_model_output(value: Any) -> bool:
    """Whether this is what a model of Transformers (or of Diffusers) returns: a tuple and a dict at once."""
    return isinstance(value, Mapping) and any(kind.__name__ in ("ModelOutput", "BaseOutput")
                                              for kind in type(value).__mro__)


def is_cache(value: Any) -> bool:
    """Whether this is one of Transformers' caches of keys and values, which a model returns for its own use."""
    return any(kind.__module__ == "transformers.cache_utils" for kind in type(value).__mro__)


def kind_of_value(value: Any) -> str:
    """What kind of thing this is, in a sentence: `an int`, `a Tensor`, `None`."""
    if value is None:
        return "None"
    kind = type(value).__name__
    return f"{'an' if kind[:1].lower() in 'aeio' else 'a'} {kind}"


def place_name(prefix: tuple[str, ...], path: Any) -> str:
    """A place in nested tuples, lists and dicts that torch's pytrees give, such as `states.0.key`."""
    return path_name(prefix, names_of(path))


def names_of(path: Any) -> Iterator[Any]:
    """The keys of a path that torch's pytrees give."""
    for key in path:
        if hasattr(key, "idx"):
            yield key.idx
        elif hasattr(key, "key"):
            yield Key(key.key)
        else:
            yield getattr(key, "name", key)
