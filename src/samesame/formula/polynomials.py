"""Polynomials over integer expressions, as tables of their terms.

A monomial is its atoms in their order (`order.py`), repeated for powers; a polynomial gives each monomial its
coefficient. What is no sum, product or power is an atom; what becomes of quotients and remainders is for those to say
who have a canonical form: `sizes.py`, and `integers.py` of kernels. `written` makes equal polynomials one expression.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, reduce
from typing import Any, TypeVar

from samesame.formula.expr import Add, Expr, Extremum, FloorDiv, Index, Mod, Mul, Num, Pow, Size, Where, add, mul
from samesame.formula.order import order

Atom = TypeVar("Atom")
Monomial = tuple[Expr, ...]  # atoms in their order, repeated for powers
Polynomial = dict[Monomial, int]  # no zero coefficients


def orders(monomial: Monomial) -> list[tuple[Any, ...]]:
    """What sorts monomials of one length."""
    return [order(atom) for atom in monomial]


@lru_cache(maxsize=1 << 16)
def polynomial(expr: Expr) -> Polynomial:
    """The polynomial of an integer, quotients and the like as they stand; it is not to be changed."""
    found = expanded(expr, polynomial)
    return {(expr,): 1} if found is None else found


def expanded(expr: Expr, inside: Callable[[Expr], Polynomial]) -> Polynomial | None:
    """The polynomial of a number, sum, product or power, of whose parts `inside` gives those; None of anything else."""
    match expr:
        case Num(value) if value.denominator == 1:
            return {(): int(value)} if value else {}
        case Add(terms):
            total: Polynomial = {}
            for term in terms:
                total = plus(total, inside(term))
            return total
        case Mul(factors):
            return product_of(map(inside, factors))
        case Pow(base, exponent) if exponent.denominator == 1 and exponent > 0:
            return product_of([inside(base)] * int(exponent))
    return None


def plus(a: Polynomial, b: Polynomial, factor: int = 1) -> Polynomial:
    total = dict(a)
    for monomial, coefficient in b.items():
        total[monomial] = total.get(monomial, 0) + factor * coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def times(a: Polynomial, b: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for left, c in a.items():
        for right, d in b.items():
            monomial = tuple(sorted(left + right, key=order))
            total[monomial] = total.get(monomial, 0) + c * d
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def product_of(factors: Iterable[Polynomial]) -> Polynomial:
    return reduce(times, factors, {(): 1})


def written(p: Polynomial) -> Expr:
    """The polynomial as an expression: longer products first, the constant last."""
    ordered = sorted(p.items(), key=lambda item: (-len(item[0]), orders(item[0])))
    return add(*(mul(c, *monomial) for monomial, c in ordered))


# ------------------------------------------------------------------------------------------------------------- division


def by_term(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """p = quotient·q + rest for a lone term q, which divides every term of the quotient's part and none of the rest."""
    ((atoms, size),) = q.items()
    quotient: Polynomial = {}
    rest: Polynomial = {}
    for monomial, c in p.items():
        left = without(monomial, atoms)
        if left is None or c % size:
            rest[monomial] = c
        else:
            quotient[left] = c // size
    return quotient, rest


def by_sum(p: Polynomial, q: Polynomial, eager: bool = False) -> tuple[Polynomial, Polynomial]:
    """p = quotient·q + rest for a sum q: whole multiples of it, found by its longest term. `eager`: by any of its
    terms, also where the others are not there."""
    longest = max(q, key=lambda m: (len(m), orders(m)))
    quotient: Polynomial = {}
    rest = p
    for lead in q if eager else (longest,):
        for monomial, c in by_term(rest, {lead: q[lead]})[0].items():
            smaller = plus(rest, times({monomial: c}, q), -1)
            if len(smaller) < len(rest) or (eager and monomial and len(smaller) == len(rest)):
                rest, quotient = smaller, plus(quotient, {monomial: c})
    return quotient, rest


def in_common(a: Monomial, b: Monomial) -> Monomial:
    """The atoms that are in both, as often as in either."""
    left, found = list(b), list[Expr]()
    for atom in a:
        if atom in left:
            left.remove(atom)
            found.append(atom)
    return tuple(found)


def without(monomial: Sequence[Atom], atoms: Iterable[Atom]) -> tuple[Atom, ...] | None:
    """A product of atoms divided by another one, None if that does not divide it."""
    left = list(monomial)
    for atom in atoms:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


# --------------------------------------------------------------------------------------------------------- least values


@lru_cache(maxsize=1 << 14)
def least(expr: Expr) -> int | None:
    """A number that an integer is never below, by how it is written; None where that is not seen."""
    match expr:
        case Index() | Mod():
            return 0
        case Size(_, minimum):
            return minimum
        case FloorDiv(a, b):
            return least_quotient(least(a), least(b), b)
        case Extremum("max", parts):
            return max((n for n in map(least, parts) if n is not None), default=None)
        case Extremum(_, parts):
            return smallest(parts)
        case Where(_, then, otherwise) if expr.kind == "int":
            return smallest((then, otherwise))
    p = polynomial(expr)
    return None if (expr,) in p else least_of(p)


def smallest(parts: tuple[Expr, ...]) -> int | None:
    found = [least(part) for part in parts]
    known = [n for n in found if n is not None]
    return min(known) if len(known) == len(found) else None


def least_quotient(a: int | None, b: int | None, divisor: Expr) -> int | None:
    """The least ⌊x/y⌋ for x ≥ a and y ≥ b."""
    if a is None or b is None or b < 1:
        return None
    if a >= 0 and not isinstance(divisor, Num):
        return 0
    return a // b


def least_of(p: Polynomial) -> int | None:
    """The value at the least values of all atoms, of what grows with each of them; None of other polynomials."""
    total: Polynomial = {}
    for monomial, c in p.items():
        product: Polynomial = {(): c}
        for atom in monomial:
            lowest = least(atom)
            if lowest is None:
                return None
            product = times(product, {(atom,): 1, (): lowest} if lowest else {(atom,): 1})
        total = plus(total, product)
    grows = all(c > 0 for monomial, c in total.items() if monomial)
    return total.get((), 0) if grows else None
