"""What slides over a tensor: pools, convolutions, unfolding.

A window is a place of two axes, `step·i + spread·t`: where it stands, and where in it an element is. So a pool is a
fold over t, and a convolution a contraction over t and the channels, with which the rest of the program can go into one
kernel. Windows that lie side by side are a dimension split in two digits. A border is written around the tensor first,
and what is computed is kept where windows overlap, or each of them would compute it again. A convolution of one point
or of patches is a matmul; where windows that overlap multiply many channels, torch's own library does better than our
kernels, and the call stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod
from typing import Any

from samesame.formula.expr import Unsupported
from samesame.optimize import forms as f
from samesame.optimize.forms import Form, Part, Place
from samesame.optimize.operators import of_one_axis, pad, reshape
from samesame.optimize.pointwise import add, real
from samesame.optimize.reading import Reader, Value, channel, row

FEW = 144                                            # products of a window, to be summed by a kernel of ours
Numbers = Sequence[int]


class Windows:
    """The last dimensions of a tensor as windows: `where` they stand has the axes of what they give, `taps` those
    within."""

    def __init__(
        self, r: Reader, x: Value, kernel: Numbers, stride: Numbers, padding: Numbers, dilation: Numbers, border: float
    ) -> None:
        first, places = x.rank - len(kernel), dict[str, Place]()
        for d in range(first, x.rank):
            x = of_one_axis(r, x, d)
        if any(padding):
            x = pad(r, x, [n for width in reversed(padding) for n in (width, width)], border)
        overlap = any(spread * (k - 1) >= step for k, step, spread in zip(kernel, stride, dilation, strict=True))
        if (overlap and x.form.operator != "load") or any(part.operator == "concat" for part in f.walk(x.form)):
            x = r.kept(x)
        windows = [slid(r, x, dim, k, step, spread, places)
                   for dim, k, step, spread in zip(x.dims[first:], kernel, stride, dilation, strict=True)]
        self.outer, self.where, self.taps = x.dims[:first], [w for w, _ in windows], [t for _, t in windows]
        self.x = r.read_at(x, places, (*self.outer, *self.where, *self.taps))

    def folded(self, fold: Callable[[list[str], Form], Form]) -> Value:
        inner = [axis for dim in self.taps for axis in dim]
        return Value(fold(inner, self.x.form), (*self.outer, *self.where), self.x.dtype)


def slid(
    r: Reader, x: Value, dim: tuple[str, ...], size: int, step: int, spread: int, places: dict[str, Place]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where windows of a dimension stand, and what is within, as axes; and the places that they are."""
    length = (r.size(dim) - spread * (size - 1) - 1) // step + 1
    if (size, step) == (1, 1) or not dim:
        return dim, ()
    if len(dim) > 1 or length < 1:
        raise Unsupported("windows over a dimension of several axes")
    if size == step and spread == 1 and length * size == r.size(dim):
        where, tap = r.apart(r.halves(dim[0], length), x, places)
        places[dim[0]] = f.digits((where, tap))
    else:
        where, tap = r.axis(length), r.axis(size)
        places[dim[0]] = Place((Part(where, step), Part(tap, spread)))
    return (where,), (tap,)


def each(numbers: int | Numbers, rank: int) -> tuple[int, ...]:
    """One number for all dimensions, or one for each."""
    several = (numbers,) if isinstance(numbers, int) else tuple(numbers)
    return several * rank if len(several) == 1 else several


def pooled(
    r: Reader, x: Value, kernel: Numbers, stride: Numbers, padding: Any, dilation: Any, border: float, rank: int
) -> Windows:
    kernel = each(kernel, rank)
    return Windows(r, x, kernel, each(stride, rank) if stride else kernel, each(padding, rank), each(dilation, rank),
                   border)


def max_pool(
    r: Reader, x: Value, kernel: Numbers, stride: Numbers = (), padding: Any = 0, dilation: Any = 1, *_: Any, rank: int
) -> tuple[Value, None]:
    """The maxima; where they stand is not expressed."""
    windows = pooled(r, real(r, x), kernel, stride, padding, dilation, -inf, rank)
    return windows.folded(lambda axes, x: f.fold("max", axes, x)), None


def avg_pool(
    r: Reader, x: Value, kernel: Numbers, stride: Numbers = (), padding: Any = 0, ceil: bool = False,
    count_border: bool = True, divisor: int | None = None, *, rank: int,
) -> Value:
    """Sums over |t|; of windows that reach into the border, too."""
    windows = pooled(r, real(r, x), kernel, stride, padding, 1, 0.0, rank)
    if any(each(padding, rank)) and (ceil or not count_border):
        raise Unsupported("means of the part of a window that is no border")
    count = f.number(divisor) if divisor else f.number(prod(each(kernel, rank)))
    return windows.folded(lambda axes, x: f.times(f.power(count, -1), r.summed(axes, x)))


for dims in (1, 2, 3):
    row(f"aten.avg_pool{dims}d")(lambda r, x, *more, rank=dims, **named: avg_pool(r, x, *more, rank=rank, **named))
for dims in (2, 3):
    row(f"aten.max_pool{dims}d_with_indices")(
        lambda r, x, *more, rank=dims, **named: max_pool(r, x, *more, rank=rank, **named))


@row("aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d")
def adaptive(r: Reader, x: Value, size: Numbers) -> Value:
    """Windows that are all of one size, side by side."""
    sizes = [r.size(dim) for dim in x.dims[x.rank - len(size) :]]
    if any(n % want for n, want in zip(sizes, size, strict=True)):
        raise Unsupported("windows of several sizes")
    return avg_pool(r, x, [n // want for n, want in zip(sizes, size, strict=True)], rank=len(size))


@row("aten.unfold")
def unfold(r: Reader, x: Value, dim: int, size: int, step: int) -> Value:
    """Windows of one dimension; the place within comes last."""
    d, places = dim % x.rank, dict[str, Place]()
    where, tap = slid(r, x, x.dims[d], size, step, 1, places)
    return r.read_at(x, places, (*x.dims[:d], where, *x.dims[d + 1 :], tap))


@row("aten.im2col")
def im2col(r: Reader, x: Value, kernel: Numbers, dilation: Numbers, padding: Numbers, stride: Numbers) -> Value:
    """Windows of an image, each as a column: of every channel, what is within."""
    windows = Windows(r, real(r, x), kernel, stride, padding, dilation, 0.0)
    *batch, channels = windows.outer
    column, where = (sum(dims, ()) for dims in ([channels, *windows.taps], windows.where))
    return Value(windows.x.form, (*batch, column, where), x.dtype)


def without_ones(r: Reader, x: Value) -> Value:
    """Without the axes of one element, so that what is the same reads the same."""
    ones = [axis for dim in x.dims for axis in dim if r.size([axis]) == 1]
    dims = [tuple(axis for axis in dim if axis not in ones) for dim in x.dims]
    return r.read_at(x, dict.fromkeys(ones, Place()), dims)


@row("aten.convolution")
def convolution(
    r: Reader, x: Value, w: Value, bias: Value | None, stride: Numbers, padding: Numbers, dilation: Numbers,
    transposed: bool, _: Numbers, groups: int,
) -> Value:
    """Σ over the channels of a group and the places in a window."""
    out, channels, *kernel = map(r.size, w.dims)
    rank = len(kernel)
    stride, padding, dilation = (each(numbers, rank) for numbers in (stride, padding, dilation))
    side_by_side = tuple(kernel) == stride and not any(padding) and set(dilation) == {1}
    if transposed or (channels * prod(kernel) > FEW and not side_by_side and prod(kernel) > 1):
        raise Unsupported("a convolution that torch does as well as a kernel of ours")
    windows = Windows(r, x, kernel, stride, padding, dilation, 0.0)
    shape, inner = list(map(r.size, windows.where)), [n for n in map(r.size, windows.taps) if n > 1]
    batch, outputs = r.size(windows.outer[0]), out // groups
    taken = reshape(r, windows.x, (batch, groups, channels, *shape, *inner))
    filters = reshape(r, without_ones(r, w), (groups, outputs, channels, *inner))
    where, taps = [("where", k) for k in range(len(shape))], [("tap", k) for k in range(len(inner))]
    result = r.contracted((taken, filters), (["batch", "group", "in", *where, *taps], ["group", "out", "in", *taps]),
                          ["batch", "group", "out", *where])
    joined = reshape(r, result, (batch, out, *shape))
    return joined if bias is None else add(r, joined, channel(bias, joined.rank))
