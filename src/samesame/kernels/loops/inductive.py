"""Inductive steps over the extended reals, decided by Z3.

A closed form holds after every number of iterations if it is the start before the first one, and if the body makes of
it the closed form of one iteration more. Both are equations between expressions over the counter t, and that is what is
asked here. A fold up to t is a number of its own; up to t + 1 it is that number and one more part.

A value is a number, −∞, +∞, or none of these, as −∞ + ∞ and 0·∞ are, and as what is not looked into may be. Two sides
are equal where both are none of these under the same conditions, and else the same; comparisons with what has no value
are false, as in floating point. exp of a sum is a product of positive numbers, one for each term. What the carried
values have no part in stands for any number at all. `unknown` is never an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import reduce
from math import prod
from typing import Any

import z3

from samesame.formula import polynomials
from samesame.formula.definite import EVIDENT
from samesame.formula.expr import (
    NEG_INF,
    ONE,
    ZERO,
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    Fn,
    Fold,
    Index,
    Mul,
    NegInf,
    Not,
    Num,
    Or,
    Pow,
    Truth,
    Where,
    add,
    and_,
    index,
    mul,
    or_,
    rebuild,
    substitute,
    walk,
    where,
)
from samesame.formula.order import order
from samesame.formula.smt import Formulas, Untranslatable
from samesame.kernels.formulas.algebra import NEUTRAL
from samesame.kernels.formulas.rational import canonical, exponents, settled, walk_open
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver, Terms

WORK = 5_000_000


@dataclass(frozen=True)
class Extended:
    """A value: −∞ where `low`, +∞ where `high`, else `number`; nothing is known of it where it is not `fine`.
    Conditions are Z3's, or True and False where that is plain."""

    number: Any
    low: Any = False
    high: Any = False
    fine: Any = True

    @property
    def infinite(self) -> Any:
        return either(self.low, self.high)


def both(*parts: Any) -> Any:
    left = [p for p in parts if p is not True]
    return False if any(p is False for p in left) else z3.And(*left) if len(left) > 1 else left[0] if left else True


def either(*parts: Any) -> Any:
    left = [p for p in parts if p is not False]
    return True if any(p is True for p in left) else z3.Or(*left) if len(left) > 1 else left[0] if left else False


def negation(part: Any) -> Any:
    return not part if isinstance(part, bool) else z3.Not(part)


def only_one(a: Any, b: Any) -> Any:
    return negation(b) if a is True else b if a is False else z3.Xor(a, b)


def chosen(condition: Any, then: Any, otherwise: Any) -> Any:
    if isinstance(then, Extended):
        return Extended(*(chosen(condition, getattr(then, f.name), getattr(otherwise, f.name)) for f in fields(then)))
    if condition is True or then is otherwise or (z3.is_ast(then) and z3.is_ast(otherwise) and then.eq(otherwise)):
        return then
    return otherwise if condition is False else z3.If(condition, then, otherwise)


def one_more(expr: Expr, t: Index) -> Expr:
    """Folds over t + 1 iterations as those over t and the last part; folds over none as what is neutral."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = visit(rebuild(e, go) if not isinstance(e, Fold) else e)
        return memo[e]

    def visit(e: Expr) -> Expr:
        if not isinstance(e, Fold) or len(e.bound) != 1:
            return e
        (v,) = e.bound
        if v.extent is ZERO:
            return NEUTRAL[e.monoid]
        if integers.minus(v.extent, t) is not ONE:
            return e
        s = index(t)
        before = Fold(e.monoid, (s,), substitute(e.body, {v: s}))
        last = integers.tidied(substitute(e.body, {v: t}))
        if e.monoid in ("max", "min"):
            return where(integers.less(0, t), integers.flattened(e.monoid, (before, last)), last)
        return {"sum": add, "prod": mul, "any": or_, "all": and_}[e.monoid](before, last)

    return go(integers.tidied(expr))


class Induction:
    """Questions about what a loop carries after `t` iterations, for t ≥ 0. `given` holds in all of them, and what the
    prover assumes; its time is theirs too.

    A question is asked twice: first over the reals only, where whole numbers are 0 or at least 1 and conditions on
    indices are taken as they come, which is what solvers for polynomials are good at; then with integers as they are.
    """

    def __init__(self, t: Index, given: Iterable[Expr], prover: IndexProver) -> None:
        self.t = t
        known = [*given, *prover.assumed]
        self.ways = tuple(Translation(t, known, prover, plain) for plain in (True, False))

    def equal(self, left: Expr, right: Expr, *given: Expr) -> bool:
        """Whether both are the same, or both have no value, wherever the given conditions hold."""
        return any(way.equal(left, right, *given) for way in self.ways)

    def follows(self, goal: Expr, *given: Expr) -> bool:
        """Whether a condition holds wherever the given ones do."""
        return any(way.follows(goal, *given) for way in self.ways)


EXTENDED: dict[type[Expr], Callable[..., Any]] = {  # what an expression is, given what its parts are
    Add: lambda e, *parts: total(parts),
    Mul: lambda e, *parts: reduce(product, parts),
    Pow: lambda e, base: power(base, int(e.exponent)),
    Extremum: lambda e, *parts: reduce(lambda a, b: larger(a, b, e.op), parts),
    Compare: lambda e, a, b: comparison(e.op, a, b),
    Not: lambda e, a: negation(a),
    And: lambda e, *parts: both(*parts),
    Or: lambda e, *parts: either(*parts),
    Where: lambda e, c, a, b: chosen(c, a, b),
}


class Translation(Formulas):
    """Expressions as extended numbers and conditions. `plain`: without integers."""

    meaning = EXTENDED

    def __init__(self, t: Index, given: list[Expr], prover: IndexProver, plain: bool) -> None:
        super().__init__(prover.context)
        self.t, self.given, self.prover, self.plain = t, given, prover, plain
        self.terms = Terms(prover, linear=False)

    # ------------------------------------------------------------------------------------------------ questions

    def equal(self, left: Expr, right: Expr, *given: Expr) -> bool:
        """Whether both are the same, or both have no value, wherever the given conditions hold."""
        if (left.kind == "bool") != (right.kind == "bool"):
            return False
        try:
            a, b = self.said(left), self.said(right)
            if left.kind == "bool":
                return self.holds(a == b, given)
            same = both(a.low == b.low, a.high == b.high, either(a.infinite, a.number == b.number))
            return self.holds(both(a.fine == b.fine, either(negation(a.fine), same)), given)
        except Untranslatable:
            return False

    def follows(self, goal: Expr, *given: Expr) -> bool:
        """Whether a condition holds wherever the given ones do."""
        try:
            return self.holds(self.said(goal), given)
        except Untranslatable:
            return False

    def holds(self, goal: Any, given: Sequence[Expr]) -> bool:
        if goal is True:
            return True
        known = []
        for fact in (*self.given, *given):
            try:
                known.append(self.said(fact))
            except Untranslatable:
                continue  # one fact less
        return bool(self.prover.checked(self.solver(*known, negation(goal)), WORK) == z3.unsat)

    def said(self, expr: Expr) -> Any:
        return self.term(canonical(one_more(expr, self.t)))

    # --------------------------------------------------------------------------------------- numbers and conditions

    def number(self, value: Fraction) -> Extended:
        return Extended(self.real(value))

    def reads(self, expr: Expr) -> bool:
        match expr:
            case Pow(_, exponent):
                return exponent.denominator == 1
            case Compare(_, a, b):
                return "bool" not in (a.kind, b.kind)
        return super().reads(expr)

    def translated(self, thing: Expr) -> Any:
        match thing:
            case Truth(value):
                return value
            case Compare(op, a, b) if a.kind == "int" == b.kind and self.plain:
                return self.plain_comparison(thing, op, a, b)
            case Compare(_, a, b) if a.kind == "int" == b.kind and not any(isinstance(e, Fold) for e in walk(thing)):
                return self.of_integers(thing)
        return super().translated(thing)

    def unknown(self, expr: Expr) -> Any:
        match expr:
            case NegInf():
                return Extended(self.real(0), low=True)
            case Fn("exp", argument):
                return self.exponential(argument)
            case Fold(monoid, bound, body) if expr.kind != "bool":
                return self.fold(expr, monoid, bound, body)
        if expr.kind == "bool":
            return self.named(expr, "bool")
        if expr.kind == "int" and self.plain:
            return Extended(self.count(expr))
        if expr.kind == "int" and not any(isinstance(e, Fold) for e in walk(expr)):
            return Extended(z3.ToReal(self.of_integers(expr)))
        return Extended(self.atom(expr), fine=EVIDENT.tags(expr) is not None or self.named(expr, "bool", "fine"))

    def of_integers(self, expr: Expr) -> Any:
        """What is said of integers as they are."""
        term, facts = self.terms.with_facts(expr)
        self.facts.update(facts)
        return term

    def count(self, expr: Expr) -> Any:
        """An integer as a number that is 0 or at least 1, or as one of which nothing is known."""
        number = self.atom(expr)
        if EVIDENT.never_negative(expr):
            self.tell(z3.Or(number == 0, number >= 1))
        return number

    def atom(self, expr: Expr, kind: str = "real") -> Any:
        """A number of its own for what is not looked into."""
        made = self.named(expr, kind)
        if EVIDENT.above_zero(expr):
            self.tell(made > 0)
        elif kind == "real" and isinstance(expr, Fn) and EVIDENT.never_negative(expr):  # else slow
            self.tell(made >= 0)
        return made

    def exponential(self, argument: Expr) -> Extended:
        """exp, with the choices in its argument outermost, of a sum as a product of one positive number each."""
        choice = next((e for e in walk_open(argument) if isinstance(e, Where)), None)
        if choice is not None:
            c = self.term(choice.condition)
            x, y = (self.exponential(settled(argument, choice.condition, holds)) for holds in (True, False))
            found: Extended = chosen(c, x, y)
            return found
        total: Any = self.real(1)
        low: Any = False
        fine: Any = True
        for one, falls in exponents(argument):
            if one is ZERO:
                continue
            tag = self.term(one)
            low = either(low, tag.high if falls else tag.low)
            fine = both(fine, tag.fine, negation(tag.low if falls else tag.high))
            if not isinstance(one, NegInf):
                atom = self.named(one, "real", "exp")
                self.tell(atom > 0)
                total = total / atom if falls else total * atom
        return Extended(chosen(low, self.real(0), total), fine=fine)

    def fold(self, expr: Expr, monoid: str, bound: tuple[Index, ...], body: Expr) -> Extended:
        """A fold as a number of its own: with the sign of its parts, and neutral where there are none."""
        if body is ZERO and monoid == "sum":
            return Extended(self.real(0))
        infinite = may_be_infinite(body)
        if infinite and (monoid, infinite) not in (("max", {-1}), ("min", {1})):
            raise Untranslatable(monoid)
        if body.kind != "int":
            number = self.atom(expr)
        else:
            number = self.count(expr) if self.plain else z3.ToReal(self.atom(expr, "int"))
        if EVIDENT.never_negative(body):
            self.tell(number >= 0)
        none = self.none(bound)
        fine = EVIDENT.tags(body) is not None or either(none, self.named(expr, "bool", "fine"))
        if monoid in ("max", "min"):
            empty = either(none, self.named(expr, "bool", "empty") if infinite else False)
            low, high = (empty, False) if monoid == "max" else (False, empty)
            return Extended(number, low, high, fine)
        if none is not False:
            self.tell(z3.Implies(none, number == (0 if monoid == "sum" else 1)))
        return Extended(number, fine=fine)

    def none(self, bound: tuple[Index, ...]) -> Any:
        """Whether a range is empty."""
        ends = []
        for v in bound:
            if isinstance(v.extent, Num) and v.extent.value > 0:
                continue
            if self.plain:
                ends.append(self.term(canonical(integers.at_most(v.extent, 0))))
            else:
                ends.append(self.of_integers(v.extent) <= 0)
        return either(*ends)

    def plain_comparison(self, expr: Expr, op: str, a: Expr, b: Expr) -> Any:
        """A comparison of the counter or of counts with numbers, as one of numbers; others as they come."""
        atoms = {e for m in polynomials.polynomial(integers.minus(b, a)) for e in m}
        if atoms == {self.t} or any(isinstance(e, Fold) for e in walk(expr)):
            return comparison(op, self.term(a), self.term(b))
        opposite = integers.tidied(negated(expr)) if op == "≤" else expr
        if order(opposite) < order(expr):
            return negation(self.named(opposite, "bool"))
        return self.named(expr, "bool")


def comparison(op: str, a: Extended, b: Extended) -> Any:
    """A comparison of extended reals; false where one of them has no value."""
    finite = both(negation(a.infinite), negation(b.infinite))
    less = either(both(a.low, negation(b.low)), both(b.high, negation(a.high)), both(finite, a.number < b.number))
    same = either(both(a.low, b.low), both(a.high, b.high), both(finite, a.number == b.number))
    return both(a.fine, b.fine, {"<": less, "=": same, "≤": either(less, same)}[op])


def total(parts: Sequence[Extended]) -> Extended:
    low, high = either(*(p.low for p in parts)), either(*(p.high for p in parts))
    fine = both(*(p.fine for p in parts), negation(both(low, high)))
    return Extended(z3.Sum([p.number for p in parts]), low, high, fine)


def power(base: Extended, exponent: int) -> Extended:
    fine = both(base.fine, negation(base.infinite))
    if exponent < 0:
        fine = both(fine, base.number != 0)
    number = prod([base.number] * (abs(exponent) - 1), start=base.number)
    return Extended(number if exponent > 0 else 1 / number, fine=fine)


def product(a: Extended, b: Extended) -> Extended:
    if a.infinite is False and b.infinite is False:
        return Extended(a.number * b.number, fine=both(a.fine, b.fine))
    zero = either(
        both(a.infinite, negation(b.infinite), b.number == 0), both(b.infinite, negation(a.infinite), a.number == 0)
    )
    below = [either(x.low, both(negation(x.infinite), x.number < 0)) for x in (a, b)]
    infinite = either(a.infinite, b.infinite)
    turned = only_one(*below)
    return Extended(
        a.number * b.number,
        both(infinite, turned),
        both(infinite, negation(turned)),
        both(a.fine, b.fine, negation(zero)),
    )


def larger(a: Extended, b: Extended, op: str) -> Extended:
    """The maximum or minimum of two values."""
    up = op == "max"
    first = either(
        b.low if up else b.high,
        a.high if up else a.low,
        both(negation(a.infinite), negation(b.infinite), a.number >= b.number if up else a.number <= b.number),
    )
    found = [chosen(first, getattr(a, f), getattr(b, f)) for f in ("number", "low", "high")]
    return Extended(found[0], found[1], found[2], both(a.fine, b.fine))


def negated(expr: Expr) -> Expr:
    """The opposite of 0 ≤ p, as 0 ≤ −p − 1."""
    assert isinstance(expr, Compare)
    return integers.less(expr.right, expr.left)


def may_be_infinite(expr: Expr) -> set[int]:
    """Which infinities an expression may be by how it is written: −1, 1."""
    match expr:
        case NegInf():
            return {-1}
        case Mul(parts):
            found = set().union(*map(may_be_infinite, parts))
            return found if not found or len(parts) == 1 else {-1, 1} if parts != (Num(-ONE.value), NEG_INF) else {1}
        case Add(parts) | Extremum(_, parts):
            return set().union(*map(may_be_infinite, parts))
        case Where(_, then, otherwise):
            return may_be_infinite(then) | may_be_infinite(otherwise)
        case Fold("max" | "min", _, body):
            return may_be_infinite(body)
        case Fold(_, _, body):
            return {-1, 1} if may_be_infinite(body) else set()
    return set()
