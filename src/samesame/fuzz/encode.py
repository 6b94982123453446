"""Programs as JSON, for the corpus, for workers and for findings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from samesame.fuzz.program import Block, Input, Line, Program, Ref, Step

Json = Any


def encoded(program: Program) -> Json:
    return {
        "inputs": [[given.name, given.text] for given in program.inputs],
        "steps": [_line(line) for line in program.steps],
        "outputs": list(program.outputs),
    }


def decoded(data: Json) -> Program:
    """Raises KeyError, TypeError or ValueError where the data are no program."""
    inputs = tuple(Input(str(name), str(text)) for name, text in data["inputs"])
    return Program(inputs, tuple(map(_read_line, data["steps"])), tuple(map(str, data["outputs"])))


def _line(line: Line) -> Json:
    if isinstance(line, Block):
        return {"head": line.head, "body": [_line(part) for part in line.body]}
    kwargs = {name: _value(value) for name, value in line.kwargs.items()}
    return {
        "results": list(line.results),
        "call": line.call,
        "args": [_value(a) for a in line.args],
        "kwargs": kwargs,
        "unpacked": line.unpacked,
    }


def _read_line(data: Json) -> Line:
    if "head" in data:
        return Block(data["head"], tuple(map(_read_line, data["body"])))
    kwargs = {name: _read(value) for name, value in data["kwargs"].items()}
    return Step(tuple(data["results"]), data["call"], tuple(map(_read, data["args"])), kwargs, bool(data["unpacked"]))


def _value(value: Any) -> Json:
    """Numbers, strings and None as they are; everything else with a word that says what it is."""
    if isinstance(value, Ref):
        return {"ref": value.name}
    if isinstance(value, slice):
        return {"slice": [value.start, value.stop, value.step]}
    if value is Ellipsis:
        return {"ellipsis": True}
    if isinstance(value, torch.dtype | torch.memory_format):
        return {"torch": str(value)}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, tuple):
        return {"tuple": [_value(part) for part in value]}
    if isinstance(value, list):
        return [_value(part) for part in value]
    return value


def _read(data: Json) -> Any:
    if isinstance(data, list):
        return [_read(part) for part in data]
    if not isinstance(data, dict):
        return data
    ((word, value),) = data.items()
    return READ[word](value)


READ: dict[str, Callable[[Any], Any]] = {
    "ref": Ref,
    "slice": lambda value: slice(*value),
    "ellipsis": lambda value: Ellipsis,
    "torch": lambda value: getattr(torch, value.removeprefix("torch.")),
    "complex": lambda value: complex(*value),
    "tuple": lambda value: tuple(map(_read, value)),
}
