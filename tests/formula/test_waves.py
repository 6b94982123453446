"""Sums of waves over whole turns: each claim holds in numbers and is proved, and what only looks like one is not."""

from __future__ import annotations

import numpy as np
import pytest

from samesame.formula.equal import NotProved, Proved, prove_tensors_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import PI, Size, Sum, cos, eq, le, or_, sin, where
from samesame.formula.tensor import leaf, tensor

T = Size("T", 2)
SYMBOLIC = (2, 3, 6, 7)


def turn(k, n, size):
    return 2 * PI * k * n / size


def there(x, k, size):
    """Real and imaginary part of the transform of x at k."""
    return Sum(size, lambda n: x[n] * cos(turn(k, n, size))), -Sum(size, lambda n: x[n] * sin(turn(k, n, size)))


def back(parts, j, size):
    """The real part of what comes back."""
    def at(k):
        a, b = parts(k)
        return a * cos(turn(k, j, size)) - b * sin(turn(k, j, size))

    return Sum(size, at) / size


def back_from_half(parts, j, size):
    def at(k):
        a, b = parts(k)
        counts = where(or_(eq(k, 0), eq(2 * k, size)), 1, 2)
        return counts * (a * cos(turn(k, j, size)) - b * sin(turn(k, j, size)))

    return Sum(size // 2 + 1, at) / size


def product(one, other):
    (a, b), (c, d) = one, other
    return a * c - b * d, a * d + b * c


def every_third(k, size, of=lambda k: 1):
    return Sum(size, lambda n: where(le(3 * n, 2 * size), of(n) * cos(turn(n, k, size)), 0))


# The size, and both sides: of vectors x and y of that size, at a place j.
HOLD = {
    **{f"there and back, {n}": (n, lambda x, y, j, n: back(lambda k: there(x, k, n), j, n), lambda x, y, j, n: x[j])
       for n in (5, 8, T)},
    **{f"half there and back, {n}": (
        n, lambda x, y, j, n: back_from_half(lambda k: there(x, k, n), j, n), lambda x, y, j, n: x[j])
       for n in (1, 3, 4, 7, 8)},
    **{f"a product of spectra, {n}": (
        n, lambda x, y, j, n: back_from_half(lambda k: product(there(x, k, n), there(y, k, n)), j, n),
        lambda x, y, j, n: Sum((n, n), lambda m, k: where(or_(eq(m + k, j), eq(m + k, j + n)), x[m] * y[k], 0)))
       for n in (3, 6)},
    **{f"lengths, {n}": (
        n, lambda x, y, j, n: Sum(n, lambda k: sum(p * p for p in there(x, k, n))) / n,
        lambda x, y, j, n: Sum(n, lambda m: x[m] * x[m])) for n in (4, T)},
    "a wave that does not turn": (6, lambda x, y, j, n: Sum(n, lambda k: sin(turn(k, 6 * j, n) + y[j])),
                                  lambda x, y, j, n: 6 * sin(y[j])),
    "a wave with a beginning": (T, lambda x, y, j, n: Sum(n, lambda k: cos(turn(k, j, n) + y[j])),
                                lambda x, y, j, n: where(eq(j, 0), n * cos(y[j]), 0)),
}
DO_NOT = {
    "another place": (8, lambda x, y, j, n: back(lambda k: there(x, k, n), j, n), lambda x, y, j, n: x[0]),
    "half of the last frequency counts twice": (
        8, lambda x, y, j, n: Sum(5, lambda k: where(eq(k, 0), 1, 2) * there(x, k, n)[0] * cos(turn(k, j, n))) / n,
        lambda x, y, j, n: back_from_half(lambda k: (there(x, k, n)[0], 0), j, n)),
    "a part of a turn": (6, lambda x, y, j, n: Sum(n - 1, lambda k: cos(turn(k, j, n))),
                         lambda x, y, j, n: where(eq(j, 0), n - 1, 0)),
    "a shift of the other sign": (
        6, lambda x, y, j, n: back(lambda k: there(x, -1 * k, n), j, n), lambda x, y, j, n: x[j]),
    "a real frequency": (T, lambda x, y, j, n: Sum(n, lambda k: cos(turn(k, 1, n) * x[j])),
                         lambda x, y, j, n: where(eq(x[j], 0), n, 0)),
    "a sum that ends elsewhere": (6, lambda x, y, j, n: every_third(j, n), lambda x, y, j, n: where(eq(j, 0), 5, 0)),
}


def sides(size, *claim):
    x, y = leaf("x", (size,)), leaf("y", (size,))
    return [tensor((size,), lambda j, side=side: side(x, y, j, size)) for side in claim]


def told_apart(size, claim):
    """The differences of both sides in numbers, at one size or several."""
    for n in SYMBOLIC if size is T else (size,):
        draw = np.random.default_rng(0)
        values = {name: draw.normal(size=n) for name in "xy"}
        left, right = (evaluate(side, values, {"T": n}) for side in sides(size, *claim))
        yield float(np.abs(left - right).max())


@pytest.mark.parametrize("size, left, right", HOLD.values(), ids=HOLD)
def test_what_holds_in_numbers_is_proved(size, left, right):
    assert max(told_apart(size, (left, right))) < 1e-9
    assert isinstance(prove_tensors_equal(*sides(size, left, right)), Proved)


@pytest.mark.parametrize("size, left, right", DO_NOT.values(), ids=DO_NOT)
def test_what_looks_like_a_sum_over_whole_turns_is_not_proved(size, left, right):
    assert max(told_apart(size, (left, right))) > 1e-3
    assert isinstance(prove_tensors_equal(*sides(size, left, right)), NotProved)
