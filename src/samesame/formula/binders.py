"""Binders rebuilt whole: the body of a fold, and the ranges of what it binds.

A range may read a tensor (`Σ_{e < ends[s + 1] − ends[s]}`) or hold a size, and is no child of its fold. So what
replaces elements or sizes everywhere goes through `rebuilt`, and a variable whose range changes gets a new name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import cast

from samesame.formula.expr import Expr, Fold, Index, Lambda, index, rebuild, substitute


def rebuilt(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The same kind of expression over changed children and, of a binder, changed ranges."""
    if not isinstance(expr, Fold | Lambda):
        return rebuild(expr, change)
    fresh: dict[Index, Expr] = {}
    for v in outermost_first(expr.bound):
        extent = change(v.extent)
        if extent is not v.extent or any(w in v.extent.free for w in fresh):
            fresh[v] = index(substitute(extent, fresh))
    bound = tuple(cast(Index, fresh.get(v, v)) for v in expr.bound)
    body = substitute(change(expr.body), fresh)
    return Fold(expr.monoid, bound, body) if isinstance(expr, Fold) else Lambda(bound, body)


def put(expr: Expr, known: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with what is `known` in place of its parts, from the whole inwards: what arrives is not looked
    into, and must have no variable that is bound where it arrives."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            found = known(e)
            memo[e] = rebuilt(e, go) if found is None else found
        return memo[e]

    return go(expr)


def replaced(expr: Expr, values: Mapping[Expr, Expr]) -> Expr:
    """The expression with others in place of some of its parts, and what that decides decided."""
    return put(expr, values.get)


def outermost_first(bound: tuple[Index, ...]) -> Iterator[Index]:
    """The variables of one binder, each after those that its range mentions."""
    left = list(bound)
    while left:
        v = next((v for v in left if not any(w in v.extent.free for w in left)), left[0])
        left.remove(v)
        yield v
