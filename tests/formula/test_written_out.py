"""Sums of a few quotients against the quotients added up one by one, what labels choose against a loop over labels, and
digits of digits that are summed over; windows that meet an edge."""

import numpy as np
import pytest

from samesame.formula.equal import IDENTICAL, Budget, Proved, prove_equal, prove_tensors_equal
from samesame.formula.evaluate import evaluate
from samesame.formula.expr import Lambda, Opaque, Size, Sum, and_, const, eq, exp, index, le, lt, maximum, where
from samesame.formula.tensor import leaf, tensor

N = Size("N", 2)
X, Y = leaf("x", (4, N)), leaf("y", (4, N))
LABEL = leaf("t", (N,), "int", (0, 3))
IMAGE = leaf("z", (2, 5, 6))


def quotient(c, plus=1):
    return Sum(N, lambda j: Y[c, j]) / (plus + Sum(N, lambda j: X[c, j] ** 2))


def counted(c, plus=1):
    """A quotient of what has the label c, by how many have it."""
    own = Sum(N, lambda j: where(eq(LABEL[j], c), X[c, j], 0))
    return own / (plus + Sum(N, lambda j: where(eq(LABEL[j], c), 1, 0)))


def proved(left, right, seconds=5.0):
    return isinstance(prove_equal(left, right, budget=Budget(seconds=seconds)), Proved)


@pytest.mark.parametrize("of", [quotient, counted])
def test_a_sum_of_a_few_quotients_is_the_quotients_added_up(of):
    assert proved(Sum(3, lambda c: of(c + 1)), of(1) + of(2) + of(3))


WRONG = {
    "another one": lambda of: of(0) + of(2) + of(3),
    "another denominator": lambda of: of(1) + of(2, plus=2) + of(3),
    "one less": lambda of: of(1) + of(2),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("of", [quotient, counted])
def test_other_quotients_are_not(of, wrong):
    assert not proved(Sum(3, lambda c: of(c + 1)), wrong(of), seconds=0.3)


def test_each_digit_of_a_digit_is_summed_over():
    flat = Sum(60, lambda u: IMAGE[u // 30, (u // 6) % 5, u % 6])
    found = prove_equal(flat, Sum((2, 5, 6), lambda b, i, j: IMAGE[b, i, j]))
    assert isinstance(found, Proved) and found.detail == IDENTICAL
    assert not proved(Sum(54, lambda u: IMAGE[u // 30, (u // 6) % 5, u % 6]), flat, seconds=0.3)


def place(s, row=4, what="indices"):
    """Where the s-th largest of a row stood."""
    k = index(row)
    return Opaque("aten.topk", (what, (2, True, True)), (Lambda((k,), Y[k, 0]),), (s,), "int")


def looked_up(label):
    """Σ_s y[0, s]·max(x[t[s], s], 0)."""
    return Sum(2, lambda s: Y[0, s] * maximum(X[label(s), s], 0))


def in_a_loop(label, labels=range(4), chosen=lambda c: c):
    def of(c):
        return Sum(2, lambda s: where(eq(label(s), c), Y[0, s], 0) * maximum(X[chosen(c), s], 0))

    return sum(map(of, labels), 0)


LABELS = {"an element": lambda s: LABEL[s], "a place": place}


@pytest.mark.parametrize("label", LABELS.values(), ids=LABELS)
def test_what_a_label_chooses_is_a_loop_over_labels(label):
    assert proved(looked_up(label), in_a_loop(label))
    assert not proved(looked_up(label), in_a_loop(label, range(3)), seconds=0.5)
    assert not proved(looked_up(label), in_a_loop(label, chosen=lambda c: 3 - c), seconds=0.5)


def test_labels_of_unknown_range_are_not_written_out():
    unknown = leaf("u", (N,), "int")
    wider = leaf("v", (N,), "int", (0, 4))
    for label in (lambda s: unknown[s], lambda s: wider[s], lambda s: place(s, 5), lambda s: place(s, what="values")):
        assert not proved(looked_up(label), in_a_loop(label), seconds=0.5)


LONG = Size("L", 5)


def drawn_out(at):
    return where(lt(at, 0), 0, where(lt(at, LONG), at, LONG - 1))


def mirrored(at):
    return where(lt(at, 0), -at, where(lt(at, LONG), at, 2 * LONG - 2 - at))


def slopes(edge, weights=(-2, -1, 0, 1, 2)):
    """A regression over five places round each, as one sum over a window, and place by place."""
    row = leaf("row", (LONG,))
    window = tensor((LONG,), lambda i: Sum(5, lambda d: (d - 2) * row[edge(i + d - 2)]))
    by_place = tensor((LONG,), lambda i: sum((w * row[edge(i + d - 2)] for d, w in enumerate(weights)), const(0)))
    return window, by_place


@pytest.mark.parametrize("edge", [drawn_out, mirrored])
def test_a_window_at_an_edge_is_what_its_places_show(edge):
    for n in (5, 6, 9):
        given = {"row": np.random.default_rng(n).normal(size=n)}
        np.testing.assert_allclose(*(evaluate(side, given, {"L": n}) for side in slopes(edge)), rtol=1e-12, atol=1e-12)
    assert isinstance(prove_tensors_equal(*slopes(edge)), Proved)


@pytest.mark.parametrize("weights", [(-2, -1, 0, 1, 3), (-1, -2, 0, 1, 2), (-2, -1, 1, 1, 2)])
def test_a_window_with_other_weights_is_another(weights):
    assert not isinstance(prove_tensors_equal(*slopes(drawn_out, weights)), Proved)


def test_a_window_is_not_one_with_another_edge():
    window, _ = slopes(drawn_out)
    assert not isinstance(prove_tensors_equal(window, slopes(mirrored)[1]), Proved)
    shorter = slopes(lambda at: where(lt(at, 2), 0, where(lt(at, LONG), at, LONG - 1)))[1]       # x[0] for x[1]
    assert not isinstance(prove_tensors_equal(window, shorter), Proved)


WEIGHTS, PIXELS = leaf("weights", (9, 3, 4)), leaf("pixels", (3, 4))


def shown(i, j):
    """What an image shows at a place, 0 beyond its edges."""
    return where(and_(le(0, i), lt(i, 3), le(0, j), lt(j, 4)), PIXELS[i, j], 0)


def combined(order=range(9)):
    """A convex combination of nine neighbours, as one sum over a window and place by place; the image is no higher than
    the window."""
    window = tensor((3, 4), lambda i, j: Sum(9, lambda k: exp(WEIGHTS[k, i, j]) * shown(i + k // 3 - 1, j + k % 3 - 1))
                    / Sum(9, lambda k: exp(WEIGHTS[k, i, j])))

    def by_place(i, j):
        total = sum((exp(WEIGHTS[k, i, j]) for k in range(9)), const(0))
        parts = (exp(WEIGHTS[k, i, j]) * shown(i + at // 3 - 1, j + at % 3 - 1) for k, at in enumerate(order))
        return sum(parts, const(0)) / total

    return window, tensor((3, 4), by_place)


def test_a_window_as_high_as_the_image_moves_over_it():
    assert isinstance(prove_tensors_equal(*combined()), Proved)


def test_neighbours_in_another_order_are_others():
    other = combined((0, 1, 2, 3, 4, 5, 6, 8, 7))
    assert not isinstance(prove_tensors_equal(*other, budget=Budget(seconds=1)), Proved)
