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


def with_loops(x, edges):
    loops = torch.arange(len(x))
    sources, targets = torch.cat([edges, torch.stack([loops, loops])], 1)
    return torch.zeros_like(x).index_add(0, targets, x[sources])


def by_adjacency(x, edges):
    nodes = torch.arange(len(x))
    into, out_of = edges[1] == nodes[:, None], edges[0][:, None] == nodes
    return (into.float() @ out_of.float() + torch.eye(len(x))) @ x


def with_loops_at_targets(x, edges):
    loops = torch.arange(len(x))
    rows = torch.cat([edges, torch.stack([loops, loops])], 1)
    return torch.zeros(len(x)).scatter_add(0, rows[1], torch.ones(rows.shape[1])) + rows[0].sum()


def sums_of_sources_in_range(x, edges):
    counts = (edges[1] == torch.arange(len(x))[:, None]).sum(1) + 1.0
    inside = (edges[0] >= 0) & (edges[0] < len(x))
    return counts + torch.where(inside, edges[0], 0).sum() + len(x) * (len(x) - 1) // 2


def test_rows_of_what_is_put_beside_others_are_rows_of_each():
    verdict = check(with_loops, by_adjacency, (X, EDGES))
    assert verdict.verdict == "same", headline(verdict)


def test_of_a_row_beside_others_that_is_no_index_nothing_is_taken_for_granted():
    assert check(with_loops_at_targets, sums_of_sources_in_range, (X, EDGES)).verdict != "same"


def test_rows_that_are_put_one_below_the_other_are_rows_of_one_of_them():
    """Of three rows the first two are looked up: the second tensor has a row that may be any number."""
    def below(x, edges):
        a, b, c = torch.cat([edges[:1], edges])
        return x[a].sum() + x[b].sum() + c.sum()

    def kept(x, edges):
        inside = (edges[1] >= 0) & (edges[1] < len(x))
        return 2 * x[edges[0]].sum() + torch.where(inside, edges[1], 0).sum()

    assert check(below, kept, (X, EDGES)).verdict != "same"
