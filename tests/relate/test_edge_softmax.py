"""Segments: what many rows bring to one place, and each looks up there, as a softmax over a node's incoming edges does.

A place that nothing arrives at holds −∞, on both sides. None of those that look there finds it, since each has brought
something; and what else is made of −∞ is proved with it.
"""

import math

import pytest
import torch

from samesame import check
from samesame.capture import capture
from samesame.formula.spans import INFINITE
from samesame.operators.execute import execute
from samesame.operators.provisos import provisos
from samesame.relate.infinities import spans_of
from samesame.report import headline

PLACES = 7
SCORES, EDGES = torch.randn(9, 4), torch.tensor([[0, 1, 2, 3, 4, 5, 6, 1, 2], [3, 3, 0, 1, 1, 6, 2, 0, 3]])
HIDDEN = torch.rand(9, 4) < 0.5
HIDDEN[:, 1] = False


def wide(index, rows):
    return index.unsqueeze(-1).expand_as(rows)


def greatest(rows, index):
    return rows.new_full((PLACES, 4), -math.inf).scatter_reduce(0, wide(index, rows), rows, "amax")


def greatest_turned(rows, index):
    found = rows.new_full((4, PLACES), -math.inf)
    return found.scatter_reduce(1, index.expand(4, -1), rows.T.contiguous(), "amax").T


def softmax(scores, edges):
    to = edges[1]
    e = torch.exp(scores - greatest(scores, to)[to])
    return e / (scores.new_zeros(PLACES, 4).index_add(0, to, e)[to] + 1e-16)


def softmax_turned(scores, edges):
    to = torch.where(edges[1] < 0, edges[1] + PLACES, edges[1])
    e = torch.exp(scores - greatest_turned(scores, edges[1]).index_select(0, to))
    return e * (1 / (1e-16 + torch.zeros(PLACES, 4).index_add(0, edges[1], e).index_select(0, to)))


LOOKED_UP = {
    "by index": lambda s, e: s - greatest(s, e[1])[e[1]],
    "by index_select": lambda s, e: s - greatest(s, e[1]).index_select(0, e[1]),
    "by gather": lambda s, e: s - greatest(s, e[1]).gather(0, wide(e[1], s)),
    "unbound": lambda s, e: (lambda _, to: s - greatest(s, to)[to])(*e),
}
ELSEWHERE = {
    "other edges": lambda s, e: s - greatest(s, e[1])[e[0]],
    "places themselves": lambda s, e: s[:PLACES] - greatest(s, e[1]),
    "all edges where some arrive": lambda s, e: s - greatest(s[:5], e[1, :5])[e[1]],
    "hidden ones": lambda s, e: s - greatest(s.masked_fill(HIDDEN, -math.inf), e[1])[e[1]],
}


@pytest.mark.parametrize("name", [*LOOKED_UP, *ELSEWHERE])
def test_who_brought_something_finds_something(name):
    graph = capture({**LOOKED_UP, **ELSEWHERE}[name], (SCORES, EDGES))
    run = execute(graph, dict(zip((node.name for node in graph.sources("input")), (SCORES, EDGES), strict=True)))
    assert bool(spans_of(graph, run)[graph.roots[0][1]] & INFINITE) == (name in ELSEWHERE)


def test_a_softmax_over_segments_needs_no_condition():
    verdict = check(softmax, softmax_turned, (SCORES, EDGES))
    assert verdict.verdict == "same" and not verdict.only, headline(verdict)
    assert "for every" in headline(verdict).plain and "tested" not in headline(verdict).plain


def row(x, hidden):
    return x.masked_fill(hidden, -math.inf).amax(-1, keepdim=True)


def row_turned(x, hidden):
    return torch.where(hidden, -math.inf, x).T.contiguous().amax(0, keepdim=True).T


def test_what_is_made_of_an_infinity_is_proved_with_it():
    verdict = check(lambda x, h: (row(x, h) - 1).exp() * 2, lambda x, h: 2 * (row_turned(x, h) - 1).exp(),
                    (SCORES, HIDDEN))
    assert verdict.verdict == "same" and not verdict.only, headline(verdict)


# What parts, or has no value, where a row is hidden whole: the headline says that none is.
PARTING = {
    "0 · ∞": (lambda x, h: row(x, h) * 0 + x, lambda x, h: row_turned(x, h) * 0 * 2 + x),
    "∞ − ∞": (lambda x, h: (row(x, h) - row(x, h)).exp() + 0 * x, lambda x, h: torch.ones(9, 4) + 0 * x),
    "∞ − ∞ by the same operators": (
        lambda x, h: (x.masked_fill(h, -math.inf) - row(x, h)).exp() * (~h).float(),
        lambda x, h: torch.where(h, 0.0, (x.masked_fill(h, -math.inf) - row_turned(x, h)).exp())),
    "∞ − ∞ that is left out": (
        lambda x, h: torch.where(h.all(-1, keepdim=True), 0.0, row(x, h) - row(x, h)[:1]),
        lambda x, h: (~h.all(-1, keepdim=True)).float() * (row_turned(x, h) - row_turned(x, h)[:1])),
    "as far as a float goes": (
        lambda x, h: (row(x, h) / 1e38).exp() + x,
        lambda x, h: (x.masked_fill(h, -3e38).T.contiguous().amax(0, keepdim=True).T / 1e38).exp() + x),
}


@pytest.mark.parametrize("name", PARTING)
def test_a_row_that_is_hidden_whole_is_spoken_of_where_programs_part_there(name):
    verdict = check(*PARTING[name], (SCORES, HIDDEN))
    assert verdict.verdict != "same" or verdict.only, headline(verdict)


def test_a_proof_for_all_sizes_has_no_more_conditions_than_that_of_the_example():
    verdict = check(softmax, softmax_turned, (SCORES, EDGES))
    conditions = [one for root in verdict.roots for one in root.evidence.conditions]
    assert provisos(conditions) == []
