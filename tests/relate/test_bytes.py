"""Bytes of an image become normal numbers in three steps, or by one multiplication and one addition per channel."""

from __future__ import annotations

import torch

from samesame import check
from samesame.evidence import Rung

MEANS, SCALES = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
IMAGES = torch.randint(0, 256, (2, 5, 4, 3), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def step_by_step(images):
    x = images.permute(0, 3, 1, 2).to(torch.float32) / 255
    return (x - torch.tensor(MEANS).view(3, 1, 1)) / torch.tensor(SCALES).view(3, 1, 1)


def at_once(shift):
    def planes(images):
        x = images.to(torch.float32)
        pairs = enumerate(zip(MEANS, SCALES, strict=True))
        return torch.stack([x[..., k] * (1 / (255 * s)) - shift(m, s) for k, (m, s) in pairs], dim=1)

    return planes


def test_one_multiplication_for_each_channel_is_the_same():
    verdict = check(step_by_step, at_once(lambda m, s: m / s), (IMAGES,))
    assert verdict.verdict == "same" and verdict.evidence is Rung.ROUNDED


def test_a_mean_that_is_not_scaled_is_a_difference():
    assert check(step_by_step, at_once(lambda m, s: m), (IMAGES,)).verdict == "different"
