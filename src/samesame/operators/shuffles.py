"""Shuffles: operators in which channels change places, among themselves or with the places of an image.

A dimension is split in two, the parts are put in another order, and two of them are joined. A plane that is turned by
right angles is here too.
"""

from __future__ import annotations

from collections.abc import Sequence

from samesame.formula.expr import Unsupported
from samesame.formula.tensor import Dim, Tensor
from samesame.operators.movement import flip, permute, reshape, transpose
from samesame.operators.shapes import count, divided
from samesame.operators.table import movement


def _reordered(x: Tensor, parts: Sequence[Dim], order: Sequence[int], result: Sequence[Dim]) -> Tensor:
    """The last dimensions of x as `parts`, these in another order, and then as the dimensions of `result`."""
    lead = x.shape[: x.rank - _DIMENSIONS]
    split = reshape(x, (*lead, *parts))
    turned = permute(split, (*range(len(lead)), *(len(lead) + part for part in order)))
    return reshape(turned, (*lead, *result))


_DIMENSIONS = 3                                            # channels, height and width


def _image(x: Tensor) -> tuple[Dim, Dim, Dim]:
    if x.rank < _DIMENSIONS:
        raise Unsupported("an image without channels")
    channels, height, width = x.shape[-_DIMENSIONS:]
    return channels, height, width


@movement("aten.pixel_shuffle.default")
def pixel_shuffle(x: Tensor, upscale_factor: Dim) -> Tensor:
    """Each square of places of the result is made of the channels of one place."""
    r = upscale_factor
    channels, height, width = _image(x)
    fewer = divided((channels,), (r, r))
    result = fewer, count((height, r)), count((width, r))
    return _reordered(x, (fewer, r, r, height, width), (0, 3, 1, 4, 2), result)


@movement("aten.pixel_unshuffle.default")
def pixel_unshuffle(x: Tensor, downscale_factor: Dim) -> Tensor:
    """The channels of each place of the result are made of a square of places."""
    r = downscale_factor
    channels, height, width = _image(x)
    lower, narrower = divided((height,), (r,)), divided((width,), (r,))
    return _reordered(x, (channels, lower, r, narrower, r), (0, 2, 4, 1, 3), (count((channels, r, r)), lower, narrower))


@movement("aten.channel_shuffle.default", "aten.native_channel_shuffle.default")
def channel_shuffle(x: Tensor, groups: Dim) -> Tensor:
    """Channel g·n + k, the k-th of group g, becomes channel k·groups + g."""
    if x.rank < 3:
        raise Unsupported("channels without places")
    each = divided((x.shape[1],), (groups,))
    split = reshape(x, (x.shape[0], groups, each, *x.shape[2:]))
    return reshape(permute(split, (0, 2, 1, *range(3, split.rank))), x.shape)


@movement("aten.rot90.default")
def rot90(x: Tensor, k: int = 1, dims: Sequence[int] = [0, 1]) -> Tensor:
    """The plane of two dimensions turned k times, from the first towards the second."""
    first, second = dims
    turned = {0: (), 1: (second,), 2: (first, second), 3: (first,)}[k % 4]
    flipped = flip(x, turned) if turned else x
    return transpose(flipped, first, second) if k % 2 else flipped
