"""Numbers that host code reads from tensors, as how long the longest row is: `int(lengths.max())`, `total.item()`.

What they are is known only where the function runs on values, so it runs once in the interpreter, and what it reads is
noted in order. The run with symbols then takes each for a size of its own: what is found holds for all values that it
may have, from 2 on. Of a greatest element one thing is known, that no element is above it; it is said as a need.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import torch

from samesame.evidence import Refused
from samesame.kernels.host.launch import View
from samesame.kernels.host.sizes import LEAST, HostSizes
from samesame.kernels.stated import Elements
from samesame.programs.origins import is_users

GREATEST = ("max", "amax")


class Reads:
    """The numbers that one run of host code reads. `values` are those of the example, in order; None: not known."""

    def __init__(self, values: Sequence[int] | None, sizes: HostSizes | None) -> None:
        self.values, self.sizes = values, sizes
        self.taken = 0
        self.asked = False  # for a number that nobody knows
        self.held: list[str] = []  # what was read as a number
        self.greatest: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # by storage: the element, and of what
        self.limits: list[tuple[torch.Tensor, Any]] = []  # no element is above a number that was read

    def note(self, operator: str, args: Sequence[Any], results: Sequence[torch.Tensor]) -> None:
        """Note a tensor's greatest element."""
        if operator in GREATEST and len(results) == 1 and not results[0].shape and is_whole_numbers(args[0]):
            self.greatest[results[0].untyped_storage()._cdata] = results[0], args[0]

    def next(self, tensor: torch.Tensor) -> Any:
        """The number that is read from a tensor: a size, or what is none; None where it is not known."""
        if self.values is None:
            self.asked = True
            return None
        if self.taken == len(self.values):
            raise Refused("the host code reads other numbers from its tensors when it is run again")
        number = self.values[self.taken]
        self.taken += 1
        if self.sizes is None:
            return number
        if number < LEAST:
            self.held.append(f"a number that the host code reads = {number}")
            return number
        size = self.sizes.symbol(number)
        _, source = self.greatest.get(tensor.untyped_storage()._cdata, (None, None))
        if source is not None:
            self.limits.append((source, size))
        return size

    def claims(self, passed: Sequence[View], view: Any, stated: Collection[int]) -> Iterator[Elements]:
        """What was read says of tensors that kernels are given, but for memories of which something is `stated`."""
        told = set(stated)
        for source, size in self.limits:
            found = view(source)
            if found in passed and found.memory not in told:
                told.add(found.memory)
                yield Elements("no element is above the greatest one", found, None, size, read=True)


def is_whole_numbers(tensor: Any) -> bool:
    real = tensor.dtype.is_floating_point or tensor.dtype.is_complex or tensor.dtype == torch.bool
    return isinstance(tensor, torch.Tensor) and not real


def is_read(function: Any, args: Sequence[Any]) -> bool:
    """Whether host code reads a whole number from a tensor: not torch, for its own ends."""
    if function is not torch.Tensor.item or not is_whole_numbers(args[0]):
        return False
    return is_users(sys._getframe(2).f_code.co_filename)
