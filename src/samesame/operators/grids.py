"""Grids: images that are read at places between their elements.

A place is told by numbers from −1 to 1 across the image, for each of its dimensions, the last one first. They mean the
middles of the elements at the corners if these are aligned, else their outer edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from samesame.formula.expr import Expr, Fn, Unsupported, add, and_, const, eq, le, lt, maximum, minimum, mul, where
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.operators.shapes import agreeing, difference, folded, not_above, plain, untold
from samesame.operators.table import meaning

BILINEAR, NEAREST = 0, 1
ZEROS, BORDER = 0, 1


def _middle(j: Expr, n: Dim, align_corners: bool) -> Expr:
    """Where the j-th of n elements lies between −1 and 1."""
    if not align_corners:
        return (2 * j + 1) / const(n) - 1
    if plain(n) == 1:
        return const(0)
    not_above(2, n, "corners of which one is not the other")
    return 2 * j / const(difference(n, 1)) - 1


def _position(place: Expr, n: Dim, align_corners: bool) -> Expr:
    """Where among n elements a number between −1 and 1 lies."""
    if align_corners:
        return (place + 1) / 2 * const(difference(n, 1))
    return ((place + 1) * const(n) - 1) / 2


@meaning("aten.affine_grid_generator.default")
def affine_grid(theta: Tensor, size: Sequence[Dim], align_corners: bool) -> Tensor:
    """For each element of an image the place that a matrix maps its own place to."""
    batch, _, *sides = size
    axes = len(sides)
    agreeing(theta.shape, (batch, axes, axes + 1), "a matrix for each image")

    def element(n: Expr, *i: Expr) -> Expr:
        own = [_middle(j, side, align_corners) for j, side in zip(i[:axes], sides, strict=True)]
        turned = (mul(theta[n, i[-1], k], place) for k, place in enumerate(reversed(own)))
        return add(theta[n, i[-1], axes], *turned)

    return tensor((theta.shape[0], *sides, axes), element)


@meaning("aten.grid_sampler_2d.default", "aten.grid_sampler_3d.default", "aten.grid_sampler.default")
def grid_sample(
    x: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Elements at the corners around each place, weighed by how near they are; or the nearest element, of two at the
    same distance the even one. Beyond the image there are zeros, or places are drawn to its border."""
    if interpolation_mode not in (BILINEAR, NEAREST) or padding_mode not in (ZEROS, BORDER):
        raise Unsupported("cubic interpolation, or an image that is mirrored beyond its border")
    sides = x.shape[2:]
    axes = len(sides)
    agreeing(grid.shape[:1], x.shape[:1], "a grid for each image")
    agreeing(grid.shape[-1:], (axes,), "a place of as many numbers as an image has sides")
    for side in sides:
        not_above(1, side, "a side of an image")

    def position(n: Expr, i: Sequence[Expr], d: int) -> Expr:
        found = _position(grid[(n, *i, axes - 1 - d)], sides[d], align_corners)
        return minimum(maximum(found, 0), const(difference(sides[d], 1))) if padding_mode == BORDER else found

    def element(n: Expr, c: Expr, *i: Expr) -> Expr:
        places = [position(n, i, d) for d in range(axes)]

        def read(at: Sequence[Expr]) -> Expr:
            inside = and_(*(p for j, side in zip(at, sides, strict=True) for p in (le(0, j), lt(j, const(side)))))
            return where(inside, x[(n, c, *at)], 0)

        if interpolation_mode == NEAREST:
            return read([Fn("round", p) for p in places])
        low = [Fn("floor", p) for p in places]
        near = [(1 - (p - j), p - j) for p, j in zip(places, low, strict=True)]
        corners = product((0, 1), repeat=axes)
        return add(*(mul(*(near[d][k] for d, k in enumerate(corner)), read([add(j, k) for j, k in zip(
            low, corner, strict=True)])) for corner in corners))

    return tensor((*x.shape[:2], *grid.shape[1:-1]), element)


@meaning("aten.grid_sampler_2d_backward.default")
def grid_sample_backward(
    grad_output: Tensor,
    x: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Tensor, Tensor]:
    """The gradients of the image and of the places. An element takes its share of what each place near it is given; a
    place is moved along a side as the elements before and behind it differ, and not at all beyond a border."""
    if interpolation_mode != BILINEAR or padding_mode not in (ZEROS, BORDER):
        raise Unsupported("the gradient of nearest or cubic elements, or of an image that is mirrored")
    sides, nothing = x.shape[2:], untold((0,), "a gradient that is not asked for")
    agreeing(grad_output.shape, (*x.shape[:2], *grid.shape[1:-1]), "a gradient for each place")
    for side in sides:
        not_above(1, side, "a side of an image")

    def along(n: Expr, i: Sequence[Expr], d: int) -> tuple[Expr, Expr, Expr]:
        """Which element is the last before a place, how far behind it that is, and whether the place can be moved."""
        found = _position(grid[(n, *i, 1 - d)], sides[d], align_corners)
        last = const(difference(sides[d], 1))
        drawn = minimum(maximum(found, 0), last) if padding_mode == BORDER else found
        low = Fn("floor", drawn)
        return low, drawn - low, and_(lt(0, found), lt(found, last)) if padding_mode == BORDER else const(True)

    def corners(n: Expr, i: Sequence[Expr]) -> Iterator[tuple[list[Expr], list[Expr], tuple[int, ...]]]:
        """Each element around a place: where it lies, its share along either side, and whether it is the one behind."""
        lows, beyond, _ = zip(*(along(n, i, d) for d in range(2)), strict=True)
        for behind in product((0, 1), repeat=2):
            at = [add(low, k) for low, k in zip(lows, behind, strict=True)]
            yield at, [far if k else 1 - far for far, k in zip(beyond, behind, strict=True)], behind

    def of_image(n: Expr, c: Expr, *j: Expr) -> Expr:
        def body(*i: Expr) -> Expr:
            shares = (where(and_(*map(eq, at, j)), mul(*share), 0) for at, share, _ in corners(n, i))
            return mul(grad_output[(n, c, *i)], add(*shares))

        return folded("sum", grid.shape[1:-1], body)

    def of_place(n: Expr, *i: Expr) -> Expr:
        at, number = i[:-1], i[-1]
        moved = [folded("sum", [x.shape[1]], lambda c, d=d: mul(grad_output[(n, c, *at)], slope(n, c, at, d)))
                 for d in range(2)]
        return where(eq(number, 0), moved[1], moved[0])

    def slope(n: Expr, c: Expr, i: Sequence[Expr], d: int) -> Expr:
        """How an element of the result changes with a place, along a side."""
        found = []
        for at, share, behind in corners(n, i):
            inside = and_(*(p for j, side in zip(at, sides, strict=True) for p in (le(0, j), lt(j, const(side)))))
            found.append(mul(1 if behind[d] else -1, share[1 - d], where(inside, x[(n, c, *at)], 0)))
        unit = const(difference(sides[d], 1) if align_corners else sides[d]) / 2
        return where(along(n, i, d)[2], mul(unit, add(*found)), 0)

    return (tensor(x.shape, of_image) if output_mask[0] else nothing,
            tensor(grid.shape, of_place) if output_mask[1] else nothing)
