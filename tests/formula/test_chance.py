"""Claims that random maps tell apart are given up; claims that can be proved are not."""

import pytest

from samesame.formula.chance import differ_by_chance
from samesame.formula.equal import Budget, NotProved, Proved, prove_tensors_equal
from samesame.formula.expr import NEG_INF, Lambda, Opaque, Size, Sum, absolute, exp, index, le, log, power, sqrt, where
from samesame.formula.tensor import leaf, tensor
from samesame.operators import meaning_of

ROWS, LENGTH, CHOSEN = 6, 4, 2
x, w, mask = leaf("x", (ROWS, LENGTH)), leaf("w", (LENGTH, LENGTH)), leaf("mask", (ROWS, LENGTH), "bool")
wide = leaf("wide", (ROWS, 16))


def sorted_or_not(y, sorted_, k=CHOSEN):
    return meaning_of("aten.topk.default")(y, k, -1, True, sorted_)


def product(y):
    return tensor((ROWS, LENGTH), lambda i, j: Sum(LENGTH, lambda k: w[j, k] * y[i, k]))


def looked_up(place):
    return tensor((ROWS, LENGTH), lambda i, j: w[place[i, 0], j])


def mapped(of, kind="real", told=(), length=LENGTH):
    """An operator that nobody knows, on each row."""
    def element(i):
        k = index(length)
        return Opaque("unknown", told, (Lambda((k,), of(i, k)),), (), kind)

    return tensor((ROWS,), element, kind)


def weighted(y, flag):
    values, places = sorted_or_not(y, flag)
    return tensor((ROWS, LENGTH), lambda i, j: Sum(CHOSEN, lambda k: exp(values[i, k]) * w[places[i, k], j]))


masked = tensor((ROWS, LENGTH), lambda i, j: where(le(j, i), x[i, j], NEG_INF))
SAME = {
    "positions": (sorted_or_not(product(x), True)[1], sorted_or_not(product(x), True)[1]),
    "a sum the other way round": (
        mapped(lambda i, k: x[i, k] + w[k, 0]), mapped(lambda i, k: w[k, 0] + x[i, k] * (1 + exp(0)) / 2)),
    "looked up at positions": (looked_up(sorted_or_not(x, True)[1]), looked_up(sorted_or_not(x, True)[1])),
    "weights and positions": (weighted(product(x), False), weighted(product(x), False)),
    "masked rows": (sorted_or_not(masked, True)[1], sorted_or_not(masked, True)[1]),
    "a softmax taken off": (sorted_or_not(meaning_of("aten.softmax.int")(x, -1), True)[1], sorted_or_not(x, True)[1]),
    "provided that x ≥ 0": (
        mapped(lambda i, k: sqrt(power(x[i, 0], 2)) * k), mapped(lambda i, k: power(sqrt(x[i, 0]), 2) * k)),
    "provided that log has a value": (
        mapped(lambda i, k: log(x[i, k]) + log(x[i, 0])), mapped(lambda i, k: log(x[i, 0]) + log(x[i, k]))),
    "an integer": (mapped(lambda i, k: x[i, k], "int"), mapped(lambda i, k: x[i, k] * 2 - x[i, k], "int")),
    "a truth": (mapped(lambda i, k: x[i, k], "bool"), mapped(lambda i, k: x[i, k] * 2 - x[i, k], "bool")),
}
OTHERS = {
    "sorted and not, positions": (sorted_or_not(product(x), True)[1], sorted_or_not(product(x), False)[1]),
    "sorted and not, two places": (sorted_or_not(leaf("x", (1, LENGTH)), True)[1],
                                   sorted_or_not(leaf("x", (1, LENGTH)), False)[1]),
    "sorted and not, values": (sorted_or_not(product(x), True)[0], sorted_or_not(product(x), False)[0]),
    "sorted and not, looked up": (looked_up(sorted_or_not(x, True)[1]), looked_up(sorted_or_not(x, False)[1])),
    "sorted and not, weighted": (weighted(product(x), True), weighted(product(x), False)),
    "another row": (mapped(lambda i, k: x[i, k]), mapped(lambda i, k: x[i, LENGTH - 1 - k])),
    "another attribute": (mapped(lambda i, k: x[i, k], told=(1,)), mapped(lambda i, k: x[i, k], told=(True,))),
    "another row, where all of it is positive": tuple(
        mapped(lambda i, k, turn=turn: sqrt(wide[i, 15 - k if turn else k]), length=16) for turn in (False, True)
    ),
    "more elements": (mapped(lambda i, k: x[i, k]), mapped(lambda i, k: x[i, k] + 1)),
}


@pytest.mark.parametrize("name", SAME)
def test_what_can_be_proved_is_not_given_up(name):
    assert not differ_by_chance(*SAME[name])


@pytest.mark.parametrize("name", [name for name in SAME if not name.startswith("provided")])
def test_it_can_be_proved_indeed(name):
    assert isinstance(prove_tensors_equal(*SAME[name], budget=Budget(seconds=5)), Proved)


@pytest.mark.parametrize("name", OTHERS)
def test_what_hangs_on_an_opaque_operator_is_given_up(name):
    assert differ_by_chance(*OTHERS[name])
    assert isinstance(prove_tensors_equal(*OTHERS[name], budget=Budget(seconds=5)), NotProved)


def test_what_is_false_of_most_elements_is_given_up_and_what_holds_for_the_positive_ones_is_not():
    assert differ_by_chance(x, tensor(x.shape, lambda i, j: x[i, j] + 1))
    assert differ_by_chance(x, leaf("y", x.shape))
    assert not differ_by_chance(x, tensor(x.shape, lambda i, j: absolute(x[i, j])))
    assert not differ_by_chance(x, tensor(x.shape, lambda i, j: x[i, j] + log(-1 - power(x[i, j], 2))))


def test_nothing_is_said_of_other_shapes_and_without_numbers_as_sizes():
    assert not differ_by_chance(x, leaf("y", (ROWS, LENGTH + 1)))
    for rows in (Size("n", 1), 0):
        y = leaf("y", (rows, LENGTH))
        assert not differ_by_chance(sorted_or_not(y, True)[1], sorted_or_not(y, False)[1])


@pytest.mark.filterwarnings("error")
def test_infinities_on_both_sides_are_compared_without_a_warning():
    """A mask leaves −∞ in both; only where both are finite is there something to compare."""
    def masked(y):
        return tensor((ROWS, LENGTH), lambda i, j: where(le(j, 1), NEG_INF, sorted_or_not(y, False, LENGTH)[0][i, j]))

    assert differ_by_chance(masked(x), masked(product(x)))
