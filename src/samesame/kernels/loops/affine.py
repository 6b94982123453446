"""States that a loop decays and adds to: linear recurrences, as retention, linear attention, state spaces and moving
averages carry them, each lane by itself.

    h' = a(t)·h + b(t)        h₀·Π_{s<t} a(s) + Σ_{s<t} b(s)·Π_{s<r<t} a(r)

One step of this form is a(t) times the form before, and b(t): every product gets the factor a(t), and the last term has
the empty product. That what the body makes is such a step is read off by `linear`, for formulas that are numbers; an
infinity would be multiplied by what may be 0.

With max for + and + for · it is the scale that stabilised states keep, as RWKV's and the mLSTM's do:

    m' = max(m + d(t), f(t))   max(m₀ + Σ_{s<t} d(s), max_{s<t} (f(s) + Σ_{s<r<t} d(r)))

which is a step of the same form, as + goes into a maximum of numbers, and of −∞.
"""

from __future__ import annotations

from samesame.formula.binders import replaced
from samesame.formula.definite import EVIDENT, is_undefined
from samesame.formula.expr import (
    NEG_INF,
    ONE,
    ZERO,
    Expr,
    Extremum,
    Fold,
    Index,
    Leaf,
    Load,
    add,
    index,
    mul,
    substitute,
    walk,
)
from samesame.kernels.formulas.algebra import linear, loads_of, mentions
from samesame.kernels.indices import integers
from samesame.kernels.loops.carried import Carried, Closed, Loop
from samesame.kernels.loops.recurrences import extrema, joined


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


def shifted_maximum(loop: Loop, one: Carried) -> bool:
    """m' = max(m + d, f), for a number d and f that no carried value has a part in."""
    t, made = loop.t, extrema(loop.known(one))
    if not isinstance(made, Extremum) or made.op != "max":
        return False
    having = [part for part in made.arguments if mentions(part, one.unknown)]
    rest = [part for part in made.arguments if part not in having]
    found = linear(having[0], one.unknown) if len(having) == 1 else None
    if found is None or found[0] is not ONE or loads_of(add(found[1], *rest), loop.leaves):
        return False
    if not is_number_if_defined(found[1]) or (one.first is NEG_INF and not EVIDENT.is_number(found[1])):
        return False                                 # of −∞ + d nothing would be left, where d is undefined
    one.shift, one.monoid = found[1], "max"
    s = index(t)
    own = substitute(integers.flattened("max", tuple(rest)), {t: s})
    fold = Fold("max", (s,), add(own, shifted(one.shift, t, integers.plus_(s, 1), t)))
    first = one.first if one.first is NEG_INF else add(one.first, shifted(one.shift, t, ZERO, t))
    one.closed = Closed(joined("max", first, fold, t), t, one.lanes)
    loop.proved()
    return True


def shifted(shift: Expr, counter: Index, since: Expr, until: Expr) -> Expr:
    """Σ_{since ≤ r < until} shift(r), over the counter of a loop."""
    many = integers.minus(until, since)
    if counter not in shift.free:
        return mul(many, shift)
    r = index(many)
    return Fold("sum", (r,), integers.tidied(substitute(shift, {counter: integers.plus_(since, r)})))
