"""What a reference takes: of the launch's tensors those that its parameters are called as.

It need not take all of them, as a launch makes tables of angles, and the reference wants the tables alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from samesame.evidence import Refused

Value = TypeVar("Value")


def taken_by(reference: Callable[..., Any], tensors: Mapping[str, Value]) -> dict[str, Value]:
    """The launch's tensors that the reference takes, by their names. Raises Refused where it takes something else."""
    try:
        signature = inspect.signature(reference)
    except ValueError:
        return dict(tensors)  # it does not say what it takes
    parameters = signature.parameters.values()
    names = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    every = any(p.kind is p.VAR_KEYWORD for p in parameters)
    taken = {name: value for name, value in tensors.items() if every or name in names}
    try:
        signature.bind(**taken)
    except TypeError as error:
        told = ", ".join(tensors) or "none, as it makes none in its own body or in `inputs`, and is given none"
        raise Refused(
            f"the reference's parameters have to be called as the launch's tensors ({told}): {error}"
        ) from None
    return taken
