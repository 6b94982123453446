"""Functions of one real number: a row says what is true of each, and everybody reads it here.

    name        values in numpy     defined where     shape            sign, parity, value at zero

A new function is a row. What other functions express it by stands with the normal form (functions.py), how torch and
Triton call it with their operators, how C++ does in optimize/emit/lanes.h; the independent evaluator has a table of its
own, on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from samesame.formula.expr import Expr, Fn, and_, compare, cos, le, lt, or_

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Scalar:
    """`values` are of float64. `domain` says of an argument whether there is a value; None where every real number has
    one. `rising` functions increase strictly on their domain; `positive` ones are above zero there, and `nonnegative`
    ones at zero, too."""

    values: Callable[[Array], Array]
    domain: Callable[[Expr], Expr] | None = None
    rising: bool = False
    positive: bool = False
    nonnegative: bool = False                    # and zero somewhere
    enough: Literal["", "> 0", "≥ 0"] = ""       # a sign of the argument that puts it into the domain
    parity: Literal["", "odd", "even"] = ""      # odd: f(−x) = −f(x), even: f(−x) = f(x)
    at_zero: int = 0                             # the value there of a function that is odd or even
    rounds: bool = False                         # leaves integers as they are
    latex: bool = False                          # LaTeX has a command of this name


# What numpy does not have, of one number.


def _is_pole(x: float) -> bool:
    return x == -math.inf or (x <= 0 and x == math.floor(x))


def log_gamma(x: float) -> float:
    """log |Γ(x)|."""
    return math.inf if _is_pole(x) else math.lgamma(x)


def digamma(x: float) -> float:
    """Γ′/Γ: mirrored to x ≥ 1/2, raised to x ≥ 10 by ψ(x) = ψ(x + 1) − 1/x, and there by its series in 1/x²."""
    if _is_pole(x) or math.isnan(x):
        return math.nan if x else -math.inf
    if x < 0.5:
        return digamma(1 - x) - math.pi / math.tan(math.pi * x)
    less = 0.0
    while x < 10:
        less, x = less + 1 / x, x + 1
    i = 1 / x**2
    series = i * (1 / 12 - i * (1 / 120 - i * (1 / 252 - i * (1 / 240 - i * (1 / 132 - i * 691 / 32760)))))
    return math.log(x) - 1 / (2 * x) - series - less


def inverse_erf(x: float) -> float:
    """The number whose erf is x: a quantile of the normal distribution, and two steps of Newton's."""
    if not abs(x) < 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    y = NormalDist().inv_cdf((1 + abs(x)) / 2) / math.sqrt(2) if abs(x) < 1 - 1e-15 else 5.7
    for _ in range(2 if abs(x) < 1 - 1e-15 else 9):
        beyond = math.erfc(y) - (1 - abs(x)) if abs(x) > 0.5 else abs(x) - math.erf(y)
        y += beyond * math.sqrt(math.pi) / 2 * math.exp(y**2)
    return math.copysign(y, x)


def _each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    return np.vectorize(function, otypes=[np.float64])


def _above_zero(x: Expr) -> Expr:
    return lt(0, x)


def _is_no_pole(x: Expr) -> Expr:
    """Is it none of 0, −1, −2, …?"""
    return or_(lt(0, x), compare("≠", Fn("floor", x), x))


DOMAIN = "in the domain of "                 # a function, as an assumption says


SCALARS: dict[str, Scalar] = {
    "exp": Scalar(np.exp, rising=True, positive=True, latex=True),
    "expm1": Scalar(np.expm1, rising=True),
    "log": Scalar(np.log, _above_zero, enough="> 0", rising=True, latex=True),
    "log1p": Scalar(np.log1p, lambda x: lt(-1, x), enough="≥ 0", rising=True),
    "log2": Scalar(np.log2, _above_zero, enough="> 0", rising=True),
    "log10": Scalar(np.log10, _above_zero, enough="> 0", rising=True),
    "sigmoid": Scalar(lambda x: 1 / (1 + np.exp(-x)), rising=True, positive=True),
    "softplus": Scalar(lambda x: np.logaddexp(x, 0), rising=True, positive=True),
    "sinh": Scalar(np.sinh, rising=True, parity="odd", latex=True),
    "cosh": Scalar(np.cosh, positive=True, parity="even", at_zero=1, latex=True),
    "tanh": Scalar(np.tanh, rising=True, parity="odd", latex=True),
    "erf": Scalar(_each(math.erf), rising=True, parity="odd"),
    "erfc": Scalar(_each(math.erfc), nonnegative=True),            # above 0; beyond 27 floats have 0
    "erfinv": Scalar(_each(inverse_erf), lambda x: and_(lt(-1, x), lt(x, 1)), rising=True, parity="odd"),
    "lgamma": Scalar(_each(log_gamma), _is_no_pole, enough="> 0"),
    "digamma": Scalar(_each(digamma), _is_no_pole, enough="> 0"),
    "sin": Scalar(np.sin, parity="odd", latex=True),
    "cos": Scalar(np.cos, parity="even", at_zero=1, latex=True),
    "tan": Scalar(np.tan, lambda x: compare("≠", cos(x), 0), parity="odd", latex=True),
    "asin": Scalar(np.arcsin, lambda x: and_(le(-1, x), le(x, 1)), rising=True, parity="odd"),
    "acos": Scalar(np.arccos, lambda x: and_(le(-1, x), le(x, 1)), nonnegative=True),
    "atan": Scalar(np.arctan, rising=True, parity="odd"),
    "abs": Scalar(np.abs, nonnegative=True, parity="even"),
    "sign": Scalar(np.sign, parity="odd"),
    "floor": Scalar(np.floor, rounds=True),
    "ceil": Scalar(np.ceil, rounds=True),
    "round": Scalar(np.round, parity="odd", rounds=True),          # halves to even, as torch rounds
    "trunc": Scalar(np.trunc, parity="odd", rounds=True),
}


def names(holds: Callable[[Scalar], bool]) -> frozenset[str]:
    """The functions whose row says so."""
    return frozenset(name for name, row in SCALARS.items() if holds(row))


EVERYWHERE = names(lambda row: not row.domain)                     # a finite value at every real number
POSITIVE = names(lambda row: row.positive)                         # where they have a value
NOT_NEGATIVE = POSITIVE | names(lambda row: row.nonnegative)
ROUNDING = names(lambda row: row.rounds)
OF_ITS_SIGN = names(lambda row: row.rising and row.parity == "odd") | {"expm1", "log1p", "sign"}    # f(x) has that of x
ODD, EVEN = names(lambda row: row.parity == "odd"), names(lambda row: row.parity == "even")
LOGARITHMS = frozenset(["log", "log2", "log10"])                   # −∞ at zero, as floats have it
