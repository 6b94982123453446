"""What a query to the solver may take is the solver's own count of work, the same on every machine."""

import pytest
import z3

from samesame.formula import smt
from samesame.formula.effort import WORK, Budget, spending
from samesame.formula.laws import LAWS


@pytest.fixture(params=[1, 2, 3])
def hard(request):
    """Two whole numbers with a product that is a product of large primes, in another order of writing each time."""
    def claim(translation):
        x, y = (z3.Int(name, translation.context) for name in "xy")
        facts = [x > 1, y > x, x * y == 1000003 * 1000033 * 999983]
        return facts[request.param - 1 :] + facts[: request.param - 1]
    return claim


def test_a_query_gives_up_after_so_much_work_and_says_so(hard):
    with spending(Budget(solver=20 * WORK, seconds=60.0), LAWS) as effort:
        translation = smt.Translation()
        assert not smt.refuted(translation, hard(translation))
    assert effort.solver_unknown == 1
    assert list(effort.limits) == ["a solver query of more than 100,000 steps"]
    assert effort.seconds_left() > 30


def test_work_is_counted_for_each_query_anew():
    with spending(Budget(solver=20 * WORK, seconds=60.0), LAWS) as effort:
        for number in range(200):
            translation = smt.Translation()
            x = z3.Int("x", translation.context)
            assert smt.refuted(translation, [x > number, x < number])
    assert effort.solver_unknown == 0
