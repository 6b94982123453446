"""Binders rebuilt whole: the body of a fold, and the ranges of what it binds.

A range may read a tensor (`Σ_{e < ends[s + 1] − ends[s]}`) or hold a size, and is no child of its fold. So what
replaces elements or sizes everywhere goes through `rebuilt`, and a variable whose range changes gets a new name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def outermost_first(bound: tuple[Index, ...]) -> Iterator[Index]:
    """The variables of one binder, each after those that its range mentions."""
    left = list(bound)
    while left:
        v = next((v for v in left if not any(w in v.extent.free for w in left)), left[0])
        left.remove(v)
        yield v
