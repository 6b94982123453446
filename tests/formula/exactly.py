"""One element of a formula in exact fractions: what tests hold printed and evaluated formulas against.

Any function one likes stands in place of exp, log and the rest: formulas that are equal whatever these functions are
agree there. It shares nothing with samesame/formula/evaluate.py but what an undefined value raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from samesame.formula.evaluate import Undefined
from samesame.formula.expr import (
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fn,
    Fold,
    Index,
    Load,
    Mod,
    Mul,
    Named,
    NegInf,
    Not,
    Num,
    Or,
    Pow,
    Size,
    Truth,
    Unsupported,
    Where,
)

Exact = Fraction | float | bool                 # the only float is −∞


def evaluate_exact(
    expr: Expr,
    values: Mapping[str, Any],
    functions: Mapping[str, Callable[..., Any]] | None = None,
    indices: Mapping[Index, int] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Exact:
    """The exact value of one element: a Fraction, −inf (the only float), or a bool.

    `values` gives each leaf as a function of its indices, or as an array or nested sequence of numbers that convert to
    Fraction. `functions` maps names to functions of one Fraction (exp, log, …), `π` to a function of nothing, and
    `power` to a function of base and exponent for roots that are not rational. `indices` fixes the free index
    variables. Raises `Undefined` where the expression has no value, and `Unsupported` where a function is needed that
    was not given. exp(−∞) is 0 whatever exp is.
    """
    return _Element(values, functions or {}, sizes or {}).value(expr, dict(indices or {}))


class _Element:
    """One exact evaluation, remembering what each expression is at each point."""

    def __init__(
        self, values: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]], sizes: Mapping[str, int]
    ) -> None:
        self.values, self.functions, self.sizes = values, functions, sizes
        self.memo: dict[tuple[Expr, tuple[tuple[int, int], ...]], Exact] = {}

    def value(self, e: Expr, at: dict[Index, int]) -> Exact:
        try:
            key = e, tuple(sorted((v.serial, at[v]) for v in e.free))
        except KeyError as missing:
            raise Unsupported(f"the index {missing.args[0]!r} has no value") from None
        if key not in self.memo:
            self.memo[key] = self.step(e, at)
        return self.memo[key]

    def integer(self, e: Expr, at: dict[Index, int]) -> int:
        value = self.value(e, at)
        if not isinstance(value, Fraction) or value.denominator != 1:
            raise Undefined(f"an index or size is {value}")
        return int(value)

    def step(self, e: Expr, at: dict[Index, int]) -> Exact:
        match e:
            case Num(value):
                return value
            case Named(name):
                return Fraction(self.function(name)())
            case NegInf():
                return -math.inf
            case Truth(value):
                return value
            case Size(name):
                if name not in self.sizes:
                    raise Unsupported(f"the size {name} has no value")
                return Fraction(self.sizes[name])
            case Index():
                return Fraction(at[e])
            case Load(leaf, indices):
                return self.load(leaf.name, tuple(self.integer(i, at) for i in indices))
            case Add(terms):
                return _sum([self.value(t, at) for t in terms])
            case Mul(factors):
                return _product([self.value(f, at) for f in factors])
            case Pow(base, exponent):
                return self.power(self.value(base, at), exponent)
            case Fn(name, argument):
                return self.call(name, self.value(argument, at))
            case FloorDiv(a, b) | Mod(a, b):
                numerator, divisor = self.integer(a, at), self.integer(b, at)
                if divisor <= 0:
                    raise Undefined(f"division by {divisor}")
                return Fraction(numerator // divisor if isinstance(e, FloorDiv) else numerator % divisor)
            case Compare(op, a, b):
                x, y = self.value(a, at), self.value(b, at)
                return x < y if op == "<" else x <= y if op == "≤" else x == y
            case Not(a):
                return not self.value(a, at)
            case And(parts) | Or(parts):
                return self.connective(isinstance(e, And), parts, at)
            case Where(condition, then, otherwise):
                return self.value(then if self.value(condition, at) else otherwise, at)
            case Extremum(op, parts):
                return (max if op == "max" else min)(self.value(p, at) for p in parts)
            case Fold():
                return self.fold(e, at)
        raise Unsupported(f"{type(e).__name__} has no exact value")

    def function(self, name: str) -> Callable[..., Any]:
        if name not in self.functions:
            raise Unsupported(f"{name} has no exact value")
        return self.functions[name]

    def call(self, name: str, x: Exact) -> Exact:
        if name == "exp" and x == -math.inf:
            return Fraction(0)
        if not isinstance(x, Fraction):
            raise Undefined(f"{name}({x})")
        exact = EXACT.get(name)
        return Fraction(exact(x) if exact and name not in self.functions else self.function(name)(x))

    def load(self, name: str, position: tuple[int, ...]) -> Exact:
        if name not in self.values:
            raise Unsupported(f"the leaf {name} has no value")
        source = self.values[name]
        if not callable(source):
            for i in position:
                if not 0 <= i < len(source):
                    raise Undefined(f"{name}{list(position)} is out of range")
                source = source[i]
            value = source
        else:
            value = source(*position)
        if isinstance(value, bool | np.bool_):
            return bool(value)
        return value if isinstance(value, float) and value == -math.inf else Fraction(value)

    def power(self, base: Exact, q: Fraction) -> Exact:
        if base == -math.inf or (base == 0 and q < 0):
            raise Undefined(f"({base})^{q}")
        if not isinstance(base, Fraction):
            raise Undefined(f"a power of {base}")
        if q.denominator == 1:
            return base ** int(q)
        if base < 0:
            raise Undefined(f"({base})^{q}")
        top, bottom = _root(base.numerator, q.denominator), _root(base.denominator, q.denominator)
        if top is not None and bottom is not None:
            return Fraction(top, bottom) ** q.numerator
        return Fraction(self.function("power")(base, q))

    def connective(self, conjunction: bool, parts: tuple[Expr, ...], at: dict[Index, int]) -> bool:
        undefined: Undefined | None = None
        for part in parts:
            try:
                if bool(self.value(part, at)) != conjunction:
                    return not conjunction
            except Undefined as found:
                undefined = found
        if undefined is not None:
            raise undefined
        return conjunction

    def fold(self, e: Fold, at: dict[Index, int]) -> Exact:
        points = [at]
        for v in e.bound:                               # a later extent may depend on an earlier index
            points = [p | {v: i} for p in points for i in range(self.integer(v.extent, p))]
        found = [self.value(e.body, p) for p in points]
        match e.monoid:
            case "sum":
                return _sum(found)
            case "prod":
                return _product(found)
            case "any":
                return any(found)
            case "all":
                return all(found)
        if not found:
            raise Undefined(f"the {e.monoid} of nothing")
        return max(found) if e.monoid == "max" else min(found)


EXACT: dict[str, Callable[[Fraction], Fraction | int]] = {
    "abs": abs,
    "sign": lambda x: (x > 0) - (x < 0),
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "trunc": math.trunc,
}


def _sum(values: Iterable[Exact]) -> Exact:
    total: Exact = Fraction(0)
    for value in values:
        total = total + value
    return total


def _product(values: Iterable[Exact]) -> Exact:
    total: Exact = Fraction(1)
    for value in values:
        if -math.inf in (total, value) and min(total, value) == -math.inf and max(total, value) <= 0:
            raise Undefined(f"{total} · {value}")
        total = total * value
    return total


def _root(n: int, degree: int) -> int | None:
    """The integer whose power of this degree is n, if there is one."""
    low, high = 0, 1
    while high**degree < n:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        if middle**degree < n:
            low = middle + 1
        else:
            high = middle
    return low if low**degree == n else None
