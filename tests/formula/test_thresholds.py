"""Sums over conditions on integers are compared by thresholds: what a loop over classes asks one by one, others count.
And numbers of two digits are no less than 0 where the first of them is not."""

import itertools

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from samesame import check
from samesame.formula.effort import Budget, spending
from samesame.formula.equal import NotProved, Proved, prove_equal
from samesame.formula.expr import Size, Sum, and_, eq, index, le, lt, mul, substitute, where
from samesame.formula.laws import LAWS
from samesame.formula.normal import index_poly, index_variable, normal
from samesame.formula.poly import Poly, number, variable
from samesame.formula.radix import first_digit
from samesame.formula.tensor import leaf
from samesame.formula.thresholds import by_thresholds

N = Size("N", 1)
AT = index(N)
x, label, wide = leaf("x", (N,)), leaf("label", (N,), "int"), leaf("wide", (N,), "int", (0, 6))
E = label[AT]


def beyond(*ends):
    """How many of these the label is beyond."""
    return sum((where(lt(end, E), 1, 0) for end in ends[1:]), where(lt(ends[0], E), 1, 0))


SAME = {
    "counted one by one": (beyond(0, 1, 2), where(lt(E, 1), 0, where(le(3, E), 3, E))),
    "one value less two": (where(and_(le(1, E), le(E, 4)), 1, 0),
                           sum((where(eq(E, c), 1, 0) for c in (2, 3, 4)), where(eq(E, 1), 1, 0))),
    "squares": (where(and_(le(0, E), le(E, 3)), E * E, 0), beyond(0) + 3 * beyond(1) + 5 * beyond(2) - 9 * beyond(3)),
    "times a number": (x[AT] * beyond(0, 1), where(lt(E, 1), 0, where(eq(E, 1), x[AT], 2 * x[AT]))),
}
NOT_SAME = {
    "an end later": (beyond(0, 1, 3), SAME["counted one by one"][1]),
    "one more": (SAME["one value less two"][0], SAME["one value less two"][1] + where(eq(E, 5), 1, 0)),
    "one power less": (where(and_(le(0, E), le(E, 3)), E, 0), SAME["squares"][1]),
    "twice": (x[AT] * beyond(0, 0), SAME["times a number"][1]),
}


def summed(side):
    return Sum(N, lambda i: substitute(side, {AT: i}))


@pytest.mark.parametrize("name", SAME)
def test_one_function_of_an_integer(name):
    left, right = SAME[name]
    assert isinstance(prove_equal(left, right), Proved)
    assert isinstance(prove_equal(summed(left), summed(right)), Proved)


@pytest.mark.parametrize("name", NOT_SAME)
def test_other_functions_of_it(name):
    left, right = NOT_SAME[name]
    assert isinstance(prove_equal(left, right), NotProved)
    assert isinstance(prove_equal(summed(left), summed(right)), NotProved)


def test_many_integers_in_one_product_are_left_as_they_are():
    """Written out they would be 8 to the power of how many there are."""
    labels = [leaf(f"l{k}", (), "int")[()] for k in range(6)]

    def product(last):
        ends = [3] * 5 + [last]
        return mul(*(where(and_(le(0, e), le(e, end)), e, 0) for e, end in zip(labels, ends, strict=True)))

    with spending(Budget(), LAWS):
        assert by_thresholds(normal(product(3))) is None
    assert isinstance(prove_equal(product(3), product(4)), NotProved)


class Coral(nn.Module):
    """Thresholds on one score."""

    def __init__(self):
        super().__init__()
        self.score, self.thresholds = nn.Linear(6, 1, bias=False), nn.Parameter(torch.randn(2))

    def forward(self, x, y):
        logits = self.score(x) + self.thresholds
        levels = (torch.arange(2)[None, :] < y[:, None]).to(logits.dtype)
        term = F.logsigmoid(logits) * levels + (F.logsigmoid(logits) - logits) * (1 - levels)
        return torch.mean(-torch.sum(term, dim=1))


class OneByOne(Coral):
    first = 0

    def forward(self, x, y):
        s, loss = x @ self.score.weight[0], 0.0
        for k in range(2):
            above = (y > k + self.first).to(s.dtype)
            loss = loss + F.binary_cross_entropy_with_logits(s + self.thresholds[k], above)
        return loss


class Later(OneByOne):
    first = 1


@pytest.mark.parametrize("other, verdict", [(OneByOne, "same"), (Later, "different")])
def test_an_ordinal_regression(other, verdict):
    left, right = Coral(), other()
    right.load_state_dict(left.state_dict())
    assert check(left, right, (torch.randn(7, 6), torch.arange(7) % 3)).verdict == verdict


def test_a_number_of_two_digits_is_not_below_zero_where_its_first_is_not():
    """By all values: base 7, a last digit from 0 to 6, and whatever is added."""
    with spending(Budget(), LAWS):
        digit, high = index_poly(wide[AT]), index_poly(E)
        assert isinstance(digit, Poly) and isinstance(high, Poly)
        for sign, added in itertools.product((1, -1), range(-9, 10)):
            p = high * 7 + digit * sign + number(added)
            found = first_digit(p)
            last = (sign * d + added for d in range(7))
            one_floor = len({value // 7 for value in last}) == 1
            assert (found is not None) == one_floor
            for a, d in itertools.product(range(-3, 4), range(7)) if found is not None else ():
                def value(atom, a=a, d=d):
                    return d if variable(atom) == digit else a

                assert (p.value(value) >= 0) == (found.value(value) >= 0)
        place = variable(index_variable(AT))
        assert first_digit(high * 7 + place) is None and first_digit(high + digit) is None


def degrees(x, src, dst):
    n = x.shape[0]
    return torch.zeros(n).index_add(0, src, torch.ones(src.shape[0])), x[src] * x[dst]


def degrees_of_a_table(x, src, dst, turned=False):
    n = x.shape[0]
    flat = torch.zeros(n * n).scatter_add(0, src * n + dst, torch.ones(src.shape[0]))
    return flat.view(n, n).sum(0 if turned else 1), x[src] * x[dst]


def test_an_index_lies_where_the_program_looks_it_up_wherever_it_is_used():
    """Where the table is filled, only the sum of both is an index; that each of them is one, is said further on."""
    given = torch.randn(7), torch.tensor([0, 0, 1, 2, 3, 3, 3, 5, 5, 1]), torch.tensor([1, 2, 2, 0, 0, 4, 5, 3, 4, 2])
    verdict = check(degrees, degrees_of_a_table, given)
    assert verdict.verdict == "same"
    said = {str(condition) for relation in verdict.relations for condition in relation.evidence.conditions}
    assert any("dst" in words for words in said) and any("src" in words for words in said)
    assert check(degrees, lambda *all: degrees_of_a_table(*all, turned=True), given).verdict == "different"
    assert check(lambda *all: degrees(*all)[0], lambda *all: degrees_of_a_table(*all)[0], given).verdict != "same"
