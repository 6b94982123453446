"""Of what is counted up to each place no two have one number: dispatch by one-hot slots is what each token gets."""

import pytest

from samesame.formula.equal import Proved, prove_tensors_equal
from samesame.formula.expr import Lambda, Opaque, Size, Sum, and_, eq, exp, index, le, lt, maximum, where
from samesame.formula.tensor import leaf, tensor

N, WIDTH, EXPERTS, TOP = Size("N", 2), 6, 4, 2
x, gate, scores = leaf("x", (N, WIDTH)), leaf("g", (N, EXPERTS)), leaf("p", (N, EXPERTS))
mask, other, chosen = leaf("m", (N, EXPERTS), "bool"), leaf("o", (N, EXPERTS), "bool"), leaf("c", (N, TOP), "int")


def ge(a, b):
    return le(b, a)


def number(condition):
    return where(condition, 1, 0)


def masked(n, e, by=mask):
    return number(by[n, e])


def place(n, k):
    q = index(EXPERTS)
    return Opaque("aten.topk", ("indices", (TOP, True, True)), (Lambda((q,), scores[n, q]),), (k,), "int")


def routed(n, e):
    """Each token goes to two experts, which are not the same."""
    return Sum(TOP, lambda k: number(eq(place(n, k), e)))


def picked(n, e):
    """To two that may be the same."""
    return Sum(TOP, lambda k: number(eq(chosen[n, k], e)))


def rank(goes, n, e, upto=le):
    return Sum(N, lambda t: where(upto(t, n), goes(t, e), 0))


def relu(value):
    return maximum(value, 0)


def dispatched(goes, slot, function, capacity=N, back=None):
    """Σ over slots of what stands in them, sent there and brought back by one-hot vectors."""
    def hot(n, e, c, of=goes):
        return number(eq(slot(goes, n, e), c)) * of(n, e)

    def stands(e, c, j):
        return function(Sum(N, lambda m: hot(m, e, c) * x[m, j]))

    return tensor((N, WIDTH), lambda n, j: Sum((EXPERTS, capacity), lambda e, c:
                  hot(n, e, c, back or goes) * gate[n, e] * stands(e, c, j)))


def plainly(goes, function):
    return tensor((N, WIDTH), lambda n, j: Sum(EXPERTS, lambda e: goes(n, e) * gate[n, e] * function(x[n, j])))


SLOTS = {
    "one less": lambda goes, n, e: rank(goes, n, e) - 1,
    "times the mask": lambda goes, n, e: (rank(goes, n, e) - 1) * goes(n, e),
    "clamped": lambda goes, n, e: maximum(rank(goes, n, e) - 1, 0),
    "those before": lambda goes, n, e: rank(goes, n, e, lt),
    "from behind": lambda goes, n, e: rank(goes, n, e, ge) - 1,
}
FUNCTIONS = {"as it is": lambda value: value, "relu": relu, "in a function": lambda value: exp(value + 1)}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("slot", SLOTS)
@pytest.mark.parametrize("goes", [masked, routed])
def test_what_stands_in_a_slot_is_the_token_that_goes_there(goes, slot, function):
    sides = plainly(goes, FUNCTIONS[function]), dispatched(goes, SLOTS[slot], FUNCTIONS[function])
    assert isinstance(prove_tensors_equal(*sides), Proved)


@pytest.mark.parametrize("slot", [
    lambda goes, n, e: rank(goes, n, e),                                       # the last one has none
    lambda goes, n, e: rank(goes, n, 0) - 1,                                   # counted for another expert
    lambda goes, n, e: rank(lambda t, i: masked(t, i, other), n, e) - 1,       # counted by another mask
    lambda goes, n, e: Sum(N, lambda t: goes(t, e)) - 1,                       # all of them, for each
    lambda goes, n, e: Sum(N, lambda t: where(le(t, n), goes(t, e), 0) - where(lt(n, t), goes(t, e), 0)),
    lambda goes, n, e: 0 * n,                                                  # all in the first
], ids=["rank", "expert", "mask", "all", "both ways", "first"])
def test_other_slots_hold_others(slot):
    assert not isinstance(prove_tensors_equal(plainly(masked, relu), dispatched(masked, slot, relu)), Proved)


def test_a_token_may_go_to_one_expert_twice():
    """Then it is there twice."""
    sides = plainly(picked, relu), dispatched(picked, SLOTS["one less"], relu)
    assert not isinstance(prove_tensors_equal(*sides), Proved)


def test_slots_may_be_too_few():
    sides = plainly(masked, relu), dispatched(masked, SLOTS["one less"], relu, capacity=N - 1)
    assert not isinstance(prove_tensors_equal(*sides), Proved)


def test_who_does_not_go_there_has_no_slot():
    """A slot is told of those that a mask counts; read by others, it holds anybody."""
    def all_of_them(n, e):
        return 1

    sides = plainly(all_of_them, relu), dispatched(masked, SLOTS["clamped"], relu, back=all_of_them)
    assert not isinstance(prove_tensors_equal(*sides), Proved)


y = leaf("y", (N,))


def claim(left, right):
    return isinstance(prove_tensors_equal(tensor((N,), left), tensor((N,), right)), Proved)


def count(n, upto=le, by=0):
    return Sum(N, lambda t: number(and_(upto(t, n), mask[t, by])))


def test_ranks_are_one_where_places_are():
    def at(n, where_):
        return Sum(N, lambda m: number(and_(mask[n, 0], mask[m, 0], where_(m))) * y[m])

    assert claim(lambda n: at(n, lambda m: eq(count(m), count(n))), lambda n: number(mask[n, 0]) * y[n])
    assert claim(lambda n: at(n, lambda m: eq(count(m, lt), count(n, lt))), lambda n: number(mask[n, 0]) * y[n])
    for other_count in (lambda n: count(n, lt), lambda n: count(n, by=1), lambda n: count(n, ge)):
        assert not claim(lambda n, c=other_count: at(n, lambda m: eq(count(m), c(n))),
                         lambda n: number(mask[n, 0]) * y[n])


def test_ranks_of_what_is_not_counted_may_be_one():
    """Between two that are counted all have the rank of the first."""
    assert not claim(lambda n: Sum(N, lambda m: number(eq(count(m), count(n))) * y[m]), lambda n: y[n])
    assert not claim(lambda n: Sum(N, lambda m: number(and_(mask[n, 0], eq(count(m), count(n)))) * y[m]),
                     lambda n: number(mask[n, 0]) * y[n])


def test_two_places_of_a_row_are_one_where_they_are_of_one_element():
    def asked(n, condition):
        return Sum((TOP, TOP), lambda k, q: number(condition(k, q)) * (k + 3 * q) * y[n])

    assert claim(lambda n: asked(n, lambda k, q: eq(place(n, k), place(n, q))), lambda n: asked(n, eq))
    assert not claim(lambda n: asked(n, lambda k, q: eq(chosen[n, k], chosen[n, q])), lambda n: asked(n, eq))
    assert not claim(lambda n: asked(n, lambda k, q: eq(place(n, k), place(0, q))), lambda n: asked(n, eq))


w = leaf("w", (EXPERTS,))


def test_a_digit_of_data_has_one_value_where_the_data_is_in_a_half():
    """Experts 0 and 1 are the first rank's, 2 and 3 the second's."""
    def by_rank(n):
        def local(r):
            return Sum((TOP, 2, 2), lambda k, a, b: number(and_(eq(2 * a + b, place(n, k)), eq(a, r))) * w[2 * a + b])
        return local(0) + local(1)

    assert claim(by_rank, lambda n: Sum(TOP, lambda k: w[place(n, k)]))
    assert not claim(by_rank, lambda n: Sum(TOP, lambda k: number(lt(place(n, k), 3)) * w[place(n, k)]))


def other_place(n, k):
    """Where another row was chosen."""
    q = index(EXPERTS)
    return Opaque("aten.topk", ("indices", (TOP, True, True)), (Lambda((q,), gate[n, q]),), (k,), "int")


@pytest.mark.parametrize("condition", [
    lambda n, s, t: eq(place(n, s), other_place(n, t)),
    lambda n, s, t: eq(place(n, s), other_place(n, t) + 1),
    lambda n, s, t: eq(place(n, s) + place(n, t), 3),
    lambda n, s, t: eq(place(n, s + t), 1),
], ids=["of two rows", "beside", "of one row", "together"])
def test_an_equation_tells_one_of_its_variables_and_not_both(condition):
    """There may be two that are in both rows: a count of 0 or 1 is not all that it can be."""
    def common(n):
        return Sum((TOP, TOP), lambda s, t: number(condition(n, s, t)))

    assert not claim(lambda n: Sum(2, lambda c: number(eq(common(n), c)) * y[n]), lambda n: y[n])


def test_a_place_in_sight_may_be_none():
    """The count is of those after n: the last has none, and what is asked of it is false."""
    def later(n):
        return Sum(N, lambda t: number(and_(lt(n, t), mask[t, 0])))

    assert not claim(lambda n: number(and_(mask[n, 0], lt(0, later(n)))) * y[n], lambda n: 0 * y[n])
