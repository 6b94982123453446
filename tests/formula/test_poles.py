"""A guard that a side needs to have a value says nothing; a guard of anything else does."""

from __future__ import annotations

import pytest
import torch

from samesame import check
from samesame.formula.equal import Proved, prove_equal
from samesame.formula.expr import Size, Sum, and_, eq, fn, index, lt, maximum, not_, sqrt, where
from samesame.formula.expr import log as logarithm
from samesame.formula.tensor import leaf

N = Size("N", 2)
x, y = leaf("x", (N,)), leaf("y", (N,))
i = index(N)
a, b = x[i], y[i]
lgamma = fn("lgamma")

NEEDED = {
    "1/x": (1 / a, where(eq(a, 0), 0, 1 / a), "x[i] ≠ 0"),
    "a multiple of it": (b / (2 * a), where(eq(3 * a, 0), 0, b / (2 * a)), "x[i] ≠ 0"),
    "log x": (logarithm(a), where(lt(0, a), logarithm(a), 0), "x[i] > 0"),
    "log x, where x is not 0": (logarithm(a), where(eq(a, 0), 0, logarithm(a)), "x[i] > 0"),
    "√x": (sqrt(a), where(lt(a, 0), 0, sqrt(a)), "x[i] ≥ 0"),
    "log |Γ|": (lgamma(a + b) - lgamma(b), where(eq(a + b, 0), 0, lgamma(a + b) - lgamma(b)), "x[i] + y[i]"),
    "under another guard": (
        where(lt(0, b), 1 / a, 3), where(and_(lt(0, b), eq(a, 0)), 0, where(lt(0, b), 1 / a, 3)), "x[i] ≠ 0"),
    "within a sum": (Sum(N, lambda k: y[k] / x[k]), Sum(N, lambda k: where(eq(x[k], 0), 0, y[k] / x[k])), "≠ 0"),
}


@pytest.mark.parametrize("left, right, condition", NEEDED.values(), ids=NEEDED)
def test_a_guard_that_a_side_needs_is_a_condition(left, right, condition):
    for pair in ((left, right), (right, left)):
        answer = prove_equal(*pair)
        assert isinstance(answer, Proved) and any(condition in str(one) for one in answer.conditions)


SAYING = {
    "x": (a, where(eq(a, 0), 5, a)),
    "a number at the pole": (1 / a, where(eq(a, 0), 7, 0) + 1 / b),
    "another pole": (1 / a, where(eq(b, 0), 0, 1 / a)),
    "√x, where x is not 0": (sqrt(a) + 1, where(eq(a, 0), 0, sqrt(a) + 1)),
    "log x, where x is above 1": (logarithm(a), where(lt(1, a), logarithm(a), 0)),
    "−x": (sqrt(a), where(lt(0, a), 0, sqrt(a))),
    "a pole that is there under a guard only": (
        where(lt(0, b), 1 / a, 3), where(eq(a, 0), 0, where(lt(0, b), 1 / a, 3))),
    "the other guard": (where(lt(0, b), 1 / a, 3), where(and_(not_(lt(0, b)), eq(a, 0)), 0, where(lt(0, b), 1 / a, 3))),
}


@pytest.mark.parametrize("left, right", SAYING.values(), ids=SAYING)
def test_a_guard_of_anything_else_is_none(left, right):
    assert not isinstance(prove_equal(left, right), Proved)
    assert not isinstance(prove_equal(right, left), Proved)


def both(a, b):
    return and_(not_(eq(a, 0)), not_(eq(b, 0)))


def in_a_circle(a, b, rest):
    """Each pole is guarded by the other: where both numbers are 0 there is a value, and no pole."""
    return where(eq(b, 0), 0, 1 / a) + where(eq(a, 0), 0, 1 / b) + rest


def test_two_guards_that_are_each_needed_where_the_other_holds_are_not_left_out_together():
    z = leaf("z", (N,))[i]
    assert not isinstance(prove_equal(in_a_circle(a, b, where(both(a, b), z, 0)), in_a_circle(a, b, z)), Proved)
    once = where(both(a, b), z, 0), where(eq(b, 0), 0, z)
    answer = prove_equal(in_a_circle(a, b, once[0]), in_a_circle(a, b, once[1]))
    assert isinstance(answer, Proved) and any("x[i] ≠ 0" in str(condition) for condition in answer.conditions)


def test_what_is_divided_by_a_count_has_no_value_where_nothing_is_counted():
    m = leaf("m", (N, 2), "bool")
    count = Sum(2, lambda k: where(m[i, k], 1, 0))
    mean = Sum(2, lambda k: where(m[i, k], a + k, 0)) / count
    clamped = Sum(2, lambda k: where(m[i, k], a + k, 0)) / maximum(1, count)
    def summed(guarded):
        def of(k):
            own = Sum(2, lambda j: where(m[k, j], 1, 0))
            each = Sum(2, lambda j: where(m[k, j], x[k] + j, 0)) / own
            return where(lt(0, own), each, 0) if guarded else each

        return Sum(N, of)

    for left, right, needed in ((where(lt(0, count), mean, 0), mean, True), (clamped, mean, True),
                                (summed(True), summed(False), True), (summed(False), summed(False) * 1, False),
                                (where(lt(0, count), mean, 0), clamped, False), (mean, mean * 1, False)):
        answer = prove_equal(left, right)
        assert isinstance(answer, Proved) and bool(answer.conditions) is needed


def test_a_condition_that_the_example_breaks_is_not_assumed():
    def safe(x):
        return torch.where(x == 0, torch.zeros(()), 1 / x)

    values = torch.tensor([0.5, 1.0, -2.0])
    assert check(lambda x: 1 / x, safe, (values,)).verdict == "same"
    assert check(lambda x: 1 / x, safe, (torch.tensor([0.5, 0.0, -2.0]),)).verdict != "same"
