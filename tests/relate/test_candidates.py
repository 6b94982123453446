"""What one side puts together of parts and the other moves in one step is one tensor, related before what is computed
of it, whichever side does which."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional as F

from samesame import check
from samesame.evidence import Rung

QUARTERS = ((0, 0), (1, 0), (0, 1), (1, 1))


def put_together(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    y = torch.cat([x[:, i::2, j::2] for i, j in QUARTERS], -1)
    return F.layer_norm(y, (4 * x.shape[-1],)) @ w


def norm_by_hand(y: torch.Tensor) -> torch.Tensor:
    return (y - y.mean(-1, keepdim=True)) * torch.rsqrt(y.var(-1, correction=0, keepdim=True) + 1e-5)


def moved(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    batch, height, width, channels = x.shape
    parts = x.reshape(batch, height // 2, 2, width // 2, 2, channels).permute(0, 1, 3, 4, 2, 5)
    return norm_by_hand(parts.reshape(batch, height // 2, width // 2, 4 * channels)) @ w


def moved_otherwise(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Rows and columns within a patch are exchanged."""
    batch, height, width, channels = x.shape
    parts = x.reshape(batch, height // 2, 2, width // 2, 2, channels).permute(0, 1, 3, 2, 4, 5)
    return norm_by_hand(parts.reshape(batch, height // 2, width // 2, 4 * channels)) @ w


def shuffled(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """The channels outside, the patch's rows next, as pixel_unshuffle leaves them; the weight follows."""
    y = F.pixel_unshuffle(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1)
    return norm_by_hand(y) @ w.view(2, 2, x.shape[-1], -1).permute(2, 1, 0, 3).flatten(0, 2)


INPUTS = torch.randn(2, 4, 6, 6), torch.randn(24, 5)


@pytest.mark.parametrize("other", [moved, shuffled])
@pytest.mark.parametrize("turned", [False, True])
def test_what_is_put_together_is_a_tensor_that_is_moved(other: Callable[..., torch.Tensor], turned: bool) -> None:
    sides = (other, put_together) if turned else (put_together, other)
    found = check(*sides, INPUTS, timeout=30)
    assert found.verdict == "same" and found.evidence >= Rung.PROVED_HERE


def test_what_is_moved_otherwise_is_another_tensor() -> None:
    assert check(put_together, moved_otherwise, INPUTS, timeout=30).verdict == "different"
