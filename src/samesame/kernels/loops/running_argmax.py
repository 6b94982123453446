"""Where a running maximum stands: positions that a loop carries beside the largest element so far.

i' = i, or t·B + argmax(block t)     argmax of all blocks            where the running maximum stands
"""

from __future__ import annotations

from dataclasses import replace

from samesame.formula.expr import (
    ZERO,
    Expr,
    Extremum,
    Fold,
    Index,
    Lambda,
    Load,
    Where,
    compare,
    index,
    substitute,
    walk,
    where,
)
from samesame.kernels.execution.positions import position_in
from samesame.kernels.formulas.algebra import NEUTRAL
from samesame.kernels.formulas.rational import canonical
from samesame.kernels.formulas.running import same
from samesame.kernels.indices import integers
from samesame.kernels.loops.carried import Carried, Closed, Loop, numbers
from samesame.kernels.loops.recurrences import extrema


def running_argmax(loop: Loop, one: Carried) -> bool:
    """i' = i or t·B + argmax of a block, as the block's maximum is larger than all before: the argmax of all blocks.

    Of several maxima the first is kept, within a block (as `aten.argmax` says) and between blocks (as `<` is strict);
    or the last, within a block and, as `≤` is not strict, between blocks.
    """
    t = loop.t
    maxima = [c for c in loop.carried if c.monoid in ("max", "min")]
    made = loop.known(one, keep=maxima)
    if not isinstance(made, Where) or made.otherwise is not one.unknown or one.first is not ZERO:
        return False
    for top in maxima:
        found = [e for e in walk(made.condition) if isinstance(e, Load) and e.leaf is top.leaf]
        for old in found:
            assert top.after is not None
            new = extrema(loop.put_in(top.after[old.indices], maxima))
            if not isinstance(new, Extremum) or old not in new.arguments or len(new.arguments) != 2:
                continue
            (best,) = (a for a in new.arguments if a is not old)
            sides = (old, best) if top.monoid == "max" else (best, old)
            ties = {canonical(compare("<", *sides)): "first", canonical(compare("≤", *sides)): "last"}
            row = row_of(best, top.monoid)
            if row is None or numbers(top.start)[old.indices] is not NEUTRAL[top.monoid]:
                continue
            lane, body = row
            chosen = [e for e in walk(made.then) if position_in(e) is not None]
            where_ = position_in(chosen[0]) if len(chosen) == 1 else None
            if where_ is None or (where_.monoid, where_.tie) != (top.monoid, ties.get(canonical(made.condition))):
                continue
            if not same_row(where_.row, lane, body):
                continue
            if integers.minus(made.then, chosen[0]) is not integers.times_(t, lane.extent):
                continue
            j = index(integers.times_(t, lane.extent))
            block_ = integers.quotient(j, lane.extent)
            whole = substitute(body, {t: block_, lane: integers.minus(j, integers.times_(block_, lane.extent))})
            place_ = replace(where_, row=Lambda((j,), integers.tidied(whole))).to_expr()
            one.closed = Closed(where(integers.less(0, t), place_, ZERO), t, one.lanes)
            loop.proved()
            return True
    return False


def row_of(best: Expr, monoid: str) -> tuple[Index, Expr] | None:
    """The lane and body of a block's maximum."""
    if isinstance(best, Fold) and best.monoid == monoid and len(best.bound) == 1:
        return best.bound[0], best.body
    return None


def same_row(row: Lambda, lane: Index, body: Expr) -> bool:
    """Whether the position is that of the same block's maximum."""
    (v,) = row.bound
    return v.extent is lane.extent and same(substitute(row.body, {v: lane}), body)
