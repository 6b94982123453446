"""A region that conditions leave around an example holds the example, and nowhere where one of the conditions fails."""

from itertools import product

import pytest

from samesame.formula.expr import Size, add, floordiv, maximum, mod, mul
from samesame.formula.region import COMPARE, Condition, around

B, T = Size("B", 1), Size("T", 2)
GRID = [{"B": b, "T": t} for b, t in product(range(1, 8), range(2, 9))]
EXAMPLES = [{"B": 1, "T": 2}, {"B": 3, "T": 5}]
SIDES = {
    "one": T,
    "a multiple": mul(3, B),
    "a sum": add(B, T),
    "a difference": add(B, mul(-1, T)),
    "a product": mul(B, T),
    "a quotient": floordiv(add(T, 1), 2),
    "a rest": mod(T, 3),
    "the larger": maximum(mul(2, B), T),
}


@pytest.mark.parametrize("op", COMPARE)
@pytest.mark.parametrize("side", SIDES)
def test_where_a_region_holds_its_condition_does(side, op):
    for number, example in product(range(-2, 7), EXAMPLES):
        condition = Condition(op, SIDES[side], number)
        if condition.holds(example):
            region = around(example, [B, T], [condition])
            assert region.holds(example)
            assert all(condition.holds(values) for values in GRID if region.holds(values)), region


@pytest.mark.parametrize("op", COMPARE)
def test_where_a_region_of_several_conditions_holds_all_of_them_do(op):
    for example, one, other in product(EXAMPLES, SIDES, SIDES):
        conditions = [Condition("≥", T, 3), Condition(op, SIDES[one], SIDES[other])]
        if all(condition.holds(example) for condition in conditions):
            region = around(example, [B, T], conditions)
            assert all(c.holds(values) for values in GRID if region.holds(values) for c in conditions), region


def test_a_size_is_told_apart_from_another_that_is_made_of_it():
    half = floordiv(add(T, 1), 2)
    region = around({"T": 6}, [T], [Condition("≠", T, half)])
    assert all(region.holds({"T": n}) for n in range(2, 9))
