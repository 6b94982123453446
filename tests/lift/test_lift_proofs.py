"""What is proved of indices holds at every point, and simplification changes no value: on random expressions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samesame.formula.evaluate import evaluate
from samesame.formula.expr import (
    NEG_INF,
    Expr,
    Fold,
    Leaf,
    Load,
    Size,
    add,
    and_,
    const,
    exp,
    index,
    maximum,
    mul,
    not_,
    substitute,
    where,
)
from samesame.formula.tensor import Tensor
from samesame.kernels.concrete import Grid
from samesame.kernels.execution.ttir import Place
from samesame.kernels.execution.values import undefined
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.kernels.loops.recurrences import split
from samesame.kernels.loops.steps import rescaled_step, step_holds

N = Size("n", 1)
I, J = index(N), index(4)  # noqa: E741    indices, as formulas write them
ATOMS = st.sampled_from([I, J, N, const(1), const(3)])


def combined(a: Expr, b: Expr, how: str) -> Expr:
    if how == "//":
        return integers.quotient(a, const(4))
    return {
        "+": integers.plus_,
        "-": integers.minus,
        "*": integers.times_,
        "min": lambda x, y: integers.flattened("min", (x, y)),
    }[how](a, b)


INTEGERS = st.recursive(
    ATOMS, lambda inner: st.builds(combined, inner, inner, st.sampled_from(["+", "-", "*", "//", "min"])), max_leaves=6
)
CONDITIONS = st.builds(
    lambda a, b, c: integers.less(a, b) if c else integers.at_most(a, b), INTEGERS, INTEGERS, st.booleans()
)


def at_points(expr: Expr):
    """The value of a condition at every point of small sizes."""
    for n in (1, 2, 5, 9):
        for i, j in itertools.product(range(n), range(4)):
            put = substitute(expr, {I: const(i), J: const(j)})
            yield bool(evaluate(Grid((), put), {}, {"n": n})), (n, i, j)


@settings(max_examples=80, deadline=None)
@given(CONDITIONS, CONDITIONS)
def test_what_is_proved_holds_at_every_point(fact: Expr, goal: Expr) -> None:
    if IndexProver(work=300_000).proves((fact,), goal):
        facts = [holds for holds, _ in at_points(fact)]
        assert all(right for known, (right, _) in zip(facts, at_points(goal), strict=True) if known)


X = Leaf("x", (const(64),))
BODIES = st.sampled_from(
    [
        lambda i: Load(X, (i,)),
        lambda i: mul(Load(X, (i,)), Load(X, (i,))),
        lambda i: exp(Load(X, (i,))),
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["sum", "max"]), st.sampled_from([2, 4]), BODIES, st.integers(0, 2), st.booleans())
def test_a_masked_fold_over_tiles_keeps_its_value(monoid: str, block: int, body, shift: int, mask_first: bool) -> None:
    """⊕ over tiles t and lanes l of where(t·B + l < n − shift, f, neutral), before and after."""
    t, lane = index(integers.ceiling(N, const(block))), index(block)
    at = integers.plus_(integers.times_(t, block), lane)
    inside = integers.less(at, integers.minus(N, shift))
    neutral = const(0) if monoid == "sum" else NEG_INF
    masked = where(inside, body(at), neutral)
    if mask_first and monoid == "sum":
        masked = mul(where(inside, body(at), const(0)), where(inside, const(2), const(0)))
    whole = Fold(monoid, (t, lane), masked)
    simple = Simplifier(IndexProver())(whole)
    for n in (1, 3, 4, 7):
        values = {"x": np.linspace(-1, 2, 64)}
        before, after = (evaluate(Grid((), e), values, {"n": n}) for e in (whole, simple))
        assert np.allclose(before, after, equal_nan=True) or (n <= shift and monoid == "max")


def test_a_mask_shrinks_the_range_to_what_is_inside() -> None:
    t, lane = index(integers.ceiling(N, const(4))), index(4)
    at = integers.plus_(integers.times_(t, 4), lane)
    found = Simplifier(IndexProver())(Fold("sum", (t, lane), where(integers.less(at, N), Load(X, (at,)), 0)))
    assert isinstance(found, Fold) and len(found.bound) == 1 and found.bound[0].extent is N


@pytest.mark.parametrize("n", [0, 3])
def test_a_condition_stays_where_a_maximum_may_be_over_nothing(n: int) -> None:
    """Without elements the sum is 0 and so is the whole; the maximum beside it is of nothing, and must not be asked."""
    count = Size("n", 0)
    at = index(count)
    total, most = (Fold(monoid, (at,), Load(X, (at,))) for monoid in ("sum", "max"))
    whole = where(integers.less(0, count), mul(total, exp(mul(-1, maximum(0, most)))), 0)
    simpler = Simplifier(IndexProver())(whole)
    before, after = (evaluate(Grid((), e), {"x": np.linspace(-1, 2, 64)}, {"n": n}) for e in (whole, simpler))
    assert np.allclose(before, after)


def test_zero_times_an_undefined_value_stays() -> None:
    """A product with a masked 0 keeps what the other operand may be: garbage, or not a number."""
    unknown = undefined(Place("k.py", 3), "real", I)
    simplify = Simplifier(IndexProver())
    assert simplify(mul(0, unknown)) is not const(0)
    assert simplify(mul(0, Load(X, (I,)))) is const(0)
    assert simplify(mul(0, NEG_INF)) is not const(0)


@pytest.mark.parametrize(
    "make, monoid",
    [
        (lambda a, f: add(a, f), "sum"),
        (lambda a, f: maximum(a, f), "max"),
        (lambda a, f: mul(f, a), "prod"),
    ],
)
def test_a_recurrence_is_split_and_its_step_proved(make, monoid: str) -> None:
    a, f = Load(Leaf("a", ()), ()), Load(X, (I,))
    guarded = where(integers.less(I, 3), make(a, f), a)
    for made in (make(a, f), guarded):
        found = split(made, a)
        assert found is not None and found[0] == monoid and step_holds(made, a, *found)
    assert split(make(a, a), a) is None
    assert not step_holds(add(a, f), a, "sum", mul(2, f))


def test_a_rescaled_step_needs_the_rescaling() -> None:
    a, old, new, x = (Load(Leaf(name, ()), ()) for name in ("a", "old", "new", "x"))
    part = exp(add(x, mul(-1, new)))
    right = add(mul(a, exp(add(old, mul(-1, new)))), part)
    assert rescaled_step(right, a, old, new, const(1), part)
    assert not rescaled_step(add(a, part), a, old, new, const(1), part)
    assert not rescaled_step(add(mul(a, exp(add(new, mul(-1, old)))), part), a, old, new, const(1), part)


def test_products_with_sizes_are_proved_without_nonlinear_arithmetic() -> None:
    m = Size("m", 1)
    row, col = index(m), index(N)
    offset = integers.plus_(integers.times_(row, N), col)
    prover = IndexProver()
    assert prover.proves((), integers.less(offset, integers.times_(m, N)), thorough=False)
    assert not prover.proves((), integers.less(integers.plus_(offset, 1), integers.times_(m, N)))


def test_a_tensor_of_the_grammar_is_a_grid() -> None:
    whole = Tensor((N,), lambda i: where(and_(integers.less(i, 2), not_(integers.less(i, 1))), 1, 0))
    assert list(evaluate(whole, {}, {"n": 4})) == [0, 1, 0, 0]
