"""Spelled: which of torch's operators are recorded whole, which are no nodes, and which under another name.

Tables that the recorder goes by (record.py): the operators stand here as torch dispatches them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch._ops import OpOverload


def aten(names: str) -> frozenset[str]:
    return frozenset("aten." + name for name in names.split())


# Composite operators that stay whole.
WHOLE = aten(
    """batch_norm.default einsum.default group_norm.default instance_norm.default layer_norm.default linear.default
    log_softmax.int matmul.default one_hot.default prelu.default reshape.default rms_norm.default
    scaled_dot_product_attention.default softmax.int"""
)

# The same elements in memory of their own; one result, of the argument's type unless a dtype is given.
COPIES = aten("clone.default _to_copy.default lift_fresh_copy.default")

# The same tensor in other words.
SAME = aten("alias.default detach.default lift.default lift_fresh.default")

# Views that change nothing where they give back the shape they got.
FITTING = aten(
    """expand.default reshape.default slice.Tensor squeeze.default squeeze.dim squeeze.dims view.default
    _unsafe_view.default"""
)

# Views that say the shape they give, each under one name and with the shape written out.
SHAPED = {
    "aten.view.default": "aten.reshape.default",
    "aten._unsafe_view.default": "aten.reshape.default",
    "aten.reshape.default": "aten.reshape.default",
    "aten.expand.default": "aten.expand.default",
}

# Tensors of one value throughout: of another tensor they take only the shape and the dtype.
FILLED: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "aten.zeros_like.default": lambda given: 0,
    "aten.ones_like.default": lambda given: 1,
    "aten.new_zeros.default": lambda given: 0,
    "aten.new_ones.default": lambda given: 1,
    "aten.zero_.default": lambda given: 0,
    "aten.full_like.default": lambda given: given["fill_value"],
    "aten.new_full.default": lambda given: given["fill_value"],
    "aten.fill_.Scalar": lambda given: given["value"],
}

PLACEMENT = frozenset(("device", "layout", "pin_memory", "memory_format", "non_blocking", "generator"))

# Operators that write into running statistics, which their schema does not say, where this argument is true.
UPDATES = {
    "batch_norm": "training",
    "native_batch_norm": "training",
    "cudnn_batch_norm": "training",
    "miopen_batch_norm": "training",
    "instance_norm": "use_input_stats",
}


def is_opened(operation: OpOverload) -> bool:
    """Whether an operator is composite, and recorded by its parts."""
    return str(operation) not in WHOLE and operation.namespace == "aten" and operation._can_decompose()
