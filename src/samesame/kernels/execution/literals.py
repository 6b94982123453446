"""Numbers as a kernel's source writes them, where its float32 constants are their roundings.

A kernel says `0.6065306597126334`, and Triton hands on 0.60653067, the nearest float32. Casts between floats are the
identity here, and that is one: a float32 constant is the number of its file of which it is the rounding. A reference
that says the same number then means the same, and one with few more digits than a float32 has is a decimal on both
sides. A constant that float32 holds as it is, as 2.0, rounds nothing: 1.99999999 elsewhere in the file is not meant.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

import numpy as np


def as_written(value: float, file: str) -> float:
    """The one number of a file of which this is the rounding to float32; itself where there is none or several."""
    single = np.float32(abs(value))
    exact = float(str(single)) == float(single)
    found = frozenset() if exact else numbers_in(file).get(float(single), frozenset())
    (number,) = found if len(found) == 1 else (abs(value),)
    return number if value >= 0 else -number


@lru_cache(maxsize=64)
def numbers_in(file: str) -> dict[float, frozenset[float]]:
    """The positive floats that a file writes, by their roundings to float32."""
    try:
        tree = ast.parse(Path(file).read_text())
    except (OSError, SyntaxError, ValueError):
        return {}
    found: dict[float, frozenset[float]] = {}
    with np.errstate(over="ignore"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and type(node.value) is float:
                rounded = float(np.float32(node.value))
                found[rounded] = found.get(rounded, frozenset()) | {node.value}
    return found
