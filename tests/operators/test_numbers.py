"""Floats of a program are read as the numbers that were meant, and each such reading is written down."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from samesame.formula.equal import Proved, prove_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import NEG_INF, Expr, Num, Pow, Size, Unsupported, add, const, fn
from samesame.formula.infinite import PLUS_INFINITY
from samesame.formula.tensor import leaf, tensor
from samesame.operators import constant, meaning_of, readings
from samesame.operators.numbers import HALF, beside, exact


def value(e: Expr, **sizes: int) -> float:
    return float(evaluate(tensor((), lambda: e), {}, sizes=sizes))


@pytest.mark.parametrize("text", ["0.1", "1e-05", "0.044715", "2.5", "10000.0", "1e-30", "1.702", "-0.3", "0.0"])
def test_a_short_decimal_is_that_decimal(text: str) -> None:
    with readings() as found:
        assert constant(float(text)) is const(Fraction(text))
    assert not found


@pytest.mark.parametrize("n", [2, 3, 7, 8, 30, 80, 96, 3584])
@pytest.mark.parametrize("q", [Fraction(1, 2), Fraction(-1, 2), Fraction(1, 4), Fraction(-1, 4)])
def test_a_root_of_a_size_is_exact(n: int, q: Fraction) -> None:
    with readings() as found:
        read = constant(n ** float(q))
    assert value(read) == pytest.approx(n ** float(q), rel=1e-15)
    assert isinstance(read, Pow) and isinstance(read.base, Num)
    root = "√({})" if abs(q) == Fraction(1, 2) else "({})^(1/4)"
    assert set(map(str, found)) == {
        f"{n ** float(q)!r} read as " + root.format(Fraction(n) ** (1 if q > 0 else -1))}


@pytest.mark.parametrize("n", [2, 30, 128, 3584])
def test_a_root_rounded_to_float32_is_the_same_root(n: int) -> None:
    assert constant(float(np.float32(n**0.5))) is constant(n**0.5)


def test_a_decimal_rounded_to_float32_is_that_decimal() -> None:
    assert constant(float(np.float32(0.1))) is const(Fraction(1, 10))


@pytest.mark.parametrize("number", [math.pi, math.sqrt(2 / math.pi), 0.5**0.5, math.sqrt(2), math.log(2), 1 / 3])
def test_known_constants(number: float) -> None:
    for sign in (1, -1):
        with readings() as found:
            read = constant(sign * number)
        assert not isinstance(read, Num) or read.value.denominator < 10
        assert value(read) == pytest.approx(sign * number, rel=1e-15)
        assert len(found) == 1


MULTIPLIED = [math.pi, math.log(2 * math.pi), math.log(math.pi), 1 / math.pi, math.pi**2, 1 / math.pi**2,
              1 / math.log(2), 1 / math.log(10)]


@pytest.mark.parametrize("q", [Fraction(3), Fraction(1, 180), Fraction(180), Fraction(7, 3), Fraction(512)])
@pytest.mark.parametrize("base", MULTIPLIED)
def test_a_simple_multiple_of_a_known_constant_is_that_multiple(q: Fraction, base: float) -> None:
    """A density over 6 features has 3·log(2π) in it, an angle in degrees π/180."""
    number = q.numerator * base / q.denominator
    with readings() as found:
        assert constant(number) is q * constant(base)
    assert len(found) == 2
    assert isinstance(constant(number * (1 + 1e-12)), Num)


@pytest.mark.parametrize("n", [6, 16, 80, 128, 192])
def test_a_scale_of_scores_for_powers_of_two_is_that_scale(n: int) -> None:
    number = n**-0.5 * math.log2(math.e)
    with readings() as found:
        assert constant(number) is constant(n**-0.5) * constant(1 / math.log(2))
    assert any(str(reading).endswith(f"√({Fraction(1, n)})/log 2") for reading in found)
    assert isinstance(constant(number * (1 + 1e-12)), Num)


@pytest.mark.parametrize("lowest", [-3.4028234663852886e38, -65504.0, -3.3895313892515355e38, float("-inf")])
def test_the_least_float_is_minus_infinity(lowest: float) -> None:
    with readings() as found:
        assert constant(lowest) is NEG_INF
    assert bool(found) == (lowest != float("-inf"))


@pytest.mark.parametrize("scale", [Fraction("0.229"), Fraction("0.226"), Fraction("0.26862954"), Fraction("12.345")])
def test_one_over_a_short_decimal_is_that(scale: Fraction) -> None:
    """Bytes of an image become normal in one multiplication."""
    for number in (1 / (255 * float(scale)), 1 / 255 / float(scale)):
        with readings() as found:
            assert constant(number) is const(1 / (255 * scale))
        assert [str(reading) for reading in found] == [f"{number!r} read as 1/{255 * float(scale):.9g}"]
        beyond = constant(number * (1 + 1e-13))
        assert isinstance(beyond, Num) and beyond is not constant(number)


def test_infinity_is_the_negative_of_the_other_and_nan_is_nothing() -> None:
    assert constant(math.inf) is PLUS_INFINITY and value(constant(math.inf)) == math.inf
    with pytest.raises(Unsupported):
        constant(math.nan)


def test_a_symbolic_size_is_found_under_a_root() -> None:
    d = Size("D", 1)
    assert value(constant(8**-0.5, sizes=[(8, d)]), D=50) == pytest.approx(50**-0.5)


def as_it_stands(x: float) -> Fraction:
    """The decimal of at most 15 digits that is this float, or else what the float is."""
    return Fraction(x) if len(repr(x).replace(".", "").strip("0")) > 15 else Fraction(repr(x))


def test_floats_at_random_are_read_as_they_stand() -> None:
    draw = random.Random(0)
    with readings() as found:
        for _ in range(2000):
            x = draw.uniform(0, 10) * 10 ** draw.uniform(-3, 3)
            assert constant(x) is const(as_it_stands(x))
    assert not found


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(torch.finfo(torch.float64).min / 2)               # what masks put in
@example(torch.finfo(torch.float64).tiny)
@example(2.0**-149)                                         # of one digit in float32: 1e-45, and 1.4e-45 is meant
@example(2.0**-140 * 3)
def test_no_float_is_too_large_or_small_to_be_read(x: float) -> None:
    read = constant(x)
    assert not isinstance(read, Num) or abs(read.value - Fraction(x)) <= abs(Fraction(x)) / 10**6


def test_what_floats_compute_exactly_is_read_so() -> None:
    """2x, x/4, and 1 − w for a weight w from 1/2 to 1, as averages that decay have it, where neither is a decimal."""
    draw = random.Random(1)
    for _ in range(500):
        w = draw.uniform(0.5, 1)
        if min(len(repr(number)) for number in (w, 1 - w, 2 * w, w / 4)) > 18:
            assert add(constant(w), constant(1 - w)) is const(1)
            assert constant(2 * w) is 2 * constant(w) and constant(w / 4) is constant(w) / 4


def test_a_decimal_of_fifteen_digits_is_that_decimal() -> None:
    assert exact(0.587043074451121) + exact(0.114020904255103) == exact(0.701063978706224)


def test_as_a_factor_the_least_float_is_a_number() -> None:
    multiply = meaning_of("aten.mul.Tensor")
    assert multiply is not None
    with readings() as found:
        hidden = multiply(leaf("m", (2,)), -3.4028234663852886e38)
    assert not found
    assert (evaluate(hidden, {"m": np.array([0.0, 1.0])}) == [0, -3.4028234663852886e38]).all()


def test_readings_inside_readings_reach_both() -> None:
    with readings() as outer:
        with readings() as inner:
            constant(-65504.0)
        constant(math.pi)
    assert len(inner) == 1 and len(outer) == 2 and inner < outer


@pytest.mark.parametrize("made, meant", [
    (1 - 0.9**2, Fraction(19, 100)),
    (1 - 0.999, Fraction(1, 1000)),
    (1 - 0.95**10, 1 - Fraction(19, 20) ** 10),
    (1 - 0.999**250, 1 - Fraction(999, 1000) ** 250),
    (3e-4 / (1 - 0.95**3), Fraction(3, 10000) / (1 - Fraction(19, 20) ** 3)),
    (0.01 / (1 - 0.99), Fraction(1)),
])
def test_what_floats_make_of_short_decimals_is_read_as_what_it_is(made: float, meant: Fraction) -> None:
    """As optimizers correct their averages for the first steps."""
    with readings() as found:
        assert constant(made) is const(meant)
    assert len(found) == 1


def test_the_root_of_such_a_number_is_one() -> None:
    assert constant((1 - 0.999**2) ** 0.5) is constant(1 - 0.999**2) ** Fraction(1, 2)
    assert constant((1 - 0.95**10) ** 0.5) is constant(1 - 0.95**10) ** Fraction(1, 2)


@pytest.mark.parametrize("made, meant", [
    (0.997 * 0.95, Fraction(94715, 100000)),
    (0.95**3 * (1 - 0.95), Fraction(4286875, 100000000)),
    (0.95**2 * 0.99, Fraction(893475, 1000000)),
    (0.1 + 0.2, Fraction(3, 10)),
    (1.1 * 1.1, Fraction(121, 100)),
    (7 * 1.1e-8, Fraction(77, 10**9)),
])
def test_the_short_decimal_that_products_of_decimals_miss_by_little_is_meant(made: float, meant: Fraction) -> None:
    """As returns that are discounted, and averages of averages, have them."""
    with readings() as found:
        assert constant(made) is const(meant) and constant(-made) is const(-meant)
    assert len(found) == 1


def test_sums_of_decimals_as_floats_are_what_their_decimals_are() -> None:
    """Of any three decimals of three digits, where what is left of 1 is not ever so small."""
    draw = random.Random(2)
    for _ in range(2000):
        a, b, c = (draw.randrange(1, 1000) for _ in range(3))
        for made, meant in (
            (a / 1000 * (b / 1000), Fraction(a * b, 10**6)),
            ((1 - a / 1000) * (b / 1000) * (c / 1000), Fraction((1000 - a) * b * c, 10**9)),
        ):
            assert constant(made) is const(meant) or made < 1e-5


def test_a_root_less_one_is_that() -> None:
    with readings() as found:
        assert constant(2**0.5 - 1) is const(2) ** HALF - 1
        assert constant(1 - 0.3**0.5) is 1 - const(Fraction(3, 10)) ** HALF
    assert set(map(str, found)) == {f"{2**0.5 - 1!r} read as √(2) − 1", f"{1 - 0.3**0.5!r} read as 1 − √(3/10)"}


def test_the_step_from_one_root_to_another_is_read_beside_one_of_them() -> None:
    """Levels of noise √(1 − a)/√a, of which a formula holds one, or the roots it is made of."""
    levels = [((1 - a) / a) ** 0.5 for a in (0.3, 0.55, 0.85)]
    roots = [const((1 - a) / a) ** HALF for a in (Fraction(3, 10), Fraction(11, 20), Fraction(17, 20))]
    for one, other in ((0, 1), (1, 0), (1, 2), (0, 2)):
        step, meant = levels[other] - levels[one], roots[other] - roots[one]
        for told in ([levels[one]], [levels[other]], [0.3**0.5, 0.7**0.5, 0.55**0.5, 0.45**0.5, 0.85**0.5, 0.15**0.5]):
            with beside(told):
                assert isinstance(prove_equal(constant(step), meant), Proved)
                assert isinstance(constant(step * (1 + 1e-12)), Num)


def test_numbers_at_random_beside_others_are_read_as_they_stand() -> None:
    draw = random.Random(3)
    with beside([draw.uniform(0, 3) for _ in range(4)] + [0.7**0.5, 0.3, 10.0]), readings() as found:
        for _ in range(100):
            x = draw.uniform(0, 3)
            assert constant(x) is const(as_it_stands(x))
    assert not found


@pytest.mark.parametrize("name", ["exp", "cos", "sin", "tanh"])
@pytest.mark.parametrize("argument", [0.3, 0.25, 0.5, 0.01, 0.999])
def test_a_function_of_a_short_decimal_is_that_function(name: str, argument: float) -> None:
    number = getattr(math, name)(argument)
    with readings() as found:
        assert constant(number) is fn(name)(const(Fraction(str(argument))))
    assert set(map(str, found)) == {f"{number!r} read as {name}({argument})"}
    assert isinstance(constant(number * (1 + 1e-12)), Num)


@pytest.mark.parametrize("number", [
    0.1899999999999997, 0.7316258119238117, 0.05263157894736846 * 1.0001, 1.00000005e-10,
])
def test_a_float_that_short_decimals_do_not_give_to_the_last_bit_is_itself(number: float) -> None:
    with readings() as found:
        assert constant(number) is const(as_it_stands(number))
    assert not found


@pytest.mark.parametrize("value", [1.2345678901234567e200, 1 - 0.99999**800, (1 - 0.99999**800) ** 0.5])
def test_numbers_that_are_large_or_would_take_thousands_of_digits_are_read_at_once(value):
    assert str(constant(value)) and abs(float(constant(value).value) - value) <= 1e-15 * value
