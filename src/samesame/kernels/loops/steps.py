"""The inductive steps of loops, proved by Z3 for all values.

A closed form such as a₀ + Σ_{s<t} f(s) holds after every number of iterations if one run of the body adds f(t). So
each recurrence is proved as an equation between what the body computes and one step of the closed form, in which
everything the carried value has no part in stands for any value at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import z3

from samesame.formula.expr import (
    Add,
    And,
    Expr,
    Extremum,
    Fn,
    Load,
    Mul,
    NegInf,
    Not,
    Num,
    Or,
    Truth,
    Where,
    add,
    and_,
    exp,
    mul,
    or_,
    walk,
)
from samesame.formula.smt import MEANING, Formulas, Untranslatable, decided, new_context
from samesame.kernels import clock
from samesame.kernels.formulas.algebra import NEUTRAL
from samesame.kernels.formulas.rational import exponents
from samesame.kernels.indices import integers

WORK = 3_000_000
FOLLOWED: dict[type[Expr], Callable[..., Any]] = {
    kind: MEANING[kind] for kind in (Add, Mul, Extremum, Where, And, Or, Not)
}


class Equation(Formulas):
    """Expressions over the reals in which only the path to the watched parts is looked at; where no law is known of
    what they occur in, there is no equation."""

    meaning = FOLLOWED
    number = Formulas.real

    def __init__(self, watched: Sequence[Expr]) -> None:
        super().__init__(new_context())
        self.watched = set(watched)

    def reaches(self, expr: Expr) -> bool:
        return any(e in self.watched for e in walk(expr))

    def translated(self, thing: Expr) -> Any:
        if thing in self.watched or not (isinstance(thing, Num | Truth | NegInf) or self.reaches(thing)):
            return self.named(thing, "bool" if thing.kind == "bool" else "real")
        return super().translated(thing)

    def unknown(self, expr: Expr) -> Any:
        """exp of a sum as a product: exp(c·x) is a positive number for each term, with exp(−x) its inverse."""
        if not isinstance(expr, Fn) or expr.name != "exp":
            return super().unknown(expr)
        product = self.real(1)
        for exponent, falls in exponents(expr.argument):
            atom = self.named(exponent, "real", "exp")
            self.tell(atom > 0)
            product = product / atom if falls else product * atom
        return product

    def holds(self, left: Any, right: Any) -> bool:
        clock.look()
        return bool(decided(self.solver(left != right), WORK, clock.left()) == z3.unsat)


COMBINED: dict[str, Callable[..., Expr]] = {
    "sum": add,
    "prod": mul,
    "max": lambda a, b: integers.flattened("max", (a, b)),
    "min": lambda a, b: integers.flattened("min", (a, b)),
    "any": or_,
    "all": and_,
}


def step_holds(made: Expr, unknown: Expr, monoid: str, part: Expr) -> bool:
    """Whether made = unknown ⊕ part whatever the unknown is. An extremum with −∞ leaves the other side as it is."""
    if made is COMBINED[monoid](unknown, part) or made is COMBINED[monoid](part, unknown):
        return True
    return _step_holds(made, unknown, monoid, part)


def _step_holds(made: Expr, unknown: Expr, monoid: str, part: Expr) -> bool:
    if isinstance(made, Where) and isinstance(part, Where) and made.condition is part.condition:
        sides = ((made.then, part.then), (made.otherwise, part.otherwise))
        return all((m is unknown and is_neutral(monoid, p)) or step_holds(m, unknown, monoid, p) for m, p in sides)
    equation = Equation([unknown])
    try:
        return equation.holds(equation.term(made), equation.term(COMBINED[monoid](unknown, part)))
    except Untranslatable:
        return False


def is_neutral(monoid: str, part: Expr) -> bool:
    return part is NEUTRAL[monoid]


def rescaled_step(made: Expr, unknown: Expr, old: Expr, new: Expr, scale: Expr, part: Expr) -> bool:
    """Whether made = unknown·exp(scale·(old − new)) + part; then with unknown = S·exp(−scale·old) and
    part = g·exp(−scale·new) the result is (S + g)·exp(−scale·new), which is one step of the closed form. Of a maximum m
    that is shifted by d before, `old` is m + d, and unknown = S·exp(−scale·m) for an S that is multiplied by
    exp(scale·d)."""
    equation = Equation([unknown, *(e for e in walk(old) if isinstance(e, Load))])
    right = add(mul(unknown, exp(mul(scale, add(old, mul(-1, new))))), part)
    try:
        first = equation.holds(equation.term(made), equation.term(right))
    except Untranslatable:
        return False
    lemma = Equation([])
    total, added, before, after, moved = z3.Reals("total added before after moved", lemma.context)
    lemma.tell(before > 0, after > 0, moved > 0)
    return first and lemma.holds(total / before * (before * moved / after) + added / after,
                                 (total * moved + added) / after)
