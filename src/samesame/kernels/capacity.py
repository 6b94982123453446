"""Limits on sizes: how long a row may be for its tile, and how much of a tensor may be asked for.

An element that is written by lane i < 64 is one of a row of at most 64, whatever its length is; a table of 512 rows
that is read at row i < T holds T ≤ 512 of them. Such a limit is proposed where something does not hold without it, and
looked up in the example before it is assumed.
"""

from __future__ import annotations

from collections.abc import Iterator

from samesame.formula import polynomials
from samesame.formula.expr import ZERO, Add, Compare, Expr, FloorDiv, Mul, Num, Size, const, substitute, walk
from samesame.formula.order import order
from samesame.kernels import obligations
from samesame.kernels.indices import integers
from samesame.kernels.indices.ranges import greatest
from samesame.kernels.obligations import Kernel
from samesame.kernels.tiles.detile import Write
from samesame.kernels.tiles.memory import readings, with_remainders


def at_the_end(condition: Expr) -> Iterator[Expr]:
    """A condition on an output's index, as one on sizes: at the index's last value."""
    if isinstance(condition, Compare) and condition.left is ZERO and condition.op == "≤":
        p = condition.right
        for v in sorted(p.free, key=order):
            found = integers.linear(p, v)
            falls = found is None or found[0] < 0  # of what is divided it is a guess, and a proof decides
            p = integers.tidied(substitute(p, {v: integers.minus(v.extent, 1) if falls else ZERO}))
        yield integers.at_least_zero(p)


def is_capacity(condition: Expr) -> bool:
    """c − k·n ≥ 0 for one size n, or a quotient of sizes, and numbers k, c > 0."""
    if not isinstance(condition, Compare) or condition.left is not ZERO or condition.op != "≤":
        return False
    terms = polynomials.polynomial(condition.right)
    sizes = [m for m in terms if m]
    whole = all(isinstance(e, Size | Num | Add | Mul | FloorDiv) for m in sizes for a in m for e in walk(a))
    return len(sizes) == 1 and whole and terms[sizes[0]] < 0 < terms.get((), 0)


def limits(kernel: Kernel, access: Write) -> Iterator[Expr]:
    """Conditions on sizes under which an access stays inside its tensor, where it is not shown to."""
    if obligations.is_inside(kernel, access):
        return
    prover = kernel.simplify.prover
    for indices in list(readings(access.memory, access.offset))[:1]:
        for i, n in zip(indices, access.memory.shape, strict=True):
            inside = integers.less(i, integers.tidied(const(n)))
            if prover.proves(access.facts, inside, thorough=False):
                continue
            for last in greatest_of(i, access):
                limit = integers.less(last, integers.tidied(const(n)))
                if prover.proves((*access.facts, limit), inside, thorough=False):
                    yield limit


def greatest_of(i: Expr, access: Write) -> Iterator[Expr]:
    """What an index is at most: by the ranges of what it is made of, or of what a mask leaves in."""
    most = greatest(polynomials.written(with_remainders(polynomials.polynomial(i))))
    ends = [] if most is None else [most]
    for fact in access.facts:
        if isinstance(fact, Compare) and fact.op == "≤" and fact.left is ZERO:
            ends.append(integers.plus_(fact.right, i))
    for end in ends:
        parts = set(walk(end))
        if any(isinstance(e, Size) for e in parts) and all(isinstance(e, Size | Num | Add | Mul) for e in parts):
            yield end
