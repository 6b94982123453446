"""Windows: operators that combine neighbours: convolution, pooling, and unfolding into patches.

All of them look at x[p·stride + k·dilation − padding] for a place p of the result and a place k in the window. What
lies outside x is the padding, and reads as the identity of the fold. With `ceil_mode` the last window may reach beyond
the padding too, if it begins before the padding at the end does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeGuard

from samesame.formula.expr import NEG_INF, Expr, Unsupported, add, and_, const, eq, floordiv, le, lt, mod, mul, where
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.operators.movement import permute, reshape
from samesame.operators.shapes import (
    agreeing,
    count,
    difference,
    dimension,
    divided,
    folded,
    joined,
    never_above,
    not_above,
    plain,
    static,
    total,
    untold,
)
from samesame.operators.table import meaning

Sizes = Dim | Sequence[Dim]


def per_axis(value: Sizes, axes: int) -> list[Dim]:
    """A number for each axis; one number serves all."""
    values = [plain(n) for n in ([value] if isinstance(value, int | Expr) else value)]
    return values * axes if len(values) == 1 else values


class Window:
    """The windows over the last dimensions of x: how many there are, and what each place in one holds."""

    def __init__(
        self,
        x: Tensor,
        kernel: Sequence[Dim],
        stride: Sizes = 1,
        padding: Sizes = 0,
        dilation: Sizes = 1,
        ceil_mode: bool = False,
    ) -> None:
        self.axes = len(kernel)
        self.x, self.kernel = x, tuple(kernel)
        self.stride, self.padding, self.dilation = (per_axis(v, self.axes) for v in (stride, padding, dilation))
        self.sizes = x.shape[x.rank - self.axes :]
        steps = zip(self.sizes, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        self.ceil_mode = ceil_mode
        self.places = tuple((_places_begun if ceil_mode else _places)(*step) for step in steps)

    def __call__(self, front: Sequence[Expr], place: Sequence[Expr], k: Sequence[Expr], outside: Expr) -> Expr:
        """The element of x under k of the window at a place, or `outside` where that is padding."""
        source, inside = self.position(place, k), self.inside(place, k)
        found = self.x[(*front, *source)]
        return where(and_(*inside), found, outside) if inside else found

    def position(self, place: Sequence[Expr], k: Sequence[Expr]) -> list[Expr]:
        """Where in x the place k of a window lies."""
        return [
            add(mul(self.stride[a], place[a]), mul(self.dilation[a], k[a]), mul(-1, self.padding[a]))
            for a in range(self.axes)
        ]

    def inside(self, place: Sequence[Expr], k: Sequence[Expr]) -> list[Expr]:
        """The conditions under which that is within x."""
        found = []
        for a, position in enumerate(self.position(place, k)):
            if self.padding[a]:
                found.append(le(0, position))
            if self.padding[a] or self.ceil_mode:
                found.append(lt(position, self.sizes[a]))
        return found

    def in_padding(self, place: Sequence[Expr], k: Sequence[Expr]) -> list[Expr]:
        """The conditions under which it is within x or its padding."""
        ends = zip(self.position(place, k), self.sizes, self.padding, strict=True)
        return [lt(position, total(size, padding)) for position, size, padding in ends] if self.ceil_mode else []


def _places_begun(size: Dim, kernel: Dim, stride: Dim, padding: Dim, dilation: Dim) -> Dim:
    """How many windows there are if the last one need not fit, but must begin before the padding at the end."""
    places = _places(total(size, difference(stride, 1)), kernel, stride, padding, dilation)
    begins, end = count((difference(places, 1), stride)), total(size, padding)
    if never_above(total(begins, 1), end):
        return places
    not_above(end, begins, "where the last window begins")
    return difference(places, 1)


def _places(size: Dim, kernel: Dim, stride: Dim, padding: Dim, dilation: Dim) -> Dim:
    """How many windows fit into a size with its padding; one must."""
    for low, number in ((1, kernel), (1, stride), (0, padding), (1, dilation)):
        not_above(low, number, "a number of a window")
    reach = total(count((dilation, difference(kernel, 1))), 1)
    padded = total(size, padding, padding)
    not_above(reach, padded, "a window over a size with its padding")
    return total(floordiv(difference(padded, reach), stride), 1)


# ---------------------------------------------------------------------------------------------------------- convolution


@meaning("aten.convolution.default")
def convolution(
    x: Tensor,                                             # [batch, channels, *sizes], or without the batch
    weight: Tensor,                                        # [outputs, channels / groups, *kernel]
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: Dim,
) -> Tensor:
    kernel = weight.shape[2:]
    if x.rank == len(kernel) + 1:
        one = reshape(x, (1, *x.shape))
        out = convolution(one, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
        return reshape(out, out.shape[1:])
    if transposed:
        return transposed_convolution(x, weight, bias, stride, padding, output_padding, groups, dilation)
    window = Window(x, kernel, stride, padding, dilation)
    outputs, inputs = weight.shape[:2]
    agreeing((x.shape[1],), (count((inputs, groups)),), "channels of a convolution")
    own = const(divided((outputs,), (groups,)))            # outputs of a group
    if bias is not None:
        agreeing(bias.shape, (outputs,), "a bias for each output of a convolution")

    def element(n: Expr, o: Expr, *place: Expr) -> Expr:
        group = const(0) if groups == 1 else floordiv(o, own)

        def body(c: Expr, *k: Expr) -> Expr:
            return window((n, add(mul(group, const(inputs)), c)), place, k, const(0)) * weight[(o, c, *k)]

        found = folded("sum", [inputs, *kernel], body)
        return found if bias is None else found + bias[o]

    return tensor((x.shape[0], outputs, *window.places), element, joined(x.kind, weight.kind))


def transposed_convolution(
    x: Tensor,                                             # [batch, channels, *sizes], or without the batch
    weight: Tensor,                                        # [channels, outputs / groups, *kernel]
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    output_padding: Sizes = 0,
    groups: Dim = 1,
    dilation: Sizes = 1,
) -> Tensor:
    """The gradient of a convolution: each element of x is spread over a window of the result.

    Of the elements of x, a place p of the result gets those i with i·stride + k·dilation − padding = p: one for each k
    for which p + padding − k·dilation is a multiple of the stride.
    """
    kernel = weight.shape[2:]
    if x.rank == len(kernel) + 1:
        one = reshape(x, (1, *x.shape))
        out = transposed_convolution(one, weight, bias, stride, padding, output_padding, groups, dilation)
        return reshape(out, out.shape[1:])
    axes = len(kernel)
    strides, paddings, extras, dilations = (per_axis(v, axes) for v in (stride, padding, output_padding, dilation))
    inputs, own = weight.shape[:2]
    agreeing((x.shape[1],), (inputs,), "channels of a transposed convolution")
    each, outputs = const(divided((inputs,), (groups,))), count((own, groups))
    if bias is not None:
        agreeing(bias.shape, (outputs,), "a bias for each output of a convolution")
    sizes = [
        difference(total(count((difference(n, 1), s)), count((d, difference(k, 1))), extra, 1), count((2, p)))
        for n, s, p, d, k, extra in zip(x.shape[2:], strides, paddings, dilations, kernel, extras, strict=True)
    ]

    def element(n: Expr, o: Expr, *place: Expr) -> Expr:
        group, o_own = (const(0), o) if groups == 1 else (floordiv(o, const(own)), mod(o, const(own)))

        def body(c: Expr, *k: Expr) -> Expr:
            source, met = [], []
            for a in range(axes):
                i, conditions = place_of(add(place[a], paddings[a], mul(-1, dilations[a], k[a])), strides[a],
                                         x.shape[2 + a])
                source.append(i)
                met += conditions
            channel = add(mul(group, each), c)
            return where(and_(*met), x[(n, channel, *source)], 0) * weight[(channel, o_own, *k)]

        found = folded("sum", [each, *kernel], body)
        return found if bias is None else found + bias[o]

    return tensor((x.shape[0], outputs, *sizes), element, joined(x.kind, weight.kind))


meaning("aten.conv_transpose1d.default", "aten.conv_transpose2d.input", "aten.conv_transpose3d.input")(
    transposed_convolution
)


def _convolution(
    axes: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: Sizes = 0,
    dilation: Sizes = 1,
    groups: Dim = 1,
) -> Tensor:
    return convolution(x, weight, bias, stride, padding, dilation, False, 0, groups)


def _convolution_named(
    axes: int,
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sizes = 1,
    padding: str = "valid",
    dilation: Sizes = 1,
    groups: Dim = 1,
) -> Tensor:
    """Padding given by name: 'valid' is none; 'same' keeps the sizes, where it is the same on both ends."""
    if padding == "valid":
        return _convolution(axes, x, weight, bias, stride, 0, dilation, groups)
    wide = [static(d) * (static(k) - 1) for d, k in zip(per_axis(dilation, axes), weight.shape[2:], strict=True)]
    if any(w % 2 for w in wide):
        raise Unsupported("padding that is not the same on both ends")
    return _convolution(axes, x, weight, bias, stride, [w // 2 for w in wide], dilation, groups)


for _axes in (1, 2, 3):
    meaning(f"aten.conv{_axes}d.default")(partial(_convolution, _axes))
    meaning(f"aten.conv{_axes}d.padding")(partial(_convolution_named, _axes))


@meaning("aten.im2col.default")
def im2col(x: Tensor, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Tensor:
    """Patches as columns: [n, channels, h, w] -> [n, channels · kernel, places]."""
    if x.rank == 3:
        columns = im2col(reshape(x, (1, *x.shape)), kernel_size, dilation, padding, stride)
        return reshape(columns, columns.shape[1:])
    kh, kw = per_axis(kernel_size, 2)
    window = Window(x, (kh, kw), stride, padding, dilation)
    width, area = window.places[1], count((kh, kw))

    def element(n: Expr, row: Expr, column: Expr) -> Expr:
        k = mod(floordiv(row, kw), kh), mod(row, kw)
        place = floordiv(column, const(width)), mod(column, const(width))
        return window((n, floordiv(row, area)), place, k, const(0))

    return tensor((x.shape[0], count((x.shape[1], area)), count(window.places)), element)


@meaning("aten.col2im.default")
def col2im(
    x: Tensor, output_size: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> Tensor:
    """Columns put back where they would be taken from, and added up where patches overlap."""
    if x.rank == 2:
        image = col2im(reshape(x, (1, *x.shape)), output_size, kernel_size, dilation, padding, stride)
        return reshape(image, image.shape[1:])
    kernel = tuple(per_axis(kernel_size, 2))
    channels = divided((x.shape[1],), kernel)
    like = tensor((x.shape[0], channels, *per_axis(output_size, 2)), lambda *i: 0)
    window = Window(like, kernel, stride, padding, dilation)
    agreeing(x.shape[2:], (count(window.places),), "a column for each place of a window")
    patches = reshape(x, (x.shape[0], channels, *kernel, *window.places))
    return put_back(patches, like.shape[2:], window.stride, window.padding, window.dilation)


def put_back(
    patches: Tensor, sizes: Sequence[Dim], strides: Sequence[Dim], paddings: Sequence[Dim], dilations: Sequence[Dim]
) -> Tensor:
    """What windows hold, at [*front, *kernel, *places], added up where each of it lies."""
    axes = len(sizes)
    front, kernel = patches.shape[: -2 * axes], patches.shape[-2 * axes : -axes]
    places = patches.shape[-axes:]

    def element(*i: Expr) -> Expr:
        def body(*k: Expr) -> Expr:
            source, met = [], []
            for a in range(axes):
                place, conditions = place_of(add(i[len(front) + a], paddings[a], mul(-1, dilations[a], k[a])),
                                              strides[a], places[a])
                source.append(place)
                met += conditions
            return where(and_(*met), patches[(*i[: len(front)], *k, *source)], 0)

        return folded("sum", kernel, body)

    return tensor((*front, *sizes), element, patches.kind)


def place_of(spread: Expr, stride: Dim, places: Dim) -> tuple[Expr, list[Expr]]:
    """Which place of a window begins there, and the conditions under which one does."""
    whole = stride == 1
    i = spread if whole else floordiv(spread, stride)
    return i, [le(0, i), lt(i, places), *([] if whole else [eq(mod(spread, const(stride)), 0)])]


@meaning("aten.unfold_backward.default")
def unfold_backward(grad_in: Tensor, input_sizes: Sequence[Dim], dim: int, size: Dim, step: Dim) -> Tensor:
    """Windows along one dimension, whose places are a last one, put back and added up where they overlap."""
    d = dimension(dim, len(input_sizes))
    rank = len(input_sizes)
    order = [*(k for k in range(rank) if k != d), rank, d]
    whole = put_back(permute(grad_in, order), input_sizes[d : d + 1], [plain(step)], [0], [1])
    agreeing(grad_in.shape[-1:], (size,), "places of a window")
    return permute(whole, [*range(d), rank - 1, *range(d, rank - 1)])


# -------------------------------------------------------------------------------------------------------------- pooling


def or_kernel(stride: Sizes, kernel: list[Dim]) -> Sizes:
    """Windows stand side by side where no stride is given."""
    return kernel if stride in ((), []) else stride


def check_padding(window: Window) -> None:
    """Padding of at most half a window, so that none lies outside x as a whole."""
    for k, p in zip(window.kernel, window.padding, strict=True):
        not_above(total(p, p), k, "the padding of pooling")


def divisor_of_mean(window: Window, with_padding: bool, override: Dim | None) -> Callable[[Sequence[Expr]], Expr]:
    """What the sum over a window is divided by, at each place."""
    counts = window.in_padding if with_padding else window.inside

    def at(place: Sequence[Expr]) -> Expr:
        if override is not None:
            return const(override)
        return folded("sum", window.kernel, lambda *k: where(and_(*counts(place, k)), 1, 0))

    return at


def _average(
    axes: int,
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes = (),
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Dim | None = None,
) -> Tensor:
    """The mean over each window; padding counts as zeros, or not at all, and what lies beyond it never counts."""
    if x.kind != "real":
        raise Unsupported("a mean that is rounded to integers")
    kernel = per_axis(kernel_size, axes)
    window = Window(x, kernel, or_kernel(stride, kernel), padding, ceil_mode=ceil_mode)
    check_padding(window)
    divisor = divisor_of_mean(window, count_include_pad, divisor_override)

    def element(*i: Expr) -> Expr:
        front, place = i[: x.rank - axes], i[x.rank - axes :]
        return folded("sum", kernel, lambda *k: window(front, place, k, const(0))) / divisor(place)

    return tensor((*x.shape[: x.rank - axes], *window.places), element)


def _average_1d(
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes = (),
    padding: Sizes = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    return _average(1, x, kernel_size, stride, padding, ceil_mode, count_include_pad)


meaning("aten.avg_pool1d.default")(_average_1d)
for _axes in (2, 3):
    meaning(f"aten.avg_pool{_axes}d.default")(partial(_average, _axes))


def _adaptive(monoid: str, axes: int, x: Tensor, output_size: Sizes) -> Tensor:
    """The mean, or the greatest, over as many windows as asked for: from ⌊i·n/w⌋ to before ⌈(i + 1)·n/w⌉."""
    wanted, sizes = per_axis(output_size, axes), tuple(map(plain, x.shape[x.rank - axes :]))
    if all_numbers(wanted) and all_numbers(sizes) and any(n % w for n, w in zip(sizes, wanted, strict=True)):
        return _unequal(monoid, x, wanted, sizes)
    kernel = [divided((n,), (w,)) for n, w in zip(sizes, wanted, strict=True)]
    return _average(axes, x, kernel) if monoid == "sum" else _greatest(axes, x, kernel)


def all_numbers(sizes: Sequence[Dim]) -> TypeGuard[Sequence[int]]:
    return all(isinstance(n, int) for n in sizes)


def ends_of_window(place: Expr, size: int, wanted: int) -> tuple[Expr, Expr]:
    """Where the window at a place begins, and where it has ended."""
    return floordiv(mul(place, size), wanted), floordiv(add(mul(add(place, 1), size), wanted - 1), wanted)


def _unequal(monoid: str, x: Tensor, wanted: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """The same where the windows are not all of one width."""
    lead = x.rank - len(sizes)
    widest = [max(-(-(i + 1) * n // w) - i * n // w for i in range(w)) for n, w in zip(sizes, wanted, strict=True)]

    def element(*i: Expr) -> Expr:
        starts, ends = zip(*map(ends_of_window, i[lead:], sizes, wanted), strict=True)

        def over_window(body: Callable[[Sequence[Expr]], Expr | int], outside: Expr | int) -> Expr:
            def each(*k: Expr) -> Expr:
                at = [add(start, step) for start, step in zip(starts, k, strict=True)]
                return where(and_(*map(lt, at, ends)), body(at), outside)

            return folded(monoid, widest, each)

        if monoid == "max":
            return over_window(lambda at: x[(*i[:lead], *at)], NEG_INF)
        return over_window(lambda at: x[(*i[:lead], *at)], 0) / over_window(lambda at: 1, 0)

    return tensor((*x.shape[:lead], *wanted), element, x.kind)


def _adaptive_greatest(axes: int, x: Tensor, output_size: Sizes) -> tuple[Tensor, Tensor]:
    values = _adaptive("max", axes, x, output_size)
    return values, untold(values.shape, "where the greatest element of a window stands", "int")


meaning("aten.adaptive_avg_pool1d.default")(partial(_adaptive, "sum", 1))
for _axes in (2, 3):
    meaning(f"aten.adaptive_avg_pool{_axes}d.default", f"aten._adaptive_avg_pool{_axes}d.default")(
        partial(_adaptive, "sum", _axes)
    )
for _axes in (1, 2, 3):
    meaning(f"aten.adaptive_max_pool{_axes}d.default")(partial(_adaptive_greatest, _axes))


def _greatest(
    axes: int,
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes = (),
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> Tensor:
    kernel = per_axis(kernel_size, axes)
    window = Window(x, kernel, or_kernel(stride, kernel), padding, dilation, ceil_mode)
    check_padding(window)

    def element(*i: Expr) -> Expr:
        front, place = i[: x.rank - axes], i[x.rank - axes :]
        return folded("max", kernel, lambda *k: window(front, place, k, NEG_INF))

    return tensor((*x.shape[: x.rank - axes], *window.places), element, x.kind)


def _greatest_and_where(
    axes: int,
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes = (),
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    values = _greatest(axes, x, kernel_size, stride, padding, dilation, ceil_mode)
    return values, untold(values.shape, "where the greatest element of a window stands", "int")


for _axes in (1, 2, 3):
    meaning(f"aten.max_pool{_axes}d.default")(partial(_greatest, _axes))
    meaning(f"aten.max_pool{_axes}d_with_indices.default")(partial(_greatest_and_where, _axes))
