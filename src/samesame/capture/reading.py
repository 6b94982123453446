"""Operators that read values: what they give, or its shape, is known only once they have run.

A graph stands for the program on all values, so what such an operator reads must be a constant of the program; here
stands what it does in words, and what to write instead.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

import torch
from torch._ops import OpOverload
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_map_only

from samesame.capture.rows.chosen import ALL_ROWS
from samesame.operators.execute import tensors_in

# What a program does when it lets a value out, in the words of who wrote it.
LETS_OUT = {
    "aten.item.default": "calls .item() on a tensor",
    "aten._local_scalar_dense.default": "calls .item() on a tensor",
    "aten.is_nonzero.default": "uses a tensor as a condition",
    "aten.index.Tensor": "indexes with a mask, which gives a shape that depends on values",
    "aten.masked_select.default": "selects by a mask, which gives a shape that depends on values",
    "aten.nonzero.default": "calls nonzero, which gives a shape that depends on values",
    "aten.bincount.default": "calls bincount for as many integers as there are",
    "aten.tensor_split.tensor_indices_or_sections": "splits at places that a tensor holds",
}

# torch takes a number out of the tensor that holds it, to index with it.
INDEXES = "indexes with a number that a tensor holds"

# How many elements may leave so as an answer: whether a mask is full, whether all agree, which ranks have something.
ANSWERS = {
    "calls .item() on a tensor": 1, "uses a tensor as a condition": 1, "calls int() on a tensor": 1,
    INDEXES: 1,
    LETS_OUT["aten.index.Tensor"]: 64,
}

# What to write in place of it.
AS_ARGUMENT = "pass the value as an argument instead"
INSTEAD = {
    "aten.index.Tensor": ALL_ROWS,
    "aten.masked_select.default": ALL_ROWS,
    "aten.nonzero.default": ALL_ROWS,
    "aten.bincount.default": "give a minlength above all of them",
    INDEXES: "index with i.view(1) and squeeze what that gives, for which nobody has to read i",
}

# The argument that decides, where it is not all of them.
DECIDES = {
    "aten.index.Tensor": "indices",
    "aten.masked_select.default": "mask",
    "aten.tensor_split.tensor_indices_or_sections": "tensor_indices_or_sections",
}

# Functions that read values only to print a warning.
ONLY_WARN = frozenset([("transformers/modeling_utils.py", "warn_if_padding_and_no_attention_mask")])

# Transformers asks values such questions for speed only, and not while torch.export traces it.
TRACING = ", or capture by torch.export (--how export)"


def reads_values(operation: OpOverload, given: Mapping[str, Any]) -> bool:
    """Whether the result, or its shape, can be known only by running the operator on values."""
    name = str(operation)
    if name == "aten.index.Tensor":
        return any(index.dtype in (torch.bool, torch.uint8) for index in tensors_in(given["indices"]))
    if name == "aten.one_hot.default":
        return bool(given.get("num_classes", -1) < 0)
    tags = torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape
    return name in LETS_OUT or any(tag in operation.tags for tag in tags)


def lets_out(operation: OpOverload, indexing: bool) -> tuple[str, str]:
    """What an operator does that reads values, as part of `indexing` or not, and what to write in place of it."""
    name = str(operation)
    if indexing and LETS_OUT.get(name) == LETS_OUT["aten.item.default"]:
        return INDEXES, INSTEAD[INDEXES]
    doing = LETS_OUT.get(name, f"calls {operation._opname}, whose result cannot be known before it runs")
    return doing, INSTEAD.get(name, AS_ARGUMENT)


def is_count(operation: OpOverload) -> bool:
    """Whether it counts integers, as many as there are of them."""
    return str(operation) == "aten.bincount.default"


def counts_enough(operation: OpOverload, given: Mapping[str, Any]) -> bool:
    """Whether `bincount` is told to count as many integers as there are."""
    return is_count(operation) and not bool((given["self"] >= given.get("minlength", 0)).any())


def fails_without_values(
    operation: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> bool:
    """Whether an operator fails for shapes or dtypes alone: in the same way on tensors that hold nothing. Tells torch's
    log nothing of it."""
    if isinstance(error, NotImplementedError) or "not implemented for" in str(error):
        return True
    log = logging.getLogger(FakeTensorMode.__module__)
    before, log.disabled = log.disabled, True
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        try:
            operation(
                *tree_map_only(torch.Tensor, fake.from_tensor, args),
                **tree_map_only(torch.Tensor, fake.from_tensor, kwargs),
            )
        except Exception as other:
            return type(other) is type(error)
        finally:
            log.disabled = before
    return False
