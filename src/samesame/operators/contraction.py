"""Contractions: operators that multiply and sum.

Each says which elements are multiplied and which index is summed over. A vector stands in for a matrix of one row
or column where torch lets it, and dimensions in front are batches, which broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from samesame.formula.expr import ZERO, Expr, Unsupported, add, mul
from samesame.formula.sizes import size_text
from samesame.formula.tensor import Dim, Tensor, tensor
from samesame.operators.movement import unsqueeze
from samesame.operators.numbers import constant
from samesame.operators.pointwise import plus, times
from samesame.operators.shapes import (
    agreeing,
    at,
    broadcast,
    fits,
    folded,
    joined,
    kind_of_number,
    plain,
    pointwise,
    reduced,
    same_size,
)
from samesame.operators.table import meaning


def contracted(k: Dim, other: Dim) -> Dim:
    """The size of the index that two operands share."""
    if not same_size((k,), (other,)):
        raise Unsupported(f"sizes {size_text(plain(k))} and {size_text(plain(other))} are contracted")
    return k


def summed_kind(*xs: Tensor) -> str:
    """The kind of a sum of products."""
    if all(x.kind == "bool" for x in xs):
        raise Unsupported("a sum of products of booleans")
    return joined(*(x.kind for x in xs))


@meaning("aten.mm.default")
def mm(a: Tensor, b: Tensor) -> Tensor:                    # a: [m, k]   b: [k, n]   ->   [m, n]
    (m, k), (rows, n) = a.shape, b.shape
    shared = contracted(k, rows)
    return tensor((m, n), lambda i, j: folded("sum", [shared], lambda x: a[i, x] * b[x, j]), summed_kind(a, b))


@meaning("aten.bmm.default")
def bmm(a: Tensor, b: Tensor) -> Tensor:                   # a: [n, m, k]   b: [n, k, p]   ->   [n, m, p]
    agreeing(a.shape[:1], b.shape[:1], "batches are multiplied")
    return matmul(a, b)


@meaning("aten.dot.default", "aten.vdot.default", "aten.inner.default")
def dot(a: Tensor, b: Tensor) -> Tensor:                   # a: [..., k]   b: [..., k]   ->   [..., ...]
    if not a.rank or not b.rank:
        return pointwise(mul, a, b)
    shared, rows = contracted(a.shape[-1], b.shape[-1]), a.rank - 1

    def element(*i: Expr) -> Expr:
        return folded("sum", [shared], lambda x: a[(*i[:rows], x)] * b[(*i[rows:], x)])

    return tensor(a.shape[:-1] + b.shape[:-1], element, summed_kind(a, b))


@meaning("aten.mv.default")
def mv(a: Tensor, v: Tensor) -> Tensor:                    # a: [m, k]   v: [k]   ->   [m]
    return dot(a, v)


@meaning("aten.outer.default", "aten.ger.default")
def outer(a: Tensor, b: Tensor) -> Tensor:                 # a: [m]   b: [n]   ->   [m, n]
    return times(unsqueeze(a, 1), unsqueeze(b, 0))


@meaning("aten.matmul.default")
def matmul(a: Tensor, b: Tensor) -> Tensor:                # a: [..., m, k]   b: [..., k, n]   ->   [..., m, n]
    if a.rank == 1 and b.rank == 1:
        return dot(a, b)
    if a.rank == 1:
        return _without(matmul(unsqueeze(a, 0), b), -2)
    if b.rank == 1:
        return _without(matmul(a, unsqueeze(b, 1)), -1)
    shared = contracted(a.shape[-1], b.shape[-2])
    batch = broadcast(a.shape[:-2], b.shape[:-2])

    def element(*i: Expr) -> Expr:
        *outer, row, column = i
        return folded("sum", [shared], lambda x: _batched(a, outer, row, x) * _batched(b, outer, x, column))

    return tensor((*batch, a.shape[-2], b.shape[-1]), element, summed_kind(a, b))


def _batched(x: Tensor, batch: Sequence[Expr], row: Expr, column: Expr) -> Expr:
    own = batch[len(batch) - (x.rank - 2) :]
    return x[(*(ZERO if plain(n) == 1 else j for n, j in zip(x.shape, own, strict=False)), row, column)]


def _without(x: Tensor, d: int) -> Tensor:
    """x without a dimension of size one."""
    k = d % x.rank
    return tensor(x.shape[:k] + x.shape[k + 1 :], lambda *i: x[(*i[:k], ZERO, *i[k:])], x.kind)


@meaning("aten.linear.default")
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:   # x: [..., k]   weight: [n, k]
    product = dot(x, weight)
    return product if bias is None else plus(product, bias)


def _scaled_sum(x: Tensor, product: Tensor, beta: float | Expr, alpha: float | Expr) -> Tensor:
    """β·x + α·product; where β is 0, x does not count, whatever it holds."""
    if product.kind == "int" and "real" in (kind_of_number(beta), kind_of_number(alpha)):
        raise Unsupported("factors that are rounded to integers")
    if product.kind == "bool":
        raise Unsupported("a sum of booleans")
    a, b = constant(alpha), constant(beta)
    scaled = pointwise(lambda e: mul(a, e), product)
    fits(x.shape, product.shape, "a tensor is added to a product")
    if beta == 0:
        return scaled
    return pointwise(lambda e, f: add(mul(b, e), f), x, scaled)


@meaning("aten.addmm.default", "aten.addbmm.default")
def addmm(x: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    if a.rank == 3:                                        # addbmm sums over the batch as well
        shape = (a.shape[1], b.shape[2])
        sizes = [contracted(a.shape[0], b.shape[0]), contracted(a.shape[2], b.shape[1])]
        product = tensor(shape, lambda i, j: folded("sum", sizes, lambda n, k: a[n, i, k] * b[n, k, j]),
                         summed_kind(a, b))
        return _scaled_sum(x, product, beta, alpha)
    return _scaled_sum(x, mm(a, b), beta, alpha)


@meaning("aten.baddbmm.default")
def baddbmm(x: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    return _scaled_sum(x, bmm(a, b), beta, alpha)


@meaning("aten.addmv.default")
def addmv(x: Tensor, a: Tensor, v: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    return _scaled_sum(x, mv(a, v), beta, alpha)


@meaning("aten.addr.default")
def addr(x: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    return _scaled_sum(x, outer(a, b), beta, alpha)


@meaning("aten.einsum.default")
def einsum(equation: str, tensors: Sequence[Tensor], *, path: Any = None) -> Tensor:
    """Sums over every letter that the output does not name; `...` stands for dimensions that broadcast."""
    operands, result = letters_of(equation, [x.rank for x in tensors])
    sizes: dict[str | int, Dim] = {}
    for letters, x in zip(operands, tensors, strict=True):
        for letter, size in zip(letters, x.shape, strict=True):
            sizes[letter] = broadcast((sizes.get(letter, 1),), (size,))[0]
    summed = [letter for letter in sizes if letter not in result]

    def element(*i: Expr) -> Expr:
        outer = dict(zip(result, i, strict=True))

        def body(*bound: Expr) -> Expr:
            place = outer | dict(zip(summed, bound, strict=True))
            return mul(*(at(x, [place[k] for k in letters]) for x, letters in zip(tensors, operands, strict=True)))

        return folded("sum", [sizes[letter] for letter in summed], body)

    return tensor(tuple(sizes[letter] for letter in result), element, summed_kind(*tensors))


def letters_of(equation: str, ranks: Sequence[int]) -> tuple[list[list[str | int]], list[str | int]]:
    """The name of each dimension of the operands, which have so many, and of the result of an einsum."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    operands = [_letters(term, rank) for term, rank in zip(left.split(","), ranks, strict=True)]
    named = [letter for letters in operands for letter in letters]
    batch = sorted({letter for letter in named if isinstance(letter, int)})
    if arrow:
        return operands, _letters(right, len(batch) + len(right.replace("...", "")), batch)
    once = sorted({letter for letter in named if isinstance(letter, str) and named.count(letter) == 1})
    return operands, [*batch, *once]


def _letters(term: str, rank: int, batch: Sequence[int] | None = None) -> list[str | int]:
    """A name for each dimension: its letter, or for those that `...` covers, a number counted from the right."""
    before, dots, after = term.partition("...")
    covered = range(-(rank - len(before) - len(after)), 0) if batch is None else batch
    return [*before, *(covered if dots else ()), *after]


@meaning("aten._trilinear.default")
def trilinear(
    one: Tensor, two: Tensor, three: Tensor, expand1: Sequence[int], expand2: Sequence[int], expand3: Sequence[int],
    sumdim: Sequence[int], unroll_dim: int = 1,
) -> Tensor:
    """The product of three tensors, each with new dimensions of size one, summed over some."""
    a, b, c = (
        reduce(unsqueeze, sorted(dims), x) for x, dims in ((one, expand1), (two, expand2), (three, expand3))
    )
    return reduced("sum", times(times(a, b), c), tuple(sumdim)) if sumdim else times(times(a, b), c)
