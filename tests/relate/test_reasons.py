"""Why congruence relates a tensor is told down to relations before it, and normal forms can be read."""

from __future__ import annotations

import pytest
import torch

from samesame import check
from samesame.egraph import EGraph, Evidence
from samesame.egraph.explain import explain
from samesame.formula.effort import Budget
from samesame.formula.expr import const
from samesame.formula.legible import normal_forms
from samesame.formula.tensor import leaf, tensor
from samesame.report.html.proof import steps_of


def twice_and_once(x):
    return torch.exp(x * 2 + x).cumsum(-1) + x


def thrice(x):
    return torch.exp(x * 3).cumsum(-1) + x


def test_steps_rest_on_relations_before_them():
    verdict = check(twice_and_once, thrice, (torch.randn(3, 4),), picture=True)
    order = [relation.right for relation in verdict.relations]
    by_congruence = {relation.right for relation in verdict.relations if relation.evidence.method == "congruence"}
    assert set(verdict.picture.because) == by_congruence == {"exp", "cumsum", "add"}
    for right, steps in verdict.picture.because.items():
        assert all(order.index(name) < order.index(right) for step in steps for name in step.rests)
    (step,) = verdict.picture.because["exp"]
    assert (step.left, step.right, step.rests) == ("left exp = exp(left add)", "right exp = exp(right mul)", ("mul",))
    (claim,) = verdict.picture.claims.values()
    assert claim.normal == ("3·x0[i,j]",)


def cast(x, w):
    return torch.exp(x.double() @ w.double()).sum(-1)


def plain(x, w):
    return torch.exp(x @ w).sum(-1)


def test_one_term_of_both_and_casts_have_a_reason():
    verdict = check(plain, cast, (torch.randn(3, 4), torch.randn(4, 5)), picture=True, ignore=("dtype",))
    because = {right: steps[0] for right, steps in verdict.picture.because.items()}
    assert verdict.verdict == "same"
    assert {step.reason for step in because.values()} == {"one term", "identity"}
    (copied,) = (step for step in because.values() if step.reason == "identity" and step.rests == ("x",))
    assert copied.right == "x"
    assert because["exp"].left == "exp = exp(matmul)" and because["exp"].rests == ("matmul",)
    told = [steps_of(relation, verdict.picture, {}) for relation in verdict.relations]
    assert sum("both programs apply this to the same" in step.words for steps in told for step in steps) >= 2


def test_what_is_taken_is_not_explained():
    g = EGraph()
    a, b = g.add("a"), g.add("b")
    pairs = [(a, b)]
    for _ in range(3):
        pairs.append(tuple(g.add("f", (), (end,)) for end in pairs[-1]))
    g.union(a, b, Evidence("given"))
    g.rebuild()
    assert len(g.explain(*pairs[-1]).steps) == 4
    (step,) = explain(g, *pairs[-1], lambda one, other: {one, other} == set(pairs[-2])).steps
    assert (step.left, step.right, step.since) == (*pairs[-1], ())


def summed(factor):
    x, w = leaf("x", (2, 3)), leaf("w", (4, 3))
    return tensor((2, 4), lambda i, j: const(factor) * sum(x[i, k] * w[j, k] for k in range(3)))


@pytest.mark.parametrize("factor, forms", [(1, 1), (2, 2)])
def test_normal_forms_are_one_where_they_are_the_same(factor, forms):
    found = normal_forms(summed(1), summed(factor), Budget())
    assert len(found) == forms and found[0].count("·") == 3 and "w[j,0]·x[i,0]" in found[0]


def test_what_takes_too_long_has_none():
    assert normal_forms(summed(1), summed(1), Budget(seconds=0.0, terms=0)) == ()
