"""Calls of torch operators to hold meanings against: torch's own samples, and our own where torch has none.

Torch's samples come as Python calls (`torch.softmax(x, 1)`); a recorder notes the operators that they reach, once
under `inference_mode`, which shows operators whole (`aten.softmax.int`), and once under `no_grad`, which shows what
they are made of (`aten._softmax.default`).
"""

from __future__ import annotations

import itertools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from samesame.operators.table import COMPLEX, REAL

ENGINES = ("vllm_ir.", "_C.", "samesame.")     # operators that are not torch's: test_engine_meanings.py has theirs
PER_OPINFO, PER_OPERATOR = 10, 30
DTYPES = (torch.float64, torch.complex128, torch.int64, torch.bool)
LARGEST = 2000                                             # elements of an argument

inf, nan = float("inf"), float("nan")
LOWEST = torch.finfo(torch.float32).min


@dataclass(frozen=True)
class Known:
    """A tensor of one number that the formula knows."""

    value: torch.Tensor


@dataclass
class Call:
    """One application of an operator: its arguments as they were, and what torch returned."""

    operator: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    result: Any = None


class Recorder(TorchDispatchMode):
    """Notes every operator called while it is on."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = copied(args), copied(kwargs or {})        # what is written to later must not change the record
        result = op(*args, **(kwargs or {}))
        self.calls.append(Call(str(op), *before, copied(result)))
        return result


def copied(x: Any) -> Any:
    if isinstance(x, torch.Tensor):
        return x.clone() if x.numel() <= LARGEST else x
    if isinstance(x, dict):
        return {name: copied(value) for name, value in x.items()}
    return tuple(map(copied, x)) if isinstance(x, tuple | list) else x


@cache
def recorded() -> dict[str, list[Call]]:
    """Calls of each operator that torch's own samples reach, the same whatever others there are. They take a few
    seconds to gather."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, list[Call]] = defaultdict(list)
    for info, dtype in itertools.product(op_db, DTYPES):
        if relevant(info, dtype) and dtype in info.supported_dtypes("cpu"):
            torch.manual_seed(2)
            for call in calls_of(info, dtype):
                if len(found[call.operator]) < PER_OPERATOR:
                    found[call.operator].append(call)
    return found


def relevant(info: Any, dtype: torch.dtype) -> bool:
    packets = {name.split(".")[1] for name in (COMPLEX if dtype.is_complex else REAL)}
    return bool({info.name.split(".")[-1], info.aten_name} & packets)


def calls_of(info: Any, dtype: torch.dtype) -> Iterator[Call]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        samples = info.sample_inputs_func(info, "cpu", dtype, False)    # sample_inputs searches the stack for a test
        for sample in itertools.islice(samples, PER_OPINFO):
            for mode in (torch.inference_mode, torch.no_grad):
                with mode(), Recorder() as recorder:
                    info.op(sample.input, *sample.args, **sample.kwargs)
                yield from recorder.calls


# ------------------------------------------------------------------------------------------------------ our own samples


def r(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64)


def pos(*shape: int) -> torch.Tensor:
    return torch.rand(shape, dtype=torch.float64) + 0.5


def ints(high: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, high, shape)


def bools(*shape: int) -> torch.Tensor:
    return torch.rand(shape) < 0.6


def c(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.complex128)


def bags_back(mode: int, offsets: list[int], weights: torch.Tensor | None) -> tuple[Any, ...]:
    """Arguments of a bag's gradient, with what the bag has kept for it."""
    indices, starts = ints(5, 6), torch.tensor(offsets)
    _, *kept = torch.ops.aten._embedding_bag(r(5, 3), indices, starts, False, mode, False, weights)
    return r(len(offsets), 3), indices, starts, *kept, 5, False, mode, False, weights


EDGES = torch.tensor([-1.0, 0.5, 0.5, 2.0])

Samples = dict[str, Callable[[], list[tuple[Any, ...]]]]   # operator -> argument lists; a last dict holds the keywords

UNARY = ("absolute", "arccos", "arcsin", "arctan", "fix", "negative", "special_erf", "special_exp2", "special_expit",
         "special_expm1", "special_log1p")
COMPARED = ("eq", "ne", "lt", "le", "gt", "ge", "less", "less_equal", "greater", "greater_equal", "not_equal")

OWN: Samples = {
    **{f"aten.{name}.default": lambda: [(torch.rand(3, 4, dtype=torch.float64) - 0.3,)] for name in UNARY},
    **{f"aten.{name}.Scalar": lambda: [(ints(4, 3, 4), 2), (r(5), 0.5), (r(), 0), (bools(3), True)]
       for name in COMPARED},
    **{f"aten.{name}.Tensor": lambda: [(ints(4, 3, 1), ints(4, 4)), (r(5), ints(2, 5))] for name in COMPARED},
    **{f"aten.{name}.Tensor": lambda: [(bools(3, 1), bools(4))]
       for name in ("__and__", "__or__", "__xor__")},
    **{f"aten.{name}.Scalar": lambda: [(bools(3, 2), True), (bools(3, 2), False)]
       for name in ("__or__", "__xor__", "bitwise_or", "bitwise_xor")},
    **{f"aten.{name}.Scalar": lambda: [(bools(3, 2), True), (bools(3, 2), False), (ints(99, 40) - 50, 15)]
       for name in ("__and__", "bitwise_and")},
    **{name: lambda: [(ints(99, 40) - 50, 3), (ints(99, 40) - 50, 0), (ints(99, 9) - 50, 31)]
       for name in ("aten.__rshift__.Scalar", "aten.bitwise_right_shift.Tensor_Scalar")},
    **{name: lambda: [(ints(99, 40) - 50, Known(torch.tensor(n))) for n in (0, 3, 31)]
       for name in ("aten.__rshift__.Tensor", "aten.bitwise_right_shift.Tensor")},
    **{f"aten.{name}.Scalar": lambda: [(ints(20, 7) - 10, 3), (ints(20, 7) - 10, -3), (r(7), 0.7), (ints(9, 4), 2.5)]
       for name in ("div", "floor_divide", "fmod", "remainder")},
    "aten.div.Scalar_mode": lambda: [
        (ints(20, 9) - 10, 3, {"rounding_mode": mode}) for mode in ("floor", "trunc", None)
    ] + [(r(9), -0.7, {"rounding_mode": mode}) for mode in ("floor", "trunc", None)]
      + [(ints(20, 9) - 10, -4, {"rounding_mode": mode}) for mode in ("floor", "trunc", None)],
    "aten.remainder.Scalar_Tensor": lambda: [(2.5, pos(4))],
    "aten.sub.Scalar": lambda: [(r(3), 2.5), (ints(5, 3), 2, 3), (r(3), 1, 0.5), (c(3), 2.0)],
    "aten.multiply.Tensor": lambda: [(r(3, 1), r(4)), (bools(3), bools(3)), (bools(3), r(3))],
    "aten.pow.Scalar": lambda: [(2, r(4)), (10000.0, torch.arange(0, 8, 2) / 8)],
    "aten.pow.Tensor_Tensor": lambda: [(pos(3), Known(torch.tensor(2.0))), (pos(3), Known(torch.tensor(-0.5))),
                                       (Known(torch.tensor(3.0)), r(4)), (ints(3, 4), Known(torch.tensor(2))),
                                       (r(9), ints(4, 9)), (r(9), ints(7, 9) - 3), (ints(5, 6) - 2, ints(3, 6))],
    "aten.max_pool1d.default": lambda: [(r(2, 3, 7), [3]), (r(2, 3, 7), [3], [2], [1], [2]), (r(3, 7), [2]),
                                        (-pos(2, 7), [3], [2], [1], [1], True), (r(2, 8), [2], [3], [1], [1], True),
                                        (r(2, 6), [2], [3], [1], [2], True)],
    "aten.max_pool2d.default": lambda: [(r(2, 3, 7, 6), [3, 2]), (r(1, 7, 6), [3, 3], [2, 1], [1, 1]),
                                        (-pos(1, 7, 6), [3, 2], [2, 3], [1, 1], [1, 2], True)],
    "aten.clamp.default": lambda: [(r(9), -0.5, 0.5), (r(9), None, 0.1), (r(9), 0.1), (ints(9, 9), 2, 5),
                                   (r(9), 0.5, -0.5), (r(9), LOWEST)],
    **{f"aten.index_fill.int_{kind}": lambda value=value: [(r(4, 3), 0, torch.tensor([-1, 1]), value),
                                                           (r(3), -1, torch.tensor([-3]), value)]
       for kind, value in (("Scalar", 5.0), ("Tensor", torch.tensor(5.0, dtype=torch.float64)))},
    "aten.clip.default": lambda: [(r(9), -0.5, 0.5)],
    "aten.clip.Tensor": lambda: [(r(3, 4), r(4), r(3, 1))],
    "aten.clamp_min.default": lambda: [(r(9), 0), (ints(9, 4), 3)],
    "aten.clamp_max.default": lambda: [(r(9), 0.25)],
    "aten.where.Scalar": lambda: [(bools(3, 4), 2, 0.5), (bools(3), 1, 2)],
    "aten.where.ScalarOther": lambda: [(bools(3, 1), r(4), -inf)],
    "aten.masked_fill.Scalar": lambda: [(r(3, 4), bools(3, 1), -inf), (r(4), bools(3, 4), 0), (r(3), bools(3), LOWEST)],
    "aten.to.dtype_layout": lambda: [(ints(4, 3), {"dtype": torch.float64}), (ints(3, 4), {"dtype": torch.bool}),
                                     (r(6) * 3, {"dtype": torch.int64}), (bools(4), {"dtype": torch.int32})],
    "aten.to.dtype": lambda: [(r(9) * 4, torch.int64), (torch.arange(5).double(), torch.int64),
                              (c(3), torch.complex128)],
    "aten.to.prim_Device": lambda: [(ints(4, 3), torch.device("cpu"), torch.float64), (r(3), torch.device("cpu"))],
    "aten.to.device": lambda: [(ints(4, 3), torch.device("cpu"), torch.bool)],
    "aten.to.other": lambda: [(ints(4, 3), r(2)), (bools(3), ints(3, 2)), (r(3), r(1)), (r(4), bools(1))],
    "aten.type_as.default": lambda: [(ints(4, 3), r(2)), (r(3) * 5, ints(3, 2)), (bools(3), r(3))],
    "aten._to_copy.default": lambda: [(ints(4, 3), {"dtype": torch.float64}), (r(3) * 5, {"dtype": torch.int32}),
                                      (r(2, 3), {"dtype": torch.complex128}), (ints(4, 3), {"dtype": torch.complex64})],
    "prims.convert_element_type.default": lambda: [(ints(4, 3), torch.float64), (r(3), torch.bool)],
    "aten._weight_norm_interface.default": lambda: [(r(3, 4, 2), pos(3, 1, 1)), (r(3, 4), pos(1, 4), 1)],
    "aten._cdist_forward.default": lambda: [(r(2, 3, 4), r(1, 5, 4), p, None) for p in (2.0, 1.0, 3.0)],
    "aten.binary_cross_entropy.default": lambda: [
        (torch.rand(3, 4, dtype=torch.float64), torch.rand(3, 4, dtype=torch.float64), weight, reduction)
        for weight, reduction in ((None, 1), (None, 2), (pos(4), 0))
    ] + [(torch.tensor([0.0, 1.0, 0.5], dtype=torch.float64), torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64))],
    "aten._linalg_det.default": lambda: [(r(3, 3),), (r(2, 4, 4),)],
    "aten._linalg_solve_ex.default": lambda: [
        (r(3, 3), r(3, 2)), (r(3, 3), r(3)), (r(2, 3, 3), r(2, 3)), (r(2, 3, 3), r(3, 2)),
        (r(3, 3), r(2, 3), {"left": False}), (r(2, 1, 3, 3), r(4, 3, 2)),
    ],
    **{f"aten.{name}.default": lambda: [(r(3, 4) * 3,), (torch.arange(-3, 4) / 2,), (torch.tensor([1e-9, 40, -7.25]),)]
       for name in ("lgamma", "digamma")},
    **{f"aten.{name}.default": lambda: [(torch.linspace(-1, 1, 21, dtype=torch.float64),),
                                        (torch.tensor([1e-6, 0.99999999], dtype=torch.float64),)]
       for name in ("erfinv", "special_ndtri")},
    "aten.atan2.default": lambda: [(r(3, 1), r(4)), (ints(5, 9) - 2, ints(5, 9) - 2), (r(9), torch.zeros(9)),
                                   (torch.zeros(4).double(), r(4))],
    "aten.copysign.Tensor": lambda: [(r(3, 1), r(4)), (ints(5, 9) - 2, ints(5, 9) - 2), (r(5), torch.zeros(5))],
    "aten.copysign.Scalar": lambda: [(r(4), -2.0), (r(4), 0.5), (ints(5, 9) - 2, -3)],
    "aten.signbit.default": lambda: [(r(9),), (ints(5, 9) - 2,), (torch.zeros(2),)],
    "aten.round.decimals": lambda: [(r(9) * 30, {"decimals": n}) for n in (2, 0, -1)],
    "aten.nan_to_num.default": lambda: [(r(4),), (torch.tensor([nan, 1.0, -inf, nan, 0.0]).double(), 2.0),
                                        (torch.tensor([nan, 1.0]).double(), None, 7.0, -7.0), (ints(5, 4),)],
    "aten.nansum.default": lambda: [(torch.tensor([[nan, 1.0, 2.0], [nan] * 3]).double(), *args) for args in
                                    ((), ([1],), ([0], True), ([0, 1],))] + [(ints(5, 3, 2), [0])],
    "aten.cummax.default": lambda: [(ints(9, 3, 5) - 4, 1), (r(4), 0)],
    "aten.cummin.default": lambda: [(ints(9, 3, 5) - 4, 1), (r(4), 0)],
    "aten.renorm.default": lambda: [(r(3, 4, 2), 2, 0, 1.0), (r(3, 4), 1, -1, 2.5), (r(3, 4), inf, 1, 0.5)],
    "aten.embedding_renorm.default": lambda: [(r(6, 4), ints(6, 2, 3), 1.0, 2.0), (r(6, 4), ints(6, 2), 1.5, 1.0)],
    "aten._euclidean_dist.default": lambda: [(r(5, 3), r(4, 3)), (r(2, 5, 3), r(2, 4, 3))],
    "aten._pdist_forward.default": lambda: [(r(5, 3), p) for p in (2.0, 1.0, inf)] + [(r(2, 3), 2.0)],
    "aten.dist.default": lambda: [(r(3, 4), r(4), p) for p in (2, 1, 0, inf)],
    "aten._trilinear.default": lambda: [(r(5, 3), r(2, 3, 4), r(5, 4), [1, 3], [0], [1, 2], [2, 3]),
                                        (r(3), r(3), r(3), [], [], [], [0], 0)],
    "aten.multi_margin_loss.default": lambda: [(r(5, 4), ints(4, 5), p, margin, weight, reduction)
                                               for p, margin, weight, reduction in
                                               ((1, 1, None, 1), (2, 0.5, pos(4), 0), (1, 2, pos(4), 2))],
    "aten.bucketize.Tensor": lambda: [(torch.cat([r(9), torch.tensor([-1.0, 0.5])]), EDGES, {"right": right})
                                      for right in (True, False)]
                                     + [(ints(9, 3, 2), torch.tensor([2, 5])), (r(3), torch.zeros(0))],
    "aten.bucketize.Scalar": lambda: [(0.5, EDGES, {"right": right}) for right in (True, False)],
    "aten.searchsorted.Tensor": lambda: [
        (EDGES, torch.tensor([[0.5, 3.0], [-1.0, -4.0]]), given)
        for given in ({"right": True}, {"right": False}, {"side": "right"}, {"side": "left"}, {"out_int32": True})
    ] + [(r(2, 3, 5).sort()[0], r(2, 3, 4)), (torch.arange(9), ints(9, 4))],
    "aten.searchsorted.Scalar": lambda: [(EDGES, 0.5, {"right": right}) for right in (True, False)],
    "aten.histc.default": lambda: [(torch.cat([r(30), torch.tensor([-1.0, 0.0, 1.0])]).double(), 4, -1, 1),
                                   (r(5, 4), 3, 0, 2.5)],
    "aten.block_diag.default": lambda: [(blocks,) for blocks in (
        [r(2, 3), r(1, 2), r(3, 1)], [r(3), r(2, 2), r()], [bools(2, 2), r(1, 1)], [r(2, 2)],
        [bools(2, 1), bools(1, 2)])],
    "aten.masked_scatter.default": lambda: [(r(3, 4), bools(3, 4), r(12)), (r(3, 4), bools(3, 1), r(3, 4)),
                                            (r(2, 3, 2), bools(3, 1), r(14)), (ints(9, 5), bools(5), ints(9, 7))],
    "aten.rot90.default": lambda: [(r(2, 3, 4), k, dims) for k in (-1, 0, 1, 2, 3, 6) for dims in ([0, 1], [2, 0])],
    "aten.col2im.default": lambda: [
        (r(2, 12, 12), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1]), (r(1, 6, 12), [5, 6], [2, 3], [2, 1], [1, 0], [2, 1]),
        (r(8, 6), [4, 6], [2, 2], [1, 1], [0, 0], [2, 2])],
    "aten.unfold_backward.default": lambda: [(r(3, 5, 3), [3, 7], 1, 3, 1), (r(3, 2, 3), [7, 2], 0, 3, 2)],
    "aten.affine_grid_generator.default": lambda: [
        (r(2, 2, 3), [2, 3, 4, 5], False), (r(2, 2, 3), [2, 1, 4, 1], True), (r(1, 3, 4), [1, 1, 2, 3, 4], False),
        (r(1, 3, 4), [1, 1, 2, 3, 4], True)],
    **{f"aten.grid_sampler{n}.default": lambda x=x, g=g: [
        (r(*x), r(*g), mode, padding, align) for mode in (0, 1) for padding in (0, 1) for align in (True, False)]
       for n, x, g in (("_2d", (2, 3, 4, 5), (2, 3, 2, 2)), ("_3d", (1, 2, 3, 4, 2), (1, 2, 3, 2, 3)),
                       ("", (1, 1, 1, 3), (1, 4, 2, 2)))},
    "aten.grid_sampler_2d_backward.default": lambda: [
        (r(2, 3, 4, 2), r(2, 3, 4, 5), r(2, 4, 2, 2), 0, padding, align, mask)
        for padding in (0, 1) for align in (True, False) for mask in ([True, True], [False, True], [True, False])],
    "aten.fft_fftfreq.default": lambda: [(n, d) for n in (1, 2, 7, 8) for d in (1.0, 0.25)],
    "aten.fft_rfftfreq.default": lambda: [(n, d) for n in (1, 2, 7, 8) for d in (1.0, 0.25)],
    **{f"aten.{name}_window.{overload}": lambda more=more: [(n, *more) for n in (1, 2, 5, 8)]
       for name in ("hann", "hamming", "blackman", "bartlett")
       for overload, more in (("default", ()), ("periodic", (False,)))},
    "aten.hamming_window.periodic_alpha": lambda: [(6, True, 0.6)],
    "aten.hamming_window.periodic_alpha_beta": lambda: [(6, False, 0.6, 0.3)],
    **{f"aten.{name}": lambda: [(ints(99, 40) - 50, 3), (ints(99, 9) - 50, 0)]
       for name in ("__lshift__.Scalar", "bitwise_left_shift.Tensor_Scalar")},
    **{f"aten.{name}": lambda: [(ints(99, 40) - 50, Known(torch.tensor(n))) for n in (0, 3, 20)]
       for name in ("__lshift__.Tensor", "bitwise_left_shift.Tensor")},
    **{f"aten.{name}.default": lambda: [(c(3, 4),), (torch.tensor([1, -2, 1j, -1j, 0.3 - 2j]),)]
       for name in ("angle", "log", "sqrt", "sin", "cos", "sgn")},
    **{f"aten.{name}.Tensor": lambda: [(c(3, 4), c(4)), (torch.tensor([1j, 2]), torch.tensor([1j, 2j])),
                                       (torch.tensor([1j, 2]), torch.tensor([1, 2]))] for name in ("eq", "ne")},
    "aten._fft_c2c.default": lambda: [(c(2, 5), [1], 0, True), (c(2, 6), [1], 1, False), (c(3, 2, 4), [0, 2], 2, True)],
    "aten._fft_r2c.default": lambda: [(r(2, 6), [1], 0, True), (r(2, 5), [1], 1, True), (r(3, 4), [0, 1], 2, True),
                                      (r(2, 5), [1], 0, False), (r(4, 3), [1, 0], 0, False)],
    "aten._fft_c2r.default": lambda: [(c(2, 4), [1], 0, 6), (c(2, 4), [1], 2, 7), (c(3, 3), [0, 1], 1, 4),
                                      (c(2, 1), [1], 2, 1)],
    "aten.isin.Tensor_Tensor": lambda: [(ints(9, 3, 4), ints(9, 3)), (ints(9, 5), ints(9, 4), {"invert": True})],
    "aten.special_logit.default": lambda: [(pos(4) - 0.5, 0.1)],
    "aten.scatter_reduce.two": lambda: [
        (r(4, 3), 0, ints(4, 5, 2), r(6, 3), reduce, {"include_self": include})
        for reduce in ("sum", "mean", "prod", "amax", "amin") for include in (True, False)
    ],
    # movement
    "aten.view.default": lambda: [
        (r(2, 3, 4), s) for s in ([6, 4], [2, 12], [2, 3, 2, 2], [4, 6], [24], [-1, 3], [2, 1, 3, 4, 1], [3, 8],
                                  [2, 2, 6])
    ] + [(r(), [1, 1]), (r(1, 1), []), (r(2, 0, 3), [0, 4]), (r(1, 6, 1), [2, 1, 3]), (r(12, 1), [3, 4])],
    "aten.reshape.default": lambda: [(r(4, 6).t(), [3, 8]), (r(), [-1]), (c(2, 3), [6])],
    "aten._reshape_alias.default": lambda: [(r(2, 6), [3, 4], [4, 1])],
    "aten.alias.default": lambda: [(r(2, 3),), (r(),)],
    "aten.lift.default": lambda: [(r(2, 3),)],
    "aten.lift_fresh_copy.default": lambda: [(r(2, 3),)],
    "aten.contiguous.default": lambda: [(r(2, 3).t(),)],
    "aten.numpy_T.default": lambda: [(r(2, 3, 4),)],
    "aten.mT.default": lambda: [(r(2, 3, 4),)],
    "aten.swapaxes.default": lambda: [(r(2, 3, 4), -1, 0)],
    "aten.swapdims.default": lambda: [(r(2, 3, 4), 1, 2)],
    "aten.transpose.int": lambda: [(c(2, 3, 4), -1, 0), (r(), 0, -1)],
    "aten.movedim.int": lambda: [(r(2, 3, 4), 0, -1), (r(2, 3, 4), -1, 0)],
    "aten.moveaxis.int": lambda: [(r(2, 3, 4), 0, 1)],
    "aten.moveaxis.intlist": lambda: [(r(2, 3, 4), [0, 1], [-1, 0])],
    "aten.squeeze_copy.dims": lambda: [(r(1, 3, 1), [0, 1, -1])],
    "aten.slice.Tensor": lambda: [
        (r(3, 7), *a) for a in ((1, 2, 5), (-1, -3), (1, 0, 100), (1, 1, 6, 2), (1, 5, 2), (0, 0, 0), (1, None, -2),
                                (1, -9, 3))
    ],
    "aten.slice_copy.Tensor": lambda: [(r(3, 7), 1, 2, 6, 3)],
    "aten.select.int": lambda: [(r(3, 4), 1, -1), (c(3, 4), 0, 1)],
    "aten.select_copy.int": lambda: [(r(3, 4), -1, -2)],
    "aten.split.sizes": lambda: [(r(3, 7), [2, 0, 5], -1)],
    "aten.split_copy.Tensor": lambda: [(r(7, 2), 3)],
    "aten.chunk.default": lambda: [(r(7, 2), 3), (r(2, 3), 4, -1)],
    "aten.unsafe_split_with_sizes.default": lambda: [(r(3, 7), [2, 5], 1)],
    "aten.concat.default": lambda: [([r(2, 3), r(2, 1), r(2, 0)], -1)],
    "aten.concatenate.default": lambda: [([r(2, 3), r(1, 3)],)],
    "aten.cat.default": lambda: [([r(2, 3), r(0), r(2, 2)], 1), ([bools(2), bools(3)],), ([ints(3, 2), r(1)],),
                                 ([r(2, 3)], 0), ([c(2), c(1)],)],
    "aten.stack.default": lambda: [([r(2, 3), r(2, 3)], -1), ([r(), r()],)],
    "aten.meshgrid.default": lambda: [([r(2), r(3), r()],)],
    **{f"aten.{kind}_pad{axes}d.default": lambda axes=axes: [(r(2, *(4, 3, 5)[:axes]), [1, 2, 0, 2, 1, 1][: 2 * axes])]
       for kind in ("reflection", "replication") for axes in (1, 2, 3)},
    **{f"aten.{kind}_pad{axes}d_backward.default": lambda axes=axes: [
        (r(2, *(5, 8, 7)[-axes:]), r(2, *(3, 5, 4)[-axes:]), [1, 2, 2, 1, 1, 1][: 2 * axes])]
       for kind in ("reflection", "replication") for axes in (1, 2, 3)},
    "aten._unsafe_masked_index.default": lambda: [
        *((r(4, 3), (found >= 0) & (found < 4), [found, ints(3, 5)], fill)
          for found in (ints(9, 5) - 2, ints(9, 2, 5) - 2) for fill in (0.0, 0.5)),
        (r(4, 3), bools(2, 5, 3), [ints(4, 2, 5), None], 0)],
    "aten.repeat.default": lambda: [(r(2, 3), [2, 1, 2]), (r(3), [0])],
    "aten.repeat_interleave.self_int": lambda: [(r(2, 3), 2), (r(2, 3), 3, -1), (r(3, 1), 2, 0)],
    "aten.roll.default": lambda: [(r(3, 4), [1, -1], [0, 1]), (r(3, 4), [5]), (r(4), [6], [0]), (r(0, 2), [1], [0])],
    "aten.flip.default": lambda: [(r(3, 4), [0, -1]), (r(3, 4), [])],
    "aten.copy.default": lambda: [(r(3, 4), r(4)), (r(2), ints(3, 2))],
    "aten.slice_scatter.default": lambda: [(r(5, 3), r(2, 3), 0, 1, 5, 2), (r(5, 3), r(5, 2), -1, -2),
                                           (r(5, 3), r(5, 3), 1)],
    "aten.select_scatter.default": lambda: [(r(5, 3), r(5), 1, -1)],
    "aten.unfold.default": lambda: [(r(3, 7), -1, 3, 2), (r(), 0, 1, 1)],
    "aten.diagonal.default": lambda: [(r(3, 4, 5), 1, 0, 2), (r(3, 4), -1)],
    "aten.constant_pad_nd.default": lambda: [(r(3, 4), [1, 2, 0, 1], 0.5), (r(3, 4), [-1, 2]), (r(5), [-1, -2], 7),
                                             (bools(3), [1, 1], True)],
    "aten.diagonal_scatter.default": lambda: [(r(3, 4, 5), r(4, 2), -1, 0, 2), (r(3, 4), r(3), 1), (c(3, 3), c(3))],
    "aten.native_channel_shuffle.default": lambda: [(r(2, 6, 3, 2), 3), (r(1, 4, 2), 2)],
    "aten.channel_shuffle.default": lambda: [(r(2, 6, 3, 2), 2), (c(2, 6, 3, 2), 3)],
    "aten.pixel_shuffle.default": lambda: [(r(2, 8, 3, 2), 2), (r(9, 1, 2), 3)],
    "aten.pixel_unshuffle.default": lambda: [(r(2, 3, 4, 6), 2), (r(1, 3, 6), 3)],
    # reductions
    "aten.mean.dim": lambda: [(r(2, 3, 4), [-1], True), (r(2, 3), [0, 1]), (r(3, 1), [1]), (r(3), None)],
    "aten.sum.dim_IntList": lambda: [(bools(2, 3), [1]), (ints(5, 2, 3), [-2], True), (r(2, 3), []), (r(0, 3), [0]),
                                     (r(), [0]), (c(2, 3), [1])],
    "aten.max.dim": lambda: [(r(3, 4), 1), (r(3, 4), -2, True), (r(3, 1), 1), (ints(9, 4), 0)],
    "aten.min.dim": lambda: [(r(3, 4), 1), (r(3, 4), 0, True)],
    "aten.argmax.default": lambda: [(r(3, 4), 1), (r(3, 4),), (r(3, 4), 0, True), (r(), 0), (r(3, 4), None, True)],
    "aten.argmin.default": lambda: [(r(3, 4), -1), (r(3, 4),), (r(),)],
    "aten.norm.Scalar": lambda: [(r(3, 4), 2), (r(3, 4), 3)],
    "aten.norm.ScalarOpt_dim": lambda: [(r(3, 4), 2, [1], True), (r(3, 4), None, [0]), (r(3, 4), 1, [0, 1])],
    "aten.linalg_vector_norm.default": lambda: [(x(3, 4), p, [1]) for p in (2, 1, 0, 3, 2.5, inf, -inf) for x in (r, c)]
                                               + [(r(3, 4), 2, None, True)],
    "aten.var.correction": lambda: [(r(3, 4), [1], {"correction": 0, "keepdim": True}), (r(3, 4), {"correction": 2})],
    "aten.var_mean.correction": lambda: [(r(3, 4), [-1], {"correction": 0, "keepdim": True}), (r(3, 4), [0])],
    "aten.topk.default": lambda: [(r(3, 5), 2), (r(3, 5), 2, 0, False), (r(), 1), (r(2, 3, 4), 4, 1 - 2)],
    "aten.sort.default": lambda: [(r(3, 5),), (r(3, 5), 0, True), (r(),)],
    "aten.sort.stable": lambda: [(r(3, 5), {"stable": True}), (ints(3, 9), {"stable": True, "descending": True})],
    "aten.argsort.default": lambda: [(r(3, 5),), (r(3, 5), 0, True)],
    "aten.argsort.stable": lambda: [(ints(3, 9), {"stable": True})],
    "aten.kthvalue.default": lambda: [(r(3, 5), 2), (ints(3, 4, 6), 6, 0 - 1, True), (r(3, 5), 3, 0), (r(), 1)],
    "aten.median.dim": lambda: [(r(3, 5), 1), (ints(3, 4, 6), -1, True), (r(4, 3), 0), (r(), 0)],
    "aten.median.default": lambda: [(r(3, 5),), (ints(3, 4, 3),), (r(),)],
    "aten.cumsum.default": lambda: [(bools(2, 5), -1), (r(2, 5), 0), (r(), 0)],
    # contraction
    "aten.einsum.default": lambda: [
        ("bthd,bshd->bhts", [r(2, 3, 2, 4), r(2, 5, 2, 4)]), ("ij,jk", [r(2, 3), r(3, 4)]), ("ii->i", [r(3, 3)]),
        ("...ij,...jk->...ik", [r(2, 1, 3, 4), r(5, 4, 2)]), ("i,j,k->kji", [r(2), r(3), r(4)]), ("ij->", [r(2, 3)]),
        ("ii", [r(3, 3)]), ("b i j, b j -> b i", [r(2, 3, 4), r(2, 4)]), ("...ij->...ji", [r(2, 3, 4)]),
        ("ij,ij->i", [r(2, 3), r(1, 3)]), ("b...,b...->...", [r(2, 3, 4), r(2, 4)]),
        ("bd,nd->bn", [c(2, 3), c(4, 3)]), ("i,i,i->", [c(3), c(3), c(3)]), ("i,i,i,i->i", [c(3), c(3), c(3), c(3)]),
    ],
    "aten.matmul.default": lambda: [
        (r(*a), r(*b)) for a, b in [((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 2, 3), (3, 4)),
                                    ((5, 1, 2, 3), (4, 3, 2)), ((3,), (2, 3, 4)), ((2, 4, 3), (3,)), ((2, 1), (1, 3)),
                                    ((2, 0), (0, 3))]
    ],
    "aten.addmm.default": lambda: [(r(4), r(3, 2), r(2, 4), {"beta": 0.5, "alpha": 2}),
                                   (r(3, 4) / 0, r(3, 2), r(2, 4), {"beta": 0})],
    "aten.linear.default": lambda: [(r(2, 3, 4), r(5, 4), r(5)), (r(4), r(5, 4)), (r(4), r(4)), (r(2, 4), r(5, 4))],
    "aten.ger.default": lambda: [(r(3), r(4))],
    # constants
    "aten.tril_indices.default": lambda: [(4, 4, -1), (3, 5), (5, 2, 1), (4, 6, -3), (2, 3, 9)],
    "aten.triu_indices.default": lambda: [(4, 4, 1), (3, 5), (5, 2, -1), (4, 6, 3), (6, 2, -9)],
    "aten.arange.start_step": lambda: [(0, 9, 2), (5, -1, -2), (0.5, 2, 0.25), (1, 4), (3, 3),
                                       (0, 5, {"dtype": torch.float64})],
    "aten.full.default": lambda: [([2, 3], True), ([], 0.1), ([2], 3), ([2], 3, {"dtype": torch.float64}),
                                  ([2], -inf), ([2], 1, {"dtype": torch.bool})],
    "aten.fill.Tensor": lambda: [(r(3), r()), (ints(3, 2), ints(4))],
    "aten.zero.default": lambda: [(r(2, 3),), (bools(2),)],
    "aten.new_ones.default": lambda: [(ints(4, 2), [], {"dtype": torch.bool}), (ints(4, 2), [3])],
    "aten.scalar_tensor.default": lambda: [(0.5,), (3, {"dtype": torch.int64}), (True, {"dtype": torch.bool})],
    "prims.iota.default": lambda: [(5, {"start": 2, "step": 3, "dtype": torch.int64, "device": torch.device("cpu"),
                                        "requires_grad": False})],
    "aten.tril.default": lambda: [(r(2, 3, 4), 1), (bools(3, 3), -1)],
    "aten.diag_embed.default": lambda: [(r(3),), (r(2, 3), 1), (r(2, 3), -2, 0, 2), (r(2, 3), 1, 2, 0)],
    "aten.diag.default": lambda: [(r(3), 1), (r(3), -2), (r(3, 4), 1), (r(3, 4), -1)],
    # norms and attention
    "aten._softmax.default": lambda: [(r(2, 3), 0, False), (r(), -1, False)],
    "aten._safe_softmax.default": lambda: [
        (torch.where(torch.tensor([[True, False], [False, False]]), r(2, 2), -inf), -1), (r(3, 4), 0)
    ],
    "aten.special_softmax.default": lambda: [(r(2, 3), 0), (r(2, 3), -1, torch.float64)],
    "aten.special_log_softmax.default": lambda: [(r(2, 3), 0)],
    "aten.rms_norm.default": lambda: [(r(2, 3, 4), [4], r(4), 1e-5), (r(2, 3, 4), [3, 4], None, 1e-6)],
    "aten._fused_rms_norm.default": lambda: [(r(2, 3, 4), [4], r(4), 1e-5), (r(2, 3, 4), [3, 4], None, 1e-6)],
    "aten._native_batch_norm_legit_no_training.default": lambda: [
        (r(2, 3, 4), r(3), r(3), r(3), pos(3), 0.1, 1e-5), (r(2, 3), None, None, r(3), pos(3), 0.1, 1e-3)
    ],
    "aten._native_batch_norm_legit.no_stats": lambda: [
        (r(2, 3, 4), r(3), r(3), True, 0.1, 1e-5), (r(3, 2), None, r(2), True, 0.1, 1e-3),
        (r(1, 3, 2, 2), r(3), None, True, 0.0, 1e-5),
    ],
    "aten.batch_norm.default": lambda: [
        (r(2, 3, 4), r(3), None, None, None, True, 0.1, 1e-5, True),
        (r(3, 2), None, None, r(2), pos(2), False, 0.1, 1e-5, True),
    ],
    "aten.native_batch_norm.default": lambda: [(r(2, 3, 4), r(3), r(3), None, None, True, 0.1, 1e-5)],
    "aten.group_norm.default": lambda: [(r(2, 6, 3), 3, r(6), r(6)), (r(2, 4), 2)],
    "aten.instance_norm.default": lambda: [
        (r(2, 3, 4), r(3), r(3), None, None, True, 0.1, 1e-5, True),
        (r(2, 3, 4, 2), *[None] * 4, True, 0.1, 1e-3, False),
        (r(2, 3, 4), r(3), r(3), r(3), pos(3), False, 0.1, 1e-5, False),
    ],
    **{f"aten.fake_quantize_per_tensor_affine{name}": lambda name=name: [
        *((r(40), scale, zero, -8, 7) for scale, zero in ((0.25, 0), (0.375, 3), (0.0625, -5))),
        (torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, 1e3, -1e3], dtype=torch.float64), 1.0, 1, -8, 7),
        (torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, 7.5, -8.5], dtype=torch.float64), 1.0, 0, -8, 7),
    ] for name in ("_cachemask.default", ".default")},
    "aten.fake_quantize_per_tensor_affine.tensor_qparams": lambda: [
        (r(40), torch.tensor([0.25]), torch.tensor([2], dtype=torch.int32), -8, 7)
    ],
    **{f"aten.fake_quantize_per_channel_affine{name}": lambda: [
        (r(3, 9), torch.tensor([0.25, 0.5, 0.375]), torch.tensor([0, 3, -2], dtype=torch.int32), 0, -8, 7),
        (r(3, 2), torch.tensor([0.25, 0.5]), torch.tensor([0, 3], dtype=torch.int32), 1, 0, 15),
    ] for name in ("_cachemask.default", ".default")},
    "aten.feature_dropout.default": lambda: [(r(2, 3), 0.5, False)],
    "aten.dropout.default": lambda: [(r(2, 3), 0.5, False), (r(2, 3), 0.0, True)],
    "aten.native_dropout.default": lambda: [(r(2, 3), 0.0, True)],
    "aten.scaled_dot_product_attention.default": lambda: [
        (r(2, 6, 5, 4), r(2, 2, 7, 4), r(2, 2, 7, 3), None, 0.0, True, {"enable_gqa": True, "scale": 0.3}),
        (r(2, 6, 5, 4), r(2, 6, 7, 4), r(2, 6, 7, 3), bools(5, 7)),
        (r(2, 6, 5, 4), r(2, 6, 7, 4), r(2, 6, 7, 3), bools(2, 1, 1, 7)),
        (r(2, 6, 5, 4), r(2, 6, 7, 4), r(2, 6, 7, 3), r(2, 1, 5, 7), {"scale": 1.0}),
        (r(5, 4), r(7, 4), r(7, 3)),
        (r(3, 5, 4), r(3, 7, 4), r(3, 7, 3), None, 0.0, True),
    ],
    "aten._scaled_dot_product_flash_attention_for_cpu.default": lambda: [
        (r(2, 6, 5, 4), r(2, 6, 7, 4), r(2, 6, 7, 4), 0.0, True),
        (r(2, 6, 5, 4), r(2, 2, 7, 4), r(2, 2, 7, 4), 0.0, False, {"scale": 0.3}),
        (r(2, 2, 3, 4), r(2, 2, 3, 4), r(2, 2, 3, 4),
         {"attn_mask": torch.tensor([[0, -inf, 1], [-inf] * 3, [0.5, 0, 0]], dtype=torch.float64)[None, None]}),
    ],
    "aten._scaled_dot_product_attention_math.default": lambda: [
        (r(2, 2, 5, 4), r(2, 2, 7, 4), r(2, 2, 7, 3), bools(5, 7)),
        (r(2, 2, 5, 4), r(2, 2, 7, 4), r(2, 2, 7, 3), None, 0.0, True, {"scale": 0.7}),
    ],
    # indexing
    "aten.gelu_backward.default": lambda: [(r(3, 4), r(3, 4)), (r(7), r(7), {"approximate": "tanh"})],
    "aten.softplus_backward.default": lambda: [
        (r(3, 4), 5 * r(3, 4), 2, 3), (torch.ones(3).double(), torch.tensor([-19.0, 19, 21]).double(), 1, 20)],
    **{f"aten.{name}_backward.default": lambda: [
        (r(3, 4), r(3, 4), 0.5), (r(3), torch.tensor([0.5, -0.5, 0]).double(), 0.5)]
       for name in ("hardshrink", "softshrink")},
    "aten._cdist_backward.default": lambda: [
        (r(*batch, 3, 5), x, y, p, torch.cdist(x, y, p)) for p in (2.0, 1.0)
        for batch, x, y in (((), r(3, 4), r(5, 4)), ((2,), r(2, 3, 4), r(2, 5, 4)),
                            ((), torch.zeros(3, 2).double(), torch.eye(5, 2).double()))],
    "aten._weight_norm_interface_backward.default": lambda: [
        (r(3, 4, 2), r(3, 4, 2), pos(3, 1, 1), pos(3, 1, 1), 0), (r(3, 4), r(3, 4), pos(1, 4), pos(1, 4), 1)],
    "aten._embedding_bag_backward.default": lambda: [
        bags_back(mode, offsets, weights) for offsets in ([0, 2, 4], [0, 0, 3], [0, 1, 6])
        for mode, weights in ((0, None), (1, None), (0, r(6)))],
    "aten._softmax_backward_data.default": lambda: [
        (r(2, 3), torch.softmax(r(2, 3), dim), dim, torch.float64) for dim in (0, -1)
    ],
    "aten._log_softmax_backward_data.default": lambda: [
        (r(2, 3), torch.log_softmax(r(2, 3), dim), dim, torch.float64) for dim in (0, -1)
    ],
    "aten.native_layer_norm_backward.default": lambda: [
        (r(2, 3, 4), r(2, 3, 4), [4], r(2, 3, 1), pos(2, 3, 1), r(4), r(4), [True] * 3),
        (r(2, 3, 4), r(2, 3, 4), [3, 4], r(2, 1, 1), pos(2, 1, 1), r(3, 4), r(3, 4), [True] * 3),
    ],
    "aten.embedding_dense_backward.default": lambda: [
        (r(2, 4, 3), ints(5, 2, 4), 5, -1, False), (r(6, 3), ints(4, 6), 4, 2, False),
    ],
    "aten.embedding.default": lambda: [(r(5, 3), ints(5, 2, 4), 0), (r(5, 3), ints(5)), (c(5, 3), ints(5, 2, 4), 0)],
    **dict.fromkeys(("aten._embedding_bag.default", "aten._embedding_bag_forward_only.default"), lambda: [
        (r(5, 3), ints(5, 6), torch.tensor([0, 2, 4])), (r(5, 3), ints(5, 6), torch.tensor([0, 3]), False, 1),
        (r(5, 3), ints(5, 7), torch.tensor([0, 0, 2, 6])), (r(5, 3), ints(5, 7), torch.tensor([0, 0, 2, 6]), False, 1),
        (r(5, 3), ints(5, 6), torch.tensor([0, 2, 4]), False, 0, False, r(6)),
    ]),
    "aten.index.Tensor": lambda: [
        (r(3, 4), [ints(3, 5)]), (r(3, 4), [None, ints(4, 2, 2)]), (r(3, 4), [ints(3, 2), ints(4, 2)]),
        (r(3, 4, 5), [ints(3, 2), None, ints(5, 2)]), (r(3, 4, 5), [None, ints(4, 2, 1), ints(5, 3)]),
        (r(5), [torch.tensor([-1, -5, 2])]), (r(3, 4), [ints(3), None]),
        (r(2, 3, 4, 5), [None, ints(3, 2), None, ints(5, 2)]), (c(5, 3), [ints(5, 2, 2) - 5]),
        (c(2, 5, 3), [ints(2, 4), None, ints(3, 4)]),
    ],
    "aten._unsafe_index.Tensor": lambda: [(r(3, 4), [ints(3, 5)]), (c(3, 4), [None, ints(4, 5)])],
    "aten.gather.default": lambda: [(r(3, 4), 1, ints(4, 3, 2)), (r(3, 4), -2, ints(3, 2, 4)), (r(), 0, ints(1, 2))],
    "aten.index_put.default": lambda: [
        (r(3, 4), [bools(3)], r(4)), (r(3, 4), [bools(3, 4)], r()),
        *((x, [mask], r(int(mask.sum()), *x.shape[mask.ndim :])) for x, mask in (
            (r(4, 3), bools(4)), (r(3, 2, 4), bools(3, 2)), (r(5, 2), bools(5, 2)), (r(3, 2), torch.zeros(3) > 0))),
        (r(5, 3), [torch.tensor([1])], r(1, 3)), (r(5, 3), [bools(5, 3)], torch.tensor(0.5, dtype=torch.float64)),
        (r(5, 3), [ints(5, 4)], r(4, 3), True), (r(5, 3), [None, ints(3, 4)], r(5, 4), True),
        (r(5, 3), [ints(5, 4), ints(3, 4)], r(4), True), (r(5, 3), [bools(5)], torch.tensor(0.5, dtype=torch.float64)),
        (r(5, 3), [torch.tensor([-2])], r(3)), (r(2, 5, 3), [None, torch.tensor([4]), None], r(2, 1, 3)),
    ],
    "aten._unsafe_index_put.default": lambda: [(r(5, 3), [torch.tensor([1])], r(1, 3))],
    "aten.index_copy.default": lambda: [(r(5, 3), 0, torch.tensor([2]), r(1, 3)), (r(3), -1, torch.tensor(1), r())],
    "aten.index_add.default": lambda: [(r(5, 3), 0, ints(5, 6), r(6, 3), {"alpha": 2}),
                                       (r(5, 3), 1, ints(3, 6), r(5, 6))],
    "aten.scatter.src": lambda: [(r(5, 3), 0, torch.tensor([[2, 0, 4]]), r(1, 3)),
                                 (r(5, 3), 1, torch.tensor([[1]]), r(2, 2))],
    "aten.scatter.value": lambda: [(r(5, 3), 0, ints(5, 2, 3), 0.5), (r(5, 3), -1, ints(3, 4, 2), 2),
                                   (r(), 0, ints(1), 3)],
    "aten.scatter_add.default": lambda: [(r(5, 3), 0, ints(5, 4, 3), r(4, 3)), (r(5, 3), 1, ints(3, 2, 4), r(3, 4)),
                                         (r(), 0, ints(1, 1), r(1))],
    "aten.bincount.default": lambda: [(ints(4, 9), None, 4), (ints(4, 9), r(9), 6), (ints(4, 9), ints(3, 9), 4)],
    "aten.one_hot.default": lambda: [(ints(4, 2, 3), 4), (ints(3), 5)],
    "aten.take_along_dim.default": lambda: [(r(3, 4), ints(4, 1, 2), 1), (r(3, 4), ints(12, 5)),
                                          (r(1, 4), ints(4, 3, 2), -1)],
    # losses and windows
    "aten.cross_entropy_loss.default": lambda: [
        (r(4, 5), ints(5, 4)), (r(4, 5), torch.tensor([0, -100, 3, 4]), pos(5)), (r(4, 5), ints(5, 4), None, 2),
        (r(4, 5, 2), ints(5, 4, 2), None, 0), (r(5), ints(5)), (r(4, 5), ints(5, 4), pos(5), 1, 2),
        (r(4, 5), torch.tensor([0, 1, 3, 4]), pos(5), 1, 1, 0.1), (r(4, 5), pos(4, 5)),
        (r(4, 5), pos(4, 5), None, 2, -100, 0.2),
    ],
    "aten.nll_loss.default": lambda: [(r(4, 5), ints(5, 4)), (r(4, 5), ints(5, 4), pos(5), 2)],
    "aten.nll_loss2d.default": lambda: [(r(2, 5, 2, 3), ints(5, 2, 2, 3))],
    "aten.nll_loss2d_forward.default": lambda: [(r(2, 5, 2, 3), ints(5, 2, 2, 3), pos(5), 1, 3)],
    "aten.nll_loss_forward.default": lambda: [(r(4, 5), torch.tensor([0, -100, 3, 4]), None, 1, -100),
                                              (r(4, 5), ints(5, 4), pos(5), 2, 1)],
    "aten.convolution.default": lambda: [
        (r(2, 4, 7), r(6, 2, 3), r(6), [2], [1], [1], False, [0], 2),
        (r(1, 2, 5, 6), r(3, 2, 3, 2), None, [1, 2], [1, 0], [2, 1], False, [0, 0], 1),
        (r(1, 3, 5), r(3, 1, 2), r(3), [1], [1], [1], False, [0], 3),
        (r(1, 2, 4, 3), r(2, 3, 3, 2), r(3), [2, 1], [1, 0], [1, 2], True, [1, 0], 1),
        (r(1, 2, 5), r(2, 3, 3), r(6), [1], [2], [1], True, [0], 2),
    ],
    "aten.convolution_backward.default": lambda: [
        (r(2, 6, 4), r(2, 4, 7), r(6, 2, 3), [6], [2], [1], [1], False, [0], 2, [True] * 3),
        (r(2, 6, 3), r(2, 4, 8), r(6, 4, 2), [0], [3], [0], [1], False, [0], 1, [True, True, False]),
        (r(1, 3, 3, 5), r(1, 2, 5, 6), r(3, 2, 3, 2), [3], [1, 1], [1, 0], [2, 1], False, [0, 0], 1,
         [False, True, True]),
        (r(1, 3, 5), r(1, 3, 5), r(3, 1, 1), [3], [1], [0], [1], False, [0], 3, [True, False, False]),
        (r(1, 3, 8, 5), r(1, 2, 4, 3), r(2, 3, 3, 2), [3], [2, 1], [1, 0], [1, 2], True, [1, 0], 1, [True] * 3),
        (r(1, 6, 3), r(1, 2, 5), r(2, 3, 3), [6], [1], [2], [1], True, [0], 2, [True, True, False]),
        (r(1, 2, 10), r(1, 2, 3), r(2, 2, 2), [2], [2], [0], [3], True, [2], 1, [True] * 3),
        (r(1, 2, 3, 3, 3), r(1, 2, 4, 4, 4), r(2, 1, 2, 2, 2), [2], [1] * 3, [0] * 3, [1] * 3, False, [0] * 3, 2,
         [True] * 3),
    ],
    **{f"aten.avg_pool{n}d_backward.default": lambda n=n: [
        (r(1, 2, *(3,) * n), r(1, 2, *(6,) * n), [2] * n, [], [0] * n, False, True, None),
        (r(1, *(4,) * n), r(1, *(6,) * n), [3] * n, [2] * n, [1] * n, True, False, None),
        (r(1, *(3,) * n), r(1, *(5,) * n), [2] * n, [2] * n, [0] * n, True, True, 3),
    ] for n in (2, 3)},
    **{f"aten._adaptive_avg_pool{n}d_backward.default": lambda n=n: [
        (r(2, *(2,) * n), r(2, *(4,) * n)), (r(2, *(3,) * n), r(2, *(5,) * n)), (r(1, *(1,) * n), r(1, *(3,) * n))
    ] for n in (2, 3)},
    **{f"aten.adaptive_max_pool{n}d_backward.default": lambda n=n: [
        (r(1, 2, *(2,) * n), r(1, 2, *(4,) * n), ints(4**n, 1, 2, *(2,) * n))] for n in (2, 3)},
    **{f"aten.max_pool{n}d_with_indices_backward.default": lambda n=n: [
        (r(1, 2, *(4,) * n), r(1, 2, *(5,) * n), [2] * n, [1] * n, [0] * n, [1] * n, False,
         ints(5**n, 1, 2, *(4,) * n))] for n in (2, 3)},
    **{f"aten.{name}{n}d{back}.default": lambda n=n, back=back: [
        *((*((r(1, 2, *(m,) * n), [m] * n, [1, 2, *(k,) * n]) if back else (r(1, 2, *(k,) * n), [m] * n)),
           *[scale] * n) for k, m, scale in ((2, 4, None), (3, 5, None), (4, 2, 0.5), (3, 3, None), (2, 3, 1.5))),
    ] for name in ("upsample_nearest", "_upsample_nearest_exact") for n in (1, 2, 3) for back in ("", "_backward")},
    **{f"aten.upsample_{name}{n}d{back}.default": lambda n=n, back=back: [
        *((*((r(1, 2, *(m,) * n), [m] * n, [1, 2, *(k,) * n]) if back else (r(1, 2, *(k,) * n), [m] * n)),
           aligned, *[scale] * n) for aligned in (True, False)
          for k, m, scale in ((2, 4, None), (3, 5, None), (4, 2, 0.5), (3, 1, None), (2, 3, 1.5))),
    ] for name, n in (("linear", 1), ("bilinear", 2), ("trilinear", 3), ("bicubic", 2)) for back in ("", "_backward")},
    "aten.conv1d.padding": lambda: [(r(2, 3, 5), r(2, 3, 3), r(2), [1], "same"),
                                     (r(2, 3, 5), r(2, 3, 3), None, [2], "valid")],
    **{f"aten.max_pool{n}d_with_indices.default": lambda n=n: [(r(2, *(5,) * n), [2], [1]),
                                                               (r(1, 2, *(5,) * n), [3], [2], [1])] for n in (1, 2, 3)},
    "aten.log_sigmoid_forward.default": lambda: [(r(3, 4),)],
    "aten.conv2d.padding": lambda: [(r(1, 2, 5, 6), r(3, 2, 3, 5), None, [1, 1], "same", [2, 1]),
                                    (r(1, 2, 5, 6), r(3, 2, 3, 2), r(3), [2, 1], "valid")],
    "aten.avg_pool2d.default": lambda: [(r(1, 2, 5, 6), [2, 3]), (r(1, 2, 5, 6), [3, 3], [2, 1], [1, 1], False, False),
                                        (r(2, 5, 6), [2, 2], [], [1, 1]), (r(1, 1, 4, 4), 2, 2, 0, False, True, 3),
                                        *((r(1, 6, 7), [3, 2], [2, 3], [1, 1], True, counted, over)
                                          for counted in (True, False) for over in (None, 5))],
    "aten.avg_pool1d.default": lambda: [(r(2, 8), [n], [3], [p], True, counted)
                                        for n, p in ((2, 1), (3, 0), (4, 2)) for counted in (True, False)],
    "aten.avg_pool3d.default": lambda: [(r(1, 4, 5, 3), [3, 2, 2], [2, 3, 2], [1, 1, 0], True, counted)
                                        for counted in (True, False)],
    "aten.adaptive_avg_pool1d.default": lambda: [(r(2, 3, 6), [1]), (r(2, 3, 6), [2]), (r(2, 7), [3]), (r(2, 3), [5])],
    **{f"aten.adaptive_max_pool{n}d.default": lambda n=n: [(-pos(2, *(7,) * n), [3] * n), (r(2, *(3,) * n), [5] * n),
                                                           (r(2, *(4,) * n), [2] * n)] for n in (1, 2, 3)},
    **{f"aten.{name}adaptive_avg_pool{n}d.default": lambda n=n: [(r(2, *range(5, 5 + n)), [3, *(2,) * (n - 1)])]
       for n in (2, 3) for name in ("", "_")},
    **{f"aten.conv_transpose{n}d.{overload}": lambda n=n: [
        (r(1, 4, *range(2, 2 + n)), r(4, 3, *(3,) * n), r(6), [3] * n, [1] * n, [2] * n, 2, [2] * n),
        (r(2, *(2,) * n), r(2, 3, *(2,) * n), None, [2] * n), (r(2, *(3,) * n), r(2, 3, *(2,) * n)),
    ] for n, overload in ((1, "default"), (2, "input"), (3, "input"))},
    # complex numbers
    "aten.view_as_real.default": lambda: [(c(2, 3),)],
    "aten.view_as_complex.default": lambda: [(r(2, 3, 2),)],
    "aten.mul.Tensor": lambda: [(c(2, 3), c(3)), (c(2, 1), r(3)), (r(2, 3), c(3)), (c(3), 2.0)],
    "aten.add.Tensor": lambda: [(c(2, 3), c(3)), (c(2, 1), r(3)), (r(2), c(2), {"alpha": 2}), (bools(3), bools(3)),
                                (bools(3), ints(3, 3)), (ints(3, 3), 0.5)],
    "aten.mul.Scalar": lambda: [(r(3), 2 - 1j), (c(3), 1j), (c(3), 0.5), (r(3), 2)],
    "aten.add.Scalar": lambda: [(r(3), 2 - 1j), (c(3), 1j, 2), (r(3), 0.5), (c(2), 3)],
    "aten.rsub.Scalar": lambda: [(r(3), 2.5), (ints(5, 3), 2, 3), (r(3), 1, 0.5), (c(3), 2 + 1j, 2)],
    "aten.div.Tensor": lambda: [(c(2, 3), c(3)), (c(2, 1), pos(3)), (r(2, 3), c(3)), (r(3), pos(3))],
    "aten.where.ScalarSelf": lambda: [(bools(3, 4), 2.0, r(4)), (bools(3, 4), 2 - 1j, c(4))],
    "aten.pow.Tensor_Scalar": lambda: [(pos(3), q) for q in (0.5, -0.5, 2, 3, 0, 1.5, -1)]
                                      + [(ints(4, 3), 2), (c(3), 2), (c(3), 3.0)],
    "aten.conj.default": lambda: [(c(2, 3),)],
    "aten._conj.default": lambda: [(c(2, 3),)],
    "aten.conj_physical.default": lambda: [(c(2, 3),)],
    "aten._conj_physical.default": lambda: [(c(2, 3),)],
    "aten.real.default": lambda: [(c(2, 3),)],
    "aten.imag.default": lambda: [(c(2, 3),)],
    "aten.unsqueeze.default": lambda: [(c(2, 3), -1), (r(), 0)],
    "aten.expand.default": lambda: [(c(2, 1), [3, 2, 4]), (r(2, 1), [-1, 4]), (r(), [2])],
    "aten.all.default": lambda: [(bools(3),), (r(2, 2),), (bools(0),)],
    "aten.any.dims": lambda: [(bools(3, 4), [0, 1]), (bools(3, 4), None, True)],
}


def own(operator: str) -> list[Call]:
    """Our own samples of an operator, run."""
    torch.manual_seed(len(operator))
    calls = []
    for arguments in OWN.get(operator, list)():
        kwargs = arguments[-1] if arguments and isinstance(arguments[-1], dict) else {}
        args = arguments[:-1] if kwargs else arguments
        calls.append(Call(operator, args, kwargs, run(operator, args, kwargs)))
    return calls


def run(operator: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    namespace, name, overload = operator.split(".")
    args = tuple(x.value if isinstance(x, Known) else x for x in args)
    with torch.no_grad():
        return getattr(getattr(getattr(torch.ops, namespace), name), overload)(*args, **kwargs)
