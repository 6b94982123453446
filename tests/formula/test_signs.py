"""A variance is not negative, may be zero, and what takes off a little more than one may be negative."""

from fractions import Fraction

import pytest

from samesame.formula.effort import Budget, spending
from samesame.formula.equal import Proved, prove_equal
from samesame.formula.expr import (
    NEG_INF,
    Leaf,
    Load,
    Max,
    Size,
    Sum,
    and_,
    const,
    eq,
    exp,
    index,
    log,
    lt,
    maximum,
    minimum,
    not_,
    numeric,
    power,
    where,
)
from samesame.formula.laws import LAWS
from samesame.formula.normal import normal
from samesame.formula.signs import is_nonnegative, is_positive
from samesame.formula.tensor import leaf
from samesame.operators.numbers import constant

N, M = Size("N", 1), Size("M", 1)
x, z, w = leaf("x", (N,)), leaf("z", (N, M)), leaf("w", ())
ABOVE = Fraction(101, 100)
OVER = {
    "a row": (lambda f: Sum(N, f) / N, lambda i: x[i]),
    "five elements": (lambda f: Sum(5, f) / 5, lambda i: x[i]),
    "both dimensions": (lambda f: Sum((N, M), f) / (N * M), lambda i, j: z[i, j]),
    "weighted by a square": (lambda f: Sum(N, f) * w[()] * w[()] / N, lambda i: x[i]),
    "positive numbers": (lambda f: Sum(N, f) / N, lambda i: exp(x[i])),
}


def centred(mean, element, part=1):
    """E[f²] − part·E[f]², weighted as the mean is."""
    one = mean(lambda *i: 1)
    squares, total = mean(lambda *i: element(*i) * element(*i)), mean(element)
    return squares - part * total * total * power(one, -1)


def signs(expr):
    with spending(Budget(), LAWS):
        form = normal(expr)
        return is_nonnegative(form), is_positive(form)


@pytest.mark.parametrize("name", OVER)
def test_a_variance_is_not_negative_and_no_more_is_known(name):
    assert signs(centred(*OVER[name])) == (True, False)
    assert signs(centred(*OVER[name], ABOVE)) == (False, False)
    assert signs(centred(*OVER[name]) + Fraction(1, 10)) == (True, True)
    assert signs(centred(*OVER[name], ABOVE) + Fraction(1, 10)) == (False, False)


def test_two_variances_and_less_than_their_sum():
    rows, other = OVER["a row"], OVER["both dimensions"]
    assert signs(centred(*rows) + centred(*other)) == (True, False)
    assert signs(centred(*rows) - centred(*other)) == (False, False)
    assert signs(-centred(*rows)) == (False, False)


@pytest.mark.parametrize("name", OVER)
def test_a_comparison_with_a_variance_is_decided_the_right_way_round(name):
    above = centred(*OVER[name]) + Fraction(1, 10)
    assert isinstance(prove_equal(where(lt(0, above), 1, 0), 1), Proved)
    assert isinstance(prove_equal(where(lt(above, 0), 1, 0), 0), Proved)
    assert not isinstance(prove_equal(where(lt(0, centred(*OVER[name])), 1, 0), 1), Proved)


def test_a_maximum_over_both_halves_of_a_row_is_over_something_and_over_one_half_may_not_be():
    """Of scores that a mask replaces, and of scores that a mask leaves out."""
    seen = leaf("m", (N,), "bool")

    def conditions(otherwise):
        largest = Max(N, lambda k: where(seen[k], x[k], otherwise))
        proof = prove_equal(largest + 1 - largest, const(1))
        assert isinstance(proof, Proved)
        return [str(condition) for condition in proof.conditions]

    assert not any("at least one element" in said for said in conditions(const(-10000)))
    assert any("at least one element" in said for said in conditions(constant(float("-inf"))))


PLACE, BEYOND = (Load(Leaf("a", (N,), "int", (0, last)), (index(N),)) for last in (3, 4))


@pytest.mark.parametrize("less, place, seen, sign", [
    (0, PLACE, None, True), (0, const(2), None, True), (-1, PLACE, None, True),
    (0, BEYOND, None, False),                                            # may be no place of the row
    (Fraction(1, 100), PLACE, None, False),
    (0, PLACE, leaf("m", (4,), "bool"), False),                          # may be left out of the sum
])
@pytest.mark.parametrize("heat", [1, Fraction(3, 100)])
def test_no_element_of_a_row_exceeds_the_logarithm_of_the_sum_of_its_exponentials(less, place, seen, sign, heat):
    row = leaf("row", (4,))
    total = Sum(4, lambda k: exp(row[k] / heat) if seen is None else where(seen[k], exp(row[k] / heat), 0))
    rest = heat * log(total) - row[place] - less
    assert signs(rest)[0] is sign
    assert signs(-rest)[0] is False
    clamped = isinstance(prove_equal(minimum(maximum(-rest, -1), 0), maximum(-rest, -1)), Proved)
    assert clamped is sign


@pytest.mark.parametrize("total, sign", [
    (lambda f: Sum(4, f), True), (lambda f: 3 * Sum(4, f), True), (lambda f: Sum(4, f) / 2, False),
])
def test_a_part_of_a_sum_of_exponentials_may_be_exceeded(total, sign):
    row = leaf("row", (4,))
    assert signs(log(total(lambda k: exp(row[k]))) - row[PLACE])[0] is sign
    if sign:
        assert not signs(log(total(lambda k: exp(row[k]))) - 2 * row[PLACE])[0]


def test_what_is_taken_off_a_sum_of_exponentials_counts():
    row = leaf("row", (4,))
    squares, product = Sum(4, lambda k: exp(2 * row[k])), Sum((4, 4), lambda k, m: exp(row[k] + row[m]))
    assert signs(log(squares + 1) - 2 * row[PLACE])[0]
    assert signs(squares - product / 4 + 1) == (True, True)
    assert not signs(log(squares - product / 4 + 1) - 2 * row[PLACE])[0]


def test_what_exceeds_each_of_several_exceeds_their_maximum():
    row = index(N)
    pieces = [x[row] * x[row], Sum(M, lambda j: exp(z[row, j]))]
    assert signs(pieces[0] + pieces[1] - maximum(*pieces))[0]
    assert not signs(pieces[0] + pieces[1] - 1 - maximum(*pieces))[0]
    assert not signs(pieces[0] - maximum(*pieces))[0]
    assert not signs(pieces[0] + pieces[1] - 2 * maximum(*pieces))[0]
    assert signs(maximum(x[row], -1) + 1)[0] and not signs(maximum(x[row], -1) + Fraction(1, 2))[0]


def test_of_a_maximum_that_may_be_over_nothing_no_sign_of_its_pieces_is_known():
    """It is −∞ where the mask leaves nothing, though each square is not negative."""
    seen = leaf("seen", (N,), "bool")
    assert signs(Max(N, lambda k: where(seen[k], x[k] * x[k], NEG_INF)) + w[()] * w[()]) == (False, False)
    assert signs(maximum(x[0] * x[0], w[()] * w[()])) == (True, False)


@pytest.mark.parametrize("least", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_row_without_some_elements_is_not_empty_if_it_has_more_than_these(least, count):
    row, left_out = leaf("row", (Size("K", least),)), [leaf(f"p{k}", (), "int")[()] for k in range(count)]
    rest = Sum(row.shape[0], lambda k: where(and_(*(not_(eq(k, p)) for p in left_out)), exp(row[k]), 0))
    assert signs(rest) == (True, least > count)


SQUARES = {
    "two names for one place": (lambda: Sum((N, N), lambda i, j: x[i] * x[j]), True),
    "of a row of each": (lambda: Sum((N, M, N, M), lambda i, k, j, m: z[i, k] * z[j, m] * exp(w[()])), True),
    "a third times a square": (lambda: Sum((N, N), lambda i, j: x[i] * x[j] * w[()] * w[()]), True),
    "a third times a number": (lambda: Sum((N, N), lambda i, j: x[i] * x[j] * w[()]), False),
    "two different sums": (lambda: Sum((N, N), lambda i, j: x[i] * z[j, 0]), False),
    "two rows": (lambda: Sum((M, M), lambda k, m: z[0, k] * z[1, m]), False),
    "an unequal end": (lambda: Sum((N, N), lambda i, j: where(lt(0, i), x[i] * x[j], 0)), False),
    "both at once": (lambda: Sum((N, N), lambda i, j: where(lt(i, j), x[i] * x[j], 0)), False),
    "the other sign": (lambda: -1 * Sum((N, N), lambda i, j: x[i] * x[j]), False),
}


@pytest.mark.parametrize("name", SQUARES)
def test_a_product_of_two_equal_sums_is_not_negative(name):
    make, is_square = SQUARES[name]
    assert signs(make()) == (is_square, False)


STEPS, LENGTH = leaf("t", (N,), kind="int", bounds=(0, 9)), Size("L", 2)
WHOLE = {
    "what is left of ten": (lambda i: 10 - STEPS[i], (True, True)),
    "what is left of nine": (lambda i: 9 - STEPS[i], (True, False)),
    "what is left of eight": (lambda i: 8 - STEPS[i], (False, False)),
    "in parts": (lambda i: Fraction(10, 3) - Fraction(1, 3) * STEPS[i], (True, True)),
    "less a little": (lambda i: 9 - Fraction(101, 100) * STEPS[i], (False, False)),
    "a size less one": (lambda i: LENGTH - 1, (True, True)),
    "a size less two": (lambda i: LENGTH - 2, (True, False)),
    "less a real number": (lambda i: 10 - x[i], (False, False)),
}


@pytest.mark.parametrize("element, expected", WHOLE.values(), ids=WHOLE)
def test_a_polynomial_of_integers_has_the_sign_that_it_has_in_their_ranges(element, expected):
    assert signs(element(index(N))) == expected


def test_a_root_of_what_is_positive_in_range_takes_nothing_for_granted():
    i = index(N)
    for left, given in ((10, 1), (8, 2)):
        root = power(left - STEPS[i], Fraction(1, 2))
        proof = prove_equal(root * root, numeric(left - STEPS[i]))
        assert isinstance(proof, Proved) and len(proof.conditions) == given
