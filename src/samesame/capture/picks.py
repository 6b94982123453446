"""Picks: elements that a program takes at a number that a tensor holds, as `x[t]` does of a sampler's step.

Torch takes the number out of the tensor and selects with it: two operators in one pair of brackets. The first would let
a value out; together they are one operator that indexes with the tensor. What is selected stays a view of `x`: written
to, it puts its values where `t` says. Where anything but a selection follows (a slice up to `t`, whose length would be
data), the number was let out, and the program is refused. So it is where gradients are recorded, as autograd keeps the
number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import torch
from torch._ops import OpOverload

from samesame.capture.memory import Memory
from samesame.capture.reading import INDEXES, INSTEAD, is_item

SELECTS = "aten.select.int"
INDEX = "aten.index.Tensor"


class Recorder(Protocol):
    in_brackets: bool
    has_gradients: bool
    memory: Memory

    def demand_closed(self, tensors: Iterator[torch.Tensor], doing: str, instead: str = ...) -> None: ...
    def is_open(self, tensor: torch.Tensor) -> bool: ...
    def bind(
        self, operator: str, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any], arguments: list[torch.Tensor]
    ) -> None: ...


class Picks:
    """Between the two operators `number` is the tensor whose number was taken."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.number: torch.Tensor | None = None

    def begins(self, operation: OpOverload, args: tuple[Any, ...]) -> bool:
        """Whether this takes a number, which hangs on data, to index with it; it is held then."""
        if not (self.recorder.in_brackets and is_item(operation)) or self.recorder.has_gradients:
            return False
        (number,) = args
        if number.dtype is torch.bool or not self.recorder.is_open(number):
            return False
        self.number = number
        return True

    def select(self, operation: OpOverload, args: tuple[Any, ...]) -> torch.Tensor:
        """The operator behind it, as one that indexes with the tensor; Refused where it is no selection there."""
        number = self.number
        assert number is not None
        if str(operation) != SELECTS or args[2] != int(number):
            self.left()
        self.number = None
        x, dim, _ = args
        result: torch.Tensor = operation(*args)
        at = (*(None,) * (dim % x.dim()), self.recorder.memory.read(number))
        self.recorder.bind(INDEX, result, (self.recorder.memory.read(x), at), {}, [x])
        return result

    def left(self) -> None:
        """Raise Refused if a number was taken and nothing selected with it."""
        if (number := self.number) is not None:
            self.number = None
            self.recorder.demand_closed(iter([number]), INDEXES, INSTEAD[INDEXES])
