"""What each operator adds to rounding, as tables: for the running error analysis of the oracle.

An operator that sums K products for an element rounds about √K times, and no more than the sum of the products'
magnitudes lets it. How many it sums is in `TERMS`, by a function of the node; a norm counts, as it grows with
magnitudes. Some operators compute something inside of something else: they are as if what they read were off
(`INSIDE`); what solves equations is so for all elements of a matrix alike (`NORMWISE`; Higham, "Accuracy and Stability
of Numerical Algorithms", 2002, theorem 9.4). Some do not round at all (`EXACT`). All else rounds once, as it stores its
result, and its numbers are rounded before it reads them. What an operator makes of an error that it reads is tried, but
where that is known (`REACHES`): of what is linear, and of what lets an error reach a whole row.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial, reduce
from typing import Any, NamedTuple

import torch

from samesame.graph import Node


def called(node: Node) -> str:
    """The operator's name without its namespace and overload."""
    return node.operator.split(".")[1] if "." in node.operator else node.operator


def unit(dtype: str) -> float:
    """Half a unit in the last place of 1: what rounding to this dtype may do, relatively."""
    kind = getattr(torch, dtype)
    return torch.finfo(kind).eps / 2 if kind.is_floating_point else 0.0


FLOAT32 = unit("float32")                                  # CPU kernels sum in no less


def terms(node: Node) -> float:
    """How many terms an operator sums for an element of its result."""
    return max(1.0, TERMS[called(node)](node)) if called(node) in TERMS and node.inputs else 1.0


# -------------------------------------------------------------------------------------------- how many terms are summed


def last_of(place: int) -> Callable[[Node], float]:
    """As many as the last dimension of this argument has, and those before it."""
    return lambda node: place + (node.args[place].shape[-1] if node.args[place].shape else 1)


def along(node: Node) -> float:
    """As many as there are along a dimension that is an argument."""
    dim = (*node.args, node.kwargs.get("dim"))[1]
    shape: tuple[int, ...] = node.args[0].shape
    return shape[dim] if shape and isinstance(dim, int) else math.prod(shape)


def magnitude(x: torch.Tensor) -> torch.Tensor:
    """What errors are relative to; what is infinite has none. A truth is a number."""
    x = x.double() if x.dtype is torch.bool else x
    return x.abs() if bool(x.sum().isfinite()) else torch.where(x.isinf(), 0.0, x.abs())


def around(x: torch.Tensor, node: Node) -> torch.Tensor:
    """What an error inside the operator is relative to, where it reads x: the element, or the largest of its matrix."""
    sizes = magnitude(x)
    if called(node) not in NORMWISE or not x.dim() or not x.numel():
        return sizes
    return sizes.amax((-2, -1) if x.dim() > 1 else -1, keepdim=True).expand(x.shape)


def for_each(node: Node) -> float:
    """As many as there are elements of what is read for each of the result."""
    outputs = node.type if isinstance(node.type, tuple) else (node.type,)
    return max(math.prod(part.shape) for part in node.inputs) / max(math.prod(outputs[0].shape), 1)


def contracted(node: Node) -> float:
    """Those of an einsum's letters that are not in its result. A name that stands for several dimensions is none."""
    equation, operands = node.args[0].replace(" ", ""), node.args[1]
    reads, arrow, result = equation.partition("->")
    extents = dict[str, int]()
    for letters, operand in zip(reads.split(","), operands, strict=True):
        before, dots, after = letters.partition("...")
        extents |= dict(zip(before, operand.shape, strict=False))
        if dots and after:
            extents |= dict(zip(after, operand.shape[-len(after) :], strict=True))
    if not arrow:
        result = "".join(letter for letter, times in Counter(reads).items() if times == 1)
    return math.prod(extent for letter, extent in extents.items() if letter not in result)


def of_filter(node: Node) -> float:
    """The elements of a convolution's weight for each channel of its result, and its bias."""
    weight: tuple[int, ...] = node.args[1].shape
    return 1 + math.prod(weight) / max(node.shape[len(node.shape) - len(weight) + 1], 1)


def of_window(node: Node) -> float:
    """The elements of a pool's window, which is one size for all dimensions or one for each."""
    kernel = node.args[1] if isinstance(node.args[1], tuple) else (node.args[1],)
    return math.prod(kernel * int(called(node)[-2]) if len(kernel) == 1 else kernel)


def added(node: Node) -> float:
    """Those along the dimension in which they are added to another tensor, if all went to one place."""
    source, dim = node.args[3] if len(node.args) > 3 else node.args[2], node.args[1]
    return 1.0 + (source.shape[dim] if isinstance(source, Node) and source.shape else 1)


def of_row(node: Node) -> float:
    """The elements of a row of what is read first."""
    return node.inputs[0].shape[-1] if node.inputs[0].shape else 1


def of_batch(node: Node) -> float:
    """Those of a channel, or of a group, whose mean and variance are taken; 1 where these are given."""
    x = node.inputs[0].shape
    if called(node).endswith("group_norm"):
        return math.prod(x[1:])
    training = called(node) != "_native_batch_norm_legit_no_training" and (*node.args, *(True,) * 6)[5]
    return math.prod(x) / max(*x[1:2], 1, 1) if training else 1


def one(_: Node) -> float:
    return 1


NORMWISE = (
    "_linalg_solve_ex", "linalg_solve_ex", "linalg_solve", "linalg_inv_ex", "linalg_inv", "linalg_solve_triangular",
    "triangular_solve", "linalg_cholesky_ex", "linalg_cholesky", "cholesky_solve", "cholesky_inverse", "linalg_lstsq",
    "_linalg_det", "linalg_det", "_linalg_slogdet", "linalg_slogdet", "logdet", "linalg_qr", "_linalg_eigh",
    "linalg_eigh", "_linalg_svd", "linalg_svd",
)
Terms = Callable[[Node], float]
TERMS: dict[str, Terms] = {
    **dict.fromkeys(("mm", "bmm", "matmul", "linear", "mv", "dot", "vdot", "inner"), last_of(0)),
    **dict.fromkeys(("addmm", "baddbmm", "addmv", "addbmm"), last_of(1)),
    **dict.fromkeys(("sum", "mean", "nansum", "prod", "trace", "norm", "linalg_vector_norm", "linalg_matrix_norm",
                     "linalg_norm"), for_each),
    **dict.fromkeys(("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "_adaptive_avg_pool2d",
                     "_adaptive_avg_pool3d"), lambda node: 8 * for_each(node)),       # windows overlap: two more a side
    **dict.fromkeys(("cumsum", "cumprod"), along),
    **dict.fromkeys(("avg_pool1d", "avg_pool2d", "avg_pool3d"), of_window),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "convolution", "conv_transpose1d", "conv_transpose2d",
                     "conv_transpose3d"), of_filter),
    **dict.fromkeys(("scatter_add", "index_add"), added),
    "col2im": for_each,
    "einsum": contracted,
}
INSIDE: dict[str, Terms] = {                               # how many terms are summed inside
    **dict.fromkeys(("softmax", "_softmax", "_safe_softmax", "log_softmax", "_log_softmax", "logsumexp", "layer_norm",
                     "native_layer_norm", "rms_norm", "_fused_rms_norm", "scaled_dot_product_attention",
                     "_scaled_dot_product_flash_attention_for_cpu", "_scaled_dot_product_attention_math",
                     "_euclidean_dist", "_cdist_forward", "cosine_similarity", "_weight_norm_interface",
                     "affine_grid_generator"), of_row),
    **dict.fromkeys(("grid_sampler", "grid_sampler_2d", "grid_sampler_3d"), lambda node: 16 * of_row(node)),
    **dict.fromkeys(("var", "std", "var_mean", "std_mean", "cross_entropy_loss", "nll_loss", "kl_div", "mse_loss",
                     "binary_cross_entropy", "smooth_l1_loss", "huber_loss", "_embedding_bag",
                     "_embedding_bag_forward_only", "embedding_bag"), for_each),
    **dict.fromkeys(("batch_norm", "native_batch_norm", "_native_batch_norm_legit_no_training", "instance_norm",
                     "group_norm", "native_group_norm"), of_batch),
    **dict.fromkeys(("gelu", "addcmul", "addcdiv", "addr", "lerp", "logaddexp", "logaddexp2", "logit", "sinc", "glu",
                     "softplus", "digamma", "linalg_cross"), one),
    **dict.fromkeys(NORMWISE, of_row),
}
LARGE_INSIDE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {      # what cancels inside is as large as this of x
    "gelu": torch.abs, "log_softmax": torch.ones_like, "_log_softmax": torch.ones_like,
}
EXACT = frozenset((                                        # beside those that only move elements
    "where", "neg", "abs", "relu", "amax", "amin", "max", "maximum", "minimum", "index_select", "gather", "masked_fill",
))


# ------------------------------------------------------------------------------- what is made of an error, where known

Values = Mapping[str, Any]
Reach = Callable[[Node, Values, torch.Tensor], torch.Tensor | None]     # None where that has to be tried after all


def as_it_is(node: Node, known: Values, error: torch.Tensor) -> torch.Tensor:
    return error


def times_alpha(node: Node, known: Values, error: torch.Tensor) -> torch.Tensor:
    alpha = node.kwargs.get("alpha", 1)
    return error if alpha == 1 else error * abs(alpha)


def times(place: int) -> Reach:
    return lambda node, known, error: error * _size(node.args[place], known)


def over(place: int) -> Reach:
    return lambda node, known, error: error / _size(node.args[place], known)


def chosen(node: Node, known: Values, error: torch.Tensor, one: bool) -> torch.Tensor:
    return torch.where(known[node.args[0].name] == one, error, 0.0)


def of_softmax(node: Node, known: Values, error: torch.Tensor) -> torch.Tensor:
    y: torch.Tensor = known[node.name]
    return y * (error + (y * error).sum(node.args[1], keepdim=True))


def of_log_softmax(node: Node, known: Values, error: torch.Tensor) -> torch.Tensor:
    y: torch.Tensor = known[node.name].exp()
    return error + (y * error).sum(node.args[1], keepdim=True)


class Norm(NamedTuple):
    """Where a norm has its weight and its epsilon, and the rows of what it reads that have a mean of their own."""

    weight: int
    eps: int
    rows: Callable[[Node, torch.Tensor], torch.Tensor]

    def rules(self) -> tuple[Reach | None, ...]:
        """For what it reads, its weight and its bias."""
        return (self.of_read, *(None,) * (self.weight - 1), self.of_weight, self.of_bias)

    def standard(self, node: Node, known: Values) -> tuple[torch.Tensor, torch.Tensor]:
        """(x − μ)/σ in rows, and 1/σ."""
        x = self.rows(node, known[node.args[0].name])
        of_eps = node.args[self.eps] if len(node.args) > self.eps else node.kwargs.get("eps", 1e-5)
        variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
        inverse = (variance + of_eps).rsqrt()
        return (x - mean) * inverse, inverse

    def of_read(self, node: Node, known: Values, error: torch.Tensor) -> torch.Tensor | None:
        """y = (x − μ)/σ·w: what e makes of y is w/σ·(e − mean e − y·mean(y·e)). Signs are at random, so that a mean of
        n errors comes to about their root mean square over √n, and seldom to much more. An error as large as σ is
        tried."""
        shape = node.args[0].shape
        y, inverse = self.standard(node, known)
        e = self.rows(node, error.expand(shape)) * inverse
        if not bool((e < SMALL).all()):
            return None
        off = e + SELDOM * (_of_mean(e) + y.abs() * _of_mean(y * e))
        scale = node.args[self.weight] if len(node.args) > self.weight else None
        return off.reshape(shape) * (_along(node, known[scale.name].abs()) if isinstance(scale, Node) else 1)

    def of_weight(self, node: Node, known: Values, error: torch.Tensor) -> torch.Tensor:
        return self.standard(node, known)[0].abs().reshape(node.args[0].shape) * _along(node, error)

    def of_bias(self, node: Node, known: Values, error: torch.Tensor) -> torch.Tensor:
        return _along(node, error)


def _along(node: Node, scale: torch.Tensor) -> torch.Tensor:
    """A weight or a bias beside what a norm reads: channels come second, but in a layer norm."""
    rank = len(node.args[0].shape)
    return scale if called(node) == "layer_norm" or not scale.dim() else scale.reshape(-1, *(1,) * (rank - 2))


SMALL, SELDOM = 0.05, 1.5                                  # of σ; times the deviation of a mean


def _of_mean(errors: torch.Tensor) -> torch.Tensor:
    """The deviation of the mean of a row of errors, whose signs are at random."""
    return errors.square().sum(-1, keepdim=True).sqrt() / errors.shape[-1]


REACHES: dict[str, tuple[Reach | None, ...]] = {           # for each argument; None where it is tried
    "add": (as_it_is, times_alpha), "sub": (as_it_is, times_alpha), "rsub": (times_alpha, as_it_is),
    "mul": (times(1), times(0)), "div": (over(1), None), "neg": (as_it_is,), "abs": (as_it_is,),
    "where": (None, partial(chosen, one=True), partial(chosen, one=False)),
    **dict.fromkeys(("softmax", "_softmax", "_safe_softmax"), (of_softmax,)),
    **dict.fromkeys(("log_softmax", "_log_softmax"), (of_log_softmax,)),
    "layer_norm": Norm(2, 4, lambda node, x: x.flatten(x.dim() - len(node.args[1]))).rules(),
    "instance_norm": Norm(1, 7, lambda node, x: x.flatten(2)).rules(),
    "group_norm": Norm(2, 4, lambda node, x: x.reshape(x.shape[0], node.args[1], -1)).rules(),
}


def reached(node: Node, known: Values, name: str, error: Any) -> torch.Tensor | None:
    """What an error in a tensor makes of the result, wherever it is an argument; None where that has to be tried."""
    rules = REACHES.get(called(node), ())
    places = [place for place, argument in enumerate(node.args) if isinstance(argument, Node) and argument.name == name]
    own = [rule for place in places if place < len(rules) and (rule := rules[place]) is not None]
    if len(own) < sum(part.name == name for part in node.inputs) or node.kwargs.get("rounding_mode") is not None:
        return None
    value: torch.Tensor = known[node.name]
    made = [each.expand(value.shape) for rule in own if (each := rule(node, known, error)) is not None]
    return reduce(torch.add, made) if len(made) == len(own) else None


def of_numbers(node: Node, known: Values, by: float) -> Iterator[torch.Tensor | Node]:
    """For each number that no dtype holds as it is written, and is off by this much of it: what that makes of the
    result, or where it has to be tried, the node with another number."""
    rules = REACHES.get(called(node), ())
    if not node.inputs:                                    # of numbers alone: how many there are may hang on them
        return
    for place, number in enumerate(node.args):
        if not _is_rounded(number):
            continue
        if place < len(rules) and (rule := rules[place]) is not None:
            value = known[node.name]
            made = rule(node, known, value.new_tensor(by * abs(number)))
            assert made is not None, "of a number"
            yield made.expand(value.shape)
        else:
            yield replace(node, args=(*node.args[:place], number * (1 + by), *node.args[place + 1 :]))
    for name, number in node.kwargs.items():
        if _is_rounded(number):
            yield replace(node, kwargs={**node.kwargs, name: number * (1 + by)})


def _size(argument: Any, known: Values) -> Any:
    return magnitude(known[argument.name]) if isinstance(argument, Node) else abs(argument)


def _is_rounded(number: Any) -> bool:
    return isinstance(number, float) and math.isfinite(number) and number != torch.tensor(number).bfloat16().item()


def magnified(node: Node) -> Node:
    """The node whose terms do not cancel where what it reads has no signs."""
    numbers = {name: abs(number) for name, number in node.kwargs.items() if name in ("alpha", "beta", "value")}
    return replace(node, kwargs={**node.kwargs, **numbers}) if numbers else node
