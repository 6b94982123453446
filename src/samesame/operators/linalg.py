"""Linear algebra: what solves, inverts, factors and measures matrices, in three functions of a whole matrix.

A⁻¹, the Cholesky factor of a symmetric matrix and the determinant stand for themselves; everything else is said in
them: to solve is to multiply by an inverse, a triangular solve reads one triangle. What a proof knows of the three is
in `formula/matrices.py`. Dimensions in front are batches, which broadcast.
"""

from __future__ import annotations

from collections.abc import Callable

from samesame.formula.expr import ONE, ZERO, Expr, Fn, Lambda, Opaque, Unsupported, absolute, eq, index, le, log, where
from samesame.formula.matrices import DETERMINANT, FACTOR, INVERSE
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.operators.shapes import Shape, agreeing, at, broadcast, folded, untold
from samesame.operators.table import meaning

Matrix = Callable[[Expr, Expr], Expr]                      # an element of a matrix, at row and column


def _side(x: Tensor) -> Dim:
    """How many rows and columns a square matrix has."""
    agreeing(x.shape[-2:-1], x.shape[-1:], "rows and columns of a matrix")
    if x.kind != "real":
        raise Unsupported(f"linear algebra on a tensor of kind {x.kind}")
    return x.shape[-1]


def _matrix(x: Tensor, batch: tuple[Expr, ...]) -> Matrix:
    return lambda i, j: at(x, (*batch, i, j))


def _whole(a: Matrix, n: Dim) -> Lambda:
    i, j = index(n), index(n)
    return Lambda((i, j), a(i, j))


def _inverse(a: Matrix, n: Dim) -> Matrix:
    whole = _whole(a, n)
    return lambda i, j: Opaque(INVERSE, (), (whole,), (i, j), "real")


def _determinant(a: Matrix, n: Dim) -> Expr:
    return Opaque(DETERMINANT, (), (_whole(a, n),), (), "real")


def _triangle(a: Matrix, upper: bool, unit: bool = False) -> Matrix:
    """One triangle of a matrix and zeros beside it, with ones on its diagonal if these are not read."""
    def element(i: Expr, j: Expr) -> Expr:
        inside = where(le(i, j) if upper else le(j, i), a(i, j), ZERO)
        return where(eq(i, j), ONE, inside) if unit else inside

    return element


def _gram(a: Matrix, n: Dim, upper: bool) -> Matrix:
    """L·Lᵀ, or Uᵀ·U, of the triangle that is read."""
    half = _triangle(a, upper)
    if upper:
        return lambda i, j: folded("sum", [n], lambda k: half(k, i) * half(k, j))
    return lambda i, j: folded("sum", [n], lambda k: half(i, k) * half(j, k))


def _times(inverse: Callable[[tuple[Expr, ...]], Matrix], n: Dim, b: Tensor, batch: Shape, left: bool = True) -> Tensor:
    """An inverse, of each matrix of the batch, times b; or b times it."""
    rows, columns = b.shape[-2:]
    agreeing((n,), (rows if left else columns,), "what a system is solved for")
    shape = (*broadcast(batch, b.shape[:-2]), rows, columns)

    def element(*place: Expr) -> Expr:
        *own, i, j = place
        a, x = inverse(tuple(own)), _matrix(b, tuple(own))
        return folded("sum", [n], lambda k: a(i, k) * x(k, j) if left else x(i, k) * a(k, j))

    return tensor(shape, element)


def _whether(x: Tensor) -> Tensor:
    return untold(x.shape[:-2], "whether a factorisation failed", "int")


def _exchanged(x: Tensor) -> tuple[Tensor, Tensor]:
    return untold(x.shape, "the factors of a matrix"), untold(x.shape[:-1], "how rows were exchanged", "int")


@meaning("aten.linalg_inv_ex.default")
def inverse(x: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    n = _side(x)
    return tensor(x.shape, lambda *i: _inverse(_matrix(x, i[:-2]), n)(*i[-2:])), _whether(x)


def _is_one_each(b: Shape, matrices: Shape) -> bool:
    """Whether b has a column for each matrix of a batch, not a matrix for all of them: torch goes by sizes alone."""
    if b == matrices:
        return True
    if not any(isinstance(n, int) and isinstance(m, int) and n != m for n, m in zip(b, matrices, strict=True)):
        raise Unsupported("whether a system is solved for vectors or for a matrix, which sizes decide")
    return False


@meaning("aten._linalg_solve_ex.default")
def solve(a: Tensor, b: Tensor, *, left: bool = True, check_errors: bool = False) -> tuple[Tensor, ...]:
    """A⁻¹·B, or B·A⁻¹; a vector is one column."""
    n = _side(a)
    vector = b.rank == 1 or (b.rank == a.rank - 1 and _is_one_each(b.shape, a.shape[:-1]))
    column = tensor((*b.shape, 1), lambda *i: b[i[:-1]]) if vector else b
    found = _times(lambda batch: _inverse(_matrix(a, batch), n), n, column, a.shape[:-2], left)
    x = tensor(found.shape[:-1], lambda *i: found[(*i, ZERO)]) if vector else found
    return x, *_exchanged(a), _whether(a)


@meaning("aten.linalg_solve_triangular.default")
def solve_triangular(
    a: Tensor, b: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    n = _side(a)

    def inverted(batch: tuple[Expr, ...]) -> Matrix:
        return _inverse(_triangle(_matrix(a, batch), upper, unitriangular), n)

    return _times(inverted, n, b, a.shape[:-2], left)


@meaning("aten.triangular_solve.default")
def triangular_solve(
    b: Tensor, a: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """The older spelling, which gives back what it solved by."""
    n = _side(a)

    def inverted(batch: tuple[Expr, ...]) -> Matrix:
        half = _triangle(_matrix(a, batch), upper, unitriangular)
        return _inverse((lambda i, j: half(j, i)) if transpose else half, n)

    return _times(inverted, n, b, a.shape[:-2]), untold(a.shape, "a copy of the matrix of a triangular solve")


@meaning("aten.cholesky.default")
def cholesky(x: Tensor, upper: bool = False) -> Tensor:
    """L with L·Lᵀ = A, or U = Lᵀ, made of the triangle of A that it fills."""
    n = _side(x)

    def element(*place: Expr) -> Expr:
        *batch, i, j = place
        a = _matrix(x, tuple(batch))
        if upper:
            return Opaque(FACTOR, (), (_whole(lambda r, c: a(c, r), n),), (j, i), "real")
        return Opaque(FACTOR, (), (_whole(a, n),), (i, j), "real")

    return tensor(x.shape, element)


@meaning("aten.linalg_cholesky_ex.default")
def cholesky_ex(x: Tensor, *, upper: bool = False, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    return cholesky(x, upper), _whether(x)


@meaning("aten.cholesky_solve.default")
def cholesky_solve(b: Tensor, a: Tensor, upper: bool = False) -> Tensor:
    n = _side(a)
    return _times(lambda batch: _inverse(_gram(_matrix(a, batch), n, upper), n), n, b, a.shape[:-2])


@meaning("aten.cholesky_inverse.default")
def cholesky_inverse(a: Tensor, upper: bool = False) -> Tensor:
    n = _side(a)
    return tensor(a.shape, lambda *i: _inverse(_gram(_matrix(a, i[:-2]), n, upper), n)(*i[-2:]))


@meaning("aten._linalg_det.default")
def determinant(x: Tensor) -> tuple[Tensor, ...]:
    n = _side(x)
    return tensor(x.shape[:-2], lambda *i: _determinant(_matrix(x, i), n)), *_exchanged(x)


@meaning("aten._linalg_slogdet.default")
def signed_log_determinant(x: Tensor) -> tuple[Tensor, ...]:
    """The sign of the determinant, and the logarithm of its magnitude."""
    found, *_ = determinant(x)
    sign = tensor(found.shape, lambda *i: Fn("sign", found[i]))
    return sign, tensor(found.shape, lambda *i: log(absolute(found[i]))), *_exchanged(x)


@meaning("aten.logdet.default")
def log_determinant(x: Tensor) -> Tensor:
    found, *_ = determinant(x)
    return tensor(found.shape, lambda *i: log(found[i]))
