"""Masks in buffers: a triangle of one number, with zeros beside it, read as the constant that it is.

One program keeps a causal mask in a buffer, the other makes it when it runs, or has a kernel that knows no other. What
such a buffer holds is a fact about positions (j ≤ i), and a proof needs that fact; the bare numbers hide it.
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
