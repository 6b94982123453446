"""A loop run on numbers: what its values are after each iteration, where every load and condition draws a value.

A closed form that differs from the values of some run is no closed form, so that nothing false is put to a prover that
would think about it for long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from samesame.formula import polynomials
from samesame.formula.expr import (
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    Fn,
    Fold,
    Mul,
    NegInf,
    Not,
    Num,
    Or,
    Pow,
    Truth,
    Where,
    substitute,
    walk,
)
from samesame.kernels.formulas.rational import canonical
from samesame.kernels.indices import integers
from samesame.kernels.loops.carried import Carried, Loop

RUNS, STEPS = 3, 6
Values = np.ndarray  # of a term: one number for each run and each number of iterations from 1 on


class NoValue(Exception):
    """The run cannot be followed in numbers."""


@dataclass
class Runs:
    """Runs of a loop on numbers: what loads, conditions and opaque parts are in each iteration."""

    loop: Loop
    one: Carried
    drawn: dict[tuple[Expr, int, int], Any] = field(default_factory=dict)
    numbers: dict[Expr, int] = field(default_factory=dict)  # of what is drawn, in the order in which it was met

    def draw(self, expr: Expr, run: int, step: int) -> Any:
        here = step if self.loop.t in expr.free else -1
        key = canonical(expr), run, here
        if key not in self.drawn:
            number = self.numbers.setdefault(key[0], len(self.numbers))
            random = Random(f"{number} {run} {here}")
            self.drawn[key] = random.random() < 0.7 if expr.kind == "bool" else random.uniform(0.2, 2.0)
        return self.drawn[key]

    def value(self, expr: Expr, run: int, step: int, carried: float | None) -> Any:
        """The value in an iteration. Raises NoValue."""
        t = self.loop.t

        def go(e: Expr) -> Any:
            match e:
                case Num(value):
                    return float(value)
                case Truth(value):
                    return value
                case _ if e is t:
                    return float(step)
                case _ if e is self.one.unknown:
                    if carried is None:
                        raise NoValue
                    return carried
                case Add(parts):
                    return sum(map(go, parts))
                case Mul(parts):
                    return float(np.prod([go(p) for p in parts]))
                case Pow(base, exponent):
                    found = go(base)
                    if (found == 0 and exponent < 0) or (found < 0 and exponent.denominator > 1):
                        raise NoValue
                    return found ** float(exponent)
                case Extremum(op, parts):
                    return (max if op == "max" else min)(map(go, parts))
                case Fn("exp", argument):
                    return float(np.exp(go(argument)))
                case Where(condition, then, otherwise):
                    return go(then) if go(condition) else go(otherwise)
                case Not(part):
                    return not go(part)
                case And(parts):
                    return all(map(go, parts))
                case Or(parts):
                    return any(map(go, parts))
                case Compare(op, a, b) if self.is_of_counter(a, b):
                    x, y = go(a), go(b)
                    return x < y if op == "<" else x <= y if op == "≤" else x == y
                case Fold(monoid, (v,), body) if v.extent is t:
                    parts_ = [self.value(substitute(body, {v: t}), run, s, None) for s in range(step)]
                    return folded(monoid, parts_)
            if self.one.unknown in set(walk(e)):
                raise NoValue
            return self.draw(e, run, step)

        return go(expr)

    def is_of_counter(self, a: Expr, b: Expr) -> bool:
        """Whether a comparison is one of the counter with numbers."""
        if a.kind != "int" or b.kind != "int":
            return False
        return {e for m in polynomials.polynomial(integers.minus(b, a)) for e in m} <= {self.loop.t}

    def carried(self, made: Expr) -> Values:
        """What the value is after 1, 2, … iterations of each run."""
        found = np.zeros((RUNS, STEPS))
        for run in range(RUNS):
            now = float(self.value(self.one.first, run, 0, None))
            for step in range(STEPS):
                now = found[run, step] = float(self.value(made, run, step, now))
        return found.ravel()


def folded(monoid: str, parts: list[float]) -> float:
    if not parts and monoid in ("max", "min"):
        raise NoValue
    known: dict[str, Any] = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min}
    return float(known[monoid](parts))


def differs(loop: Loop, one: Carried, made: Expr, closed: Expr) -> bool:
    """Whether some run shows that the value is not `closed` after so many iterations. Only loops without masks and
    infinities are run: there what is drawn for each part is drawn for it alone."""
    parts = [e for expr in (made, closed) for e in walk(expr)]
    runs = Runs(loop, one)
    if any(isinstance(e, NegInf) for e in parts) or any(
        isinstance(e, Compare) and not runs.is_of_counter(e.left, e.right) for e in parts
    ):
        return False
    try:
        found = runs.carried(made)
        told = [float(runs.value(closed, run, step + 1, None)) for run in range(RUNS) for step in range(STEPS)]
    except (NoValue, OverflowError):
        return False
    return not np.allclose(found, told, rtol=1e-6, atol=1e-9)
