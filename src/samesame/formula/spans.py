"""Spans: in which parts of the extended line a value may lie, whatever its leaves hold there.

    −∞      (−∞, −1)      −1      (−1, 0)      0      (0, 1)      1      (1, ∞)      ∞
     0          1          2         3         4        5         6         7        8

A value is given by the set of the spans in which it may lie, for all values that leaves have in theirs: more than it
takes on is sound, less is not. Nine spans are few enough to try each pair of them, and ends at ±1 keep 1 + x, 1 − σ(x)
and their logarithms apart from what may be 0 or infinite. What has no value is left out: ∞ − ∞, 0 · ∞, a division by 0,
the root of what is below it, a pole. But the logarithm of 0 is −∞. Numbers are real, so none is too large.

One thing about two values is seen: what is subtracted from x may be a maximum over x, or the logarithm of a sum of
exponentials of it. Then the difference is not above 0, and not ∞ where the two are −∞ and a number.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache, reduce
from itertools import product

import numpy as np

from samesame.formula.definite import EVIDENT
from samesame.formula.expr import (
    FALSE,
    NEG_INF,
    TRUE,
    ZERO,
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    Fn,
    Fold,
    Index,
    Load,
    Mul,
    Named,
    NegInf,
    Not,
    Num,
    Opaque,
    Pow,
    Where,
    exp,
    le,
    lt,
    not_,
    substitute,
    walk,
)
from samesame.formula.infinite import PLUS_INFINITY
from samesame.formula.scalars import LOGARITHMS, NOT_NEGATIVE, OF_ITS_SIGN, POSITIVE, ROUNDING, SCALARS

Spans = frozenset[int]
Real = float | Fraction

ENDS = (-math.inf, -1, 0, 1, math.inf)
BELOW, ZERO_ITSELF, ABOVE = 0, 4, 8
INFINITE = frozenset([BELOW, ABOVE])
ALL = frozenset(range(9))
FINITE = ALL - INFINITE
POSITIVES, ZEROS, NEGATIVES = (frozenset(spans) for spans in ((5, 6, 7), (ZERO_ITSELF,), (1, 2, 3)))
WHOLE = frozenset([1, 2, 4, 6, 7])                   # where integers lie
BOOLEAN = frozenset([4, 6])
OF_SIGN = {1: POSITIVES, 0: ZEROS, -1: NEGATIVES}
LOGARITHMIC = {**dict.fromkeys(LOGARITHMS, ZEROS), "log1p": frozenset([2])}         # which are −∞ there
OF_KIND = {"real": FINITE, "int": WHOLE, "bool": BOOLEAN}


def ends(span: int) -> tuple[float, float]:
    """The ends of a span, which are no part of it unless it is a point."""
    return ENDS[span // 2], ENDS[(span + 1) // 2]


def is_point(span: int) -> bool:
    return span % 2 == 0


@cache
def between(low: Real, high: Real) -> Spans:
    """The spans that meet what lies between two numbers, these left out; or that hold the number, if they are one."""
    if low == high:
        return frozenset(s for s in ALL if ends(s)[0] < low < ends(s)[1] or ends(s) == (low, low))
    return frozenset(
        s for s in ALL
        if (low < ends(s)[0] < high if is_point(s) else max(low, ends(s)[0]) < min(high, ends(s)[1])))


# ------------------------------------------------------------------------------------------------- of one or two spans


@cache
def plus(a: int, b: int) -> Spans:
    for one, other in ((a, b), (b, a)):
        if one in INFINITE:
            return frozenset() if other == ABOVE + BELOW - one else frozenset([one])
    (low, high), (lower, upper) = ends(a), ends(b)
    return between(low + lower, high + upper)


@cache
def times(a: int, b: int) -> Spans:
    if {a, b} & INFINITE:
        return frozenset() if {a, b} & ZEROS else frozenset([ABOVE if _sign(a) == _sign(b) else BELOW])
    corners = [x * y if x and y else 0 for x, y in product(ends(a), ends(b))]        # the end of a span is no ∞ itself
    return between(min(corners), max(corners))


def _sign(span: int) -> int:
    return (span > ZERO_ITSELF) - (span < ZERO_ITSELF)


@cache
def to_power(span: int, q: Fraction) -> Spans:
    """A power with a rational exponent that is not 0; of 0, and of what is below it, where there is one."""
    sign = _sign(span)
    if (not sign and q < 0) or (sign < 0 and q.denominator > 1):
        return frozenset()
    at = sorted(_magnitude(abs(end), q) for end in ends(span))
    if sign < 0 and q.numerator % 2:
        at = [-at[1], -at[0]]
    return between(at[0], at[1])


def _magnitude(x: float, q: Fraction) -> float:
    if 0 < x < math.inf:
        return 1.0                                   # the only other end of a span
    return x if q > 0 else 0.0 if x else math.inf


@cache
def of_function(name: str, span: int) -> Spans:
    """Where a function of one number takes a span. Of what no row knows, only that it is finite where its argument
    is."""
    row = SCALARS.get(name)
    if row is None:
        return ALL if span in INFINITE else FINITE
    with np.errstate(all="ignore"):
        low, high = (float(row.values(np.array([float(end)]))[0]) for end in ends(span))
    if is_point(span) and math.isinf(low) and span in FINITE - LOGARITHMIC.get(name, frozenset()):
        return frozenset()                           # a pole
    if is_point(span) or row.rising:
        return frozenset() if math.isnan(low) or math.isnan(high) else between(low, high)
    if name in ROUNDING | OF_ITS_SIGN:
        return OF_SIGN[_sign(span)] | ZEROS
    return POSITIVES if name in POSITIVE else POSITIVES | ZEROS if name in NOT_NEGATIVE else FINITE


# ------------------------------------------------------------------------------------------------------------ of sets


def each(function: Callable[[int], Spans], spans: Spans) -> Spans:
    return frozenset().union(*map(function, spans))


def pairs(function: Callable[[int, int], Spans], several: Iterable[Spans]) -> Spans:
    return reduce(lambda a, b: frozenset().union(*(function(x, y) for x, y in product(a, b))), several)


def repeated(function: Callable[[int, int], Spans], spans: Spans) -> Spans:
    """What comes of one value or more, each in these spans."""
    found = spans
    while (more := found | pairs(function, (found, spans))) != found:
        found = more
    return found


class Places:
    """Where expressions lie, of leaves that are `known` by name; others hold any number of their kind."""

    def __init__(self, known: Mapping[str, Spans]) -> None:
        self.known = known
        self.found: dict[Expr, Spans] = {}

    def of(self, e: Expr) -> Spans:
        if e not in self.found:
            self.found[e] = self._of(e)
        return self.found[e]

    def _of(self, e: Expr) -> Spans:
        match e:
            case NegInf():
                return frozenset([BELOW])
            case Num(value):
                return between(value, value)
            case Named():
                return POSITIVES
            case Load(leaf, _):
                return self.known.get(leaf.name, OF_KIND[leaf.kind])
            case Where(condition, then, otherwise):
                chosen = self.of(_of_some(condition, then)) & where_it_holds(condition, then)
                return chosen | self.of(otherwise) & where_it_holds(not_(condition), otherwise)
            case Add(terms):
                return self._sum(terms)
            case Mul(factors):                       # x·x is a square
                several = Counter(factors).items()
                return pairs(times, (self._power(factor, Fraction(n)) for factor, n in several))
            case Pow(base, q):
                return self._power(base, q)
            case Fn(name, argument):
                return each(lambda span: of_function(name, span), self.of(argument))
            case Extremum(op, parts):
                return pairs(_larger if op == "max" else _smaller, map(self.of, parts))
            case Fold(monoid, bound, body):
                return self._fold(monoid, bound, body)
            case Opaque("aten.sort" | "aten.topk", ("values", *_), (row,), _):
                return self.of(row.body)
            case Opaque() if e.kind == "real":
                given = (self.of(whole.body) for whole in e.arguments)
                return ALL if any(map(INFINITE.intersection, given)) else FINITE
        if e.kind == "int":
            return WHOLE & frozenset().union(*(OF_SIGN[sign] for sign in EVIDENT.signs(e)))
        return OF_KIND[e.kind]

    def _power(self, base: Expr, q: Fraction) -> Spans:
        return self.of(base) if q == 1 else each(lambda span: to_power(span, q), self.of(base))

    def _sum(self, terms: tuple[Expr, ...]) -> Spans:
        for (k, x), (m, less) in product(enumerate(terms), repeat=2):
            if isinstance(less, Mul) and len(less.factors) == 2 and less.factors[0] is MINUS_ONE:
                bound = less.factors[1]
                if k != m and is_bound(bound, x):
                    rest = [self.of(term) for n, term in enumerate(terms) if n not in (k, m)]
                    return pairs(plus, (self._not_above(x, bound), *rest))
        return pairs(plus, map(self.of, terms))

    def _not_above(self, x: Expr, bound: Expr) -> Spans:
        """Where x lies less one of its bounds."""
        low = BELOW in self.of(x) or ABOVE in self.of(bound)
        return NEGATIVES | ZEROS | (frozenset([BELOW]) if low else frozenset())

    def _fold(self, monoid: str, bound: tuple[Index, ...], body: Expr) -> Spans:
        match monoid:
            case "sum" | "prod":
                made = repeated(plus if monoid == "sum" else times, self.of(body))
                return made if EVIDENT.some(bound) else made | (ZEROS if monoid == "sum" else between(1, 1))
            case "max" | "min":
                nothing = NEG_INF if monoid == "max" else PLUS_INFINITY
                made = self.of(_in_place(body, nothing))
                return made if EVIDENT.some(bound) else made | self.of(nothing)
        return BOOLEAN


MINUS_ONE = Num(Fraction(-1))


def _larger(a: int, b: int) -> Spans:
    return frozenset([max(a, b)])


def _smaller(a: int, b: int) -> Spans:
    return frozenset([min(a, b)])


def where_it_holds(condition: Expr, e: Expr) -> Spans:
    """In which spans e may lie where a condition holds that compares it with a number, or a multiple of it: what a
    softplus gives back above its threshold is above 0."""
    match condition:
        case And(parts):
            return frozenset.intersection(*(where_it_holds(part, e) for part in parts))
        case Not(Compare("<" | "≤" as op, a, b)):
            return where_it_holds(le(b, a) if op == "<" else lt(b, a), e)
        case Compare("<" | "≤" | "=" as op, a, b):
            below, above = _times_of(e, a), _times_of(e, b)
            if isinstance(b, Num) and below is not None:
                return _compared(op if below > 0 else TURNED[op], b.value / below)
            if isinstance(a, Num) and above is not None:
                return _compared(TURNED[op] if above > 0 else op, a.value / above)
    return ALL


TURNED = {"<": ">", "≤": "≥", "=": "="}


def _compared(op: str, n: Fraction) -> Spans:
    """The spans of what is so compared with a number."""
    found = frozenset[int]() if op in ("<", ">") else between(n, n)
    if op in ("<", "≤"):
        found |= between(-math.inf, n) | {BELOW}
    if op in (">", "≥"):
        found |= between(n, math.inf) | {ABOVE}
    return found


def _times_of(e: Expr, multiple: Expr) -> Fraction | None:
    """How many times e a multiple of it is; None where it is none."""
    match multiple:
        case Mul((Num(times), inner)) if inner is e and times:
            return times
    return Fraction(1) if multiple is e else None


def _of_some(condition: Expr, then: Expr) -> Expr:
    """The same, or what lies where it does: the greatest of what arrives at a place, where something does."""
    match condition, then:
        case Fold("any", over, arrives), Fold("max", bound, Where(hit, value, nothing)) if nothing is NEG_INF:
            if isinstance(arrives, Where) and (arrives.then, arrives.otherwise) == (TRUE, FALSE):
                arrives = arrives.condition
            if len(over) == len(bound) and substitute(arrives, dict(zip(over, bound, strict=True))) is hit:
                return value
    return then


def _in_place(body: Expr, nothing: Expr) -> Expr:
    """The body of an extremum where it is not left out by its place, as a window leaves out what is beyond the border:
    some element is in place."""
    match body:
        case Where(condition, then, otherwise) if nothing in (then, otherwise):
            if not any(isinstance(part, Load) for part in walk(condition)):
                return _in_place(otherwise if then is nothing else then, nothing)
    return body


# -------------------------------------------------------------------------------------------------------------- bounds


def is_bound(bound: Expr, x: Expr) -> bool:
    """Whether a value is written as one that x is never above."""
    match bound:
        case Extremum("max", parts):
            return any(is_bound(part, x) for part in parts)
        case Fold("max", over, body):
            return is_instance(body, x, over)
        case Fn("log", Fold("sum", over, body)):
            return is_instance(body, exp(x), over)
        case Fn("log", Add(terms)):
            return exp(x) in terms and all(isinstance(term, Fn) and term.name == "exp" for term in terms)
    return bound is x


def is_instance(body: Expr, x: Expr, over: tuple[Index, ...]) -> bool:
    """Whether x is the body at some place that the indices run over, where nothing hides it: among the edges of a node
    is each edge that leads there."""
    at = dict[Index, Expr]()
    conditions: tuple[Expr, ...] = ()
    if isinstance(body, Where) and body.otherwise is NEG_INF:
        conditions = body.condition.arguments if isinstance(body.condition, And) else (body.condition,)
        body = body.then

    def meet(a: Expr, b: Expr) -> bool:
        if isinstance(a, Index) and a in over:
            return at.setdefault(a, b) is b and _runs_over(a, b)
        match a, b:
            case (Load(leaf, places), Load(other, found)) if leaf == other:
                return all(map(meet, places, found))
            case (Fn(name, argument), Fn(other_name, found)) if name == other_name:
                return meet(argument, found)
        return a is b and not a.free.intersection(over)

    def is_met(condition: Expr) -> bool:
        if not isinstance(condition, Compare) or condition.op not in ("=", "≤"):
            return False
        return substitute(condition.left, at) is substitute(condition.right, at)

    if not meet(body, x) or not all(map(is_met, conditions)):
        return False
    return all(v in at or EVIDENT.some((v,)) for v in over)      # a constant is none of no places


def _runs_over(index: Index, place: Expr) -> bool:
    if isinstance(place, Index):
        return place.extent is index.extent
    return place is ZERO and EVIDENT.some((index,))
