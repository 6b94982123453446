"""What stands in a claim beside the mean of itself: the mean is looked into first, and the rest stays a variable."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from samesame import check
from samesame.evidence import Rung

ROW = torch.randn(1, 1, 6, generator=torch.Generator().manual_seed(0))


def about_the_mean(x):
    padded = F.pad(x, (1, 1), mode="reflect")
    mean = F.avg_pool1d(padded, 3, 1)
    return F.avg_pool1d(padded**2, 3, 1) - mean**2


def of_patches(x, weight=1.0):
    patches = F.pad(x, (1, 1), mode="reflect").unfold(2, 3, 1)
    return (patches - weight * patches.mean(-1, keepdim=True)).square().mean(-1)


def test_a_variance_of_padded_windows_is_that_of_patches():
    verdict = check(about_the_mean, of_patches, (ROW,))
    assert verdict.verdict == "same" and verdict.evidence >= Rung.PROVED_HERE


def test_less_of_the_mean_is_another_number():
    assert check(about_the_mean, lambda x: of_patches(x, 0.999), (ROW,)).verdict == "different"
