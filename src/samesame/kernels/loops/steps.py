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
    Mul,
    NegInf,
    Not,
    Num,
    Or,
    Where,
    add,
    and_,
    exp,
    mul,
    or_,
    walk,
)
from samesame.formula.order import order
from samesame.formula.smt import decided, new_context
from samesame.kernels import clock
from samesame.kernels.formulas.algebra import NEUTRAL, expanded
from samesame.kernels.indices import integers

WORK = 3_000_000


class Untranslatable(Exception):
    """The carried value occurs where no law is known."""


class Equation:
    """Expressions over the reals in which only the path to the watched parts is looked at."""

    def __init__(self, watched: Sequence[Expr]) -> None:
        self.watched = set(watched)
        self.context = new_context()
        self.atoms: dict[tuple[Expr, str], Any] = {}
        self.facts: list[Any] = []

    def reaches(self, expr: Expr) -> bool:
        return any(e in self.watched for e in walk(expr))

    def atom(self, expr: Expr, sort: str) -> Any:
        key = expr, sort
        if key not in self.atoms:
            name = f"{sort}{len(self.atoms)}"
            self.atoms[key] = z3.Bool(name, self.context) if sort == "b" else z3.Real(name, self.context)
            if sort == "e":
                self.facts.append(self.atoms[key] > 0)
        return self.atoms[key]

    def real(self, expr: Expr) -> Any:
        match expr:
            case Num(value):
                return z3.RealVal(str(value), self.context)
            case NegInf():
                raise Untranslatable
            case _ if expr in self.watched or not self.reaches(expr):
                return self.atom(expr, "r")
            case Add(terms):
                return z3.Sum([self.real(term) for term in terms])
            case Mul(factors):
                product = self.real(factors[0])
                for factor in factors[1:]:
                    product = product * self.real(factor)
                return product
            case Extremum(op, parts):
                best = self.real(parts[0])
                for part in parts[1:]:
                    other = self.real(part)
                    best = z3.If(other >= best if op == "max" else other <= best, other, best)
                return best
            case Where(condition, then, otherwise):
                return z3.If(self.boolean(condition), self.real(then), self.real(otherwise))
            case Fn("exp", argument):
                return self.exponential(argument)
        raise Untranslatable

    def exponential(self, argument: Expr) -> Any:
        """exp of a sum as a product: exp(c·x) is a positive number for each term, with exp(−x) its inverse."""
        product: Any = z3.RealVal(1, self.context)
        for term in expanded(argument):
            factors = term.factors if isinstance(term, Mul) else (term,)
            negative = bool(factors) and isinstance(factors[0], Num) and factors[0].value < 0
            positive = in_order(integers.tidied(mul(-1, term)) if negative else integers.tidied(term))
            atom = self.atom(positive, "e")
            product = product / atom if negative else product * atom
        return product

    def boolean(self, expr: Expr) -> Any:
        match expr:
            case _ if expr in self.watched or not self.reaches(expr):
                return self.atom(expr, "b")
            case And(parts):
                return z3.And(*map(self.boolean, parts))
            case Or(parts):
                return z3.Or(*map(self.boolean, parts))
            case Not(part):
                return z3.Not(self.boolean(part))
            case Where(condition, then, otherwise):
                return z3.If(self.boolean(condition), self.boolean(then), self.boolean(otherwise))
        raise Untranslatable

    def holds(self, left: Any, right: Any) -> bool:
        clock.look()
        solver = z3.Solver(ctx=self.context)
        solver.add(*self.facts, left != right)
        return bool(decided(solver, WORK, clock.left()) == z3.unsat)


def in_order(product: Expr) -> Expr:
    """A product with its factors in one order, so that a·b and b·a are the same."""
    return mul(*sorted(product.factors, key=order)) if isinstance(product, Mul) else product


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
        translate = equation.boolean if unknown.kind == "bool" else equation.real
        return equation.holds(translate(made), translate(COMBINED[monoid](unknown, part)))
    except Untranslatable:
        return False


def is_neutral(monoid: str, part: Expr) -> bool:
    return part is NEUTRAL[monoid]


def rescaled_step(made: Expr, unknown: Expr, old: Expr, new: Expr, scale: Expr, part: Expr) -> bool:
    """Whether made = unknown·exp(scale·(old − new)) + part; then with unknown = S·exp(−scale·old) and
    part = g·exp(−scale·new) the result is (S + g)·exp(−scale·new), which is one step of the closed form."""
    equation = Equation([unknown, old])
    right = add(mul(unknown, exp(mul(scale, add(old, mul(-1, new))))), part)
    try:
        first = equation.holds(equation.real(made), equation.real(right))
    except Untranslatable:
        return False
    lemma = Equation([])
    total, added, before, after = z3.Reals("total added before after", lemma.context)
    lemma.facts += [before > 0, after > 0]
    return first and lemma.holds(total / before * (before / after) + added / after, (total + added) / after)
