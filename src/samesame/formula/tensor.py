"""A tensor as a function from indices to a formula: what meanings take and return.

`tensor((m, n), lambda i, j: Sum(k, lambda l: a[i, l] * b[l, j]))` reads as the definition of a matrix product. Shapes
hold ints, or integer expressions over symbolic sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samesame.formula.expr import Expr, Index, Leaf, Load, Number, const, index, substitute

Dim = int | Expr


class Tensor:
    """A shape, a kind ("real", "int", "bool"), and a formula for each element.

    `x[i, j]` is the element's formula; it is computed once for the same indices. Indices are integer expressions or
    ints.
    """

    __slots__ = ("_at", "_memo", "kind", "shape")

    def __init__(self, shape: tuple[Dim, ...], at: Callable[..., Expr | Number], kind: str = "real") -> None:
        self.shape, self.kind = tuple(shape), kind
        self._at = at
        self._memo: dict[tuple[Expr, ...], Expr] = {}

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __getitem__(self, indices: Any) -> Expr:
        key = tuple(const(i) for i in (indices if isinstance(indices, tuple) else (indices,)))
        if len(key) != self.rank:
            raise IndexError(f"a tensor of rank {self.rank} takes {self.rank} indices, not {len(key)}")
        if key not in self._memo:
            self._memo[key] = const(self._at(*key))
        return self._memo[key]

    def element(self) -> tuple[tuple[Index, ...], Expr]:
        """New indices, one for each dimension, and the formula of the element there."""
        indices = tuple(index(size) for size in self.shape)
        return indices, self[indices]


def tensor(shape: tuple[Dim, ...], at: Callable[..., Expr | Number], kind: str = "real") -> Tensor:
    """A tensor given by its elements."""
    return Tensor(shape, at, kind)


def tensor_over(indices: tuple[Index, ...], expr: Expr, shape: tuple[Dim, ...] | None = None) -> Tensor:
    """The tensor whose element at these indices is `expr`; they range over all of it where no shape is given."""
    whole = tuple(v.extent for v in indices) if shape is None else shape
    return Tensor(whole, lambda *at: substitute(expr, dict(zip(indices, at, strict=True))), expr.kind)


def leaf(name: str, shape: tuple[Dim, ...], kind: str = "real", bounds: tuple[Dim, Dim] | None = None) -> Tensor:
    """A tensor that formulas do not look into; `bounds` (inclusive) limit an integer tensor's elements.

    A "complex" one has its parts in a last dimension of two, and each part is real.
    """
    source = Leaf(name, tuple(shape), "real" if kind == "complex" else kind, bounds)
    return Tensor(shape, lambda *indices: Load(source, tuple(indices)), kind)


def elements_of(source: Leaf) -> Tensor:
    """A leaf as the tensor that it is."""
    return Tensor(source.shape, lambda *indices: Load(source, tuple(indices)), source.kind)
