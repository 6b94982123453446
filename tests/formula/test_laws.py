"""Each law beyond the normal form: it holds in numbers, the prover knows it, and what looks like it is not proved."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from loop_induction import Loop, prove_loop

from samesame.evaluator import Agreement, Disagreement, compare
from samesame.formula import dag
from samesame.formula.effort import Budget
from samesame.formula.equal import NotProved, Proved, prove_equal, prove_tensors_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import (
    NEG_INF,
    Max,
    Size,
    Sum,
    absolute,
    and_,
    const,
    eq,
    erf,
    exp,
    fn,
    fold,
    index,
    le,
    log,
    lt,
    maximum,
    minimum,
    power,
    sqrt,
    where,
)
from samesame.formula.tensor import leaf, tensor

N, M, B = Size("N", 2), Size("M", 2), Size("B", 1)
SIZES = ({"N": 2, "M": 2, "B": 1}, {"N": 5, "M": 3, "B": 2}, {"N": 7, "M": 4, "B": 3})
x, y, w = leaf("x", (N,)), leaf("y", (N,)), leaf("w", (N + M,))
shown = leaf("shown", (N,), "bool")
slot = leaf("slot", (N,), "int")


def Prod(extent, body):
    return fold("prod", extent, body)


def masked_mean():
    return Sum(N, lambda k: where(shown[k], exp(x[k]), 0)) / Sum(N, lambda k: where(shown[k], exp(y[k]), 0))


def rows(i):
    return x[i] + Sum(M, lambda k: w[k])


def tiles(mask, body):
    """Σ over tiles of B and their lanes, where the mask holds."""
    return Sum(B, lambda k: Sum((N + B - 1) // B, lambda t: where(mask(t * B + k), body(t * B + k), 0)))


def scores(one, other):
    """The products of the points (y[k], y[0]) and (w[1], w[k]), turned by an angle each, summed."""

    def turned(a, b, angle):
        sine, cosine = fn("sin")(angle), fn("cos")(angle)
        return a * cosine - b * sine, a * sine + b * cosine

    def product(k):
        (a, b), (c, d) = turned(y[k], y[0], one(k)), turned(w[1], w[k], other(k))
        return a * c + b * d

    return Sum(N, product)


def spread(square):
    """How far the elements of x lie from their mean."""
    mean = Sum(N, lambda k: x[k]) / N
    return Sum(N, lambda k: square(x[k] - mean))


# law: (left, right, a twin that is false), each a formula at an index i < N
LAWS = {
    "a positive factor leaves a magnitude": lambda i: (
        absolute(exp(y[i]) * x[i] + 3 * exp(y[i]) * w[i]),
        exp(y[i]) * absolute(x[i] + 3 * w[i]),
        exp(y[i]) * absolute(x[i] + w[i]),
    ),
    "a positive factor leaves a maximum of two": lambda i: (
        maximum(absolute(exp(y[i]) * x[i]), exp(y[i])),
        exp(y[i]) * maximum(absolute(x[i]), 1),
        exp(y[i]) * maximum(absolute(x[i]), 2),
    ),
    "a product splits": lambda i: (
        Prod(N + M, lambda k: w[k]),
        Prod(N, lambda k: w[k]) * Prod(M, lambda k: w[N + k]),
        Prod(N, lambda k: w[k]) * Prod(M, lambda k: w[N - 1 + k]),
    ),
    "so many of one factor take in one more": lambda i: (
        Prod(i, lambda k: x[0]) * x[0],
        Prod(i + 1, lambda k: x[0]),
        Prod(i, lambda k: x[0]) * x[i],
    ),
    "so many of one factor, and as many more": lambda i: (
        Prod(i, lambda k: x[0]) * Prod(N, lambda k: x[0]),
        Prod(N + i, lambda k: x[0]),
        Prod(N, lambda k: x[0]),
    ),
    "so many of a product": lambda i: (
        Prod(i, lambda k: x[0] * y[0]),
        Prod(i, lambda k: x[0]) * Prod(i, lambda k: y[0]),
        Prod(i, lambda k: x[0]) * Prod(N, lambda k: y[0]),
    ),
    "a state that decays, step after step": lambda i: (
        x[0] * Sum(i, lambda k: w[k] * Prod(i - 1 - k, lambda _: x[0])) + w[i],
        Sum(N, lambda k: where(le(k, i), w[k] * Prod(i - k, lambda _: x[0]), 0)),
        Sum(N, lambda k: where(le(k, i), w[k] * Prod(i - k, lambda _: x[0] * x[0]), 0)),
    ),
    "a product takes in one more": lambda i: (
        Prod(i + 1, lambda k: x[k]),
        Prod(i, lambda k: x[k]) * x[i],
        Prod(i, lambda k: x[k]) * x[0],
    ),
    "a product's inverse takes in one more": lambda i: (
        1 / Prod(i + 1, lambda k: x[k]),
        1 / Prod(i, lambda k: x[k]) / x[i],
        1 / Prod(i, lambda k: x[k]) * x[i],
    ),
    "a product of constants is a power": lambda i: (
        Prod(i, lambda k: 3) * 3,
        Prod(i + 1, lambda k: 3),
        Prod(i + 1, lambda k: 2),
    ),
    "a product of signs": lambda i: (
        Prod(i, lambda k: -x[k]),
        Prod(i, lambda k: -1) * Prod(i, lambda k: x[k]),
        Prod(i, lambda k: x[k]),
    ),
    "a product with a mask": lambda i: (
        Prod(N, lambda k: where(le(k, i), x[k], 1)),
        Prod(i + 1, lambda k: x[k]),
        Prod(N, lambda k: where(lt(k, i), x[k], 1)),
    ),
    "a product of positives is exp of a sum of logarithms": lambda i: (
        Prod(i, lambda k: x[k] * x[k] + 1),
        exp(Sum(i, lambda k: log(x[k] * x[k] + 1))),
        exp(Sum(i, lambda k: log(x[k] * x[k] + 2))),
    ),
    "exponents over neighbouring ranges join": lambda i: (
        exp(Sum(N + M, lambda k: w[k])),
        exp(Sum(N, lambda k: w[k])) * exp(Sum(M, lambda k: w[N + k])),
        exp(Sum(N, lambda k: w[k])) * exp(Sum(M, lambda k: w[k])),
    ),
    "a sum less a part of it": lambda i: (
        (i + 1) * Sum(i + 1, lambda k: x[k]) - i * Sum(i, lambda k: x[k]),
        Sum(i, lambda k: x[k]) + (i + 1) * x[i],
        Sum(i, lambda k: x[k]) + i * x[i],
    ),
    "a range between two others": lambda i: (
        Sum(i + 1, lambda j: exp(Sum(N, lambda u: where(and_(lt(j, u), le(u, i)), x[u], 0))) * y[j]),
        Sum(i + 1, lambda j: exp(Sum(i + 1, lambda u: x[u]) - Sum(j + 1, lambda u: x[u])) * y[j]),
        Sum(i + 1, lambda j: exp(Sum(i + 1, lambda u: x[u]) - Sum(j, lambda u: x[u])) * y[j]),
    ),
    "the digits of a number that data says": lambda i: (
        Sum(N, lambda k: where(and_(eq(slot[k] // 3, i // 3), eq(slot[k] % 3, i % 3)), x[k], 0)),
        Sum(N, lambda k: where(eq(slot[k], i), x[k], 0)),
        Sum(N, lambda k: where(eq(slot[k] % 3, i % 3), x[k], 0)),
    ),
    "digits that a lower one does not keep to": lambda i: (
        Sum(N, lambda k: where(and_(eq(slot[k] // 2, i // 2), eq(slot[k] % 2, i)), x[k], 0)),
        Sum(N, lambda k: where(and_(eq(slot[k], 2 * (i // 2) + i), le(i, 1)), x[k], 0)),
        Sum(N, lambda k: where(eq(slot[k], 2 * (i // 2) + i), x[k], 0)),
    ),
    "lanes, then tiles without an end but the mask": lambda i: (
        Sum(N, lambda k: x[k] * y[k]),
        tiles(lambda k: lt(k, N), lambda k: x[k] * y[k]),
        tiles(lambda k: lt(k + 1, N), lambda k: x[k] * y[k]),
    ),
    "min and max by signs": lambda i: (
        minimum(maximum(x[i], -1), 1),
        maximum(minimum(x[i], 1), -1),
        maximum(minimum(x[i], 1), 0),
    ),
    "|x| by signs": lambda i: (
        exp(absolute(x[i]) - x[i]),
        exp(2 * maximum(-x[i], 0)),
        exp(maximum(-x[i], 0)),
    ),
    "powers are compared by their exponents": lambda i: (
        where(lt(exp(x[i]), exp(y[i])), 1, 0),
        where(lt(x[i], y[i]), 1, 0),
        where(lt(y[i], x[i]), 1, 0),
    ),
    "positive products are compared by their logarithms": lambda i: (
        where(lt(exp(x[i]) / Sum(N, lambda k: exp(x[k])), Fraction(1, 5) * exp(y[i] / 2)), x[i], 0),
        where(lt(x[i] - log(Sum(N, lambda k: exp(x[k]))), y[i] / 2 - log(const(5))), x[i], 0),
        where(lt(x[i] - log(Sum(N, lambda k: exp(x[k]))), y[i] / 2 + log(const(5))), x[i], 0),
    ),
    "a share of the largest is compared by its logarithm": lambda i: (
        where(le(exp(x[i]), Fraction(3, 20) * Max(N, lambda k: exp(x[k]))), 0, 1),
        where(lt(log(const(Fraction(3, 20))), x[i] - Max(N, lambda k: x[k])), 1, 0),
        where(lt(log(const(Fraction(3, 10))), x[i] - Max(N, lambda k: x[k])), 1, 0),
    ),
    "a sigmoid is compared by what it is of": lambda i: (
        where(lt(Fraction(1, 2), 1 / (1 + exp(-x[i]))), y[i], 0),
        where(lt(0, x[i]), y[i], 0),
        where(lt(1, x[i]), y[i], 0),
    ),
    "a root of a square": lambda i: (sqrt(power(x[i], 2) * power(y[i], 4)), absolute(x[i]) * power(y[i], 2), x[i]),
    "a root of a product of squares' sums": lambda i: (
        sqrt(Sum(N, lambda k: x[k] * x[k]) * Sum(N, lambda k: y[k] * y[k])),
        sqrt(Sum(N, lambda k: x[k] * x[k])) * sqrt(Sum(N, lambda k: y[k] * y[k])),
        Sum(N, lambda k: absolute(x[k] * y[k])),
    ),
    "log of an expanded product": lambda i: (
        log(exp(x[i] + y[i]) + exp(x[i]) + exp(y[i]) + 1),
        log(exp(x[i]) + 1) + log(exp(y[i]) + 1),
        log(exp(x[i]) + exp(y[i]) + 1),
    ),
    "a maximum of powers": lambda i: (
        Max(N, lambda k: exp(x[k] - y[i])),
        exp(Max(N, lambda k: x[k])) / exp(y[i]),
        exp(Max(N, lambda k: x[k])) / exp(y[0]),
    ),
    "a positive factor leaves a maximum": lambda i: (
        Max(N, lambda k: exp(y[i]) * x[k]),
        exp(y[i]) * Max(N, lambda k: x[k]),
        y[i] * Max(N, lambda k: x[k]),
    ),
    "a maximum of what rises": lambda i: (
        Max(N, lambda k: where(lt(0, x[k] + y[i]), x[k] + y[i], (x[k] + y[i]) / 5)),
        maximum(y[i] + Max(N, lambda k: x[k]), (y[i] + Max(N, lambda k: x[k])) / 5),
        maximum(y[i] + Max(N, lambda k: x[k]), (y[i] - Max(N, lambda k: -x[k])) / 5),
    ),
    "a maximum of what falls, between limits": lambda i: (
        Max(N, lambda k: minimum(maximum(1 - x[k], 0), 6)),
        minimum(maximum(1 - fold("min", N, lambda k: x[k]), 0), 6),
        minimum(maximum(1 - Max(N, lambda k: x[k]), 0), 6),
    ),
    "a maximum of squares": lambda i: (
        Max(N, lambda k: x[k] * x[k]),
        power(Max(N, lambda k: absolute(x[k])), 2),
        power(Max(N, lambda k: x[k]), 2),
    ),
    "limits that are never met": lambda i: (
        minimum(maximum(fn("round")(127 * x[i] / Max(N, lambda k: absolute(x[k]))), -128), 127),
        fn("round")(x[i] * 127 / Max(N, lambda k: absolute(x[k]))),
        minimum(fn("round")(127 * x[i] / Max(N, lambda k: absolute(x[k]))), 126),
    ),
    "limits that are never met, turned": lambda i: (
        maximum(1 - 2 * x[i] / (3 * Max(N, lambda k: absolute(x[k]))), Fraction(1, 3)),
        1 - 2 * x[i] / (3 * Max(N, lambda k: absolute(x[k]))),
        maximum(1 - 2 * x[i] / (3 * Max(N, lambda k: absolute(x[k]))), Fraction(2, 3)),
    ),
    "a softplus is positive": lambda i: (
        sqrt(power(log(1 + exp(x[i])), 2)) + power(log(1 + exp(x[i])) * y[i] * y[i], Fraction(1, 2)),
        log(1 + exp(x[i])) + power(log(1 + exp(x[i])), Fraction(1, 2)) * absolute(y[i]),
        log(1 + exp(x[i])) + power(log(1 + exp(x[i])), Fraction(1, 2)) * y[i],
    ),
    "a root of an inverse": lambda i: (
        sqrt(3 / spread(lambda c: c * c)) + sqrt(power(absolute(x[i]), -3)),
        sqrt(3) / sqrt(spread(lambda c: c * c)) + power(absolute(x[i]), Fraction(-3, 2)),
        sqrt(3) / sqrt(spread(lambda c: c * c)) + power(absolute(x[i]), Fraction(-1, 2)),
    ),
    "a logarithm of a square": lambda i: (
        log(absolute(x[i])) * 2 + log(exp(y[i]) * 3),
        log(x[i] * x[i]) + y[i] + log(3),
        log(x[i] * x[i]) - y[i] + log(3),
    ),
    "a maximum measured from one piece": lambda i: (
        maximum(y[i], Max(N, lambda k: x[k])),
        y[i] + maximum(0, Max(N, lambda k: x[k] - y[i])),
        y[i] + Max(N, lambda k: maximum(1, x[k] - y[i])),
    ),
    "a rectified sum is positive where the sum is": lambda i: (
        where(lt(0, maximum(rows(i), 0)), y[i], 0),
        where(lt(0, rows(i)), y[i], 0),
        where(lt(-1, rows(i)), y[i], 0),
    ),
    "a maximum exceeds what it is measured from where the other does": lambda i: (
        where(le(maximum(rows(i), 2), 2), y[i], 0),
        where(le(rows(i), 2), y[i], 0),
        where(le(rows(i), 1), y[i], 0),
    ),
    "a rectified sum is below one where the sum is": lambda i: (
        where(lt(maximum(rows(i), 0), 1), y[i], 0),
        where(lt(rows(i), 1), y[i], 0),
        where(lt(0, rows(i)), y[i], 0),
    ),
    "a sum that is cut off at both ends is positive where the sum is": lambda i: (
        where(lt(0, minimum(maximum(rows(i), 0), 6)), y[i], 0),
        where(lt(0, rows(i)), y[i], 0),
        where(lt(rows(i), 6), y[i], 0),
    ),
    "an end of a range is in its maximum": lambda i: (
        maximum(x[i], Max(i + 1, lambda k: x[k])),
        Max(i + 1, lambda k: x[k]),
        Max(N, lambda k: x[k]),
    ),
    "an integer leaves a rounding down": lambda i: (
        fn("floor")(x[i] + i - 2),
        fn("floor")(x[i]) + i - 2,
        fn("floor")(x[i]) + i - 1,
    ),
    "a sine and a cosine have length one": lambda i: (
        fn("sin")(x[i]) ** 2 + fn("cos")(x[i]) ** 2,
        const(1),
        fn("sin")(x[i]) ** 2 - fn("cos")(x[i]) ** 2,
    ),
    "angles are added": lambda i: (
        fn("sin")(x[i] + 2 * y[i]),
        2 * fn("sin")(y[i]) * fn("cos")(y[i]) * fn("cos")(x[i]) + fn("cos")(2 * y[i]) * fn("sin")(x[i]),
        2 * fn("sin")(y[i]) * fn("cos")(y[i]) * fn("cos")(x[i]) - fn("cos")(2 * y[i]) * fn("sin")(x[i]),
    ),
    "half an angle": lambda i: (
        exp(fn("sin")(x[i] / 2) ** 2),
        exp((1 - fn("cos")(x[i])) / 2),
        exp((1 + fn("cos")(x[i])) / 2),
    ),
    "a rotation keeps products, under a sum": lambda i: (
        scores(lambda k: i * x[k], lambda k: 2 * x[k]),
        scores(lambda k: (i - 2) * x[k], lambda k: 0),
        scores(lambda k: (i + 2) * x[k], lambda k: 0),
    ),
    "functions that meet at a boundary": lambda i: (
        erf(minimum(x[i], 1)),
        where(lt(x[i], 1), erf(x[i]), erf(const(1))),
        where(lt(x[i], 1), erf(x[i]), 1),
    ),
}


LOGARITHMS = {                                    # where each side has a value: v is above zero here
    "of a square": lambda v, u: (log(v * v), 2 * log(v), log(v)),
    "of a quotient": lambda v, u: (log(v / u), log(v) - log(u), log(u) - log(v)),
    "of a root": lambda v, u: (log(sqrt(v)), log(v) / 2, log(u) / 2),
    "of a product with a sum": lambda v, u: (log(v * u + 2 * v), log(v) + log(u + 2), log(v) + log(u + 1)),
    "of a sum of both signs": lambda v, u: (log(v * (v + 9 - u)), log(9 - u + v) + log(v), log(v - 9 + u) + log(v)),
    "of an inverse square root": lambda v, u: (log(3 * power(v, Fraction(-1, 2)) / u), log(3) - log(v) / 2 - log(u),
                                               log(3) - log(v) - log(u)),
    "squared": lambda v, u: (power(log(v * u), 2), power(log(v) + log(u), 2), power(log(v) - log(u), 2)),
    "times another number": lambda v, u: (u * log(v * v), 2 * u * log(v), u * log(v)),
    "under a sum": lambda v, u: (Sum(N, lambda k: u * log(v * w[k] * w[k])),
                                 u * Sum(N, lambda k: log(v) + 2 * log(w[k])),
                                 u * Sum(N, lambda k: log(v) + log(w[k]))),
}

AT_ELEMENTS = {name: lambda i, law=law: law(x[i], y[i]) for name, law in LOGARITHMS.items()}


@pytest.mark.parametrize("law", LOGARITHMS.values(), ids=LOGARITHMS)
def test_a_logarithm_is_taken_apart_where_it_has_a_value_and_that_is_said(law):
    sides = [tensor((N,), lambda i, k=k: law(x[i], y[i])[k]) for k in range(3)]
    for sizes in SIZES:
        given = {name: np.abs(value) + 0.1 for name, value in values(sizes, 0).items()}
        left, right, twin = (evaluate(side, given, sizes) for side in sides)
        np.testing.assert_allclose(left, right, rtol=1e-9)
        assert not np.allclose(left, twin)
    proved = prove_tensors_equal(*sides[:2])
    assert isinstance(proved, Proved) and any(c.endswith("> 0") and "x[i]" in c for c in map(str, proved.conditions))
    assert isinstance(prove_tensors_equal(sides[0], sides[2]), NotProved)


def test_a_logarithm_of_a_sum_is_no_sum_of_logarithms():
    for left, right in (
        (lambda i: absolute(log(Fraction(1, 2) + exp(x[i]))), lambda i: log(Fraction(1, 2) + exp(x[i]))),
        (lambda i: log(x[i] + y[i]), lambda i: log(x[i]) + log(y[i])),
        (lambda i: log(x[i] - y[i]), lambda i: log(y[i] - x[i] + 1)),
        (lambda i: log(x[i] * y[i]), lambda i: log(x[i]) * log(y[i])),
        (lambda i: power(log(x[i]), 2), lambda i: log(x[i] * x[i])),
    ):
        assert isinstance(prove_tensors_equal(tensor((N,), left), tensor((N,), right)), NotProved)


def values(sizes, seed=0):
    draw = np.random.default_rng(seed)
    n, m = sizes["N"], sizes["M"]
    reals = {"x": draw.normal(scale=2, size=n), "y": draw.normal(scale=2, size=n), "w": draw.normal(size=n + m)}
    return reals | {"slot": draw.integers(-4, 8, n)}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_a_law_holds_and_its_twin_is_not_proved(law):
    left, right, twin = (tensor((N,), lambda i, k=k: law(i)[k]) for k in range(3))
    told_apart = False
    for sizes in SIZES:
        for seed in range(5):
            a, b, c = (evaluate(side, values(sizes, seed), sizes) for side in (left, right, twin))
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
            told_apart = told_apart or not np.allclose(a, c)
    assert told_apart
    assert isinstance(prove_tensors_equal(left, right), Proved)
    assert isinstance(prove_tensors_equal(left, twin), NotProved)


@pytest.mark.parametrize("law", [*LAWS.values(), *AT_ELEMENTS.values()], ids=[*LAWS, *AT_ELEMENTS])
def test_the_second_prover_agrees_with_a_law_and_refutes_its_twin(law):
    """It shares nothing with the first one, nor with the numbers above, and works in fractions or 384 binary places."""
    left, right, twin = (tensor((N,), lambda i, k=k: law(i)[k]) for k in range(3))
    assert isinstance(compare(dag.claim(left, right)), Agreement)
    assert isinstance(compare(dag.claim(left, twin)), Disagreement)


# ---------------------------------------------------------------------------------------------------- what must not be


i = index(N)
def no_lanes(body):
    """Σ over lanes l < B − 1 and tiles t, without an end but the mask t·(B − 1) + l < N."""
    return Sum(B - 1, lambda k: Sum(N, lambda t: where(lt(t * (B - 1) + k, N), body(t * (B - 1) + k), 0)))


zero_first = Prod(i + 1, lambda k: k)       # 0 · 1 · 2 · … = 0


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (zero_first / zero_first, 1),
        (Prod(i + 1, lambda k: k * x[k]) / Prod(i + 1, lambda k: k * x[k]), 1),
        (Prod(i, lambda k: 0), 0),                                          # nothing is multiplied at i = 0
        (Prod(i, lambda k: x[0]), where(lt(0, i), Prod(i, lambda k: x[0]), x[0])),
        (Prod(i - 2, lambda k: x[0]) * x[0] * x[0], Prod(i, lambda k: x[0])),       # of fewer than none there are none
        (Prod(i - 2, lambda k: x[0]) * Prod(2 - i, lambda k: x[0]), 1),
        (Prod(i, lambda k: sqrt(x[0] * x[0])), Prod(i, lambda k: x[0])),
        (Prod(i, lambda k: sqrt(x[k] * x[k])), Prod(i, lambda k: x[k])),
        (sqrt(x[i] * y[i]), sqrt(x[i]) * sqrt(y[i]) + 1),
        (log(x[i] * y[i]), log(absolute(x[i])) + log(absolute(y[i])) + 1),
        pytest.param(no_lanes(lambda k: x[k]), Sum(N, lambda k: x[k]), marks=pytest.mark.long),    # where B = 1
        (Sum(i + 1, lambda k: x[k]) + x[i], Sum(i + 1, lambda k: x[k])),    # a sum counts its end twice, a maximum once
        (Max(N, lambda k: x[i] * y[k]), x[i] * Max(N, lambda k: y[k])),     # x may be negative
        (maximum(x[0], Max(N - 1, lambda k: x[k + 1])), Max(N - 1, lambda k: x[k + 1])),
        (where(lt(2 * exp(x[i]), exp(y[i])), 1, 0), where(lt(x[i], y[i]), 1, 0)),
        (where(lt(exp(x[i]), w[i] * exp(y[i])), 1, 0), where(lt(x[i], log(w[i]) + y[i]), 1, 0)),   # w may be negative
        (where(lt(exp(x[i]), -2 * exp(y[i])), 1, 0), where(lt(x[i], y[i] + log(const(2))), 1, 0)),
        (maximum(y[i] * x[i], y[i] * w[i]), y[i] * maximum(x[i], w[i])),    # y may be negative
        (absolute(y[i] * x[i] + y[i] * w[i]), y[i] * absolute(x[i] + w[i])),
        (fn("sign")(x[i]) * absolute(x[i]), absolute(x[i])),
        (fn("sign")(x[i]), where(lt(0, x[i]), 1, -1)),                      # sign(0) = 0
        (where(le(x[i], 1), erf(x[i]), 0), where(lt(x[i], 1), erf(x[i]), 0)),
        (where(le(i, 0), x[i], 0), x[0]),
        (where(lt(0, maximum(rows(i), x[0])), y[i], 0), where(lt(0, rows(i)), y[i], 0)),
        (where(lt(0, maximum(rows(i), 1)), y[i], 0), where(lt(0, rows(i)), y[i], 0)),
        (where(le(0, maximum(rows(i), 0)), y[i], 0), where(le(0, rows(i)), y[i], 0)),
        (where(lt(maximum(rows(i), 0), 0), y[i], 0), where(lt(rows(i), 0), y[i], 0)),
        (fn("round")(x[i] + 1), fn("round")(x[i]) + 1),  # halves go to even: round(1.5) = round(2.5)
        (fn("trunc")(x[i] + 1), fn("trunc")(x[i]) + 1),
        (where(fold("any", N, lambda k: shown[k]), masked_mean(), 0), masked_mean()),         # 0/0 is not 0
    ],
)
def test_what_looks_like_a_law_is_not_proved(left, right):
    assert isinstance(prove_equal(const(left), const(right)), NotProved)


def test_a_quotient_of_products_lists_what_may_not_be_zero():
    answer = prove_equal(Prod(i + 1, lambda k: x[k]) / Prod(i + 1, lambda k: x[k]), const(1))
    assert isinstance(answer, Proved)
    assert any("≠ 0" in str(condition) for condition in answer.conditions)


@pytest.mark.parametrize(("left", "right", "condition"), [
    (where(eq(x[i], 0), 0, x[i] * log(x[i])), x[i] * log(x[i]), ("x[i] > 0",)),    # 0 · log 0 is no number
    (where(eq(x[i], 1), 0, (x[i] - 1) * log(y[i])), (x[i] - 1) * log(y[i]), ("y[i] > 0",)),
    (where(eq(x[i], 1), 0, (x[i] - 1) * y[i]), (x[i] - 1) * y[i], ()),
])
def test_what_is_0_times_something_is_0_where_that_is_a_number(left, right, condition):
    found = prove_equal(const(left), const(right))
    assert isinstance(found, Proved) and tuple(map(str, found.conditions)) == condition


ROOT_OF_PRODUCT = sqrt(y[i] / x[i] - y[i])


@pytest.mark.parametrize(("left", "right"), [
    (ROOT_OF_PRODUCT * sqrt(x[i]), sqrt(1 - x[i]) * sqrt(y[i])),
    (sqrt(y[i] / x[i]), sqrt(y[i]) / sqrt(x[i])),
    (power(x[i], Fraction(3, 2)) * sqrt(y[i]), x[i] * sqrt(x[i] * y[i])),
    (Sum(N, lambda k: sqrt(x[k]) * sqrt(1 - x[k])), Sum(N, lambda k: sqrt(x[k] - x[k] * x[k]))),
])
def test_a_product_of_roots_is_one_root(left, right):
    assert isinstance(prove_equal(left, right), Proved)


def test_what_roots_are_taken_of_is_not_negative_and_that_is_said():
    found = prove_equal(sqrt(x[i]) * sqrt(y[i]), sqrt(x[i] * y[i]))
    assert isinstance(found, Proved) and {"x[i] ≥ 0", "y[i] ≥ 0"} <= set(map(str, found.conditions))


@pytest.mark.parametrize(("left", "right"), [
    (ROOT_OF_PRODUCT * sqrt(x[i]), sqrt(1 - x[i]) * sqrt(x[i])),
    (ROOT_OF_PRODUCT * sqrt(x[i]), sqrt(1 - y[i]) * sqrt(y[i])),
    (sqrt(x[i]) + sqrt(y[i]), sqrt(x[i] + y[i])),
    (sqrt(x[i] * y[i]), sqrt(x[i]) * y[i]),
    (sqrt(x[i] * x[i] * y[i]) * sqrt(w[i]), x[i] * sqrt(y[i]) * sqrt(w[i])),             # |x|, not x
    (sqrt(Sum(N, lambda k: x[k])) * sqrt(y[i]), Sum(N, lambda k: sqrt(x[k])) * sqrt(y[i])),
])
def test_what_looks_like_one_root_is_none(left, right):
    assert isinstance(prove_equal(left, right), NotProved)


# ---------------------------------------------------------------------------------------------------------- induction


def scalar(value):
    return tensor((), lambda: value)


def running(step, initial=0, count=N):
    return Loop(count, (scalar(initial),), lambda t, state: (scalar(step(t, state[0][()])),))


def test_a_loop_is_its_closed_form():
    loop = running(lambda t, a: a + x[t])
    assert isinstance(prove_loop(loop, lambda t: (scalar(Sum(t, lambda k: x[k])),)), Proved)


@pytest.mark.parametrize(
    "closed",
    [
        lambda t: Sum(t, lambda k: x[k]) + 1,                        # wrong at the start, right in a step
        lambda t: Sum(t, lambda k: x[k] * x[k]),                     # right at the start, wrong in a step
        lambda t: where(lt(t, 2), Sum(t, lambda k: x[k]), 0),        # wrong from the second iteration on
    ],
)
def test_a_wrong_closed_form_is_not_proved(closed):
    loop = running(lambda t, a: a + x[t])
    assert isinstance(prove_loop(loop, lambda t: (scalar(closed(t)),)), NotProved)


def test_a_closed_form_may_begin_after_the_first_iteration():
    largest = running(lambda t, m: maximum(m, x[t]), NEG_INF)
    def closed(t):
        return (scalar(Max(t, lambda k: x[k])),)

    assert isinstance(prove_loop(largest, closed, first=1), Proved)
    assert isinstance(prove_loop(largest, closed, first=0), NotProved)
    short = running(lambda t, m: maximum(m, x[t]), NEG_INF, Size("K", 0))
    answer = prove_loop(short, closed, first=1)
    assert isinstance(answer, NotProved)
    assert "may end before" in answer.reason


def test_a_loop_notes_where_its_closed_form_must_be_defined():
    mean = running(lambda t, a: a + (x[t] - a) / (t + 1))
    answer = prove_loop(mean, lambda t: (scalar(Sum(t, lambda k: x[k]) / t),), first=1)
    assert isinstance(answer, Proved)
    assert "the closed form is defined after every iteration" in map(str, answer.conditions)


def test_states_must_have_the_same_parts_and_time_is_limited():
    loop = running(lambda t, a: a + x[t])
    assert isinstance(prove_loop(loop, lambda t: (scalar(t), scalar(t))), NotProved)
    answer = prove_loop(loop, lambda t: (scalar(Sum(t, lambda k: x[k])),), budget=Budget(seconds=1e-9))
    assert isinstance(answer, NotProved)
