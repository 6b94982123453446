"""Bags: rows of a table that are looked up and added up, a bag of them for each row of the result.

Bag i takes the positions from offsets[i] to offsets[i + 1], the last one to the end. Where the offsets are i·n, as a
matrix of indices has them, bag i is a sum over n; else it is one over all positions, of those that lie in it.
"""

from __future__ import annotations

from functools import partial

from samesame.formula.expr import ONE, ZERO, Expr, Unsupported, add, and_, const, eq, index, le, lt, maximum, mul, where
from samesame.formula.polynomials import polynomial, written
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.operators.shapes import folded, same_size, untold
from samesame.operators.table import meaning

SUM, MEAN = 0, 1


@meaning("aten._embedding_bag.default", "aten._embedding_bag_forward_only.default")
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = SUM,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The bags; what torch keeps of them for the gradient is untold."""
    if mode not in (SUM, MEAN) or padding_idx >= 0:
        raise Unsupported("the largest of a bag, or a bag that leaves an index out")
    if include_last_offset:                     # where that is not the end, kernels of torch disagree on the last bag
        raise Unsupported("bags with a last offset of their own")
    bags = offsets.shape[0]
    each = _equal_length(offsets, bags, indices.shape[0])

    def taken(p: Expr, j: Expr) -> Expr:
        row = weight[indices[(p,)], j]
        return row if per_sample_weights is None else mul(per_sample_weights[(p,)], row)

    def element(i: Expr, j: Expr) -> Expr:
        start, end = _ends(offsets, i, indices.shape[0])
        if each is not None:
            length, summed = each, folded("sum", [each], lambda k: taken(add(start, k), j))
        else:
            length = add(end, mul(-1, start))
            inside = partial(_within, start, end)
            summed = folded("sum", [indices.shape[0]], lambda p: where(inside(p), taken(p, j), ZERO))
        return summed / maximum(length, 1) if mode == MEAN else summed

    kept = untold((bags,), "what a bag of embeddings keeps for its gradient", "int")
    return tensor((bags, weight.shape[1]), element, "real"), kept, kept, kept


@meaning("aten._embedding_bag_backward.default")
def embedding_bag_backward(
    grad: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: Dim,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor:
    """Each row of the table takes the gradients of the bags that have looked it up. What torch has kept of these bags
    is worked out again from the offsets."""
    if mode not in (SUM, MEAN) or padding_idx >= 0 or scale_grad_by_freq:
        raise Unsupported("the largest of a bag, a bag that leaves an index out, or one over how often a row is in it")
    bags, positions = offsets.shape[0], indices.shape[0]
    if not same_size((bags,), (grad.shape[0],)):
        raise Unsupported("bags whose offsets say where the last one ends, too")
    each = _equal_length(offsets, bags, positions)

    def element(row: Expr, j: Expr) -> Expr:
        def from_bag(i: Expr, length: Expr, p: Expr) -> Expr:
            given = grad[i, j] if mode == SUM else grad[i, j] / length
            given = given if per_sample_weights is None else mul(per_sample_weights[(p,)], given)
            return where(eq(indices[(p,)], row), given, ZERO)

        if each is not None:
            return folded("sum", [bags, each], lambda i, k: from_bag(i, each, add(mul(i, each), k)))

        def of_any(i: Expr, p: Expr) -> Expr:
            start, end = _ends(offsets, i, positions)
            return where(_within(start, end, p), from_bag(i, add(end, mul(-1, start)), p), ZERO)

        return folded("sum", [bags, positions], of_any)

    return tensor((num_weights, grad.shape[1]), element)


def _ends(offsets: Tensor, i: Expr, positions: Dim) -> tuple[Expr, Expr]:
    """Where bag i begins, and where it has ended."""
    return offsets[(i,)], where(lt(add(i, ONE), offsets.shape[0]), offsets[(add(i, ONE),)], const(positions))


def _within(start: Expr, end: Expr, p: Expr) -> Expr:
    return and_(le(start, p), lt(p, end))


def _equal_length(offsets: Tensor, bags: Dim, positions: Dim) -> Expr | None:
    """n where bag i takes the positions from i·n to i·n + n; None where bags are not seen to be equally long."""
    i = index(bags)
    n = polynomial(offsets[(ONE,)]) if offsets.kind == "int" else {}
    each = written(n)
    starts = polynomial(offsets[(i,)]) == polynomial(mul(i, each))
    ends = polynomial(mul(const(bags), each)) == polynomial(const(positions))
    return each if starts and ends else None
