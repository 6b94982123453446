"""Integer points that refute a conjecture about indices before any solver is asked.

Most questions that do not follow fail at an arbitrary point already. A point gives every size, index and unknown
element a value, drawn when it is first met and kept; expressions are worked out once for each point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from samesame.formula.expr import (
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Index,
    Load,
    Mod,
    Mul,
    Not,
    Num,
    Or,
    Pow,
    Size,
    Truth,
    Where,
)

POINTS = 48
SIZES = (0, 1, 2, 3, 5, 13, 14, 15, 30, 31, 62, 66, 127, 130, 400)


class NoPoint(Exception):
    """Some index has no value at this point."""


class Point:
    """Values for everything, as they are needed."""

    def __init__(self, seed: int, ranges: Mapping[str, tuple[Expr, Expr]]) -> None:
        self.random, self.ranges = Random(seed), ranges
        self.values: dict[Expr, Any] = {}
        self.elements: dict[tuple[Any, ...], Any] = {}

    def value(self, expr: Expr) -> Any:
        if expr not in self.values:
            self.values[expr] = self.work_out(expr)
        return self.values[expr]

    def work_out(self, expr: Expr) -> Any:
        match expr:
            case Num(value):
                return int(value) if value.denominator == 1 else value
            case Truth(value):
                return value
            case Size(_, minimum):
                return minimum + self.random.choice(SIZES)
            case Index(_, extent):
                return self.below(self.value(extent))
            case Add(terms):
                return sum(map(self.value, terms))
            case Mul(factors):
                product = 1
                for factor in factors:
                    product = product * self.value(factor)
                return product
            case Pow(base, exponent) if exponent.denominator == 1 and exponent > 0:
                return self.value(base) ** int(exponent)
            case FloorDiv(a, b) | Mod(a, b):
                divisor = self.value(b)
                if divisor <= 0:
                    raise NoPoint
                pair = divmod(self.value(a), divisor)
                return pair[0] if isinstance(expr, FloorDiv) else pair[1]
            case Compare(op, a, b) if a.kind == "int" == b.kind:
                x, y = self.value(a), self.value(b)
                return x < y if op == "<" else x <= y if op == "≤" else x == y
            case Not(a):
                return not self.value(a)
            case And(parts):
                return all(map(self.value, parts))
            case Or(parts):
                return any(map(self.value, parts))
            case Where(c, x, y) if expr.kind in ("int", "bool"):
                return self.value(x) if self.value(c) else self.value(y)
            case Extremum(op, parts) if expr.kind == "int":
                return (max if op == "max" else min)(map(self.value, parts))
            case Load(leaf, indices) if leaf.kind in ("int", "bool"):
                key = leaf.name, *map(self.value, indices)
                if key not in self.elements:
                    self.elements[key] = self.element(leaf)
                return self.elements[key]
        if expr.kind == "bool":
            return self.random.random() < 0.5
        raise NoPoint  # nothing is known of how such an integer may come out

    def below(self, extent: int) -> int:
        if extent <= 0:
            raise NoPoint
        return self.random.choice((0, extent - 1, self.random.randrange(extent), self.random.randrange(extent)))

    def element(self, leaf: Any) -> Any:
        if leaf.kind == "bool":
            return self.random.random() < 0.5
        low, high = self.ranges.get(leaf.name) or leaf.bounds or (-3, 40)
        ends = [self.value(end) if isinstance(end, Expr) else end for end in (low, high)]
        if ends[1] < ends[0]:
            raise NoPoint
        return self.random.randint(*ends)


class Points:
    """A supply of points for one kernel."""

    def __init__(self, ranges: Mapping[str, tuple[Expr, Expr]]) -> None:
        self.points = [Point(seed, ranges) for seed in range(POINTS)]

    def refute(self, facts: Sequence[Expr], goal: Expr) -> bool:
        """Whether at some point the facts hold and the goal does not."""
        for point in self.points:
            try:
                if not point.value(goal) and all(map(point.value, facts)):
                    return True
            except NoPoint:
                continue
        return False
