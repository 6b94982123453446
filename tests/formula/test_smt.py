"""To the solver an expression is what it is to who evaluates it; a query may take so much by its own count of work."""

import pytest
import z3

from samesame.formula import smt
from samesame.formula.effort import WORK, Budget, spending
from samesame.formula.evaluate import Evaluation
from samesame.formula.expr import (
    Size,
    Where,
    add,
    and_,
    compare,
    floordiv,
    maximum,
    minimum,
    mod,
    mul,
    not_,
    or_,
    power,
    walk,
)
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


B, T = Size("B", 0), Size("T", 0)
LESS = add(B, mul(-2, T))                                  # below zero, too
READ = [
    LESS,
    mul(3, B, LESS),
    power(LESS, 3),
    floordiv(LESS, 3),
    mod(LESS, 3),
    maximum(B, T, LESS),
    minimum(B, T, 2),
    *(compare(op, B, T) for op in ("<", "≤", "=")),
    not_(compare("<", B, T)),
    and_(compare("<", 0, B), compare("<", 0, T)),
    or_(compare("<", 1, B), compare("<", 2, T)),
    Where(compare("=", B, T), LESS, power(T, 2)),
]


class OfSizes(smt.Formulas):
    def unknown(self, expr):
        return self.named(expr, "int") if isinstance(expr, Size) else super().unknown(expr)


def test_every_kind_of_the_table_is_tried():
    assert set(smt.MEANING) <= {type(e) for expr in READ for e in walk(expr)}


@pytest.mark.parametrize("expr", READ, ids=str)
def test_an_expression_is_the_same_to_the_solver_and_to_who_evaluates_it(expr):
    translation = OfSizes()
    term = translation.term(expr)
    for b in range(4):
        for t in range(4):
            value = Evaluation({}, {"B": b, "T": t}, None).value(expr).array.item()
            solver = translation.solver(translation.term(B) == b, translation.term(T) == t, term != value)
            assert solver.check() == z3.unsat


OTHERWISE = [floordiv(LESS, T), mod(LESS, B), power(T, -1), floordiv(mul(T, power(B, -1)), 2)]


@pytest.mark.parametrize("expr", OTHERWISE, ids=str)
def test_what_the_solver_would_take_for_another_thing_has_no_words(expr):
    """Its quotients are not rounded down for every divisor, and of reals not at all."""
    with pytest.raises(smt.Untranslatable):
        OfSizes().term(expr)


def test_a_term_brings_what_is_known_of_its_own_unknowns_whoever_asked_first():
    class InRange(OfSizes):
        def unknown(self, expr):
            term = super().unknown(expr)
            self.tell(term >= 0)
            return term

    translation = InRange()
    _, of_both = translation.with_facts(add(B, T))
    _, of_one = translation.with_facts(mul(2, T))
    assert [str(fact) for fact in of_both.values()] == ["Size!0 >= 0", "Size!1 >= 0"]
    assert [str(fact) for fact in of_one.values()] == ["Size!1 >= 0"]
    with pytest.raises(smt.Untranslatable):
        translation.term(add(T, power(B, -1)))
    assert [str(fact) for fact in translation.facts.values()] == ["Size!1 >= 0"]
