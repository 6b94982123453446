"""What is asked of a power, of its exponent, and of a maximum of powers is known together."""

from fractions import Fraction

import pytest

from samesame.formula.equal import Proved, prove_equal
from samesame.formula.expr import and_, exp, index, le, log, lt, maximum, minimum, or_, where
from samesame.formula.tensor import leaf

I = index(6)  # noqa: E741
a, power = leaf("a", (6,))[I], exp(leaf("x", (6,))[I])
LOW, HIGH = Fraction(4, 5), Fraction(6, 5)


def is_same(left, right):
    return isinstance(prove_equal(where(left, 1, 0), where(right, 1, 0)), Proved)


@pytest.mark.parametrize("least, same", [(LOW, True), (Fraction(9, 10), False)])
def test_a_factor_above_zero_changes_no_comparison_with_a_power(least, same):
    assert is_same(and_(lt(0, a), lt(a * power, a * LOW)), and_(lt(0, a), lt(power, least))) is same


@pytest.mark.parametrize("sign", [1, -1])
def test_a_factor_of_no_known_sign_may_turn_it_round(sign):
    below, above = lt(sign * a * power, sign * a * LOW), and_(lt(0, a), lt(power, LOW))
    assert not is_same(below, above)
    assert is_same(below, or_(above, and_(lt(a, 0), lt(LOW, power)))) is (sign == 1)


@pytest.mark.parametrize("least, same", [(LOW, True), (Fraction(3, 4), False)])
def test_what_a_clamp_changes_lies_beyond_its_ends(least, same):
    gained = lt(a * minimum(maximum(power, LOW), HIGH), a * power)
    beyond = or_(and_(lt(0, a), lt(HIGH, power)), and_(lt(a, 0), lt(power, least)))
    assert is_same(gained, beyond) is same


def test_a_maximum_is_the_larger_one():
    gained = lt(a * maximum(power, LOW), a * power)
    assert is_same(gained, and_(lt(a, 0), lt(power, LOW)))
    assert not is_same(gained, and_(lt(0, a), lt(LOW, power)))           # which is so of the smaller one


@pytest.mark.parametrize("rest, same", [(2, True), (3, False)])
def test_of_sums_of_powers(rest, same):
    other = exp(leaf("y", (6,))[I])
    compared = le(log(power + other), log(other) + log(2))
    assert is_same(and_(compared, lt(0, a)), and_(le(a * (power + other), rest * a * other), lt(0, a))) is same
