"""Calls of operators over size symbols: each a function of the sizes that it names.

`lambda B, T: (real(B, T), [T, B])` is a call for every B and T of at least 2: with symbols for its sizes its arguments
are leaves of symbolic shapes and expressions, with numbers they are tensors and numbers. HOLDS are calls whose meaning
holds for all sizes; REFUSED are calls that have none, with the reason; CANNOT are the operators of which no call can
have one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import torch

from samesame.formula.expr import Expr, Size, maximum, minimum, power
from samesame.formula.tensor import Dim
from samesame.graph import Dtype

LEAST = 2
SYMBOLS = {name: Size(name, LEAST) for name in ("B", "T", "D", "H", "S")}
INSTANCES = (
    {"B": 2, "T": 2, "D": 2, "H": 2, "S": 2},
    {"B": 3, "T": 5, "D": 7, "H": 2, "S": 11},
    {"B": 2, "T": 13, "D": 3, "H": 5, "S": 4},
)


@dataclass(frozen=True)
class Given:
    """A tensor of this shape and kind; integers are below `high`, reals above zero if `positive`."""

    shape: tuple[Dim, ...]
    kind: str = "real"
    high: Dim = 0
    positive: bool = False


def real(*shape: Dim) -> Given:
    return Given(shape)


def pos(*shape: Dim) -> Given:
    return Given(shape, positive=True)


def ints(high: Dim, *shape: Dim) -> Given:
    return Given(shape, "int", high)


def bools(*shape: Dim) -> Given:
    return Given(shape, "bool")


def cplx(*shape: Dim) -> Given:
    return Given(shape, "complex")


def up(n: Any, c: int) -> Any:
    """n / c, rounded up."""
    return (n + (c - 1)) // c


def least(*sizes: Any) -> Any:
    return minimum(*sizes) if any(isinstance(n, Expr) for n in sizes) else min(sizes)


def most(*sizes: Any) -> Any:
    return maximum(*sizes) if any(isinstance(n, Expr) for n in sizes) else max(sizes)


def inverse_root(n: Any) -> Any:
    return power(n, Fraction(-1, 2)) if isinstance(n, Expr) else float(n) ** -0.5


Call = tuple[str, Callable[..., tuple[Any, ...]]]          # operator, arguments; a last dict holds the keywords
inf = float("inf")
END = 2**63 - 1

MOVEMENT: list[Call] = [
    ("aten.alias.default", lambda B, T: (real(B, T),)),
    ("aten.view.default", lambda B, T, D: (real(B, T, D), [B * T, D])),
    ("aten.view.default", lambda B, T, D: (real(B, T, D), [-1, D])),
    ("aten.view.default", lambda B, T, H, D: (real(B, T, H * D), [B, T, H, D])),
    ("aten.view.default", lambda B, T, H, D: (real(B, T, H * D), [B, T, H, -1])),
    ("aten.view.default", lambda B, T, H, D: (real(B, T, D * H), [T * B, H, D])),
    ("aten.view.default", lambda B, T: (real(B, T * 4), [B, T, 2, 2])),
    ("aten.view.default", lambda B, T: (real(B, 4 * T), [B, 2, -1])),
    ("aten.view.default", lambda B, T, D: (real(B, T + 1, D), [B * T + B, D])),
    ("aten.view.default", lambda B, T, D: (real(B, T + 1, D), [B, -1, D])),
    ("aten.view.default", lambda B, T, D: (real(B * T + B, D), [-1, T + 1, D])),
    ("aten.view.default", lambda T: (real(T * T + 2 * T + 1), [T + 1, -1])),
    ("aten.view.default", lambda B, T: (real(B, 1, T, 1), [B, T, 1, 1])),
    ("aten.view.default", lambda B, T, H: (real(B, T), [B, T, H // H])),
    ("aten.reshape.default", lambda B, T, D: (real(B, T, D), [D, T, B])),
    ("aten.reshape.default", lambda H, D: (real(H * D), [H, (H * D) // H])),
    ("aten._unsafe_view.default", lambda B, T, H, D: (real(B, T, H, D), [B, T, H * D])),
    ("aten.flatten.using_ints", lambda B, T, D: (real(B, T, D), 1)),
    ("aten.flatten.using_ints", lambda B, T, D: (real(B, T, D), 0, 1)),
    ("aten.unflatten.int", lambda B, H, D: (real(B, H * D), 1, [H, -1])),
    ("aten.unflatten.int", lambda B, T: (real(B, 2 * T), -1, [-1, 2])),
    ("aten.ravel.default", lambda B, T: (real(B, T),)),
    ("aten.view_as.default", lambda B, T: (real(B * T), real(B, T))),
    ("aten.permute.default", lambda B, T, D: (real(B, T, D), [2, 0, 1])),
    ("aten.transpose.int", lambda B, T, D: (real(B, T, D), -1, 0)),
    ("aten.t.default", lambda T, D: (real(T, D),)),
    ("aten.mT.default", lambda B, T, D: (real(B, T, D),)),
    ("aten.movedim.int", lambda B, T, D: (real(B, T, D), 0, -1)),
    ("aten.unsqueeze.default", lambda B, T: (real(B, T), 1)),
    ("aten.squeeze.dim", lambda B, T: (real(B, 1, T), 1)),
    ("aten.squeeze.dim", lambda B, T: (real(B, 1, T), 0)),
    ("aten.squeeze.default", lambda B, T: (real(1, B, 1, T),)),
    ("aten.expand.default", lambda B, T, D: (real(1, T, 1), [B, T, D])),
    ("aten.expand.default", lambda B, T, D: (real(T, 1), [B, -1, D])),
    ("aten.expand.default", lambda B, T: (real(T - 1), [B, T - 1])),
    ("aten.expand_as.default", lambda B, T, D: (real(T, 1), real(B, T, D))),
    ("aten.broadcast_tensors.default", lambda B, T: ([real(B, 1), real(T)],)),
    ("aten.diagonal.default", lambda T: (real(T, T),)),
    ("aten.diagonal.default", lambda B, T, D: (real(B, T, D), 1, 1, 2)),
    ("aten.diagonal.default", lambda T, D: (real(T, D), -3)),
    # pieces
    ("aten.slice.Tensor", lambda T: (real(T), 0, 1, END)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, 0, -1)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, -1)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, 5)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, None, 5)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, -3)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, -3, -1)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, None, -4)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, 2, -3)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, -5, 4)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, 0, END, 2)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, 1, END, 3)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, 3, 7, 2)),
    ("aten.slice.Tensor", lambda T: (real(2 * T), 0, 1, END, 2)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, T // 2)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, 0, T // 2)),
    ("aten.slice.Tensor", lambda T: (real(T), 0, -T)),
    ("aten.slice.Tensor", lambda B, D: (real(B, 2 * D), 1, D, 2 * D)),
    ("aten.slice.Tensor", lambda B, D: (real(B, 2 * D), -1, 0, D)),
    ("aten.slice.Tensor", lambda B, D: (real(B, 2 * D), -1, -D)),
    ("aten.slice.Tensor", lambda T, S: (real(T), 0, 0, S)),
    ("aten.slice.Tensor", lambda T, S: (real(T), 0, S)),
    ("aten.slice.Tensor", lambda T, S: (real(T), 0, -S)),
    ("aten.slice.Tensor", lambda T, S: (real(T * S), 0, 0, END, S)),
    ("aten.select.int", lambda B, T: (real(B, T), 1, -1)),
    ("aten.select.int", lambda B, T: (real(B, T), 0, 1)),
    ("aten.select.int", lambda B, T: (real(B, T), 1, T - 2)),
    ("aten.select.int", lambda T: (real(T), 0, T // 2)),
    ("aten.narrow.default", lambda B, D: (real(B, 3 * D), 1, D, D)),
    ("aten.narrow.default", lambda T: (real(T), 0, -2, 2)),
    ("aten.split_with_sizes.default", lambda B, H, D: (real(B, H * D + 2 * D), [H * D, D, D], 1)),
    ("aten.split_with_sizes.default", lambda T: (real(T), [1, T - 2, 1])),
    ("aten.split_with_sizes.default", lambda T: (real(T), [up(T, 2), T - up(T, 2)])),
    ("aten.split.Tensor", lambda B, D: (real(B, 3 * D), D, 1)),
    ("aten.split.Tensor", lambda T: (real(2 * T + 1), T)),
    ("aten.split.Tensor", lambda T: (real(T), up(T, 2))),
    ("aten.split.Tensor", lambda T: (real(T), T)),
    ("aten.split.Tensor", lambda T: (real(T), T + 3)),
    ("aten.chunk.default", lambda B, D: (real(B, 3 * D), 3, 1)),
    ("aten.chunk.default", lambda T: (real(T), 2)),
    ("aten.chunk.default", lambda T: (real(T + 3), 3)),
    ("aten.chunk.default", lambda T, D: (real(T * D), 1)),
    ("aten.tensor_split.sections", lambda T: (real(T), 3)),
    ("aten.tensor_split.sections", lambda B, T: (real(B, 2 * T), 2, 1)),
    ("aten.unbind.int", lambda B, T: (real(B, 3, T), 1)),
    ("aten.unfold.default", lambda B, T: (real(B, T), 1, 2, 1)),
    ("aten.unfold.default", lambda B, T: (real(B, T + 1), 1, 3, 2)),
    ("aten.unfold.default", lambda B, T, D: (real(B, T * D), 1, D, D)),
    # one of many
    ("aten.cat.default", lambda B, T, S, D: ([real(B, T, D), real(B, S, D)], 1)),
    ("aten.cat.default", lambda B, T: ([real(B, T), real(B, 1), real(B, T)], -1)),
    ("aten.cat.default", lambda B, T: ([bools(B, 1), bools(B, T - 1)], 1)),
    ("aten.stack.default", lambda B, T: ([real(B, T), real(B, T)], 1)),
    ("aten.hstack.default", lambda T, S: ([real(T), real(S)],)),
    ("aten.vstack.default", lambda T: ([real(T), real(T)],)),
    ("aten.meshgrid.indexing", lambda T, S: ([real(T), real(S)], {"indexing": "xy"})),
    ("aten.meshgrid.default", lambda T, S: ([real(T), real(S)],)),
    ("aten.repeat.default", lambda B, T, S: (real(T, 1), [B, 2, S])),
    ("aten.tile.default", lambda B, T: (real(B, T), [T])),
    ("aten.repeat_interleave.self_int", lambda B, H, T: (real(B, H, T), 3, 1)),
    ("aten.repeat_interleave.self_int", lambda B, T, S: (real(B, T), S, 1)),
    ("aten.repeat_interleave.self_int", lambda B, T: (real(B, T), 2)),
    ("aten.flip.default", lambda B, T: (real(B, T), [1])),
    ("aten.flipud.default", lambda T, D: (real(T, D),)),
    ("aten.fliplr.default", lambda T, D: (real(T, D),)),
    ("aten.roll.default", lambda T: (real(T), [1], [0])),
    ("aten.roll.default", lambda T: (real(T), [-1], [0])),
    ("aten.roll.default", lambda T: (real(T), [3], [0])),
    ("aten.roll.default", lambda T: (real(T), [-7], [0])),
    ("aten.roll.default", lambda B, D: (real(B, 2 * D), [D], [1])),
    ("aten.roll.default", lambda B, T: (real(B, T), [T, 1], [1, 0])),
    ("aten.roll.default", lambda B, T: (real(B, T), [2])),
    ("aten.copy.default", lambda B, T: (real(B, T), real(T))),
    ("aten.slice_scatter.default", lambda T, D: (real(T, D), real(T - 1, D), 0, 1, END)),
    ("aten.slice_scatter.default", lambda T: (real(T), real(least(T, 3)), 0, -3)),
    ("aten.slice_scatter.default", lambda T: (real(T), real(most(T - 3, 0)), 0, 3)),
    ("aten.slice_scatter.default", lambda T: (real(2 * T), real(T), 0, 1, END, 2)),
    ("aten.select_scatter.default", lambda T, D: (real(T, D), real(D), 0, -1)),
    ("aten.select_scatter.default", lambda T, D: (real(T, D), real(T), 1, 1)),
]

REDUCTION: list[Call] = [
    ("aten.sum.dim_IntList", lambda B, T, D: (real(B, T, D), [1])),
    ("aten.sum.dim_IntList", lambda B, T, D: (bools(B, T, D), [0, -1], True)),
    ("aten.sum.default", lambda B, T: (ints(5, B, T),)),
    ("aten.mean.dim", lambda B, T, D: (real(B, T, D), [-1], True)),
    ("aten.mean.dim", lambda B, T, D: (real(B, T, D), [0, 1])),
    ("aten.mean.dim", lambda B, T: (real(B, T - 1), [1])),
    ("aten.mean.default", lambda B, T: (real(B, 2 * T),)),
    ("aten.prod.dim_int", lambda B: (real(B, 3), 0)),
    ("aten.prod.default", lambda B: (real(B, 2),)),
    ("aten.amax.default", lambda B, T: (real(B, T), [1])),
    ("aten.amin.default", lambda B, T: (real(B, T), [0], True)),
    ("aten.max.default", lambda B, T: (real(B, T),)),
    ("aten.min.default", lambda B, T: (real(B, T),)),
    ("aten.aminmax.default", lambda B, T: (real(B, T), {"dim": 1})),
    ("aten.any.dim", lambda B, T: (bools(B, T), 1)),
    ("aten.any.default", lambda B, T: (bools(B, T),)),
    ("aten.all.dim", lambda B, T: (bools(B, T), 0, True)),
    ("aten.all.default", lambda B: (bools(B),)),
    ("aten.count_nonzero.dim_IntList", lambda B, T: (ints(3, B, T), [1])),
    ("aten.var.correction", lambda B, T: (real(B, T), [1], {"correction": 0, "keepdim": True})),
    ("aten.var.correction", lambda B, T: (real(B, T), [1])),
    ("aten.var.correction", lambda B, T: (real(B, T), [0, 1], {"correction": 2})),
    ("aten.var.dim", lambda B, T: (real(B, T), [-1], False)),
    ("aten.var.default", lambda B, T: (real(B, T),)),
    ("aten.var_mean.correction", lambda B, T: (real(B, T), [-1], {"correction": 0})),
    ("aten.var_mean.dim", lambda B, T: (real(B, T), [-1])),
    ("aten.var_mean.default", lambda B, T: (real(B, T),)),
    ("aten.std.correction", lambda B, T: (real(B, T), [1])),
    ("aten.std.dim", lambda B, T: (real(B, T), [0])),
    ("aten.std.default", lambda B, T: (real(B, T),)),
    ("aten.std_mean.correction", lambda B, T: (real(B, T), [1])),
    ("aten.std_mean.dim", lambda B, T: (real(B, T), [1])),
    ("aten.std_mean.default", lambda B, T: (real(B, T),)),
    *[("aten.linalg_vector_norm.default", lambda B, T, p=p: (real(B, T), p, [1], True)) for p in (2, 1, 0, 3, inf)],
    ("aten.norm.ScalarOpt_dim", lambda B, T: (real(B, T), 2, [1])),
    ("aten.norm.Scalar", lambda B, T: (real(B, T),)),
    ("aten.logsumexp.default", lambda B, T: (real(B, T), [-1])),
    ("aten.cumsum.default", lambda B, T: (real(B, T), 1)),
    ("aten.cumsum.default", lambda B, T: (bools(B, T), 0)),
    ("aten.cumprod.default", lambda B, T: (real(B, T), 0)),
    ("aten.logcumsumexp.default", lambda B, T: (real(B, T), 1)),
    ("aten.diff.default", lambda B, T: (real(B, T),)),
    ("aten.diff.default", lambda B, T: (real(B, T), 2, 1)),
    ("aten.diff.default", lambda B, T: (real(B, T), 3, 1, real(B, 1))),
    ("aten.trace.default", lambda T, D: (real(T, D),)),
]

NORMS: list[Call] = [
    ("aten.softmax.int", lambda B, T: (real(B, T), -1)),
    ("aten._softmax.default", lambda B, T: (real(B, T), 0, False)),
    ("aten._safe_softmax.default", lambda B, T: (real(B, T), -1)),
    ("aten.log_softmax.int", lambda B, T: (real(B, T), 1)),
    ("aten._log_softmax.default", lambda B, T: (real(B, T), 0, False)),
    ("aten.rms_norm.default", lambda B, T, D: (real(B, T, D), [D], real(D), 1e-5)),
    ("aten.rms_norm.default", lambda B, T, D: (real(B, T, D), [T, D], None, 1e-5)),
    ("aten._fused_rms_norm.default", lambda B, D: (real(B, D), [D], real(D), 1e-5)),
    ("aten.layer_norm.default", lambda B, T, D: (real(B, T, D), [D], real(D), real(D))),
    ("aten.layer_norm.default", lambda B, H, D: (real(B, H * D), [D * H])),
    ("aten.native_layer_norm.default", lambda B, T, D: (real(B, T, D), [D], real(D), real(D), 1e-5)),
    ("aten.group_norm.default", lambda B, D, T: (real(B, 3 * D, T), 3, real(3 * D), real(3 * D))),
    ("aten.group_norm.default", lambda B, H, D: (real(B, H * D), H)),
    ("aten.native_group_norm.default", lambda B, D, T: (real(B, 2 * D, T), None, None, B, 2 * D, T, 2, 1e-5)),
    ("aten._native_batch_norm_legit_no_training.default",
     lambda B, D, T: (real(B, D, T), real(D), real(D), real(D), pos(D), 0.1, 1e-5)),
    ("aten.native_batch_norm.default",
     lambda B, D: (real(B, D), real(D), None, real(D), pos(D), False, 0.1, 1e-5)),
    ("aten.batch_norm.default",
     lambda B, D, T: (real(B, D, T), None, None, real(D), pos(D), False, 0.1, 1e-5, False)),
    ("aten.dropout.default", lambda B, D: (real(B, D), 0.5, False)),
    ("aten.native_dropout.default", lambda B, D: (real(B, D), 0.0, True)),
]

ATTENTION: list[Call] = [
    ("aten.scaled_dot_product_attention.default",
     lambda B, H, T, D: (real(B, H, T, D), real(B, H, T, D), real(B, H, T, D))),
    ("aten.scaled_dot_product_attention.default",
     lambda B, H, T, S, D: (real(B, H, T, D), real(B, H, S, D), real(B, H, S, D), None, 0.0, True)),
    ("aten.scaled_dot_product_attention.default",
     lambda B, H, T, S, D: (real(B, 3 * H, T, D), real(B, H, S, D), real(B, H, S, D),
                            {"enable_gqa": True, "scale": 0.25})),
    ("aten.scaled_dot_product_attention.default",
     lambda B, H, T, S, D: (real(B, H, T, D), real(B, H, S, D), real(B, H, S, 3), real(T, S))),
    ("aten.scaled_dot_product_attention.default",
     lambda B, H, T, S, D: (real(B, H, T, D), real(B, H, S, D), real(B, H, S, D), bools(B, 1, 1, S),
                            {"scale": inverse_root(2 * D)})),
    ("aten.scaled_dot_product_attention.default", lambda T, S, D: (real(T, D), real(S, D), real(S, D))),
    ("aten._scaled_dot_product_flash_attention_for_cpu.default",
     lambda B, H, T, D: (real(B, H, T, D), real(B, H, T, D), real(B, H, T, D), 0.0, True)),
    ("aten._scaled_dot_product_attention_math.default",
     lambda B, H, T, S, D: (real(B, H, T, D), real(B, H, S, D), real(B, H, S, D), real(T, S))),
]

CONTRACTION: list[Call] = [
    ("aten.mm.default", lambda T, D, S: (real(T, D), real(D, S))),
    ("aten.mm.default", lambda T, D, S: (real(T, D * S), real(S * D, 3))),
    ("aten.bmm.default", lambda B, T, D: (real(B, T, D), real(B, D, T))),
    ("aten.dot.default", lambda D: (real(D), real(D))),
    ("aten.mv.default", lambda T, D: (real(T, D), real(D))),
    ("aten.outer.default", lambda T, D: (real(T), real(D))),
    *[("aten.matmul.default", call) for call in (
        lambda B, T, D, S: (real(B, T, D), real(D, S)), lambda B, T, D: (real(B, T, D), real(D)),
        lambda B, T, D: (real(D), real(B, D, T)), lambda B, H, T, D: (real(B, 1, T, D), real(H, D, T)),
        lambda T: (real(T - 1, 3), real(3, T)))],
    ("aten.linear.default", lambda B, T, D, S: (real(B, T, D), real(S, D), real(S))),
    ("aten.addmm.default", lambda T, D, S: (real(S), real(T, D), real(D, S))),
    ("aten.addmm.default", lambda T, D, S: (real(T, S), real(T, D), real(D, S), {"beta": 2, "alpha": D})),
    ("aten.baddbmm.default", lambda B, T, D: (real(B, T, T), real(B, T, D), real(B, D, T),
                                              {"beta": 0, "alpha": inverse_root(D)})),
    ("aten.addbmm.default", lambda B, T, D: (real(T, T), real(B, T, D), real(B, D, T))),
    ("aten.addmv.default", lambda T, D: (real(T), real(T, D), real(D))),
    ("aten.addr.default", lambda T, D: (real(T, D), real(T), real(D))),
    *[("aten.einsum.default", call) for call in (
        lambda B, T, S, H, D: ("bthd,bshd->bhts", [real(B, T, H, D), real(B, S, H, D)]),
        lambda B, T, D: ("...td,...sd->...ts", [real(B, T, D), real(1, T, D)]),
        lambda T: ("ii->i", [real(T, T)]), lambda T, D: ("td,td->", [real(T, D), real(T, D)]))],
]

POINTWISE: list[Call] = [
    ("aten.add.Tensor", lambda B, T, D: (real(B, T, D), real(T, 1))),
    ("aten.add.Tensor", lambda T: (real(T), T)),
    ("aten.add.Tensor", lambda T: (ints(5, T), T - 1)),
    ("aten.add.Tensor", lambda T: (real(T), real(T), {"alpha": T})),
    ("aten.sub.Tensor", lambda T: (real(T), ints(5, T), {"alpha": T})),
    ("aten.rsub.Scalar", lambda T: (ints(5, T), T)),
    ("aten.mul.Tensor", lambda T, D: (real(T), D)),
    ("aten.mul.Tensor", lambda T, D: (real(T), inverse_root(D))),
    ("aten.mul.Tensor", lambda T: (bools(T), T)),
    ("aten.div.Tensor", lambda T, D: (real(T), D)),
    ("aten.div.Tensor", lambda T, D: (ints(9, T), T * D - 1)),
    ("aten.div.Tensor_mode", lambda T, D: (ints(99, T), D, {"rounding_mode": "floor"})),
    ("aten.div.Tensor_mode", lambda T, D: (ints(99, T), D, {"rounding_mode": "trunc"})),
    ("aten.floor_divide.default", lambda T, D: (ints(99, T), D)),
    ("aten.remainder.Scalar", lambda T, D: (ints(99, T), D)),
    ("aten.fmod.Scalar", lambda T, D: (ints(99, T), T * D - 1)),
    ("aten.pow.Scalar", lambda T, D: (D, real(T))),
    ("aten.lt.Scalar", lambda T: (ints(9, T), T // 2)),
    ("aten.eq.Scalar", lambda T: (ints(9, T), T)),
    ("aten.clamp.default", lambda T: (ints(9, T), 1, T - 1)),
    ("aten.clamp_min.default", lambda T: (real(T), inverse_root(T))),
    ("aten.where.ScalarOther", lambda T: (bools(T), real(T), inverse_root(T))),
    ("aten.where.Scalar", lambda T: (bools(T), T, 0)),
    ("aten.masked_fill.Scalar", lambda B, T: (real(B, T), bools(T), -inf)),
    ("aten.masked_fill.Scalar", lambda B, T: (real(B, T), bools(T), B)),
    ("aten.addcmul.default", lambda T, D: (real(T), real(T), real(T), {"value": D})),
    ("aten.addcdiv.default", lambda T, D: (real(T), real(T), pos(T), {"value": D})),
    ("aten.lerp.Scalar", lambda T: (real(T), real(T), inverse_root(T))),
    ("aten.glu.default", lambda B, D: (real(B, 2 * D),)),
    ("aten.prelu.default", lambda B, D, T: (real(B, D, T), real(D))),
    ("aten.log_sigmoid_forward.default", lambda B, T: (real(B, T),)),
    ("aten._to_copy.default", lambda B, T: (ints(5, B, T), {"dtype": Dtype("float64")})),
]

CONSTANTS: list[Call] = [
    ("aten.full.default", lambda B, T: ([B, T], 0.5)),
    ("aten.full.default", lambda B, T: ([B], T)),
    ("aten.full.default", lambda B, T: ([B], T, {"dtype": Dtype("float64")})),
    ("aten.full.default", lambda B, D: ([B, B * D], inverse_root(D), {"dtype": Dtype("float64")})),
    ("aten.zeros.default", lambda B, T: ([B, T - 1],)),
    ("aten.ones.default", lambda B, T: ([B, T // 2],)),
    ("aten.scalar_tensor.default", lambda T: (T, {"dtype": Dtype("int64")})),
    ("aten.full_like.default", lambda B, T: (real(B, T), T)),
    ("aten.zeros_like.default", lambda B, T: (real(B, T),)),
    ("aten.ones_like.default", lambda B, T: (real(B, T),)),
    ("aten.new_full.default", lambda B, T: (real(B), [B, T], -inf)),
    ("aten.new_zeros.default", lambda B, T: (real(B), [T, B])),
    ("aten.new_ones.default", lambda B, T: (real(B), [T])),
    ("aten.fill.Scalar", lambda B, T: (real(B, T), T)),
    ("aten.zero.default", lambda B: (real(B),)),
    ("aten.arange.default", lambda T: (T,)),
    ("aten.arange.default", lambda T: (T, {"dtype": Dtype("float64")})),
    ("aten.arange.start", lambda T, S: (T, T + S)),
    ("aten.arange.start", lambda T: (1, T)),
    ("aten.arange.start_step", lambda T: (0, T, 2)),
    ("aten.arange.start_step", lambda T: (0, 2 * T, 2)),
    ("aten.arange.start_step", lambda T: (1, T, 3)),
    ("aten.arange.start_step", lambda T: (T - 1, -1, -1)),
    ("aten.arange.start_step", lambda T: (T, 0, -2)),
    ("aten.arange.start_step", lambda T, S: (0, T * S, S)),
    ("aten.arange.start_step", lambda T, S: (0, T, S)),
    ("aten.arange.start_step", lambda T: (0.0, T, 1.0, {"dtype": Dtype("float64")})),
    ("aten.linspace.default", lambda T: (0, 1, T, {"dtype": Dtype("float64")})),
    ("aten.linspace.default", lambda T: (1, T, T - 1, {"dtype": Dtype("float64")})),
    ("aten.eye.default", lambda T: (T,)),
    ("aten.eye.m", lambda T, S: (T, S)),
    ("prims.iota.default", lambda T: (T, {"start": 1, "step": 2, "dtype": Dtype("int64"), "requires_grad": False,
                                          "device": torch.device("cpu")})),
    ("aten.tril.default", lambda T, S: (real(T, S),)),
    ("aten.tril.default", lambda T, S: (bools(T, S), S - T)),
    ("aten.triu.default", lambda B, T: (real(B, T, T), 1)),
    ("aten.diag_embed.default", lambda T, S: (real(T, S), -1, 0, 1)),
    ("aten.diag.default", lambda T: (real(T), 1)),
    ("aten.diag.default", lambda T, S: (real(T, S), -1)),
    ("aten.constant_pad_nd.default", lambda B, T: (real(B, T), [1, 2], 0.5)),
    ("aten.constant_pad_nd.default", lambda B, T: (real(B, T), [-1, 1])),
    ("aten.constant_pad_nd.default", lambda B, T: (real(B, T), [0, -2, 1, 0])),
    ("aten.constant_pad_nd.default", lambda B, T, S: (real(B, T), [S - 1, 0])),
    ("aten.constant_pad_nd.default", lambda T, S: (real(T + S), [-S, T])),
    ("aten.pad.default", lambda B, T, S: (real(B, T), [0, S])),
]

INDEXING: list[Call] = [
    ("aten.gelu_backward.default", lambda B, T: (real(B, T), real(B, T))),
    ("aten._softmax_backward_data.default", lambda B, T: (real(B, T), pos(B, T), 1, torch.float64)),
    ("aten._log_softmax_backward_data.default", lambda B, T: (real(B, T), real(B, T), 1, torch.float64)),
    ("aten.native_layer_norm_backward.default",
     lambda B, T, D: (real(B, T, D), real(B, T, D), [D], real(B, T, 1), pos(B, T, 1), real(D), real(D), [True] * 3)),
    ("aten.embedding_dense_backward.default", lambda B, T, S, D: (real(B, T, D), ints(S, B, T), S, -1, False)),
    ("aten.embedding.default", lambda B, T, S, D: (real(S, D), ints(S, B, T))),
    ("aten.index_select.default", lambda B, T, S: (real(B, T), 1, ints(T, S))),
    ("aten.gather.default", lambda B, T, S: (real(B, T), 1, ints(T, B, S))),
    ("aten.gather.default", lambda B, T: (real(B, T), 1, ints(T, B - 1, 3))),
    ("aten.take.default", lambda B, T, S: (real(B, T), ints(B * T, S))),
    ("aten.index.Tensor", lambda B, T, S: (real(B, T), [None, ints(T, S)])),
    ("aten.index.Tensor", lambda B, T, S, D: (real(B, T, D), [ints(B, S, 1), ints(T, 3)])),
    ("aten.index.Tensor", lambda B, T, D: (real(B, T, D), [ints(B, T), None, ints(D, T)])),
    ("aten.take_along_dim.default", lambda B, T, S: (real(B, T), ints(T, 1, S), 1)),
    ("aten.one_hot.default", lambda B, T: (ints(T, B), T)),
    ("aten.index_put.default", lambda B, T, S: (real(T), [ints(T, S)], real(S), True)),
    ("aten.index_put.default", lambda B, T: (real(B, T), [None, ints(T, 1)], real(B, 1))),
    ("aten.index_put.default", lambda B, T: (real(B, T), [bools(B, T)], real())),
    ("aten.index_add.default", lambda T, S, D: (real(T, D), 0, ints(T, S), real(S, D), {"alpha": S})),
    ("aten.index_copy.default", lambda T, D: (real(T, D), 0, ints(T, 1), real(1, D))),
    ("aten.index_fill.int_Scalar", lambda T, S, D: (real(T, D), 0, ints(T, S), 0.5)),
    ("aten.scatter.src", lambda T, D: (real(T, D), 0, ints(T, 1, D), real(1, D))),
    ("aten.scatter.value", lambda B, T, S: (real(B, T), 1, ints(T, B, S), 1.0)),
    ("aten.scatter.value", lambda B, T: (real(B, T), 1, ints(T, B - 1, 2), T)),
    ("aten.scatter_add.default", lambda B, T, S: (real(B, T), 1, ints(T, B, S), real(B, S))),
    ("aten.scatter_add.default", lambda B, T, S: (real(B, T), 0, ints(B, S, T - 1), real(S + 1, T))),
]

ORDERING: list[Call] = [
    ("aten.argmax.default", lambda B, T: (real(B, T), 1)),
    ("aten.argmax.default", lambda B, T: (real(B, T),)),
    ("aten.argmin.default", lambda B, T: (real(B, T), 0, True)),
    ("aten.max.dim", lambda B, T: (real(B, T), 1)),
    ("aten.min.dim", lambda B, T: (real(B, T), 0, True)),
    ("aten.topk.default", lambda B, T: (real(B, T), 2)),
    ("aten.topk.default", lambda B, T: (real(B, T), T - 1, 1)),
    ("aten.sort.default", lambda B, T: (real(B, T),)),
    ("aten.sort.stable", lambda B, T: (ints(3, B, T), {"stable": True, "descending": True})),
    ("aten.argsort.default", lambda B, T: (real(B, T), 0)),
    ("aten.argsort.stable", lambda B, T: (ints(3, B, T), {"stable": True})),
]

LOSS: list[Call] = [
    ("aten.nll_loss.default", lambda B, D: (real(B, D), ints(D, B))),
    ("aten.nll_loss_forward.default", lambda B, D: (real(B, D), ints(D, B), pos(D), 1, 1)),
    ("aten.nll_loss2d_forward.default", lambda B, D, T: (real(B, D, T, 2), ints(D, B, T, 2), None, 2, -100)),
    ("aten.cross_entropy_loss.default", lambda B, D: (real(B, D), ints(D, B))),
    ("aten.cross_entropy_loss.default", lambda B, D, T: (real(B, D, T), ints(D, B, T), None, 0)),
    ("aten.cross_entropy_loss.default", lambda B, D: (real(B, D), ints(D, B), pos(D), 1, -100, 0.1)),
    ("aten.cross_entropy_loss.default", lambda D: (real(D), ints(D), None, 2)),
    ("aten.cross_entropy_loss.default", lambda B, D: (real(B, D), pos(B, D), None, 1, -100, 0.2)),
    ("aten.mse_loss.default", lambda B, D: (real(B, D), real(B, D))),
    ("aten.l1_loss.default", lambda B, D: (real(B, D), real(B, D), 2)),
    ("aten.huber_loss.default", lambda B, D: (real(B, D), real(B, D))),
    ("aten.smooth_l1_loss.default", lambda B, D: (real(B, D), real(B, D))),
    ("aten.binary_cross_entropy_with_logits.default", lambda B, D: (real(B, D), pos(B, D), real(D), pos(D))),
    ("aten.kl_div.default", lambda B, D: (real(B, D), pos(B, D))),
    ("aten.hinge_embedding_loss.default", lambda B, D: (real(B, D), real(B, D))),
]

WINDOWS: list[Call] = [
    ("aten.convolution.default",
     lambda B, D, S, T: (real(B, D, T), real(S, D, 3), real(S), [1], [1], [1], False, [0], 1)),
    ("aten.convolution.default",
     lambda B, D, H, T: (real(B, 2 * D, T), real(2 * H, D, 2), None, [2], [0], [1], False, [0], 2)),
    ("aten.convolution.default",
     lambda B, D, T: (real(B, D, T + 2), real(D, 1, 4), real(D), [1], [0], [1], False, [0], D)),
    ("aten.convolution.default",
     lambda B, D, T, S: (real(B, 2, T * D, S * D), real(3, 2, D, D), None, [D, D], [0, 0], [1, 1], False, [0, 0], 1)),
    ("aten.conv1d.default", lambda D, T: (real(D, T + 1), real(2, D, 3))),
    ("aten.conv1d.default", lambda B, D, T: (real(B, D, T), real(2, D, 3), None, [2], [2], [2])),
    ("aten.conv2d.default", lambda B, D, T, S: (real(B, D, T, S), real(3, D, 3, 2), real(3), [1, 1], [1, 0])),
    ("aten.conv3d.default", lambda B, T: (real(B, 1, T, 3, T), real(2, 1, 2, 2, 2))),
    ("aten.conv1d.padding", lambda B, D, T: (real(B, D, T), real(2, D, 3), None, [1], "same")),
    ("aten.conv2d.padding", lambda B, D, T: (real(B, D, T, T), real(2, D, 3, 3), None, [1, 1], "same", [2, 1])),
    ("aten.conv3d.padding", lambda B, T: (real(B, 1, T, 3, T), real(2, 1, 2, 2, 2), None, [1, 1, 1], "valid")),
    ("aten.im2col.default", lambda B, D, T, S: (real(B, D, T, S), [2, 3], [1, 1], [0, 1], [1, 2])),
    ("aten.avg_pool1d.default", lambda B, D, T: (real(B, D, T), [2])),
    ("aten.avg_pool1d.default", lambda B, D, T: (real(B, D, T), [T])),
    ("aten.avg_pool1d.default", lambda B, D, T: (real(B, D, T), [3], [2], [1], False, False)),
    ("aten.avg_pool2d.default", lambda B, T, S: (real(B, 1, T, S), [2, 2], [], [1, 0])),
    ("aten.avg_pool3d.default", lambda B, T: (real(B, 1, T, 2, T), [2, 2, 2])),
    ("aten.adaptive_avg_pool1d.default", lambda B, D, T: (real(B, D, T), [1])),
    ("aten.adaptive_avg_pool1d.default", lambda B, D, T: (real(B, D, 2 * T), [T])),
    ("aten.adaptive_avg_pool2d.default", lambda B, T, S: (real(B, 1, 2 * T, S), [2, 1])),
    ("aten._adaptive_avg_pool2d.default", lambda B, T, S: (real(B, 1, T, S), [1, 1])),
    ("aten.max_pool1d.default", lambda B, D, T: (real(B, D, T), [2], [1])),
    ("aten.max_pool2d.default", lambda B, T, S: (real(B, 1, T, S), [3, 2], [2, 1], [1, 0])),
    ("aten.max_pool3d.default", lambda B, T: (real(B, 1, T, 2, T), [2, 2, 2])),
    ("aten.max_pool1d_with_indices.default", lambda B, D, T: (real(B, D, T), [2])),
    ("aten.max_pool2d_with_indices.default", lambda B, T: (real(B, 1, T, T), [2, 2])),
    ("aten.max_pool3d_with_indices.default", lambda B, T: (real(B, 1, T, 2, T), [2, 2, 2])),
]

COMPLEX_NUMBERS: list[Call] = [
    ("aten.view_as_complex.default", lambda B, T: (real(B, T, 2),)),
    ("aten.view_as_real.default", lambda B, T: (cplx(B, T),)),
    ("aten.complex.default", lambda B, T: (real(B, T), real(B, T))),
    ("aten.polar.default", lambda B, T: (pos(B, T), real(B, T))),
    ("aten.real.default", lambda B, T: (cplx(B, T),)),
    ("aten.imag.default", lambda B, T: (cplx(B, T),)),
    ("aten.conj_physical.default", lambda B, T: (cplx(B, T),)),
    ("aten.resolve_conj.default", lambda B, T: (cplx(B, T),)),
    ("aten.mul.Tensor", lambda B, T, D: (cplx(B, T, D), cplx(T, 1))),
    ("aten.view.default", lambda B, T, D: (cplx(B, T * D), [B, T, D])),
    ("aten.sum.dim_IntList", lambda B, T: (cplx(B, T), [1])),
]

HOLDS: list[Call] = [*MOVEMENT, *REDUCTION, *NORMS, *ATTENTION, *CONTRACTION, *POINTWISE, *CONSTANTS, *INDEXING,
                     *ORDERING, *LOSS, *WINDOWS, *COMPLEX_NUMBERS]

# Calls that have no meaning for all sizes of at least 2: some sizes give another shape, an error, or another formula.
REFUSED: list[tuple[str, Callable[..., tuple[Any, ...]], str]] = [
    ("aten.view.default", lambda B, T: (real(B, T), [B, T, 2]), "does not reshape"),
    ("aten.view.default", lambda T: (real(T), [-1, 2]), "no multiple"),
    ("aten.view.default", lambda B, T, S: (real(B, T), [B, S]), "does not reshape"),
    ("aten.view.default", lambda B, T: (real(B, T + 1), [B, T]), "does not reshape"),
    ("aten.unflatten.int", lambda B, T: (real(B, T), 1, [3, -1]), "no multiple"),
    ("aten.view.default", lambda T: (real(T, T - 2), [-1, T - 2]), "beside -1"),
    ("aten.amax.default", lambda B, T: (real(B, T - 2), [1]), "a max of at least one"),
    ("aten.min.default", lambda B, T: (real(B, T // 3),), "a min of at least one"),
    ("aten.argmax.default", lambda B, T: (real(B, T - 2), 1), "a choice of at least one"),
    ("aten.max.dim", lambda B, T: (real(B, T - 2), 1), "a max of at least one"),
    ("aten.squeeze.dim", lambda B, T: (real(B, T - 1), 1), "vanishes if its size is 1"),
    ("aten.squeeze.default", lambda B, T: (real(B, T // 2),), "vanishes if its size is 1"),
    ("aten.expand.default", lambda T, S: (real(T), [S]), "broadcast"),
    ("aten.add.Tensor", lambda T: (real(T - 1), real(T)), "broadcast"),
    ("aten.add.Tensor", lambda T, S: (real(T), real(S)), "broadcast"),
    ("aten.slice.Tensor", lambda T, S: (real(T), 0, 0, T - S), "either end"),
    ("aten.slice.Tensor", lambda T, S: (real(T), 0, 0, END, T - S), "may not be positive"),
    ("aten.select.int", lambda T: (real(T), 0, 2), "the index 2"),
    ("aten.select.int", lambda T: (real(T), 0, -3), "the index -3"),
    ("aten.select.int", lambda T, S: (real(T), 0, S), "the index S"),
    ("aten.narrow.default", lambda T: (real(T), 0, 1, 2), "a piece"),
    ("aten.split_with_sizes.default", lambda T: (real(T), [2, 2]), "do not add up"),
    ("aten.split_with_sizes.default", lambda T: (real(T), [3, T - 3]), "a piece"),
    ("aten.split.Tensor", lambda T: (real(T), 2), "how many pieces"),
    ("aten.split.Tensor", lambda T, S: (real(T * S), S), "how many pieces"),
    ("aten.split.Tensor", lambda T: (real(2 * T - 2), T), "how many pieces"),
    ("aten.chunk.default", lambda T: (real(T), 3), "3 pieces"),
    ("aten.glu.default", lambda B, T: (real(B, T),), "broadcast"),
    ("aten.unbind.int", lambda T: (real(T),), "must be known"),
    ("aten.unfold.default", lambda T: (real(T), 0, 3, 1), "a window"),
    ("aten.cat.default", lambda B, T, S: ([real(B, T), real(T, S)], 1), "joined"),
    ("aten.stack.default", lambda T, S: ([real(T), real(S)],), "joined"),
    ("aten.copy.default", lambda T, S: (real(T), real(S)), "broadcast"),
    ("aten.slice_scatter.default", lambda T: (real(T), real(3), 0, -3), "written into a slice"),
    ("aten.select_scatter.default", lambda T, D: (real(T, D), real(D), 0, 4), "the index 4"),
    ("aten.var.correction", lambda T: (real(T), [0], {"correction": 3}), "variance of T"),
    ("aten.mm.default", lambda T, S: (real(T, T), real(S, T)), "contracted"),
    ("aten.bmm.default", lambda B, T: (real(B, T, T), real(1, T, T)), "batches"),
    ("aten.addmm.default", lambda T, D, S: (real(D), real(T, D), real(D, S)), "broadcast"),
    ("aten.addmm.default", lambda T, D: (real(2, T, T), real(T, D), real(D, T)), "added to a product"),
    ("aten.layer_norm.default", lambda B, D: (real(B, D), [B]), "a norm"),
    ("aten.rms_norm.default", lambda B, D: (real(B, D), [D], real(B, D), 1e-5), "a norm"),
    ("aten.group_norm.default", lambda B, D, T: (real(B, D, T), 2), "no multiple"),
    ("aten.group_norm.default", lambda B, D, T: (real(B, D, 2 * T), 2), "no multiple"),
    ("aten._native_batch_norm_legit_no_training.default",
     lambda B, D: (real(B, D), None, None, real(B), pos(B), 0.1, 1e-5), "each channel"),
    ("aten.scaled_dot_product_attention.default",
     lambda B, H, T, S, D: (real(B, H, T, D), real(B, S, T, D), real(B, S, T, D), {"enable_gqa": True}), "no multiple"),
    ("aten.scaled_dot_product_attention.default",
     lambda B, T, S, D: (real(B, T, D), real(B, S, D), real(B, S, D), bools(T, T)), "broadcast"),
    ("aten.scaled_dot_product_attention.default",
     lambda B, T, S, D: (real(B, T, D), real(B, S, D), real(B, T, D)), "contracted"),
    ("aten.full.default", lambda T, S: ([T - S], 1.0), "a size"),
    ("aten.arange.start", lambda T, S: (S, T), "a range"),
    ("aten.arange.start", lambda T: (0.5, T), "not whole"),
    ("aten.arange.start_step", lambda T, S: (0, T, T - S), "a range"),
    ("aten.constant_pad_nd.default", lambda T, S: (real(T), [S - T, 0]), "may add or cut"),
    ("aten.constant_pad_nd.default", lambda T: (real(T), [-3, 5]), "what padding leaves"),
    ("aten.constant_pad_nd.default", lambda T: (real(T), [-1, -2]), "what padding leaves"),
    ("aten.gather.default", lambda B, T, S: (real(B, T), 1, ints(T, S, T)), "beside the tensor"),
    ("aten.scatter.src", lambda T, D: (real(T, D), 0, ints(T, 1, D), real(1, T)), "beside the tensor"),
    ("aten.scatter.src", lambda T, D: (real(T, D), 0, ints(T, 2, D), real(2, D)), "may repeat"),
    ("aten.scatter_add.default", lambda B, T, S: (real(B, T), 1, ints(T, S, S), real(S, S)), "beside the tensor"),
    ("aten.index_add.default", lambda T, S, D: (real(T, D), 0, ints(T, S), real(T, D)), "rows are added"),
    ("aten.index_copy.default", lambda T, S, D: (real(T, D), 0, ints(T, S), real(S, D)), "may repeat"),
    ("aten.index_put.default", lambda T, S: (real(T), [ints(T, S)], real(T), True), "broadcast"),
    ("aten.topk.default", lambda T: (real(T), 3), "how many of a row"),
    ("aten.nll_loss.default", lambda B, D: (real(B, D), ints(D, D)), "a class for each place"),
    ("aten.cross_entropy_loss.default", lambda B, D: (real(B, D), ints(D, B), pos(B)), "a weight for each class"),
    ("aten.cross_entropy_loss.default", lambda B, D: (real(B, D), pos(D, B)), "a probability"),
    ("aten.conv1d.default", lambda B, D, T: (real(B, D, T), real(2, D, 3)), "a window"),
    ("aten.conv1d.default", lambda B, D, T: (real(B, D, T), real(2, T, 2)), "channels"),
    ("aten.convolution.default",
     lambda B, D, T: (real(B, 2 * D, T), real(D, D, 2), None, [1], [0], [1], False, [0], 2), "no multiple"),
    ("aten.avg_pool1d.default", lambda B, T: (real(B, 1, T), [3]), "a window"),
    ("aten.max_pool1d.default", lambda B, T, D: (real(B, 1, T), [T], [1], [2]), "padding of pooling"),
    ("aten.adaptive_avg_pool1d.default", lambda B, T: (real(B, 1, T), [2]), "no multiple"),
]

# Operators of which no dimension that they look at can be symbolic.
CANNOT = {
    "aten.unbind.int": "how many results there are is the size itself",
}
