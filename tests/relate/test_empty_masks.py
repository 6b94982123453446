"""A mean over what a mask leaves is proved as long as it leaves something; that it does is in the headline."""

import pytest
import torch

from samesame import check
from samesame.formula.assumptions import NO_EMPTY_COUNT
from samesame.relate import rules
from samesame.store import Store

KEPT = torch.tensor([[1, 1, 0, 1, 0], [1, 0, 1, 1, 1], [0, 1, 1, 0, 1]]).bool()


def weights(mask):
    """Each 1/n of what is left of its row, and 0 for rows of which nothing is."""
    return torch.where(mask, 1 / mask.sum(1, keepdim=True), 0.0)


def offset(x, b, mask):
    return (weights(mask) * (x - b)).sum(1).sum()


def taken_off(x, b, mask):
    return ((weights(mask) * x).sum(1) - b[:, 0]).sum()


def test_a_row_of_which_nothing_is_left_is_spoken_of():
    inputs = torch.randn(3, 5), torch.randn(3, 1), KEPT
    empty = KEPT & torch.tensor([[True], [False], [True]])
    assert not torch.equal(offset(*inputs[:2], empty), taken_off(*inputs[:2], empty))
    verdict = check(offset, taken_off, inputs)
    assert verdict.verdict == "different" or f"if {NO_EMPTY_COUNT}" in verdict.only


def test_a_loss_over_pairs_that_a_mask_leaves():
    """Its target is uniform over a row's pairs, or it is their mean."""
    def left(s, mask):
        pairs = mask * (1 - torch.eye(5))
        told = s - torch.log((s.exp() * (1 - torch.eye(5))).sum(1, keepdim=True))
        return -((pairs * told).sum(1) / pairs.sum(1)).mean()

    def right(s, mask):
        same = torch.eye(5, dtype=torch.bool)
        pairs = mask & ~same
        target = pairs / pairs.sum(1, keepdim=True)
        hidden = s.masked_fill(same, -float("inf"))
        return (torch.logsumexp(hidden, 1) - (target * s.masked_fill(same, 0.0)).sum(1)).sum() / 5

    verdict = check(left, right, (torch.randn(5, 5), torch.ones(5, 5, dtype=torch.bool)))
    assert verdict.verdict == "same" and verdict.only == [f"if {NO_EMPTY_COUNT}"]


def test_it_is_no_rule_for_other_runs():
    """The second prover, which every rule is shown to before it is kept, draws masks that leave nothing."""
    inputs = torch.randn(3, 5), torch.randn(3, 1), KEPT
    prover, semantics = rules.versions()
    store = Store.in_memory(prover=prover, semantics=semantics, notice=pytest.fail)
    assert check(offset, taken_off, inputs, store=store).verdict != "different"


def test_what_the_left_program_alone_makes_of_a_row_that_is_hidden_whole():
    """Both are NaN there; the one makes something of that, in which the other has no part."""
    def hidden(s, t):
        return s.masked_fill(t == 0, -torch.inf)

    def by_hand(s, t):
        e = (hidden(s, t) - hidden(s, t).amax(-1, keepdim=True)).exp()
        return e / e.sum(-1, keepdim=True)

    inputs = torch.randn(3, 4), torch.tensor([[1, 2, 0, 3], [4, 0, 2, 1], [3, 1, 2, 2]])
    alone = check(lambda s, t: hidden(s, t).softmax(-1), by_hand, inputs)
    assert alone.verdict == "same" and alone.only == []
    more = check(lambda s, t: (hidden(s, t).softmax(-1), hidden(s, t).softmax(-1) * 0 + s),
                 lambda s, t: (by_hand(s, t), s.clone()), inputs)
    assert more.verdict == "same" and more.only != []


def test_a_count_in_one_output_leaves_the_rows_of_another_to_be_spoken_of():
    """The first output is none where a mask leaves nothing, on either side; the second is none on the left alone."""

    def left(x: torch.Tensor, m: torch.Tensor, z: torch.Tensor, b: torch.Tensor):
        n, s = m.sum(-1), torch.where(m, x, 0).sum(-1)
        return s * n / n, torch.where(b, z, 0).sum(-1) / b.sum(-1)

    def right(x: torch.Tensor, m: torch.Tensor, z: torch.Tensor, b: torch.Tensor):
        s, v = (torch.where(m, e, 0).sum(-1) for e in (x, x * x))
        return s * v / v, torch.where(b, z, 0).sum(-1) / b.sum(-1).clamp(min=1)

    masks = [torch.tensor([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1], [0, 0, 1, 0, 1]]) > 0 for _ in range(2)]
    found = check(left, right, (torch.randn(3, 5), masks[0], torch.randn(3, 5), masks[1]), timeout=20)
    assert found.verdict == "same"
    assert any("no row of b is False throughout" in words for words in found.only), found.only


def test_a_rule_about_maxima_that_are_over_something_is_no_disagreement():
    """The second prover draws rows that a mask hides whole, of which the rule says nothing."""
    def left(x, m):
        z = x.masked_fill(m, float("-inf")).amax(-1).exp()
        return torch.where(z > 0, x[:, 0] * 1, z)

    prover, semantics = rules.versions()
    store = Store.in_memory(prover=prover, semantics=semantics, notice=pytest.fail)
    found = check(left, lambda x, m: x[:, 0] * 1, (torch.randn(3, 5), torch.eye(3, 5) > 0), store=store, timeout=20)
    assert found.verdict == "same" and "if every maximum is over at least one element" in found.only
