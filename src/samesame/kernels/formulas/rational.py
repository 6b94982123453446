"""Sums of products with like terms and like factors taken together: x·(1/x) is 1, and exp(a)·exp(−a) too.

An expression becomes a sum of monomials, each a product of powers of what does not split further. x·(1/x) has no value
where x is 0, √x·√x has none where x is below 0, nor has log x − log x there: what an expression needs to have a value,
and no longer needs, is told, and whoever asks decides whether that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import cast

from samesame.formula.definite import is_undefined
from samesame.formula.expr import (
    NEG_INF,
    ZERO,
    Add,
    Compare,
    Expr,
    Extremum,
    Fn,
    Fold,
    Index,
    Lambda,
    Mul,
    NegInf,
    Num,
    Opaque,
    Pow,
    Where,
    add,
    exp,
    mul,
    power,
    rebuild,
    substitute,
    walk,
    where,
)
from samesame.formula.order import order
from samesame.formula.scalars import EVERYWHERE
from samesame.kernels import clock
from samesame.kernels.formulas.algebra import expanded
from samesame.kernels.indices import integers

MOST_TERMS = 64
MOST_CHOICES = 6

Factors = tuple[tuple[Expr, Fraction], ...]  # atoms with exponents other than 0, in the order of their ranks
Terms = dict[Factors, Fraction]


class TooMany(Exception):
    """More terms than are worth it."""


@dataclass
class Cancelling:
    """Expressions multiplied out; `partial` are the factors of what it was given that do not always have a value."""

    partial: dict[Expr, None] = field(default_factory=dict)
    alike: dict[Expr, Expr] = field(default_factory=dict)

    def __call__(self, expr: Expr) -> Expr:
        return written(self.reduced(self.terms(expr)))

    def lost(self, found: Expr) -> list[Expr]:
        """What has to have a value for an expression to have one, and not for what was found of it. A part of a factor
        that is gone is there still if it is a factor itself: in a branch of another one it may not be looked at."""
        kept = Cancelling(alike=self.alike)
        kept(found)
        gone = (part for factor in self.partial if factor not in kept.partial for part in partial_in(factor))
        return [part for part in dict.fromkeys(gone) if part not in kept.partial]

    def reduced(self, terms: Terms) -> Terms:
        """Of fractions with one denominator that is a sum, their numerators divided by it where that comes out."""
        sums = dict.fromkeys(a for factors in terms for a, e in factors if e == -1 and isinstance(a, Add))
        for denominator in sums:
            over = {f: c for f, c in terms.items() if (denominator, Fraction(-1)) in f}
            top = {tuple(part for part in f if part[0] is not denominator): c for f, c in over.items()}
            whole = exact(top, self.terms(denominator))
            if whole is not None:
                terms = added({f: c for f, c in terms.items() if f not in over}, whole)
        return terms

    def terms(self, expr: Expr) -> Terms:
        clock.look()
        match expr:
            case Num(value):
                return {(): value} if value else {}
            case Add(parts):
                total: Terms = {}
                for part in parts:
                    total = added(total, self.terms(part))
                return total
            case Mul(parts):
                product: Terms = {(): Fraction(1)}
                for part in parts:
                    product = self.times(product, self.terms(part))
                return product
            case Pow(base, exponent) if exponent.denominator == 1 and 0 < exponent <= 4:
                once = self.terms(base)
                product = once
                for _ in range(int(exponent) - 1):
                    product = self.times(product, once)
                return product
            case Pow(base, exponent):
                return self.power(base, exponent)
            case Fn("exp", argument):
                return self.exponential(argument)
        atom = self.alike.setdefault(canonical(expr), expr)
        if partial_in(atom):
            self.partial[atom] = None
        return {((atom, Fraction(1)),): Fraction(1)}

    def times(self, a: Terms, b: Terms) -> Terms:
        total: Terms = {}
        if len(a) * len(b) > MOST_TERMS:
            raise TooMany
        for f, c in a.items():
            for g, d in b.items():
                both = multiplied(f, g)
                total[both] = total.get(both, Fraction(0)) + c * d
        return {factors: c for factors, c in total.items() if c}

    def power(self, base: Expr, exponent: Fraction) -> Terms:
        """A power of a product is one of its factors; of a sum, the sum is one atom."""
        inner = self.terms(base)
        if len(inner) == 1 and exponent.denominator == 1:
            ((factors, c),) = inner.items()
            if c and not any(e.denominator != 1 for _, e in factors if exponent < 0):
                number = c**exponent.numerator
                self.partial |= dict.fromkeys(e for atom, _ in factors for e in needs(atom, exponent))
                return {sorted_factors({atom: e * exponent for atom, e in factors}): number}
        atom = written(inner) if base.kind == "real" else integers.tidied(base)
        self.partial |= dict.fromkeys(needs(atom, exponent))
        return {((atom, exponent),): Fraction(1)}

    def exponential(self, argument: Expr) -> Terms:
        """exp of a sum: a product of powers of exp of its terms, and 0 if one is −∞."""
        powers: dict[Expr, Fraction] = {}
        for factors, c in self.terms(argument).items():
            if c > 0 and factors and factors[0][0] is NEG_INF:
                return {}
            base = exp(written({factors: Fraction(1)}))
            powers[base] = powers.get(base, Fraction(0)) + c
        return {sorted_factors({atom: e for atom, e in powers.items() if e}): Fraction(1)}


def needs(base: Expr, exponent: Fraction) -> Iterator[Expr]:
    """1/base and √base, as far as a power has a value only where these have one; an exponential is above zero."""
    if isinstance(base, Fn) and base.name == "exp":
        return
    if exponent < 0:
        yield Pow(base, Fraction(-1))
    if exponent.denominator != 1:
        yield Pow(base, Fraction(1, 2))


@lru_cache(maxsize=1 << 14)
def partial_in(expr: Expr) -> tuple[Expr, ...]:
    """The parts of an expression that do not have a value whatever the leaves hold: quotients, roots, logarithms, the
    greatest of what may be nothing, and that of which nothing is known."""
    found: dict[Expr, None] = {}
    for e in walk(expr):
        match e:
            case Pow(base, exponent):
                found |= dict.fromkeys(needs(base, exponent))
            case Fn(name, _) if name not in EVERYWHERE:
                found[e] = None
            case Fold("max" | "min", _, _):
                found[e] = None
            case _ if is_undefined(e) or (isinstance(e, Opaque) and e.kind == "real"):
                found[e] = None
    return tuple(found)


def added(a: Terms, b: Terms, times: Fraction = Fraction(1), by: Factors = ()) -> Terms:
    """a + times·by·b."""
    total = dict(a)
    for factors, c in b.items():
        both = multiplied(factors, by) if by else factors
        total[both] = total.get(both, Fraction(0)) + times * c
    return {factors: c for factors, c in total.items() if c}


def multiplied(f: Factors, g: Factors) -> Factors:
    powers = dict(f)
    for atom, exponent in g:
        powers[atom] = powers.get(atom, Fraction(0)) + exponent
    return sorted_factors({atom: e for atom, e in powers.items() if e})


def exact(top: Terms, divisor: Terms) -> Terms | None:
    """top / divisor where nothing is left over, by long division; None where something is."""
    atoms = sorted({a for terms in (top, divisor) for f in terms for a, _ in f}, key=order)

    def lead(terms: Terms) -> Factors:
        return max(terms, key=lambda f: [dict(f).get(a, Fraction(0)) for a in atoms])

    first = lead(divisor)
    quotient: Terms = {}
    for _ in range(MOST_TERMS):
        if not top:
            return quotient
        powers = dict(lead(top))
        c = top[lead(top)] / divisor[first]
        for atom, e in first:
            powers[atom] = powers.get(atom, Fraction(0)) - e
            if powers[atom] < 0:
                return None
        by = sorted_factors({atom: e for atom, e in powers.items() if e})
        quotient = added(quotient, {by: c})
        top = added(top, divisor, -c, by)
    return None


def sorted_factors(powers: dict[Expr, Fraction]) -> Factors:
    return tuple(sorted(powers.items(), key=lambda item: order(item[0])))


def written(terms: Terms) -> Expr:
    """The expression of a sum of monomials, powers of exp as one exp."""
    found: list[Expr] = []
    for factors, c in terms.items():
        exponents = [mul(e, a.argument) for a, e in factors if isinstance(a, Fn) and a.name == "exp"]
        rest = [power(a, e) for a, e in factors if not (isinstance(a, Fn) and a.name == "exp")]
        found.append(mul(c, *rest, *([exp(add(*exponents))] if exponents else [])))
    return add(*found) if found else ZERO


# -------------------------------------------------------------------------------------------------------------- choices


def choices_first(expr: Expr, finish: Callable[[Expr], Expr], depth: int = MOST_CHOICES) -> Expr:
    """The expression with its choices outermost: `finish` of what is left in each case. A condition met again in a
    case is the one that is known there."""
    chosen = next(choices(expr), None)
    if chosen is None or not depth:
        return finish(expr)
    sides = [choices_first(settled(expr, chosen, holds), finish, depth - 1) for holds in (True, False)]
    return where(chosen, *sides)


def choices(expr: Expr) -> Iterator[Expr]:
    """Conditions of choices that are not under a binder, inner ones first."""
    return iter({canonical(e.condition): e.condition for e in walk_open(expr) if isinstance(e, Where)}.values())


def walk_open(expr: Expr) -> list[Expr]:
    """The sub-expressions that arithmetic leads to: not those of folds, loads and conditions."""
    match expr:
        case Add(parts) | Mul(parts) | Extremum(_, parts):
            return [e for part in parts for e in walk_open(part)] + [expr]
        case Pow(base, _):
            return [*walk_open(base), expr]
        case Fn(_, argument):
            return [*walk_open(argument), expr]
        case Where(_, then, otherwise):
            return [*walk_open(then), *walk_open(otherwise), expr]
    return [expr]


def settled(expr: Expr, condition: Expr, holds: bool) -> Expr:
    """The expression where a condition holds, or where it does not."""
    match expr:
        case Where(c, then, otherwise) if c is condition or canonical(c) is canonical(condition):
            return settled(then if holds else otherwise, condition, holds)
        case Extremum(op, parts):
            return extremum(op, tuple(settled(part, condition, holds) for part in parts))
        case Add() | Mul() | Pow() | Fn() | Where():
            return rebuild(expr, lambda e: settled(e, condition, holds) if e.kind != "bool" else e)
    return expr


def extremum(op: str, parts: tuple[Expr, ...]) -> Expr:
    """A maximum without −∞ and without numbers that are not the greatest; a minimum likewise."""
    flat = [p for part in parts for p in (part.arguments if isinstance(part, Extremum) and part.op == op else (part,))]
    if op == "max" and any(not isinstance(p, NegInf) for p in flat):
        flat = [p for p in flat if not isinstance(p, NegInf)]
    numbers = [p for p in flat if isinstance(p, Num)]
    if len(numbers) > 1:
        best = (max if op == "max" else min)(numbers, key=lambda n: n.value)
        flat = [p for p in flat if p is best or not isinstance(p, Num)]
    return integers.flattened(op, tuple(sorted(dict.fromkeys(flat), key=order)))


def simple(expr: Expr) -> Expr:
    """Choices outermost, and in each case everything cancelled, whether or not it may be zero: a guess to be proved."""
    try:
        return choices_first(integers.tidied(expr), Cancelling())
    except (TooMany, ZeroDivisionError):
        return expr


def exponents(argument: Expr) -> Iterator[tuple[Expr, bool]]:
    """The terms ±c·x of an exponent as c·x, each with whether it is subtracted."""
    for term in expanded(argument):
        factors = term.factors if isinstance(term, Mul) else (term,)
        falls = isinstance(factors[0], Num) and factors[0].value < 0
        yield canonical(mul(-1, term) if falls else term), falls


# ------------------------------------------------------------------------------------------------------- one name each


@lru_cache(maxsize=1 << 14)
def canonical(expr: Expr) -> Expr:
    """The expression with sums and products in one order, and bound variables numbered from within, so that what
    differs in names only is one object."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = visit(e)
        return memo[e]

    def visit(e: Expr) -> Expr:
        match e:
            case Fold(_, bound, _) | Lambda(bound, _):
                body = go(e.body)
                depth = binders(body)
                fresh: dict[Index, Expr] = {}
                for k, v in enumerate(bound):
                    fresh[v] = Index(-(depth + k + 1), go(substitute(v.extent, fresh)))
                new = integers.tidied(renamed(body, fresh))
                names = tuple(fresh[v] for v in bound)
                return Fold(e.monoid, names, new) if isinstance(e, Fold) else Lambda(names, new)  # type: ignore[arg-type]
            case Add(parts) | Mul(parts) if e.kind == "real":
                ordered = sorted(map(go, parts), key=order)
                return (add if isinstance(e, Add) else mul)(*ordered)
            case Extremum(op, parts):
                return extremum(op, tuple(map(go, parts)))
            case Compare("=", a, b) if a.kind == "real" or b.kind == "real":
                return Compare("=", *sorted(map(go, (a, b)), key=order))
        return rebuild(e, go)

    return go(integers.tidied(expr))


def renamed(expr: Expr, names: Mapping[Index, Expr]) -> Expr:
    """The expression with names in place of variables that are not bound in it. What is bound keeps its number, where a
    range is said by other names, too."""
    memo = dict(cast("Mapping[Expr, Expr]", names))

    def go(e: Expr) -> Expr:
        if e.free.isdisjoint(names):
            return e
        if e not in memo:
            memo[e] = under_binder(e) if isinstance(e, Fold | Lambda) else rebuild(e, go)
        return memo[e]

    def under_binder(e: Fold | Lambda) -> Expr:
        own: dict[Index, Index] = {}
        for v in e.bound:
            own[v] = Index(v.serial, integers.tidied(renamed(v.extent, {**names, **own})))
        body, bound = renamed(e.body, {**names, **own}), tuple(own.values())
        return Fold(e.monoid, bound, body) if isinstance(e, Fold) else Lambda(bound, body)

    return go(expr)


def binders(expr: Expr) -> int:
    """How many levels of numbered variables occur."""
    return max((-v.serial for e in walk(expr) if isinstance(e, Fold | Lambda) for v in e.bound), default=0)
