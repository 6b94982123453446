"""What holds where a maximum is over nothing.

A proof about a maximum may take for granted that it is over at least one element: of a row that a mask hides whole it
says nothing, `max_j {x[i, j] if m[i, j] else −∞}`. That row is a case of its own, and a simple one. There the guard of
the elements is false for every j, so both sides are formulas without it; and where neither has a number left, as 0/0
and −∞ − (−∞) are none, they agree, too. Where both are numbers, and the same ones, nothing is taken for granted; where
both are the same infinity, or NaN, that is said: a proof that begins with these tensors is one about numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from fractions import Fraction

from samesame.formula.assumptions import BOTH_ABOVE, BOTH_BELOW, NEITHER, SOME, Assumption, Holds
from samesame.formula.binders import replaced
from samesame.formula.expr import (
    FALSE,
    TRUE,
    Add,
    Compare,
    Expr,
    Extremum,
    Fn,
    Fold,
    Index,
    Mul,
    NegInf,
    Num,
    Pow,
    Truth,
    Where,
    not_,
    substitute,
    walk,
)
from samesame.formula.sizes import at_least


def without_empty(conditions: tuple[Assumption, ...], left: Expr, right: Expr) -> tuple[Assumption, ...]:
    """The conditions of a proof, less those of maxima over nothing in whose case both sides are one number, at sight;
    where both are one infinity, or NaN, the condition says so."""
    kept: list[Assumption] = []
    for one in conditions:
        case = _where_empty(one, left, right) if isinstance(one, Holds) and one.kind == SOME else None
        mine, yours = (None, None) if case is None else map(_value, case)
        if mine != yours or mine in (None, Nothing.EITHER):
            kept.append(one)
        elif isinstance(mine, Nothing) and isinstance(one, Holds):
            kept.append(replace(one, kind=KINDS[mine]))
    return tuple(dict.fromkeys(kept))


def _where_empty(one: Holds, left: Expr, right: Expr) -> tuple[Expr, Expr] | None:
    """The sides where the guard of a maximum's elements is false for all of them; None where it cannot be told which of
    their guards that is."""
    match one.that:
        case Fold("any", (over,), guard):
            indices = dict.fromkeys(e for side in (left, right) for e in walk(side) if isinstance(e, Index))
            known = _named_as_in(guard, over, left.free | right.free, indices)
        case _:
            return None
    if known is None:
        return None
    false = [substitute(known, {over: j}) for j in indices if j.extent is over.extent]
    values = {e: FALSE for e in false} | {not_(e): TRUE for e in false}
    sides = replaced(left, values), replaced(right, values)
    return sides if sides != (left, right) else None


def _named_as_in(guard: Expr, over: Index, free: frozenset[Index], indices: Iterable[Index]) -> Expr | None:
    """A condition has names of its own for its indices: they are told by their ranges, if each has one of its own."""
    names: dict[Index, Expr] = {}
    for mine in guard.free - {over}:
        yours = [j for j in indices if j.extent is mine.extent]
        if len(yours) != 1 or yours[0] not in free or mine.extent is over.extent:
            return None
        names[mine] = yours[0]
    return substitute(guard, names)


class Nothing(Enum):
    """What is no number: −∞, +∞, one of these as 1/0 is, and NaN."""

    BELOW = "−∞"
    ABOVE = "+∞"
    EITHER = "±∞"
    NAN = "NaN"


KINDS = {Nothing.NAN: NEITHER, Nothing.BELOW: BOTH_BELOW, Nothing.ABOVE: BOTH_ABOVE}
Value = Fraction | Nothing | None                       # None: not known


def _value(e: Expr) -> Value:
    """The value of an expression that is one, whatever the tensors hold, where it can be told at sight."""
    values: dict[Expr, Value] = {}
    for part in walk(e):                                # what it is made of comes before
        values[part] = _made(part, values)
    return values[e]


def _made(e: Expr, of: Mapping[Expr, Value]) -> Value:
    """The value of an expression, given those of what it is made of."""
    match e:
        case Num(value):
            return value
        case NegInf():
            return Nothing.BELOW
        case Add(terms):
            return _sum([of[term] for term in terms])
        case Mul(factors):
            return _product([of[factor] for factor in factors])
        case Pow(base, exponent):
            return _power(of[base], exponent)
        case Fn("exp", argument):
            return _of_exp(of[argument])
        case Fn("log", argument):
            return {Nothing.NAN: Nothing.NAN, Fraction(0): Nothing.BELOW}.get(of[argument])
        case Fold("max" | "min" | "sum" | "prod" as monoid, bound, body):
            return _folded(monoid, of[body]) if all((at_least(v.extent) or 0) > 0 for v in bound) else None
        case Extremum(op, parts):
            return _extreme(op, [of[part] for part in parts])
        case Where(condition, then, otherwise):
            chosen = _truth(condition, of)
            return None if chosen is None else of[then if chosen else otherwise]
        case _:
            return None


def _truth(condition: Expr, of: Mapping[Expr, Value]) -> bool | None:
    match condition:
        case Truth(value):
            return value
        case Compare("=", a, b):
            x, y = of[a], of[b]
            return None if {x, y} & {None, Nothing.NAN, Nothing.EITHER} else x == y
        case _:
            return None


def _sum(parts: list[Value]) -> Value:
    infinite = [x for x in parts if isinstance(x, Nothing)]
    if Nothing.NAN in infinite or {Nothing.BELOW, Nothing.ABOVE} <= set(infinite):
        return Nothing.NAN
    if None in parts or len(set(infinite)) > 1 or infinite.count(Nothing.EITHER) > 1:
        return None
    return infinite[0] if infinite else sum(_numbers(parts), Fraction(0))


def _product(parts: list[Value]) -> Value:
    """What is not known may be no number: 0 times it is not known either."""
    infinite = [x for x in parts if isinstance(x, Nothing)]
    if Nothing.NAN in infinite or (infinite and Fraction(0) in parts):
        return Nothing.NAN
    if None in parts:
        return None
    product = math.prod(_numbers(parts), start=Fraction(1))
    if not infinite or Nothing.EITHER in infinite:
        return Nothing.EITHER if infinite else product
    below = (infinite.count(Nothing.BELOW) + (product < 0)) % 2
    return Nothing.BELOW if below else Nothing.ABOVE


def _power(base: Value, exponent: Fraction) -> Value:
    match base:
        case Nothing.NAN:
            return Nothing.NAN
        case Fraction() if base == 0:
            return Fraction(0) if exponent > 0 else Nothing.EITHER
        case Fraction() if exponent.denominator == 1:
            return base ** int(exponent)
        case _:
            return None


def _of_exp(argument: Value) -> Value:
    if argument is Nothing.BELOW or argument == 0:
        return Fraction(argument == 0)
    return argument if argument in (Nothing.ABOVE, Nothing.NAN) else None


def _folded(monoid: str, body: Value) -> Value:
    """Of equal elements, of which there is at least one."""
    same = (Nothing.NAN, 0) if monoid == "prod" else (Nothing.NAN, 0, Nothing.BELOW, Nothing.ABOVE)
    return body if (monoid in ("max", "min") and body is not Nothing.EITHER) or body in same else None


def _extreme(op: str, parts: list[Value]) -> Value:
    if Nothing.NAN in parts:
        return Nothing.NAN
    if None in parts or Nothing.EITHER in parts:
        return None
    below, above = (Nothing.BELOW, Nothing.ABOVE) if op == "max" else (Nothing.ABOVE, Nothing.BELOW)
    numbers = list(_numbers(parts))
    return above if above in parts else (max if op == "max" else min)(numbers) if numbers else below


def _numbers(parts: Iterable[Value]) -> Iterator[Fraction]:
    return (x for x in parts if isinstance(x, Fraction))
