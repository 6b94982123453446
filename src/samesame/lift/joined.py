"""Composed formulas in the form in which they are compared with others.

One kernel's tiles are gone from its formula; two kernels together still have the tiles in which the first one leaves
its results for the second: Σ_{p<⌈n/B⌉} Σ_{l<min{B, n − B·p}} x[B·p + l]. So what they compute is simplified once more
as a whole, under the conditions of all kernels. A range that still ends at the least of two numbers is then one that
ends at the first of them, with a condition on its elements, as the provers of formulas take it. And a kernel writes
out what its window has, where a reference folds over it: max{x[2·i], x[2·i + 1]} is max_{k<2} x[2·i + k].
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import prod

from samesame.evidence import Refused
from samesame.formula.expr import Expr, Fold, Index, Num, Size, and_, const, index, rebuild, substitute, where
from samesame.formula.tensor import Tensor, tensor
from samesame.kernels import clock
from samesame.kernels.formulas.algebra import NEUTRAL
from samesame.kernels.formulas.shorter import least_of
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver
from samesame.kernels.loops.steps import COMBINED

SECONDS = 10.0
FEW = 16  # elements that are written out


def in_one_range(whole: Tensor, assumed: Sequence[Expr]) -> Tensor:
    """The tensor with tiles joined where the assumed conditions on sizes hold; as it is where that takes too long
    or is nested too deeply."""
    indices = tuple(index(integers.tidied(const(n))) for n in whole.shape)
    prover = IndexProver(seconds=SECONDS)
    for condition in assumed:
        prover.assume(integers.tidied(condition))
    try:
        with clock.limited(SECONDS):
            found = by_conditions(Simplifier(prover)(whole[indices]))
    except (Refused, RecursionError):
        return whole
    return Tensor(whole.shape, lambda *i: substitute(found, dict(zip(indices, i, strict=True))), whole.kind)


def by_conditions(expr: Expr) -> Expr:
    """The expression with ranges that end at a polynomial in sizes, where one of several numbers is the least."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            new = rebuild(e, go)
            memo[e] = with_conditions(new) if isinstance(new, Fold) else new
        return memo[e]

    return go(expr)


def written_out(whole: Tensor) -> Tensor:
    """The tensor with folds over a few known elements as these elements, one by one."""
    memo: dict[Expr, Expr] = {}

    def go(e: Expr) -> Expr:
        if e not in memo:
            new = rebuild(e, go)
            memo[e] = one_by_one(new) if isinstance(new, Fold) else new
        return memo[e]

    return tensor(whole.shape, lambda *i: go(whole[i]), whole.kind)


def one_by_one(fold: Fold) -> Expr:
    lengths = [v.extent.value if isinstance(v.extent, Num) else 0 for v in fold.bound]
    if not 0 < prod(lengths) <= FEW:
        return fold
    points = (dict(zip(fold.bound, map(const, p), strict=True)) for p in product(*(range(int(n)) for n in lengths)))
    return reduce(COMBINED[fold.monoid], (substitute(fold.body, point) for point in points))


def with_conditions(fold: Fold) -> Fold:
    """Σ_{k<min{a, b}} f(k) as Σ_{k<a} {f(k) if k < b else 0}, and other folds in the same way."""
    if any(v.extent.free & frozenset(fold.bound) for v in fold.bound):
        return fold
    values: dict[Index, Index] = {}
    parts: list[Expr] = []
    for v in fold.bound:
        ends = least_of(v.extent)
        first = next((e for e in ends if is_of_sizes(e)), ends[0])
        values[v] = v if first is v.extent else index(first)
        parts += [integers.less(values[v], e) for e in ends if e is not first]
    if not parts:
        return fold
    body = where(and_(*parts), substitute(fold.body, dict[Index, Expr](values)), NEUTRAL[fold.monoid])
    return Fold(fold.monoid, tuple(values[v] for v in fold.bound), body)


def is_of_sizes(end: Expr) -> bool:
    """Whether it is a sum of products of sizes."""
    return all(isinstance(atom, Size) for monomial in integers.polynomial(end) for atom in monomial)
