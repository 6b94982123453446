"""Positions of which no two are equal, as it shows in how they are written: what is written there has one value each.

Beside these are positions that repeat in one place alone, as `where(slots < 0, n, slots)` does in row n, to which all
padding goes. Every other row has one value then; what stands in that one hangs on which of them came last, and nobody
knows it: most programs cut it off again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from samesame.formula.expr import (
    ZERO,
    Add,
    And,
    Compare,
    Expr,
    FloorDiv,
    Index,
    Lambda,
    Load,
    Mul,
    Not,
    Num,
    Opaque,
    Where,
    eq,
    index,
    le,
    mod,
    not_,
    where,
)
from samesame.formula.polynomials import plus, polynomial
from samesame.formula.tensor import Dim, Tensor
from samesame.operators.shapes import lower_bound, plain

Positions = Callable[..., Sequence[Expr]]
Among = Callable[[Expr], Expr]                             # of an element: the condition on it
REPEATED_PLACE = "what is written last, of several"


# ------------------------------------------------------------------------------------------------------------- distinct


def distinct(positions: Positions, extents: Sequence[Dim]) -> bool:
    """Whether different s within the extents have different positions.

    An s_k is told by a position that is one-to-one in it, once all others that this position is made of are told. Two
    positions that are ⌊t/d⌋ and t mod d, as of a slot in a block, tell t.
    """
    s = tuple(index(n) for n in extents)
    return _tell(positions(*s), s)


def _tell(positions: Sequence[Expr], s: Sequence[Index], known: Sequence[Expr] = ()) -> bool:
    """Whether positions tell all of s, of those for which these conditions hold."""
    found = [*positions]
    found += [e.numerator for e in found if isinstance(e, FloorDiv) and mod(e.numerator, e.divisor) in found]
    waiting = {v for v in s if plain(v.extent) not in (0, 1)}
    while told := {v for v in waiting if any(_slope(p, v, known) and not p.free & waiting - {v} for p in found)}:
        waiting -= told
    return not waiting


def _slope(e: Expr, v: Index, known: Sequence[Expr] = ()) -> bool:
    """Whether e is a·v + c for a number a ≠ 0, with v in no other place; or where the elements of a row stood that are
    chosen, or sorted, at such an a·v + c, or the elements of a tensor that has no two equal ones, or none for which
    these conditions hold: each is another one. So are the numbers of a list without repetitions, one for each v.
    """
    match e:
        case Where():
            return _lists(e, v)
        case Index():
            return e is v
        case Load(_, (place,)):
            return _is_apart(e, known) and _slope(place, v, known)
        case Opaque("aten.sort" | "aten.topk", ("indices", *_), (row,), (place,)):
            return v not in row.free and _slope(place, v, known)
        case Add(terms):
            return [_slope(t, v, known) for t in terms if v in t.free] == [True]
        case Mul(parts):
            inside = [p for p in parts if v in p.free]
            others = [p for p in parts if v not in p.free]
            return len(inside) == 1 and _slope(inside[0], v, known) and all(map(_not_zero, others))
    return False


def _not_zero(e: Expr) -> bool:
    return e.value != 0 if isinstance(e, Num) else (lower_bound(e) or 0) > 0


def _lists(e: Expr, v: Index) -> bool:
    """Whether e is one number where v < 1, another where v < 2, and so on to v's end: no two of them the same."""
    numbers = list[Expr]()
    while isinstance(e, Where):
        match e.condition:
            case Compare("<", left, Num(value)) if left is v and value == len(numbers) + 1:
                numbers.append(e.then)
                e = e.otherwise
            case _:
                return False
    numbers.append(e)
    return all(isinstance(n, Num) for n in numbers) and len({*numbers}) == len(numbers) == plain(v.extent)


# --------------------------------------------------------------------------------------------------- what is said of it


_distinct: ContextVar[Mapping[str, Among | None]] = ContextVar("distinct", default={})  # noqa: B039 (nobody writes to it)


@contextmanager
def elements_distinct(leaves: Iterable[str], among: Mapping[str, Among] | None = None) -> Iterator[None]:
    """Inside, no two elements of these are equal, and of others no two of those for which something holds."""
    token = _distinct.set({**(among or {}), **dict.fromkeys(leaves)})
    try:
        yield
    finally:
        _distinct.reset(token)


def _is_apart(e: Load, known: Sequence[Expr]) -> bool:
    """Whether no other element of its tensor is equal to this one, of those for which these conditions hold."""
    said = _distinct.get()
    if e.leaf.name not in said:
        return False
    among = said[e.leaf.name]
    return among is None or any(implies(condition, among(e)) for condition in known)


def implies(condition: Expr, claim: Expr) -> bool:
    """Whether a comparison of integers follows from a condition, as 0 ≤ n does from n ≥ 1."""
    if isinstance(condition, And):
        return any(implies(part, claim) for part in condition.arguments)
    told, asked = _not_below_zero(condition), _not_below_zero(claim)
    if told is None or asked is None:
        return condition is claim
    rest = plus(asked, told, -1)
    return all(not monomial and c >= 0 for monomial, c in rest.items())


def _not_below_zero(condition: Expr) -> dict[tuple[Expr, ...], int] | None:
    """The integer, as a polynomial, that is no less than 0 just where the condition holds; None of what is no order."""
    match condition:
        case Compare("≤" | "<" as op, low, high) if low.kind == high.kind == "int":
            apart = plus(polynomial(high), polynomial(low), -1)
            return apart if op == "≤" else plus(apart, {(): 1}, -1)
        case Not(Compare("≤" | "<" as op, low, high)) if low.kind == high.kind == "int":
            apart = plus(polynomial(low), polynomial(high), -1)
            return apart if op == "<" else plus(apart, {(): 1}, -1)
    return None


# -------------------------------------------------------------------------------------------------------- but for one


def repeated_in(positions: Positions, extents: Sequence[Dim]) -> tuple[int, Expr] | None:
    """Which of the positions repeats in one place alone, and that place: n of {n if slots[s] < 0 else slots[s]} where
    no two slots are equal that are not below 0. None where they may repeat elsewhere."""
    s = tuple(index(n) for n in extents)
    found = [*positions(*s)]
    for d, e in enumerate(found):
        if not isinstance(e, Where):
            continue
        branches = (e.then, e.otherwise, not_(e.condition)), (e.otherwise, e.then, e.condition)
        for place, others, condition in branches:
            if place.free.isdisjoint(s) and _tell([*found[:d], others, *found[d + 1 :]], s, (condition,)):
                return d, place
    return None


def but_for_one(
    whole: Tensor, repeated: tuple[int, Expr], x: Tensor, given: Tensor, positions: Positions, extents: Sequence[Dim]
) -> Tensor:
    """`whole`, which is x with what is given at positions, but for the one place in which these repeat: what stands
    there is some function of all that is written."""
    d, place = repeated
    s = tuple(index(n) for n in extents)
    arguments = (Lambda(*x.element()), Lambda(*given.element()), *(Lambda(s, p) for p in positions(*s)))

    def element(*i: Expr) -> Expr:
        return where(eq(i[d], place), Opaque(REPEATED_PLACE, None, arguments, i, x.kind), whole[i])

    return Tensor(x.shape, element, x.kind)


def never_below_zero(e: Expr, known: Sequence[Expr] = ()) -> bool:
    """Whether an integer is evidently no less than 0, in each case by itself."""
    if isinstance(e, Where):
        cases = ((e.then, e.condition), (e.otherwise, not_(e.condition)))
        return all(never_below_zero(part, (*known, condition)) for part, condition in cases)
    low = lower_bound(e)
    return (low is not None and low >= 0) or any(implies(condition, le(ZERO, e)) for condition in known)
