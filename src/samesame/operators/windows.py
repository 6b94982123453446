"""Windows: operators that combine neighbours: convolution, pooling, and unfolding into patches.

All of them look at x[p·stride + k·dilation − padding] for a place p of the result and a place k in the window. What
lies outside x is the padding, and reads as the identity of the fold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from samesame.formula.expr import NEG_INF, ONE, Expr, Unsupported, add, and_, const, floordiv, le, lt, mod, mul, where
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.operators.movement import reshape
from samesame.operators.shapes import (
    agreeing,
    count,
    difference,
    divided,
    folded,
    joined,
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
        self, x: Tensor, kernel: Sequence[Dim], stride: Sizes = 1, padding: Sizes = 0, dilation: Sizes = 1
    ) -> None:
        self.axes = len(kernel)
        self.x, self.kernel = x, tuple(kernel)
        self.stride, self.padding, self.dilation = (per_axis(v, self.axes) for v in (stride, padding, dilation))
        self.sizes = x.shape[x.rank - self.axes :]
        steps = zip(self.sizes, self.kernel, self.stride, self.padding, self.dilation, strict=True)
        self.places = tuple(_places(*step) for step in steps)

    def __call__(self, front: Sequence[Expr], place: Sequence[Expr], k: Sequence[Expr], outside: Expr) -> Expr:
        """The element of x under k of the window at a place, or `outside` where that is padding."""
        source, inside = [], []
        for a in range(self.axes):
            position = add(mul(self.stride[a], place[a]), mul(self.dilation[a], k[a]), mul(-1, self.padding[a]))
            source.append(position)
            if self.padding[a]:
                inside += [le(0, position), lt(position, self.sizes[a])]
        found = self.x[(*front, *source)]
        return where(and_(*inside), found, outside) if inside else found


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
    if transposed:
        raise Unsupported("a transposed convolution")
    kernel = weight.shape[2:]
    if x.rank == len(kernel) + 1:
        one = reshape(x, (1, *x.shape))
        out = convolution(one, weight, bias, stride, padding, dilation, False, output_padding, groups)
        return reshape(out, out.shape[1:])
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


# -------------------------------------------------------------------------------------------------------------- pooling


def _or_kernel(stride: Sizes, kernel: list[Dim]) -> Sizes:
    """Windows stand side by side where no stride is given."""
    return kernel if stride in ((), []) else stride


def _check_padding(window: Window) -> None:
    """Padding of at most half a window, so that none lies outside x as a whole."""
    for k, p in zip(window.kernel, window.padding, strict=True):
        not_above(total(p, p), k, "the padding of pooling")


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
    """The mean over each window; padding counts as zeros, or not at all."""
    if ceil_mode:
        raise Unsupported("pooling windows that reach beyond the padding")
    if x.kind != "real":
        raise Unsupported("a mean that is rounded to integers")
    kernel = per_axis(kernel_size, axes)
    window = Window(x, kernel, _or_kernel(stride, kernel), padding)
    _check_padding(window)

    def element(*i: Expr) -> Expr:
        front, place = i[: x.rank - axes], i[x.rank - axes :]
        found = folded("sum", kernel, lambda *k: window(front, place, k, const(0)))
        if divisor_override is not None:
            return found / const(divisor_override)
        if count_include_pad or not any(window.padding):
            return found / const(count(kernel))
        ones = Window(tensor(x.shape, lambda *_: ONE), kernel, window.stride, window.padding)
        return found / folded("sum", kernel, lambda *k: ones(front, place, k, const(0)))

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


def _adaptive(axes: int, x: Tensor, output_size: Sizes) -> Tensor:
    """The mean over as many windows as asked for, where these are equally wide."""
    wanted = per_axis(output_size, axes)
    return _average(axes, x, [divided((n,), (w,)) for n, w in zip(x.shape[x.rank - axes :], wanted, strict=True)])


meaning("aten.adaptive_avg_pool1d.default")(partial(_adaptive, 1))
meaning("aten.adaptive_avg_pool2d.default", "aten._adaptive_avg_pool2d.default")(partial(_adaptive, 2))


def _greatest(
    axes: int,
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes = (),
    padding: Sizes = 0,
    dilation: Sizes = 1,
    ceil_mode: bool = False,
) -> Tensor:
    if ceil_mode:
        raise Unsupported("pooling windows that reach beyond the padding")
    kernel = per_axis(kernel_size, axes)
    window = Window(x, kernel, _or_kernel(stride, kernel), padding, dilation)
    _check_padding(window)

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
