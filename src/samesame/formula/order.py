"""One order of expressions, by how they are built and by nothing else.

Sums and products are written in this order, so the same expression reads the same in every process and whatever was
worked on before. `order(e)` is a tuple: the place of e's kind, then e's fields, with each part's own tuple in its
place. Expressions are hash-consed and keep their tuples, so two orders are compared along one path, down to where the
expressions differ. Index variables stand by their extents; of those with equal ones, what was made first comes first.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from samesame.formula.expr import Expr, FloorDiv, Index, Leaf, Num, Opaque, Size, const

# As in the grammar, but sizes and quotients first and numbers last: as people write, n·i + j, 8·⌊i / 8⌋ + j, and
# 16·pid + lane where lanes are a number of them.
KINDS = sorted(Expr.__subclasses__(), key=lambda kind: {Size: 0, FloorDiv: 1, Num: 3}.get(kind, 2))
PLACE = {kind: place for place, kind in enumerate(KINDS)}


def order(expr: Expr) -> tuple[Any, ...]:
    """What sorts expressions; it differs where they do."""
    found: tuple[Any, ...] | None = expr.__dict__.get("_order")
    if found is None:
        found = expr.__dict__["_order"] = (PLACE[type(expr)], *map(_part, _parts(expr)))
    return found


def _parts(expr: Expr) -> Iterable[Any]:
    match expr:
        case Index(serial, extent):
            return extent, serial
        case Opaque(name, attributes, arguments, indices, kind):
            return name, repr(attributes), arguments, indices, kind
        case _:
            return (getattr(expr, name) for name in expr.__match_args__)


def _part(value: Any) -> Any:
    match value:
        case Expr():
            return order(value)
        case tuple():
            return tuple(map(_part, value))
        case Fraction():
            return value.numerator, value.denominator
        case Leaf(name, shape, kind, bounds):
            return name, kind, *(tuple(order(const(n)) for n in numbers) for numbers in (shape, bounds or ()))
        case _:
            return value
