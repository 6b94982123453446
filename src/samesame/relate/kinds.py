"""Kinds of numbers: what a proof tells apart in a tensor's values. Dtypes of one kind are the same numbers there, so
constants are compared in the widest of their kind."""

from __future__ import annotations

import torch

from samesame.operators.execute import pieces
from samesame.operators.shapes import NARROW

KINDS = {"bool": "bool", "complex64": "complex", "complex128": "complex"}
WIDEST = {"real": torch.float64, "int": torch.int64, "complex": torch.complex128}


def kind_of(dtype: str) -> str:
    """The kind of number a dtype holds."""
    if dtype in KINDS:
        return KINDS[dtype]
    return "real" if "float" in dtype else "int"


def told_apart(dtype: str) -> str:
    """The kind of a dtype in a `Typed`."""
    return dtype if dtype in NARROW else kind_of(dtype)


def is_uniform(value: torch.Tensor) -> bool:
    """Is every element the same number?"""
    if value.numel() == 0:
        return False
    first = value[(0,) * value.dim()]
    return all(bool((piece == first).all()) for piece in pieces(value))


def widened(value: torch.Tensor) -> torch.Tensor:
    """The same values, all of them, in the widest dtype of their kind."""
    plain = value.detach().contiguous().cpu()
    kind = told_apart(str(plain.dtype).removeprefix("torch."))
    return plain.to(WIDEST.get(kind, plain.dtype))
