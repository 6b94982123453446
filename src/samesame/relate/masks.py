"""Masks and positions in buffers, read as the constants that they are.

One program keeps a causal mask in a buffer, the other makes it when it runs, or has a kernel that knows no other. What
such a buffer holds is a fact about positions (j ≤ i), and a proof needs that fact; the bare numbers hide it. Likewise
for positions themselves: a row that counts 0, 1, 2, … is looked up in a table, where the other program cuts the table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True)
class Triangle:
    """`number` where j ≤ i + diagonal (lower) or j ≥ i + diagonal (upper), and nothing elsewhere."""

    upper: bool
    diagonal: int
    number: torch.Tensor
    shape: tuple[int, int]

    @property
    def operator(self) -> str:
        return "aten.triu.default" if self.upper else "aten.tril.default"

    def __str__(self) -> str:
        number = self.number.item()
        said = "true" if number is True else "−∞" if number == -math.inf else f"{number:g}"
        away = f" {'+' if self.diagonal > 0 else '−'} {abs(self.diagonal)}" if self.diagonal else ""
        rows, columns = self.shape
        return f"{said} where j {'≥' if self.upper else '≤'} i{away}, and nothing elsewhere, for {rows} × {columns}"


def triangle(value: torch.Tensor) -> Triangle | None:
    """The triangle that a tensor holds, whatever dimensions of size one it has besides."""
    rest = [size for size in value.shape if size != 1]
    if len(rest) != 2 or value.is_complex():
        return None
    plane = value.reshape(rest)
    there = plane != 0
    number = plane[there][:1].reshape(()) if bool(there.any()) else None
    if number is None or bool(there.all()) or not bool((plane[there] == number).all()):
        return None
    ones = torch.ones_like(there)
    below = int(there[0].sum()) - 1 if bool(there[0, 0]) else -int((~there[:, 0]).sum())
    above = int((~there[0]).sum()) if not bool(there[0, 0]) else 1 - int(there[:, 0].sum())
    for upper, diagonal, made in ((False, below, ones.tril(below)), (True, above, ones.triu(above))):
        if torch.equal(there, made):
            return Triangle(upper, diagonal, number, (rest[0], rest[1]))
    return None


def counts(value: torch.Tensor) -> tuple[int, int] | None:
    """The first number and the step of a row of at least three integers that go up or down evenly, whatever dimensions
    of size one it has besides; None of anything else."""
    row = value.flatten()
    integers = value.dtype in (torch.int64, torch.int32, torch.int16, torch.int8)
    if not integers or len(row) < 3 or max(value.shape) != len(row):
        return None
    steps = torch.diff(row.to(torch.int64))
    first, step = int(row[0]), int(steps[0])
    even = step and bool((steps == step).all()) and int(row[-1]) == first + step * (len(row) - 1)  # nothing wrapped
    return (first, step) if even else None
