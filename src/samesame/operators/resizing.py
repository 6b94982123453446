"""Resizing: images of other sizes, whose elements are mixed of those near by; and what gradients are on the way back.

Along each side, a place p of m lies at a place among the n elements that are there: at (2p + 1)·n / 2m − ½, so that the
outer edges agree, or at p·(n − 1)/(m − 1), so that the middles of the elements at the ends do. There a mode says which
elements are taken, and how much of each; what lies beyond an end is the element at that end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import product
from math import gcd

import numpy as np

from samesame.formula.expr import Expr, Unsupported, add, const, eq, floordiv, mod, mul, where
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.operators.borders import drawn_out
from samesame.operators.numbers import exact
from samesame.operators.shapes import (
    agreeing,
    count,
    difference,
    divided,
    folded,
    never_above,
    not_above,
    plain,
    same_size,
    total,
)
from samesame.operators.table import meaning

Taps = list[tuple[Expr, Expr]]                             # elements that are taken: how much, and which
STEEPNESS = Fraction(-3, 4)                                # of the cubic filter


class Side:
    """One side of an image, of n elements, and of m afterwards; `scale` is m/n as the program gives it."""

    def __init__(self, n: Dim, m: Dim, scale: float | Expr | None) -> None:
        self.n, self.m = plain(n), plain(m)
        self.scale = None if scale is None else exact(scale)
        for size in (self.n, self.m):
            not_above(1, size, "a side of an image")
        self._demand_that_the_scale_counts()
        self.ratio = self._ratio()                         # n/m, as numerator and denominator

    def _demand_that_the_scale_counts(self) -> None:
        """Torch copies sides that keep their size, and nearest elements of those that double it, whatever the scale
        says: at these sizes another one is refused."""
        for times in (1, 2) if self.scale is not None else ():
            as_large = count((times, self.n))
            never = never_above(total(as_large, 1), self.m) or never_above(total(self.m, 1), as_large)
            if self.scale != times and not never:
                raise Unsupported("a scale that may not count where a side keeps its size, or doubles it")

    def _ratio(self) -> tuple[Dim, Dim]:
        if self.scale is not None:
            return self.scale.denominator, self.scale.numerator
        if isinstance(self.n, int) and isinstance(self.m, int):
            common = gcd(self.n, self.m)
            return self.n // common, self.m // common
        with suppress(Unsupported):
            return 1, divided((self.m,), (self.n,))
        with suppress(Unsupported):
            return divided((self.n,), (self.m,)), 1
        return self.n, self.m

    def is_whole(self) -> bool:
        """Does each element become equally many?"""
        return self.ratio[0] == 1 and same_size((self.m,), (self.n, self.ratio[1]))

    def place(self, p: Expr, align_corners: bool) -> tuple[Expr, Expr]:
        """Where the place p lies: between which element and the next, and how far."""
        top, bottom = self.ratio
        if align_corners:
            if self.m == 1:
                return const(0), const(0)
            not_above(2, self.m, "corners of which one is not the other")
            at, unit = mul(p, const(difference(self.n, 1))), difference(self.m, 1)
        else:
            at, unit = add(mul(add(mul(2, p), 1), const(top)), mul(-1, const(bottom))), count((2, bottom))
        return floordiv(at, const(unit)), mod(at, const(unit)) / const(unit)

    def taken(self, j: Expr) -> Expr:
        return drawn_out(j, difference(self.n, 1))


def _linear(side: Side, p: Expr, align_corners: bool) -> Taps:
    low, beyond = side.place(p, align_corners)
    return [(1 - beyond, side.taken(low)), (beyond, side.taken(add(low, 1)))]


def _cubic(side: Side, p: Expr, align_corners: bool) -> Taps:
    low, t = side.place(p, align_corners)

    def near(d: Expr) -> Expr:                             # for elements no further away than one
        return (STEEPNESS + 2) * d**3 - (STEEPNESS + 3) * d**2 + 1

    def far(d: Expr) -> Expr:                              # and than two
        return STEEPNESS * (d**3 - 5 * d**2 + 8 * d - 4)

    shares = far(t + 1), near(t), near(1 - t), far(2 - t)
    return [(share, side.taken(add(low, k - 1))) for k, share in enumerate(shares)]


def _nearest(middle: bool, side: Side, p: Expr, _: bool) -> Taps:
    """⌊p·n/m⌋, or ⌊(p + ½)·n/m⌋. Torch works that out in float32, which must not matter."""
    top, bottom = side.ratio
    if isinstance(side.n, int) and isinstance(side.m, int) and isinstance(top, int) and isinstance(bottom, int):
        _demand_rounded_down(middle, side.n, side.m, Fraction(top, bottom))
    elif not (isinstance(bottom, int) and bottom.bit_count() == 1 and side.is_whole()):
        raise Unsupported("nearest elements, some of which rounding decides")
    if side.is_whole():
        return [(const(1), floordiv(p, const(bottom)))]
    twice, unit = (add(mul(2, p), 1), count((2, bottom))) if middle else (p, bottom)
    return [(const(1), side.taken(floordiv(mul(twice, const(top)), const(unit))))]


def _demand_rounded_down(middle: bool, n: int, m: int, step: Fraction) -> None:
    """Refuse sizes of which rounding decides an element; at the same and at twice the size torch has integers."""
    begin = Fraction(middle, 2)
    places = (np.arange(m, dtype=np.float32) + np.float32(begin)) * np.float32(step)
    exactly = [int((p + begin) * step) for p in range(m)]
    if places.astype(int).tolist() != exactly and (middle or m not in (n, 2 * n)):
        raise Unsupported("nearest elements, some of which rounding decides")


Mode = Callable[[Side, Expr, bool], Taps]


def _sides(sizes: Sequence[Dim], wanted: Sequence[Dim], scales: Sequence[float | Expr | None]) -> list[Side]:
    return [Side(n, m, scale) for n, m, scale in zip(sizes, wanted, scales[: len(sizes)], strict=True)]


def _resized(
    mode: Mode,
    x: Tensor,                                             # [batch, channels, *sizes]
    output_size: Sequence[Dim],
    align_corners: bool,
    *scales: float | Expr | None,
) -> Tensor:
    sides = _sides(x.shape[2:], output_size, scales)

    def element(n: Expr, c: Expr, *place: Expr) -> Expr:
        taps = [mode(side, p, align_corners) for side, p in zip(sides, place, strict=True)]
        return add(*(mul(*(share for share, _ in corner), x[(n, c, *(j for _, j in corner))])
                     for corner in product(*taps)))

    return tensor((*x.shape[:2], *output_size), element)


def _resized_back(
    mode: Mode,
    grad_output: Tensor,
    output_size: Sequence[Dim],
    input_size: Sequence[Dim],
    align_corners: bool,
    *scales: float | Expr | None,
) -> Tensor:
    """Each element gets from each place as much of the gradient as was taken of it there."""
    sides = _sides(input_size[2:], output_size, scales)
    agreeing(grad_output.shape, (*input_size[:2], *output_size), "a gradient of a resized image")
    if isinstance(mode, partial) and all(side.is_whole() for side in sides):
        return _of_equal_parts(mode, grad_output, sides)

    def element(n: Expr, c: Expr, *i: Expr) -> Expr:
        def body(*place: Expr) -> Expr:
            shares = []
            for side, p, j in zip(sides, place, i, strict=True):
                shares.append(add(*(where(eq(found, j), share, 0) for share, found in mode(side, p, align_corners))))
            return mul(*shares, grad_output[(n, c, *place)])

        return folded("sum", output_size, body)

    return tensor(tuple(input_size), element)


def _of_equal_parts(mode: Mode, grad: Tensor, sides: Sequence[Side]) -> Tensor:
    """The gradient of an image each element of which has become equally many: their sum."""
    many = [side.ratio[1] for side in sides]
    for side in sides:
        mode(side, const(0), False)                        # refuses what rounding decides

    def element(n: Expr, c: Expr, *i: Expr) -> Expr:
        def body(*part: Expr) -> Expr:
            return grad[(n, c, *(add(mul(j, const(f)), k) for j, f, k in zip(i, many, part, strict=True)))]

        return folded("sum", many, body)

    return tensor((*grad.shape[:2], *(side.n for side in sides)), element)


def _plain(
    mode: Mode,
    x: Tensor,
    output_size: Sequence[Dim],
    scale_0: float | Expr | None = None,
    scale_1: float | Expr | None = None,
    scale_2: float | Expr | None = None,
) -> Tensor:
    return _resized(mode, x, output_size, False, scale_0, scale_1, scale_2)


def _plain_back(
    mode: Mode,
    grad_output: Tensor,
    output_size: Sequence[Dim],
    input_size: Sequence[Dim],
    scale_0: float | Expr | None = None,
    scale_1: float | Expr | None = None,
    scale_2: float | Expr | None = None,
) -> Tensor:
    return _resized_back(mode, grad_output, output_size, input_size, False, scale_0, scale_1, scale_2)


def _aligned(
    mode: Mode,
    x: Tensor,
    output_size: Sequence[Dim],
    align_corners: bool,
    scale_0: float | Expr | None = None,
    scale_1: float | Expr | None = None,
    scale_2: float | Expr | None = None,
) -> Tensor:
    return _resized(mode, x, output_size, align_corners, scale_0, scale_1, scale_2)


def _aligned_back(
    mode: Mode,
    grad_output: Tensor,
    output_size: Sequence[Dim],
    input_size: Sequence[Dim],
    align_corners: bool,
    scale_0: float | Expr | None = None,
    scale_1: float | Expr | None = None,
    scale_2: float | Expr | None = None,
) -> Tensor:
    return _resized_back(mode, grad_output, output_size, input_size, align_corners, scale_0, scale_1, scale_2)


for _name, _middle in (("upsample_nearest", False), ("_upsample_nearest_exact", True)):
    _names = [f"aten.{_name}{_axes}d" for _axes in (1, 2, 3)]
    meaning(*(f"{_name}.default" for _name in _names))(partial(_plain, partial(_nearest, _middle)))
    meaning(*(f"{_name}_backward.default" for _name in _names))(partial(_plain_back, partial(_nearest, _middle)))
for _mode, _kinds in ((_linear, ("linear1d", "bilinear2d", "trilinear3d")), (_cubic, ("bicubic2d",))):
    meaning(*(f"aten.upsample_{_kind}.default" for _kind in _kinds))(partial(_aligned, _mode))
    meaning(*(f"aten.upsample_{_kind}_backward.default" for _kind in _kinds))(partial(_aligned_back, _mode))
