"""Substitution respects binders."""

from __future__ import annotations

from samesame.formula.equal import Proved, prove_equal
from samesame.formula.expr import Fold, Opaque, Size, Sum, const, index, substitute
from samesame.formula.tensor import leaf

N = Size("N", 1)
i, j, k = index(N), index(N), index(N)
x = leaf("x", (N,))


def test_a_hidden_variable_is_left_alone():
    expr = Fold("sum", (k,), x[k]) * x[k]
    assert substitute(expr, {k: i}) is Fold("sum", (k,), x[k]) * x[i] or isinstance(
        prove_equal(substitute(expr, {k: i}), Fold("sum", (k,), x[k]) * x[i]), Proved
    )


def test_a_bound_variable_captures_nothing():
    expr = Fold("sum", (k,), x[k] * x[i])
    moved = substitute(expr, {i: k})
    assert k in moved.free
    assert isinstance(prove_equal(moved, Sum(N, lambda m: x[m]) * x[k]), Proved)


def test_an_extent_is_substituted():
    first = Sum(i + 1, lambda m: x[m])
    assert isinstance(prove_equal(substitute(first, {i: const(0)}), x[0]), Proved)
    pairs = index(i + 1)
    inner = index(pairs + 1)
    triangle = Fold("sum", (pairs, inner), x[pairs] * x[inner])
    assert isinstance(prove_equal(substitute(triangle, {i: const(0)}), x[0] * x[0]), Proved)


def test_attributes_count_as_they_are_written():
    assert Opaque("f", (1,), (), (), "real") is not Opaque("f", (True,), (), (), "real")
