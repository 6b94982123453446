"""What is taken for granted, looked at on numbers: an example that breaks it is none that a proof is about.

A formula is worked out for all values of its indices, in float64. It is broken where it has a value and fails, and
where the condition holds under which it is meant. What fails by no more than rounding may do counts as kept, and so
does what nobody can work out: an operator without a formula, tensors without values, too many points.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from samesame.formula.assumptions import NEITHER, Assumption, Holds
from samesame.formula.evaluate import Array, Evaluation
from samesame.formula.expr import And, Compare, Expr, Index, Or, Unsupported, not_

MOST = 1 << 22                      # points at which one formula is worked out
NEARLY = 1e-9                       # of the largest value: so much less than 0 may be rounding
Truths = NDArray[np.bool_]


def broken(one: Assumption, values: Mapping[str, Array], sizes: Mapping[str, int]) -> str:
    """Where these values break it, in words; nothing where they keep it, or nobody can tell."""
    if not isinstance(one, Holds) or one.kind == NEITHER:              # then it holds otherwise
        return ""
    axes = tuple(sorted(one.that.free | one.where.free, key=lambda v: -v.serial))
    try:
        there = Evaluation(values, sizes, None, MOST)
        fails = _fails(there, one.that, axes) & _holds(there, one.where, axes)
    except (Unsupported, ArithmeticError, ValueError):
        return ""
    return "" if not fails.any() else f"at {fails.sum()} of {fails.size} places" if axes else "there"


def _holds(there: Evaluation, e: Expr, axes: tuple[Index, ...]) -> Truths:
    """Where it holds for sure."""
    grid = there.run(e, axes)
    return grid.array.astype(bool) & (True if grid.undefined is None else ~grid.undefined)


def _fails(there: Evaluation, e: Expr, axes: tuple[Index, ...]) -> Truths:
    """Where it has a value, and fails by more than rounding."""
    match e:
        case And(parts) | Or(parts):
            join = np.logical_or if isinstance(e, And) else np.logical_and
            return reduce(join, (_fails(there, part, axes) for part in parts))
        case Compare("<" | "≤" as op, a, b):
            over = there.run(a - b, axes)
            finite = np.abs(over.array[np.isfinite(over.array)])
            room = NEARLY * finite.max(initial=0.0) if "real" in (a.kind, b.kind) else 0.0
            fails = over.array >= 0 if op == "<" else over.array > room
            return fails & (True if over.undefined is None else ~over.undefined)
    return _holds(there, not_(e), axes)
