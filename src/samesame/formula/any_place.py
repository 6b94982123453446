"""At any place: what holds wherever one looks holds where data says to look.

Where integers in data choose rows, `c[t[i]]` against `p[t[i] − 1]·a[t[i]]`, nothing is known of t[i] but the range that
it lies in. An index has such a range, too, and more is known of that: conditions split its range and leave it one
value, sums go on from it to the next. So a claim that is not proved of t[i] is asked of an index in its place, for all
of the range. What elements of one tensor have to do with one another is lost by it, so this is not tried first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from samesame.formula.binders import replaced
from samesame.formula.expr import Expr, Load, Num, add, const, index, walk


def at_any_place(left: Expr, right: Expr) -> tuple[Expr, Expr] | None:
    """The sides with an index in place of each integer of data between 0 and a greatest one that is known, which hangs
    on no index of a sum; None where there is none of these."""
    free = left.free | right.free
    known: dict[Expr, Expr] = {e: index(size) for e, size in _chosen((left, right)) if e.free <= free}
    return (replaced(left, known), replaced(right, known)) if known else None


def _chosen(sides: Iterable[Expr]) -> Iterator[tuple[Load, Expr]]:
    """The integers of data that are places, and how many places there are: of those of which more is asked than what
    stands there."""
    every = dict.fromkeys(e for side in sides for e in walk(side))
    asked = dict.fromkeys(part for e in every if not isinstance(e, Load) for part in e.children)
    for e in asked:
        if isinstance(e, Load) and e.leaf.kind == "int" and e.leaf.bounds is not None:
            low, high = map(const, e.leaf.bounds)
            if isinstance(low, Num) and low.value == 0:
                yield e, add(high, 1)
