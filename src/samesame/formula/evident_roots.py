"""Conditions that a root is real, where anyone sees that it is: a sum of squares is no less than 0.

A proof multiplies squares out, and asks then that 4x² + 4xy + y² be no less than 0, of a norm as of anything else. What
is under a root of either side, as it is written there, may show it; so a condition that says it of the same formula is
left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from samesame.formula.assumptions import Assumption, Holds
from samesame.formula.contents import common_number
from samesame.formula.definite import EVIDENT
from samesame.formula.effort import Budget, spending
from samesame.formula.expr import ZERO, Compare, Expr, Pow, Unsupported, walk
from samesame.formula.laws import LAWS
from samesame.formula.normal import normal
from samesame.formula.terms import Form, scale


def without_evident_roots(conditions: tuple[Assumption, ...], *sides: Expr) -> tuple[Assumption, ...]:
    """The conditions less those that what stands under a root of a side is no less than 0, if that is seen there."""
    asked = {one: e for one in conditions if (e := _not_below_zero(one)) is not None}
    if not asked:
        return conditions
    with spending(Budget(), LAWS):
        seen = set(_forms(_radicands(sides)))
        evident = {one for one, e in asked.items() if not seen.isdisjoint(_forms([e]))}
    return tuple(one for one in conditions if one not in evident)


def _not_below_zero(condition: Assumption) -> Expr | None:
    """What a condition says to be no less than 0."""
    match condition:
        case Holds(Compare("≤", left, right)) if left is ZERO:
            return right
    return None


def _radicands(sides: Iterable[Expr]) -> Iterator[Expr]:
    """What stands under roots and is seen to be no less than 0."""
    for e in dict.fromkeys(e for side in sides for e in walk(side)):
        if isinstance(e, Pow) and e.exponent.denominator % 2 == 0 and EVIDENT.is_nonnegative(e.base):
            yield e.base


def _forms(exprs: Iterable[Expr]) -> Iterator[Form]:
    """Normal forms, less a positive number that all terms have in common; of those that have one."""
    for e in exprs:
        try:
            form = normal(e)
        except Unsupported:
            continue
        size = common_number(c for _, c in form.terms)
        yield scale(form, 1 / size) if size else form
