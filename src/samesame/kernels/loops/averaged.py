"""Weighted means that a loop keeps up to date, and the spread around them: running means, Welford's algorithm, softmax
with one maximum for each lane.

    a' = g(t)·a + f(t), where w(t + 1)·g(t) = w(t)      (w(0)·a₀ + Σ_{s<t} w(s + 1)·f(s)) / w(t)

The weight w is what the step divides by (t, a count) or exp of a running maximum; where it is 0 nothing has been added
yet and a is what it was at the start. With N and W the total and the weight of such a mean, a sum M of squared
distances from it is Σ q(s) − N²/W:

    mean' = mean + (x − mean)/(t + 1)                   Σ_{s<t} x(s) / t
    M' = M + (x − mean')·(x − mean)                     Σ_{s<t} x(s)² − (Σ_{s<t} x(s))² / t

What is guessed here is the weight and q; that one run of the body is one step of the closed form is proved.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from samesame.formula.binders import replaced
from samesame.formula.expr import (
    FALSE,
    NEG_INF,
    ONE,
    ZERO,
    Compare,
    Expr,
    Fn,
    Fold,
    Index,
    Leaf,
    Load,
    Mul,
    Pow,
    Where,
    add,
    compare,
    exp,
    index,
    mul,
    not_,
    or_,
    power,
    rebuild,
    substitute,
    walk,
    where,
)
from samesame.kernels.formulas.algebra import NEUTRAL, expanded, linear, loads_of, mentions
from samesame.kernels.formulas.extended import decided
from samesame.kernels.formulas.rational import canonical, simple
from samesame.kernels.formulas.shorter import pushed
from samesame.kernels.indices import integers
from samesame.kernels.loops.carried import Carried, Closed, Loop, with_closed
from samesame.kernels.loops.inductive import Induction, one_more
from samesame.kernels.loops.recurrences import extrema
from samesame.kernels.loops.runs import differs


def averaged(loop: Loop, one: Carried) -> bool:
    """a' = g·a + f, for which a weight w with w(t + 1)·g(t) = w(t) is found."""
    if one.unknown.kind != "real":
        return False
    made = extrema(loop.known(one))
    parts = linear(made, one.unknown)
    if parts is None or parts[0] is ONE or loads_of(add(*parts), loop.leaves):
        return False
    for weight in weights(loop, one, made, parts[1]):
        total = summed(loop, one, weight)
        if total is None:
            continue
        closed = where(weight.some, mul(total, weight.inverse), one.first)
        if holds(loop, one, made, closed, [or_(weight.some, compare("=", ZERO, total))]):
            one.closed, one.parts = Closed(closed, loop.t, one.lanes), (total, weight.value)
            loop.proved()
            return True
    return False


def spread(loop: Loop, one: Carried) -> bool:
    """M' = M + f, where f is made of a mean before and after the step."""
    if one.unknown.kind != "real" or one.first is not ZERO:
        return False
    made = extrema(loop.known(one))
    parts = linear(made, one.unknown)
    if parts is None or parts[0] is not ONE or loads_of(parts[1], loop.leaves):
        return False
    t = loop.t
    for other in loop.carried:
        if other.parts is None or (other.lanes and len(other.lanes) != len(one.lanes)):
            continue
        total, weight = (substitute(e, dict(zip(other.lanes, one.lanes, strict=True))) for e in other.parts)
        if not any(f in set(walk(made)) for e in (total, weight) for f in walk(e) if isinstance(f, Fold | Index)):
            continue
        for part in parts_of_spread(loop, parts[1], total, weight):
            s = index(t)
            squares = Fold("sum", (s,), substitute(part, {t: s}))
            some = not_(is_zero(weight))
            closed = where(some, add(squares, mul(-1, total, total, power(weight, -1))), ZERO)
            if holds(loop, one, made, closed, [or_(some, compare("=", ZERO, e)) for e in (total, squares)]):
                one.closed = Closed(closed, t, one.lanes)
                loop.proved()
                return True
    return False


# --------------------------------------------------------------------------------------------------------- the guesses


@dataclass(frozen=True)
class Weight:
    """A weight over t that the step may have: where it is not zero, its inverse there, and what an iteration adds to
    the total."""

    value: Expr
    inverse: Expr
    some: Expr
    part: Expr


def weights(loop: Loop, one: Carried, made: Expr, part: Expr) -> Iterator[Weight]:
    """Counters and counts; then exp of a running maximum."""
    t = loop.t
    seen: dict[Expr, None] = {}
    for e in walk(made):
        if isinstance(e, Pow) and e.exponent == -1 and e.base.kind == "int" and t in e.base.free:
            seen[integers.tidied(substitute(e.base, {t: integers.minus(t, 1)}))] = None
    for other in loop.carried:
        if other is not one and other.closed is not None and other.monoid in ("", "sum") and fits(other, one):
            seen[other.closed.at(t, one.lanes[: len(other.lanes)])] = None
    for weight in seen:
        if t in weight.free:
            added = at_start(loop, simple(mul(later(weight, loop), part)))
            yield Weight(weight, power(weight, -1), not_(is_zero(weight)), added)
    for top in loop.carried:
        if top.monoid == "max" and top.closed is not None:
            yield from exponentials(loop, one, top)


def exponentials(loop: Loop, one: Carried, top: Carried) -> Iterator[Weight]:
    """exp(λm), for the λ that occur with the maximum m. What is added is read off with the new maximum as a finite
    number."""
    assert top.after is not None and top.closed is not None
    kept = extrema(loop.known(one, keep=[top]))
    for old in [e for e in walk(kept) if isinstance(e, Load) and e.leaf is top.leaf]:
        new = extrema(loop.put_in(top.after[old.indices], [top]))
        held = Load(Leaf(f"new {top.leaf.name}", (1,) * len(old.indices), "real"), old.indices)
        finite: dict[Expr, Expr] = {Compare("=", a, b): FALSE for a, b in permutations((held, NEG_INF))}
        body = replaced(replaced(kept, {new: held}), finite)
        parts = linear(body, one.unknown)
        exps = [e for e in walk(kept) if isinstance(e, Fn) and e.name == "exp" and mentions(e, old)]
        for scale in dict.fromkeys(times_of(e.argument, old) for e in exps):
            if scale is None or parts is None:
                continue
            added = simple(without_questions(mul(exp(mul(scale, held)), parts[1])))
            most = top.closed.at(loop.t, old.indices)
            if not mentions(added, held):
                some = not_(compare("=", NEG_INF, most))
                yield Weight(exp(mul(scale, most)), exp(mul(-1, scale, most)), some, added)


def without_questions(expr: Expr) -> Expr:
    """The expression with questions whether something is −∞ answered, where it is that under a mask and else a number.
    Of what a loop carries that is a guess, as an element counts as a number; what is guessed is proved afterwards."""

    def go(e: Expr) -> Expr:
        new = rebuild(e, go)
        if isinstance(new, Compare) and NEG_INF in (new.left, new.right):
            told = pushed(new)
            return decided(new) or new if told is None else rebuild(told, go)
        return new

    return go(expr)


def times_of(argument: Expr, old: Expr) -> Expr | None:
    """λ of a term λ·old."""
    for term in expanded(argument):
        factors = list(term.factors) if isinstance(term, Mul) else [term]
        if old in factors:
            factors.remove(old)
            return mul(*factors)
    return None


def fits(other: Carried, one: Carried) -> bool:
    """Whether the other value has the same lanes, or none."""
    return not other.lanes or [v.extent for v in other.lanes] == [v.extent for v in one.lanes]


def summed(loop: Loop, one: Carried, weight: Weight) -> Expr | None:
    """w(0)·a₀ + Σ_{s<t} w(s + 1)·f(s)."""
    t = loop.t
    if not may_be_summed(loop, weight.part):
        return None
    s = index(t)
    total: Expr = Fold("sum", (s,), substitute(weight.part, {t: s}))
    if one.first is ZERO:
        return total
    return add(simple(mul(integers.tidied(substitute(none_yet(weight.value, t), {t: ZERO})), one.first)), total)


def parts_of_spread(loop: Loop, part: Expr, total: Expr, weight: Expr) -> Iterator[Expr]:
    """q = f + N'²/W' − N²/W, which must not depend on what was before: as if the total, or all, had been 0 before."""
    after = later(weight, loop)
    sums = {canonical(e) for e in walk(total) if is_so_far(e, loop.t)}
    p, f = (
        simple(replaced(e, {x: ZERO for x in walk(e) if is_so_far(x, loop.t) and canonical(x) in sums}))
        for e in (later(total, loop), part)
    )
    guesses = [simple(add(f, mul(p, p, power(after, -1))))]
    k = at_start(loop, add(after, mul(-1, weight)))
    if k is not ZERO:
        guesses.append(simple(add(at_start(loop, part), without_infinities(simple(mul(p, p, power(k, -1)))))))
    yield from (guess for guess in dict.fromkeys(guesses) if may_be_summed(loop, guess))


def may_be_summed(loop: Loop, body: Expr) -> bool:
    """Whether this is no infinity, and does not look back to what was summed before."""
    return not any(e is NEG_INF or is_so_far(e, loop.t) for e in walk(body))


def is_so_far(expr: Expr, t: Expr) -> bool:
    """Whether this is a fold over the iterations before."""
    return isinstance(expr, Fold) and any(v.extent is t for v in expr.bound)


def later(expr: Expr, loop: Loop) -> Expr:
    """The expression one iteration later, folds over t + 1 as those over t and one part."""
    return one_more(substitute(expr, {loop.t: integers.plus_(loop.t, 1)}), loop.t)


def at_start(loop: Loop, expr: Expr) -> Expr:
    """What is left where every fold over the iterations before is neutral: what one iteration gives by itself."""
    return simple(none_yet(expr, loop.t))


def none_yet(expr: Expr, t: Expr) -> Expr:
    values = {e: NEUTRAL[e.monoid] for e in walk(expr) if isinstance(e, Fold) and any(v.extent is t for v in e.bound)}
    return integers.tidied(replaced(expr, values))  # type: ignore[arg-type]


def is_zero(weight: Expr) -> Expr:
    return integers.equal(weight, 0) if weight.kind == "int" else compare("=", ZERO, weight)


def without_infinities(ratio: Expr) -> Expr:
    """A ratio with 0 in place of 0/0 in the cases where nothing is added."""

    def go(e: Expr) -> Expr:
        if isinstance(e, Where):
            return where(e.condition, go(e.then), go(e.otherwise))
        if any(isinstance(x, Pow) and x.base is ZERO for x in walk(e)):
            return ZERO
        return e

    return go(ratio)


# ----------------------------------------------------------------------------------------------------------- the proof


def holds(loop: Loop, one: Carried, made: Expr, closed: Expr, besides: list[Expr]) -> bool:
    """Whether the value is `closed` after every number of iterations, and the conditions besides hold too."""
    if differs(loop, one, made, closed):
        return False
    t, prover = loop.t, loop.machine.prover
    besides = besides if loop.machine.means.invariants else []
    step = Induction(t, [*loop.machine.path, integers.at_least_zero(t)], prover)
    start, after = ({t: ZERO}, {t: integers.plus_(t, 1)})
    form = Closed(closed, t, one.lanes)
    body = integers.tidied(with_closed(made, {one.leaf: form}, t))
    return (
        step.equal(form.at(ZERO, one.lanes), one.first)
        and all(step.follows(substitute(c, start)) for c in besides)
        and step.equal(body, form.at(after[t], one.lanes), *besides)
        and all(step.follows(substitute(c, after), *besides) for c in besides)
    )
