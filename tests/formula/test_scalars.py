"""Every row of the table of functions says what numbers show: where there is a value, which way it goes, which sign."""

import warnings

import numpy as np
import pytest

from samesame.formula.definite import EVIDENT
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import NEG_INF, fn, where
from samesame.formula.scalars import SCALARS
from samesame.formula.tensor import leaf, tensor

REALS = np.concatenate([np.linspace(-30, 30, 4001), np.linspace(-1.5, 1.5, 1001), np.arange(-8, 9) / 2.0])


def inside(row, x):
    """Where the row says that there is a value."""
    if row.domain is None:
        return np.full(x.shape, True)
    whole = leaf("x", x.shape)
    return evaluate(tensor(x.shape, lambda i: row.domain(whole[i]), "bool"), {"x": x})


@pytest.fixture(params=SCALARS, name="row")
def every_row(request):
    return SCALARS[request.param]


def values(row, x):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return row.values(x)


def test_there_is_a_value_where_the_domain_says_so_and_nowhere_else(row):
    there = inside(row, REALS)
    assert np.isfinite(values(row, REALS[there])).all()
    if row is not SCALARS["tan"]:                                # no float is a pole
        assert not np.isfinite(values(row, REALS[~there])).any()


def test_what_rises_rises_and_nothing_else_does(row):
    """Strictly, but for numbers so large or so near that floats do not tell their values apart."""
    x = np.unique(REALS.round(3))
    x = x[(abs(x) <= 4) & inside(row, x)]
    rises = bool((np.diff(values(row, x)) > 0).all())
    assert rises == row.rising


def test_what_is_positive_is_above_zero_and_nothing_else_is(row):
    x = REALS[inside(row, REALS)]
    assert bool((values(row, x) > 0).all()) == row.positive


def test_odd_and_even_functions_are_those_that_say_so(row):
    x = REALS[inside(row, REALS) & inside(row, -REALS)]
    one, other = values(row, x), values(row, -x)
    odd, even = np.allclose(one, -other), np.allclose(one, other)
    assert not len(x) or row.parity == ("odd" if odd else "even" if even else "")


def test_the_value_at_zero_of_an_odd_or_even_function_is_that_which_it_says(row):
    assert not row.parity or values(row, np.zeros(1)) == row.at_zero


def test_what_rounds_leaves_integers_as_they_are_and_nothing_else_does(row):
    x = np.arange(-9.0, 10.0)
    assert bool((values(row, x) == x).all()) == row.rounds


def test_what_is_never_below_zero_is_that_and_nothing_else(row):
    x = REALS[inside(row, REALS)]
    assert bool((values(row, x) >= 0).all()) == (row.positive or row.nonnegative)


def test_a_sign_that_is_enough_puts_the_argument_into_the_domain(row):
    with_sign = {"> 0": REALS[REALS > 0], "≥ 0": REALS[REALS >= 0]}
    assert not row.enough or (row.domain and inside(row, with_sign[row.enough]).all())


@pytest.mark.parametrize("name", SCALARS)
def test_what_is_said_of_signs_is_what_a_row_says(name):
    """−∞ is no number: exp of it is 0."""
    row, of = SCALARS[name], fn(name)
    assert EVIDENT.is_positive(of(leaf("x", ())[()])) == row.positive
    assert not EVIDENT.is_positive(of(where(leaf("m", (), "bool")[()], 0, NEG_INF)))
    assert EVIDENT.never_negative(of(leaf("x", ())[()])) == (row.positive or row.nonnegative)
