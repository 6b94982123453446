"""Counts of integers: how many there are depends on data, unless none is beyond those asked for, as is said."""

import pytest
import torch
from torch.nn import functional as F

from samesame import check
from samesame.evidence import Refused, Rung

NODES = 4
INPUTS = (torch.randn(6, 3), torch.tensor([1, 1, 0, 3, 3, 3]))


def counted(x, to):
    degree = torch.bincount(to, minlength=NODES).clamp(min=1)
    return torch.zeros(NODES, x.shape[1], dtype=x.dtype).index_add_(0, to, x) / degree[:, None]


def one_hot(x, to, least=1):
    hits = F.one_hot(to, NODES).to(x.dtype)
    return hits.T @ x / hits.sum(0).clamp(min=least)[:, None]


def test_a_count_is_a_sum_over_what_is_counted():
    verdict = check(counted, one_hot, INPUTS)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE
    assert "if no element of to is above 3" in verdict.only


def test_another_count_is_told_apart():
    assert check(counted, lambda x, to: one_hot(x, to, least=2), INPUTS).verdict == "different"


@pytest.mark.parametrize("minlength", [0, 3])
def test_counts_that_reach_beyond_are_refused(minlength):
    with pytest.raises(Refused, match="bincount"):
        check(lambda to: torch.bincount(to, minlength=minlength), lambda to: torch.bincount(to), INPUTS[1:])


CLASSES = 3
LABELS = torch.tensor([[0, 2, 1, 255], [2, 2, 255, 1]])
MAPS = torch.randn(2, CLASSES, 4), LABELS


def confusion(below):
    """Counts of pairs of classes, of the places whose label is one below this."""
    def program(scores, labels):
        known = (labels >= 0) & (labels < below)
        pairs = CLASSES * labels[known] + scores.argmax(1)[known]
        return torch.bincount(pairs, minlength=CLASSES**2).reshape(CLASSES, CLASSES)

    return program


def by_one_hot(scores, labels):
    truth = (labels[..., None] == torch.arange(CLASSES)).long()
    return torch.einsum("bti,btj->ij", truth, F.one_hot(scores.argmax(1), CLASSES))


def test_counts_of_chosen_rows_are_sums_over_these():
    verdict = check(confusion(CLASSES), by_one_hot, MAPS)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE


def test_counts_of_fewer_rows_are_told_apart():
    assert check(confusion(CLASSES - 1), by_one_hot, MAPS).verdict == "different"
