"""Rows of which the parts have formulas of their own, part by part.

A rotary embedding makes the halves of each head in two ways. The reference knows the half by j mod 32, and a kernel
that stores the second half by (j + 16) mod 32, so neither spelling says what the other one does. Where j is written as
32·a + 16·c + d, nothing is left to divide: for each half c the claim is one over heads a and lanes d. So it is for
pairs, 2·a + c, of a row that need not end with one: there the claim is about places that the row has.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from math import gcd

from samesame.formula.effort import Budget
from samesame.formula.equal import NotProved, Proved, prove_tensors_equal, shapes_differ
from samesame.formula.expr import TRUE, ZERO, Expr, FloorDiv, Index, Num, and_, const, index, substitute, walk, where
from samesame.formula.polynomials import polynomial
from samesame.formula.tensor import Tensor
from samesame.kernels.formulas.simplify import Simplifier
from samesame.kernels.indices import integers
from samesame.kernels.indices.solver import IndexProver, with_fact

MOST = 8  # parts of a row


def in_parts_equal(
    left: Tensor, right: Tensor, *, budget: Budget, assumed: Sequence[Expr] = ()
) -> Proved | NotProved:
    """A proof for each part of the rows along an output index that is divided, where the assumed conditions hold."""
    unlike = shapes_differ(left, right)
    if unlike:
        return NotProved(unlike)
    indices = tuple(index(n) for n in left.shape)
    sides = [integers.tidied(whole[indices]) for whole in (left, right)]
    for j in indices:
        row, part = parts_of(j, sides)
        if 0 < part < row <= MOST * part:
            return each_part_equal(j, row, part, indices, sides, budget, assumed)
    return NotProved("no row is divided into parts")


def parts_of(j: Index, sides: list[Expr]) -> tuple[int, int]:
    """How long the rows are into which an index is divided, and how long the parts at which quotients of it change."""
    row, part = 1, 0
    for e in (e for side in sides for e in walk(side)):
        match e:
            case FloorDiv(n, Num(width)) if j in n.free:
                terms = polynomial(n)
                if terms.get((j,)) == 1 and terms.keys() <= {(j,), ()}:
                    row, part = max(row, int(width)), gcd(part, int(width), terms.get((), 0))
    return row, part


def each_part_equal(
    j: Index,
    row: int,
    part: int,
    indices: tuple[Index, ...],
    sides: list[Expr],
    budget: Budget,
    assumed: Sequence[Expr],
) -> Proved | NotProved:
    """j = row·a + part·c + d, for each c; of d < part the solver knows what it is divided to."""
    a, d = index(integers.ceiling(j.extent, const(row))), index(part)
    inside = tuple(i for i in (*indices, a, d) if i is not j)
    until = time.thread_time() + budget.seconds
    proofs: list[Proved] = []
    for c in range(row // part):
        prover = IndexProver(seconds=budget.seconds)
        for condition in assumed:
            prover.assume(integers.tidied(condition))
        place = integers.plus_(integers.times_(a, row), d if part > 1 else ZERO, c * part)
        there = TRUE if divides(row, j.extent) else integers.less(place, j.extent)
        here = (looked_at(integers.tidied(substitute(side, {j: place})), there, prover) for side in sides)
        left = max(until - time.thread_time(), 0.0)
        found = prove_tensors_equal(*(over(inside, side) for side in here), budget=replace(budget, seconds=left))
        if not isinstance(found, Proved):
            return NotProved(f"part {c + 1} of {row // part}: {found.reason}")
        proofs.append(found)
    method = "smt" if any(proof.method == "smt" for proof in proofs) else "normal form"
    conditions = tuple(dict.fromkeys(condition for proof in proofs for condition in proof.conditions))
    return Proved(method, conditions, f"for each of the {len(proofs)} parts of a row", any(p.infinite for p in proofs))


def divides(row: int, extent: Expr) -> bool:
    return integers.times_(integers.quotient(extent, const(row)), row) is extent


def looked_at(side: Expr, there: Expr, prover: IndexProver) -> Expr:
    """One side where there is such a place and what is assumed holds; 0 elsewhere."""
    simple = Simplifier(prover)(side, with_fact((), there))
    return simple if there is TRUE else where(and_(there, *prover.assumed), simple, ZERO)


def over(indices: tuple[Index, ...], side: Expr) -> Tensor:
    shape = tuple(i.extent for i in indices)
    return Tensor(shape, lambda *i: substitute(side, dict(zip(indices, i, strict=True))), side.kind)
