"""Folds that end: a value that is added to while a condition holds, and replaced from then on.

a' = a ⊕ f(t) while c(t), else g(t)     g(t − 1) where c(t − 1) holds no more, else a₀ ⊕ (⊕_{s<t} f(s))

So it is where a kernel forgets, in the lanes behind the end of a row, what the blocks before the last one gave. The
condition must be one that ends once and for all: where it holds it held in the iteration before, which is proved.
"""

from __future__ import annotations

from samesame.formula.expr import Expr, Fold, Where, and_, index, not_, substitute, where
from samesame.kernels.formulas.algebra import loads_of
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import with_fact
from samesame.kernels.loops.carried import Carried, Closed, Loop
from samesame.kernels.loops.recurrences import extrema, joined, split
from samesame.kernels.loops.steps import step_holds


def ended(loop: Loop, one: Carried) -> bool:
    """a' = a ⊕ f(t) while c(t), else g(t)"""
    made = extrema(loop.known(one))
    if not isinstance(made, Where):
        return False
    sides = (made.condition, made.then, made.otherwise), (not_(made.condition), made.otherwise, made.then)
    for condition, added_to, replaced in sides:
        found = split(added_to, one.unknown)
        if found is None or any(loads_of(e, loop.leaves) for e in (condition, replaced, found[1])):
            continue
        monoid, part = found
        if ends_once(loop, condition) and step_holds(added_to, one.unknown, monoid, part):
            t = loop.t
            s = index(t)
            so_far = joined(monoid, one.first, Fold(monoid, (s,), substitute(part, {t: s})), t)
            before = {t: integers.minus(t, 1)}
            held, last = (integers.tidied(substitute(e, before)) for e in (condition, replaced))
            over = and_(integers.less(0, t), not_(held))
            one.closed = Closed(where(over, last, so_far), t, one.lanes)
            loop.proved()
            return True
    return False


def ends_once(loop: Loop, condition: Expr) -> bool:
    """Whether the condition held in the iteration before each one in which it holds."""
    t = loop.t
    before = integers.tidied(substitute(condition, {t: integers.minus(t, 1)}))
    known = with_fact((*loop.machine.path, integers.less(0, t)), condition)
    return loop.machine.prover.proves(known, before)
