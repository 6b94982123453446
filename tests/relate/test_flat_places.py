"""Classes of anchors in one flat row: 5·(i mod 2) + j is (5·i + j) mod 10. And of labels up to 5, not to be 5, which
stands for none of the classes, is to be below it."""

import pytest
import torch
import torch.nn.functional as F

from samesame import check
from samesame.evidence import Rung

ANCHORS, CLASSES = 2, 5
MAPS = torch.randn(2, ANCHORS * CLASSES, 3, generator=torch.Generator().manual_seed(0))
LABELS = torch.tensor([[0, 5, 2, 4, 5, 3], [1, 5, 5, 2, 0, 4]])


def by_axes(maps, labels):
    rows = maps.view(2, ANCHORS, CLASSES, 3).permute(0, 3, 1, 2).reshape(2, -1, CLASSES)
    hot = F.one_hot(labels, CLASSES + 1)[..., :CLASSES].to(maps.dtype)
    total = (F.softplus(rows) * hot + (1 - hot) * rows).sum((1, 2))
    return total / (labels != CLASSES).sum(1).clamp(min=1)


def in_a_row(first=0, below=CLASSES):
    def program(maps, labels):
        rows = maps.permute(0, 2, 1).reshape(2, -1, CLASSES)
        chosen = labels[..., None] == torch.arange(first, first + CLASSES)
        total = torch.where(chosen, F.softplus(rows), rows).sum((1, 2))
        return total / (labels < below).sum(1).clamp(min=1)

    return program


def test_classes_of_anchors_are_the_same_in_a_row_as_by_axes():
    verdict = check(by_axes, in_a_row(), (MAPS, LABELS))
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE


@pytest.mark.parametrize("other", [in_a_row(first=1), in_a_row(below=CLASSES - 1), in_a_row(below=CLASSES + 1)])
def test_another_class_or_count_is_told_apart(other):
    assert check(by_axes, other, (MAPS, LABELS)).verdict == "different"
