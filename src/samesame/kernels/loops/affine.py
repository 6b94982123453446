"""States that a loop decays and adds to: linear recurrences, as retention, linear attention, state spaces and moving
averages carry them, each lane by itself.

    h' = a(t)·h + b(t)        h₀·Π_{s<t} a(s) + Σ_{s<t} b(s)·Π_{s<r<t} a(r)

One step of this form is a(t) times the form before, and b(t): every product gets the factor a(t), and the last term has
the empty product. That what the body makes is such a step is read off by `linear`, for formulas that are numbers; an
infinity would be multiplied by what may be 0.
"""

from __future__ import annotations

from samesame.formula.binders import replaced
from samesame.formula.definite import EVIDENT, is_undefined
from samesame.formula.expr import ONE, ZERO, Expr, Fold, Leaf, Load, add, index, mul, substitute, walk
from samesame.kernels.formulas.algebra import linear, loads_of
from samesame.kernels.indices import integers
from samesame.kernels.loops.carried import Carried, Closed, Loop
from samesame.kernels.loops.recurrences import extrema


def decayed(loop: Loop, one: Carried) -> bool:
    """h' = a·h + b, for a and b that no carried value has a part in."""
    if one.unknown.kind != "real":
        return False
    parts = linear(extrema(loop.known(one)), one.unknown)
    if parts is None or parts[0] in (ZERO, ONE) or loads_of(add(*parts), loop.leaves):
        return False
    if not all(map(is_number_if_defined, (*parts, one.first))):
        return False
    factor, term = parts
    t = loop.t
    s, earlier = index(t), index(t)
    later = index(integers.minus(integers.minus(t, earlier), 1))

    def at(expr: Expr, iteration: Expr) -> Expr:
        return integers.tidied(substitute(expr, {t: iteration}))

    beyond = at(factor, integers.plus_(earlier, later, 1))
    total: Expr = Fold("sum", (earlier,), mul(at(term, earlier), Fold("prod", (later,), beyond)))
    if one.first is not ZERO or not EVIDENT.is_number(factor):
        total = add(mul(one.first, Fold("prod", (s,), at(factor, s))), total)
    one.closed = Closed(total, t, one.lanes)
    loop.proved()
    return True


def is_number_if_defined(expr: Expr) -> bool:
    """Whether the value is finite where nothing undefined is read for it."""
    read: dict[Expr, Expr] = {
        e: Load(Leaf(f"any {k}", (1,) * len(e.indices), e.kind), e.indices)
        for k, e in enumerate(walk(expr))
        if isinstance(e, Load) and is_undefined(e)
    }
    return EVIDENT.is_number(replaced(expr, read))
