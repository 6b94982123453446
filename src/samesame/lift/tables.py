"""Quotients by one of a few numbers, each as one thing: ⌊x / {1 if j mod 32 = 0 else 2 if …}⌋, as of shifted words.

A shift by what is one of 32 is as many divisions, case by case, and what is a bit of each then is as many cases in
every condition. Where both sides divide the same number by the same table, at the same place in it, what comes out is
the same, whatever it is; that both look at the same place is then plain arithmetic.
"""

from __future__ import annotations

from samesame.formula.binders import put
from samesame.formula.effort import Budget
from samesame.formula.equal import NotProved, Proved, prove_tensors_equal, shapes_differ
from samesame.formula.expr import Compare, Expr, FloorDiv, Lambda, Num, Opaque, Where, index, walk
from samesame.formula.few import values
from samesame.formula.polynomials import polynomial, written
from samesame.formula.tensor import Tensor
from samesame.kernels.indices import integers
from samesame.lift.halves import over

FEWEST = 4  # numbers in a table that is worth it
Table = tuple[tuple[int, int], ...]  # what is found at each place, by the places


def divided_by_tables_equal(left: Tensor, right: Tensor, *, budget: Budget) -> Proved | NotProved:
    """A proof that takes each quotient by a table for a number of its own, which dividend and place tell."""
    unlike = shapes_differ(left, right)
    if unlike:
        return NotProved(unlike)
    indices = tuple(index(n) for n in left.shape)
    sides = [put(integers.tidied(whole[indices]), as_one) for whole in (left, right)]
    if not all(any(is_by_table(e) for e in walk(side)) for side in sides):
        return NotProved("nothing is divided by a table on both sides")
    found = prove_tensors_equal(*(over(indices, side) for side in sides), budget=budget)
    if isinstance(found, Proved) and any(BY_TABLE in str(condition) for condition in found.conditions):
        return NotProved("it needs more of the quotients")  # which is said in a name that nobody gave
    return found


BY_TABLE = "divided by one of a few numbers"


def is_by_table(e: Expr) -> bool:
    return isinstance(e, Opaque) and e.name == BY_TABLE


def as_one(e: Expr) -> Expr | None:
    """A quotient by a table as what its dividend and the place in the table make."""
    found = table_of(e.divisor) if isinstance(e, FloorDiv) else None
    if found is None or not isinstance(e, FloorDiv):
        return None
    table, place = found
    dividend = put(e.numerator, as_one)
    return Opaque(BY_TABLE, table, (Lambda((), dividend), Lambda((), place)), (), "int")


def table_of(e: Expr) -> tuple[Table, Expr] | None:
    """Positive numbers by the values of one integer, and that integer; None of what is no such choice."""
    found: dict[int, int] = {}
    place: Expr | None = None
    while isinstance(e, Where) and isinstance(e.then, Num):
        told = told_by(e.condition, place)
        if told is None:
            return None
        place, at = told
        found.setdefault(at, int(e.then.value))
        e = e.otherwise
    all_places = values(place) if place is not None else None
    if place is None or all_places is None or len(all_places) < FEWEST or not isinstance(e, Num):
        return None
    table = tuple((at, found.get(at, int(e.value))) for at in all_places)
    return (table, place) if all(number > 0 for _, number in table) else None


def told_by(condition: Expr, place: Expr | None) -> tuple[Expr, int] | None:
    """The integer that a condition compares with a number, and the number: the integer is `place`, where there is one
    by now."""
    if not isinstance(condition, Compare) or condition.op != "=" or condition.left.kind != "int":
        return None
    apart = polynomial(integers.minus(condition.right, condition.left))
    for sign in (1, -1):
        terms = {monomial: sign * c for monomial, c in apart.items()}
        at = -terms.pop((), 0)
        one = written(terms)
        known = values(one) if place is None else None
        if one is place or (known is not None and known[0] >= 0):
            return one, at
    return None
