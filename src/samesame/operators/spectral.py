"""Spectra: the discrete Fourier transform, which is a sum of products with cosines and sines.

X[k] = Σ_n x[n]·exp(∓2πi·n·k/N) along one dimension, and one after the other along several. Of a real tensor the second
half mirrors the first, X[N − k] = X̄[k], so that it may be left out, and is put in again on the way back. The windows
that a signal is cut with are cosines, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from samesame.formula.expr import (
    ONE,
    PI,
    Expr,
    Unsupported,
    add,
    const,
    cos,
    eq,
    floordiv,
    le,
    lt,
    mul,
    numeric,
    or_,
    power,
    sin,
    where,
)
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.graph import Dtype
from samesame.operators.movement import replaced
from samesame.operators.numbers import exact
from samesame.operators.pointwise import minus, plus, times
from samesame.operators.reduction import extent
from samesame.operators.shapes import agreeing, difference, dimension, folded, not_above, plain, total
from samesame.operators.table import complex_meaning, is_complex, join, meaning, parts

HALF = Fraction(1, 2)
NONE, BY_ROOT, BY_COUNT = 0, 1, 2                          # what a transform is divided by

Wave = Callable[[Expr], Expr]


def _along(x: Tensor, d: int, places: Dim, n: Dim, wave: Wave, weight: Callable[[Expr], Expr] | None = None) -> Tensor:
    """Σ_j weight(j)·x[j]·wave(2π·j·k/n) for each k of `places`, along one dimension."""

    def element(*i: Expr) -> Expr:
        def body(j: Expr) -> Expr:
            angle = mul(2, PI, j, i[d], power(const(n), -1))
            return mul(1 if weight is None else weight(j), x[replaced(i, d, j)], wave(angle))

        return folded("sum", [x.shape[d]], body)

    return tensor(replaced(x.shape, d, places), element)


def _transformed(x: Tensor, d: int, forward: bool) -> Tensor:
    """The transform of a complex tensor along one dimension: exp(−iα) = cos α − i·sin α on the way there."""
    (a, b), n = parts(x), x.shape[d]
    (ac, as_), (bc, bs) = [[_along(y, d, n, n, wave) for wave in (cos, sin)] for y in (a, b)]
    return join(plus(ac, bs), minus(bc, as_)) if forward else join(minus(ac, bs), plus(bc, as_))


def _scaled(x: Tensor, n: Dim, normalization: int) -> Tensor:
    not_above(1, n, "a transform of at least one number")
    factor = {NONE: const(1), BY_ROOT: power(const(n), -HALF), BY_COUNT: power(const(n), -1)}[normalization]
    if normalization == NONE:
        return x
    return join(*(times(part, factor) for part in parts(x))) if is_complex(x) else times(x, factor)


@complex_meaning("aten._fft_c2c.default")
def fft_c2c(x: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Tensor:
    a = parts(x)[0]
    over = [dimension(d, a.rank) for d in dim]
    found = x
    for d in over:
        found = _transformed(found, d, forward)
    return _scaled(found, extent(a, over), normalization) if over else x


@meaning("aten._fft_r2c.default")
def fft_r2c(x: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Tensor:
    """The last of the dimensions is the real one, of which half is kept if `onesided`."""
    if x.kind != "real":
        raise Unsupported("a transform of integers")
    *others, last = (dimension(d, x.rank) for d in dim)
    n = x.shape[last]
    places = total(plain(floordiv(n, 2)), 1) if onesided else n
    found = join(_along(x, last, places, n, cos), times(_along(x, last, places, n, sin), -1))
    for d in others:
        found = _transformed(found, d, True)
    return _scaled(found, extent(x, (*others, last)), normalization)


@complex_meaning("aten._fft_c2r.default")
def fft_c2r(x: Tensor, dim: Sequence[int], normalization: int, last_dim_size: Dim) -> Tensor:
    """Each frequency counts twice, but for the first and, of an even number, the last, whose imaginary parts do not
    count, as their sines are 0."""
    if not is_complex(x):
        raise Unsupported("a spectrum without an imaginary part")
    *others, last = (dimension(d, parts(x)[0].rank) for d in dim)
    found, n = x, plain(last_dim_size)
    for d in others:
        found = _transformed(found, d, False)
    a, b = parts(found)
    agreeing((a.shape[last],), (total(plain(floordiv(n, 2)), 1),), "half of a spectrum")

    def twice(k: Expr) -> Expr:
        return where(or_(eq(k, 0), eq(add(k, k), const(n))), 1, 2)

    real = minus(_along(a, last, n, n, cos, twice), _along(b, last, n, n, sin, twice))
    return _scaled(real, extent(real, (*others, last)), normalization)


# ------------------------------------------------------------------------------------------- frequencies and windows


@meaning("aten.fft_fftfreq.default")
def fftfreq(n: Dim, d: float = 1.0, *, dtype: Dtype | None = None) -> Tensor:
    """The frequency of each place: k/(n·d), and (k − n)/(n·d) from the middle on."""
    whole = mul(const(n), exact(d))
    middle = floordiv(add(n, 1), 2)
    return tensor((plain(n),), lambda k: where(lt(k, middle), k, add(k, mul(-1, const(n)))) / whole)


@meaning("aten.fft_rfftfreq.default")
def rfftfreq(n: Dim, d: float = 1.0, *, dtype: Dtype | None = None) -> Tensor:
    whole = mul(const(n), exact(d))
    return tensor((total(plain(floordiv(n, 2)), 1),), lambda k: numeric(k) / whole)


def _window(length: Dim, periodic: bool, of: Callable[[Expr], Expr]) -> Tensor:
    """A function of how far each place is along the window, from 0 to 1: to the end if it is the last place's, or to
    the place after it. A window of one place is 1."""
    n = plain(length)
    if n == 1:
        return tensor((1,), lambda k: ONE)
    not_above(2, n, "a window of at least two places")
    whole = const(n if periodic else difference(n, 1))
    return tensor((n,), lambda k: of(k / whole))


def _raised(*weights: float) -> Callable[[Expr], Expr]:
    """a₀ − a₁·cos 2πt + a₂·cos 4πt."""
    signed = [(-1) ** j * exact(weight) for j, weight in enumerate(weights)]
    return lambda t: add(*(mul(weight, cos(mul(2 * j, PI, t))) if j else weight for j, weight in enumerate(signed)))


@meaning("aten.hann_window.default", "aten.hann_window.periodic")
def hann_window(window_length: Dim, periodic: bool = True, *, dtype: Dtype | None = None) -> Tensor:
    return _window(window_length, periodic, _raised(0.5, 0.5))


@meaning("aten.blackman_window.default", "aten.blackman_window.periodic")
def blackman_window(window_length: Dim, periodic: bool = True, *, dtype: Dtype | None = None) -> Tensor:
    return _window(window_length, periodic, _raised(0.42, 0.5, 0.08))


@meaning("aten.hamming_window.default", "aten.hamming_window.periodic", "aten.hamming_window.periodic_alpha",
         "aten.hamming_window.periodic_alpha_beta")
def hamming_window(
    window_length: Dim, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Dtype | None = None
) -> Tensor:
    return _window(window_length, periodic, _raised(alpha, beta))


@meaning("aten.bartlett_window.default", "aten.bartlett_window.periodic")
def bartlett_window(window_length: Dim, periodic: bool = True, *, dtype: Dtype | None = None) -> Tensor:
    """Up to 1 in the middle, and down again."""
    return _window(window_length, periodic, lambda t: where(le(2 * t, 1), 2 * t, 2 - 2 * t))
