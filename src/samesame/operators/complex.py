"""Complex numbers, as far as rotary embeddings and their like need them.

A complex tensor's formula has its real and imaginary part in a last dimension of two, so that `view_as_real` and
`view_as_complex` change nothing but what it is called.
"""

from __future__ import annotations

from typing import Any

from samesame.formula.expr import Unsupported, cos, sin, sqrt
from samesame.formula.tensor import Tensor, tensor
from samesame.graph import Dtype
from samesame.operators.pointwise import minus, plus, times
from samesame.operators.reduction import sum_
from samesame.operators.shapes import as_tensor, kind_of, plain, pointwise
from samesame.operators.table import complex_meaning, is_complex, join, meaning, parts


@complex_meaning("aten.view_as_real.default")
def view_as_real(z: Tensor) -> Tensor:
    if not is_complex(z):
        raise Unsupported("view_as_real of a real tensor")
    return tensor(z.shape, lambda *i: z[i])


@meaning("aten.view_as_complex.default")
def view_as_complex(x: Tensor) -> Tensor:
    if not x.rank or plain(x.shape[-1]) != 2:
        raise Unsupported(f"view_as_complex of shape {x.shape}")
    return tensor(x.shape, lambda *i: x[i], "complex")


@meaning("aten.complex.default")
def complex_(real: Tensor, imag: Tensor) -> Tensor:
    return _joined(pointwise(lambda a, _: a, real, imag), pointwise(lambda _, b: b, real, imag))


@meaning("aten.polar.default")
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    return _joined(
        pointwise(lambda r, a: r * cos(a), abs, angle), pointwise(lambda r, a: r * sin(a), abs, angle)
    )


def _joined(real: Tensor, imaginary: Tensor) -> Tensor:
    return join(real, imaginary)


def _both(x: Any) -> tuple[Tensor, Tensor]:
    return parts(as_tensor(x))


@complex_meaning("aten.real.default")
def real(z: Tensor) -> Tensor:
    return parts(z)[0]


@complex_meaning("aten.imag.default")
def imag(z: Tensor) -> Tensor:
    if not is_complex(z):
        raise Unsupported("the imaginary part of a real tensor")
    return parts(z)[1]


@complex_meaning("aten.conj.default", "aten._conj.default", "aten.conj_physical.default", "aten._conj_physical.default")
def conj(z: Tensor) -> Tensor:
    if not is_complex(z):
        return z
    a, b = parts(z)
    return join(a, times(b, -1))


@complex_meaning("aten.resolve_conj.default")
def resolve_conj(z: Tensor) -> Tensor:
    return z


@complex_meaning("aten.neg.default")
def neg(z: Tensor) -> Tensor:
    return _times_number(z, -1)


def _times_number(z: Tensor, factor: Any) -> Tensor:
    a, b = parts(z)
    return join(times(a, factor), times(b, factor))


@complex_meaning("aten.add.Tensor", "aten.add.Scalar")
def add(x: Any, y: Any, alpha: float = 1) -> Tensor:
    (a, b), (c, d) = _both(x), _both(y)
    return join(plus(a, c, alpha), plus(b, d, alpha))


@complex_meaning("aten.sub.Tensor", "aten.sub.Scalar")
def sub(x: Any, y: Any, alpha: float = 1) -> Tensor:
    (a, b), (c, d) = _both(x), _both(y)
    return join(minus(a, c, alpha), minus(b, d, alpha))


@complex_meaning("aten.mul.Tensor", "aten.mul.Scalar")
def mul(x: Any, y: Any) -> Tensor:
    """(a + bi)(c + di) = (ac − bd) + (ad + bc)i."""
    if isinstance(x, Tensor) != isinstance(y, Tensor) or not (is_complex(as_tensor(x)) and is_complex(as_tensor(y))):
        z, factor = (x, y) if is_complex(as_tensor(x)) else (y, x)
        return _times_number(z, factor)
    (a, b), (c, d) = parts(x), parts(y)
    return join(minus(times(a, c), times(b, d)), plus(times(a, d), times(b, c)))


@complex_meaning("aten.abs.default")
def abs_(z: Tensor) -> Tensor:
    return pointwise(lambda a, b: sqrt(a**2 + b**2), *parts(z))


@complex_meaning("aten.sum.dim_IntList")
def sum_complex(z: Tensor, dim: Any, keepdim: bool = False, *, dtype: Dtype | None = None) -> Tensor:
    a, b = parts(z)
    return join(sum_(a, dim, keepdim), sum_(b, dim, keepdim))


@complex_meaning("aten._to_copy.default", "aten.to.dtype", "prims.convert_element_type.default")
def cast(
    z: Tensor, dtype: Dtype | None = None, non_blocking: bool = False, copy: bool = False, memory_format: Any = None
) -> Tensor:
    if kind_of(dtype, "complex") != "complex":
        raise Unsupported("a cast that drops an imaginary part")
    return z
