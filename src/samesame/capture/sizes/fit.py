"""Reading sizes back from numbers: the polynomial over size symbols that explains a number in every run.

One run shows `18`; that it is `2·T + 4` and not `3·T − 3` shows in the others. The simplest form that explains all runs
is taken: a number, a multiple of a product of symbols, a sum of two or three such, a quotient. With fewer unknowns than
runs a wrong form is unlikely, and not relied upon: the operators' shape rules must hold for what was read, and a proof
is about what was read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations, combinations_with_replacement
from math import isclose, prod
from typing import Any

from samesame.formula.expr import Expr, Size, add, floordiv, mul, power
from samesame.formula.sizes import canonical, value_at
from samesame.formula.tensor import Dim
from samesame.graph import Node
from samesame.operators.numbers import constant

DEGREE = 3                                                 # of a product of symbols
FEATURES = 3                                               # in a sum
SPARE = 2                                                  # runs that a form explains beyond those that determine it
LARGEST = 1 << 40                                          # what is above is no size: 2⁶³ − 1 means "to the end"
ROOTS = (Fraction(-1), Fraction(-1, 2), Fraction(1, 2), Fraction(-1, 4), Fraction(1, 4))
QUOTIENTS = range(2, 9)
ROUNDING = 1e-15                                           # of a float that a program computed from a size

Feature = tuple[tuple[Size, ...], tuple[int, ...]]         # a product of symbols, and its value in each run


class Misfit(Exception):
    """Numbers that no form explains; the message says which, `blamed` names the symbols that they change with."""

    def __init__(self, message: str, blamed: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.blamed = frozenset(blamed)


class Fit:
    """Reads numbers of several runs; `points` are the symbols' values in each run, by name."""

    def __init__(self, symbols: Sequence[Size], points: Sequence[Mapping[str, int]]) -> None:
        self.symbols, self.points = tuple(symbols), tuple(points)
        monomials = [m for d in range(DEGREE + 1) for m in combinations_with_replacement(self.symbols, d)]
        self.features: list[Feature] = [(m, tuple(prod(p[s.name] for s in m) for p in points)) for m in monomials]
        self.isolated = set(self.moving(range(len(self.points))))      # symbols that two runs tell apart by themselves
        self.number_of = cache(self._number)

    def argument(self, values: Sequence[Any]) -> Any:
        """One argument of an operator, nested, from its values in all runs. Raises Misfit."""
        first = values[0]
        if all(isinstance(v, Node) for v in values):
            return first
        if isinstance(first, tuple) and all(isinstance(v, tuple) and len(v) == len(first) for v in values):
            return tuple(self.argument(parts) for parts in zip(*values, strict=True))
        if all(type(v) is type(first) and (v == first or first != first != v) for v in values):    # NaN is NaN
            return first
        if all(isinstance(v, int) and not isinstance(v, bool) for v in values):
            return self.number(values)
        if all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
            return self.real(values)
        other = next(v for v in values if type(v) is not type(first) or v != first)
        raise Misfit(f"an argument is {first} at one size and {other} at another", self.moving(values))

    def number(self, values: Sequence[int]) -> Dim:
        """The integer as a size. Raises Misfit."""
        return values[0] if len(set(values)) == 1 else self.number_of(tuple(values))

    def real(self, values: Sequence[float]) -> Expr:
        """A float that is a number times a power of a size, such as 1/√d. Raises Misfit."""
        for exponent in ROOTS if all(values) else ():
            for monomial, column in self.features[1:]:
                factors = [v / n ** float(exponent) for v, n in zip(values, column, strict=True)]
                if all(isclose(f, factors[0], rel_tol=ROUNDING) for f in factors):
                    return mul(constant(_simplest(factors[0])), power(mul(*monomial), exponent))
        others = ", ".join(str(v) for v in dict.fromkeys(values[1:]) if v != values[0])
        raise Misfit(f"the number {values[0]} becomes {others} at other sizes, no power of them", self.moving(values))

    def _number(self, values: tuple[int, ...]) -> Dim:
        if max(values) < LARGEST:
            for size in self._forms(values):
                found = canonical(size)
                if all(value_at(found, p) == v for p, v in zip(self.points, values, strict=True)):
                    return found
        others = ", ".join(str(v) for v in dict.fromkeys(values[1:]) if v != values[0])
        text = f"the number {values[0]} becomes {others} at other sizes, no polynomial of them"
        raise Misfit(text, self.moving(values))

    def moving(self, values: Sequence[Any]) -> list[str]:
        """The symbols with which values change: those that alone differ between two runs with different values."""
        runs = list(zip(self.points, values, strict=True))
        found = set[str]()
        for (p, v), (q, w) in combinations(runs, 2):
            apart = [name for name in p if p[name] != q[name]]
            if v != w and len(apart) == 1:
                found.update(apart)
        return sorted(found)

    def _forms(self, values: tuple[int, ...]) -> Iterator[Expr]:
        """Forms that might explain the values, simplest first."""
        still = self.isolated - set(self.moving(values))
        features = [(m, column) for m, column in self.features if not any(s.name in still for s in m)]
        for n in range(1, min(FEATURES, len(values) - SPARE) + 1):
            for chosen in combinations(features, n):
                weights = solve([column for _, column in chosen], values)
                if weights is not None and all(w.denominator == 1 for w in weights):
                    yield add(*(mul(int(w), *m) for w, (m, _) in zip(weights, chosen, strict=True)))
            if n == 2:
                yield from self._quotients(values, features)

    def _quotients(self, values: tuple[int, ...], features: Sequence[Feature]) -> Iterator[Expr]:
        """(a·s + b) // q, as strides and chunks make."""
        for symbol, column in (feature for feature in features if len(feature[0]) == 1):
            for q in QUOTIENTS:
                for a in range(1, q):
                    for b in range(-q * 2, q * 2 + 1):
                        if all((a * n + b) // q == v for n, v in zip(column, values, strict=True)):
                            yield floordiv(add(mul(a, *symbol), b), q)
                            break


def _simplest(factor: float) -> float:
    """The factor, or a short fraction that it is to within rounding."""
    near = Fraction(factor).limit_denominator(1000)
    return float(near) if isclose(near, factor, rel_tol=ROUNDING) else factor


def solve(columns: Sequence[Sequence[int]], values: Sequence[int]) -> list[Fraction] | None:
    """The weights with Σ weight·column = values on the first rows that determine them; None if none do.

    Gaussian elimination over all rows, exact; an inconsistent system has no weights.
    """
    rows = [[Fraction(c[k]) for c in columns] + [Fraction(v)] for k, v in enumerate(values)]
    n = len(columns)
    for k in range(n):
        best = next((r for r in range(k, len(rows)) if rows[r][k]), None)
        if best is None:
            return None
        rows[k], rows[best] = rows[best], rows[k]
        rows[k] = [x / rows[k][k] for x in rows[k]]
        for r in range(len(rows)):
            if r != k and rows[r][k]:
                rows[r] = [x - rows[r][k] * y for x, y in zip(rows[r], rows[k], strict=True)]
    return None if any(row[-1] for row in rows[n:]) else [row[-1] for row in rows[:n]]
