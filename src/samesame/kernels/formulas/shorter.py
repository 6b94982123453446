"""Formulas that per-lane loops leave behind, made short: what is divided and multiplied again, choices that change
nothing, and sums over lanes of sums over their iterations.

    where(0 < c, S/c, 0)·c                              S, where c > 0, and 0 otherwise
    0 < max_k [p(k)]                                    whether p(k) holds for some k
    exp(−m)·exp(m − M)                                  exp(−M)
    exp(m + log Σ_k exp(x[k] − m))                      Σ_k exp(x[k]), for a sum over something
    Σ_{l<B} Σ_{s<⌈(n − l)/B⌉} f(s·B + l)                Σ_{j<n} f(j)
    Σ_{l<B·C} f(⌊l/C⌋, l mod C)                         Σ_{h<B} Σ_{c<C} f(h, c), and so for programs of a grid
    Σ_{t<T} Σ_{l<min{B, n − B·t}} f(t·B + l)            Σ_{j<min{T·B, n}} f(j)
    Σ_{t<T} (Σ_{l<B} f(t·B + l) + Σ_{l<B} g(t·B + l))   Σ_{j<T·B} f(j) + Σ_{j<T·B} g(j)

Nothing is cancelled that may be zero, no root or logarithm of what may be below zero, and no maximum over a range that
may be empty.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, cast

from samesame.formula import polynomials
from samesame.formula.binders import replaced
from samesame.formula.definite import EVIDENT, Signs
from samesame.formula.expr import (
    NEG_INF,
    ZERO,
    Add,
    Compare,
    Expr,
    Extremum,
    FloorDiv,
    Fn,
    Fold,
    Index,
    Mod,
    Mul,
    Num,
    Pow,
    Size,
    Where,
    add,
    and_,
    const,
    exp,
    index,
    mul,
    not_,
    or_,
    substitute,
    walk,
    where,
)
from samesame.formula.order import order
from samesame.kernels.formulas.algebra import NEUTRAL, under_binders
from samesame.kernels.formulas.extended import known_by_prover
from samesame.kernels.formulas.rational import Cancelling, TooMany, choices, settled, walk_open
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import Facts, outside, with_fact, without_extremum

if TYPE_CHECKING:
    from samesame.kernels.formulas.simplify import Simplifier

MOST_CHOICES = 3


# ----------------------------------------------------------------------------------------------------------- arithmetic


def shortened(simplify: Simplifier, expr: Expr, facts: Facts) -> Expr | None:
    """The sum or product with like factors taken together, choices outermost; None where that is not shorter."""
    if not may_cancel(expr):
        return None
    conditions = list(choices(expr))
    if conditions and len(conditions) <= MOST_CHOICES:
        c = conditions[0]
        sides = [
            simplify(settled(expr, c, holds), with_fact(facts, c if holds else not_(c))) for holds in (True, False)
        ]
        found = without_choice(simplify, c, sides[0], sides[1], facts)
    else:
        cancelled = taken_together(simplify, expr, facts)
        if cancelled is None:
            return None
        found = cancelled
    return found if length(found) < length(expr) else None


def may_cancel(expr: Expr) -> bool:
    """Whether something is divided by in it, or there are several exponentials."""
    parts = [e for e in walk_open(expr) if isinstance(e, Pow | Fn)]
    return any(isinstance(e, Pow) and e.exponent < 0 for e in parts) or (
        sum(isinstance(e, Fn) and e.name == "exp" for e in parts) > 1
    )


def taken_together(simplify: Simplifier, expr: Expr, facts: Facts) -> Expr | None:
    """Like terms and like factors taken together; None where the formula would have a value where this one has none."""
    cancelling = Cancelling()
    try:
        found = cancelling(expr)
        lost = cancelling.lost(found)
    except (TooMany, ZeroDivisionError):
        return None
    return found if all(has_value(simplify, e, facts) for e in lost) else None


def has_value(simplify: Simplifier, expr: Expr, facts: Facts) -> bool:
    """Whether a quotient, a root, a logarithm, or the greatest of a range has a value, if all that it is made of has
    one. Not what is −∞ in between: that is looked at before anything cancels (defined.py)."""
    signs = signs_in(simplify, expr, facts)
    match expr:
        case Pow(base, exponent) if exponent < 0 and base.kind == "int":
            return simplify.prover.proves(facts, not_(integers.equal(base, 0)))
        case Pow(base, exponent):
            return signs.never_zero(base) if exponent < 0 else signs.never_negative(base)
        case Fn(name, argument):
            return signs.in_domain(name, argument)
        case Fold("max" | "min", bound, _):
            return signs.some(bound)
    return False


def signs_in(simplify: Simplifier, expr: Expr, facts: Facts) -> Signs:
    """What is known of the parts of an expression, whatever its bound variables are."""
    return known_by_prover(simplify.prover, outside(facts, tuple(under_binders(expr))))


def of_logarithm(simplify: Simplifier, argument: Expr, facts: Facts) -> Expr | None:
    """exp(a + log b) as exp(a)·b, where b is above zero: parts of a row that each left their log-sum-exp."""
    terms = argument.terms if isinstance(argument, Add) else (argument,)
    signs = signs_in(simplify, argument, facts)
    for k, term in enumerate(terms):
        if isinstance(term, Fn) and term.name == "log" and signs.above_zero(term.argument):
            rest = [exp(add(*terms[:k], *terms[k + 1 :]))] if len(terms) > 1 else []
            return mul(*rest, term.argument)
    return None


def length(expr: Expr) -> int:
    return sum(1 for _ in walk(expr))


# -------------------------------------------------------------------------------------------------------------- choices


def without_choice(simplify: Simplifier, condition: Expr, then: Expr, otherwise: Expr, facts: Facts) -> Expr:
    """`then if condition else otherwise`, which is `then` where that comes to the same without the condition.

    A greatest or least element keeps its condition where there may be none: the formula would be undefined there.
    """
    folds = [e for e in walk_open(then) if isinstance(e, Fold)] if otherwise is ZERO else []
    without = with_fact(facts, not_(condition))
    bounded = [e for e in walk(then) if isinstance(e, Fold) and e.monoid in ("max", "min")] if folds else []
    extents = [v.extent for e in bounded for v in e.bound]
    there = bool(folds) and all(simplify.prover.proves(without, integers.less(0, extent)) for extent in extents)
    return then if there and simplify(then, without) is ZERO else where(condition, then, otherwise)


def pushed(compare: Compare) -> Expr | None:
    """A comparison with −∞ of what is −∞ under a condition, or of a maximum of numbers, which is −∞ over nothing; and
    with 0 of truth values, and of the greatest and least of such."""
    match compare:
        case Compare("<", low, number) if low is ZERO:
            return above_zero(number)
        case Compare("=", low, number) if low is ZERO and number.kind != "real" and EVIDENT.never_negative(number):
            above = above_zero(number)
            return None if above is None else not_(above)
        case Compare("≤", low, number) if low is ZERO and number.kind == "int":
            return of_quotient(number)
    for side, other in ((compare.left, compare.right), (compare.right, compare.left)):
        if other is NEG_INF and isinstance(side, Where):
            sides = [put(compare, side, part) for part in (side.then, side.otherwise)]
            return or_(and_(side.condition, sides[0]), and_(not_(side.condition), sides[1]))
        largest = other is NEG_INF and isinstance(side, Fold) and side.monoid == "max" and compare.op == "="
        if largest and isinstance(side, Fold) and EVIDENT.is_number(side.body):
            return or_(*(integers.at_most(v.extent, 0) for v in side.bound))
    return None


def of_quotient(number: Expr) -> Expr | None:
    """0 ≤ ⌊(min{x, y} + a)/b⌋ + c as 0 ≤ min{x, y} + a + c·b, of x and of y: that there are tiles up to the first of
    two ends is that there are elements up to either."""
    terms = dict(polynomials.polynomial(number))
    c = const(terms.pop((), 0))
    match list(terms.items()):
        case [((FloorDiv(a, Num(b)),), 1)] if b > 0:
            parts = without_extremum(integers.at_least_zero(integers.plus_(a, integers.times_(c, int(b)))))
            return and_(*parts) if parts else None
    return None


def above_zero(number: Expr) -> Expr | None:
    """Where a number made of truth values is above 0. The greatest of nothing is not, and the least of nothing is."""
    if number.kind == "bool":
        return number
    match number:
        case Num(value):
            return const(value > 0)
        case Where(condition, then, otherwise):
            sides = above_zero(then), above_zero(otherwise)
            if sides[0] is None or sides[1] is None:
                return None
            return or_(and_(condition, sides[0]), and_(not_(condition), sides[1]))
        case Extremum(op, parts):
            each = [above_zero(part) for part in parts]
            known = [part for part in each if part is not None]
            return None if len(known) < len(each) else (or_ if op == "max" else and_)(*known)
        case Fold("max" | "min" as monoid, bound, body):
            of_one = above_zero(body)
            return None if of_one is None else Fold("any" if monoid == "max" else "all", bound, of_one)
    return None


def by_rows(simplify: Simplifier, compare: Compare, facts: Facts) -> Expr | None:
    """0 ≤ n·q + r, where r is 0 or in 0 ≤ r < n, as 0 ≤ q."""
    if compare.op != "≤" or compare.left is not ZERO or compare.right.kind != "int":
        return None
    terms = polynomials.polynomial(compare.right)
    for n in dict.fromkeys(a for m in terms if len(m) > 1 for a in m if isinstance(a, Size) and a.minimum >= 1):
        rest = {m: c for m, c in terms.items() if n not in m}
        low = polynomials.written(rest)
        high = integers.quotient(integers.minus(compare.right, low), n)
        inside = and_(integers.at_least_zero(low), integers.less(low, n))
        if not rest or (low.free and simplify.prover.proves(facts, inside, thorough=False)):
            return integers.at_least_zero(high)
    return None


def put(compare: Compare, side: Expr, part: Expr) -> Expr:
    """The comparison with another expression on one side."""
    return Compare(compare.op, *(part if end is side else end for end in (compare.left, compare.right)))


# ---------------------------------------------------------------------------------------------------------------- tiles


def across_lanes(
    simplify: Simplifier, monoid: str, bound: tuple[Index, ...], body: Expr, facts: Facts
) -> tuple[tuple[Index, ...], Expr]:
    """Σ over lanes, or over tiles, of what each one has summed, as one sum."""
    inner: Expr = body
    rest: tuple[Expr, ...] = ()
    if isinstance(body, Where) and body.otherwise is NEUTRAL[monoid]:
        kept = with_fact(facts, not_(body.condition))
        if simplify(body.then, kept) is body.otherwise:
            inner = body.then
    if monoid == "sum" and isinstance(inner, Mul):
        folds = [f for f in inner.factors if isinstance(f, Fold) and f.monoid == "sum"]
        if len(folds) == 1:
            rest = tuple(f for f in inner.factors if f is not folds[0])
            inner = folds[0]
    every = bound
    while isinstance(inner, Fold) and inner.monoid == monoid:
        every, inner = (*every, *inner.bound), inner.body
    every, value = as_one_lane(every, mul(*rest, inner) if rest else inner)
    for v, w in permutations(every, 2):
        found = whole(v, w)
        others = tuple(u for u in every if u is not v and u is not w)
        if found is None or {v, w} & frozenset().union(*(u.extent.free for u in others)):
            continue
        j = index(found)
        tile = integers.quotient(j, v.extent)
        values = {v: integers.minus(j, integers.times_(tile, v.extent)), w: tile}
        new = integers.tidied(substitute(value, values))
        if not any(e is tile for e in walk(new)):
            return (*others, j), new
    return across_tiles(simplify, bound, body, facts)


def by_terms(simplify: Simplifier, bound: tuple[Index, ...], body: Expr, facts: Facts) -> list[Expr] | None:
    """Σ over tiles of several sums over their lanes, as one sum each: bytes of a row that hold two numbers or four are
    gone through tile by tile, and what they hold is added up by its place there. None where a sum stays in tiles."""
    sums = list[Expr]()
    for term in body.terms if isinstance(body, Add) else ():
        factors = term.factors if isinstance(term, Mul) else (term,)
        inner = [f for f in factors if isinstance(f, Fold) and f.monoid == "sum"]
        if len(inner) != 1:
            return None
        lanes, each = (*bound, *inner[0].bound), mul(*(inner[0].body if f is inner[0] else f for f in factors))
        joined, value = across_lanes(simplify, "sum", lanes, each, facts)
        if joined is lanes:
            return None
        sums.append(Fold("sum", joined, value))
    return sums or None


def by_digits(
    simplify: Simplifier, bound: tuple[Index, ...], body: Expr, facts: Facts
) -> tuple[tuple[Index, ...], Expr]:
    """A tile that was laid out as one line, and of which rows and columns are told apart again, by rows and columns: Σ
    over l < 128 of f(⌊l/16⌋, l mod 16) is Σ over h < 8 and c < 16 of f(h, c). Programs of a grid in the same way."""
    for v in (v for v in bound if not any(v in w.extent.free for w in bound)):
        for c, count in widths(v, body):
            outside = c.free <= body.free.difference(bound)
            if not outside or not simplify.prover.proves(facts, integers.at_least_zero(c)):
                continue
            rows, columns = index(count), index(c)
            line = integers.plus_(integers.times_(rows, c), columns)
            new = integers.tidied(substitute(body, {v: line}))
            new = integers.tidied(replaced(new, {integers.quotient(columns, c): ZERO}))
            if divisions(new, {rows, columns}) < divisions(body, {v}):
                return by_digits(simplify, (*(w for w in bound if w is not v), rows, columns), new, facts)
    return bound, body


def widths(v: Index, body: Expr) -> list[tuple[Expr, Expr]]:
    """What a variable is divided by, and how many values it has, too; with how often it goes into these. Numbers in as
    many as a size says, as groups of 32, stay one line: so references have them."""
    found = {e.divisor for e in walk(body) if isinstance(e, FloorDiv | Mod) and v in e.children[0].free}
    length = polynomials.polynomial(v.extent)
    pairs = []
    for c in sorted((c for c in found if v not in c.free and c is not v.extent), key=order):
        divisor = polynomials.polynomial(c)
        fits = len(divisor) == 1 and divisor != {(): 1} and (not isinstance(c, Num) or isinstance(v.extent, Num))
        count, rest = polynomials.by_term(length, divisor) if fits else ({}, length)
        if not rest:
            pairs.append((c, polynomials.written(count)))
    return pairs


def divisions(expr: Expr, by: set[Index]) -> int:
    """How many different quotients and remainders of these there are."""
    return sum(isinstance(e, FloorDiv | Mod) and bool(e.free & by) for e in walk(expr))


def as_one_lane(bound: tuple[Index, ...], body: Expr) -> tuple[tuple[Index, ...], Expr]:
    """Parts p < P of B lanes l as the one lane p·B + l < P·B, where the ends of other ranges and the body know it only
    as that: each part of a split row has the tiles p, p + P, p + 2·P …"""
    for part, lane in permutations(bound, 2):
        ends = [u for u in bound if {part, lane} <= u.extent.free]
        if not ends or not all(isinstance(v.extent, Num) and v.extent.value > 0 for v in (part, lane)):
            continue
        one = index(integers.times_(part.extent, lane.extent))
        values: dict[Index, Expr] = {lane: integers.minus(one, integers.times_(part, lane.extent))}
        values |= {u: index(integers.tidied(substitute(u.extent, values))) for u in ends}
        new = integers.tidied(substitute(body, values))
        rest = tuple(cast(Index, values.get(u, u)) for u in bound if u is not part and u is not lane)
        if not {part, lane} & new.free.union(*(u.extent.free for u in rest)):
            return (*rest, one), new
    return bound, body


def across_tiles(
    simplify: Simplifier, bound: tuple[Index, ...], body: Expr, facts: Facts
) -> tuple[tuple[Index, ...], Expr]:
    """Tiles of B of which the last ones may be cut off, as one range: t < T and l < B are one j = t·B + l < T·B, and
    where a tile ends before its B is then a limit of j, if t occurs nowhere else."""
    for t, lane in ((a, b) for a in bound for b in bound if ends_by(a, b)):
        others = tuple(u for u in bound if u is not t and u is not lane)
        if lane in t.extent.free or {t, lane} & frozenset().union(*(u.extent.free for u in others)):
            continue
        ends = least_of(without_zero(lane.extent))
        for width in (e for e in ends if t not in e.free):
            limits = [integers.times_(t.extent, width)]
            limits += [integers.plus_(e, integers.times_(t, width)) for e in ends if e is not width]
            j = index(simplify(integers.flattened("min", tuple(limits)), facts))
            new = integers.tidied(substitute(body, {lane: integers.minus(j, integers.times_(t, width))}))
            if t in j.extent.free | new.free or not simplify.prover.proves(facts, integers.less(0, width)):
                continue
            return (*others, j), new
    return bound, body


def ends_by(tile: Index, lane: Index) -> bool:
    """Whether how many lanes there are depends on the tile."""
    return tile is not lane and tile in lane.extent.free


def without_zero(extent: Expr) -> Expr:
    """The end of a range: one that ends below 0 is as empty as one that ends at 0."""
    match extent:
        case Extremum("max", (end, least)) | Extremum("max", (least, end)) if least is ZERO:
            return end
    return extent


def least_of(extent: Expr) -> tuple[Expr, ...]:
    """The integers of which this one is the least: those of min{a, b} + c are a + c and b + c."""
    for monomial, c in polynomials.polynomial(extent).items():
        if c == 1 and len(monomial) == 1 and isinstance(monomial[0], Extremum) and monomial[0].op == "min":
            rest = integers.minus(extent, monomial[0])
            return tuple(integers.plus_(part, rest) for part in monomial[0].arguments)
    return (extent,)


def whole(lane: Index, tile: Index) -> Expr | None:
    """n, where tile < ⌈(n − lane)/B⌉ for a lane < B."""
    if not isinstance(tile.extent, FloorDiv) or tile.extent.divisor is not lane.extent:
        return None
    n = integers.plus_(tile.extent.numerator, lane, 1, integers.minus(0, lane.extent))
    return None if lane in n.free else n
