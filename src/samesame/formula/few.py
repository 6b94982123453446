"""Integers of which an expression can be only a few: an index below 8 times 4 is one of 0, 4, … 28, and what a table of
a few numbers says is one of these.

What is known only for a number, such as ⌊x / 2^n⌋ for `x >> n`, is then said case by case, and stays what integers
are: a shift by a row of shifts is as many divisions by numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod

from samesame.formula.expr import Expr, FloorDiv, Index, Mod, Num, Where, compare, where
from samesame.formula.polynomials import Monomial, Polynomial, plus, polynomial

MOST = 32  # values, and so cases


def values(e: Expr) -> list[int] | None:
    """All that an integer expression may be, in order, and perhaps more than that; None where they are not few."""
    return _values(polynomial(e)) if e.kind == "int" else None


def by_values(e: Expr, result: Callable[[int], Expr]) -> Expr | None:
    """`result` of the number that `e` is, case by case; None where it may be one of many."""
    found = values(e)
    if found is None:
        return None
    *others, last = found
    chosen = result(last)
    for value in reversed(others):
        chosen = where(compare("=", e, value), result(value), chosen)
    return chosen


def _values(p: Polynomial) -> list[int] | None:
    for monomial, coefficient in p.items():
        match monomial:
            case (FloorDiv(x, Num(d)),) if coefficient % d == 0 and 0 < d <= MOST:
                # c·x − c·d·⌊x / d⌋ is c·(x mod d)
                c = -coefficient // int(d)
                rest = plus(plus(p, {monomial: coefficient}, -1), polynomial(x), -c)
                return _sums([[c * r for r in range(int(d))], _values(rest)])
    return _sums([_of_term(monomial, c) for monomial, c in p.items()])


def _of_term(monomial: Monomial, coefficient: int) -> list[int] | None:
    found = [1]
    for atom in monomial:
        match atom:
            case Index(_, Num(extent)) | Mod(_, Num(extent)) if 0 < extent <= MOST:
                found = sorted({a * b for a in found for b in range(int(extent))})
            case Where(_, then, otherwise) if None not in (sides := (values(then), values(otherwise))):
                found = sorted({a * b for a in found for side in sides for b in side or ()})
            case _:
                return None
    return [coefficient * value for value in found] if len(found) <= MOST else None


def _sums(parts: list[list[int] | None]) -> list[int] | None:
    """One of each part, added up."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or prod(map(len, known)) > MOST**2:
        return None
    found = sorted({sum(numbers) for numbers in product(*known)})
    return found if len(found) <= MOST else None
