"""Derivatives that torch has operators for: what the gradient of an operator's result makes of its arguments'.

Each says in closed form what differentiation gives; `grad` is the gradient of the operator's result. Most derivatives
need no operator of their own: they are products, sums and movements.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from samesame.formula.expr import PI, Expr, Unsupported, and_, eq, erf, exp, le, lt, not_, sqrt, where
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.graph import Dtype
from samesame.operators.ideal import line_left_out
from samesame.operators.normalisation import last_dimensions
from samesame.operators.numbers import constant
from samesame.operators.pointwise import sigmoid, tanh, times
from samesame.operators.reduction import mean, sum_
from samesame.operators.shapes import agreeing, folded, pointwise
from samesame.operators.table import meaning

CUBIC = Fraction("0.044715")                               # of GELU's approximation by tanh


@meaning("aten.gelu_backward.default")
def gelu_backward(grad: Tensor, x: Tensor, *, approximate: str = "none") -> Tensor:
    """grad · (Φ(x) + x·φ(x)) for the normal distribution Φ and its density φ; or the same of the approximation."""

    def exact(e: Expr) -> Expr:
        return (1 + erf(e / sqrt(2))) / 2 + e * exp(-(e**2) / 2) / sqrt(2 * PI)

    def approximated(e: Expr) -> Expr:
        inner = tanh(sqrt(2 / PI) * (e + CUBIC * e**3))
        return (1 + inner) / 2 + e / 2 * (1 - inner**2) * sqrt(2 / PI) * (1 + 3 * CUBIC * e**2)

    slope = approximated if approximate == "tanh" else exact
    return pointwise(lambda g, e: g * slope(e), grad, x, kind="real")


@meaning("aten.softplus_backward.default")
def softplus_backward(grad: Tensor, x: Tensor, beta: float | Expr, threshold: float | Expr) -> Tensor:
    """grad · σ(βx); grad itself where βx is above the threshold, where softplus is a line."""
    b, line = constant(beta), constant(threshold)
    if line_left_out("softplus's slope", beta, threshold):
        return pointwise(lambda g, e: g * sigmoid(b * e), grad, x, kind="real")
    return pointwise(lambda g, e: where(lt(line, b * e), g, g * sigmoid(b * e)), grad, x, kind="real")


@meaning("aten.hardshrink_backward.default", "aten.softshrink_backward.default")
def shrink_backward(grad: Tensor, x: Tensor, lambd: float | Expr) -> Tensor:
    """grad where x is further from 0 than λ."""
    threshold = constant(lambd)
    return pointwise(lambda g, e: where(and_(le(-threshold, e), le(e, threshold)), 0, g), grad, x, kind="real")


@meaning("aten._softmax_backward_data.default")
def softmax_backward(grad: Tensor, output: Tensor, dim: int, input_dtype: Dtype) -> Tensor:
    """(grad − Σ grad·p) · p for the softmax p."""
    total = sum_(times(grad, output), dim, True)
    return pointwise(lambda g, s, p: (g - s) * p, grad, total, output, kind="real")


@meaning("aten._log_softmax_backward_data.default")
def log_softmax_backward(grad: Tensor, output: Tensor, dim: int, input_dtype: Dtype) -> Tensor:
    """grad − exp(p) · Σ grad for the logarithm p of the softmax."""
    return pointwise(lambda g, s, p: g - exp(p) * s, grad, sum_(grad, dim, True), output, kind="real")


@meaning("aten.native_layer_norm_backward.default")
def native_layer_norm_backward(
    grad: Tensor,
    x: Tensor,
    normalized_shape: Sequence[Dim],
    mean_: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: Sequence[bool],
) -> tuple[Tensor, Tensor, Tensor]:
    """With n = (x − mean)·rstd and g = grad·weight: rstd·(g − mean(g) − n·mean(g·n)), Σ grad·n and Σ grad.

    The mean and the inverse root are taken as they are given, whatever they are of x.
    """
    if weight is None or not all(output_mask):
        raise Unsupported("a norm's gradients, of which some are not asked for")
    dims = last_dimensions(x, normalized_shape, weight, bias)
    agreeing(grad.shape, x.shape, "a gradient of a norm's result")
    rows = tuple(d for d in range(x.rank) if d not in dims)
    normal = pointwise(lambda e, m, r: (e - m) * r, x, mean_, rstd)
    scaled = times(grad, weight)
    along = mean(scaled, dims, True), mean(times(scaled, normal), dims, True)
    of_x = pointwise(lambda r, g, a, n, b: r * (g - a - n * b), rstd, scaled, along[0], normal, along[1], kind="real")
    of_weight, of_bias = (sum_(t, rows) if rows else t for t in (times(grad, normal), grad))
    return of_x, of_weight, of_bias


@meaning("aten.embedding_dense_backward.default")
def embedding_dense_backward(
    grad: Tensor, indices: Tensor, num_weights: Dim, padding_idx: Dim, scale_grad_by_freq: bool
) -> Tensor:
    """Each row of the table takes the sum of the gradients at the places that looked it up; the padding's row none."""
    if scale_grad_by_freq:
        raise Unsupported("gradients of an embedding over how often a row is looked up")
    agreeing(grad.shape[: indices.rank], indices.shape, "a gradient for each row that was looked up")

    def element(row: Expr, *rest: Expr) -> Expr:
        def found(*i: Expr) -> Expr:
            here = and_(eq(indices[i], row), not_(eq(row, padding_idx)))
            return where(here, grad[(*i, *rest)], 0)

        return folded("sum", indices.shape, found)

    return tensor((num_weights, *grad.shape[indices.rank :]), element)
