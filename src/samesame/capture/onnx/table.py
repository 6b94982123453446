"""The table: an ONNX operator → how it is written in torch's operators.

A row is a function of a node and its inputs, `None` where an optional one is left out. It may take what it is given as
tensors, as numbers (`numbers`, for what decides shapes) or, where both will do, as an `operand`. A row that does not
cover what a node asks for answers NotImplemented, and the node runs in ONNX Runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from samesame.capture.onnx.known import Known
from samesame.evidence import Refused
from samesame.graph import Origin

Value = torch.Tensor | Known
Row = Callable[..., Any]


@dataclass(frozen=True, slots=True, eq=False)
class Application:
    """A node of the file: an operator of a domain in a version, names of what it takes and gives, attributes. What it
    runs as in ONNX Runtime is its text, `proto`."""

    operator: str
    domain: str
    version: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin = field(default_factory=Origin)
    proto: str = ""

    @property
    def called(self) -> str:
        """The operator with its domain, where that is not ONNX's own."""
        return f"{self.domain}.{self.operator}" if self.domain else self.operator

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)


ROWS: dict[str, Row] = {}


def row(*names: str) -> Callable[[Row], Row]:
    """Put a function into the table under these operators."""

    def put(function: Row) -> Row:
        ROWS.update(dict.fromkeys(names, function))
        return function

    return put


def tensor(value: Value) -> torch.Tensor:
    """The value as a tensor."""
    return value.tensor() if isinstance(value, Known) else value


def tensors(*values: Value | None) -> tuple[torch.Tensor | None, ...]:
    return tuple(None if value is None else tensor(value) for value in values)


def numbers(value: Value) -> list[Any]:
    """The elements of what decides a shape, in a list. Raises Refused where they depend on inputs, as torch's own
    reading of values does."""
    if isinstance(value, Known):
        return list(value.numbers)
    found = value.tolist()
    return _flat(found) if isinstance(found, list) else [found]


def _flat(nested: list[Any]) -> list[Any]:
    return [x for part in nested for x in (_flat(part) if isinstance(part, list) else [part])]


def number(value: Value) -> Any:
    """The one element of what decides a shape or a setting."""
    found = numbers(value)
    if len(found) != 1:
        raise Refused(f"a single number is asked for, and {len(found)} are given")
    return found[0]


def operand(value: Value, beside: Value) -> Any:
    """An operand of arithmetic: a single known number as that, where the other operand has the shape of the result."""
    if isinstance(value, Known) and len(value.numbers) == 1 and isinstance(beside, torch.Tensor):
        return value.numbers[0] if len(value.shape) <= beside.dim() else tensor(value)
    return tensor(value)


def axis_of(axis: int, rank: int) -> int:
    return axis + rank if axis < 0 else axis
