"""Gradients of windows: what the gradient of a convolution's or a pool's result makes of its arguments'.

What a place of the result has read, it gives a part of its gradient. So the gradient of a convolution's input is a
transposed convolution, that of a transposed one a convolution, and those of weights are sums over all places.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from samesame.formula.expr import Expr, add, and_, const, eq, floordiv, le, lt, mul, where
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.operators.reduction import sum_
from samesame.operators.shapes import agreeing, count, difference, divided, folded, not_above, plain, total, untold
from samesame.operators.table import meaning
from samesame.operators.windows import (
    Sizes,
    Window,
    all_numbers,
    check_padding,
    convolution,
    divisor_of_mean,
    ends_of_window,
    or_kernel,
    per_axis,
    put_back,
    transposed_convolution,
)

# ---------------------------------------------------------------------------------------------------------- convolution


@meaning("aten.convolution_backward.default")
def convolution_backward(
    grad_output: Tensor,
    x: Tensor,                                             # [batch, channels, *sizes]
    weight: Tensor,
    bias_sizes: Sequence[Dim] | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    transposed: bool,
    output_padding: Sizes,
    groups: Dim,
    output_mask: Sequence[bool],
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of input, weight and bias."""
    axes = weight.rank - 2
    steps = per_axis(stride, axes), per_axis(padding, axes), per_axis(dilation, axes)
    # A transposed convolution reads its result's gradient as a plain one reads its input.
    large, small = (grad_output, x) if transposed else (x, grad_output)
    nothing = untold((0,), "a gradient that is not asked for")
    of_input = _read_again if transposed else _spread_again
    rest = (0, *range(2, grad_output.rank))
    return (
        of_input(grad_output, weight, x.shape[2:], *steps, groups) if output_mask[0] else nothing,
        _of_weight(large, small, weight, *steps, groups) if output_mask[1] else nothing,
        sum_(grad_output, rest) if output_mask[2] else nothing,
    )


def _spread_again(
    grad: Tensor,
    weight: Tensor,
    sizes: Sequence[Dim],
    stride: Sequence[Dim],
    padding: Sequence[Dim],
    dilation: Sequence[Dim],
    groups: Dim,
) -> Tensor:
    """The gradient of a convolution's input, of which the last few elements may be in no window."""
    spans = zip(sizes, grad.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    left = [
        difference(total(n, count((2, p))), total(count((difference(places, 1), s)), count((d, difference(k, 1))), 1))
        for n, places, k, s, p, d in spans
    ]
    return transposed_convolution(grad, weight, None, stride, padding, left, groups, dilation)


def _read_again(
    grad: Tensor,
    weight: Tensor,
    sizes: Sequence[Dim],
    stride: Sequence[Dim],
    padding: Sequence[Dim],
    dilation: Sequence[Dim],
    groups: Dim,
) -> Tensor:
    """The gradient of a transposed convolution's input; its output padding may hold further windows."""
    found = convolution(grad, weight, None, stride, padding, dilation, False, 0, groups)
    for n, places in zip(sizes, found.shape[2:], strict=True):
        not_above(n, places, "what was spread over a result")
    return tensor((*found.shape[:2], *sizes), lambda *i: found[i], found.kind)


def _of_weight(
    large: Tensor,
    small: Tensor,                                         # an element for each window over the large one
    weight: Tensor,
    stride: Sequence[Dim],
    padding: Sequence[Dim],
    dilation: Sequence[Dim],
    groups: Dim,
) -> Tensor:
    outputs, inputs, *kernel = weight.shape
    window = Window(large, kernel, stride, padding, dilation)
    places = small.shape[2:]
    for n, most in zip(places, window.places, strict=True):
        not_above(n, most, "windows of a convolution")
    agreeing((large.shape[1], small.shape[1]), (count((inputs, groups)), outputs), "channels of a convolution")
    agreeing(large.shape[:1], small.shape[:1], "the batch of a convolution")
    own = const(divided((outputs,), (groups,)))

    def element(o: Expr, c: Expr, *k: Expr) -> Expr:
        channel = c if groups == 1 else add(mul(floordiv(o, own), const(inputs)), c)

        def body(n: Expr, *place: Expr) -> Expr:
            return window((n, channel), place, k, const(0)) * small[(n, o, *place)]

        return folded("sum", [small.shape[0], *places], body)

    return tensor(weight.shape, element)


# -------------------------------------------------------------------------------------------------------------- pooling


def _of_average(
    axes: int,
    grad_output: Tensor,
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: Dim | None,
) -> Tensor:
    """Each element of a window takes an equal part of what the window's mean is given."""
    kernel = per_axis(kernel_size, axes)
    window = Window(x, kernel, or_kernel(stride, kernel), padding, ceil_mode=ceil_mode)
    check_padding(window)
    front = x.shape[: x.rank - axes]
    agreeing(grad_output.shape, (*front, *window.places), "a gradient for each window")
    divisor = divisor_of_mean(window, count_include_pad, divisor_override)

    def part(*i: Expr) -> Expr:
        outer, place = i[: len(front)], i[len(front) + axes :]
        return grad_output[(*outer, *place)] / divisor(place)

    parts = tensor((*front, *kernel, *window.places), part)
    return put_back(parts, window.sizes, window.stride, window.padding, window.dilation)


def _of_adaptive_average(axes: int, grad_output: Tensor, x: Tensor) -> Tensor:
    front, sizes = x.shape[: x.rank - axes], tuple(map(plain, x.shape[x.rank - axes :]))
    wanted = tuple(map(plain, grad_output.shape[x.rank - axes :]))
    if all_numbers(wanted) and all_numbers(sizes) and any(n % w for n, w in zip(sizes, wanted, strict=True)):
        return _of_unequal(grad_output, front, sizes, wanted)
    kernel = [divided((n,), (w,)) for n, w in zip(sizes, wanted, strict=True)]
    return _of_average(axes, grad_output, x, kernel, kernel, 0, False, True, None)


def _of_unequal(grad: Tensor, front: Sequence[Dim], sizes: Sequence[int], wanted: Sequence[int]) -> Tensor:
    """The same where the windows are not all of one width, and may overlap."""

    def element(*i: Expr) -> Expr:
        def body(*place: Expr) -> Expr:
            ends = [*map(ends_of_window, place, sizes, wanted)]
            own = zip(i[len(front) :], ends, strict=True)
            within = [met for j, (low, high) in own for met in (le(low, j), lt(j, high))]
            widths = mul(*(add(high, mul(-1, low)) for low, high in ends))
            return where(and_(*within), grad[(*i[: len(front)], *place)] / widths, 0)

        return folded("sum", wanted, body)

    return tensor((*front, *sizes), element)


for _axes in (2, 3):
    meaning(f"aten.avg_pool{_axes}d_backward.default")(partial(_of_average, _axes))
    meaning(f"aten._adaptive_avg_pool{_axes}d_backward.default")(partial(_of_adaptive_average, _axes))


def _of_adaptive_greatest(axes: int, grad_output: Tensor, x: Tensor, indices: Tensor) -> Tensor:
    """Each window gives all to the element that it has told the place of, counted through the last
    dimensions."""
    front, sizes = x.shape[: x.rank - axes], x.shape[x.rank - axes :]
    agreeing(grad_output.shape, indices.shape, "a place for each window")

    def element(*i: Expr) -> Expr:
        own = const(0)
        for j, n in zip(i[len(front) :], sizes, strict=True):
            own = add(mul(own, const(n)), j)

        def body(*place: Expr) -> Expr:
            at = (*i[: len(front)], *place)
            return where(eq(indices[at], own), grad_output[at], 0)

        return folded("sum", grad_output.shape[len(front) :], body)

    return tensor(x.shape, element)


def _of_pooled(
    axes: int,
    grad_output: Tensor,
    x: Tensor,
    kernel_size: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
    indices: Tensor,
) -> Tensor:
    return _of_adaptive_greatest(axes, grad_output, x, indices)


for _axes in (2, 3):
    meaning(f"aten.adaptive_max_pool{_axes}d_backward.default")(partial(_of_adaptive_greatest, _axes))
    meaning(f"aten.max_pool{_axes}d_with_indices_backward.default")(partial(_of_pooled, _axes))
