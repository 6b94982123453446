"""Numbers that programs write as floats, read back as what was meant.

A program says `0.3535533905932738` and means 1/√8; it says `-3.4028234663852886e+38` and means −∞. A float with a short
decimal is that decimal, exactly (1e-5 is 1/100000). One with a long decimal is compared with a few known constants and
with roots of small rationals; where one lies within a unit in the last place, that is taken. Where none does, and no
decimal of 15 digits is this float, it is the number that the float is, to the last bit: so the halves of such numbers,
and 1 − w for a weight w from 1/2 on, are exactly that on the other side, too. One that floats make, to the last bit, of
short decimals as optimizers do (`1 - 0.9**2` is 0.18999999999999995) is that, and so is the short decimal that products
of decimals leave by a unit or two (`0.997 * 0.95` is 0.9471499999999999), or 1 over a short decimal (`1 / (255 *
0.229)` is 1/58.395). `math.cos(0.3)` is that cosine. Such a reading is an assumption, so each is written down:
`with readings() as found:` collects them.

The least float of a format is −∞ to a softmax, which makes 0 of both, and a number like any other elsewhere: a proof
in which a −∞ so read does not vanish is no proof, and is made once more `with literally():`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import cache
from itertools import permutations, product
from typing import Any

import numpy as np

from samesame.formula.assumptions import Said
from samesame.formula.expr import NEG_INF, PI, Expr, Unsupported, const, fn, log, mul, numeric, power, walk
from samesame.formula.infinite import PLUS_INFINITY
from samesame.operators import hiding

# The least finite value of each float format, which masks write for −∞.
LOWEST = {
    -65504.0: "float16",
    -3.3895313892515355e38: "bfloat16",
    -3.4028234663852886e38: "float32",
    -1.7976931348623157e308: "float64",
}
HALF = Fraction(1, 2)
KNOWN: tuple[tuple[float, Expr, str], ...] = (
    (math.pi, PI, "π"),
    (2 * math.pi, 2 * PI, "2π"),
    (math.pi / 2, PI / 2, "π/2"),
    (1 / math.pi, 1 / PI, "1/π"),
    (2 / math.pi, 2 / PI, "2/π"),
    (math.sqrt(math.pi), PI**HALF, "√π"),
    (math.sqrt(2 * math.pi), (2 * PI) ** HALF, "√(2π)"),
    (math.sqrt(math.pi / 2), (PI / 2) ** HALF, "√(π/2)"),
    (math.sqrt(2 / math.pi), (2 / PI) ** HALF, "√(2/π)"),
    (2 * math.sqrt(2 / math.pi), 2 * (2 / PI) ** HALF, "2√(2/π)"),
    (1 / math.sqrt(math.pi), PI**-HALF, "1/√π"),
    (2 / math.sqrt(math.pi), 2 * PI**-HALF, "2/√π"),
    (1 / math.sqrt(2 * math.pi), (2 * PI) ** -HALF, "1/√(2π)"),
    (math.log(2), log(2), "log 2"),
    (1 / math.log(2), 1 / log(2), "1/log 2"),
    (math.log(10), log(10), "log 10"),
    (1 / math.log(10), 1 / log(10), "1/log 10"),
    (math.log(math.pi), log(PI), "log π"),                     # what densities of a normal distribution are made of
    (math.log(2 * math.pi), log(2 * PI), "log(2π)"),
    (math.log(2 * math.pi) / 2, log(2 * PI) / 2, "log(2π)/2"),
    (math.log(2 * math.pi) + 1, log(2 * PI) + 1, "log(2πe)"),
    (math.log(2 * math.pi) / 2 + 0.5, log(2 * PI) / 2 + HALF, "log(2πe)/2"),
)
MULTIPLIED: tuple[tuple[float, Expr, str], ...] = (        # of which programs write multiples: n·log(2π)/2, π/180
    (math.pi, PI, "π"),
    (math.log(2 * math.pi), log(2 * PI), "log(2π)"),
    (math.log(math.pi), log(PI), "log π"),
    (math.log(2), log(2), "log 2"),
    (math.log(10), log(10), "log 10"),
    (1 / math.pi, 1 / PI, "1/π"),
    (math.pi**2, PI**2, "π²"),
    (1 / math.pi**2, PI**-2, "1/π²"),
    (math.sqrt(2 * math.pi), (2 * PI) ** HALF, "√(2π)"),                # densities
    (1 / math.sqrt(2 * math.pi), (2 * PI) ** -HALF, "1/√(2π)"),
    (1 / math.log(2), 1 / log(2), "1/log 2"),              # bits
    (1 / math.log(10), 1 / log(10), "1/log 10"),           # decibels
)
WORKED_OUT: tuple[tuple[str, Callable[[float], float], Callable[[float], float]], ...] = (
    ("exp", math.log, math.exp),                           # a function of a short decimal, which its inverse gives back
    ("cos", math.acos, math.cos),
    ("sin", math.asin, math.sin),
    ("tanh", math.atanh, math.tanh),
    ("10^", math.log10, lambda x: 10**x),                  # decibels
)
OF_ANY_SIZE = frozenset(("exp", "10^"))                    # of these, whose values may be above 1, too
ROOTS = {1: "{}", 2: "√({})", 4: "({})^(1/4)"}
_HUGE = 1e300                                              # what is computed of larger ones may overflow
_TINY = 2.0**-126                                         # nearer to 0, float32 has fewer digits
_LARGEST_LOG = 14.0                                        # of integers up to a million
_LARGEST_EXPONENT = 32.0                                   # of a number of a program
SHORT = 11                                                 # fewer significant digits than this: a decimal

DECIMAL = 15                                               # so many at most, and each decimal has a float of its own

POWERS = range(1, 7)                                       # steps of an optimizer that a rate is divided by
MOST_DIGITS = 900                                          # of a share: Python writes no number of more than 4,300
STEPS, LEAST_POWER = range(1, 901), 1e-4                  # those of which the share itself is known, while it is not 1
DECAYS = tuple(sorted((k / 1000 for k in range(500, 1000)), key=lambda s: len(repr(s))))    # of its averages
DIGITS_OF_RATES, NEARLY = 3, 1e-9
MOST_BESIDE = 24                                           # numbers of which quotients are looked at
DIGITS_OF_INVERSES = SHORT - 2                              # of what 1 is divided by, as by 255·0.229
LARGEST_INVERSE = 1e12                                     # so that no digits are lost to zeros
DIGITS_OF_ARGUMENTS = 4                                    # of what a function is taken
LOST, LEAST_LEFT = 2.0**-53, 1e-5                          # what 1 − s is off where s is rounded; the least such 1 − s


class Readings(set[Said]):
    """Readings such as `-3.4e+38 read as −∞`; `infinite` where one of them is of this kind."""

    infinite = False


_collector: ContextVar[Readings | None] = ContextVar("readings", default=None)
_literal: ContextVar[bool] = ContextVar("literal", default=False)
_beside: ContextVar[tuple[float, ...]] = ContextVar("beside", default=())


@contextmanager
def literally() -> Iterator[None]:
    """Inside, the least float of a format is the number that it is."""
    token = _literal.set(True)
    try:
        yield
    finally:
        _literal.reset(token)


@contextmanager
def readings() -> Iterator[Readings]:
    """Collect the readings of constants made inside the block."""
    found = Readings()
    outer = _collector.get()
    token = _collector.set(found)
    try:
        yield found
    finally:
        _collector.reset(token)
        if outer is not None:
            outer |= found
            outer.infinite = outer.infinite or found.infinite


@contextmanager
def beside(numbers: Iterable[float]) -> Iterator[None]:
    """Inside, a number may be read as a root less or plus one of these, or a quotient of two of them, which all stand
    in one formula."""
    token = _beside.set(tuple(sorted({abs(n) for n in numbers if math.isfinite(n) and n})))
    try:
        yield
    finally:
        _beside.reset(token)


def record(reading: Said, infinite: bool = False) -> None:
    """Write down a reading for whoever collects them; `infinite` if it is one of a number as −∞."""
    found = _collector.get()
    if found is not None:
        found.add(reading)
        found.infinite = found.infinite or infinite


def _read(value: float, meant: str) -> Said:
    return Said("reading", f"{value!r} read as {meant}")


def constant(value: float | Expr, sizes: Iterable[tuple[int, Expr]] = ()) -> Expr:
    """A number of the program as an exact expression; ints, bools and expressions of sizes are themselves.

    `sizes` are the values that symbolic sizes have here: a float that is a square or fourth root (or the inverse of
    one) of such a value is read as that of the size. Raises `Unsupported` for nan.
    """
    if isinstance(value, int | Expr):
        return const(value)
    if math.isnan(value):
        raise Unsupported("the constant nan is no number")
    if math.isinf(value):
        return PLUS_INFINITY if value > 0 else NEG_INF
    if value in LOWEST and not _literal.get():
        record(_read(value, "−∞; a softmax over nothing else is not covered"), infinite=True)
        return NEG_INF
    if hiding.is_hiding() and hiding.hides(value):
        record(hiding.condition(value), infinite=True)
        return hiding.hidden(value)
    if -abs(value) in LOWEST:
        return const(Fraction(repr(value)))
    if value < 0:
        return mul(-1, constant(-value, sizes))
    if value < sys.float_info.min:                                 # its decimal may be far from it
        return const(Fraction(value))
    for size, symbol in sizes:
        for exponent in (HALF, -HALF, Fraction(1, 4), Fraction(-1, 4)):
            if size > 1 and _near(float(size) ** float(exponent), value):
                record(_read(value, f"{symbol!r}^({exponent})"))
                return power(symbol, exponent)
    digits = _digits(repr(value))
    if digits < SHORT:
        return const(Fraction(repr(value)))
    return _recognised(value) or const(Fraction(repr(value)) if digits <= DECIMAL else Fraction(value))


@cache
def says_nothing(value: float) -> bool:
    """Is a number neither short nor read as anything? How it was computed then says more than its digits."""
    if not math.isfinite(value) or -abs(value) in LOWEST or _digits(repr(abs(value))) < SHORT:
        return False
    with readings():
        return _recognised(abs(value)) is None


def is_no_limit(value: Any, x: Expr) -> bool:
    """Is a number that x is not to be below the least float of a format which no finite x of that format is below? That
    a wider one is not below it either is a condition; float16's least is a limit to all that programs compute in."""
    if not isinstance(value, float) or value not in LOWEST or LOWEST[value] == "float16":
        return False
    if _literal.get() or NEG_INF in walk(x):
        return False
    record(Said("reading", f"nothing that is clamped lies below {value!r}"))
    return True


def hidden_product(value: float, factor: Expr) -> Expr:
    """A number that hides times a choice: where `hiding` reads it."""
    found = hiding.times(value, numeric(factor))
    if found is None:
        raise Unsupported(f"{value:g} times something that may be ever so small")
    record(hiding.condition(value), infinite=True)
    return found


def exact(value: float | Fraction | Expr) -> Fraction:
    """A number of the program that must be rational, such as an exponent."""
    expr = constant(value) if isinstance(value, float) else const(value)
    found = getattr(expr, "value", None)
    if not isinstance(found, Fraction):
        raise Unsupported(f"{value} is not rational")
    return found


def well_known(value: float) -> Iterator[tuple[float, str]]:
    """Known constants and simple roots so near to a float that it may be a rounding of one, with their words."""
    yield from ((number, text) for number, _, text in KNOWN if _near(number, value))
    for degree, text in ROOTS.items():
        for q in _simple(Fraction(value) ** degree, degree, _single(value)) if value > 0 else ():
            if _near(float(q) ** (1 / degree), value):
                yield float(q) ** (1 / degree), text.format(q)


def _recognised(value: float) -> Expr | None:
    found = _reading(value)
    if found is None:
        return None
    expr, text = found
    record(_read(value, text))
    return expr


def _reading(value: float) -> tuple[Expr, str] | None:
    """What a positive number with a long decimal is read as, and that in words."""
    for number, expr, text in KNOWN:
        if _near(number, value):
            return expr, text
    decimal = None if _single(value) else _nearly_short(value)
    if decimal is not None:
        return const(Fraction(repr(decimal))), repr(decimal)
    if value > _HUGE:
        return None
    root = _simple_root(value)
    if root is not None:
        return root
    for q in _simple(Fraction(value * math.log(2)) ** 2, 2, _single(value)):
        if _near(math.sqrt(q) / math.log(2), value):                # a scale of scores, for powers of two
            rational = Fraction(math.isqrt(q.numerator), math.isqrt(q.denominator))
            return (const(rational) if rational**2 == q else power(q, HALF)) / log(2), f"√({q})/log 2"
    if _single(value):
        short = str(np.float32(value))
        return (const(Fraction(short)), short) if _digits(short) < SHORT - 3 else None
    inverse = _short(1 / value, DIGITS_OF_INVERSES) if value > 1 / LARGEST_INVERSE else 0.0
    if inverse and _near(1 / inverse, value):
        return const(1 / Fraction(repr(inverse))), f"1/{inverse!r}"
    for times, words in ((1, "log({})"), (2, "log({})/2")):          # half a logarithm is that of a root
        for q in _simple(Fraction(math.exp(times * value)), 1, single=False) if times * value < _LARGEST_LOG else ():
            if _near(math.log(q) / times, value):
                return log(q) / times, words.format(q)
    for number, expr, text in MULTIPLIED:
        for q in _simple(Fraction(value / number), 1, single=False):
            if _near(q.numerator * number / q.denominator, value):
                return q * expr, f"{q}·{text}"
    return (_made_of_decimals(value) or _worked_out(value) or _exponential_beside(value, _beside.get())
            or _apart_by_a_root(value, _beside.get()))


def _simple_root(value: float) -> tuple[Expr, str] | None:
    for degree, text in ROOTS.items():
        for q in _simple(Fraction(value) ** degree, degree, _single(value)):
            if _near(float(q) ** (1 / degree), value):
                return power(q, Fraction(1, degree)), text.format(q)
    return None


@cache
def _made_of_decimals(value: float) -> tuple[Expr, str] | None:
    """A float that a program computes of short decimals, as the averages of optimizers do: 1 − sᵏ, its root, or a short
    decimal over one of them. None where floats do not give it to the last bit."""
    for degree in (1, 2):
        rest = 1 - value**degree if value < 1 else 0.0
        decays = [(_short(rest ** (1 / k)), k) for k in STEPS if rest >= LEAST_POWER]
        short = ((s, k) for s, k in decays if 0.5 <= s < 1 and k * _digits(repr(s)) <= MOST_DIGITS)
        made = [(s, k) for s, k in short if (1 - s**k) ** (1 / degree) == value]
        if made:
            expr, text = _share(*min(made, key=lambda pair: _digits(repr(pair[0]))))
            return (expr, text) if degree == 1 else (power(expr, HALF), f"√({text})")
    shares, decays = _shares()
    rates = value * shares
    unit = 10.0 ** (np.floor(np.log10(rates)) + 1 - DIGITS_OF_RATES)
    for place in np.flatnonzero(np.abs(rates / unit - np.round(rates / unit)) < NEARLY):
        a, (s, k) = _short(float(rates[place]), DIGITS_OF_RATES), decays[place]
        if a / (1 - s**k) == value:
            expr, text = _share(s, k)
            return const(Fraction(repr(a))) / expr, f"{a!r}/({text})"
    return None


def _nearly_short(value: float) -> float | None:
    """The short decimal that a float is by what few products of decimals, or their differences from 1, are rounded."""
    near = _short(value, SHORT - 1)
    if abs(near - value) <= 2 * math.ulp(value):
        return near
    near = round(value, SHORT - 1)
    return near if LEAST_LEFT < value < 1 and abs(near - value) <= LOST else None


def _worked_out(value: float) -> tuple[Expr, str] | None:
    """A function of a short decimal, such as a margin's cosine or a decay e^−0.1."""
    for name, inverse, function in WORKED_OUT:
        if value < 1 or name in OF_ANY_SIZE:
            argument = _short(inverse(value), DIGITS_OF_ARGUMENTS)
            if argument and _near(function(argument), value):
                x = Fraction(repr(argument))
                return power(const(10), x) if name == "10^" else fn(name)(const(x)), f"{name}({argument!r})"
    return None


def _exponential_beside(value: float, numbers: tuple[float, ...]) -> tuple[Expr, str] | None:
    """e to the power of another number of the formula, or of minus that: one side has μ, the other e^μ. That number is
    read by itself, or two that are the exponentials of one another would be read for ever."""
    for other in (sign * n for n in numbers for sign in (1, -1)):
        if abs(other) != value and abs(other) < _LARGEST_EXPONENT and _near(math.exp(other), value):
            with beside(()):
                return fn("exp")(constant(other)), f"exp({other!r})"
    return None


@cache
def _apart_by_a_root(value: float, numbers: tuple[float, ...]) -> tuple[Expr, str] | None:
    """The difference or sum of a simple root and 1, another number of the formula, or a quotient of two of them: the
    step from one level of noise √(1 − a)/√a to the next."""
    quotients = (a / b for a, b in permutations(numbers, 2)) if len(numbers) <= MOST_BESIDE else ()
    for other in dict.fromkeys((1.0, *numbers, *quotients)):
        for root, signs, words in (
            (value + other, (1, -1), "{0} − {1}"),
            (other - value, (-1, 1), "{1} − {0}"),
            (value - other, (1, 1), "{0} + {1}"),
        ):
            for q in _simple(Fraction(root) ** 2, 2, single=False) if root > 0 else ():
                known = _known_beside(other) if abs(math.sqrt(q) - root) <= 2 * math.ulp(max(root, other)) else None
                if known is not None:
                    return signs[0] * power(q, HALF) + signs[1] * known[0], words.format(f"√({q})", known[1])
    return None


def _known_beside(value: float) -> tuple[Expr, str] | None:
    """A short decimal or a simple root."""
    if _digits(repr(value)) < SHORT:
        return const(Fraction(repr(value))), f"{value:g}"
    return _simple_root(value)


@cache
def _shares() -> tuple[Any, list[tuple[float, int]]]:
    """1 − sᵏ in floats for each decay s, those of fewest digits first, and each k."""
    decays = list(product(DECAYS, POWERS))
    return np.array([1 - s**k for s, k in decays]), decays


def _share(s: float, k: int) -> tuple[Expr, str]:
    return const(1 - Fraction(repr(s)) ** k), f"1 − {s!r}{'' if k == 1 else f'^{k}'}"


def _short(value: float, digits: int = 6) -> float:
    return float(f"{value:.{digits}g}")


def _digits(text: str) -> int:
    """Significant digits of a decimal."""
    return len(text.split("e")[0].replace(".", "").replace("-", "").strip("0"))


def _single(value: float) -> bool:
    """Whether this is a float32 that was widened: one with all its digits, as numbers near 0 do not have them."""
    return _TINY <= abs(value) < 3.4e38 and float(np.float32(value)) == value


def _near(candidate: float, value: float) -> bool:
    """Within one unit in the last place, of float32 if the value is one."""
    unit = float(np.spacing(np.float32(value))) if _single(value) else math.ulp(value)
    return abs(candidate - value) <= unit


def _simple(q: Fraction, degree: int, single: bool) -> Iterator[Fraction]:
    """Rationals near q that are so simple that a root of one is not hit by chance: integers, their inverses, p/q."""
    largest = (1 << 20) if not single else (1 << 13) if degree < 4 else (1 << 10)
    if 1 <= round(q) <= largest:
        yield Fraction(round(q))
    if 0 < q < 1 and round(1 / q) <= largest:
        yield Fraction(1, round(1 / q))
    small = q.limit_denominator(32 if single else 1000)
    if 0 < small.numerator <= (32 if single else 1000):
        yield small
