"""What a row holds where topk or sort say that an element stood is that element: with torch, ties included."""

import json

import pytest
import torch
import torch.nn.functional as F

from samesame import check
from samesame.certificate.replay import replay

TIED = torch.tensor([[1, 2, 2, -1, 0], [0, 0, 0, 0, 0], [3, -3, 3, -3, 3], [0.5, 0.25, 0.5, 2, -2]])
TAKEN = {
    "topk": (lambda x: x.gather(-1, x.topk(2, -1).indices), lambda x: x.topk(2, -1).values),
    "the smallest": (lambda x: x.gather(0, x.topk(2, 0, False).indices), lambda x: x.topk(2, 0, False).values),
    "unsorted": (lambda x: x.gather(1, x.topk(2, sorted=False).indices).sum(1),
                 lambda x: x.topk(2, sorted=False).values.sum(1)),
    "a share, by its logit": (lambda x: x.softmax(-1).gather(-1, x.topk(2, -1).indices),
                              lambda x: x.softmax(-1).topk(2, -1).values),
    "a logit, by its share": (lambda x: x.gather(-1, x.softmax(-1).topk(2, -1).indices),
                              lambda x: x.topk(2, -1).values),
    "turned": (lambda x: x.gather(-1, (-x).topk(2, -1).indices), lambda x: x.topk(2, -1, False).values),
    "by two indices": (lambda x: x[torch.arange(x.shape[0])[:, None], x.topk(2, -1).indices],
                       lambda x: x.topk(2, -1).values),
    "sort": (lambda x: x.gather(-1, x.argsort(-1, descending=True)), lambda x: x.sort(-1, descending=True).values),
    "along": (lambda x: torch.take_along_dim(x, torch.argsort(x, -1), -1), lambda x: x.sort(-1).values),
}
OTHERS = {
    "the largest where the smallest are": (lambda x: x.gather(-1, (-x).topk(2, -1).indices),
                                            lambda x: x.topk(2, -1).values),
    "another row": (lambda x: x.flip(0).gather(-1, x.topk(2, -1).indices), lambda x: x.topk(2, -1).values),
    "another tensor": (lambda x: (x * x).gather(-1, x.topk(2, -1).indices), lambda x: (x * x).topk(2, -1).values),
    "another end": (lambda x: x.gather(-1, x.argsort(-1)), lambda x: x.sort(-1, descending=True).values),
    "a row beside": (lambda x: x.gather(-1, x.argmax(-1, keepdim=True).roll(1, 0)), lambda x: x.amax(-1, keepdim=True)),
}
ASKED = {
    "counted": (lambda x: F.one_hot(x.topk(2, -1).indices, 5).sum(1).double().mean(0),
                lambda x: torch.zeros_like(x).scatter(-1, x.topk(2, -1).indices, 1.0).double().mean(0)),
    "a mask": (lambda x: x.masked_fill(torch.zeros_like(x).scatter(-1, x.topk(2, -1).indices, 1.0) == 0, 0.0).sum(-1),
               lambda x: x.gather(-1, x.topk(2, -1).indices).sum(-1)),
    "what is left": (lambda x: x.scatter(-1, x.topk(2, -1).indices, 0.0).sum(-1),
                     lambda x: x.sum(-1) - x.gather(-1, x.topk(2, -1).indices).sum(-1)),
}
NOT_SO = {
    "one of two": (lambda x: F.one_hot(x.topk(2, -1).indices, 5)[:, 0].double().mean(0), ASKED["counted"][1]),
    "twice": (lambda x: 2 * ASKED["counted"][0](x), ASKED["counted"][1]),
    "what is left but one": (lambda x: x.scatter(-1, x.topk(1, -1).indices, 0.0).sum(-1), ASKED["what is left"][1]),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_stands_at_its_place(name):
    left, right = TAKEN[name]
    for rows in (TIED, torch.randn(4, 5)):
        torch.testing.assert_close(left(rows), right(rows))
    assert check(left, right, (torch.randn(4, 5),)).verdict == "same"


@pytest.mark.parametrize("name", ["topk", "unsorted", "along", "counted", "what is left"])
def test_a_certificate_of_it_holds(name):
    verdict = check(*(TAKEN | ASKED)[name], (torch.randn(4, 5),), certify=True)
    assert verdict.verdict == "same"
    replay(json.loads(json.dumps(verdict.certificate)))


@pytest.mark.parametrize("name", OTHERS)
def test_what_stands_there_otherwise(name):
    assert check(*OTHERS[name], (torch.randn(4, 5),)).verdict == "different"


@pytest.mark.parametrize("name", ASKED)
def test_each_place_of_a_row_is_another_one(name):
    left, right = ASKED[name]
    torch.testing.assert_close(left(TIED), right(TIED))
    assert check(left, right, (torch.randn(4, 5),)).verdict == "same"


@pytest.mark.parametrize("name", NOT_SO)
def test_other_counts_differ(name):
    assert check(*NOT_SO[name], (torch.randn(4, 5),)).verdict == "different"


def test_places_that_may_repeat_are_not_counted_one_by_one():
    """What is given as an index may name an expert twice."""
    def counted(x, chosen):
        return F.one_hot(chosen, 5).sum(1) * x

    def masked(x, chosen):
        return torch.zeros_like(x).scatter(-1, chosen, 1.0) * x

    assert check(counted, masked, (torch.randn(4, 5), torch.tensor([[0, 1], [2, 4], [3, 1], [2, 0]]))).verdict != "same"
