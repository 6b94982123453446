"""Maxima over nothing: the case is proved where both sides agree there, and a condition where they part."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import torch

from samesame import check
from samesame.formula.assumptions import SOME, Holds, holds
from samesame.formula.emptied import Nothing, _value
from samesame.formula.equal import Proved, prove_equal
from samesame.formula.expr import (
    NEG_INF,
    TRUE,
    Max,
    Min,
    Size,
    Sum,
    and_,
    const,
    eq,
    exp,
    fold,
    index,
    log,
    lt,
    maximum,
    minimum,
    not_,
    where,
)
from samesame.formula.tensor import leaf
from samesame.operators.provisos import provisos

N, T = Size("N", 2), Size("T", 2)
i, j, k = index(N), index(T), index(N)
x, m = leaf("x", (N, T)), leaf("m", (N, T), "bool")
lengths, square, seen = leaf("l", (N,), "int"), leaf("s", (N, N)), leaf("b", (N, N), "bool")


def hidden(row, guard, of=x):
    return lambda p: where(guard(row, p), of[row, p], NEG_INF)


def softmax(h, p, size=T):
    return exp(h(p)) / Sum(size, lambda q: exp(h(q)))


def shifted(h, p, size=T, largest=None):
    top = Max(size, h) if largest is None else largest
    return exp(h(p) - top) / Sum(size, lambda q: exp(h(q) - top))


def empty(h):
    return eq(Max(T, h), NEG_INF)


BY_MASK, BY_LENGTH = (lambda r, p: m[r, p]), (lambda r, p: lt(p, lengths[r]))
HELD, LEFT_OUT = hidden(i, BY_MASK), hidden(i, lambda r, p: not_(m[r, p]))
AGREE = {
    "a mask": (softmax(HELD, j), shifted(HELD, j)),
    "what is left out": (softmax(LEFT_OUT, j), shifted(LEFT_OUT, j)),
    "lengths": (softmax(hidden(i, BY_LENGTH), j), shifted(hidden(i, BY_LENGTH), j)),
    "a row that is asked for": (softmax(HELD, j), shifted(HELD, j, largest=where(empty(HELD), 0, Max(T, HELD)))),
    "logarithms": (HELD(j) - log(Sum(T, lambda p: exp(HELD(p)))),
                   HELD(j) - Max(T, HELD) - log(Sum(T, lambda p: exp(HELD(p) - Max(T, HELD))))),
    "−∞ on both sides": (3 * Max(T, HELD), Max(T, lambda p: 3 * HELD(p))),
    "+∞ on both sides": (Min(T, lambda p: where(m[i, p], x[i, p], -NEG_INF)),
                         -Max(T, lambda p: where(m[i, p], -x[i, p], NEG_INF))),
}
PART = {
    "0 for NaN": (softmax(HELD, j), where(empty(HELD), 0, shifted(HELD, j))),
    "1 for NaN": (Max(T, HELD) + 1 - Max(T, HELD), const(1)),
    "−∞ for NaN": (log(Sum(T, lambda p: exp(HELD(p)))),
                   log(Sum(T, lambda p: exp(HELD(p) - Max(T, HELD)))) + Max(T, HELD)),
}


def holds_whole(left, right):
    """Whether it is proved, and not for maxima over something alone."""
    found = prove_equal(left, right)
    return isinstance(found, Proved) and SOME not in {getattr(one, "kind", "") for one in found.conditions}


@pytest.mark.parametrize("name", AGREE)
def test_where_both_sides_agree_over_nothing_that_is_said(name):
    found = prove_equal(*AGREE[name])
    assert holds_whole(*AGREE[name]) and isinstance(found, Proved)
    said = name if name.endswith("on both sides") else "neither side is a number"
    said = said.replace("−∞ on both sides", "both sides are −∞").replace("+∞ on both sides", "both sides are +∞")
    assert all(str(one).endswith(f"is over at least one element, or {said}")
               for one in found.conditions if isinstance(one, Holds) and one.kind)


def test_where_both_sides_are_one_number_over_nothing_nothing_is_taken_for_granted():
    largest = Max(T, HELD)
    found = prove_equal(where(eq(largest, NEG_INF), 5, largest + 1 - largest), where(empty(HELD), 5, 1))
    assert isinstance(found, Proved) and found.conditions == ()


@pytest.mark.parametrize("name", PART)
def test_where_they_part_something_is(name):
    assert not holds_whole(*PART[name])


def test_rows_that_cannot_be_told_apart_are_left_alone():
    """i and k have one range: whose row a condition speaks of is not known."""
    h, g = (hidden(r, lambda r, p: seen[r, p], square) for r in (i, k))
    p = index(N)
    assert not holds_whole(softmax(h, p, N) + softmax(g, p, N), shifted(h, p, N) + shifted(g, p, N))


VALUES = {
    "a number": (const(3), Fraction(3)),
    "∞ − ∞": (NEG_INF + -NEG_INF, Nothing.NAN),
    "0 · ∞": (exp(NEG_INF) * Max(T, lambda p: NEG_INF), Nothing.NAN),
    "0 / 0": (Sum(T, lambda p: exp(NEG_INF)) / Sum(T, lambda p: exp(NEG_INF)), Nothing.NAN),
    "1 / 0": (1 / Sum(T, lambda p: exp(NEG_INF)), Nothing.EITHER),
    "−2 · −∞": (-2 * NEG_INF, Nothing.ABOVE),
    "a number of a tensor": (x[i, j] * 0 + x[i, j], None),
    "0 times what is not known": (exp(NEG_INF) * x[i, j], None),
    "a product over +∞": (fold("prod", (T,), lambda p: -NEG_INF), None),
    "a sum of no known number of ones": (Sum(T, lambda p: const(1)), None),
    "a least −∞": (Min(T, lambda p: NEG_INF), Nothing.BELOW),
    "log 0": (log(Sum(T, lambda p: exp(NEG_INF))), Nothing.BELOW),
    "−∞ or a number": (maximum(NEG_INF, Max(T, lambda p: const(2))), Fraction(2)),
    "−∞ or −∞": (maximum(NEG_INF, Max(T, lambda p: NEG_INF)), Nothing.BELOW),
    "+∞ or a number, the least": (minimum(-NEG_INF, const(2)), Fraction(2)),
    "NaN or a number": (maximum(NEG_INF + -NEG_INF, const(2)), Nothing.NAN),
    "beside one another": (where(eq(Max(T, lambda p: NEG_INF), NEG_INF), 7, x[i, j]), Fraction(7)),
    "an infinity that may be either one": (where(eq(1 / Sum(T, lambda p: exp(NEG_INF)), -NEG_INF), 0, 7), None),
    "beside what is not known": (where(and_(m[i, j], eq(x[i, j], 0)), 7, 7 + NEG_INF), None),
}


@pytest.mark.parametrize("name", VALUES)
def test_what_is_seen_at_sight_is_what_floating_point_makes(name):
    expr, value = VALUES[name]
    assert _value(expr) == value


MASK = torch.tensor([[False, False, True], [False, True, True]])


def plain(x, m):
    return torch.softmax(x.masked_fill(m, -math.inf), -1)


def by_parts(x, m):
    h = x.masked_fill(m, -math.inf)
    e = (h - h.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


def nothing_of_nothing(x, m):
    return torch.where(m.all(-1, keepdim=True), 0.0, by_parts(x, m))


def times_what_is_shown(x, m):
    return plain(x, m) * ~m


def where_shown(x, m):
    return torch.where(m, 0.0, by_parts(x, m))


def test_what_is_shared_many_times_over_is_looked_at_once():
    e = NEG_INF + -NEG_INF
    for _ in range(2000):
        e = exp(e) * exp(-e)
    assert _value(e) is Nothing.NAN


@pytest.mark.parametrize("other", [by_parts, nothing_of_nothing])
def test_a_headline_says_that_rows_hidden_whole_are_left_out_where_the_sides_part_on_them(other):
    verdict = check(plain, other, (torch.randn(2, 3), MASK))
    assert (verdict.verdict == "same" and not verdict.only) == (other is by_parts)


def test_what_is_made_of_rows_that_are_no_numbers_is_another_matter():
    """NaN times 0 is NaN, and what stands elsewhere is 0: that both softmaxes are NaN there is not enough."""
    verdict = check(times_what_is_shown, where_shown, (torch.randn(2, 3), MASK))
    assert verdict.verdict != "same" or "if every maximum is over at least one element" in verdict.only
    assert check(lambda x, m: plain(x, m) @ x.t(), lambda x, m: by_parts(x, m) @ x.t(),
                 (torch.randn(2, 3), MASK)).only == []


def test_what_a_proof_takes_for_granted_of_a_maximum_stands_in_the_headline():
    assert provisos([holds(TRUE, kind=SOME, of=Max(T, HELD))]) == ["every maximum is over at least one element"]


@pytest.mark.parametrize(("taken", "turned", "whole"), [
    (lambda p: p[:, 1:].T, lambda p: p.T.contiguous()[1:], True),                     # the same elements of it
    (lambda p: p.exp()[:, 0] * 0 + p.exp()[:, 1], lambda p: p.exp()[:, 1], False),
])
def test_of_what_is_no_number_the_same_elements_are_the_same(taken, turned, whole):
    def by_hand(x, m):
        h = torch.where(m, x, -math.inf)
        h = h - h.amax(-1, keepdim=True)
        return turned(h - h.exp().sum(-1, keepdim=True).log())

    verdict = check(lambda x, m: taken(torch.log_softmax(x.masked_fill(~m, -math.inf), -1)), by_hand,
                    (torch.randn(2, 3), MASK))
    assert verdict.verdict == "same" and (verdict.only == []) == whole, verdict.only
