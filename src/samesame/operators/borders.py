"""Borders that repeat what is inside: padding that mirrors a tensor at its edges, or draws its edges out.

Each element of the result is one of x. At a distance k beyond an edge, a mirror shows the element k within it, so it
reaches no further than the tensor is wide; a replica shows the edge itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from samesame.formula.expr import ZERO, Expr, add, const, le, lt, mul, where
from samesame.formula.tensor import Dim, Tensor
from samesame.operators.movement import moved
from samesame.operators.shapes import difference, not_above, plain, total
from samesame.operators.table import movement


def mirrored(j: Expr, last: Dim) -> Expr:
    return where(lt(j, 0), mul(-1, j), where(le(j, last), j, add(last, last, mul(-1, j))))


def drawn_out(j: Expr, last: Dim) -> Expr:
    return where(lt(j, 0), ZERO, where(le(j, last), j, const(last)))


def _bordered(source: Callable[[Expr, Dim], Expr], axes: int, x: Tensor, padding: Sequence[Dim]) -> Tensor:
    """x with borders along its last dimensions; `padding` holds (before, after), last dimension first."""
    before: list[Dim] = [0] * x.rank
    shape = list(x.shape)
    for k in range(axes):
        d, (low, high) = x.rank - 1 - k, map(plain, padding[2 * k : 2 * k + 2])
        for amount in (low, high):
            not_above(0, amount, "a border")
            not_above(total(amount, 1) if source is mirrored else 1, x.shape[d], "what a border shows")
        before[d], shape[d] = low, total(x.shape[d], low, high)

    def place(*i: Expr) -> list[Expr]:
        return [
            source(add(j, mul(-1, low)), difference(n, 1)) if d >= x.rank - axes else j
            for d, (j, low, n) in enumerate(zip(i, before, x.shape, strict=True))
        ]

    return moved(x, shape, place)


for _axes in (1, 2, 3):
    movement(f"aten.reflection_pad{_axes}d.default")(partial(_bordered, mirrored, _axes))
    movement(f"aten.replication_pad{_axes}d.default")(partial(_bordered, drawn_out, _axes))
