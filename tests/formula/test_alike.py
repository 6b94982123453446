"""What is written alike is equal: nothing else is taken for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samesame.formula.alike import alike, chosen, in_parts, in_terms
from samesame.formula.expr import (
    Add,
    And,
    Expr,
    Extremum,
    Fold,
    Leaf,
    Load,
    Mod,
    Mul,
    Or,
    Size,
    add,
    and_,
    const,
    eq,
    index,
    le,
    lt,
    mul,
    substitute,
    where,
)


def test_what_differs_in_names_of_bound_variables_alone_is_alike() -> None:
    def total(turned: bool = False, inner: str = "sum", size: int | Size = 4) -> Expr:
        i, j = index(4), index(size)
        return Fold("max", (i,), Fold(inner, (j,), Load(Leaf("x", (4, 4)), (j, i) if turned else (i, j))))

    assert total() is not total() and alike(total(), total())
    others = total(turned=True), total(inner="max"), total(size=Size("n", 1))
    assert not any(alike(total(), other) for other in others)
    i, free = index(4), [index(4), index(4)]
    assert not alike(*(Fold("sum", (i,), Load(Leaf("x", (4, 4)), (i, j))) for j in free))


@pytest.mark.parametrize("kind", [Add, Mul, And, Or, partial(Extremum, "max"), partial(Extremum, "min")])
def test_order_makes_no_difference_where_it_makes_none(kind: Callable[..., Expr]) -> None:
    """Not even of what differs in the names of bound variables alone; of a quotient or a comparison it does."""
    def part(name: str) -> Expr:
        j = index(4)
        value = Fold("sum", (j,), mul(Load(Leaf(name, (4,)), (j,)), Load(Leaf("z", (4,)), (j,))))
        return lt(value, 1) if kind in (And, Or) else value

    x, y = part("x"), part("y")
    assert alike(kind((x, y)), kind((part("y"), part("x")))) and not alike(kind((x, y)), kind((y, y)))
    i, j = index(4), index(5)
    assert not alike(Mod(i, j), Mod(j, i)) and not alike(le(i, j), le(j, i)) and not alike(Extremum("max", (i, j)), i)


def test_short_sums_are_their_terms() -> None:
    """Over numbers alone, not more than asked for, of sums and not of maxima; within one another, too."""
    x = Leaf("x", (const(9), const(3), const(2)), "real")
    i = index(const(9))

    def total(rows: int, columns: int) -> Expr:
        j, k = index(const(rows)), index(const(columns))
        return Fold("sum", (j,), mul(2, Fold("sum", (k,), Load(x, (i, j, k)))))

    terms = add(*(mul(2, add(*(Load(x, (i, const(a), const(b))) for b in (1, 0)))) for a in (2, 0, 1)))
    assert alike(in_terms(total(3, 2), 4), terms) and not alike(in_terms(total(2, 2), 4), terms)
    assert not alike(in_terms(total(3, 2), 2), terms)                          # the three are left as they are
    j, n = index(const(2)), index(Size("n", 1))
    several = Fold("sum", (j, n), Load(x, (n, j, j)))
    largest = Fold("max", (j,), Load(x, (i, j, j)))
    assert in_terms(several, 4) is several and in_terms(largest, 4) is largest


def test_a_sum_over_what_is_put_together_is_the_sums_over_its_parts() -> None:
    m, n = Size("m", 1), Size("n", 1)
    w = Leaf("w", (add(m, n),))
    x, y = Leaf("x", (m,)), Leaf("y", (n,))

    def whole(size: Expr, op: str = "sum", end: Expr = m) -> Expr:
        k = index(size)
        return Fold(op, (k,), mul(Load(w, (k,)), where(lt(k, end), Load(x, (k,)), Load(y, (add(k, mul(-1, m)),)))))

    i, j = index(m), index(n)
    first = Fold("sum", (i,), mul(Load(w, (i,)), Load(x, (i,))))
    second = Fold("sum", (j,), mul(Load(w, (add(j, m),)), Load(y, (j,))))
    assert alike(in_parts(whole(add(m, n))), add(second, first)) and not alike(whole(add(m, n)), add(second, first))
    assert not alike(in_parts(whole(add(m, n))), add(first, first))
    largest, beyond, shifted = whole(add(m, n), "max"), whole(m), whole(add(m, n), end=index(n))
    assert in_parts(largest) is largest and in_parts(beyond) is beyond and in_parts(shifted) is shifted


def test_a_guard_that_says_what_a_range_says_makes_no_difference() -> None:
    """One that says more, of another variable or of a larger one, does."""
    n = Size("n", 1)
    i, j = index(n), index(4)
    x = Load(Leaf("x", (n, 4)), (i, j))
    inside = and_(lt(i, n), lt(j, 4), le(0, i), le(0, j))
    assert alike(where(inside, x, 0), x) and alike(x, where(inside, x, 0))
    for guard in (lt(i, 4), lt(j, n), lt(j, 3), lt(add(i, 1), n), le(1, i), lt(0, i), le(i, 0), eq(i, n)):
        assert not alike(where(guard, x, 0), x)


def test_a_choice_that_one_around_it_has_made_is_none() -> None:
    n = Size("n", 1)
    i, j = index(n), index(n)
    x, y, z = (Load(Leaf(name, (n,)), (i,)) for name in "xyz")
    asked, other = lt(i, 3), lt(i, 4)
    assert alike(where(asked, add(x, where(asked, y, z)), where(asked, x, z)), where(asked, add(x, y), z))
    assert chosen(where(asked, where(other, x, y), z)) is where(asked, where(other, x, y), z)
    for guard in (other, lt(j, 3), le(i, 3), eq(i, 3)):
        assert not alike(where(asked, add(x, where(guard, y, z)), z), where(asked, add(x, y), z))


def test_what_ranges_decide_is_decided() -> None:
    i, x = index(256), Load(Leaf("x", (256,)), (index(256),))
    assert alike(where(lt(add(i, -1), 255), x, 0), x) and alike(where(lt(add(i, 300), 299), x, 2), add(2))
    assert not alike(where(lt(i, 255), x, 0), x) and not alike(where(lt(add(i, -1), 254), x, 0), x)


def test_a_binder_hides_what_is_known_of_its_variable() -> None:
    """Although nobody should bind a variable within itself."""
    i = index(9)
    x, asked = Load(Leaf("x", (9,)), (i,)), lt(i, 3)
    inner = Fold("sum", (i,), where(asked, x, mul(2, x)))
    assert alike(where(asked, inner, 0), where(asked, inner, 0))
    assert not alike(where(asked, inner, 0), where(asked, Fold("sum", (i,), x), 0))


ROW, COLUMN = index(5), index(4)
INTEGERS = st.recursive(st.sampled_from([ROW, COLUMN]) | st.integers(-6, 6).map(const),
                        lambda e: st.builds(add, e, e) | st.builds(mul, st.integers(-2, 2), e), max_leaves=3)
CHOICES = st.recursive(INTEGERS, lambda e: st.builds(
    where, st.builds(lambda op, a, b: op(a, b), st.sampled_from([lt, le, eq]), INTEGERS, INTEGERS), e, e)
    | st.builds(add, e, e), max_leaves=9)


@given(CHOICES)
def test_what_is_chosen_has_the_same_value_everywhere(e: Expr) -> None:
    for i, j in product(range(5), range(4)):
        here = {ROW: const(i), COLUMN: const(j)}
        assert substitute(chosen(e), here) is substitute(e, here)


@given(CHOICES)
def test_a_sum_in_parts_has_the_same_value_everywhere(e: Expr) -> None:
    total = Fold("sum", (COLUMN,), e)
    for i in range(5):
        here = {ROW: const(i)}
        assert in_terms(substitute(in_parts(total), here), 4) is in_terms(substitute(total, here), 4)
