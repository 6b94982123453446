"""Whether two expressions are written alike: what need not be proved, however much there is to it.

They are where nothing is left of their differences without the names of bound variables, the order of terms, factors
and what an extremum is of, comparisons that the ranges of variables decide, and choices that one around them has made.
That is no normal form, and takes the time of going through both once: a stencil has choices at every border within
choices at every border, and cases of all of these together are more than a proof has time for.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import product
from math import prod
from typing import cast

from samesame.formula.binders import rebuilt
from samesame.formula.expr import (
    ZERO,
    Add,
    And,
    Compare,
    Expr,
    Extremum,
    Fold,
    Index,
    Lambda,
    Load,
    Mul,
    Num,
    Or,
    Unsupported,
    Where,
    add,
    const,
    index,
    mul,
    rebuild,
    substitute,
    walk,
    where,
)
from samesame.formula.normal import index_poly
from samesame.formula.poly import Poly, at_least_zero
from samesame.formula.sizes import canonical
from samesame.formula.tensor import Dim

Known = frozenset[tuple[Expr, bool]]                 # conditions, and whether they hold


def alike(left: Expr, right: Expr) -> bool:
    """Whether they are."""
    return left is right or nameless(chosen(left)) is nameless(chosen(right))


def in_terms(expr: Expr, most: int) -> Expr:
    """The expression with sums over at most so many numbers as the sums of their terms."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = terms_of(e) if isinstance(e, Fold) and e.monoid == "sum" else rebuild(e, go)
        return memo[e]

    def terms_of(e: Fold) -> Expr:
        extents = [index.extent.value if isinstance(index.extent, Num) else most + 1 for index in e.bound]
        if not 0 < prod(extents) <= most:
            return rebuild(e, go)
        places = product(*(range(int(extent)) for extent in extents))
        body = go(e.body)
        return add(*(substitute(body, dict(zip(e.bound, map(const, place), strict=True))) for place in places))

    return go(expr)


def in_parts(expr: Expr) -> Expr:
    """The expression with each sum over a range that a choice parts as the sums over its parts: the same terms, so the
    same sum whatever they are, numbers or not. Σ_{k<n} {f(k) if k < m else g(k − m)} is Σ_{k<m} f(k) + Σ_{k<n−m} g(k).
    """
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = parted(made) if isinstance(made := rebuild(e, go), Fold) and made.monoid == "sum" else made
        return memo[e]

    def parted(e: Fold) -> Expr:
        for v, at in product(e.bound, dict.fromkeys(walk(e.body))):
            if isinstance(at, Compare) and at.op == "<" and at.left is v and _parts(at.right, v) and not any(
                    v in each.extent.free for each in e.bound):
                rest = canonical(add(v.extent, mul(-1, at.right)))
                return add(*(parted(_over(e, v, size, start)) for size, start in ((at.right, ZERO), (rest, at.right))))
        return e

    return go(expr)


def _parts(place: Expr, v: Index) -> bool:
    """Whether a range has elements on both sides of a place, which is the same for all of them."""
    first, size = _integer(place), _integer(v.extent)
    if first is None or size is None or any(isinstance(part, Index | Load) for part in walk(place)):
        return False
    return at_least_zero(first - 1) and at_least_zero(size - first - 1)


def _over(e: Fold, v: Index, size: Dim, start: Expr) -> Fold:
    """The sum over so many places of one of its ranges, from this one on."""
    k = index(size)
    body = without_opposites(chosen(substitute(e.body, {v: add(k, start)})))
    return Fold(e.monoid, tuple(k if each is v else each for each in e.bound), body)


def without_opposites(expr: Expr) -> Expr:
    """The expression with k for k + m − m, of integers."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            made = rebuild(e, go)
            memo[e] = add(*left_over(made).elements()) if isinstance(made, Add) and made.kind == "int" else made
        return memo[e]

    def left_over(e: Add) -> Counter[Expr]:
        terms = Counter(e.terms)
        for term in e.terms:
            pairs = min(terms[term], terms[mul(-1, term)])
            terms -= Counter({term: pairs, mul(-1, term): pairs})
        return terms

    return go(expr)


def chosen(expr: Expr) -> Expr:
    """The expression without choices by a condition that is known where they stand."""
    within: dict[Expr, frozenset[Expr]] = {}
    memo: dict[tuple[Expr, Known], Expr] = {}

    def conditions(e: Expr) -> frozenset[Expr]:
        if e not in within:
            own = frozenset({e.condition}) if isinstance(e, Where) else frozenset[Expr]()
            within[e] = own.union(*map(conditions, e.children))
        return within[e]

    def go(known: Known, e: Expr) -> Expr:
        asked, bound = conditions(e), {*e.bound} if isinstance(e, Fold | Lambda) else set[Index]()
        known = frozenset(each for each in known if each[0] in asked and bound.isdisjoint(each[0].free))
        if (e, known) not in memo:
            memo[e, known] = (choose(known, e) if isinstance(e, Where) else
                              decided(rebuilt(e, partial(go, known))))
        return memo[e, known]

    def choose(known: Known, e: Where) -> Expr:
        found = dict(known).get(e.condition)
        if found is not None:
            return go(known, e.then if found else e.otherwise)
        sides = (go(known | {(e.condition, holds)}, side) for holds, side in ((True, e.then), (False, e.otherwise)))
        return where(go(known, e.condition), *sides)

    return go(frozenset(), expr)


def decided(e: Expr) -> Expr:
    """A comparison of integers as what the ranges of its variables make of it."""
    if isinstance(e, Compare) and e.op in ("<", "≤"):
        a, b = _integer(e.left), _integer(e.right)
        if a is not None and b is not None:
            room = b - a - (e.op == "<")
            return const(True) if at_least_zero(room) else const(False) if at_least_zero(-1 - room) else e
    return e


def _integer(e: Expr) -> Poly | None:
    """The integer as a polynomial; None for what is none, or is of a variable whose range is none."""
    try:
        return index_poly(e)
    except Unsupported:
        return None


def nameless(expr: Expr, depth: int = 0) -> Expr:
    """The expression with numbers for its bound variables, by how deep within binders they stand."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            memo[e] = _nameless_binder(e, depth) if isinstance(e, Fold | Lambda) else in_order(rebuild(e, go))
        return memo[e]

    return go(expr)


def in_order(e: Expr) -> Expr:
    """What says the same in any order, in one that hangs on nothing but what its parts say."""
    match e:
        case Add(parts) | Mul(parts) | And(parts) | Or(parts):
            return type(e)(tuple(sorted(parts, key=said)))
        case Extremum(op, parts):
            return Extremum(op, tuple(sorted(parts, key=said)))
    return e


def said(e: Expr) -> int:
    """A number for what an expression says, the same wherever it is written."""
    if "_said" not in e.__dict__:
        fields = [getattr(e, name) for name in e.__match_args__]
        own = [[said(part) if isinstance(part, Expr) else part for part in (f if isinstance(f, tuple) else (f,))]
               for f in fields]
        e.__dict__["_said"] = hash((type(e).__name__, repr(own)))
    return int(e.__dict__["_said"])


def _nameless_binder(e: Fold | Lambda, depth: int) -> Expr:
    numbers: dict[Index, Expr] = {}
    for k, v in enumerate(e.bound):
        numbers[v] = Index(-1 - depth - k, substitute(v.extent, numbers))
    inside = depth + len(e.bound)
    bound, body = tuple(cast(Index, numbers[v]) for v in e.bound), nameless(substitute(e.body, numbers), inside)
    return Fold(e.monoid, bound, body) if isinstance(e, Fold) else Lambda(bound, body)
