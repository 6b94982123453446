"""Where the largest or smallest of a row of numbers stands: the first one where several are equal, or the last one.

The first is what torch calls argmax and argmin. There is no such name for the last, and a running maximum has it:
`torch.cummax` and `torch.cummin` keep the later of two equal elements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samesame.formula.expr import Expr, Lambda, Opaque

NAMES = {
    ("max", "first"): "aten.argmax",
    ("min", "first"): "aten.argmin",
    ("max", "last"): "last_argmax",
    ("min", "last"): "last_argmin",
}
KINDS = {name: kind for kind, name in NAMES.items()}


@dataclass(frozen=True)
class Position:
    """Where the extremum of a row stands; `monoid` is max or min, `tie` first or last."""

    monoid: str
    tie: str
    row: Lambda

    def to_expr(self) -> Expr:
        return Opaque(NAMES[self.monoid, self.tie], (), (self.row,), (), "int")


def position_in(expr: Expr) -> Position | None:
    """The position that an expression is; None if it is none."""
    if isinstance(expr, Opaque) and expr.name in KINDS and len(expr.arguments) == 1:
        return Position(*KINDS[expr.name], expr.arguments[0])
    return None


def last_of_largest(row: np.ndarray) -> int:
    return len(row) - 1 - int(np.argmax(row[::-1]))


def last_of_smallest(row: np.ndarray) -> int:
    return len(row) - 1 - int(np.argmin(row[::-1]))
