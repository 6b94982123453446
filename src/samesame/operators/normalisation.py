"""Softmax and the norms: operators that divide by a fold of their own input.

They are written as definitions, not as kernels compute them: softmax is exp(x) / Σ exp(x) without the maximum taken
off first, which over the reals is the same number.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from samesame.formula.expr import NEG_INF, Expr, Unsupported, const, eq, exp, log, power, where
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.graph import Dtype
from samesame.operators.ideal import NO_EMPTY_ROW, filling, leaves_out
from samesame.operators.movement import permute, reshape
from samesame.operators.numbers import constant
from samesame.operators.pointwise import cast, plus, times
from samesame.operators.reduction import centred, extent, mean
from samesame.operators.shapes import agreeing, count, divided, pointwise, reduced
from samesame.operators.table import meaning


@meaning("aten.softmax.int", "aten.special_softmax.default")
def softmax(x: Tensor, dim: int, dtype: Dtype | None = None) -> Tensor:
    """exp(x) / Σ exp(x); undefined where every element of the row is −∞."""
    total = reduced("sum", cast(x, dtype), dim, True, of=exp)
    return pointwise(lambda e, s: exp(e) / s, x, total, kind="real")


@meaning("aten._softmax.default")
def softmax_half(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    return softmax(x, dim)


@meaning("aten._safe_softmax.default")
def safe_softmax(x: Tensor, dim: int, dtype: Dtype | None = None) -> Tensor:
    """Softmax, with zeros where every element of the row is −∞."""
    if leaves_out(NO_EMPTY_ROW):
        return softmax(x, dim)
    given = filling()
    hidden = reduced("all", x, dim, True, of=lambda e: eq(e, NEG_INF), kind="bool")
    return pointwise(lambda h, p: where(h, given, p), hidden, softmax(x, dim), kind="real")


@meaning("aten.log_softmax.int", "aten.special_log_softmax.default")
def log_softmax(x: Tensor, dim: int, dtype: Dtype | None = None) -> Tensor:
    total = reduced("sum", cast(x, dtype), dim, True, of=exp)
    return pointwise(lambda e, s: e - log(s), x, total, kind="real")


@meaning("aten._log_softmax.default")
def log_softmax_half(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
    return log_softmax(x, dim)


# --------------------------------------------------------------------------------------------------------------- norms


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    scaled = x if weight is None else times(x, weight)
    return scaled if bias is None else plus(scaled, bias)


def last_dimensions(x: Tensor, normalized_shape: Sequence[Dim], *weights: Tensor | None) -> tuple[int, ...]:
    """The dimensions at the end that a norm runs over; weights have their shape."""
    n = len(normalized_shape)
    if not n:
        raise Unsupported("a norm over no dimension")
    for shape in (x.shape[-n:], *(w.shape for w in weights if w is not None)):
        agreeing(shape, normalized_shape, "a norm over the last dimensions")
    return tuple(range(x.rank - n, x.rank))


def _inverse_root(x: Tensor, eps: float | Expr) -> Tensor:
    small = constant(eps)
    return pointwise(lambda e: power(e + small, Fraction(-1, 2)), x, kind="real")


def _mean_of_squares(x: Tensor, dims: Sequence[int]) -> Tensor:
    n = const(extent(x, dims))
    return pointwise(lambda e: e / n, reduced("sum", x, dims, True, of=lambda e: e**2), kind="real")


@meaning("aten.rms_norm.default")
def rms_norm(
    x: Tensor, normalized_shape: Sequence[Dim], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    return fused_rms_norm(x, normalized_shape, weight, eps)[0]


@meaning("aten._fused_rms_norm.default")
def fused_rms_norm(
    x: Tensor, normalized_shape: Sequence[Dim], weight: Tensor | None, eps: float | None
) -> tuple[Tensor, Tensor]:
    """x / √(mean(x²) + eps) · weight, and the inverse root by itself."""
    if eps is None:
        raise Unsupported("a norm whose epsilon depends on the dtype")
    scale = _inverse_root(_mean_of_squares(x, last_dimensions(x, normalized_shape, weight)), eps)
    return _affine(times(x, scale), weight, None), scale


@meaning("aten.native_layer_norm.default")
def native_layer_norm(
    x: Tensor, normalized_shape: Sequence[Dim], weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """(x − mean) / √(variance + eps) · weight + bias; the mean; the inverse root."""
    dims = last_dimensions(x, normalized_shape, weight, bias)
    middle = centred(x, dims)
    scale = _inverse_root(_mean_of_squares(middle, dims), eps)
    return _affine(times(middle, scale), weight, bias), mean(x, dims, True), scale


@meaning("aten.layer_norm.default")
def layer_norm(
    x: Tensor,
    normalized_shape: Sequence[Dim],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Tensor:
    return native_layer_norm(x, normalized_shape, weight, bias, eps)[0]


@meaning("aten.native_group_norm.default")
def native_group_norm(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, N: Dim, C: Dim, HxW: Dim, group: Dim, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Each sample's channels in groups, normalised over a group; weight and bias are per channel."""
    divided((x.shape[1],), (group,))                       # a group holds whole channels
    rows = reshape(x, (x.shape[0], group, -1))
    normal, middle, scale = native_layer_norm(rows, (rows.shape[2],), None, None, eps)
    shape = (x.shape[0], group)
    for w in (weight, bias):
        agreeing(x.shape[1:2] if w is None else w.shape, x.shape[1:2], "a number for each channel")
    per_channel = [None if w is None else _channels(w, x.rank) for w in (weight, bias)]
    return _affine(reshape(normal, x.shape), *per_channel), reshape(middle, shape), reshape(scale, shape)


@meaning("aten.group_norm.default")
def group_norm(
    x: Tensor,
    num_groups: Dim,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enabled: bool = True,
) -> Tensor:
    return native_group_norm(x, weight, bias, x.shape[0], x.shape[1], count(x.shape[2:]), num_groups, eps)[0]


@meaning("aten.instance_norm.default")
def instance_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """Each channel of a sample by itself: a group norm whose groups are one channel."""
    if not use_input_stats:
        return native_batch_norm(x, weight, bias, running_mean, running_var, False, momentum, eps)[0]
    return native_group_norm(x, weight, bias, x.shape[0], x.shape[1], count(x.shape[2:]), x.shape[1], eps)[0]


def _channels(w: Tensor, rank: int) -> Tensor:
    """A number per channel, laid along dimension 1 of a tensor of this rank."""
    return reshape(w, (w.shape[0], *(1,) * (rank - 2)))


@meaning("aten._native_batch_norm_legit_no_training.default")
def batch_norm_inference(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """(x − running mean) / √(running variance + eps) · weight + bias; the other results are empty."""
    for w in (running_mean, running_var, weight, bias):
        agreeing(x.shape[1:2] if w is None else w.shape, x.shape[1:2], "a number for each channel")
    scale = _channels(_inverse_root(running_var, eps), x.rank)
    middle = pointwise(lambda e, m: e - m, x, _channels(running_mean, x.rank))
    per_channel = [None if w is None else _channels(w, x.rank) for w in (weight, bias)]
    nothing = tensor((0,), lambda i: 0)
    return _affine(times(middle, scale), *per_channel), nothing, nothing


@meaning("aten.native_batch_norm.default")
def native_batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    if running_mean is None and running_var is None and training:
        return batch_norm_of_batch(x, weight, bias, training, momentum, eps)
    if training or running_mean is None or running_var is None:
        raise Unsupported("batch norm that moves its running statistics")
    return batch_norm_inference(x, weight, bias, running_mean, running_var, momentum, eps)


@meaning("aten._native_batch_norm_legit.no_stats")
def batch_norm_of_batch(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, training: bool, momentum: float, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    """A layer norm of all that a channel holds, over the whole batch; the mean and the inverse root of each channel."""
    if not training:
        raise Unsupported("batch norm without statistics")
    rest = [dim for dim in range(x.rank) if dim != 1]
    rows = permute(x, (1, *rest))
    normal, middle, scale = native_layer_norm(rows, rows.shape[1:], None, None, eps)
    for w in (weight, bias):
        agreeing(x.shape[1:2] if w is None else w.shape, x.shape[1:2], "a number for each channel")
    per_channel = [None if w is None else _channels(w, x.rank) for w in (weight, bias)]
    back = [dim if dim > 1 else 1 - dim for dim in range(x.rank)]
    return (_affine(permute(normal, back), *per_channel), reshape(middle, x.shape[1:2]), reshape(scale, x.shape[1:2]))


@meaning("aten.batch_norm.default")
def batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    return native_batch_norm(x, weight, bias, running_mean, running_var, training, momentum, eps)[0]


# ------------------------------------------------------------------------------------------------------------- dropout


@meaning("aten.dropout.default", "aten.feature_dropout.default", "aten.alpha_dropout.default")
def dropout(x: Tensor, p: float, train: bool) -> Tensor:
    """Nothing happens at inference, or where nothing is dropped."""
    if train and p:
        raise Unsupported("dropout in training is random")
    return x


@meaning("aten.native_dropout.default")
def native_dropout(x: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    if (train is None or train) and p:
        raise Unsupported("dropout in training is random")
    return x, tensor(x.shape, lambda *i: True, "bool")
