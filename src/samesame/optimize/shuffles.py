"""What only puts elements elsewhere: channels that become places of an image, dimensions from their end, diagonals.

A shuffle splits dimensions in digits and groups these anew, so that nothing is moved. A dimension that is turned round
is read at n − 1 − i, where i runs from the start, and of one made of several axes each of them is. Along a diagonal
two axes are one.
"""

from __future__ import annotations

from collections.abc import Sequence

from samesame.formula.expr import Unsupported
from samesame.optimize.forms import Part, Place
from samesame.optimize.operators import cut, dims_of, permute, reshape, total, transpose
from samesame.optimize.reading import Reader, Value, row

IMAGE = 3                                            # dimensions: channels, height, width


def _regrouped(r: Reader, x: Value, parts: Sequence[int], order: Sequence[int], result: Sequence[int]) -> Value:
    """The last dimensions as parts, these in another order, and then as other dimensions."""
    lead = r.shape(x)[: x.rank - IMAGE]
    split = reshape(r, x, (*lead, *parts))
    turned = permute(r, split, (*range(len(lead)), *(len(lead) + part for part in order)))
    return reshape(r, turned, (*lead, *result))


@row("aten.pixel_shuffle")
def pixel_shuffle(r: Reader, x: Value, up: int) -> Value:
    """Each square of places of the result is made of the channels of one place."""
    channels, height, width = r.shape(x)[-IMAGE:]
    fewer = channels // up**2
    return _regrouped(r, x, (fewer, up, up, height, width), (0, 3, 1, 4, 2), (fewer, height * up, width * up))


@row("aten.pixel_unshuffle")
def pixel_unshuffle(r: Reader, x: Value, down: int) -> Value:
    """The channels of each place of the result are made of a square of places."""
    channels, height, width = r.shape(x)[-IMAGE:]
    lower, narrower = height // down, width // down
    return _regrouped(r, x, (channels, lower, down, narrower, down), (0, 2, 4, 1, 3),
                      (channels * down**2, lower, narrower))


@row("aten.channel_shuffle", "aten.native_channel_shuffle")
def channel_shuffle(r: Reader, x: Value, groups: int) -> Value:
    """The k-th channel of group g becomes channel k·groups + g."""
    n, channels, *inner = r.shape(x)
    split = reshape(r, x, (n, groups, channels // groups, *inner))
    return reshape(r, transpose(r, split, 1, 2), r.shape(x))


@row("aten.flip")
def flip(r: Reader, x: Value, dims: Sequence[int]) -> Value:
    places: dict[str, Place] = {}
    for axis in (axis for d in dims for axis in x.dims[d]):
        if (size := r.size([axis])) > 1:
            places[axis] = Place((Part(axis, -1),), size - 1)
    return r.read_at(x, places, x.dims)


row("aten.flipud")(lambda r, x: flip(r, x, [0]))
row("aten.fliplr")(lambda r, x: flip(r, x, [1]))


@row("aten.rot90")
def rot90(r: Reader, x: Value, times: int = 1, dims: Sequence[int] = (0, 1)) -> Value:
    """The plane of two dimensions, turned from the first towards the second."""
    first, second = dims
    turned = {0: (), 1: (second,), 2: (first, second), 3: (first,)}[times % 4]
    flipped = flip(r, x, turned)
    return transpose(r, flipped, first, second) if times % 2 else flipped


@row("aten.diagonal", "aten.diagonal_copy")
def diagonal(r: Reader, x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    """As the last dimension; so far to the right of the main one."""
    starts = dict(zip(dims_of(x, [dim1, dim2]), (max(-offset, 0), max(offset, 0)), strict=True))
    length = min(r.size(x.dims[d]) - start for d, start in starts.items())
    if length < 1:
        raise Unsupported("a diagonal outside of the matrix")
    for d, start in starts.items():
        x = x if length == r.size(x.dims[d]) else cut(r, x, d, start, start + length)
    labels = ["both" if d in starts else d for d in range(x.rank)]
    (form,), axes = r.labelled([x], [labels])
    return Value(form, (*(axes[d] for d in range(x.rank) if d not in starts), axes["both"]), x.dtype)


row("aten.trace")(lambda r, x: total(r, diagonal(r, x)))
