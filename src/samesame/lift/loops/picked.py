"""Where a running maximum stands: positions that a loop carries beside the largest element so far.

i' = i, or t·B + argmax(block t)     argmax of all blocks            where the running maximum stands
"""

from __future__ import annotations

from samesame.formula.expr import (
    ZERO,
    Expr,
    Extremum,
    Fold,
    Index,
    Lambda,
    Load,
    Opaque,
    Where,
    compare,
    index,
    substitute,
    walk,
    where,
)
from samesame.lift.formulas.algebra import NEUTRAL
from samesame.lift.indices import integers
from samesame.lift.loops.carried import Carried, Closed, Loop, numbers
from samesame.lift.loops.recurrences import extrema


def picked(loop: Loop, one: Carried) -> bool:
    """i' = i or t·B + argmax of a block, as the block's maximum is larger than all before: the argmax of all blocks.

    The first of several maxima is kept, within a block (as `aten.argmax` says) and between blocks (as `<` is strict).
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
            ahead = compare("<", old, best) if top.monoid == "max" else compare("<", best, old)
            row = row_of(best, top.monoid)
            if made.condition is not ahead or row is None or numbers(top.start)[old.indices] is not NEUTRAL[top.monoid]:
                continue
            lane, body = row
            chosen = [e for e in walk(made.then) if isinstance(e, Opaque) and e.name == f"aten.arg{top.monoid}"]
            if len(chosen) != 1 or not same_row(chosen[0], lane, body):
                continue
            if integers.minus(made.then, chosen[0]) is not integers.times_(t, lane.extent):
                continue
            j = index(integers.times_(t, lane.extent))
            block_ = integers.quotient(j, lane.extent)
            whole = substitute(body, {t: block_, lane: integers.minus(j, integers.times_(block_, lane.extent))})
            place_ = Opaque(chosen[0].name, (), (Lambda((j,), integers.tidied(whole)),), (), "int")
            one.closed = Closed(where(integers.less(0, t), place_, ZERO), t, one.lanes)
            loop.proved()
            return True
    return False


def row_of(best: Expr, monoid: str) -> tuple[Index, Expr] | None:
    """The lane and body of a block's maximum."""
    if isinstance(best, Fold) and best.monoid == monoid and len(best.bound) == 1:
        return best.bound[0], best.body
    return None


def same_row(chosen: Opaque, lane: Index, body: Expr) -> bool:
    """Whether the position is that of the same block's maximum."""
    (row,) = chosen.arguments
    (v,) = row.bound
    return v.extent is lane.extent and integers.tidied(substitute(row.body, {v: lane})) is body
