"""Words for calls of operators over size symbols: `real(B, T)` is a tensor of that shape, whether B and T are symbols
or numbers, and `up`, `least` and `most` compute with either."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from samesame.formula.expr import Expr, Size, maximum, minimum, power
from samesame.formula.tensor import Dim

LEAST = 2
SYMBOLS = {name: Size(name, LEAST) for name in ("B", "T", "D", "H", "S")}
INSTANCES = (
    {"B": 2, "T": 2, "D": 2, "H": 2, "S": 2},
    {"B": 3, "T": 5, "D": 7, "H": 2, "S": 11},
    {"B": 2, "T": 13, "D": 3, "H": 5, "S": 4},
)


@dataclass(frozen=True)
class Given:
    """A tensor of this shape and kind; integers are below `high`, reals above zero if `positive`, and below one if
    `share`."""

    shape: tuple[Dim, ...]
    kind: str = "real"
    high: Dim = 0
    positive: bool = False
    share: bool = False


def real(*shape: Dim) -> Given:
    return Given(shape)


def pos(*shape: Dim) -> Given:
    return Given(shape, positive=True)


def share(*shape: Dim) -> Given:
    return Given(shape, share=True)


def ints(high: Dim, *shape: Dim) -> Given:
    return Given(shape, "int", high)


def bools(*shape: Dim) -> Given:
    return Given(shape, "bool")


def cplx(*shape: Dim) -> Given:
    return Given(shape, "complex")


def up(n: Any, c: int) -> Any:
    """n / c, rounded up."""
    return (n + (c - 1)) // c


def least(*sizes: Any) -> Any:
    return minimum(*sizes) if any(isinstance(n, Expr) for n in sizes) else min(sizes)


def most(*sizes: Any) -> Any:
    return maximum(*sizes) if any(isinstance(n, Expr) for n in sizes) else max(sizes)


def inverse_root(n: Any) -> Any:
    return power(n, Fraction(-1, 2)) if isinstance(n, Expr) else float(n) ** -0.5


Call = tuple[str, Callable[..., tuple[Any, ...]]]          # operator, arguments; a last dict holds the keywords
inf = float("inf")
END = 2**63 - 1
