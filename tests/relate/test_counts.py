"""Counts of integers: how many there are depends on data, unless none is beyond those asked for: as is seen or said."""

import json

import pytest
import torch
from torch.nn import functional as F

from samesame import check
from samesame.capture import capture
from samesame.certificate.replay import replay
from samesame.evidence import Refused, Rung
from samesame.formula.expr import Size
from samesame.graph import Graph, Node, TensorType
from samesame.relate.counted import counted_enough

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
    verdict = check(confusion(CLASSES), by_one_hot, MAPS, certify=True)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE
    assert not verdict.only, "labels below 3 and classes are no pair above 8"
    assert replay(json.loads(json.dumps(verdict.certificate)))


def test_counts_of_fewer_rows_are_told_apart():
    assert check(confusion(CLASSES - 1), by_one_hot, MAPS).verdict == "different"


def count(of, most=CLASSES):
    return lambda *given: torch.bincount(of(*given).flatten(), minlength=most)


def pairs(scores, labels):
    known = (labels >= 0) & (labels < CLASSES)
    return CLASSES * labels[known] + scores.argmax(1)[known]


SEEN = {
    "pairs of classes": count(pairs, CLASSES**2),
    "chosen ones, moved": count(lambda scores, t: t[(t > 1) & (t <= 4)] - 2),
    "one of them": count(lambda scores, t: 2 - t[t == 1], 2),
    "turned round": count(lambda scores, t: 2 - t[(t >= 0) & (t <= 2)]),
    "below by a clamp": count(lambda scores, t: t.clamp(0, CLASSES - 1)),
    "by a clamp that is none": count(lambda scores, t: t.clamp(5, 2)),
    "a remainder": count(lambda scores, t: t % CLASSES),
    "the best two": count(lambda scores, t: scores.topk(2, 1).indices),
    "one of two": count(lambda scores, t: torch.where(t > 7, scores.argmax(1), 1)),
    "joined": count(lambda scores, t: torch.cat([scores.argmin(1), (t > 2).long()])),
}
NOT_SEEN = {
    "labels": count(lambda scores, t: t * 0 + t % 2 * t % 3, CLASSES),
    "not the ignored one": count(lambda scores, t: t[t != 255]),
    "one more than fits": count(lambda scores, t: pairs(scores, t) + 1, CLASSES**2),
    "labels elsewhere": count(lambda scores, t: torch.where((t >= 0) & (t < 3), t.t(), 0)),
    "other labels": count(lambda scores, t: t.flip(0)[(t >= 0) & (t < 3)]),
    "where it does not hold": count(lambda scores, t: torch.where(t < 3, 0, t)),
    "either": count(lambda scores, t: t[(t < 3) | (t < 9)]),
    "a negative factor": count(lambda scores, t: -1 * t[t < 3] + 2),
    "in bytes": count(lambda scores, t: (t[(t >= 0) & (t < 3)].to(torch.int8) * 100).long()),
}
SQUARE = torch.randn(4, CLASSES, 4)
MET = {"in bytes": torch.zeros(4, 4, dtype=torch.long), "where it does not hold": torch.tensor(4 * [[0, 1, 2, 2]])}


@pytest.mark.parametrize("name", SEEN)
def test_what_a_program_makes_of_integers_tells_how_many_there_are(name):
    program = SEEN[name]
    labels = torch.tensor([[0, 1, 2, 255]] * 4)
    assert counted_enough([capture(program, (SQUARE, labels))]) == []
    for seed in range(20):
        dice = torch.Generator().manual_seed(seed)
        scores, labels = torch.randn(4, CLASSES, 4, generator=dice), torch.randint(-3, 9, (4, 4), generator=dice)
        assert len(program(scores, labels)) == len(program(SQUARE, labels * 0 + 1))


@pytest.mark.parametrize("name", NOT_SEEN)
def test_what_it_does_not_tell_is_said(name):
    labels = MET.get(name, torch.tensor([[0, 1, 1, 0]] * 4) * (torch.eye(4) + 1 > 0))
    (told,) = counted_enough([capture(NOT_SEEN[name], (SQUARE, labels))])
    assert "is above" in told


def test_what_is_seen_at_the_sizes_of_the_example_is_said_of_others():
    """A place among 3 is below 4, and one among any number is not."""
    def placed(size):
        scores = Node("scores", "input", type=TensorType((2, size), "float32"))
        place = Node("place", "aten.argmax.default", (scores, 1), {}, TensorType((2,), "int64"))
        return Graph("placed", (scores, place, Node("n", "aten.bincount.default", (place, None, 4), {},
                                                    TensorType((4,), "int64"))), ())

    any_size = Size("T", 2)
    assert counted_enough([placed(3)]) == [] and counted_enough([placed(4)]) == []
    assert len(counted_enough([placed(5)])) == len(counted_enough([placed(any_size)], but=[placed(3)])) == 1
    assert counted_enough([placed(any_size)], but=[placed(5)]) == [], "it was said of the example"


def test_numbers_that_a_dtype_does_not_hold_say_nothing_of_its_elements():
    """Torch makes 255 of the −1 that a tensor of uint8 is compared with, which is above all of its elements."""
    t = torch.tensor([[0, 1, 2, 3], [3, 1, 0, 2]], dtype=torch.uint8)

    def counted(t):
        return torch.bincount(t[t < -1].long(), minlength=4)

    def compared(t):
        return ((t.long().flatten()[:, None] == torch.arange(4)) & (t < -1).flatten()[:, None]).sum(0)

    verdict = check(counted, compared, (t,))
    assert verdict.verdict != "same" or any("is above 3" in one for one in verdict.only), verdict.only


def test_as_many_as_a_size_says_is_said_of_the_size():
    t, s = torch.tensor([0, 1, 2, 3, 3, 0]), torch.randn(5, 4)
    verdict = check(lambda t, s: torch.bincount(t, minlength=s.shape[1]),
                    lambda t, s: (t[:, None] == torch.arange(s.shape[1])).sum(0), (t, s))
    assert verdict.verdict == "same"
    here = [one for one in verdict.only if "is above" in one]
    assert any("D" in one for one in here), here
