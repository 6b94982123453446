"""What the code of a function speaks of: names, and what these stand for in its file.

A function refers to tensors as variables of its file, and so do the functions of that file that it calls: `loss` calls
`angles`, which multiplies by `TABLE`. Both read the table when they are called, and both read the same. This needs
Python alone: a drop-in that `samesame optimize` writes has its text."""

from __future__ import annotations

import inspect
from types import CodeType, FunctionType
from typing import Any


def names_in(code: CodeType) -> set[str]:
    """The names in a piece of code and in those within it: comprehensions, lambdas, functions."""
    inner = (names_in(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return {*code.co_names}.union(*inner)


def variables_of_file(function: FunctionType) -> dict[str, Any]:
    """What a function, and the functions of its file that it speaks of, refer to as variables of that file, by name."""
    space, found, ahead = function.__globals__, dict[str, Any](), [function]
    while ahead:
        for name in sorted(names_in(ahead.pop().__code__) & space.keys() - found.keys()):
            found[name] = space[name]
            if isinstance(found[name], FunctionType):          # what is cached reads its variables once
                inner = inspect.unwrap(found[name])
                ahead += [inner] if inspect.isfunction(inner) and inner.__globals__ is space else []
    return found
