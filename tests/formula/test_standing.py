"""Where an element of a row stands hangs on the order of the row: what all its elements share, and a positive factor,
are left out of its normal form; nothing else is."""

import pytest
import torch

import samesame
from samesame.certificate.replay import replay
from samesame.formula.chance import differ_by_chance
from samesame.formula.equal import NotProved, Proved, prove_equal, prove_tensors_equal
from samesame.formula.expr import NEG_INF, Fold, Lambda, Opaque, Size, Sum, index, log, power, where
from samesame.formula.tensor import leaf, tensor
from samesame.relate.rules import versions
from samesame.store import Store

N, K, D = Size("N", 1), Size("K", 2), Size("D", 1)
x, c, bias = leaf("x", (N, D)), leaf("c", (K, D)), leaf("bias", (N,))
shown = leaf("shown", (K,), "bool")
AT, J = index(N), index(K)
PLACES = [("aten.argmin", (), "aten.argmax", ()),
          ("aten.sort", ("indices", (False, True)), "aten.sort", ("indices", (True, True))),
          ("aten.topk", ("indices", (2, False, True)), "aten.topk", ("indices", (2, True, True)))]


def position(name, attributes, element):
    return Opaque(name, attributes, (Lambda((J,), element),), () if name == "aten.argmin" or name == "aten.argmax"
                  else (AT,), "int")


def product(a, b):
    return Sum(D, lambda d: a(d) * b(d))


def of_x(d):
    return x[AT, d]


def of_c(d):
    return c[J, d]


DISTANCE = Sum(D, lambda d: power(x[AT, d] - c[J, d], 2))
SCORE = product(of_c, of_c) - 2 * product(of_x, of_c)
CLOSE = 2 * product(of_x, of_c) - product(of_c, of_c)


@pytest.mark.parametrize("least, how, most, turned", PLACES)
@pytest.mark.parametrize("same, falls", [
    (SCORE, False), (CLOSE, True), (3 * DISTANCE + bias[AT], False), (7 - DISTANCE / 2, True)])
def test_the_least_distance_stands_where_the_least_score_does(least, how, most, turned, same, falls):
    other = position(most, turned, same) if falls else position(least, how, same)
    wrong = position(least, how, same) if falls else position(most, turned, same)
    assert isinstance(prove_equal(position(least, how, DISTANCE), other), Proved)
    assert isinstance(prove_equal(position(least, how, DISTANCE), wrong), NotProved)


@pytest.mark.parametrize("other", [
    SCORE + product(of_c, of_c),                            # of each element another number
    SCORE * bias[AT],                                        # a factor of unknown sign
    product(of_c, of_c) - product(of_x, of_c),
    where(shown[J], SCORE, 0),
])
def test_what_may_change_the_order_stays(other):
    assert isinstance(prove_equal(position("aten.argmin", (), DISTANCE), position("aten.argmin", (), other)), NotProved)


@pytest.mark.parametrize("added", [log(bias[AT]), 1 / bias[AT]])
def test_what_may_be_no_number_stays(added):
    """Of a row of NaN the least stands somewhere else."""
    assert isinstance(prove_equal(
        position("aten.argmin", (), DISTANCE), position("aten.argmin", (), DISTANCE + added)), NotProved)


def test_a_row_with_minus_infinity_stays_as_it_is():
    """Turned round it would hold +∞."""
    masked = where(shown[J], CLOSE, NEG_INF)
    assert isinstance(prove_equal(position("aten.argmax", (), masked), position("aten.argmin", (), masked)), NotProved)
    assert isinstance(prove_equal(position("aten.argmax", (), masked), position("aten.argmax", (), masked)), Proved)


def test_the_value_of_an_element_keeps_all_of_it():
    def value(element):
        return Opaque("aten.sort", ("values", (False, True)), (Lambda((J,), element),), (AT,), "real")

    assert isinstance(prove_equal(value(DISTANCE), value(SCORE)), NotProved)


def test_claims_about_places_are_not_given_up():
    """Random maps of rows that differ in what all elements share are alike where a place is asked for."""
    a, b = leaf("a", (5, 3)), leaf("b", (4, 3))

    def nearest(name, row):
        j = index(4)
        return tensor((5,), lambda i: Opaque(name, (), (Lambda((j,), row(i, j)),), (), "int"), "int")

    def apart(i, j):
        return Sum(3, lambda d: power(a[i, d] - b[j, d], 2))

    def closer(i, j):
        return Sum(3, lambda d: 2 * a[i, d] * b[j, d] - b[j, d] * b[j, d])

    assert not differ_by_chance(nearest("aten.argmin", apart), nearest("aten.argmax", closer))
    assert isinstance(prove_tensors_equal(nearest("aten.argmin", apart), nearest("aten.argmax", closer)), Proved)
    assert differ_by_chance(nearest("aten.argmin", apart), nearest("aten.argmin", closer))
    assert differ_by_chance(nearest("aten.argmin", apart), nearest("aten.argmin", lambda i, j: apart(i, j) * b[j, 0]))


def nearest_by_distance(x, codes):
    return codes[torch.cdist(x, codes).argmin(-1)]


def nearest_by_score(x, codes):
    return codes[(2 * x @ codes.T - (codes * codes).sum(-1)).argmax(-1)]


def farthest_by_score(x, codes):
    return codes[(2 * x @ codes.T - (codes * codes).sum(-1)).argmin(-1)]


def test_nearest_codes():
    given = (torch.randn(7, 4), torch.randn(5, 4))
    assert samesame.check(nearest_by_distance, nearest_by_score, given).verdict == "same"
    assert samesame.check(nearest_by_distance, farthest_by_score, given).verdict == "different"


def means(x, codes):
    chosen = (torch.cdist(x, codes).argmin(-1)[:, None] == torch.arange(codes.shape[0])).to(x.dtype)
    count = chosen.sum(0)[:, None]
    return torch.where(count > 0, chosen.T @ x / count.clamp(min=1), codes)


def means_one_by_one(x, codes):
    nearest, found = (2 * x @ codes.T - (codes * codes).sum(-1)).argmax(-1), []
    for k in range(codes.shape[0]):
        own = (nearest == k).to(x.dtype)
        found.append(torch.where(own.sum() > 0, (x * own[:, None]).sum(0) / own.sum().clamp(min=1), codes[k]))
    return torch.stack(found)


def test_how_many_belong_to_a_code_is_no_question_about_infinities():
    """The count is above 0 on every draw, and a number whatever the points are."""
    given = (torch.randn(30, 3), torch.randn(2, 3))
    assert samesame.check(means, means_one_by_one, given).verdict == "same"


def nearest_unturned(x, codes):
    return codes[((codes * codes).sum(-1) - 2 * x @ codes.T).argmin(-1)]


@pytest.mark.parametrize("same", [nearest_by_score, nearest_unturned])
def test_the_second_prover_knows_where_the_greatest_stands(same):
    """It would refute what is proved, where it took an extremum's place for any function of the row."""
    given = (torch.randn(7, 4), torch.randn(5, 4))
    prover, semantics = versions()
    store = Store.in_memory(prover=prover, semantics=semantics, notice=pytest.fail)
    verdict = samesame.check(nearest_by_distance, same, given, store=store, certify=True)
    assert verdict.verdict == "same"
    replay(verdict.certificate)


def test_which_way_a_row_is_read_hangs_on_no_name():
    """x[a] less x[b] or x[b] less x[a]: which it is would be told by how many indices were made before."""
    y, u = leaf("y", (5, 6)), leaf("u", (5, 5, 6))

    def summed(between):
        a = index(5)
        for _ in range(between):
            index(3)
        b, j = index(5), index(6)
        place = Opaque("aten.argmax", (), (Lambda((j,), y[a, j] - y[b, j]),), (), "int")
        return Fold("sum", (a, b), u[a, b, place])

    first = summed(0)
    assert all(isinstance(prove_equal(first, summed(k % 7)), Proved) for k in range(120))


def test_of_a_level_row_the_greatest_stands_where_the_least_does():
    level = [position(name, (), 3 + 0 * c[J, 0] + bias[AT]) for name in ("aten.argmax", "aten.argmin")]
    assert isinstance(prove_equal(*level), Proved)


@pytest.mark.parametrize("asks", [lambda x: (x - x).bool().float().sum() == 0, lambda x: (x * 0).long().float() == 0])
def test_a_cast_does_not_hide_a_question_about_infinities(asks):
    verdict = samesame.check(lambda x: torch.where(asks(x), x, 0.0), lambda x: x * 1, (torch.randn(3, 4),))
    assert verdict.verdict == "different"
