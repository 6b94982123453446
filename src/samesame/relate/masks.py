"""Masks and positions in buffers, read as the constants that they are.

One program keeps a causal mask in a buffer, the other makes it when it runs, or has a kernel that knows no other. What
such a buffer holds is a fact about positions (j ≤ i), and a proof needs that fact; the bare numbers hide it. Likewise
for positions themselves: a row that counts 0, 1, 2, … is looked up in a table, where the other program cuts the table.
A window's positions relative to one another count, too, in two digits for each: 5·(a − c) + b − d at row 3·a + b and
column 3·c + d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

ENOUGH = 3                  # elements for each digit: two of them fit any two numbers
FAR = 1 << 53               # from 0


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


@dataclass(frozen=True, slots=True)
class Counting:
    """Integers that go up or down evenly along each digit of their place among all: `first` at the place of which all
    digits are 0, and for each digit how many values it takes and the step from one to the next. The last digit turns
    first."""

    first: int
    digits: tuple[tuple[int, int], ...]


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


def counts(value: torch.Tensor) -> Counting | None:
    """How integers count, at least three for each digit of their places; None of anything else, and of one number
    throughout."""
    row = value.flatten()
    if value.dtype not in (torch.int64, torch.int32, torch.int16, torch.int8) or len(row) < ENOUGH:
        return None
    heads, digits = row.to(torch.int64), list[tuple[int, int]]()
    first, least, most = int(heads[0]), int(heads.min()), int(heads.max())
    if least == most or least < -FAR or most > FAR:                        # no difference wraps around
        return None
    while len(heads) > 1:
        steps = torch.diff(heads)
        ends = (steps != steps[0]).nonzero()
        size, step = int(ends[0]) + 1 if len(ends) else len(heads), int(steps[0])
        if len(heads) % size:
            return None
        rows = heads.view(-1, size)
        if not torch.equal(rows, rows[:, :1] + step * torch.arange(size)):
            return None
        digits.insert(0, (size, step))
        heads = rows[:, 0]
    return Counting(first, tuple(digits)) if len(row) >= ENOUGH * len(digits) else None
