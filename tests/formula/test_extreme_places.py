"""What stands where an extremum stands: under an equation that says where, at the place itself, and nowhere else."""

from __future__ import annotations

import pytest

from samesame.formula.equal import NotProved, Proved, prove_tensors_equal
from samesame.formula.expr import (
    ONE,
    ZERO,
    Expr,
    Fold,
    Lambda,
    Opaque,
    add,
    and_,
    const,
    eq,
    exp,
    index,
    le,
    lt,
    mul,
    power,
    where,
)
from samesame.formula.tensor import leaf, tensor

ROWS, COLUMNS = 5, 3
X, Y = leaf("x", (ROWS, COLUMNS), "real"), leaf("y", (ROWS, COLUMNS), "real")


def place(i: Expr, name: str = "argmax", of=lambda i, k: X[i, k]) -> Expr:
    k = index(COLUMNS)
    return Opaque(f"aten.{name}", (), (Lambda((k,), of(i, k)),), (), "int")


def extremum(i: Expr, monoid: str = "max", of=lambda i, k: X[i, k]) -> Expr:
    k = index(COLUMNS)
    return Fold(monoid, (k,), of(i, k))


def chosen(i: Expr, name: str, of=lambda i, k: X[i, k]) -> Expr:
    """Σ_k x[k] · [the extremum stands at k]"""
    k = index(COLUMNS)
    return Fold("sum", (k,), mul(of(i, k), where(eq(place(i, name, of), k), ONE, ZERO)))


def proved(left, right) -> bool:
    answer = prove_tensors_equal(tensor((ROWS,), left), tensor((ROWS,), right))
    assert isinstance(answer, Proved | NotProved)
    return isinstance(answer, Proved)


@pytest.mark.parametrize("name, monoid", [("argmax", "max"), ("argmin", "min")])
@pytest.mark.parametrize("of", [
    lambda i, k: X[i, k],
    lambda i, k: add(X[i, k], Y[i, k]),
    lambda i, k: mul(X[i, k], Y[i, k], 3),
])
def test_a_row_under_the_mask_of_its_place(name: str, monoid: str, of) -> None:
    assert proved(lambda i: chosen(i, name, of), lambda i: extremum(i, monoid, of))


@pytest.mark.parametrize("name, monoid", [("argmax", "min"), ("argmin", "max")])
def test_not_the_other_extremum(name: str, monoid: str) -> None:
    assert not proved(lambda i: chosen(i, name), lambda i: extremum(i, monoid))


def test_not_of_another_row() -> None:
    assert not proved(lambda i: chosen(i, "argmax"), lambda i: extremum(i, of=lambda i, k: Y[i, k]))
    assert not proved(lambda i: chosen(i, "argmax"), lambda i: extremum(i, of=lambda _, k: X[0, k]))


@pytest.mark.parametrize("element, at, same", [(1, 1, True), (1, 2, False)])
def test_under_an_equation(element: int, at: int, same: bool) -> None:
    def left(i: Expr) -> Expr:
        return where(eq(place(i), const(at)), X[i, element], ZERO)

    assert proved(left, lambda i: where(eq(place(i), const(at)), extremum(i), ZERO)) is same


def count(i: Expr, e: Expr) -> Expr:
    t = index(ROWS)
    return Fold("sum", (t,), where(and_(le(t, i), eq(place(t), e)), ONE, ZERO))


@pytest.mark.parametrize("most, same", [(2, True), (1, False), (3, False)])
def test_capacity_of_a_router(most: int, same: bool) -> None:
    """The gate of those that come before the expert is full, by a mask, and expert by expert."""
    def by_mask(i: Expr) -> Expr:
        k = index(COLUMNS)
        return Fold("sum", (k,), mul(X[i, k], where(and_(eq(place(i), k), lt(count(i, k), const(3))), ONE, ZERO)))

    def one_by_one(i: Expr) -> Expr:
        cells = (and_(eq(place(i), const(e)), le(count(i, const(e)), const(most))) for e in range(COLUMNS))
        return add(*(mul(extremum(i), where(cell, ONE, ZERO)) for cell in cells))

    assert proved(by_mask, one_by_one) is same


@pytest.mark.parametrize("outside", [
    lambda total: exp(total),
    lambda total: power(add(ONE, total), -1),
])
def test_not_of_another_row_whose_index_is_bound_inside(outside) -> None:
    """Of rows with a column of zeros: at that column the element has no index of its row left."""
    def padded(i: Expr, k: Expr) -> Expr:
        return where(eq(k, ZERO), ZERO, X[i, k])

    def total() -> Expr:
        row = index(ROWS)
        return Fold("sum", (row,), extremum(row, of=padded))

    def seen(i: Expr) -> Expr:
        return where(eq(place(i, of=padded), ZERO), ONE, ZERO)

    def summed(of) -> Expr:
        j = index(ROWS)
        return Fold("sum", (j,), of(j))

    assert not proved(lambda _: summed(lambda j: mul(seen(j), outside(total()))), lambda _: summed(seen))
    assert not proved(lambda i: mul(seen(i), outside(total())), seen)
