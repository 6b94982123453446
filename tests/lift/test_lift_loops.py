"""Closed forms of loops hold, by runs on numbers; false steps are not proved; each means of looking can be left out."""

from __future__ import annotations

import pytest

pytest.importorskip("triton")

from kernel_corpus import target
from samesame.formula.expr import (
    NEG_INF,
    ZERO,
    Fold,
    Leaf,
    Load,
    Size,
    add,
    compare,
    exp,
    index,
    maximum,
    mul,
    not_,
    or_,
    power,
    substitute,
    where,
)
from samesame.kernels.execution.ttir import Place
from samesame.kernels.execution.values import undefined
from samesame.kernels.formulas.rational import Cancelling, simple
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.kernels.loops.carried import Means
from samesame.kernels.loops.inductive import Induction
from samesame.lift import Settings, lift

N = Size("n", 1)
T = index(N)
X = Load(Leaf("x", (1,)), (T,))
A = Load(Leaf("a", ()), ())


def so_far(monoid: str, body) -> Fold:
    s = index(T)
    return Fold(monoid, (s,), substitute(body, {T: s}))


def after(expr):
    return substitute(expr, {T: integers.plus_(T, 1)})


def question() -> Induction:
    return Induction(T, [], IndexProver())


def test_a_running_mean_takes_one_step_and_a_wrong_one_does_not() -> None:
    closed = where(not_(integers.equal(T, 0)), mul(so_far("sum", X), power(T, -1)), ZERO)
    right = add(closed, mul(add(X, mul(-1, closed)), power(integers.plus_(T, 1), -1)))
    wrong = add(closed, mul(add(X, mul(-1, closed)), power(integers.plus_(T, 2), -1)))
    assert question().equal(right, after(closed))
    assert not question().equal(wrong, after(closed))


def test_inductive_questions_take_of_the_kernels_time() -> None:
    closed = where(not_(integers.equal(T, 0)), mul(so_far("sum", X), power(T, -1)), ZERO)
    step = add(closed, mul(add(X, mul(-1, closed)), power(integers.plus_(T, 1), -1)))
    patient, hurried = IndexProver(), IndexProver(seconds=0.0)
    assert Induction(T, [], patient).equal(step, after(closed)) and patient.queries
    assert not Induction(T, [], hurried).equal(step, after(closed)) and hurried.exhausted and not hurried.queries


@pytest.mark.parametrize("guarded", [True, False])
def test_a_maximum_of_nothing_needs_its_guard(guarded: bool) -> None:
    """z' = z·exp(m − m') + exp(x − m'), where x may be −∞ in every iteration so far."""
    some = Load(Leaf("some", (1,), "bool"), (T,))
    x = where(some, X, NEG_INF)
    most = where(integers.less(0, T), so_far("max", x), NEG_INF)
    finite = not_(compare("=", NEG_INF, most))
    total = so_far("sum", where(some, exp(X), ZERO))
    closed = where(finite, mul(total, exp(mul(-1, most))), ZERO)
    new = maximum(most, x)
    made = add(mul(closed, exp(add(most, mul(-1, new)))), exp(add(x, mul(-1, new))))
    if guarded:
        made = where(compare("=", NEG_INF, new), closed, made)
    nothing_yet = or_(finite, compare("=", ZERO, total))
    assert question().equal(made, after(closed), nothing_yet) == guarded
    assert question().follows(after(nothing_yet), nothing_yet)


def test_what_may_have_no_value_is_not_dropped() -> None:
    """0·f(x) is not 0 for an f that may have no value."""
    unknown = undefined(Place("k.py", 3), "real", T)
    assert not question().equal(mul(0, power(A, -1)), ZERO)
    assert not question().equal(add(unknown, mul(-1, unknown)), ZERO)
    assert question().equal(add(unknown, A), add(A, unknown))


def test_like_factors_cancel_and_are_told() -> None:
    cancelling = Cancelling()
    assert cancelling(mul(A, X, power(A, -1))) is X and cancelling.lost(X) == [power(A, -1)]
    assert simple(mul(exp(add(X, A)), exp(mul(-1, A)))) is exp(X)


@pytest.mark.parametrize(
    "kernel, means, found",
    [
        ("running_variance", Means(), True),
        ("running_variance", Means(synthesis=False), False),
        ("welford", Means(synthesis=False), True),
        ("welford", Means(invariants=False), False),
    ],
)
def test_each_means_is_needed_somewhere(kernel: str, means: Means, found: bool) -> None:
    (one,) = lift(target(kernel), settings=Settings(means=means)).kernels
    assert (one.verdict == "verified") == found
