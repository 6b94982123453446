"""Regions cover another one only if they leave nothing of it out; what is left out is found near the example."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from samesame.formula.cover import covers, uncovered
from samesame.formula.expr import Size, add, floordiv, maximum, minimum, mod, mul, power
from samesame.formula.region import Condition, Region

B, T = Size("B", 1), Size("T", 1)


def region(b=(2, None), t=(2, None), *conditions: Condition) -> Region:
    return Region({"B": b, "T": t}, conditions)


EVERY = region()
COVERED = {
    "two halves": [region(t=(2, 64)), region(t=(65, None))],
    "halves that overlap": [region(t=(2, 70)), region(t=(65, None))],
    "quarters": [region(b, t) for b, t in product([(2, 8), (9, None)], [(2, 64), (65, None)])],
    "remainders": [region((2, None), (2, None), Condition("=", mod(T, 3), k)) for k in range(3)],
    "a product": [region((2, None), (2, None), Condition(op, mul(B, T), 64)) for op in ("≤", ">")],
    "a quotient": [region((2, None), (2, None), Condition(op, floordiv(T, 7), B)) for op in ("=", "≠")],
    "a maximum": [region((2, None), (2, None), Condition("=", maximum(T, 8), 8)), region(t=(9, None))],
    "a minimum": [region((2, None), (2, None), Condition("<", minimum(B, T), 8)), region((8, None), (8, None))],
    "a fraction": [region((2, None), (2, None), Condition(op, mul(Fraction(1, 2), T), 8)) for op in ("≤", ">")],
}


@pytest.mark.parametrize("name", COVERED)
def test_what_covers_a_region_does_so_and_no_part_may_be_missing(name: str) -> None:
    cases, example = COVERED[name], {"B": 2, "T": 5}
    assert covers(cases, EVERY) and uncovered(cases, EVERY, example) is None
    for missing in range(len(cases)):
        rest = [case for k, case in enumerate(cases) if k != missing]
        outside = uncovered(rest, EVERY, example)
        assert not covers(rest, EVERY) and outside is not None
        assert EVERY.holds(outside) and not any(case.holds(outside) for case in rest)


def test_one_size_in_between_is_enough() -> None:
    cases = [region(t=(2, 64)), region(t=(66, None))]
    assert not covers(cases, EVERY)
    assert uncovered(cases, EVERY, {"B": 3, "T": 5}) == {"B": 3, "T": 65}


def test_a_condition_without_words_covers_nothing() -> None:
    root = Condition(">", power(T, Fraction(1, 2)), 0)
    assert not covers([region((2, None), (2, None), root)], EVERY)


def test_an_empty_claim_is_covered_and_an_empty_case_covers_nothing() -> None:
    empty = region(t=(8, 7))
    assert covers([], empty) and not covers([empty], EVERY)


def test_what_is_left_out_may_need_two_sizes_to_move() -> None:
    cases = [region((2, 8), (2, None)), region((2, None), (2, 64))]
    assert uncovered(cases, EVERY, {"B": 2, "T": 5}) == {"B": 9, "T": 65}


def test_sizes_may_be_added() -> None:
    cases = [region((2, None), (2, None), Condition("≤", add(B, T), 20))]
    assert uncovered(cases, EVERY, {"B": 2, "T": 5}) == {"B": 16, "T": 5}
