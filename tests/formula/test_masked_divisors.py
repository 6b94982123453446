"""Quotients by what a mask leaves are compared over their common denominator, where that is not 0."""

import pytest

from samesame.formula.assumptions import COUNT, Holds
from samesame.formula.at_random import at_random
from samesame.formula.effort import spending
from samesame.formula.equal import Budget, Proved, prove_equal
from samesame.formula.expr import Sum, and_, eq, exp, not_, where
from samesame.formula.laws import LAWS
from samesame.formula.masked_divisors import is_seen_not_to_vanish
from samesame.formula.normal import normal
from samesame.formula.tensor import leaf

LONG = 9
X, Y = leaf("x", (LONG,)), leaf("y", (LONG,))
M, OTHER = leaf("m", (LONG,), "bool"), leaf("n", (LONG,), "bool")


def over(body, mask=M):
    """The sum over what a mask leaves."""
    return Sum(LONG, lambda j: where(mask[j], body(j), 0))


def by_normal_equations(mask=M):
    """The slope of a regression."""
    n, x, y = over(lambda j: 1), over(lambda j: X[j]), over(lambda j: Y[j])
    return (n * over(lambda j: X[j] * Y[j], mask) - x * y) / (n * over(lambda j: X[j] ** 2) - x * x)


def by_covariance(less=0, mask=M):
    n = over(lambda j: 1)
    x, y = over(lambda j: X[j]) / (n - less), over(lambda j: Y[j]) / n
    return over(lambda j: (X[j] - x) * (Y[j] - y)) / over(lambda j: (X[j] - x) ** 2, mask)


def test_a_slope_by_normal_equations_is_covariance_over_variance():
    found = prove_equal(by_normal_equations(), by_covariance())
    assert isinstance(found, Proved)
    assert any(isinstance(one, Holds) and one.kind == COUNT for one in found.conditions)
    assert sum(isinstance(one, Holds) and not one.kind for one in found.conditions) >= 2      # no divisor is 0


@pytest.mark.parametrize(("left", "right"), [
    (by_normal_equations(), by_covariance(less=1)),
    (by_normal_equations(), by_covariance(mask=OTHER)),
    (by_normal_equations(OTHER), by_covariance()),
    (by_normal_equations(), -by_covariance()),
])
def test_another_is_another(left, right):
    assert not isinstance(prove_equal(left, right, budget=Budget(seconds=0.5)), Proved)


def test_what_is_not_divided_is_not_excused():
    """A side that is a number of its own where the mask leaves nothing."""
    quotient = over(lambda j: X[j] * Y[j]) / over(lambda j: X[j] ** 2)
    for other in (quotient + where(M[0], 0, 1), where(M[0], quotient, 0)):
        assert not isinstance(prove_equal(quotient, other, budget=Budget(seconds=0.5)), Proved)


def test_only_what_is_not_zero_is_seen_not_to_vanish():
    x = over(lambda j: X[j])
    squares = over(lambda j: X[j] ** 2)
    variance = over(lambda j: 1) * squares - x * x
    with spending(Budget(seconds=5.0), LAWS):
        assert is_seen_not_to_vanish(normal(variance)) and is_seen_not_to_vanish(normal(x))
        assert not is_seen_not_to_vanish(normal(Sum(2, lambda j: X[j]) - X[0] - X[1]))
        assert not is_seen_not_to_vanish(normal(over(lambda j: X[j]) - over(lambda j: X[LONG - 1 - j])
                                                + Sum(LONG, lambda j: where(M[j], X[LONG - 1 - j] - X[j], 0))))


def test_a_product_of_sums_is_read_sum_by_sum():
    x, y = over(lambda j: X[j]), Sum(LONG, lambda j: Y[j] * where(OTHER[j], 2, 3))
    tied = Sum((LONG, LONG), lambda i, j: X[i] * exp(X[i] * Y[j]))
    parts = [Sum(LONG, lambda j, i=i: X[i] * exp(X[i] * Y[j])) for i in range(LONG)]
    with spending(Budget(seconds=5.0), LAWS):
        a, b, both = (at_random(normal(e)) for e in (x, y, x * y))
        assert a and b and both == pytest.approx(a * b)
        assert at_random(normal(x * x * y * y * x)) == pytest.approx(a**3 * b**2)
        assert at_random(normal(tied)) == pytest.approx(sum(at_random(normal(part)) for part in parts))


def test_where_neither_side_divides_nothing_is_excused():
    """What counts where the condition of the quotients does not hold is compared without them."""
    c, n, x, v = leaf("c", (), "bool")[()], over(lambda j: 1), over(lambda j: X[j]), over(lambda j: X[j] ** 2)
    left, right = where(c, x * n / n, 0), where(c, x * v / v, 0)
    assert isinstance(prove_equal(left, right), Proved)
    elsewhere = where(and_(not_(c), eq(n, 0)), 1, 0)
    for other in (left + elsewhere, left + where(eq(n, 0), 1, 0)):
        assert not isinstance(prove_equal(other, right, budget=Budget(seconds=0.5)), Proved)
