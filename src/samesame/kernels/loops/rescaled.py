"""Sums that are rescaled whenever a running maximum grows, as online softmax and flash attention keep them.

    a' = a·exp(m − m') + f(t, m')        Σ_{s<t} f(s, mₜ)                where m is the running maximum

This holds because f(t, m') is some f̂(t) times exp(−m'), which is checked on f; the step is proved by Z3. A maximum
that starts at −∞ leaves nothing of what was there before: exp(−∞ − m') is 0.

Where an iteration shifts the maximum first (`affine`), a' = a·exp(m + d(t) − m') + f(t, m') is the same of m less the
sum of all shifts so far: what is left of f(s) is shifted by those that came after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from samesame.formula.binders import rebuilt, replaced
from samesame.formula.definite import EVIDENT
from samesame.formula.expr import (
    FALSE,
    NEG_INF,
    ONE,
    TRUE,
    ZERO,
    Add,
    Compare,
    Expr,
    Extremum,
    Fn,
    Fold,
    Leaf,
    Load,
    Mul,
    Not,
    Num,
    Where,
    add,
    and_,
    exp,
    index,
    mul,
    not_,
    or_,
    substitute,
    walk,
    where,
)
from samesame.kernels.execution.values import is_finite, undefined
from samesame.kernels.formulas.algebra import expanded, linear, loads_of, mentions
from samesame.kernels.indices import integers
from samesame.kernels.loops.affine import shifted
from samesame.kernels.loops.carried import Carried, Closed, Loop, numbers
from samesame.kernels.loops.recurrences import extrema
from samesame.kernels.loops.steps import rescaled_step


def rescaled(loop: Loop, one: Carried) -> bool:
    """The same where the maximum is finite from the first iteration on, or no program minds whether it is."""
    return has_rescaled(loop, one, minding=False)


def rescaled_where_finite(loop: Loop, one: Carried) -> bool:
    """The same with nothing said of iterations before the maximum is finite: lanes that begin behind the end have no
    maximum, and the program takes 0 for it there."""
    return has_rescaled(loop, one, minding=True)


def has_rescaled(loop: Loop, one: Carried, minding: bool) -> bool:
    """a' = a·exp(λ(m + d − m')) + f(t, m') for one λ, where m is a running maximum, shifted by d, and f(t, m')·exp(λm')
    is free of m'; of programs that mind whether it is −∞ only if that is asked, or it never is."""
    maxima = [c for c in loop.carried if c.monoid == "max"]
    made = extrema(loop.known(one, keep=maxima))
    for top in maxima:
        for old in [e for e in walk(made) if isinstance(e, Load) and e.leaf is top.leaf]:
            assert top.after is not None
            new = extrema(loop.put_in(top.after[old.indices], maxima))
            shift = top.shift_at(old.indices)
            held = Load(Leaf(f"new {top.leaf.name}", (1,) * len(old.indices), "real"), old.indices)
            guards = guarded(made, new)
            body = replaced(made, {e: held for e in (*guards, new)})
            found = taken_apart(body, one.unknown, old, held, shift)
            if found is None:
                continue
            scale, part = found
            late = bool(guards) and not is_finite_at_once(loop, top, old)
            shown = with_zeros(part)
            minded = not mentions(replaced(made, dict.fromkeys(guards, held)), new)
            begins = late and minded and begins_with_the_maximum(loop, one, top, old, new, shown)
            if late and not begins and not minding:
                continue
            if not is_forgotten(numbers(top.start)[old.indices], scale, one.first):
                continue
            if loop.t in scale.free or loads_of(add(scale, part), loop.leaves):
                continue
            if not rescaled_step(body, one.unknown, add(old, shift), held, scale, part):
                continue
            loop.proved()
            one.closed = rescaled_form(loop, one, top, old, held, scale, shown if begins else part, begins)
            return True
    return False


def is_finite_at_once(loop: Loop, top: Carried, old: Load) -> bool:
    """Whether the maximum is finite after one iteration."""
    assert top.closed is not None
    prover, path = loop.machine.prover, loop.machine.path
    return prover.proves(path, finite_where(top.closed.at(ONE, old.indices)))


def begins_with_the_maximum(loop: Loop, one: Carried, top: Carried, old: Load, new: Expr, part: Expr) -> bool:
    """Whether the sum is 0 as long as the maximum is −∞, as each term is 0 whose score is −∞ (a tile that a window
    hides whole). Then Σ_{s<t} f(s, mₜ) holds from the start: where mₜ is −∞ it is a sum of zeros. That the program
    minds a maximum of −∞ wherever it takes it is for the caller to see: −∞ − (−∞) is no number."""
    if one.first is not ZERO or numbers(top.start)[old.indices] is not NEG_INF or top.shift is not ZERO:
        return False
    parts = new.arguments if isinstance(new, Extremum) and new.op == "max" else (new,)
    scores = [p for p in parts if isinstance(p, Fold) and p.monoid == "max"]
    return any(is_zero_with(loop, part, score) for score in scores)


def with_zeros(part: Expr) -> Expr:
    """exp(x if c else −∞) as exp(x) if c else 0, whatever finite number stands beside x."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = hidden(e.argument) if isinstance(e, Fn) and e.name == "exp" else rebuilt(e, go)
        return memo[e]

    def hidden(exponent: Expr) -> Expr:
        terms = expanded(exponent)
        for i, term in enumerate(terms):
            factors = term.factors if isinstance(term, Mul) else (term,)
            for j, factor in enumerate(factors):
                beside, scale = [*terms[:i], *terms[i + 1 :]], (*factors[:j], *factors[j + 1 :])
                match factor:
                    case Where(condition, score, otherwise) if otherwise is NEG_INF:
                        if all(map(EVIDENT.is_positive, scale)) and all(map(is_finite, beside)):
                            return where(condition, hidden(add(mul(score, *scale), *beside)), ZERO)
        return exp(exponent)

    return go(part)


def is_zero_with(loop: Loop, part: Expr, score: Fold) -> bool:
    """Whether each term of a sum is 0 wherever the score of its place, an element of the maximum, is −∞."""
    match part:
        case Num(value) if value == 0:
            return True
        case Add(terms):
            return all(is_zero_with(loop, term, score) for term in terms)
        case Mul(factors):
            return all(is_finite(f) or is_zero_with(loop, f, score) for f in factors) and any(
                is_zero_with(loop, f, score) for f in factors
            )
        case Fold("sum", bound, body) if [v.extent for v in bound] == [v.extent for v in score.bound]:
            there = finite_where(substitute(score.body, dict(zip(score.bound, bound, strict=True))))
            return is_zero_without(loop, body, there)
    return False


def is_zero_without(loop: Loop, term: Expr, finite: Expr) -> bool:
    """Whether a term is 0 where a condition is not met."""
    match term:
        case Num(value) if value == 0:
            return True
        case Mul(factors):
            return all(is_finite(f) or is_zero_without(loop, f, finite) for f in factors) and any(
                is_zero_without(loop, f, finite) for f in factors
            )
        case Where(condition, then, otherwise):
            prover, path = loop.machine.prover, loop.machine.path
            met = prover.proves((*path, condition), finite)
            return is_zero_without(loop, otherwise, finite) and (met or is_zero_without(loop, then, finite))
    return False


def guarded(made: Expr, new: Expr) -> list[Expr]:
    """Where a program takes 0 for a maximum that is −∞ still: it is the maximum wherever the closed form says anything,
    from an iteration on in which it is finite."""
    found: list[Expr] = []
    for e in walk(made):
        match e:
            case Where(Compare("=", a, b), then, otherwise) if then is ZERO and otherwise is new:
                found += [e] if {a, b} == {new, NEG_INF} else []
            case Where(Not(Compare("=", a, b)), then, otherwise) if then is new and otherwise is ZERO:
                found += [e] if {a, b} == {new, NEG_INF} else []
            case Where(Compare("<", a, b), then, otherwise) if then is new and otherwise is ZERO:
                found += [e] if a is NEG_INF and b is new else []
    return found


def is_forgotten(start: Expr, scale: Expr, first: Expr) -> bool:
    """Whether a₀·exp(λ(m₀ − m')) is 0 where m₀ is −∞: for λ > 0 only, and if a₀ is a number, as 0·∞ is none."""
    if EVIDENT.is_number(start):
        return True
    return EVIDENT.is_positive(scale) and (start is not NEG_INF or EVIDENT.is_number(first))


def rescaled_form(
    loop: Loop, one: Carried, top: Carried, old: Load, held: Expr, scale: Expr, part: Expr, begins: bool
) -> Closed:
    """Σ_{s<t} f(s, mₜ − Σ_{s<r<t} d(r)): where the maximum is finite from the first iteration on, or where the sum
    begins with it."""
    assert top.closed is not None
    t = loop.t
    now = top.closed.at(t, old.indices)
    s, shift = index(t), top.shift_at(old.indices)
    then = add(now, mul(-1, shifted(shift, t, integers.plus_(s, 1), t)))
    total: Expr = Fold("sum", (s,), replaced(substitute(part, {t: s}), {held: then}))
    start = numbers(top.start)[old.indices]
    if start is not NEG_INF and one.first is not ZERO:
        total = add(total, mul(one.first, exp(mul(scale, add(start, shifted(shift, t, ZERO, t), mul(-1, now))))))
    if not begins:
        first = top.closed.at(ONE, old.indices)
        total = where(finite_where(first), total, undefined(loop.place, "real", *one.lanes, t))
    return Closed(where(integers.less(0, t), total, one.first), t, one.lanes)


def taken_apart(made: Expr, a: Expr, old: Expr, new: Expr, shift: Expr) -> tuple[Expr, Expr] | None:
    """(λ, f) with made = a·exp(λ(old + shift − new)) + f and f·exp(λ·new) free of new; None if made is not so."""
    terms = made.terms if isinstance(made, Add) else (made,)
    with_a = [term for term in terms if mentions(term, a)]
    rest = [term for term in terms if not mentions(term, a)]
    if len(with_a) != 1 or not isinstance(with_a[0], Mul) or any(mentions(term, old) for term in rest):
        return None
    factors = [f for f in with_a[0].factors if f is not a]
    if len(factors) != len(with_a[0].factors) - 1 or not all(isinstance(f, Fn) and f.name == "exp" for f in factors):
        return None
    exponent = add(*(f.argument for f in factors if isinstance(f, Fn)))
    rises, falls = linear(exponent, old), linear(exponent, new)
    if rises is None or falls is None or not is_opposite(falls[0], scale := rises[0]):
        return None
    beside = Counter[Expr]() if shift is ZERO else Counter(expanded(mul(scale, shift)))
    if left_over(exponent, (old, new)) != beside or not all(degree_is(term, new, scale) for term in rest):
        return None
    return scale, add(*rest)


def is_opposite(one: Expr, other: Expr) -> bool:
    return integers.tidied(mul(-1, one)) is integers.tidied(other)


def left_over(expr: Expr, symbols: Sequence[Expr]) -> Counter[Expr]:
    """The terms that none of these is in."""
    terms = (term for term in expanded(expr) if not any(mentions(term, s) for s in symbols))
    return Counter(term for term in terms if term is not ZERO)


def degree_is(expr: Expr, new: Expr, scale: Expr) -> bool:
    """Whether the expression is exp(−scale·new) times something free of `new`."""
    match expr:
        case Num(value) if value == 0:
            return True
        case Fn("exp", argument):
            found = linear(argument, new)
            return found is not None and is_opposite(found[0], scale)
        case Mul(factors):
            having = [f for f in factors if mentions(f, new)]
            return len(having) == 1 and degree_is(having[0], new, scale)
        case Add(terms):
            return all(degree_is(term, new, scale) for term in terms)
        case Fold("sum", bound, body):
            return not any(mentions(v.extent, new) for v in bound) and degree_is(body, new, scale)
        case Where(condition, then, otherwise):
            return not mentions(condition, new) and degree_is(then, new, scale) and degree_is(otherwise, new, scale)
    return False


def finite_where(expr: Expr) -> Expr:
    """A condition under which a maximum is not −∞: enough, not always needed."""
    match expr:
        case _ if not any(e is NEG_INF or (isinstance(e, Fold) and e.monoid == "max") for e in walk(expr)):
            return TRUE
        case Where(condition, then, otherwise):
            return or_(and_(condition, finite_where(then)), and_(not_(condition), finite_where(otherwise)))
        case Fold("max", bound, body):
            some = [integers.less(0, v.extent) for v in bound]
            return and_(*some, finite_where(integers.tidied(substitute(body, {v: ZERO for v in bound}))))
        case Extremum("max", parts):
            return or_(*map(finite_where, parts))
        case Add(parts) | Mul(parts):
            return and_(*map(finite_where, parts))
    return FALSE
