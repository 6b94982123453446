"""Distances and lengths: how far rows lie apart, and rows that are given another length."""

from __future__ import annotations

from samesame.formula.expr import Expr, Unsupported, eq, lt, where
from samesame.formula.tensor import Tensor, tensor
from samesame.operators.constants import triu_indices
from samesame.operators.indexing import index_select
from samesame.operators.movement import select, unsqueeze
from samesame.operators.numbers import constant
from samesame.operators.pointwise import minus, over, times
from samesame.operators.reduction import sum_, vector_norm
from samesame.operators.shapes import dimension, folded, pointwise
from samesame.operators.table import meaning

SLACK = 1e-7                                               # what torch adds to a length that it divides by


@meaning("aten._cdist_forward.default")
def cdist(x: Tensor, other: Tensor, p: float, compute_mode: int | None) -> Tensor:
    """How far each row of one is from each row of the other."""
    return vector_norm(minus(unsqueeze(x, -2), unsqueeze(other, -3)), p, -1)


@meaning("aten._cdist_backward.default")
def cdist_backward(grad: Tensor, x: Tensor, other: Tensor, p: float, cdist_: Tensor) -> Tensor:
    """Each row is pulled along the line to each other one, or, with p = 1, along each axis; rows at one place are not.

    The distances are taken as they are given, whatever they are.
    """
    if p not in (1, 2):
        raise Unsupported(f"the gradient of distances of p = {p}")
    apart = minus(unsqueeze(x, -2), unsqueeze(other, -3))
    if p == 1:
        pull = pointwise(lambda e: where(lt(0, e), 1, where(lt(e, 0), -1, 0)), apart, kind="real")
    else:
        pull = pointwise(lambda e, d: where(eq(d, 0), 0, e / d), apart, unsqueeze(cdist_, -1), kind="real")
    return sum_(times(unsqueeze(grad, -1), pull), -2)


@meaning("aten._euclidean_dist.default")
def euclidean_dist(x: Tensor, other: Tensor) -> Tensor:
    """The same for p = 2, which torch computes of products where there are many rows."""
    return cdist(x, other, 2, None)


@meaning("aten._pdist_forward.default")
def pdist(x: Tensor, p: float = 2) -> Tensor:
    """How far each row is from each that comes after it, pair by pair."""
    pairs = triu_indices(x.shape[0], x.shape[0], 1)
    one, other = (index_select(x, 0, select(pairs, 0, which)) for which in (0, 1))
    return vector_norm(minus(one, other), p, -1)


@meaning("aten.dist.default")
def dist(x: Tensor, other: Tensor, p: float = 2) -> Tensor:
    return vector_norm(minus(x, other), p)


@meaning("aten._weight_norm_interface.default")
def weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> tuple[Tensor, Tensor]:
    """v with the lengths g, along all dimensions but one; and the lengths that v had."""
    kept = dimension(dim, v.rank)
    lengths = vector_norm(v, 2, [d for d in range(v.rank) if d != kept], True)
    return over(times(v, g), lengths), lengths


@meaning("aten._weight_norm_interface_backward.default")
def weight_norm_backward(
    grad_w: Tensor, saved_v: Tensor, saved_g: Tensor, saved_norms: Tensor, dim: int
) -> tuple[Tensor, Tensor]:
    """With the lengths n as they are given and s = Σ grad·v: g/n·(grad − v·s/n²) and s/n."""
    kept = dimension(dim, saved_v.rank)
    along = sum_(times(grad_w, saved_v), [d for d in range(saved_v.rank) if d != kept], True)
    given = grad_w, saved_v, saved_g, saved_norms, along
    of_v = pointwise(lambda grad, v, g, n, s: g / n * (grad - v * s / n**2), *given)
    return of_v, over(along, saved_norms)


def _shortened(length: Expr, longest: Expr) -> Expr:
    """What something is multiplied by so that it is no longer than this."""
    return where(lt(longest, length), longest / (length + constant(SLACK)), 1)


@meaning("aten.renorm.default")
def renorm(x: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """x with each part along a dimension made no longer than `maxnorm`."""
    kept, longest = dimension(dim, x.rank), constant(maxnorm)
    lengths = vector_norm(x, p, [d for d in range(x.rank) if d != kept], True)
    return pointwise(lambda e, length: e * _shortened(length, longest), x, lengths)


@meaning("aten.embedding_renorm.default")
def embedding_renorm(weight: Tensor, indices: Tensor, max_norm: float, norm_type: float) -> Tensor:
    """A table with those rows made no longer than `max_norm` that are looked up."""
    if weight.rank != 2:
        raise Unsupported("a table of rows that are no vectors")
    longest, lengths = constant(max_norm), vector_norm(weight, norm_type, 1)

    def element(i: Expr, j: Expr) -> Expr:
        read = folded("any", indices.shape, lambda *k: eq(indices[k], i))
        return where(read, weight[i, j] * _shortened(lengths[i], longest), weight[i, j])

    return tensor(weight.shape, element)
