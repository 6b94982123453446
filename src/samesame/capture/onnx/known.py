"""Known values: what is known of a tensor's elements before any data is.

The numbers of a file, and what is worked out of sizes: `Shape → Gather → Concat → Reshape` decides a shape, and is done
in Python's numbers, which may be sizes that remember what they are asked. Where such a value meets data, it is
a tensor after all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from samesame.operators.numbers import well_known

SHORT, LONG = 5, 7        # significant digits of a decimal, before and after roots and the like were thought of


class Known:
    """Numbers in a shape. They are `sized` where they are made of sizes of tensors, and `held` is the tensor of the
    file that they were read from."""

    __slots__ = ("dtype", "held", "numbers", "shape", "sized")

    def __init__(
        self, numbers: Sequence[Any], shape: Sequence[int], dtype: torch.dtype, *, sized: bool = False,
        held: torch.Tensor | None = None,
    ) -> None:
        self.numbers, self.shape, self.dtype, self.sized, self.held = list(numbers), tuple(shape), dtype, sized, held

    @property
    def positions(self) -> np.ndarray[Any, Any]:
        """The place of each element in `numbers`, in the shape: what moves elements moves these."""
        return np.arange(len(self.numbers)).reshape(self.shape)

    def moved(self, positions: np.ndarray[Any, Any]) -> Known:
        """The elements that were at these places."""
        return Known([self.numbers[k] for k in positions.flat], positions.shape, self.dtype, sized=self.sized)

    def tensor(self) -> torch.Tensor:
        """The numbers as a tensor; those made of sizes one by one, so that each stays what it is made of."""
        if self.held is not None:
            return self.held
        if not self.sized:
            return torch.tensor(self.numbers, dtype=self.dtype).reshape(self.shape)
        parts = [torch.full((1,), number, dtype=self.dtype) for number in self.numbers]
        return (torch.cat(parts) if parts else torch.empty(0, dtype=self.dtype)).reshape(self.shape)


def each(function: Callable[..., Any], *values: Known, dtype: torch.dtype | None = None) -> Known:
    """The function applied to elements that stand in one place, the shapes fitted to one another."""
    fitted = np.broadcast_arrays(*(value.positions for value in values))
    columns = ([value.numbers[k] for k in places.flat] for value, places in zip(values, fitted, strict=True))
    return Known([function(*one) for one in zip(*columns, strict=True)], fitted[0].shape, dtype or values[-1].dtype,
                 sized=any(value.sized for value in values))


def joined(values: Sequence[Known], axis: int) -> Known:
    """The values one after the other along an axis."""
    starts = np.cumsum([0, *(len(value.numbers) for value in values)])
    places = [value.positions + start for value, start in zip(values, starts[:-1], strict=True)]
    whole = Known([n for value in values for n in value.numbers], (int(starts[-1]),), values[0].dtype,
                  sized=any(value.sized for value in values))
    return whole.moved(np.concatenate(places, axis))


def literal(held: torch.Tensor) -> Known:
    """A small tensor of the file, read as numbers."""
    return Known([meant(n, held.dtype) for n in held.reshape(-1).tolist()], held.shape, held.dtype, held=held)


def meant(value: Any, dtype: torch.dtype = torch.float32) -> Any:
    """A number of the file as a program would write it: the file has room for 32 bits, and means 0.1 by
    0.10000000149011612. Rounded to the file's format, what is given back is what the file holds."""
    if not isinstance(value, float) or dtype not in (torch.float32, torch.float16) or value != value:
        return value
    kind: Any = np.float32 if dtype == torch.float32 else np.float16
    decimal = float(str(kind(value)))
    if abs(value) == float("inf") or decimal == value or _digits(decimal) <= SHORT:
        return decimal
    found = (-n if value < 0 else n for n, _ in well_known(abs(value)))
    return next((n for n in found if float(kind(n)) == value), decimal if _digits(decimal) <= LONG else value)


def _digits(value: float) -> int:
    return len(f"{value!r}".split("e")[0].replace(".", "").replace("-", "").strip("0"))
