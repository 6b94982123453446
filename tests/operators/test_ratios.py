"""A rounded ratio of integers is an integer expression with that value at every index, and nothing else is one."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch
import torch.nn.functional as F

from samesame import check
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import index, maximum, minimum
from samesame.formula.tensor import leaf, tensor
from samesame.operators.ratios import whole

ROUNDED = {"trunc": math.trunc, "floor": math.floor, "ceil": math.ceil}
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
RATIOS = {
    "a line": lambda i, of, to: (i + HALF) * Fraction(3, 4) - 2,
    "downwards": lambda i, of, to: 3 - (i - HALF) * HALF * 5,
    "clamped": lambda i, of, to: to((i + HALF) * THIRD - 1, 0) * HALF + 1,
    "clamped from above": lambda i, of, to: of(i * Fraction(-2, 3) + 4, Fraction(5, 4)) - 2,
}


@pytest.mark.parametrize("rounding", ROUNDED)
@pytest.mark.parametrize("ratio", RATIOS.values(), ids=RATIOS)
def test_a_rounded_ratio_is_an_integer_with_that_value(ratio, rounding):
    made = tensor((7,), lambda i: whole(rounding, ratio(i, minimum, maximum)), kind="int")
    assert made.element()[1].kind == "int"
    expected = [ROUNDED[rounding](ratio(Fraction(i), min, max)) for i in range(7)]
    assert evaluate(made, {}).tolist() == expected


def test_what_is_no_ratio_stays_a_function():
    x, i = leaf("x", (3,)), index(3)
    assert whole("floor", x[i] * HALF) is None and whole("round", i * HALF) is None
    assert whole("trunc", i * Fraction(1, 10**9)) is None


def test_rows_at_half_the_place_are_rows_twice():
    def upsampled(x):
        return F.interpolate(x, scale_factor=2, mode="nearest")

    def twice(x):
        return x[..., None].expand(*x.shape, 2).flatten(-2)

    inputs = (torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0)),)
    assert check(upsampled, twice, inputs).verdict == "same"
    assert check(upsampled, lambda x: torch.cat([x, x], -1), inputs).verdict == "different"
