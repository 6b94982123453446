"""What a proof takes for granted is said in the user's names, and the example keeps it: else it does not count."""

import re

import pytest
import torch

from samesame.check import check
from samesame.evidence import Rung
from samesame.formula.assumptions import holds
from samesame.formula.expr import Sum, compare, index, le, lt, not_
from samesame.formula.tensor import leaf
from samesame.graph import Graph
from samesame.relate.assumed import Told

INTERNAL = re.compile(r"%|\[\]|…[0-9a-f]{8}|Σ\d|\bx\d+\[|\bi\d+\b")
X, W = torch.rand(3, 4) + 0.1, torch.rand(4, 5)
NEGATIVE = torch.tensor([1.0, -2.0, 3.0])
MASK = torch.tensor([True, False, True])


def said(verdict):
    evidence = [one.evidence for one in (*verdict.relations, *verdict.roots)]
    return {str(condition) for one in evidence for condition in one.conditions}


def scaled(x, y):
    return torch.exp(torch.log(x * y + y)).cumsum(0)


def plain(x, y):
    return (x * y + y).cumsum(0)


def product(x, w):
    return torch.sqrt(x @ w) ** 2


def mixed(x, w):
    hidden = torch.softmax(torch.relu(x @ w) @ w.T + x.sin(), -1)
    return torch.tanh(hidden) * hidden.sum(0) + x


SAID = {
    "inputs": (product, lambda x, w: x @ w, (X, W), {"Σ_{k<T} x[i, k]·w[k, j] ≥ 0"}),
    "what is short of inputs": (scaled, plain, (X, X + 1), {"x[i, j]·y[i, j] + y[i, j] > 0"}),
    "a part": (lambda x: (torch.sqrt(x) ** 2)[2:], lambda x: x[2:] * 1, (NEGATIVE,), {"x[2] ≥ 0"}),
}


@pytest.mark.parametrize("name", SAID)
def test_it_is_said_in_the_names_of_inputs(name):
    left, right, inputs, expected = SAID[name]
    verdict = check(left, right, inputs)
    assert verdict.verdict == "same" and said(verdict) == expected


def test_what_is_long_is_the_value_of_its_line():
    verdict = check(lambda x, w: torch.sqrt(mixed(x, w)) ** 2, mixed, (X, W))
    (one,) = said(verdict)
    assert re.fullmatch(r"x\[i, j\] \+ \(the value of mul at \S+test_assumed.py:\d+\)\[i, j\] ≥ 0", one)
    assert not INTERNAL.search(one)


MASKED = {
    "chosen": (lambda x, m: torch.where(m, torch.sqrt(x) ** 2, 0 * x), lambda x, m: torch.where(m, x, 0 * x)),
    "filled": (lambda x, m: (torch.sqrt(x) ** 2).masked_fill(~m, 0), lambda x, m: x.masked_fill(~m, 0)),
}


@pytest.mark.parametrize("name", MASKED)
def test_what_is_meant_under_a_mask_is_said_and_looked_at_under_it(name):
    """The example has a negative number, which the mask leaves out."""
    verdict = check(*MASKED[name], (NEGATIVE, MASK))
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE
    assert said(verdict) == {"x[i] ≥ 0 where m[i]"}


@pytest.mark.parametrize("sum_up", [lambda x: x, torch.sum])
def test_a_proof_that_takes_for_granted_what_the_example_breaks_does_not_count(sum_up):
    """exp log 0 is 0 to torch, and to a proof no number."""
    x = torch.tensor([1.0, 0.0, 2.0])
    verdict = check(lambda x: sum_up(torch.exp(torch.log(x))), lambda x: sum_up(x * 1), (x,))
    assert (verdict.verdict, verdict.evidence) == ("same", Rung.TESTED)
    why = "takes for granted that x[i] > 0, and the example breaks that at 1 of 3 places"
    assert why in verdict.roots[0].evidence.detail
    kept = check(lambda x: sum_up(torch.exp(torch.log(x))), lambda x: sum_up(x * 1), (x + 1,))
    assert (kept.verdict, kept.evidence) == ("same", Rung.PROVED)


N = 4
A, B = leaf("a", (N,)), leaf("b", (N,), "bool")
i = index(N)
VALUES = {"a": torch.tensor([0.5, -1e-13, 1.0, 0.0]), "b": torch.tensor([True, True, True, False])}
LOOKED_AT = {
    "kept, up to rounding": (holds(le(0, A[i])), False),
    "broken": (holds(le(A[i], 0.75)), True),
    "at no place but one that is left out": (holds(not_(compare("=", A[i], 0)), B[i]), False),
    "at that place": (holds(not_(compare("=", A[i], 0))), True),
    "strictly": (holds(lt(0, A[i] + 1)), False),
    "at an end": (holds(lt(0, A[i])), True),
    "of a sum": (holds(lt(0, Sum(N, lambda k: A[k] * A[i]))), True),
    "where it has no value": (holds(lt(0, 1 / A[i]), not_(B[i])), False),
    "of what is not known": (holds(lt(0, leaf("c", (N,))[i])), False),
}


@pytest.mark.parametrize("name", LOOKED_AT)
def test_only_what_is_broken_for_sure_is_broken(name):
    one, broken = LOOKED_AT[name]
    told = Told(Graph("empty", (), (), {}), [VALUES], {})
    assert bool(told.breach([one])) == broken and bool(told.left_out()) == broken
