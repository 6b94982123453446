"""What a reference takes: of the launch's tensors and sizes those that its parameters are called as.

It need not take all of them, as a launch makes tables of angles, and the reference wants the tables alone. A size that
no tensor has which it takes (how many bins, groups or heads there are) it takes as a number.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from samesame.evidence import Refused

Value = TypeVar("Value")


def taken_by(
    reference: Callable[..., Any], tensors: Mapping[str, Value], sizes: Mapping[str, int]
) -> dict[str, Value | int]:
    """The launch's tensors and sizes that the reference takes, by their names. Raises Refused where it takes something
    else."""
    try:
        signature = inspect.signature(reference)
    except ValueError:
        return dict(tensors)  # it does not say what it takes
    parameters = signature.parameters.values()
    names = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    every = any(p.kind is p.VAR_KEYWORD for p in parameters)
    taken: dict[str, Value | int] = {name: value for name, value in tensors.items() if every or name in names}
    taken |= {name: n for name, n in sizes.items() if name in names and name not in tensors}
    try:
        signature.bind(**taken)
    except TypeError as error:
        told = ", ".join(tensors) or "none, as it makes none in its own body or in `inputs`, and is given none"
        more = f", and as its sizes ({', '.join(sizes)})" if sizes else ""
        raise Refused(
            f"the reference's parameters have to be called as the launch's tensors ({told}){more}: {error}"
        ) from None
    return taken
