"""Integer expressions in one canonical form: polynomials over sizes, indices and what does not simplify.

Offsets are long sums of products, written in many orders; as polynomials with their terms in one order they are the
same object when they are equal. `x mod y` is written as x − y·⌊x/y⌋, so that `(i // B)·B + i mod B` is i by itself.
Comparisons of integers become `0 ≤ p` and `0 = p`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from math import gcd
from typing import cast

from samesame.formula.expr import (
    TRUE,
    ZERO,
    Add,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Mod,
    Mul,
    Num,
    Pow,
    Where,
    compare,
    const,
    floordiv,
    not_,
    rebuild,
    where,
)
from samesame.formula.polynomials import (
    Polynomial,
    by_sum,
    by_term,
    in_common,
    orders,
    plus,
    polynomial,
    times,
    written,
)

# ----------------------------------------------------------------------------------------------------------- arithmetic


def plus_(*parts: Expr | int) -> Expr:
    """The sum of canonical integers."""
    total: Polynomial = {}
    for part in parts:
        total = plus(total, polynomial(const(part)))
    return written(total)


def minus(a: Expr | int, b: Expr | int) -> Expr:
    return written(plus(polynomial(const(a)), polynomial(const(b)), -1))


def times_(a: Expr | int, b: Expr | int) -> Expr:
    return written(times(polynomial(const(a)), polynomial(const(b))))


def quotient(a: Expr, b: Expr) -> Expr:
    """⌊a / b⌋ for b > 0: what b divides term by term, and one division of the rest."""
    p, q = polynomial(a), polynomial(b)
    if not p or q == {(): 1}:
        return a
    if p == q:
        return const(1)
    exact, rest = _divided(p, q)
    if not rest:
        return written(exact)
    if set(rest) == {()} and set(q) == {()} and q[()] > 0:
        return plus_(written(exact), rest[()] // q[()])
    return plus_(written(exact), _smaller(rest, q))


def _divided(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """p = exact·q + rest, taking out every term that a lone term q divides, and of a sum what is there as a whole."""
    if len(q) != 1:
        return by_sum(p, q)
    exact, rest = by_term(p, q)
    ((atoms, size),) = q.items()
    whole, part = divmod(rest.get(atoms, 0), size)
    return plus(exact, {(): whole}), {**rest, atoms: part} if part else rest


def _smaller(rest: Polynomial, q: Polynomial) -> Expr:
    """⌊rest / q⌋ without a number that divides all of q and of rest but its constant."""
    common = gcd(*q.values(), *(c for monomial, c in rest.items() if monomial))
    if common > 1:
        rest = {monomial: c // common for monomial, c in rest.items() if c // common}
        q = {monomial: c // common for monomial, c in q.items()}
        return quotient(written(rest), written(q))
    return floordiv(written(rest), written(q))


def in_steps(a: Expr, b: Expr) -> Iterator[tuple[Expr, Expr, Expr]]:
    """(d, q, r) with a = d·q + r, for each product d of sizes and indices that divides b, a lone term, and terms of a,
    shortest first. Where 0 ≤ r < d is known, ⌊a / b⌋ is ⌊q / (b/d)⌋."""
    terms, divisor = polynomial(a), polynomial(b)
    if len(divisor) != 1 or len(terms) < 2:
        return
    ((atoms, _),) = divisor.items()
    steps = {common for monomial in terms if (common := in_common(monomial, atoms)) and len(common) < len(atoms)}
    for step in sorted(steps, key=lambda m: (len(m), orders(m))):
        whole, rest = by_term(terms, {step: 1})
        if rest:
            yield written({step: 1}), written(whole), written(rest)


def remainder(a: Expr, b: Expr) -> Expr:
    """a − b·⌊a / b⌋, for b > 0."""
    return minus(a, times_(b, quotient(a, b)))


def at_least_zero(p: Expr) -> Expr:
    """0 ≤ p, divided by what its coefficients have in common; of a quotient by a number, 0 ≤ ⌊a/b⌋ is 0 ≤ a."""
    terms = polynomial(p)
    if isinstance(p, FloorDiv) and isinstance(p.divisor, Num) and p.divisor.value > 0:
        return at_least_zero(p.numerator)
    common = gcd(*(c for monomial, c in terms.items() if monomial))
    if common > 1:
        p = written({monomial: c // common for monomial, c in terms.items() if c // common})
    return compare("≤", ZERO, p)


def is_zero(p: Expr) -> Expr:
    """0 = p, with a positive first coefficient."""
    terms = polynomial(p)
    if not terms:
        return TRUE
    first = min((m for m in terms if m), key=lambda m: (-len(m), orders(m)), default=())
    return compare("=", ZERO, p if terms[first] > 0 else minus(0, p))


def less(a: Expr | int, b: Expr | int) -> Expr:
    return at_least_zero(minus(minus(b, a), 1))


def at_most(a: Expr | int, b: Expr | int) -> Expr:
    return at_least_zero(minus(b, a))


def equal(a: Expr | int, b: Expr | int) -> Expr:
    return is_zero(minus(a, b))


COMPARISONS: dict[str, Callable[[Expr, Expr], Expr]] = {
    "eq": equal,
    "ne": lambda a, b: not_(equal(a, b)),
    "slt": less,
    "sle": at_most,
    "sgt": lambda a, b: less(b, a),
    "sge": lambda a, b: at_most(b, a),
}


def ceiling(a: Expr, b: Expr) -> Expr:
    """⌈a / b⌉ for b > 0."""
    return quotient(plus_(a, minus(b, 1)), b)


def never_less(e: Expr) -> Iterator[Expr]:
    """Integers that are at least `e`: with one argument in place of a minimum, wherever that only makes it more."""
    if isinstance(e, Extremum):
        if e.op == "min":
            yield from e.arguments
        for k, part in enumerate(e.arguments):
            for more in never_less(part):
                yield flattened(e.op, (*e.arguments[:k], more, *e.arguments[k + 1 :]))
    elif isinstance(e, FloorDiv):
        if isinstance(e.divisor, Num):
            yield from (quotient(more, e.divisor) for more in never_less(e.numerator))
    else:
        p = polynomial(e)
        for monomial, c in p.items():
            if c > 0 and len(monomial) == 1 and monomial[0] is not e:
                rest = written({m: d for m, d in p.items() if m != monomial})
                yield from (plus_(rest, times_(more, c)) for more in never_less(monomial[0]))


# ------------------------------------------------------------------------------------------------------- canonical form


def tidied(expr: Expr) -> Expr:
    """The expression with every integer, comparison and negation in it in canonical form."""
    return _tidied(expr)


@lru_cache(maxsize=1 << 16)
def _tidied(expr: Expr) -> Expr:
    new = rebuild(expr, _tidied)
    match new:
        case Add() | Mul() | Pow() if new.kind == "int":
            return written(polynomial(new))
        case FloorDiv(a, b):
            return quotient(a, b)
        case Mod(a, b):
            return remainder(a, b)
        case Compare(op, a, b) if a.kind == "int" and b.kind == "int":
            return {"<": less, "≤": at_most, "=": equal}[op](a, b)
        case Extremum(op, parts):
            return flattened(op, parts)
        case Where(c, x, y) if c is x:
            return where(c, True, y)
    return new


def flattened(op: str, parts: tuple[Expr, ...]) -> Expr:
    """A maximum or minimum, nested ones and repetitions taken together."""
    flat: dict[Expr, None] = {}
    for part in parts:
        flat |= dict.fromkeys(part.arguments if isinstance(part, Extremum) and part.op == op else (part,))
    kept = tuple(flat)
    return kept[0] if len(kept) == 1 else cast(Expr, Extremum(op, kept))


def linear(p: Expr, variable: Expr) -> tuple[int, Expr] | None:
    """(c, r) with p = c·variable + r and r free of the variable, an index; None if p is not so."""
    terms = polynomial(p)
    rest = {m: c for m, c in terms.items() if m != (variable,)}
    if any(variable in atom.free for m in rest for atom in m):
        return None
    return terms.get((variable,), 0), written(rest)
