"""Numbers are products of their primes, those of five digits among them; so roots of products are products of roots."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import pytest

from called import calls
from samesame.formula.equal import NotProved, Proved, prove_equal
from samesame.formula.expr import const, log, power
from samesame.formula.primes import prime_factors

LARGE = (12799, 17839, 99989, 100003)
HARD = (2**61 - 1) * (2**89 - 1)


@pytest.mark.parametrize("primes", [(2, 2, 3), LARGE, (997, 1009, 1009), (1009, 1009, 1009), (7, HARD)], ids=str)
def test_a_number_is_the_product_of_its_primes(primes):
    number = prod(primes)
    expected = tuple(sorted((q, primes.count(q)) for q in set(primes)))
    assert prime_factors(Fraction(number)) == expected
    assert prime_factors(Fraction(1, number)) == tuple((q, -k) for q, k in expected)


def test_a_prime_has_no_other_factor():
    for prime in (2, 997, 1009, 1_000_003, 2**61 - 1):
        assert prime_factors(Fraction(prime)) == ((prime, 1),)
    assert prime_factors(Fraction(1)) == ()


def test_what_resists_costs_little():
    """Some ten thousand steps of a walk, and no more for longer numbers, which are left as they are."""
    assert calls(lambda: prime_factors(Fraction(HARD))) < 50_000
    assert calls(lambda: prime_factors(Fraction(HARD**5 * 10**60))) < 50_000


SAME = {
    "roots": (power(const(12799 * 17839), Fraction(1, 2)),
              power(const(12799), Fraction(1, 2)) * power(const(17839), Fraction(1, 2))),
    "a root of a quotient": (power(const(Fraction(12799 * 17839, 99989)), Fraction(-1, 2)),
                             power(const(Fraction(99989 * 17839, 12799)), Fraction(1, 2)) / 17839),
    "logarithms": (log(const(12799 * 17839)), log(const(12799)) + log(const(17839))),
}


@pytest.mark.parametrize("left, right", SAME.values(), ids=SAME)
def test_functions_of_products_are_those_of_their_primes(left, right):
    assert isinstance(prove_equal(left, right), Proved)
    assert isinstance(prove_equal(left, right * Fraction(99989, 99990)), NotProved)
