"""Points of a fold at which a mask is met with equality, where elements are looked for that no mask leaves out.

    Σ_{s<T} Σ_{m<16} [0 ≤ r − 16·s − m] …        s = ⌊r / 16⌋, m = r mod 16

A causal mask, or one with a window, hides the first tiles of a row and leaves its diagonal; that is such a point.
Points are proposed here and proved by whoever asks: that they are in the fold's range, and what the mask is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, product

from samesame.formula.expr import ZERO, And, Compare, Expr, Fold, Index, Not, Where, const, substitute, walk
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import Facts, IndexProver, outside

Point = dict[Index, Expr]
EARLY = 3  # elements along each index of a fold
PADDED = 2  # indices of a window


def has_one(prover: IndexProver, bound: tuple[Index, ...], guard: Expr, facts: Facts) -> bool:
    """Whether there is an element that a condition does not leave out, at an end of a range or of the condition."""
    facts = outside(facts, bound)
    points = chain(early(bound), tight(bound, Where(guard, const(1), ZERO)))
    return any(is_there(prover, bound, facts, p) and prover.proves(facts, at(p, guard)) for p in points)


def is_there(prover: IndexProver, bound: tuple[Index, ...], facts: Facts, point: Point) -> bool:
    """Whether a point is in the ranges."""
    inside = (integers.less(point[v], integers.tidied(substitute(v.extent, point))) for v in bound)
    begun = (integers.at_most(0, point[v]) for v in bound)
    return all(prover.proves(facts, condition) for condition in chain(inside, begun))


def at(point: Point, body: Expr) -> Expr:
    return integers.tidied(substitute(body, point))


def early(bound: tuple[Index, ...]) -> Iterator[Point]:
    """The points of a fold at which one is looked for that no mask leaves out: the first one, as of a row, and those
    behind the padding of a window."""
    if len(bound) > PADDED:
        yield dict.fromkeys(bound, ZERO)
        return
    for point in sorted(product(range(EARLY), repeat=len(bound)), key=lambda p: (len(set(p)), p)):
        yield dict(zip(bound, map(const, point), strict=True))


def whole(fold: Fold) -> tuple[tuple[Index, ...], Expr]:
    """The indices of a fold of folds by the same monoid, and the body of the innermost."""
    bound, body = fold.bound, fold.body
    while isinstance(body, Fold) and body.monoid == fold.monoid:
        bound, body = bound + body.bound, body.body
    return bound, body


def tight(bound: Sequence[Index], body: Expr) -> Iterator[Point]:
    """The last point, and each at which one of the conditions in the body, linear in the indices, is met with equality:
    where a range ends at the diagonal, the condition that says so is gone. What a condition says of an index that is
    bound in the body is left alone: there may be none."""
    if all(v.extent.free.isdisjoint(bound) for v in bound):
        yield {v: integers.minus(v.extent, 1) for v in bound}
    seen: set[Expr] = set()
    for e in walk(body):
        for bar in bars(e.condition) if isinstance(e, Where) else ():
            if bar not in seen and bar.free <= body.free and not bar.free.isdisjoint(bound):
                seen.add(bar)
                point = solved(bar, bound)
                if point is not None:
                    yield point


def bars(condition: Expr) -> Iterator[Expr]:
    """What the parts of a condition compare with 0."""
    match condition:
        case And(parts):
            for part in parts:
                yield from bars(part)
        case Not(Compare("≤", left, right)) | Compare("≤", left, right):
            yield integers.minus(right, left)


def solved(bar: Expr, bound: Sequence[Index]) -> Point | None:
    """Digits of the number that makes bar = r ± Σ c·v zero, the largest c first; None if it is not linear so."""
    coefficients: dict[Index, int] = {}
    rest = bar
    for v in bound:
        found = integers.linear(rest, v)
        if found is None:
            return None
        coefficients[v], rest = found
    signs = {c > 0 for c in coefficients.values() if c}
    if len(signs) != 1:
        return None
    left = integers.minus(0, rest) if signs == {True} else rest
    point: Point = dict.fromkeys(bound, ZERO)
    for v in sorted((v for v in bound if coefficients[v]), key=lambda v: -abs(coefficients[v])):
        size = const(abs(coefficients[v]))
        point[v] = integers.quotient(left, size)
        left = integers.remainder(left, size)
    return point
