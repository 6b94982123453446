"""What replaces elements or sizes replaces them in the ranges of bound variables, too."""

from __future__ import annotations

from samesame.formula.binders import alike, rebuilt, replaced
from samesame.formula.expr import Expr, Fold, Leaf, Load, Size, add, and_, const, eq, index, le, lt, mul, where

LINE, OWN = Leaf("n*", (Size("S", 2),), "int"), Leaf("n", (Size("S", 2),), "int")


def renamed(expr: Expr) -> Expr:
    """Elements of the line as those of the tensor."""
    if isinstance(expr, Load) and expr.leaf is LINE:
        return Load(OWN, tuple(map(renamed, expr.indices)))
    return rebuilt(expr, renamed)


def test_a_range_that_reads_a_tensor_is_changed() -> None:
    i = index(Size("S", 2))
    k = index(Load(LINE, (i,)))
    found = renamed(Fold("sum", (k,), mul(k, k)))
    assert isinstance(found, Fold) and found.bound[0].extent is Load(OWN, (i,))
    assert found.body is mul(found.bound[0], found.bound[0])


def test_a_range_inside_a_range_is_changed() -> None:
    k = index(Load(LINE, (const(0),)))
    w = index(k)
    found = renamed(Fold("sum", (w, k), add(k, w)))
    new = {v.extent for v in found.bound}
    assert Load(OWN, (const(0),)) in new and new & set(found.bound)


def test_what_differs_in_names_of_bound_variables_alone_is_alike() -> None:
    def total(turned: bool = False, inner: str = "sum", size: int | Size = 4) -> Expr:
        i, j = index(4), index(size)
        return Fold("max", (i,), Fold(inner, (j,), Load(Leaf("x", (4, 4)), (j, i) if turned else (i, j))))

    assert total() is not total() and alike(total(), total())
    others = total(turned=True), total(inner="max"), total(size=Size("n", 1))
    assert not any(alike(total(), other) for other in others)
    i, free = index(4), [index(4), index(4)]
    assert not alike(*(Fold("sum", (i,), Load(Leaf("x", (4, 4)), (i, j))) for j in free))


def test_what_is_the_same_stays_the_same() -> None:
    k = index(Size("T", 2))
    whole = Fold("sum", (k,), k)
    assert renamed(whole) is whole


def test_parts_are_exchanged_in_a_range_and_under_it_and_what_arrives_is_not_looked_into() -> None:
    i = index(Size("S", 2))
    element, other = Load(LINE, (i,)), Load(OWN, (i,))
    k = index(element)
    found = replaced(Fold("sum", (k,), mul(k, element)), {element: add(element, other)})
    assert isinstance(found, Fold) and found.bound[0].extent is add(element, other)
    assert found.body is mul(found.bound[0], add(element, other))


def test_a_guard_that_says_what_a_range_says_makes_no_difference() -> None:
    """One that says more, of another variable or of a larger one, does."""
    n = Size("n", 1)
    i, j = index(n), index(4)
    x = Load(Leaf("x", (n, 4)), (i, j))
    inside = and_(lt(i, n), lt(j, 4), le(0, i), le(0, j))
    assert alike(where(inside, x, 0), x) and alike(x, where(inside, x, 0))
    for guard in (lt(i, 4), lt(j, n), lt(j, 3), lt(add(i, 1), n), le(1, i), lt(0, i), le(i, 0), eq(i, n)):
        assert not alike(where(guard, x, 0), x)
