"""What benchmarks/lift.py lifts: core operators of two libraries of Triton kernels, flag-gems and liger-kernel.

Each entry names a function of the library, example arguments, and what it should compute, in torch. Sizes are distinct,
mostly primes, so that no two are taken for one by accident. Some entries launch several kernels.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import torch
import torch.nn.functional as F

M, N, K, B, H = 37, 101, 53, 3, 5


@dataclass(frozen=True)
class Operator:
    """`library.module:function`, a function that makes its arguments, and the reference over the same arguments."""

    name: str
    path: str
    arguments: Callable[[], tuple[Any, ...]]
    reference: Callable[..., Any] | None

    def function(self) -> Callable[..., Any]:
        module, _, name = self.path.partition(":")
        return attrgetter(name)(importlib.import_module(module))


def normal(*shape: int) -> torch.Tensor:
    return torch.randn(shape)


def positive(*shape: int) -> torch.Tensor:
    return torch.rand(shape) + 0.5


def unit(*shape: int) -> torch.Tensor:
    return torch.rand(shape) * 1.8 - 0.9


def whole(high: int, *shape: int, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.randint(0, high, shape).to(dtype)


def yes_or_no(*shape: int) -> torch.Tensor:
    return torch.rand(shape) > 0.5


FLAG = "flag_gems.ops"
FUSED = "flag_gems.fused"
LIGER = "liger_kernel.ops"


def torchs(name: str) -> Callable[..., Any]:
    """torch's function of this name."""
    for place in (torch, F, torch.special, torch.linalg):
        if hasattr(place, name):
            return getattr(place, name)
    raise AttributeError(f"torch has no {name}")


def one(names: str, make: Callable[..., torch.Tensor] = normal) -> list[Operator]:
    """Functions of one matrix."""
    return [Operator(n, f"{FLAG}:{n}", lambda: (make(M, N),), torchs(n.rstrip("_"))) for n in names.split()]


def two(names: str, make: Callable[..., torch.Tensor] = normal) -> list[Operator]:
    """Functions of two matrices."""
    return [Operator(n, f"{FLAG}:{n}", lambda: (make(M, N), make(M, N)), torchs(n)) for n in names.split()]


def op(name: str, arguments: Callable[[], tuple[Any, ...]], reference: Any = None, path: str = "") -> Operator:
    return Operator(name, path or f"{FLAG}:{name}", arguments, reference or torchs(name))


def unchecked(name: str, arguments: Callable[[], tuple[Any, ...]], path: str = "") -> Operator:
    """An operator that torch has no counterpart of: random ones, ones in place."""
    return Operator(name, path or f"{FLAG}:{name}", arguments, None)


POINTWISE = [
    *one("abs angle atan ceil celu cos cosh elu erf exp exp2 expm1 gelu hardsigmoid isfinite isinf isnan isneginf"),
    op("log_sigmoid", lambda: (normal(M, N),), F.logsigmoid),
    *one("logical_not nan_to_num neg reciprocal relu relu6 round selu sigmoid signbit silu sin softplus softshrink"),
    *one("square tan tanh i0"),
    *one("log log10 rsqrt sqrt", positive),
    *one("acos arcsinh", unit),
    op("hardswish_", lambda: (normal(M, N),), F.hardswish),
    op("sinh_", lambda: (normal(M, N),), torch.sinh),
    op("log1p_", lambda: (positive(M, N),), torch.log1p),
    op("floor_", lambda: (normal(M, N),), torch.floor),
    op("logit", lambda: (torch.rand(M, N) * 0.8 + 0.1,), torch.logit),
    op("threshold", lambda: (normal(M, N), 0.25, 1.5), F.threshold),
    op("bitwise_not", lambda: (whole(99, M, N, dtype=torch.int32),), torch.bitwise_not),
    *two("add sub mul maximum minimum eq ne gt ge lt le fmin hypot logical_and logical_or logical_xor atan2 copysign"),
    *two("isclose logaddexp"),
    op("true_divide", lambda: (normal(M, N), positive(M, N)), torch.div),
    op("pow_tensor_tensor", lambda: (positive(M, N), normal(M, N)), torch.pow),
    op("pow_tensor_scalar", lambda: (positive(M, N), 3), torch.pow),
    op("pow_scalar", lambda: (2, normal(M, N)), torch.pow),
    op("floor_divide", lambda: (whole(99, M, N, dtype=torch.int32), whole(9, M, N, dtype=torch.int32) + 1),
       torch.floor_divide),
    op("remainder", lambda: (whole(99, M, N, dtype=torch.int32), whole(9, M, N, dtype=torch.int32) + 1),
       torch.remainder),
    op("bitwise_and_tensor", lambda: (whole(99, M, N, dtype=torch.int32), whole(99, M, N, dtype=torch.int32)),
       torch.bitwise_and),
    op("lerp_tensor", lambda: (normal(M, N), normal(M, N), normal(M, N)), torch.lerp),
    op("lerp_scalar", lambda: (normal(M, N), normal(M, N), 0.3), torch.lerp),
    op("clamp", lambda: (normal(M, N), -0.5, 0.5), torch.clamp),
    op("clamp_tensor", lambda: (normal(M, N), normal(M, N), normal(M, N)), torch.clamp),
    op("addcmul", lambda: (normal(M, N), normal(M, N), normal(M, N)), torch.addcmul),
    op("addcdiv", lambda: (normal(M, N), normal(M, N), positive(M, N)), torch.addcdiv),
    op("where_self", lambda: (yes_or_no(M, N), normal(M, N), normal(M, N)), torch.where),
    op("masked_fill", lambda: (normal(M, N), yes_or_no(M, N), 0.5), torch.masked_fill),
    op("prelu", lambda: (normal(B, H, N), normal(H)), F.prelu),
    op("glu", lambda: (normal(M, 2 * N),), F.glu),
    op("polar", lambda: (positive(M, N), normal(M, N)), torch.polar),
    op("gelu_backward", lambda: (normal(M, N), normal(M, N)), torch.ops.aten.gelu_backward),
    op("silu_backward", lambda: (normal(M, N), normal(M, N)), torch.ops.aten.silu_backward),
    op("sigmoid_backward", lambda: (normal(M, N), torch.rand(M, N)), torch.ops.aten.sigmoid_backward),
    op("tanh_backward", lambda: (normal(M, N), unit(M, N)), torch.ops.aten.tanh_backward),
    op("threshold_backward", lambda: (normal(M, N), normal(M, N), 0.1), torch.ops.aten.threshold_backward),
    op("silu_and_mul", lambda: (normal(M, N), normal(M, N)), lambda x, y: F.silu(x) * y, f"{FUSED}:silu_and_mul"),
    op("gelu_and_mul", lambda: (normal(M, N), normal(M, N)), lambda x, y: F.gelu(x) * y, f"{FUSED}:gelu_and_mul"),
]

REDUCTIONS = [
    *one("sum mean max min prod argmax argmin all any amax count_nonzero std var"),
    op("sum_dim", lambda: (normal(M, N), [1]), torch.sum),
    op("sum_dim first", lambda: (normal(M, N), [0]), torch.sum, f"{FLAG}:sum_dim"),
    op("mean_dim", lambda: (normal(M, N), [1]), torch.mean),
    op("amax dim", lambda: (normal(M, N), [1]), torch.amax, f"{FLAG}:amax"),
    op("max_dim", lambda: (normal(M, N), 1), torch.max),
    op("min_dim", lambda: (normal(M, N), 1), torch.min),
    op("prod_dim", lambda: (normal(M, N), 1), torch.prod),
    op("argmax dim", lambda: (normal(M, N), 1), torch.argmax, f"{FLAG}:argmax"),
    op("argmin dim", lambda: (normal(M, N), 1), torch.argmin, f"{FLAG}:argmin"),
    op("all_dim", lambda: (yes_or_no(M, N), 1), torch.all),
    op("any_dim", lambda: (yes_or_no(M, N), 1), torch.any),
    op("var_mean", lambda: (normal(M, N), [1]), torch.var_mean),
    op("var_dim", lambda: (normal(M, N), [1]), torch.var),
    op("vector_norm", lambda: (normal(M, N), 2, [1]), torch.linalg.vector_norm),
    op("trace", lambda: (normal(M, N),), torch.trace),
    op("softmax", lambda: (normal(M, N), -1), torch.softmax),
    op("softmax first", lambda: (normal(M, N), 0), torch.softmax, f"{FLAG}:softmax"),
    op("softmax_backward", lambda: (normal(M, N), torch.softmax(normal(M, N), -1), -1, torch.float32),
       torch.ops.aten._softmax_backward_data),
    op("log_softmax", lambda: (normal(M, N), -1), torch.log_softmax),
    op("log_softmax_backward", lambda: (normal(M, N), torch.log_softmax(normal(M, N), -1), -1, torch.float32),
       torch.ops.aten._log_softmax_backward_data),
    op("cumsum", lambda: (normal(M, N), 1), torch.cumsum),
    op("cummax", lambda: (normal(M, N), 1), torch.cummax),
    op("normed_cumsum", lambda: (positive(M, N),), lambda x: torch.cumsum(x, -1) / x.sum(-1, keepdim=True)),
    op("mse_loss", lambda: (normal(M, N), normal(M, N)), F.mse_loss),
    op("soft_margin_loss", lambda: (normal(M, N), normal(M, N).sign()), F.soft_margin_loss),
    op("nll_loss_forward", lambda: (normal(M, N), whole(N, M)), lambda x, t: torch.ops.aten.nll_loss_forward(
        x, t, None, 1, -100)),
    op("topk", lambda: (normal(M, 64), 4), torch.topk),
    op("sort", lambda: (normal(M, 64),), torch.sort),
    op("isin", lambda: (whole(9, M), whole(9, 7)), torch.isin),
    op("equal", lambda: (normal(M, N), normal(M, N)), torch.equal),
]

CONTRACTIONS = [
    op("mm", lambda: (normal(M, K), normal(K, N)), torch.mm),
    op("bmm", lambda: (normal(B, M, K), normal(B, K, N)), torch.bmm),
    op("addmm", lambda: (normal(N), normal(M, K), normal(K, N)), torch.addmm),
    op("baddbmm", lambda: (normal(B, M, N), normal(B, M, K), normal(B, K, N)), torch.baddbmm),
    op("mv", lambda: (normal(M, N), normal(N)), torch.mv),
    op("addmv", lambda: (normal(M), normal(M, N), normal(N)), torch.addmv),
    op("dot", lambda: (normal(N), normal(N)), torch.dot),
    op("vdot", lambda: (normal(N), normal(N)), torch.vdot),
    op("addr", lambda: (normal(M, N), normal(M), normal(N)), torch.addr),
    op("outer", lambda: (normal(M), normal(N)), torch.outer, f"{FUSED}:outer"),
    op("kron", lambda: (normal(3, 5), normal(7, 11)), torch.kron),
    op("conv1d", lambda: (normal(2, 3, 29), normal(5, 3, 4)), F.conv1d),
    op("conv2d", lambda: (normal(2, 3, 13, 17), normal(5, 3, 3, 3)), F.conv2d),
    op("scaled_dot_product_attention", lambda: (normal(2, 3, 37, 64), normal(2, 3, 37, 64), normal(2, 3, 37, 64)),
       F.scaled_dot_product_attention),
]

NORMS = [
    op("layer_norm", lambda: (normal(M, N), [N], normal(N), normal(N)), F.layer_norm),
    op("layer_norm_backward", lambda: (normal(M, N), normal(M, N), [N], normal(M, 1), positive(M, 1), normal(N),
                                       normal(N), [True, True, True]), torch.ops.aten.native_layer_norm_backward),
    op("rms_norm", lambda: (normal(M, N), [N], normal(N), 1e-5), F.rms_norm),
    op("group_norm", lambda: (normal(B, 6, 35), normal(6), normal(6), B, 6, 35, 2),
       lambda *a: torch.ops.aten.native_group_norm(*a, 1e-5)),
    op("batch_norm", lambda: (normal(11, H, 13), normal(H), normal(H), torch.zeros(H), torch.ones(H), True),
       lambda x, w, b, m, v, t: F.batch_norm(x, m, v, w, b, t)),
    op("weight_norm_interface", lambda: (normal(M, N), positive(M, 1)), torch.ops.aten._weight_norm_interface),
    op("skip_layer_norm", lambda: (normal(M, N), normal(M, N), [N], normal(N), normal(N)),
       lambda x, r, s, w, b: F.layer_norm(x + r, s, w, b), f"{FUSED}:skip_layer_norm"),
    op("fused_add_rms_norm", lambda: (normal(M, N), normal(M, N), [N], normal(N)),
       lambda x, r, s, w: (F.rms_norm(x + r, s, w, 1e-5), x + r), f"{FUSED}:fused_add_rms_norm"),
    op("instance_norm", lambda: (normal(B, H, 35), normal(H), normal(H)),
       lambda x, w, b: F.instance_norm(x, weight=w, bias=b), f"{FUSED}:instance_norm"),
    op("weight_norm", lambda: (normal(M, N), positive(M, 1)), torch._weight_norm, f"{FUSED}:weight_norm"),
]

MOVEMENTS = [
    op("embedding", lambda: (normal(N, K), whole(N, M)), lambda w, i: F.embedding(i, w)),
    op("index_select", lambda: (normal(M, N), 0, whole(M, 11)), torch.index_select),
    op("gather", lambda: (normal(M, N), 1, whole(N, M, 11)), torch.gather),
    op("scatter", lambda: (normal(M, N), 1, torch.rand(M, 11).argsort(1), normal(M, 11)), torch.scatter),
    op("flip", lambda: (normal(M, N), [1]), torch.flip),
    op("roll", lambda: (normal(M, N), [7], [1]), torch.roll),
    op("repeat", lambda: (normal(M, N), [2, 3]), lambda x, r: x.repeat(r)),
    op("tile", lambda: (normal(M, N), [2, 3]), torch.tile),
    op("repeat_interleave_self_int", lambda: (normal(M, N), 3, 1), torch.repeat_interleave),
    op("cat", lambda: ([normal(M, N), normal(M, K)], 1), torch.cat),
    op("stack", lambda: ([normal(M, N), normal(M, N)], 0), torch.stack),
    op("hstack", lambda: ([normal(M, N), normal(M, K)],), torch.hstack),
    op("vstack", lambda: ([normal(M, N), normal(K, N)],), torch.vstack),
    *one("triu tril"),
    op("diag", lambda: (normal(N),), torch.diag),
    op("diag_embed", lambda: (normal(M, N),), torch.diag_embed),
    op("pad", lambda: (normal(M, N), [2, 3]), F.pad),
    op("eye", lambda: (N,), torch.eye),
    op("arange", lambda: (N,), torch.arange),
    op("linspace", lambda: (0.0, 1.0, N), torch.linspace),
    op("full", lambda: ((M, N), 0.5), torch.full),
    op("ones", lambda: ((M, N),), torch.ones),
    op("zeros", lambda: ((M, N),), torch.zeros),
    op("ones_like", lambda: (normal(M, N),), torch.ones_like),
    op("zeros_like", lambda: (normal(M, N),), torch.zeros_like),
    op("full_like", lambda: (normal(M, N), 0.5), torch.full_like),
    op("fill_scalar", lambda: (normal(M, N), 0.5), torch.fill),
    op("one_hot", lambda: (whole(9, M), 9), F.one_hot),
    op("to_copy", lambda: (normal(M, N),), lambda x: x.clone()),
    op("select_scatter", lambda: (normal(M, N), normal(N), 0, 3), torch.select_scatter),
    op("slice_scatter", lambda: (normal(M, N), normal(M, 11), 1, 5, 16), torch.slice_scatter),
    op("index_add", lambda: (normal(M, N), 0, torch.randperm(M)[:11], normal(11, N)), torch.index_add),
    op("masked_select", lambda: (normal(M, N), yes_or_no(M, N)), torch.masked_select),
    op("nonzero", lambda: (yes_or_no(M, N),), torch.nonzero),
    op("constant_pad_nd", lambda: (normal(M, N), [2, 3], 0.5), torch.constant_pad_nd),
    op("reflection_pad1d", lambda: (normal(B, H, N), [2, 3]), partial(F.pad, mode="reflect")),
    op("replication_pad1d", lambda: (normal(B, H, N), [2, 3]), partial(F.pad, mode="replicate")),
    op("pixel_unshuffle", lambda: (normal(B, H, 6, 10), 2), F.pixel_unshuffle),
    op("upsample_nearest2d", lambda: (normal(B, H, 7, 11), [14, 22]), lambda x, s: F.interpolate(x, size=s)),
    op("max_pool2d_with_indices", lambda: (normal(B, H, 13, 17), 2), partial(F.max_pool2d, return_indices=True)),
    op("avg_pool2d", lambda: (normal(B, H, 13, 17), 2), F.avg_pool2d),
    unchecked("dropout", lambda: (normal(M, N), 0.3, True)),
    unchecked("rand", lambda: ((M, N),)),
    op("unfold_backward", lambda: (normal(6, 4), [14], 0, 4, 2), torch.ops.aten.unfold_backward),
    unchecked("apply_rotary_pos_emb", lambda: (normal(2, M, 4, 32), normal(2, M, 2, 32), normal(M, 16), normal(M, 16)),
              f"{FUSED}:apply_rotary_pos_emb"),
    op("cross_entropy_loss", lambda: (normal(M, N), whole(N, M)), F.cross_entropy, f"{FUSED}:cross_entropy_loss"),
    unchecked("reshape_and_cache", lambda: (normal(7, 4, 16), normal(7, 4, 16), normal(5, 4, 2, 8, 8),
                                            normal(5, 4, 16, 8), torch.randperm(40)[:7], "auto", None, None),
              f"{FUSED}:reshape_and_cache"),
]


def liger(name: str, path: str, arguments: Any, reference: Any = None) -> Operator:
    return Operator(f"liger {name}", f"{LIGER}.{path}", arguments, reference)


LIGERS = [
    liger("rms_norm", "rms_norm:rms_norm_forward", lambda: (normal(M, N), normal(N), 1e-6, 0.0, "llama", None),
          lambda x, w, eps, *_: F.rms_norm(x, w.shape, w, eps)),
    liger("rms_norm gemma", "rms_norm:rms_norm_forward", lambda: (normal(M, N), normal(N), 1e-6, 1.0, "gemma", None),
          lambda x, w, eps, *_: F.rms_norm(x, w.shape, w + 1, eps)),
    liger("rms_norm backward", "rms_norm:rms_norm_backward",
          lambda: (normal(M, N), normal(M, N), normal(N), positive(M), 0.0, "llama", 128, 4, False, None)),
    liger("layer_norm", "layer_norm:layer_norm_forward", lambda: (normal(M, N), normal(N), normal(N), 1e-5),
          lambda x, w, b, eps: F.layer_norm(x, w.shape, w, b, eps)),
    liger("layer_norm backward", "layer_norm:layer_norm_backward",
          lambda: (normal(M, N), normal(M, N), normal(N), normal(N), normal(M), positive(M))),
    liger("swiglu", "swiglu:swiglu_forward", lambda: (normal(M, N), normal(M, N)), lambda a, b: (a, b, F.silu(a) * b)),
    liger("swiglu backward", "swiglu:swiglu_backward", lambda: (normal(M, N), normal(M, N), normal(M, N))),
    liger("geglu", "geglu:geglu_forward", lambda: (normal(M, N), normal(M, N)),
          lambda a, b: (a, b, F.gelu(a, approximate="tanh") * b)),
    liger("geglu backward", "geglu:geglu_backward", lambda: (normal(M, N), normal(M, N), normal(M, N))),
    liger("rope", "rope:rope_forward", lambda: (normal(2, 4, 11, 16), normal(2, 2, 11, 16), normal(1, 11, 16),
                                                normal(1, 11, 16))),
    liger("softmax", "softmax:_softmax_forward", lambda: (normal(M, N),), lambda x: torch.softmax(x, -1)),
    liger("softmax backward", "softmax:_softmax_backward",
          lambda: (normal(M, N), torch.softmax(normal(M, N), -1), 128, 4, False)),
    liger("cross_entropy", "cross_entropy:cross_entropy_forward",
          lambda: (normal(M, N), whole(N, M), None, -100, 0.0, 0.0, "mean", None, False),
          lambda x, t, *_: F.cross_entropy(x, t)),
    liger("fused_add_rms_norm", "fused_add_rms_norm:fused_add_rms_norm_forward",
          lambda: (normal(M, N), normal(M, N), normal(N), 1e-6, 0.0, "llama"),
          lambda x, r, w, eps, *_: F.rms_norm(x + r, w.shape, w, eps)),
    liger("group_norm", "group_norm:group_norm_forward", lambda: (normal(B, 6, 35), 6, 2, normal(6), normal(6), 1e-5),
          lambda x, c, g, w, b, eps: F.group_norm(x, g, w, b, eps)),
    liger("kl_div", "kl_div:kldiv_forward_triton",
          lambda: (torch.log_softmax(normal(M, N), -1), torch.softmax(normal(M, N), -1), False, "batchmean", 1e-10),
          lambda x, t, *_: F.kl_div(x, t, reduction="batchmean")),
    liger("jsd", "jsd:jsd_forward", lambda: (torch.log_softmax(normal(M, N), -1), torch.log_softmax(normal(M, N), -1),
                                             None, 0.5, -100, False)),
    liger("tvd", "tvd:tv_distance_forward_triton",
          lambda: (torch.softmax(normal(M, N), -1), torch.softmax(normal(M, N), -1), None, "batchmean", -100, False)),
    liger("relu_squared", "relu_squared:relu_squared_forward", lambda: (normal(M, N),), lambda x: F.relu(x) ** 2),
    liger("dyt", "dyt:liger_dyt_fwd", lambda: (normal(M, N), normal(1), normal(N), normal(N)),
          lambda x, a, g, b: g * torch.tanh(a * x) + b),
    liger("sparsemax", "sparsemax:_sparsemax_forward", lambda: (normal(M, N), -1)),
    liger("poly_norm", "poly_norm:poly_norm_forward", lambda: (normal(M, N), normal(3), normal(1), 1e-6)),
    liger("qwen2vl_mrope", "qwen2vl_mrope:qwen2vl_mrope_forward",
          lambda: (normal(2, 4, 11, 16), normal(2, 2, 11, 16), normal(3, 2, 11, 16), normal(3, 2, 11, 16), [2, 3, 3])),
    liger("embedding", "experimental.embedding:LigerEmbeddingFunction.apply", lambda: (normal(N, K), whole(N, M)),
          lambda w, i: F.embedding(i, w)),
]

ALL = [*POINTWISE, *REDUCTIONS, *CONTRACTIONS, *NORMS, *MOVEMENTS, *LIGERS]
