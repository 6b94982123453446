"""Composite operators: torch has them in terms of others, and they are opened into these parts, but for those of WHOLE,
which mean more than their parts would."""

from __future__ import annotations

from torch._ops import OpOverload


def aten(names: str) -> frozenset[str]:
    return frozenset("aten." + name for name in names.split())


WHOLE = aten(
    """batch_norm.default einsum.default group_norm.default instance_norm.default layer_norm.default linear.default
    log_softmax.int matmul.default one_hot.default prelu.default reshape.default rms_norm.default
    scaled_dot_product_attention.default softmax.int"""
)


def is_opened(operation: OpOverload) -> bool:
    """Whether an operator is composite, and recorded by its parts."""
    return str(operation) not in WHOLE and operation.namespace == "aten" and operation._can_decompose()
