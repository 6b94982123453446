"""bfloat16 in Triton's interpreter, computed as a device does.

Its arrays hold bfloat16 numbers as their 16 bits, and it adds, multiplies, compares and sums these as integers. Here
such numbers become float32, and what is computed of them is rounded to the nearest bfloat16, ties to even. Conversions
round likewise, where the interpreter cuts off.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
import triton.language as tl
from triton.runtime import interpreter
from triton.runtime.interpreter import TensorHandle, interpreter_builder

from samesame.kernels.host.device import replaced

# Operations of the interpreter's builder, and which operand has the result's type.
COMPUTED = {"unary_op": 0, "binary_op": 0, "ternary_op": 2, "create_fma": 2, "create_dot": 2}


def rounded_bfloats(stack: ExitStack) -> None:
    """Until the stack unwinds, the interpreter computes with bfloat16 numbers and not with their bits."""
    builder = interpreter_builder
    for name, typed in COMPUTED.items():
        replaced(stack, builder, name, computed(getattr(builder, name), typed))
    replaced(stack, builder, "cast_impl", cast(builder.cast_impl))
    for kind in (interpreter.ReduceOps, interpreter.ScanOps):
        replaced(stack, kind, "apply_impl", along_an_axis(kind.apply_impl))


def is_bfloat(dtype: Any) -> bool:
    return bool(dtype.scalar == tl.bfloat16)


def widened(bits: np.ndarray) -> np.ndarray:
    """bfloat16 numbers as float32, which holds them all."""
    found: np.ndarray = (bits.astype(np.uint32) << 16).view(np.float32)
    return found


def narrowed(values: np.ndarray) -> np.ndarray:
    """The bits of the nearest bfloat16 numbers."""
    given = torch.from_numpy(np.array(values, dtype=np.float32))
    return given.to(torch.bfloat16).view(torch.int16).numpy().view(np.uint16)


def wide(value: Any) -> Any:
    if isinstance(value, TensorHandle) and is_bfloat(value.dtype) and value.data.dtype == np.uint16:
        return TensorHandle(widened(value.data), tl.float32)
    return value


def computed(original: Callable[..., Any], typed: int) -> Callable[..., Any]:
    def operation(*args: Any) -> Any:
        given = [wide(arg) for arg in args]
        result = original(*given)
        rounds = given[typed] is not args[typed] and result.data.dtype.kind == "f"
        return TensorHandle(narrowed(result.data), tl.bfloat16) if rounds else result

    return operation


def cast(original: Callable[..., Any]) -> Callable[..., Any]:
    def converted(source: Any, type_: Any) -> Any:
        given = wide(source)
        if is_bfloat(type_):
            return TensorHandle(narrowed(given.data), tl.bfloat16)
        return original(given, type_)

    return converted


def along_an_axis(original: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction or a scan: tensors in, a tensor or several out, each of the type of the one in its place."""

    def applied(self: Any, given: Any) -> Any:
        types = [is_bfloat(x.dtype) for x in given]
        if not any(types):
            return original(self, given)
        found = original(self, tuple(self.to_tensor(wide(x.handle).data, tl.float32) if narrow else x
                                     for x, narrow in zip(given, types, strict=True)))
        several = isinstance(found, list | tuple)
        results = [rounded(x) if narrow and x.dtype.is_floating() else x
                   for x, narrow in zip(found if several else [found], types, strict=False)]
        return type(found)(results) if several else results[0]

    return applied


def rounded(x: Any) -> Any:
    """A float32 tensor of Triton's language as one of bfloat16."""
    type_ = tl.block_type(tl.bfloat16, x.type.shape) if x.type.is_block() else tl.bfloat16
    return tl.core.tensor(TensorHandle(narrowed(x.handle.data), tl.bfloat16), type_)
