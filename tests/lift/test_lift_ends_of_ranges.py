"""A condition ends a range where it lies within it: asked of all rows, also of those in which nothing is left."""

from __future__ import annotations

import pytest

pytest.importorskip("triton")

import torch
import triton
import triton.language as tl

from samesame.lift import lift


@triton.jit
def band_kernel(x, out, N, W, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    total = 0.0
    for begin in range(0, N, BLOCK):
        c = begin + tl.arange(0, BLOCK)
        value = tl.load(x + r * N + c, mask=c < N, other=0.0)
        total += tl.sum(tl.where((c <= r) & (c + r <= 4) & (c >= W) & (c < N), value, 0.0), 0)
    tl.store(out + r, total)


def launch(N=40, W=3):
    x = torch.randn(N, N, device="cuda")
    out = torch.empty(N, device="cuda")
    band_kernel[(N,)](x, out, N, W, BLOCK=8)
    return out


launch.assume = ["N >= 5"]


def banded(x, W):
    c, r = torch.arange(x.shape[1]), torch.arange(x.shape[0])[:, None]
    return torch.where((c <= r) & (c + r <= 4) & (c >= W), x, 0.0).sum(1)


def unlimited(x, W):
    """Without c ≤ r: in the first rows, which have nothing from W on up to r, there is something beyond."""
    c, r = torch.arange(x.shape[1]), torch.arange(x.shape[0])[:, None]
    return torch.where((c + r <= 4) & (c >= W), x, 0.0).sum(1)


@pytest.mark.parametrize("against, verdict", [(banded, "same"), (unlimited, "different")])
def test_a_range_with_nothing_in_it_is_not_made_longer(against, verdict):
    assert lift(launch, against).against == verdict
