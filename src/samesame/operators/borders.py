"""Borders that repeat what is inside: padding that mirrors a tensor at its edges, or draws its edges out.

Each element of the result is one of x. At a distance k beyond an edge, a mirror shows the element k within it, so it
reaches no further than the tensor is wide; a replica shows the edge itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from samesame.formula.expr import ZERO, Expr, add, and_, const, eq, le, lt, mul, where
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.operators.indexing import Indices, index_
from samesame.operators.movement import moved
from samesame.operators.numbers import constant
from samesame.operators.shapes import agreeing, difference, folded, not_above, plain, pointwise, total
from samesame.operators.table import meaning, movement


def mirrored(j: Expr, last: Dim) -> Expr:
    return where(lt(j, 0), mul(-1, j), where(le(j, last), j, add(last, last, mul(-1, j))))


def drawn_out(j: Expr, last: Dim) -> Expr:
    return where(lt(j, 0), ZERO, where(le(j, last), j, const(last)))


Source = Callable[[Expr, Dim], Expr]


def _bordered(source: Source, axes: int, x: Tensor, padding: Sequence[Dim]) -> Tensor:
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


def _bordered_back(source: Source, axes: int, grad_output: Tensor, x: Tensor, padding: Sequence[Dim]) -> Tensor:
    """What each element is given where it stands, and where a border shows it."""
    lead = x.rank - axes
    low = [plain(padding[2 * k]) for k in reversed(range(axes))]
    agreeing(grad_output.shape, _bordered(source, axes, x, padding).shape, "a gradient of what has borders")

    def element(*i: Expr) -> Expr:
        def body(*place: Expr) -> Expr:
            shown = [source(add(p, mul(-1, before)), difference(n, 1))
                     for p, before, n in zip(place, low, x.shape[lead:], strict=True)]
            return where(and_(*map(eq, shown, i[lead:])), grad_output[(*i[:lead], *place)], 0)

        return folded("sum", grad_output.shape[lead:], body)

    return tensor(x.shape, element)


@meaning("aten._unsafe_masked_index.default")
def masked_index(x: Tensor, mask: Tensor, indices: Indices, fill: float) -> Tensor:
    """x at these indices where the mask holds, and a number where it does not, whatever the indices are there: so torch
    reads what a mirror shows."""
    filling = constant(fill)
    return pointwise(lambda holds, e: where(holds, e, filling), mask, index_(x, indices), kind=x.kind)


for _axes in (1, 2, 3):
    movement(f"aten.reflection_pad{_axes}d.default")(partial(_bordered, mirrored, _axes))
    movement(f"aten.replication_pad{_axes}d.default")(partial(_bordered, drawn_out, _axes))
    meaning(f"aten.reflection_pad{_axes}d_backward.default")(partial(_bordered_back, mirrored, _axes))
    meaning(f"aten.replication_pad{_axes}d_backward.default")(partial(_bordered_back, drawn_out, _axes))
