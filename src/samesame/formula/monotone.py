"""What the order of a row does not depend on: exp(x[j] − m) / Σ exp(x[l] − m) has its elements in the order of x[j].

An operator that picks elements by size (argmax, topk, sort) compares the elements of a row with each other, and nothing
else. A strictly increasing function of all of them changes no comparison, ties included, and so no position; a strictly
decreasing one turns every comparison round. `apart` takes such functions off a row, from the outside in: what is added
to all elements, a factor whose sign is known, exp, roots, the logarithm of what is not negative. What is added or
multiplied must be the same number for the whole row, which has one wherever its leaves have: that is shown here, by
how the expression is built, without the normal form, for a meaning is made before there is a proof.

The greatest of a row is picked with less: max f(x[j]) = f(max x[j]) for any f that does not fall, a clamp or a rounding
among them, and f(min x[j]) for one that does not rise (`under`).

A product of positive things, an exponential among them, is in the order of its logarithm: the greatest of p[j] / e[j],
as a race of exponentials picks it, stands where the greatest of log p[j] − log e[j] does (`ordered`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import TypeGuard

from samesame.formula.definite import EVIDENT
from samesame.formula.expr import (
    NEG_INF,
    Add,
    Compare,
    Expr,
    Extremum,
    Fn,
    Fold,
    Index,
    Lambda,
    Leaf,
    Load,
    Mul,
    NegInf,
    Not,
    Num,
    Opaque,
    Pow,
    Where,
    absolute,
    add,
    mul,
    power,
    rebuild,
    walk,
    where,
)
from samesame.formula.infinite import OTHER, PLUS_INFINITY, holds_infinity, negated
from samesame.formula.scalars import EVEN, LOGARITHMS, ODD, ROUNDING, SCALARS, names

RISING = names(lambda row: row.rising and not row.domain)
LEVEL = ROUNDING | {"sign"}                    # these never fall, and stay where they are between their steps


@dataclass(frozen=True, slots=True)
class Apart:
    """An element of a row is `back(core)`, for a function that is strictly increasing, or decreasing if not `rising`,
    and the same for the whole row. Where steps are allowed, it may stay level, too."""

    core: Expr
    rising: bool
    back: Callable[[Expr], Expr]


def as_it_is(e: Expr) -> Apart:
    return Apart(e, True, lambda x: x)


TURNED = {"aten.argmax": "aten.argmin", "aten.argmin": "aten.argmax"}


def place(name: str, row: Lambda) -> Opaque:
    """Where the greatest element of a row stands ("aten.argmax"), or the least ("aten.argmin")."""
    found = ordered(row.body, frozenset(row.bound))
    return Opaque(name if found.rising else TURNED[name], (), (Lambda(row.bound, found.core),), (), "int")


def turned_round(name: str, attributes: tuple[object, ...]) -> tuple[str, tuple[object, ...]] | None:
    """The operator, and its attributes, that says the same place of a row whose order is turned round; None where it
    says no place."""
    match name, attributes:
        case ("aten.argmax" | "aten.argmin"), ():
            return TURNED[name], ()
        case "aten.sort", ("indices", (bool(falling), stable)):
            return name, ("indices", (not falling, stable))
        case "aten.topk", ("indices", (k, bool(largest), in_order)):
            return name, ("indices", (k, not largest, in_order))
    return None


def ordered(element: Expr, row: frozenset[Index]) -> Apart:
    """`apart`, and the logarithm of what is left where that is a positive product with an exponential in it, or its
    negative where that has −∞ for +∞."""
    signs = _Row(row)
    found = signs.apart(element)
    exponents = signs.logarithm(found.core)
    if exponents is not None:
        return signs.within(exponents, found.rising, lambda x: found.back(Fn("exp", x)))
    if PLUS_INFINITY in walk(found.core) and PLUS_INFINITY not in walk(negated(found.core)):
        return Apart(negated(found.core), not found.rising, lambda x: found.back(negated(x)))
    return found


def apart(element: Expr, row: frozenset[Index]) -> Apart:
    """An element of a row, which runs over these indices, as a monotone function of a simpler one."""
    return _Row(row).apart(element)


def under(monoid: str, bound: tuple[Index, ...], element: Expr) -> Expr:
    """max f(x[j]) as f(max x[j]), or as f(min x[j]) where f falls; so with "min"."""
    row = frozenset(bound)
    found = as_it_is(element) if holds_infinity(element) else _Row(row, level=True).apart(element)
    if found.core is element or not found.core.free & row or not (found.rising or is_finite(element)):
        return Fold(monoid, bound, element)
    return found.back(Fold(monoid if found.rising else OTHER[monoid], bound, found.core))


class _Row:
    """Functions with `level` stretches are taken off only where that is asked for."""

    def __init__(self, row: frozenset[Index], level: bool = False) -> None:
        self.row, self.level = row, level

    def apart(self, e: Expr) -> Apart:
        match e:
            case Add(terms):
                fixed, varying = self.divided(terms)
                if fixed and all(map(EVIDENT.is_number, fixed)):
                    return self.within(add(*varying), True, lambda x: add(x, *fixed))
                if len(varying) > 1 and is_finite(e):
                    return self.combined(e, add, varying)
            case Mul(factors):
                return self.scaled(e, *self.divided(factors))
            case Fn(name, inner) if name in LOGARITHMS and EVIDENT.is_nonnegative(inner):
                return self.within(inner, True, lambda x: Fn(name, x))
            case Fn(name, inner) if name == "exp" or (name in RISING and is_finite(inner)):
                return self.within(inner, True, lambda x: Fn(name, x))
            case Pow(base, q) if q > 0 and EVIDENT.is_nonnegative(base):
                return self.within(base, True, lambda x: power(x, q))
            case Pow(base, q) if q < 0 and EVIDENT.is_positive(base):
                return self.within(base, False, lambda x: power(x, q))
            case Pow(base, q) if q > 0 and q.denominator == 1 and is_finite(base):
                odd = q.numerator % 2 == 1
                return self.within(base if odd else absolute(base), True, lambda x: power(x, q))
            case Fn(name, inner) if self.level and name in LEVEL:
                return self.within(inner, True, lambda x: Fn(name, x))
            case Extremum(op, parts) if is_finite(e):
                return self.extremum(e, op, *self.divided(parts))
            case Where(condition, then, otherwise) if NEG_INF in (then, otherwise):
                return self.left_of(condition, then, otherwise) or as_it_is(e)
            case Where() if is_finite(e):
                return self.pieces(e)
        return as_it_is(e)

    def extremum(self, e: Expr, op: str, fixed: list[Expr], varying: list[Expr]) -> Apart:
        """The larger or smaller of functions of one core, and of numbers, beyond which it stays level."""
        if (fixed and not self.level) or not all(map(EVIDENT.is_number, fixed)):
            return as_it_is(e)
        return self.combined(e, lambda *parts: Extremum(op, (*parts, *fixed)), varying)

    def combined(self, e: Expr, combine: Callable[..., Expr], parts: list[Expr]) -> Apart:
        """What is made, without turning round, of functions of one core that all rise, or all fall."""
        found = [self.apart(part) for part in parts]
        if len({(f.core, f.rising) for f in found}) != 1:
            return as_it_is(e)
        return Apart(found[0].core, found[0].rising, lambda x: combine(*(f.back(x) for f in found)))

    def pieces(self, e: Where) -> Apart:
        """A choice between two functions of x by whether x exceeds a number, if e does not turn round there."""
        border = self.border(e.condition)
        if border is None or any(isinstance(p, Fold | Lambda) and self.row & {*p.bound} for p in walk(e)):
            return as_it_is(e)
        x, end, exceeds = border
        t = Load(Leaf("any number", tuple(v.extent for v in self.row)), tuple(self.row))
        sides = [self.function(_with(side, x, t), t) for side in (e.then, e.otherwise)]
        turns = {side.rising for side in sides if side is not None and side.core is t}
        if None in sides or len(turns) != 1:
            return as_it_is(e)
        then, otherwise = (side.back for side in sides if side is not None)
        (rising,) = turns
        larger, smaller = (then, otherwise) if rising == exceeds else (otherwise, then)
        if not _is_no_less(larger(end), smaller(end)):
            return as_it_is(e)
        return self.within(x, rising, lambda y: where(_with(e.condition, x, y), then(y), otherwise(y)))

    def border(self, condition: Expr) -> tuple[Expr, Expr, bool] | None:
        """x, the number that it is compared with, and whether the condition holds above that or below."""
        if isinstance(condition, Not):
            found = self.border(condition.argument)
            return found and (found[0], found[1], not found[2])
        if not isinstance(condition, Compare) or condition.op == "=":
            return None
        fixed, varying = self.divided((condition.left, condition.right))
        if len(fixed) != 1 or not EVIDENT.is_number(fixed[0]):
            return None
        x, end, exceeds = varying[0], fixed[0], fixed[0] is condition.left
        for n in (part.value for part in x.children if isinstance(part, Num)):
            if isinstance(x, Add):
                return add(x, -n), add(end, -n), exceeds
            if isinstance(x, Mul):
                return mul(x, 1 / n), mul(end, 1 / n), exceeds == (n > 0)
        return x, end, exceeds

    def function(self, e: Expr, t: Expr) -> Apart | None:
        """e as a function of t, if it is monotone; a number stays level."""
        if not e.free & self.row:
            return Apart(e, True, lambda _: e) if self.level and EVIDENT.is_number(e) else None
        found = self.apart(e)
        return found if found.core is t else None

    def scaled(self, e: Expr, fixed: list[Expr], varying: list[Expr]) -> Apart:
        """A product, without the factors of known sign that are the same for the whole row."""
        known = [f for f in fixed if EVIDENT.is_positive(f) or EVIDENT.is_positive(mul(-1, f))]
        falling = sum(not EVIDENT.is_positive(f) for f in known) % 2 == 1
        rest = mul(*varying, *(f for f in fixed if f not in known))
        if not known or not varying or (falling and not is_finite(rest)):
            return self.powers(e)
        return self.within(rest, not falling, lambda x: mul(x, *known))

    def left_of(self, condition: Expr, then: Expr, otherwise: Expr) -> Apart | None:
        """{f(x) if c else −∞} as {x if c else −∞}, for a rising f, and an x that is a number: −∞ is below both. What
        this is a function of its core, nobody asks of a row with −∞."""
        inner = then if otherwise is NEG_INF else otherwise
        found = self.apart(inner)
        if not found.rising or found.core is inner or not (isinstance(inner, Where) or is_finite(inner)):
            return None
        sides = (found.core if side is inner else side for side in (then, otherwise))
        return Apart(where(condition, *sides), True, found.back)

    def powers(self, e: Expr) -> Apart:
        """x·x·x is a power of x, and what rises with |x| or with x."""
        if not isinstance(e, Mul) or len({*e.factors}) != 1:
            return as_it_is(e)
        return self.apart(power(e.factors[0], len(e.factors)))

    def within(self, inner: Expr, rising: bool, function: Callable[[Expr], Expr]) -> Apart:
        found = self.apart(inner)
        return Apart(found.core, found.rising == rising, lambda x: function(found.back(x)))

    def logarithm(self, e: Expr) -> Expr | None:
        """The logarithm of a positive product that has an exponential among its factors; None for anything else."""
        if not isinstance(e, Mul) or not EVIDENT.is_positive(e):
            return None
        powers = [(f.base, f.exponent) if isinstance(f, Pow) else (f, Fraction(1)) for f in e.factors]
        if not any(_is_exponential(base) for base, _ in powers):
            return None
        return add(*(mul(q, base.argument if _is_exponential(base) else Fn("log", base)) for base, q in powers))

    def divided(self, parts: Iterable[Expr]) -> tuple[list[Expr], list[Expr]]:
        """Which parts are the same for the whole row, and which are not."""
        sides: tuple[list[Expr], list[Expr]] = ([], [])
        for part in parts:
            sides[bool(part.free & self.row)].append(part)
        return sides


def _with(e: Expr, x: Expr, value: Expr) -> Expr:
    """e with a value in place of x, which may be a part of a longer sum or product."""
    memo: dict[Expr, Expr] = {x: value}

    def go(part: Expr) -> Expr:
        if part not in memo:
            memo[part] = _rest(part) if _is_part(x, part) else rebuild(part, go)
        return memo[part]

    def _rest(part: Expr) -> Expr:
        left = Counter(part.children) - Counter(x.children)
        return (add if isinstance(x, Add) else mul)(value, *map(go, left.elements()))

    return go(e)


def _is_part(x: Expr, e: Expr) -> bool:
    """Whether e is a sum, or a product, of x and more."""
    alike = isinstance(x, Add | Mul) and type(x) is type(e)
    return alike and not Counter(x.children) - Counter(e.children)


def _is_no_less(a: Expr, b: Expr) -> bool:
    """Whether a ≥ b, as what is left of these sums is nothing, or is worked out."""
    terms = [Counter(e.terms if isinstance(e, Add) else (e,)) for e in (a, b)]
    one, other = (_worked_out(add(*(terms[k] - terms[1 - k]).elements())) for k in (0, 1))
    return one is not None and other is not None and one >= other


def _worked_out(e: Expr) -> Fraction | None:
    """A number that is written as a formula without variables, where it is rational."""
    match e:
        case Num(value):
            return value
        case Add(parts) | Mul(parts):
            found = [_worked_out(part) for part in parts]
            known = [value for value in found if value is not None]
            combine = sum(known) if isinstance(e, Add) else prod(known)
            return Fraction(combine) if len(known) == len(found) else None
        case Pow(base, q) if q.denominator == 1 and (inner := _worked_out(base)):
            return inner ** int(q)
        case Fn(name, inner) if _worked_out(inner) == 0 and name in ODD | EVEN | {"exp"}:
            return Fraction(1 if name == "exp" else SCALARS[name].at_zero)
    return None


def _is_exponential(e: Expr) -> TypeGuard[Fn]:
    return isinstance(e, Fn) and e.name == "exp"


def is_finite(e: Expr) -> bool:
    """Whether it is nowhere −∞."""
    return not any(isinstance(part, NegInf) or (isinstance(part, Fn) and part.name in LOGARITHMS) for part in walk(e))
