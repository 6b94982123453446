"""One program keeps a diffusion schedule as it is, the other computes one scale and one shift of each step from it."""

from __future__ import annotations

import pytest
import torch

from promises.rounding_pairs import Program
from samesame import check
from samesame.certificate.replay import replay

KEPT = torch.cumprod(1.0 - torch.linspace(1e-4, 0.3, 8), 0)
DICE = torch.Generator().manual_seed(0)
GIVEN = tuple(torch.randn(3, 4, generator=DICE) for _ in range(2))


def denoised(module, x, noise):
    """A step of DDIM: to the image that the noise was added to, and back to less of it."""
    now, then = module.kept[5], module.kept[2]
    image = (x - (1 - now).sqrt() * noise) / now.sqrt()
    return then.sqrt() * image + (1 - then).sqrt() * noise


def affine(now, then):
    """The same as a scale and a shift, of these steps."""

    def step(module, x, noise):
        a, b = module.kept[now], module.kept[then]
        shift = torch.sqrt(1 - b) - torch.sqrt(b * (1 - a) / a)
        return torch.sqrt(b / a) * x + shift * noise

    return step


def test_a_step_of_a_diffusion_is_a_scale_and_a_shift():
    verdict = check(Program(denoised, kept=KEPT), Program(affine(5, 2), kept=KEPT.clone()), GIVEN, certify=True)
    assert verdict.verdict == "same"
    checked, _ = replay(verdict.certificate, None)
    assert checked


@pytest.mark.parametrize("now, then", [(2, 5), (5, 1), (6, 2)])
def test_another_step_is_another_scale(now, then):
    other = Program(affine(now, then), kept=KEPT.clone())
    assert check(Program(denoised, kept=KEPT), other, GIVEN).verdict == "different"
