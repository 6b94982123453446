"""Extended reals: where a formula's value may be infinite, and what arithmetic does there.

Kernels write −∞ into masked lanes, start maxima with it, and rescale by exp(old − new) while both may still be −∞. Over
the reals proper none of that has a value, and over floats −∞ − (−∞) and 0·∞ are NaN. So a value here is a tag (minus,
finite, plus) besides its number; `tags` says which ones an expression may have, and NOTHING where NaN is among what it
may be. Only on that ground is an infinity taken out of a formula: −∞ + x is −∞ for an x that is never +∞, c·(−∞) is −∞
for c > 0, and x = −∞ is false for an x that is finite. What −∞ − (−∞) or 0·(−∞) would decide stays in the formula, and
a formula in which an infinity stays is not proved.

Elements of tensors count as finite: an input that holds an infinity or NaN is outside of what is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import product

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
    Load,
    Mul,
    Named,
    NegInf,
    Num,
    Opaque,
    Pow,
    Size,
    Where,
    const,
)
from samesame.formula.scalars import EVERYWHERE, POSITIVE
from samesame.kernels.execution.values import is_undefined

MINUS, FINITE, PLUS = -1, 0, 1
Tags = frozenset[int]
NUMBER: Tags = frozenset([FINITE])
NOTHING: Tags | None = None  # it may be no number at all


@lru_cache(maxsize=1 << 14)
def tags(expr: Expr) -> Tags | None:
    """The tags that the value may have, whatever finite numbers the leaves hold; None where it may be NaN, undefined,
    or infinite by a division by zero."""
    match expr:
        case NegInf():
            return frozenset([MINUS])
        case Load():
            return NOTHING if is_undefined(expr) else NUMBER
        case Num() | Named() | Size() | Index():
            return NUMBER
        case Where(_, then, otherwise):
            return joined(map(tags, (then, otherwise)))
        case Extremum(op, parts):
            return combined(map(tags, parts), max if op == "max" else min)
        case Add(terms):
            return combined(map(tags, terms), plus)
        case Mul(factors):
            return of_product(factors, [tags(factor) for factor in factors])
        case Pow(base, exponent):
            fine = tags(base) == NUMBER and (exponent > 0 or sign(base) == 1)
            return NUMBER if fine and (exponent.denominator == 1 or sign(base) == 1) else NOTHING
        case Fn("exp", argument):
            found = tags(argument)
            return found and frozenset(PLUS if t == PLUS else FINITE for t in found)
        case Fn("log", argument):
            return NUMBER if tags(argument) == NUMBER and sign(argument) == 1 else NOTHING
        case Fn(name, argument):
            return NUMBER if name in EVERYWHERE and tags(argument) == NUMBER else NOTHING
        case Fold(monoid, bound, body):
            return of_fold(monoid, bound, tags(body))
        case Opaque() if expr.kind == "real":
            return NOTHING
    return NUMBER if expr.kind in ("int", "bool") else NOTHING


def joined(found: Iterable[Tags | None]) -> Tags | None:
    total: Tags = frozenset()
    for one in found:
        if one is None:
            return NOTHING
        total |= one
    return total


def combined(found: Iterable[Tags | None], make: Callable[[int, int], int | None]) -> Tags | None:
    """The tags of sums, maxima or minima of values with these tags."""
    total: Tags | None = None
    for k, one in enumerate(found):
        if one is None or (k and total is None):
            return NOTHING
        if total is None:
            total = one
            continue
        pairs = [make(a, b) for a, b in product(total, one)]
        if None in pairs:
            return NOTHING
        total = frozenset(pair for pair in pairs if pair is not None)
    return total


def plus(a: int, b: int) -> int | None:
    """−∞ + ∞ is nothing; else the infinite one of both decides."""
    return None if a * b < 0 else a or b


def of_product(factors: tuple[Expr, ...], found: list[Tags | None]) -> Tags | None:
    """The tags of a product of factors that have these: an infinity times what has no known sign is nothing."""
    infinite = [one for one in found if one != NUMBER]
    if not infinite:
        return NUMBER
    signs = [sign(factor) for factor, one in zip(factors, found, strict=True) if one == NUMBER]
    one = infinite[0]
    if len(infinite) > 1 or one is None or None in signs:
        return NOTHING  # an infinity times what may be zero
    turned = -1 if signs.count(-1) % 2 else 1
    return frozenset(turned * t for t in one)


def of_fold(monoid: str, bound: tuple[Index, ...], body: Tags | None) -> Tags | None:
    if body is None:
        return NOTHING
    if monoid in ("sum", "prod"):
        return NUMBER if body == NUMBER else NOTHING if monoid == "prod" or {MINUS, PLUS} <= body else body | NUMBER
    some = all(isinstance(v.extent, Num | Size) and not is_none(v.extent) for v in bound)
    empty = {"max": MINUS, "min": PLUS}.get(monoid, FINITE)
    return body if some else body | {empty}


def is_none(extent: Expr) -> bool:
    """Whether a range may be empty."""
    return extent.minimum < 1 if isinstance(extent, Size) else isinstance(extent, Num) and extent.value < 1


@lru_cache(maxsize=1 << 14)
def sign(expr: Expr) -> int | None:
    """1 or −1 for a finite value that is above or below zero whatever the leaves hold; None where that is not plain."""
    match expr:
        case Num(value):
            return 1 if value > 0 else -1 if value < 0 else None
        case Named():
            return 1
        case Size(_, least):
            return 1 if least > 0 else None
        case Fn(name, argument) if name in POSITIVE:
            return 1 if name in EVERYWHERE and tags(argument) == NUMBER else None
        case Fn("log", Num(value)):
            return 1 if value > 1 else -1 if 0 < value < 1 else None
        case Pow(base, _):
            return 1 if sign(base) == 1 else None
        case Mul(factors):
            found = [sign(factor) for factor in factors]
            return None if None in found else -1 if found.count(-1) % 2 else 1
        case Add(terms):
            signs = {sign(term) for term in terms}
            return signs.pop() if len(signs) == 1 else None
    return None


def infinite_tag(expr: Expr) -> int | None:
    """The tag of a value that is certainly infinite; None for others."""
    found = tags(expr)
    return next(iter(found)) if found and len(found) == 1 and found != NUMBER else None


def decided(compare: Compare) -> Expr | None:
    """A comparison with an infinity, where the other side is known to be finite or infinite."""
    a, b = tags(compare.left), tags(compare.right)
    if a is None or b is None or len(a) != 1 or len(b) != 1 or (a, b) == (NUMBER, NUMBER):
        return None
    (x,), (y,) = a, b
    return TRUE if {"<": x < y, "≤": x <= y, "=": x == y}[compare.op] else FALSE


def is_number(expr: Expr) -> bool:
    """Whether the value is finite whatever the leaves hold."""
    return tags(const(expr)) == NUMBER
