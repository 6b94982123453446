"""Places of tokens in packed documents: by a running maximum, and by counting pairs; every row of tokens is tried."""

import json

import pytest
import torch

from samesame import check
from samesame.certificate.replay import replay
from samesame.evidence import Rung

END = 0
IDS = torch.tensor([[3, 0, 2, 5, 0], [0, 1, 4, 2, 2], [1, 2, 0, 0, 6]])


def by_scans(ids):
    first = torch.ones(ids.shape[0], 1, dtype=torch.bool)
    starts = torch.cat((first, (ids == END)[:, :-1]), dim=1)
    place = torch.arange(ids.shape[1]).expand(ids.shape)
    return place - torch.where(starts, place, 0).cummax(dim=1).values


def by_pairs(end, itself=True):
    def program(ids):
        ends = (ids == end).long()
        document, place = ends.cumsum(1) - ends * itself, torch.arange(ids.shape[1])
        return ((document[:, :, None] == document[:, None]) & (place[:, None] >= place)).sum(-1) - 1

    return program


def test_places_in_documents_are_proved_for_all_rows_of_tokens_and_replayed():
    verdict = check(by_scans, by_pairs(END), (IDS,), certify=True)
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE
    assert any("ways in which conditions" in relation.evidence.detail for relation in verdict.relations)
    assert replay(json.loads(json.dumps(verdict.certificate)))


@pytest.mark.parametrize("other", [by_pairs(END + 1), by_pairs(END, itself=False)])
def test_other_documents_are_told_apart(other):
    assert check(by_scans, other, (IDS,)).verdict == "different"
