"""Tensors that no variable has, and several have parts of: `q, k, v = torch.randn(3, B, H, T, D)`.

A memory has the name of the first variable that has its tensor, and what others have of it are parts of that. Where
the first one has a part itself, the others are no parts of it but lie beside it. Then the example is the whole, under
a name of its own, and each variable has a part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch


def whole_of_parts(tensor: torch.Tensor, variables: Iterable[Any], at_example: Callable[[Any], Any]) -> torch.Tensor:
    """The tensor of which this one is a part and another variable has a part that begins elsewhere; itself where there
    is none such."""
    whole = tensor._base
    if whole is None or at_example(tensor.numel()) >= at_example(whole.numel()):
        return tensor
    first = at_example(tensor.storage_offset())
    parts = (v for v in variables if isinstance(v, torch.Tensor) and v._base is whole)
    return whole if any(at_example(v.storage_offset()) != first for v in parts) else tensor
