"""A fused weight is read channel by channel from what the other program makes in several places, or along another
dimension; a weight with a window or a gain on its rows is read as that product. Mistakes in them are differences."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from promises.rounding_pairs import Program
from samesame import check
from samesame.evidence import Rung

DICE = torch.Generator().manual_seed(0)


def randn(*shape):
    return torch.randn(*shape, generator=DICE)


def low_rank_in_fused(merge):
    """The first and last third of a fused matrix have an update beside them, the middle has none."""
    held = {"w": randn(12, 5), "a": randn(2, 5), "b": randn(4, 2), "c": randn(2, 5), "d": randn(4, 2)}

    def beside(m, x):
        first, middle, last = F.linear(x, m.w).split(4, dim=-1)
        return (first + 3.0 * ((x @ m.a.T) @ m.b.T)) * middle, last + 3.0 * ((x @ m.c.T) @ m.d.T)

    def fused(m, x):
        first, middle, last = F.linear(x, m.w).view(*x.shape[:-1], 3, 4).unbind(-2)
        return first * middle, last

    left = Program(beside, **{name: nn.Parameter(value) for name, value in held.items()})
    right = Program(fused, w=nn.Parameter(merge(**held)))
    return left, right, (randn(3, 5),)


def merged(w, a, b, c, d, factor=3.0):
    return w + torch.cat([factor * b @ a, torch.zeros_like(w[:4]), 3.0 * d @ c])


def kernel_as_matrix(gain):
    """A convolution of size one with a norm's gain behind it, as a linear layer over the last dimension."""
    held = {"k": randn(6, 3, 1), "g": randn(6), "v": randn(6).square()}
    left = Program(lambda m, x: F.conv1d(x.transpose(1, 2), m.k) * (m.g / torch.sqrt(m.v + 0.5))[:, None],
                   **{name: nn.Parameter(value) for name, value in held.items()})
    right = Program(lambda m, x: F.linear(x, m.w).transpose(1, 2), w=nn.Parameter(
        held["k"][..., 0] * gain(held["g"], held["v"])[:, None]))
    return left, right, (randn(2, 7, 3),)


def windowed(kernels):
    """Frames times a window, then two transforms, one of which has a row of zeros; or both as one convolution."""
    angle = torch.outer(torch.arange(8.0), torch.arange(4.0)) * torch.pi / 4
    held = {"window": torch.hann_window(8) + 0.1, "cosine": angle.cos(), "sine": angle.sin()}

    def frames(m, x):
        cut = x.unfold(-1, 8, 4) * m.window
        return ((cut @ m.cosine) ** 2 + (cut @ m.sine) ** 2).transpose(1, 2)

    def convolved(m, x):
        both = F.conv1d(x.unsqueeze(1), m.kernels, stride=4)
        return both[:, :4] ** 2 + both[:, 4:] ** 2

    return Program(frames, **held), Program(convolved, kernels=kernels(**held)), (randn(2, 20),)


def folded(window, cosine, sine):
    return (torch.cat([cosine.T, sine.T]) * window)[:, None]


SAME = {
    "a merged update": low_rank_in_fused(merged),
    "a kernel of size one": kernel_as_matrix(lambda g, v: g / torch.sqrt(v + 0.5)),
    "a window": windowed(folded),
}
DIFFERENT = {
    "another factor": low_rank_in_fused(lambda **held: merged(**held, factor=3.01)),
    "updates swapped": low_rank_in_fused(lambda w, a, b, c, d: merged(w, c, d, a, b)),
    "another gain": kernel_as_matrix(lambda g, v: g.flip(0) / torch.sqrt(v + 0.5)),
    "a window on one of two": windowed(lambda window, cosine, sine: torch.cat([cosine.T * window, sine.T])[:, None]),
}


@pytest.mark.parametrize("pair", SAME.values(), ids=SAME)
def test_what_is_stored_is_read_by_its_channels(pair):
    verdict = check(*pair)
    assert verdict.verdict == "same" and verdict.evidence is Rung.ROUNDED


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_what_is_stored_otherwise_is_a_difference(pair):
    assert check(*pair).verdict == "different"
