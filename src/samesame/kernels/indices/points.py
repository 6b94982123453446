"""Integer points that refute a conjecture about indices before any solver is asked.

Most questions that do not follow fail at an arbitrary point already, and many others at a point where an earlier one
failed. A point gives every size, index and unknown element a value, drawn when it is first met and kept; expressions
are worked out once for each point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from random import Random
from typing import Any

from samesame.formula.expr import (
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fold,
    Index,
    Lambda,
    Load,
    Mod,
    Mul,
    Not,
    Num,
    Opaque,
    Or,
    Pow,
    Size,
    Truth,
    Where,
    walk,
)

POINTS = 48
ANY = (0, 0, 1, -1, 2, 7, 40, 1000)  # what unknown functions give
LEARNED = 48  # points named by a solver that are kept
LARGER = (0, 64, 4096)  # as a solver that takes products for unknowns does not see how large sizes must be
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
            case Opaque(name, attributes, (), indices, _) if expr.kind == "int":
                key = name, repr(attributes), *map(self.value, indices)
                if key not in self.elements:
                    self.elements[key] = self.random.choice(ANY)
                return self.elements[key]
            case Opaque(_, _, (Lambda((v,), _),), (), _) if expr.kind == "int":
                return self.below(self.value(v.extent))  # as the position of an extremum is
        if expr.kind == "bool":
            return self.random.random() < 0.5
        if isinstance(expr, Opaque | Fold) and expr.kind == "int":
            return self.random.choice(ANY)
        raise NoPoint  # nothing is known of how such an integer may come out

    def keeps_ranges(self, drawn: Iterable[Expr]) -> bool:
        """Whether what was given a value is in its range."""
        try:
            return all(map(self.is_in_range, drawn))
        except NoPoint:
            return False

    def is_in_range(self, e: Expr) -> bool:
        if isinstance(e, Index):
            return bool(0 <= self.value(e) < self.value(e.extent))
        if isinstance(e, Load) and e.kind == "int":
            ends = self.ranges.get(e.leaf.name) or e.leaf.bounds
            return ends is None or bool(self.end(ends[0]) <= self.value(e) <= self.end(ends[1]))
        return not isinstance(e, Size) or self.value(e) >= e.minimum

    def end(self, of: Any) -> int:
        return int(self.value(of)) if isinstance(of, Expr) else int(of)

    def below(self, extent: int) -> int:
        if extent <= 0:
            raise NoPoint
        return self.random.choice((0, extent - 1, self.random.randrange(extent), self.random.randrange(extent)))

    def element(self, leaf: Any) -> Any:
        if leaf.kind == "bool":
            return self.random.random() < 0.5
        low, high = self.ranges.get(leaf.name) or leaf.bounds or (-3, 40)
        ends = self.end(low), self.end(high)
        if ends[1] < ends[0]:
            raise NoPoint
        return self.random.randint(*ends)


class Points:
    """A supply of points for one kernel: random ones, and such as a solver has named."""

    def __init__(self, ranges: Mapping[str, tuple[Expr, Expr]]) -> None:
        self.ranges = ranges
        self.points = [Point(seed, ranges) for seed in range(POINTS)]
        self.learned: list[Point] = []

    def refute(self, facts: Sequence[Expr], goal: Expr) -> bool:
        """Whether at some point the facts hold and the goal does not."""
        return any(refutes(point, facts, goal) for point in (*self.learned, *self.points))

    def learn(self, values: Mapping[Expr, Any], facts: Sequence[Expr], goal: Expr) -> bool:
        """Keep a point with these values, or one where sizes are larger, if it is one and refutes the goal; whether
        there is one."""
        for more in LARGER:
            point = Point(POINTS, self.ranges)
            point.values.update({e: n + more if isinstance(e, Size) else n for e, n in values.items()})
            if refutes(point, facts, goal) and point.keeps_ranges(values):
                self.learned = [point, *self.learned[: LEARNED - 1]]
                return True
        return False


@lru_cache(maxsize=1 << 14)
def drawn_in(claim: Expr) -> tuple[Expr, ...]:
    """The integers and conditions in a claim whose values are drawn, not worked out."""
    return tuple(e for e in walk(claim) if isinstance(e, Size | Index) or (e.kind != "real" and is_unknown(e)))


def is_unknown(e: Expr) -> bool:
    if isinstance(e, Compare):
        return e.left.kind == "real" or e.right.kind == "real"
    return isinstance(e, Load | Opaque | Fold)


def refutes(point: Point, facts: Sequence[Expr], goal: Expr) -> bool:
    """Whether the facts hold at the point and the goal does not."""
    try:
        return not point.value(goal) and all(map(point.value, facts))
    except NoPoint:
        return False
