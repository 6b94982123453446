"""Complex numbers, as far as rotary embeddings, complex embeddings and their like need them.

A complex tensor's formula has its real and imaginary part in a last dimension of two, so that `view_as_real` and
`view_as_complex` change nothing but what it is called. What is linear, or linear in each of two arguments, needs no
formula of its own: it is what it is for real tensors, done to the parts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from samesame.formula.expr import Expr, Unsupported, and_, cos, eq, exp, log, lt, not_, sin, sqrt, where
from samesame.formula.tensor import Tensor, tensor
from samesame.graph import Dtype
from samesame.operators import contraction, indexing, reduction
from samesame.operators.numbers import record
from samesame.operators.pointwise import choose, minus, over, plus, times
from samesame.operators.provisos import unsigned
from samesame.operators.shapes import as_tensor, fits, kind_of, plain, pointwise
from samesame.operators.special import arctangent
from samesame.operators.table import Meaning, complex_meaning, is_complex, join, meaning, parts, tensors_in


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
    return join(pointwise(lambda a, _: a, real, imag), pointwise(lambda _, b: b, real, imag))


@meaning("aten.polar.default")
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    return join(
        pointwise(lambda r, a: r * cos(a), abs, angle), pointwise(lambda r, a: r * sin(a), abs, angle)
    )


def _is_complex(x: Any) -> bool:
    return isinstance(x, complex) or (isinstance(x, Tensor) and is_complex(x))


def _both(x: Any) -> tuple[Tensor, Tensor]:
    """The parts of a tensor or a number."""
    return (as_tensor(x.real), as_tensor(x.imag)) if isinstance(x, complex) else parts(as_tensor(x))


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


# --------------------------------------------------------------------------------------------------- element by element


@complex_meaning("aten.neg.default")
def neg(z: Tensor) -> Tensor:
    a, b = parts(z)
    return join(times(a, -1), times(b, -1))


@complex_meaning("aten.add.Tensor", "aten.add.Scalar")
def add(x: Any, y: Any, alpha: complex = 1) -> Tensor:
    if isinstance(alpha, complex):
        return add(x, mul(y, alpha))
    (a, b), (c, d) = _both(x), _both(y)
    return join(plus(a, c, alpha), plus(b, d, alpha))


@complex_meaning("aten.sub.Tensor", "aten.sub.Scalar")
def sub(x: Any, y: Any, alpha: complex = 1) -> Tensor:
    if isinstance(alpha, complex):
        return sub(x, mul(y, alpha))
    (a, b), (c, d) = _both(x), _both(y)
    return join(minus(a, c, alpha), minus(b, d, alpha))


@complex_meaning("aten.rsub.Tensor", "aten.rsub.Scalar")
def rsub(x: Any, y: Any, alpha: complex = 1) -> Tensor:
    return sub(y, x, alpha)


@complex_meaning("aten.mul.Tensor", "aten.mul.Scalar")
def mul(x: Any, y: Any) -> Tensor:
    """(a + bi)(c + di) = (ac − bd) + (ad + bc)i, and one product for each part where a factor is real."""
    for z, factor in ((x, y), (y, x)):
        if not _is_complex(factor):
            a, b = _both(z)
            return join(times(a, factor), times(b, factor))
    (a, b), (c, d) = _both(x), _both(y)
    return join(minus(times(a, c), times(b, d)), plus(times(a, d), times(b, c)))


@complex_meaning("aten.div.Tensor", "aten.div.Scalar")
def div(x: Any, y: Any) -> Tensor:
    """z/w = z·w̄/|w|², and one quotient for each part where the divisor is real."""
    if not _is_complex(y):
        a, b = _both(x)
        return join(over(a, y), over(b, y))
    c, d = _both(y)
    size = plus(times(c, c), times(d, d))
    a, b = parts(mul(x, join(c, times(d, -1))))
    return join(over(a, size), over(b, size))


@complex_meaning("aten.reciprocal.default")
def reciprocal(z: Tensor) -> Tensor:
    return div(1, z)


@complex_meaning("aten.square.default")
def square(z: Tensor) -> Tensor:
    return mul(z, z)


@complex_meaning("aten.pow.Tensor_Scalar")
def power_of(z: Tensor, exponent: Any) -> Tensor:
    """A power with a small whole exponent, as products."""
    if not is_complex(z) or isinstance(exponent, complex) or exponent not in range(1, 9):
        raise Unsupported(f"a complex power with exponent {exponent}")
    result = z
    for _ in range(int(exponent) - 1):
        result = mul(result, z)
    return result


@complex_meaning("aten.exp.default")
def exp_(z: Tensor) -> Tensor:
    """exp(a + bi) = exp(a)·(cos b + i·sin b)."""
    a, b = parts(z)
    return join(pointwise(lambda x, y: exp(x) * cos(y), a, b), pointwise(lambda x, y: exp(x) * sin(y), a, b))


@complex_meaning("aten.abs.default")
def abs_(z: Tensor) -> Tensor:
    return pointwise(lambda a, b: sqrt(a**2 + b**2), *parts(z))


@complex_meaning("aten.angle.default")
def angle(z: Tensor) -> Tensor:
    return pointwise(lambda a, b: arctangent(b, a), *parts(z))


@complex_meaning("aten.log.default")
def log_(z: Tensor) -> Tensor:
    """log |z| + i·angle(z)."""
    a, b = parts(z)
    return join(pointwise(lambda x, y: log(x**2 + y**2) / 2, a, b), angle(z))


@complex_meaning("aten.sqrt.default")
def sqrt_(z: Tensor) -> Tensor:
    """√((|z| + a)/2) ± i·√((|z| − a)/2): the root to the right, with b's sign."""
    def of(sign: int) -> Callable[[Expr, Expr], Expr]:
        return lambda a, b: sqrt((sqrt(a**2 + b**2) + sign * a) / 2)

    a, b = parts(z)
    record(unsigned("a complex root"))
    return join(pointwise(of(1), a, b), pointwise(lambda x, y: where(lt(y, 0), -of(-1)(x, y), of(-1)(x, y)), a, b))


@complex_meaning("aten.sin.default")
def sin_(z: Tensor) -> Tensor:
    """sin(a + bi) = sin a·cosh b + i·cos a·sinh b."""
    a, b = parts(z)
    return join(pointwise(lambda x, y: sin(x) * (exp(y) + exp(-y)) / 2, a, b),
                pointwise(lambda x, y: cos(x) * (exp(y) - exp(-y)) / 2, a, b))


@complex_meaning("aten.cos.default")
def cos_(z: Tensor) -> Tensor:
    """cos(a + bi) = cos a·cosh b − i·sin a·sinh b."""
    a, b = parts(z)
    return join(pointwise(lambda x, y: cos(x) * (exp(y) + exp(-y)) / 2, a, b),
                pointwise(lambda x, y: sin(x) * (exp(-y) - exp(y)) / 2, a, b))


@complex_meaning("aten.sgn.default")
def sgn(z: Tensor) -> Tensor:
    """z/|z|, and 0 of 0."""
    a, b = parts(z)

    def of(number: int) -> Callable[[Expr, Expr], Expr]:
        return lambda *p: where(and_(eq(p[0], 0), eq(p[1], 0)), 0, p[number] / sqrt(p[0]**2 + p[1]**2))

    return join(pointwise(of(0), a, b), pointwise(of(1), a, b))


@complex_meaning("aten.eq.Tensor", "aten.eq.Scalar")
def equals(x: Any, y: Any) -> Tensor:
    return pointwise(lambda a, b, c, d: and_(eq(a, c), eq(b, d)), *_both(x), *_both(y), kind="bool")


@complex_meaning("aten.ne.Tensor", "aten.ne.Scalar")
def differs(x: Any, y: Any) -> Tensor:
    return pointwise(not_, equals(x, y), kind="bool")


@complex_meaning("aten.linalg_vector_norm.default")
def vector_norm(
    x: Tensor, ord: float = 2, dim: reduction.Dims = None, keepdim: bool = False, *, dtype: Dtype | None = None
) -> Tensor:
    return reduction.vector_norm(abs_(x), ord, dim, keepdim)


@complex_meaning("aten.where.self", "aten.where.ScalarSelf", "aten.where.ScalarOther", "aten.where.Scalar")
def where_(condition: Tensor, x: Any, y: Any) -> Tensor:
    (a, b), (c, d) = _both(x), _both(y)
    return join(choose(condition, a, c), choose(condition, b, d))


@complex_meaning("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(z: Tensor, mask: Tensor, value: Any) -> Tensor:
    if not is_complex(z):
        raise Unsupported("a complex number put into a real tensor")
    return where_(mask, value, z)


@complex_meaning("aten._to_copy.default", "aten.to.dtype", "prims.convert_element_type.default")
def cast(
    z: Tensor, dtype: Dtype | None = None, non_blocking: bool = False, copy: bool = False, memory_format: Any = None
) -> Tensor:
    _stays_complex(dtype)
    return z


def _stays_complex(dtype: Dtype | None) -> None:
    if kind_of(dtype, "complex") != "complex":
        raise Unsupported("a cast that drops an imaginary part")


# ------------------------------------------------------------------------------------------ sums, products and look-ups


def _part_by_part(function: Meaning) -> Meaning:
    """What is linear in its first argument, and real otherwise, is done to each part by itself. So is a look-up."""

    @wraps(function)
    def apply(z: Tensor, *args: Any, dtype: Dtype | None = None, **kwargs: Any) -> Tensor:
        if not is_complex(z) or any(map(is_complex, tensors_in((args, kwargs)))):
            raise Unsupported("a complex tensor as an index")
        _stays_complex(dtype)
        a, b = (function(part, *args, **kwargs) for part in parts(z))
        return join(a, b)

    return apply


def _bilinear(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """f(a + bi, c + di) = f(a, c) − f(b, d) + (f(a, d) + f(b, c))·i, where f is linear in each of its two arguments."""

    @wraps(function)
    def apply(x: Tensor, y: Tensor) -> Tensor:
        (a, b), (c, d) = parts(x), parts(y)
        return join(minus(function(a, c), function(b, d)), plus(function(a, d), function(b, c)))

    return apply


LINEAR: dict[str, Meaning] = {
    "aten.sum.dim_IntList": reduction.sum_,
    "aten.sum.default": reduction.sum_all,
    "aten.mean.dim": reduction.mean,
    "aten.mean.default": reduction.mean_all,
    "aten.cumsum.default": reduction.cumsum,
    "aten.trace.default": reduction.trace,
    "aten.index.Tensor": indexing.index_,
    "aten._unsafe_index.Tensor": indexing.index_,
    "aten.index_select.default": indexing.index_select,
    "aten.gather.default": indexing.gather,
    "aten.embedding.default": indexing.embedding,
    "aten.take.default": indexing.take,
    "aten.take_along_dim.default": indexing.take_along_dim,
}

BILINEAR: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "aten.mm.default": contraction.mm,
    "aten.bmm.default": contraction.bmm,
    "aten.mv.default": contraction.mv,
    "aten.dot.default": contraction.dot,
    "aten.inner.default": contraction.dot,
    "aten.outer.default": contraction.outer,
    "aten.ger.default": contraction.outer,
    "aten.matmul.default": contraction.matmul,
}

for _name, _function in LINEAR.items():
    complex_meaning(_name)(_part_by_part(_function))
for _name, _function in BILINEAR.items():
    complex_meaning(_name)(_bilinear(_function))

_mm, _bmm, _mv, _dot = map(_bilinear, (contraction.mm, contraction.bmm, contraction.mv, contraction.dot))


@complex_meaning("aten.vdot.default")
def vdot(x: Tensor, y: Tensor) -> Tensor:
    """The one product that takes the conjugate of its first argument."""
    return _dot(conj(x), y)


@complex_meaning("aten.linear.default")
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    product = _dot(x, weight)
    return product if bias is None else add(product, bias)


def _scaled_sum(x: Tensor, product: Tensor, beta: Any, alpha: Any) -> Tensor:
    """β·x + α·product; where β is 0, x does not count, whatever it holds."""
    fits(x.shape[:-1], product.shape[:-1], "a tensor is added to a product")
    scaled = mul(product, alpha)
    return scaled if beta == 0 else add(mul(x, beta), scaled)


@complex_meaning("aten.addmm.default")
def addmm(x: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return _scaled_sum(x, _mm(a, b), beta, alpha)


@complex_meaning("aten.baddbmm.default")
def baddbmm(x: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return _scaled_sum(x, _bmm(a, b), beta, alpha)


@complex_meaning("aten.addmv.default")
def addmv(x: Tensor, a: Tensor, v: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return _scaled_sum(x, _mv(a, v), beta, alpha)


@complex_meaning("aten.einsum.default")
def einsum(equation: str, tensors: Sequence[Tensor], *, path: Any = None) -> Tensor:
    """A product of k parts of which n are imaginary counts iⁿ times."""
    found: list[Tensor | None] = [None, None]                          # the real and the imaginary part, so far
    for chosen in itertools.product(*((0, 1) if is_complex(x) else (0,) for x in tensors)):
        turns = sum(chosen)
        term = contraction.einsum(equation, [parts(x)[part] for x, part in zip(tensors, chosen, strict=True)])
        before = found[turns % 2]
        signed = term if turns % 4 < 2 else times(term, -1)
        found[turns % 2] = signed if before is None else plus(before, signed)
    real, imaginary = found
    assert real is not None and imaginary is not None
    return join(real, imaginary)
