"""Rows of one tensor of indices: where each of them is looked up with somewhere, all of it lies in the range."""

import torch

from samesame import check
from samesame.report import headline

X, EDGES = torch.randn(6, 3), torch.tensor([[0, 5, 2, 2, 4], [1, 1, 3, 0, 5]])


def looked_up(x, edges):
    sources, targets = edges.unbind(0)
    return x[torch.cat([sources, torch.arange(6)])].sum(0) + x[targets].sum(0)


def selected(x, edges):
    return x.index_select(0, edges[0]).sum(0) + x.sum(0) + x.index_select(0, edges[1]).sum(0)


def clamped(x, edges):
    return x[edges[0]].sum(0) + edges[1].clamp(min=0).sum()


def plain(x, edges):
    return x.index_select(0, edges[0]).sum(0) + edges[1].sum()


def test_every_row_is_an_index():
    verdict = check(looked_up, selected, (X, EDGES))
    assert verdict.verdict == "same", headline(verdict)
    rests_on = [*(root.evidence for root in verdict.roots), *(relation.evidence for relation in verdict.relations)]
    assert any(str(condition).endswith(" ≤ 5") for evidence in rests_on for condition in evidence.conditions)


def test_a_row_that_is_no_index_may_be_any_number():
    assert check(clamped, plain, (X, EDGES)).verdict != "same"
