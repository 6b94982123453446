"""Conditions on few integers are gone through, point by point; the solver says the same and is not asked."""

from __future__ import annotations

from random import Random

import pytest

from samesame.formula import smt
from samesame.formula.effort import Budget, spending
from samesame.formula.gone_through import MOST, have_a_point
from samesame.formula.guards import Literal, at_least_zero_literal, conjunction, implied, infeasible, zero_literal
from samesame.formula.laws import LAWS
from samesame.formula.poly import NOTHING, Poly, SizeAtom, Var, divide, number, variable

A, B = (variable(Var("free", (k,), number(0), number(4))) for k in range(2))
LOOSE = Var("bound", (1, 0), None, None)
C = variable(LOOSE)
N = variable(SizeAtom("n", 2))


def guards(*literals: Literal | bool) -> tuple[Literal, ...]:
    found = conjunction(literals)
    assert found is not None
    return found


def at_least(p: Poly) -> Literal | bool:
    return at_least_zero_literal(p)


def test_a_corner_is_found_and_what_has_no_point_is_not() -> None:
    assert have_a_point(guards(at_least(A * 2 + B * 3 - 20)), NOTHING) is True
    assert have_a_point(guards(at_least(A * 2 + B * 3 - 21)), NOTHING) is False
    assert have_a_point(guards(zero_literal(A * 2 - B * 3 + 11)), NOTHING) is False


def test_a_variable_without_a_range_lies_where_conditions_put_it() -> None:
    assert have_a_point(guards(at_least(C - 2), at_least(-C + 3), zero_literal(C - A - 4)), NOTHING) is False
    assert have_a_point(guards(at_least(C - 2), at_least(-C + 4), zero_literal(C - A - 4)), NOTHING) is True
    assert have_a_point(guards(at_least(C - 2), zero_literal(C - A)), NOTHING) is None


def test_a_range_that_may_not_be_used_is_none() -> None:
    own = next(iter(A.atoms()))
    assert isinstance(own, Var)
    assert have_a_point(guards(at_least(A - 5)), NOTHING) is False
    assert have_a_point(guards(at_least(A - 5)), frozenset([own])) is None


def test_quotients_and_remainders_are_those_of_indices() -> None:
    half, rest = divide(A + B, number(3))
    assert have_a_point(guards(at_least(half - 2), zero_literal(rest - 2)), NOTHING) is True       # 4 + 4 = 2·3 + 2
    assert have_a_point(guards(at_least(half - 2), zero_literal(rest - 2), at_least(-A + 3)), NOTHING) is False


@pytest.mark.parametrize("p", [N - A, A * number(1 << 62) - B, C], ids=["a size", "large", "no ends"])
def test_what_cannot_be_gone_through_is_not_decided(p: Poly) -> None:
    assert have_a_point(guards(at_least(p - 1)), NOTHING) is None


def test_many_points_are_left_to_others() -> None:
    wide = [variable(Var("free", (k,), number(0), number(15))) for k in range(4)]
    assert MOST < 16 ** 4
    assert have_a_point(guards(at_least(wide[0] + wide[1] + wide[2] + wide[3] - 61)), NOTHING) is None


def test_the_solver_says_the_same() -> None:
    random = Random(0)
    for _ in range(60):
        literals = [at_least(A * random.randint(-3, 3) + B * random.randint(-3, 3) + random.randint(-9, 4))
                    for _ in range(3)]
        told = conjunction(literals)
        if not told:
            continue
        with spending(Budget(), LAWS):
            assert have_a_point(told, NOTHING) is not smt.unsatisfiable(told)


def test_the_solver_is_not_asked() -> None:
    tight = guards(at_least(A * 3 + B * 5 - 29), at_least(-A - B + 7))
    with spending(Budget(), LAWS) as effort:
        assert not infeasible(tight)                       # at 3 and 4 alone
        assert infeasible(guards(*tight, at_least(-B + 3)))
        assert implied(guards(at_least(A * 2 + B * 3 - 20)), at_least(A * 5 - 20))
        assert effort.solver_calls == 0


def test_what_64_bits_do_not_hold_goes_to_the_solver() -> None:
    """−1 mod d is d − 1, which is as large as d; with another such it wraps around."""
    large = number(2**62)
    parts = [divide(C - k, large)[1] for k in range(3)]
    asked = guards(at_least(C + 3), at_least(-C - 1), at_least(parts[0] + parts[1] + parts[2]))
    assert have_a_point(asked, NOTHING) is None
