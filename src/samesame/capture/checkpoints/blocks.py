"""A block of a model, with the inputs that it gets when the model runs."""

from __future__ import annotations

import inspect
from difflib import get_close_matches
from typing import Any

import torch
from torch import nn

from samesame.capture.checkpoints.transformers import ModelProgram
from samesame.evidence import Refused


class _Seen(Exception):
    """The block was called, and the model need not go on."""


def block(program: Any, path: str, inputs: Any = None) -> tuple[nn.Module, dict[str, Any]]:
    """The module at this path of a Transformers model, and the arguments of its first call by name, as a prompt of the
    model (`inputs`, or its own example) is run without a cache. Raises Refused."""
    if not isinstance(program, ModelProgram):
        raise Refused("a block is taken from a model of Transformers; give hf:DIR")
    modules = dict(program.model.named_modules())
    if path not in modules:
        near = ", ".join(get_close_matches(path, modules, n=3, cutoff=0.5))
        raise Refused(f"the model has no module {path}{f'; it has {near}' if near else ''}")
    found = modules[path]
    seen: dict[str, Any] = {}

    def note(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
        seen.update(bound.arguments)
        if "kwargs" in seen and bound.signature.parameters["kwargs"].kind is inspect.Parameter.VAR_KEYWORD:
            seen.update(seen.pop("kwargs"))
        raise _Seen

    given = program.example if inputs is None else inputs
    handle = found.register_forward_pre_hook(note, with_kwargs=True)
    try:
        with torch.no_grad():
            program.once(*(() if isinstance(given, dict) else given), **(given if isinstance(given, dict) else {}))
    except _Seen:
        return found, {name: value for name, value in seen.items() if value is not None}
    finally:
        handle.remove()
    raise Refused(f"the model runs without calling {path}")
