"""Sums over what is left of rows: Σ_{i<p} Σ_{k<min(c·i + c, n) − c·i} f(c·i + k) is Σ_{m<n} f(m)."""

from __future__ import annotations

import pytest

from samesame.formula.equal import NotProved, Proved, prove_equal
from samesame.formula.expr import Fold, Leaf, Load, Size, add, const, floordiv, index, minimum, mul

N, P = Size("N", 2), Size("P", 2)


def ragged(parts, each, length, within=None):
    """The sum of x over parts of so many rows; each part ends `within` its rows and the length."""
    x, i = Leaf("x", (length,)), index(parts)
    k = index(add(minimum(add(mul(each, i), within or each), length), mul(-1, each, i)))
    return Fold("sum", (i,), Fold("sum", (k,), Load(x, (add(mul(each, i), k),))))


def whole(length):
    j = index(length)
    return Fold("sum", (j,), Load(Leaf("x", (length,)), (j,)))


@pytest.mark.parametrize("parts, each, length", [
    (const(4), const(8), const(30)),
    (floordiv(add(N, 7), 8), const(8), N),
    (P, floordiv(add(N, P, -1), P), N),
])
def test_rows_that_programs_share_are_all_rows(parts, each, length) -> None:
    assert isinstance(prove_equal(ragged(parts, each, length), whole(length)), Proved)


@pytest.mark.parametrize("parts, each, length, within", [
    (const(3), const(8), const(30), None),                  # the last rows are left out
    (const(4), const(8), const(30), const(7)),              # the last row of each part is
    (floordiv(N, 8), const(8), N, None),
])
def test_rows_that_are_left_out_are_missed(parts, each, length, within) -> None:
    assert isinstance(prove_equal(ragged(parts, each, length, within), whole(length)), NotProved)
