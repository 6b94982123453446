"""What replaces elements or sizes replaces them in the ranges of bound variables, too."""

from __future__ import annotations

from samesame.formula.binders import rebuilt, replaced
from samesame.formula.expr import Expr, Fold, Leaf, Load, Size, add, const, index, mul

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
