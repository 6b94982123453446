"""[some place is e] is the sum over places of [place s is e] where no two places are one, and only there."""

import pytest

from samesame.formula.equal import Budget, Proved, prove_tensors_equal
from samesame.formula.expr import Lambda, Opaque, Size, Sum, eq, floordiv, fold, index, where
from samesame.formula.places import with_values
from samesame.formula.tensor import leaf, tensor

N, K = Size("N", 4), Size("K", 2)
x, weight = leaf("x", (N, N)), leaf("w", (N,))


def place(s, row=0, name="aten.topk", what="indices"):
    k = index(N)
    return Opaque(name, (what, (2, True, True)), (Lambda((k,), x[row, k]),), (s,), "int")


def claim(of):
    """Whether e is among the places that s runs over, and how often it is."""
    asked = tensor((N,), lambda e: where(fold("any", K, lambda s: eq(of(s), e)), weight[e], 0))
    counted = tensor((N,), lambda e: Sum(K, lambda s: where(eq(of(s), e), weight[e], 0)))
    return prove_tensors_equal(asked, counted, budget=Budget(seconds=2.0))


@pytest.mark.parametrize("of", [
    place, lambda s: place(s + 1), lambda s: place(K - 1 - s), lambda s: N - 1 - place(s),
    lambda s: place(s, name="aten.sort"),
])
def test_places_of_one_row_are_each_another_one(of):
    assert isinstance(claim(of), Proved)


@pytest.mark.parametrize("of", [
    lambda s: place(floordiv(s, 2)), lambda s: place(s, row=s), lambda s: place(s, what="values"),
    lambda s: place(s) - s, lambda s: place(place(s)), lambda s: floordiv(place(s), 2),
    lambda s: place(s, name="aten.other"),
])
def test_what_may_be_one_twice_is_counted_twice(of):
    assert not isinstance(claim(of), Proved)


def test_what_stands_elsewhere_is_not_what_was_picked():
    s, k = index(2), index(N)
    elsewhere = x[1, place(s)], x[place(s), 0], x[0, place(s) + 1], weight[place(s)], x[0, place(s, what="values")]
    for looked_up in elsewhere:
        assert with_values(looked_up) is looked_up
    assert with_values(x[0, place(s)]) is not x[0, place(s)]
    turned = Opaque("aten.topk", ("indices", (2, True, True)), (Lambda((k,), -x[0, k]),), (s,), "int")
    assert with_values(x[0, turned]) is x[0, turned]
