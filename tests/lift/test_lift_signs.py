"""What is known of signs is known wherever a kernel's formulas are written shorter, asked for NaN, or put to Z3."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("triton")

from samesame.formula.expr import (
    FALSE,
    NEG_INF,
    ZERO,
    Expr,
    Fn,
    Leaf,
    Load,
    Size,
    absolute,
    exp,
    fold,
    index,
    log,
    lt,
    maximum,
    mul,
    power,
    sigmoid,
    sqrt,
    where,
)
from samesame.kernels.execution.operations import is_nan
from samesame.kernels.formulas.defined import may_divide_by_nothing
from samesame.kernels.formulas.shorter import has_value
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices.solver import IndexProver
from samesame.kernels.loops.inductive import Induction
from samesame.lift import lift, tried

N, ANY = Size("n", 1), Size("z", 0)
T = index(N)
X, Y = (Load(Leaf(name, (), "real"), ()) for name in "xy")
MASKED = where(lt(X, 0), X, NEG_INF)
ROW = Leaf("r", (N,), "real")


@pytest.mark.parametrize("number", [X * X, absolute(X), maximum(exp(X), Y), sqrt(X * X + 1), where(lt(X, 0), 2, X * X)])
def test_what_is_never_below_zero_is_its_maximum_with_zero(number: Expr) -> None:
    assert Simplifier(IndexProver())(maximum(ZERO, number)) is Simplifier(IndexProver())(number)


@pytest.mark.parametrize("number", [X, mul(X, Y), Fn("log", X), where(lt(X, 0), 2, NEG_INF), -1 * absolute(X)])
def test_a_maximum_with_zero_stays_of_all_else(number: Expr) -> None:
    assert ZERO in Simplifier(IndexProver())(maximum(ZERO, number)).children


@pytest.mark.parametrize("part, has", [
    (power(where(lt(X, 0), exp(X), 2), -1), True),
    (power(maximum(absolute(X), 1), -1), True),
    (Fn("log1p", X * X), True),
    (log(fold("sum", N, lambda k: exp(Load(ROW, (k,))))), True),
    (log(fold("sum", ANY, lambda k: exp(Load(ROW, (k,))))), False),
    (power(where(lt(X, 0), exp(X), 0), -1), False),
    (power(exp(where(lt(X, 0), X, NEG_INF)), -1), False),
    (Fn("acos", exp(X)), False),
])
def test_parts_that_have_a_value_may_cancel(part: Expr, has: bool) -> None:
    assert has_value(Simplifier(IndexProver()), part, ()) == has


@pytest.mark.parametrize("value, never", [
    (log(exp(X) + 1), True), (sqrt(X * X), True), (Fn("log1p", absolute(X)), True), (Fn("lgamma", exp(X)), True),
    (sqrt(X), False), (log(X), False), (Fn("acos", exp(X)), False), (Fn("asin", exp(X)), False),
    (Fn("erfinv", exp(X)), False), (MASKED, True), (MASKED - X, True), (MASKED - MASKED, False),
    (mul(X, MASKED), False), (exp(MASKED - maximum(MASKED, Y)), True),
])
def test_a_function_of_what_is_outside_of_its_domain_may_be_no_number(value: Expr, never: bool) -> None:
    """A number above zero is in the domain of a logarithm, not in that of an arc cosine; −∞ − (−∞) is no number."""
    assert (is_nan(value) is FALSE) == never


def test_sizes_are_divided_by_that_are_never_nothing() -> None:
    assert not may_divide_by_nothing(power(1 + sqrt(ANY), -1)) and not may_divide_by_nothing(power(N, -1))
    assert may_divide_by_nothing(power(ANY, -1)) and may_divide_by_nothing(log(ANY))


@pytest.mark.parametrize("goal, follows", [
    (lt(0, sigmoid(X)), True), (lt(0, Fn("tanh", exp(X))), True), (lt(-1, absolute(X)), True),
    (lt(0, log(exp(X) + 2)), True),
    (lt(0, absolute(X)), False), (lt(0, Fn("tanh", X)), False),
])
def test_inductive_questions_know_of_signs(goal: Expr, follows: bool) -> None:
    assert Induction(T, [], IndexProver()).follows(goal) == follows


def test_an_infinity_less_itself_is_no_number_that_a_kernel_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "SECONDS", 1.0)
    file = Path(__file__).parents[1] / "launches" / "signs.py"
    assert lift(f"{file}:launch_marked", f"{file}:ones").against == "different"
