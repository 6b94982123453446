"""Forms are worked with by the laws that a proof was handed, and without a proof not at all."""

from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest

from samesame.formula.effort import Budget, spending
from samesame.formula.laws import LAWS
from samesame.formula.terms import constant, laws, value_of


def test_a_proof_holds_the_laws_that_it_was_handed():
    with spending(Budget(), LAWS):
        assert value_of(laws().power(constant(3), Fraction(2))) == 9


def test_there_are_none_without_a_proof():
    with pytest.raises(RuntimeError, match="inside of a proof"):
        laws()


def test_nobody_fills_them_in_later():
    with pytest.raises(FrozenInstanceError):
        LAWS.power = None
