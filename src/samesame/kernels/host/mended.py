"""Triton's interpreter, where one of its versions computes something else than a device does, or fails.

Each line below is a mistake that a version between those of `pyproject.toml` has and a later one has mended. All
versions get the same functions, so that a kernel's values do not depend on which Triton is installed, and what holds
here of the newest is tried of the oldest, too. What no version does right is mended in `language` and `bfloat`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
import triton.language as tl
from triton._C.libtriton import ir
from triton.runtime import interpreter
from triton.runtime.interpreter import TensorHandle, interpreter_builder

from samesame.kernels.host.device import replaced


def mended(stack: ExitStack) -> None:
    """Until the stack unwinds, the interpreter does what that of the newest Triton does."""
    builder = interpreter_builder
    replaced(stack, builder, "binary_op", of_bits(builder.binary_op))
    replaced(stack, builder, "create_minnumf", lambda x, y: builder.binary_op(x, y, np.fmin))
    replaced(stack, builder, "create_maxnumf", lambda x, y: builder.binary_op(x, y, np.fmax))
    replaced(stack, builder, "create_clampf", clamped(builder.create_clampf))
    replaced(stack, builder, "create_umulhi", high_half)
    replaced(stack, builder, "create_histogram", counted)
    replaced(stack, builder, "get_all_ones_value", all_ones)
    replaced(stack, interpreter.ReduceScanOpInterface, "to_tensor", cut(interpreter.ReduceScanOpInterface.to_tensor))
    replaced(stack, tl.core.tensor, "__index__", lambda self: int(self.handle.data.squeeze()))
    replaced(stack, tl.condition, "__bool__", lambda self: bool(self.condition))
    for kind in [kind for kind in vars(interpreter).values() if hasattr(kind, "materialize_pointers")]:
        replaced(stack, kind, "materialize_pointers", masked(kind.materialize_pointers))


def of_bits(original: Callable[..., Any]) -> Callable[..., Any]:
    """Truth values are integers of one bit, of which 1 + 1 is 0; numpy's are added as `or`, and not subtracted."""

    def operation(left: Any, right: Any, op: Any) -> Any:
        if not left.data.dtype == right.data.dtype == np.bool_:
            return original(left, right, op)
        found = op(left.data.astype(np.int8), right.data.astype(np.int8))
        return TensorHandle((found & 1).astype(np.bool_), tl.int1)

    return operation


def clamped(original: Callable[..., Any]) -> Callable[..., Any]:
    """What is no number becomes the lower bound, unless it is to be kept."""

    def operation(x: Any, low: Any, high: Any, kept: Any) -> Any:
        if kept != ir.PROPAGATE_NAN.NONE:
            return original(x, low, high, kept)
        return interpreter_builder.create_minnumf(interpreter_builder.create_maxnumf(x, low), high)

    return operation


def high_half(left: Any, right: Any) -> Any:
    """The upper half of a product of unsigned numbers; of signed ones, of their bits."""
    dtype = left.data.dtype
    bits = 8 * dtype.itemsize
    whole = (1 << bits) - 1
    a, b = (numbers.astype(object) & whole for numbers in (left.data, right.data))
    found = np.asarray(a * b >> bits).astype(f"u{dtype.itemsize}")
    return TensorHandle(found.view(dtype), left.dtype.scalar)


def counted(x: Any, bins: int, mask: Any) -> Any:
    """Of each bin how many lanes hold its number; what is in no bin is not counted."""
    inside = (x.data >= 0) & (x.data < bins)
    if mask is not None:
        inside &= mask.data
    return TensorHandle(np.bincount(x.data[inside].astype(np.int64), minlength=bins).astype(np.int32), tl.int32)


def all_ones(type_: Any) -> Any:
    """−1, which an unsigned number cannot be made of."""
    return TensorHandle(np.full(1, -1, np.int64).astype(interpreter._get_np_dtype(type_)), type_.scalar)


def cut(original: Callable[..., Any]) -> Callable[..., Any]:
    """A sum that is too long for its type wraps around; numpy refuses to make a number of it."""

    def made(self: Any, found: Any, dtype: Any) -> Any:
        return original(self, np.asarray(found).astype(interpreter._get_np_dtype(dtype)), dtype)

    return made


def masked(original: Callable[..., Any]) -> Callable[..., Any]:
    """The pointers of a block, and the mask of those that lie inside, which accesses take for one of the language."""

    def pointers(self: Any, asked: Any) -> Any:
        found, mask = original(self, asked)
        return found, TensorHandle(mask, tl.int1) if isinstance(mask, np.ndarray) else mask

    return pointers
